"""Compiled code on disk that no longer fits its sources.

numba's disk cache looks at a function's own file only: after an upgrade that changes one file of
this package, functions in the others would keep the old code they had taken in.
"""

import contextlib
import hashlib
import re
from functools import cache
from pathlib import Path

STAMP = "kernbrook.stamp"
PACKAGE = Path(__file__).parents[1]
COMPILED = re.compile(rb"^@(njit|\w+\.of)\(|^@(Verb|Option)$", re.MULTILINE)

_folders: set[Path] = set()  # of the disk cache, met in this process


def is_cold() -> bool:
    """Whether the disk cache holds no compiled function, in the folders that this process uses."""
    return not any(any(folder.glob("*.nbc")) for folder in _folders)


def meet(folder: Path, source: Path) -> None:
    """Called before a function of a source is looked for in a folder of the disk cache.

    The first time in a process what is stale goes: see `discard_stale`.
    """
    if folder not in _folders:
        _folders.add(folder)
        discard_stale(folder, source.parent, digest_of(PACKAGE))


@cache
def digest_of(package: Path) -> str:
    """A digest of all sources in those folders of a package where something is compiled."""
    texts = {path: path.read_bytes() for path in sorted(package.rglob("*.py"))}
    folders = {path.parent for path, text in texts.items() if COMPILED.search(text)}
    digest = hashlib.sha256()
    for path, text in texts.items():
        if path.parent in folders:
            digest.update(text)
    return digest.hexdigest()


def discard_stale(folder: Path, sources: Path, digest: str) -> bool:
    """Empty a folder of the disk cache unless it was filled under this digest.

    Parameters
    ----------
    folder : of the cache
    sources : the folder of the sources whose functions are kept there; files of others stay
    digest : of all sources now

    Returns
    -------
    whether anything had changed
    """
    stamp = folder / STAMP
    with contextlib.suppress(OSError):
        if stamp.read_text() == digest:
            return False
    with contextlib.suppress(OSError):  # a folder that cannot be written is numba's to report
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources.glob("*.py"):
            for compiled in folder.glob(f"{source.stem}.*.nb[ic]"):
                compiled.unlink(missing_ok=True)
        stamp.write_text(digest)
    return True
