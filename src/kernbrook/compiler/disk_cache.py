"""Compiled code on disk: where it lies, and what no longer fits its sources, or is damaged.

numba keeps it beside the sources, where it would outlive the package. And its disk cache looks at a
function's own file only: after an upgrade that changes one file of this package, functions in the
others would keep the old code they had taken in. And it takes what is in a file for what it has
written there.
"""

import contextlib
import hashlib
import os
import pickle
import re
import secrets
import sys
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

from llvmlite import __version__ as llvmlite_version
from numba import __version__ as numba_version
from numba.core import config
from numba.core.caching import IndexDataCacheFile, _CacheLocator, _SourceFileBackedLocatorMixin
from platformdirs import user_cache_path

from kernbrook.errors import KernbrookWarning

STAMP = "kernbrook.stamp"
PACKAGE = Path(__file__).parents[1]
COMPILED = re.compile(rb"^@(njit|\w+\.of)\(|^@(Verb|Option)$", re.MULTILINE)

_folders: set[Path] = set()  # of the disk cache, met in this process


class CacheFolder(_SourceFileBackedLocatorMixin, _CacheLocator):  # type: ignore[misc]
    """The folder of a source's functions: in NUMBA_CACHE_DIR, else in the user's for caches.

    Whether it can be written is found out when something is.
    """

    def __init__(self, function: Any, source: str):
        self._py_file, self._lineno = source, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Any, source: str) -> "CacheFolder":
        return cls(function, source)

    def get_cache_path(self) -> str:
        return str(self.of(self._py_file))

    @classmethod
    def of(cls, source: Path | str) -> Path:
        """The folder, from the source's."""
        version = import_module("kernbrook").__version__
        whole = config.CACHE_DIR or user_cache_path("kernbrook", False, version)
        return Path(whole, cls.get_suitable_cache_subpath(source))


def clean_once(folder: Path) -> None:
    """Called before a function is looked for in a folder of the disk cache.

    The first time in a process what is stale goes: see `discard_stale`.
    """
    if folder not in _folders:
        _folders.add(folder)
        discard_stale(folder, conditions())


@cache
def conditions() -> str:
    """The conditions of compiled code on disk, beside the processor."""
    versions = f"{sys.implementation.cache_tag} numba {numba_version} llvmlite {llvmlite_version}"
    return f"{versions} {digest_of(PACKAGE)}"


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


def discard_stale(folder: Path, conditions: str) -> bool:
    """Empty a folder of the disk cache unless it was filled under these; whether it was not."""
    stamp = folder / STAMP
    with contextlib.suppress(OSError):
        if stamp.read_bytes() == conditions.encode():
            return False
    with contextlib.suppress(OSError):  # whoever saves something there says it
        folder.mkdir(parents=True, exist_ok=True)
        for compiled in folder.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        stamp.write_text(conditions)
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
        """The content of a file; None if there is none. A file that cannot be read is removed."""
        try:
            with open(path, "rb") as file:
                checksum, data = file.read(4), file.read()
            if checksum == self._checksum(data):
                return pickle.loads(data)
            problem = "is damaged"
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Exception as error:  # whatever pickle raises
            problem = f"cannot be read ({error})"
        with contextlib.suppress(OSError):
            os.unlink(path)
        warn_once(f"{path}: compiled code {problem}; it is compiled again", "damaged")
        return None


_warned: set[str] = set()


def warn_once(message: str, kind: str = "") -> None:
    """Warn of something about the cache; once in a process of its kind."""
    if (kind or message) not in _warned:
        _warned.add(kind or message)
        warnings.warn(message, KernbrookWarning, stacklevel=2)


def warn_not_kept(problem: object) -> None:
    """Say that nothing can be kept on disk; all else works."""
    warn_once(f"compiled code cannot be kept, and is compiled anew each time: {problem}", "kept")
