"""Compiled code on disk that no longer fits its sources.

numba's disk cache looks at a function's own file only: after an upgrade that changes one file of
this package, functions in the others would keep the old code they had taken in.
"""

import contextlib
import hashlib
from pathlib import Path

from kernbrook._jit.sums import add_points

STAMP = "kernbrook.stamp"


def is_cold() -> bool:
    """Whether the disk cache holds no compiled function of this package."""
    return next(Path(add_points.stats.cache_path).glob("*.nbc"), None) is None


def discard_stale(folder: Path | None = None, sources: Path | None = None) -> bool:
    """Empty this package's part of the disk cache if its sources have changed.

    Parameters
    ----------
    folder : of the cache; numba's by default
    sources : folder of the sources; this one by default

    Returns
    -------
    whether anything had changed
    """
    folder = Path(add_points.stats.cache_path) if folder is None else folder
    sources = Path(__file__).parent if sources is None else sources
    digest = hashlib.sha256()
    for source in sorted(sources.glob("*.py")):
        digest.update(source.read_bytes())
    stamp = folder / STAMP
    with contextlib.suppress(OSError):
        if stamp.read_text() == digest.hexdigest():
            return False
    with contextlib.suppress(OSError):  # a folder that cannot be written is numba's to report
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources.glob("*.py"):
            for compiled in folder.glob(f"{source.stem}.*.nb[ic]"):
                compiled.unlink(missing_ok=True)
        stamp.write_text(digest.hexdigest())
    return True
