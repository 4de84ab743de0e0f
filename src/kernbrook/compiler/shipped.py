"""Compiled code that came with the package: a wheel may have it, for processors of some levels.

`hatch_build.py` compiles all that `kernbrook warm` does, for each level, and puts the files of the
disk cache into the package. Here they are looked for before the user's cache. They are left aside,
all of them, where Python, numba, llvmlite or the sources are others than at the build, or where
numba is told to compile otherwise; what is not among them is compiled here. Functions that may add
up in another order have the form for compiled code among the files: so the order is that of the
level in shipped code and in new.
"""

import platform
import shutil
from pathlib import Path

from numba.core import config
from numba.core.codegen import get_host_cpu_features

from kernbrook.compiler.disk_cache import PACKAGE, STAMP, CacheFolder, conditions

FOLDER = PACKAGE / "_compiled"

# Names and features as LLVM has them, the best level first.
LEVELS = {"generic": ""}
if platform.machine() in ("x86_64", "AMD64"):
    THIRD = (
        "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf,"
        "+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
    )
    FOURTH = f"{THIRD},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl"
    LEVELS = {"x86-64-v4": FOURTH, "x86-64-v3": THIRD}


def runs_here(level: str) -> bool:
    """Whether this processor has all features of a level."""
    needed = filter(None, LEVELS[level].split(","))
    return set(needed) <= set(get_host_cpu_features().split(","))


def _level_here() -> tuple[str, str] | None:
    """The name and the features of the level whose files are taken; None: no files are."""
    try:
        stamp = (FOLDER / STAMP).read_text()
    except OSError:
        return None
    chosen = config.BOUNDSCHECK, config.CPU_NAME, config.CPU_FEATURES, config.OPT
    changed = config.OPT.is_opt_max or config.DEBUGINFO_DEFAULT or config.USING_SVML
    if chosen == (None, None, None, 3) and not changed and stamp == conditions():
        for level, features in LEVELS.items():
            if (FOLDER / level).is_dir() and runs_here(level):
                return level, features
    return None


level = _level_here()


def folder_of(source: str) -> str | None:
    """The folder of a source's functions among the files, if there is one."""
    within = Path(source).parent
    if level is None or not within.is_relative_to(PACKAGE):
        return None
    return str(FOLDER / level[0] / within.relative_to(PACKAGE))


def copy_shipped(folder: Path) -> None:
    """Copy what is shipped of this process' disk cache into a level's folder in FOLDER, or another.

    All but the forms for compiled code of functions whose order of sums is as written.
    """
    for sources in {source.parent for source in PACKAGE.rglob("*.py")}:
        within = folder / sources.relative_to(PACKAGE)
        for file in CacheFolder.of(sources / "any").glob("*.nb[ic]"):
            if ".inner." not in file.name:
                within.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, within)
    (folder.parent / STAMP).write_text(conditions())
