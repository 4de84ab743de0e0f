"""Text files, plain or compressed, a block of whole lines at a time.

Every failure of the file system or of a decompressor leaves here as a `DataFileError`.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from kernbrook.errors import DataFileError, printable

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 1 << 26


class _Compression(NamedTuple):
    name: str
    magic: bytes


_COMPRESSIONS = {
    ".gz": _Compression("gzip", b"\x1f\x8b"),
    ".bz2": _Compression("bzip2", b"BZh"),
    ".xz": _Compression("xz", b"\xfd7zXZ\x00"),
}
_OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}

_FORMATS = {
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".txt": "svmlight",
    ".dat": "svmlight",
    ".csv": "csv",
}
_NUMBER = rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_SVMLIGHT_LINE = re.compile(rb"\s*" + _NUMBER + rb"(\s+(qid|\d+):\S+)*\s*(#.*)?")
_FORMAT_HINT = "neither svmlight ('label index:value ...') nor CSV (values parted by commas)"
_SEPARATORS = {";": "semicolons", "\t": "tabs"}


def stem(path: Path) -> str:
    """The file's name without the endings of format and compression, as it can be printed."""
    name = path.stem if path.suffix.lower() in _COMPRESSIONS else path.name
    short = Path(name)
    return printable(short.stem if short.suffix.lower() in _FORMATS else name)


def has_known_suffix(path: Path) -> bool:
    """Whether the name ends as a data file's does."""
    return path.suffix.lower() in _FORMATS.keys() | _COMPRESSIONS.keys()


def file_format(path: Path) -> str:
    """ "svmlight" or "csv", by the suffix, else by the first line with data.

    Raises
    ------
    DataFileError
        The file cannot be read, or its first line is neither.
    """
    named = path.with_suffix("") if path.suffix.lower() in _COMPRESSIONS else path
    known = _FORMATS.get(named.suffix.lower())
    if known is not None:
        return known
    for first, block in line_blocks(path):
        for number, line in enumerate(block.split(b"\n"), start=first):
            if not line.strip() or line.lstrip().startswith(b"#"):
                continue
            if _SVMLIGHT_LINE.fullmatch(line):
                return "svmlight"
            if b"," in line:
                return "csv"
            problem = other_separator(line.decode("latin-1")) or _FORMAT_HINT
            raise DataFileError(path, problem, number)
    raise DataFileError(path, "the file has no data line")


def other_separator(row: str) -> str | None:
    """What is wrong with a row without commas, where something else parts its values."""
    for mark, name in _SEPARATORS.items():
        if mark in row:
            return (
                f"expected values parted by commas, found {name}; pandas, say, can change them: "
                f"read_csv(FILE, sep={mark!r}).to_csv(NEW, index=False)"
            )
    return None


def line_blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """The decompressed text in blocks of whole lines, about 1 MiB each.

    A line ends with LF, CR LF or CR, whichever the file has, and here with LF. Memory is bounded
    by the block or the longest line, whichever is longer.

    Yields
    ------
    first : number of the block's first line, from 1
    block : the lines; only the file's last may lack its newline

    Raises
    ------
    DataFileError
        The file is empty, not text, truncated, corrupt, or cannot be opened.
    """
    line = 1
    held: list[bytes] = []
    with _open(path) as file:
        for data in _newlines(file, path):
            if b"\0" in data:
                line += data.count(b"\n", 0, data.index(b"\0"))
                raise DataFileError(path, "binary data where text was expected", line)
            if line == 1 and not held:
                data = data.removeprefix(b"\xef\xbb\xbf")
            end = data.rfind(b"\n") + 1
            if end == 0:
                held.append(data)
                if sum(map(len, held)) > LONGEST_LINE:
                    raise DataFileError(path, f"a line of over {LONGEST_LINE >> 20} MiB", line)
                continue
            block = b"".join([*held, data[:end]])
            held = [data[end:]]
            yield line, block
            line += block.count(b"\n")
    if last := b"".join(held):
        yield line, last


def _newlines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """What the file holds, every line ending with LF."""
    line, cut = 1, b""
    while data := _read(file, path, line):
        if cut or b"\r" in data:
            data = cut + data
            cut = data[-1:] if data.endswith(b"\r") else b""  # its LF may come with the next
            data = data[: len(data) - len(cut)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line += data.count(b"\n")
        yield data
    if cut:
        yield b"\n"


def _open(path: Path) -> BinaryIO:
    try:
        _check_ordinary(path, os.stat(path).st_mode)
        with open(path, "rb") as file:
            head = file.read(6)
        if not head:
            raise DataFileError(path, "the file is empty")
        found = next((c.name for c in _COMPRESSIONS.values() if head.startswith(c.magic)), None)
        named = _COMPRESSIONS.get(path.suffix.lower())
        if named is not None and named.name != found:
            problem = f"expected {named.name} data, as its name says; found something else"
            raise DataFileError(path, problem)
        if found is None:
            return open(path, "rb")
        return cast(BinaryIO, _OPENERS[found](path, "rb"))
    except OSError as error:
        raise DataFileError(path, _reason(error)) from None


def _check_ordinary(path: Path, mode: int) -> None:
    """Refuse what cannot be read again from its beginning, or has no end."""
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        problem = "a pipe gives its data once, and they are read twice: save them to a file first"
        raise DataFileError(path, problem)
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise DataFileError(path, "a device, where a file was expected")


def _read(file: BinaryIO, path: Path, line: int) -> bytes:
    try:
        return file.read(BLOCK_BYTES)
    except EOFError:
        problem = f"the compressed data is truncated, after line {line - 1} or later"
        raise DataFileError(path, problem) from None
    except (lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataFileError(path, f"the compressed data is corrupt ({error})") from None
    except OSError as error:
        # bz2 reports corrupt data as an OSError without a number.
        corrupt = error.errno is None
        problem = f"the compressed data is corrupt ({error})" if corrupt else _reason(error)
        raise DataFileError(path, problem) from None


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
