"""Compiled code on disk that no longer fits its sources, or that something has damaged.

numba's disk cache looks at a function's own file only: after an upgrade that changes one file of
this package, functions in the others would keep the old code they had taken in. And it takes what
is in a file for what it has written there.
"""

import contextlib
import hashlib
import os
import pickle
import re
import secrets
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from numba import __version__ as numba_version
from numba.core import config
from numba.core.caching import IndexDataCacheFile

from kernbrook.errors import KernbrookWarning

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
        if config.CACHE_DIR and not str(folder).startswith(config.CACHE_DIR):
            tell_once(
                f"NUMBA_CACHE_DIR: {config.CACHE_DIR} cannot be written; compiled code is kept "
                f"in {folder}"
            )
        discard_stale(folder, source.parent, f"{digest_of(PACKAGE)} {numba_version}")


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
        if stamp.read_bytes() == digest.encode():
            return False
    with contextlib.suppress(OSError):  # a folder that cannot be written is numba's to report
        folder.mkdir(parents=True, exist_ok=True)
        for source in sources.glob("*.py"):
            for compiled in folder.glob(f"{source.stem}.*.nb[ic]"):
                compiled.unlink(missing_ok=True)
        stamp.write_text(digest)
    return True


class CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """numba's two files of a function, with checksums: what is damaged is compiled again.

    Code is in a file of its own whoever writes it: where two processes write at a time, an index
    never names what the other one has compiled for other types.
    """

    def _data_name(self, number: int) -> str:
        return str(self._data_name_pattern.format(number=secrets.randbits(48)))

    def _load_index(self) -> Any:
        return self._read(self._index_path) or {}

    def _save_index(self, overloads: Any) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump(overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return self._checksum(data) + data

    def _checksum(self, data: bytes) -> bytes:
        return crc32(data, crc32(f"{self._source_stamp}".encode())).to_bytes(4)

    def _read(self, path: str) -> Any:
        """What is in a file; None where there is none, or what cannot be read is removed."""
        try:
            with open(path, "rb") as file:
                checksum, data = file.read(4), file.read()
            if checksum == self._checksum(data):
                return pickle.loads(data)
            problem = "is damaged"
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever pickle raises
            problem = f"cannot be read ({error})"
        with contextlib.suppress(OSError):
            os.unlink(path)
        tell_once(f"{path}: compiled code {problem}; it is compiled again", "damaged")
        return None


_told: set[str] = set()


def tell_once(message: str, kind: str = "") -> None:
    """Warn of something about the cache; once in a process of its kind."""
    if (kind or message) not in _told:
        _told.add(kind or message)
        warnings.warn(message, KernbrookWarning, stacklevel=2)


def not_kept(problem: object) -> None:
    """Say that nothing can be kept on disk; all else works."""
    tell_once(f"compiled code cannot be kept, and is compiled anew each time: {problem}", "kept")
