"""Data files as bytes: ordinary files, pipes and standard input; plain or compressed.

What a pipe gives is read once, and copied as it comes: a stream reads its file more than once. A
small file is kept in memory from its first reading on.
Every failure of the file system or of a decompressor leaves here as a `DataFileError`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams.files import limits
from kernbrook.streams.stream import positive_integer

STANDARD_INPUT = "-"
BLOCK_BYTES = 1 << 20
_IN_MEMORY = 1 << 23  # bytes of a copy, or of a file that is kept
_LIFT = "give max_bytes (--max-bytes) to read more"


class _Compression(NamedTuple):
    name: str
    magic: bytes
    opener: Callable[..., Any]


class _Xz:
    """An .xz file, of one stream or more; `lzma.open` knows no limit to its memory."""

    def __init__(self, raw: BinaryIO, mode: str):
        self._raw = raw
        self._stream = self._new()

    @staticmethod
    def _new() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=limits.UNPACKING_MEMORY)

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and (part := self._part(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _part(self, size: int) -> bytes:
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")  # zeros between streams
                while not packed:
                    packed = self._raw.read(BLOCK_BYTES)
                    if not packed:
                        return b""
                    packed = packed.lstrip(b"\0")
                self._stream = self._new()
            elif self._stream.needs_input:
                packed = self._raw.read(BLOCK_BYTES)
                if not packed:
                    raise EOFError
            if data := self._stream.decompress(packed, size):
                return data


class _Zst:
    """A .zst file, of one frame or more; pyarrow takes up to 128 MiB of memory for its window."""

    def __init__(self, raw: BinaryIO, mode: str):
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")

    def read(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except OSError as error:
            if "Truncated" in str(error):
                raise EOFError from None
            raise OSError(str(error)) from None  # some have a number that is none of the system


COMPRESSIONS = {
    ".gz": _Compression("gzip", b"\x1f\x8b", gzip.open),
    ".bz2": _Compression("bzip2", b"BZh", bz2.open),
    ".xz": _Compression("xz", b"\xfd7zXZ\x00", _Xz),
    ".zst": _Compression("zstd", b"\x28\xb5\x2f\xfd", _Zst),
}


class DataFile:
    """A file that can be read as often as wanted, and what it may hold at most.

    Parameters
    ----------
    source : a path, or the text "-" for standard input
    max_bytes : the most text to read; None for the limits in `limits`

    Attributes
    ----------
    path : what to call it in messages
    """

    def __init__(self, source: str | PathLike[str], max_bytes: int | None = None):
        if isinstance(source, str) and "://" in source:
            raise InputError(f"{source:.200}: an address, where a file was expected; download it")
        self._is_standard_input = isinstance(source, str) and source == STANDARD_INPUT
        self.path = Path("standard input" if self._is_standard_input else source)
        self._max_bytes = None if max_bytes is None else positive_integer(max_bytes, "max_bytes")

    @classmethod
    def of(cls, source: DataFile | str | PathLike[str]) -> DataFile:
        """The file itself, or the one of that name."""
        return source if isinstance(source, DataFile) else cls(source)

    def blocks(self) -> Iterator[bytes]:
        """What the file holds, unpacked, about 1 MiB at a time.

        Raises
        ------
        DataFileError
            The file is empty, corrupt, too large, or cannot be read.
        EOFError
            It is compressed and truncated.
        """
        with self._raw() as raw:
            with _in_words(self.path):
                head = raw.peek(6)
            if not head:
                came = "nothing came through it" if self._comes_once else "the file is empty"
                raise DataFileError(self.path, came)
            found = next((c for c in COMPRESSIONS.values() if head.startswith(c.magic)), None)
            named = COMPRESSIONS.get(self.path.suffix.lower())
            if named is not None and named is not found:
                problem = f"expected {named.name} data, as its name says; found something else"
                raise DataFileError(self.path, problem)
            yield from self._bounded(raw if found is None else found.opener(raw, "rb"))

    def seekable(self) -> BinaryIO:
        """What the file holds, unpacked, to be read at any place; for the caller to close.

        Raises
        ------
        DataFileError
            As `blocks` has it, or what is compressed is truncated.
        """
        if not self._comes_once:
            with self._on_disk() as raw, _in_words(self.path):
                head = raw.peek(6)
            if not any(head.startswith(c.magic) for c in COMPRESSIONS.values()):
                with _in_words(self.path):
                    size = os.stat(self.path).st_size
                    if self._max_bytes is not None and size > self._max_bytes:
                        problem = f"over {self._max_bytes:,} bytes; {_LIFT}"
                        raise DataFileError(self.path, problem)
                    return open(self.path, "rb")
        whole = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        try:
            for block in self.blocks():
                with _in_words(self.path):
                    whole.write(block)
            whole.seek(0)
        except EOFError:
            whole.close()
            raise DataFileError(self.path, "the compressed data is truncated") from None
        except BaseException:
            whole.close()
            raise
        return whole

    def check_unpacked(self, size: int, opened: BinaryIO, part: str) -> None:
        """DataFileError where a part of what was opened unpacks to far more than usual."""
        most = self._max_bytes or _most_unpacked(os.fstat(opened.fileno()).st_size)
        if size > most:
            problem = f"{part} would take {size:,} bytes; expected {most:,} at most"
            raise DataFileError(self.path, f"{problem}; {_LIFT}")

    def head(self, size: int) -> bytes:
        """The first bytes of what the file holds, unpacked; fewer where it has fewer."""
        found = b""
        try:
            for block in self.blocks():
                found += block
                if len(found) >= size:
                    break
        except EOFError:
            pass  # who reads on says so
        return found[:size]

    def _raw(self) -> io.BufferedReader:
        """The bytes as they lie in the file, from the first on."""
        if "_copy" in vars(self) or self._comes_once:
            return self._copy.open()
        with _in_words(self.path):
            found = os.stat(self.path)
        if stat.S_ISREG(found.st_mode) and found.st_size <= _IN_MEMORY:
            return self._copy.open()
        return self._on_disk()

    def _on_disk(self) -> io.BufferedReader:
        """The file itself."""
        with _in_words(self.path):
            mode = os.stat(self.path).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise DataFileError(self.path, "a device, where a file was expected")
            return open(self.path, "rb")

    @cached_property
    def _comes_once(self) -> bool:
        """Whether it is a pipe."""
        return self._is_standard_input or _is_pipe(self.path)

    @cached_property
    def _copy(self) -> _Copy:
        if not self._is_standard_input:
            most = self._max_bytes if self._comes_once else None
            with _in_words(self.path), open(self.path, "rb") as file:
                return _Copy(file, self.path, most)
        standard = getattr(sys.stdin, "buffer", None)
        if standard is None or standard.closed:
            raise DataFileError(self.path, "it is closed")
        with _in_words(self.path):
            return _Copy(standard, self.path, self._max_bytes)

    def _bounded(self, file: Any) -> Iterator[bytes]:
        most, problem = self._max_bytes, f"over {self._max_bytes or 0:,} bytes of text"
        if most is None and not isinstance(file, io.BufferedReader):
            with _in_words(self.path):
                kept = "_copy" in vars(self)
                size = self._copy.size if kept else os.stat(self.path).st_size
            most = _most_unpacked(size)
            problem = f"unpacked it has over {most:,} bytes, which is far more than usual"
        read = 0
        while data := self._read(file):
            read += len(data)
            if most is not None and read > most:
                raise DataFileError(self.path, f"{problem}; {_LIFT}")
            yield data

    def _read(self, file: Any) -> bytes:
        try:
            return bytes(file.read(BLOCK_BYTES))
        except (lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            problem = f"the compressed data is corrupt ({error})"
            if "Memory usage limit" in str(error):
                most = limits.UNPACKING_MEMORY
                problem = f"the compressed data asks for over {most:,} bytes of memory"
        except MemoryError:
            problem = "the compressed data asks for more memory than there is"
        except OSError as error:
            # bz2 reports corrupt data as an OSError without a number.
            corrupt = error.errno is None
            problem = f"the compressed data is corrupt ({error})" if corrupt else _reason(error)
        raise DataFileError(self.path, problem)


def _most_unpacked(size: int) -> int:
    """The most bytes that so many unpack to where nobody says another number."""
    return max(limits.UNPACKED_BYTES, limits.UNPACKED_TIMES * size)


def is_data_file(source: str | PathLike[str]) -> bool:
    """Whether rows can be read from there: an ordinary file, a pipe, or standard input as "-"."""
    if isinstance(source, str) and source == STANDARD_INPUT:
        return True
    return os.path.isfile(source) or _is_pipe(source)


def _is_pipe(path: str | PathLike[str]) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # a null character
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Copy:
    """What was read once: in memory where it is little, else in a file without a name."""

    def __init__(self, pipe: BinaryIO, path: Path, max_bytes: int | None):
        most = limits.COPIED_BYTES if max_bytes is None else max_bytes
        self.size = 0
        self._file: BinaryIO | None = None  # closed with the copy
        parts: list[bytes] = []
        while data := cast(io.BufferedReader, pipe).read1(BLOCK_BYTES):
            self.size += len(data)
            if self.size > most:
                raise DataFileError(path, f"over {most:,} bytes came through it; {_LIFT}")
            parts.append(data)
            if self.size > _IN_MEMORY:
                self._write(parts, path)
                parts.clear()
        self._bytes = b"".join(parts)

    def _write(self, parts: list[bytes], path: Path) -> None:
        try:
            if self._file is None:
                self._file = cast(BinaryIO, tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            for part in parts:
                view = memoryview(part)
                while view:
                    view = view[self._file.write(view) :]
        except OSError as error:
            problem = (
                f"what comes through it cannot be kept: {_reason(error)} in "
                f"{tempfile.gettempdir()}; TMPDIR names another folder"
            )
            raise DataFileError(path, problem) from None

    def open(self) -> io.BufferedReader:
        """Its bytes from the first on; others may read meanwhile."""
        raw = io.BytesIO(self._bytes) if self._file is None else _Reading(self, self._file)
        return io.BufferedReader(cast(io.RawIOBase, raw))


_TURN = threading.Lock()  # of those that read a file where it has one place for all


class _Reading(io.RawIOBase):
    """A file that others read too, from its beginning."""

    def __init__(self, owner: object, file: BinaryIO):
        self._owner = owner  # the file is open as long as that is there
        self._file = file
        self._place = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if hasattr(os, "pread"):
            data = os.pread(self._file.fileno(), len(buffer), self._place)
        else:
            with _TURN:
                self._file.seek(self._place)
                data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataFileError(path, _reason(error)) from None


def _reason(error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return "no such file"
        case IsADirectoryError():
            return "a folder, where a file was expected"
        case PermissionError():
            return "permission denied"
        case _:
            return error.strerror or str(error)
