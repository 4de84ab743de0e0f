"""Data files as bytes and as blocks of lines: files, pipes and standard input, plain or packed.

What a pipe gives is read once, and copied as it comes: a stream reads its file more than once. A
small file is kept in memory from its first reading on. Every failure of the file system or of what
unpacks leaves here as a `DataFileError`.
"""

from __future__ import annotations

import io
import lzma
import mmap
import os
import re
import stat
import sys
import tempfile
import weakref
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from kernbrook.errors import DataFileError, InputError, printable
from kernbrook.streams import limits
from kernbrook.streams.loading import pa
from kernbrook.streams.stream import positive_integer

STANDARD_INPUT = "-"
BLOCK_BYTES = 1 << 20
_IN_MEMORY = 1 << 23  # bytes of a copy, or of a file that is kept
_LIFT = "give max_bytes (--max-bytes) to read more"


class _Compression(NamedTuple):
    name: str  # pyarrow's, but for xz, which it has not
    magic: bytes

    def unpacked(self, raw: BinaryIO) -> Any:
        """What reads the bytes of a packed file, one part after the other where it has several."""
        if self.name == "xz":
            return _Xz(raw)
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), self.name)


class _Xz:
    """An .xz file, of one stream or more; `lzma.open` drops what follows zeros between streams."""

    def __init__(self, raw: BinaryIO):
        self._raw, self._stream = raw, lzma.LZMADecompressor(lzma.FORMAT_XZ)

    def read(self, size: int) -> bytes:
        """The next bytes, so many at most; none at the end."""
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")  # zeros between streams
                while not packed:
                    if not (packed := self._raw.read(BLOCK_BYTES)):
                        return b""
                    packed = packed.lstrip(b"\0")
                self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
            elif self._stream.needs_input and not (packed := self._raw.read(BLOCK_BYTES)):
                raise EOFError
            if data := self._stream.decompress(packed, size):
                return data


COMPRESSIONS = {
    ".gz": _Compression("gzip", b"\x1f\x8b"),
    ".bz2": _Compression("bz2", b"BZh"),
    ".xz": _Compression("xz", b"\xfd7zXZ\x00"),
    ".zst": _Compression("zstd", b"\x28\xb5\x2f\xfd"),
    ".lz4": _Compression("lz4", b"\x04\x22\x4d\x18"),
}


class DataFile:
    """A file that can be read as often as wanted, and what it may hold at most.

    source : a path, or the text "-" for standard input
    max_bytes : the most text to read; None for the limits in `limits`
    """

    def __init__(self, source: str | PathLike[str], max_bytes: int | None = None):
        if isinstance(source, str) and "://" in source:
            raise InputError(f"{source:.200}: an address, where a file was expected; download it")
        self._is_standard_input = isinstance(source, str) and source == STANDARD_INPUT
        self.path = Path("standard input" if self._is_standard_input else source)
        self._max_bytes = None if max_bytes is None else positive_integer(max_bytes, "max_bytes")

    def blocks(self) -> Iterator[bytes]:
        """What the file holds, unpacked, 1 MiB at a time; EOFError where it is packed and cut."""
        with self._raw() as raw:
            with _in_words(self.path):
                head = raw.read(6)
                raw.seek(0)
            if not head:
                came = "nothing came through it" if self._comes_once else "the file is empty"
                raise DataFileError(self.path, came)
            found = _compression(head)
            named = COMPRESSIONS.get(self.path.suffix.lower())
            if named is not None and named is not found:
                problem = f"expected {named.name} data, as its name says; found something else"
                raise DataFileError(self.path, problem)
            yield from self._bounded(raw, found)

    def seekable(self) -> BinaryIO:
        """What the file holds, unpacked, to be read at any place; for the caller to close."""
        if not self._comes_once:
            raw = self._on_disk()
            with _in_words(self.path):
                is_packed = _compression(raw.read(6)) is not None
                raw.seek(0)
                size = os.stat(self.path).st_size
            if not is_packed:
                if self._max_bytes is not None and size > self._max_bytes:
                    raise DataFileError(self.path, f"over {self._max_bytes:,} bytes; {_LIFT}")
                return raw
            raw.close()
        with ExitStack() as stack:  # closed where its bytes do not come
            whole = stack.enter_context(cast(BinaryIO, tempfile.TemporaryFile()))  # noqa: SIM115
            try:
                for block in self.blocks():
                    with _in_words(self.path):
                        whole.write(block)
            except EOFError:
                raise DataFileError(self.path, "the compressed data is truncated") from None
            whole.seek(0)
            stack.pop_all()
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

    def _raw(self) -> Any:
        if "_copy" in vars(self) or self._comes_once:
            return self._copy.open()
        with _in_words(self.path):
            found = os.stat(self.path)
        if stat.S_ISREG(found.st_mode) and found.st_size <= _IN_MEMORY:
            return self._copy.open()
        return self._on_disk()

    def _on_disk(self) -> BinaryIO:
        with _in_words(self.path):
            mode = os.stat(self.path).st_mode
            if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                raise DataFileError(self.path, "a device, where a file was expected")
            return open(self.path, "rb")

    @cached_property
    def _comes_once(self) -> bool:
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

    def _bounded(self, raw: Any, compression: _Compression | None) -> Iterator[bytes]:
        most, problem = self._max_bytes, f"over {self._max_bytes or 0:,} bytes of text"
        if most is None and compression is not None:
            with _in_words(self.path):
                kept = "_copy" in vars(self)
                size = self._copy.size if kept else os.stat(self.path).st_size
            most = _most_unpacked(size)
            problem = f"unpacked it has over {most:,} bytes, which is far more than usual"
        file = raw if compression is None else compression.unpacked(raw)
        read = 0
        while data := self._read(file):
            read += len(data)
            if most is not None and read > most:
                raise DataFileError(self.path, f"{problem}; {_LIFT}")
            yield data

    def _read(self, file: Any) -> bytes:
        try:
            return bytes(file.read(BLOCK_BYTES))
        except MemoryError:
            problem = "the compressed data asks for more memory than there is"
        except (lzma.LZMAError, OSError) as error:
            if str(error).startswith("Truncated"):
                raise EOFError from None
            problem = f"the compressed data is corrupt ({error})"
            # What pyarrow says of packed data has no number that is one of the system's.
            if isinstance(error, OSError) and error.strerror is not None:
                problem = _reason(error)
        raise DataFileError(self.path, problem)


def _compression(head: bytes) -> _Compression | None:
    """By the first bytes; None where it is not packed."""
    return next((kind for kind in COMPRESSIONS.values() if head.startswith(kind.magic)), None)


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
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        while data := cast(io.BufferedReader, pipe).read1(BLOCK_BYTES):
            self.size += len(data)
            if self.size > most:
                raise DataFileError(path, f"over {most:,} bytes came through it; {_LIFT}")
            try:
                self._file.write(data)
                self._file.flush()
            except OSError as error:
                problem = f"what comes through it cannot be kept: {_reason(error)} in "
                problem += f"{tempfile.gettempdir()}; TMPDIR names another folder"
                raise DataFileError(path, problem) from None
        self._bytes = None
        if self.size <= _IN_MEMORY:
            self._file.seek(0)
            self._bytes = self._file.read()
            self._file.close()

    def open(self) -> Any:
        if self._bytes is not None:
            return io.BytesIO(self._bytes)
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataFileError(path, _reason(error)) from None


_REASONS: dict[type, str] = {
    FileNotFoundError: "no such file",
    IsADirectoryError: "a folder, where a file was expected",
    PermissionError: "permission denied",
}


def _reason(error: OSError) -> str:
    return _REASONS.get(type(error)) or error.strerror or str(error)


# By their first bytes, whatever the name.
_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_FORMATS = {
    **dict.fromkeys([".libsvm", ".svm", ".svmlight", ".txt", ".dat"], "svmlight"),
    **dict.fromkeys([".csv", ".tsv"], "csv"),
    **dict.fromkeys([".parquet", ".pq"], "parquet"),
    **dict.fromkeys([".arrow", ".feather", ".ipc"], "arrow"),
    **dict.fromkeys([".jsonl", ".ndjson"], "json"),
    ".arff": "arff",
}
_BY_CONTENT = (".txt", ".dat")  # svmlight where nothing else is certain
SEPARATORS = (",", ";", "\t", "|")
_NUMBER = rb"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?"  # ++ and *+ give nothing back
_SVMLIGHT_LINE = re.compile(rb"\s*+" + _NUMBER + rb"(\s++(qid|\d++):\S++)*+\s*+(#.*)?")
_MARKS = re.compile(rb"^(?:%b)+" % BOM_UTF8, re.MULTILINE)
_LOOKED_AT = 10_000  # bytes of the first line
OF_LIST = (
    "a list where JSON lines, with an object each, were expected; jq -c '.[]' makes them of a list"
)
NOT_UTF8 = (
    "expected UTF-8 text; iconv -f WINDOWS-1252 -t UTF-8 makes it of text of Windows, and Excel "
    "writes it as 'CSV UTF-8'"
)
COMMAS = "awk -v OFS=, '{$1=$1};1' writes commas"
_FORMAT_HINT = (
    "neither svmlight ('label index:value ...') nor CSV (values parted by commas, semicolons, tabs "
    "or bars), nor Parquet, Arrow, ARFF or JSON lines"
)

# What files are that are no text and none of the formats that are read, and the way out: by the
# first bytes; and by the ending of the name where binary data follow.
_HEAD = 1024  # bytes that are looked at
_FRAME = "{}; {}.to_parquet('rows.parquet') makes a Parquet file of it"
_STATA = _FRAME.format("data of Stata", "pandas.read_stata(FILE)")
_SPSS = _FRAME.format("data of SPSS", "pyreadstat.read_sav(FILE, apply_value_formats=True)[0]")
_XPORT = _FRAME.format("data of SAS", "pyreadstat.read_xport(FILE)[0]")
_SQL = "pandas.read_sql('select * from TABLE', sqlite3.connect(FILE))"
_R = "data of R; write.csv(DATA, FILE, row.names = FALSE) in R makes a CSV file of it"
_WORKBOOK = (
    "an Excel workbook; 'CSV UTF-8' is how to save a sheet of it, and "
    "pandas.read_excel(FILE).to_csv('rows.csv', index=False) writes the first one"
)
_MODEL = "a model that kernbrook saved, and no data; are MODEL and DATA exchanged?"
_ARRAYS = "arrays of NumPy; in Python, kb.open_stream((X, y)) takes them"
_ARCHIVE = "an archive of files; unpack it"
_PICKLE = "a pickle, which is never read, because reading one can run any program"
_WIDE = "text in {0}, where UTF-8 was expected; iconv -f {0} -t UTF-8 makes it so"
_PAGE = "a page of HTML or XML; is it what was to be downloaded?"
_BEGINNINGS = {
    BOM_UTF32_LE: _WIDE.format("UTF-32"),  # begins as the next does
    **dict.fromkeys([BOM_UTF16_LE, BOM_UTF16_BE], _WIDE.format("UTF-16")),
    BOM_UTF32_BE: _WIDE.format("UTF-32"),
    b"\xd0\xcf\x11\xe0": _WORKBOOK,
    b"<stata_dta>": _STATA,
    b"$FL": _SPSS,
    b"HEADER RECORD*******LIB": _XPORT,
    b"FEA1": _FRAME.format("data of Feather version 1", "pandas.read_feather(FILE)"),
    b"\x89HDF": _FRAME.format("data in HDF5", "pandas.read_hdf(FILE)"),
    b"ORC": _FRAME.format("data in ORC", "pandas.read_orc(FILE)"),
    b"\x93NUMPY": _ARRAYS,
    b"SQLite format 3": _FRAME.format("a database", _SQL),
    b"RDX": _R,
    **dict.fromkeys([b"7z\xbc\xaf", b"Rar!"], _ARCHIVE),
}
_ENDINGS = {
    ".dta": _STATA,
    ".xpt": _XPORT,
    ".sav": _SPSS,
    ".rds": _R,
    ".tar": _ARCHIVE,
    ".sas7bdat": _FRAME.format("data of SAS", "pyreadstat.read_sas7bdat(FILE)[0]"),
    **dict.fromkeys([".pkl", ".pickle"], _PICKLE),
}
# Where bytes of the first letters are not 0, if these are Latin and no mark stands before them.
_LATIN = {
    b"\1\0\1\0\1\0\1\0": "UTF-16LE",
    b"\0\1\0\1\0\1\0\1": "UTF-16BE",
    b"\1\0\0\0\1\0\0\0": "UTF-32LE",
    b"\0\0\0\1\0\0\0\1": "UTF-32BE",
}


def stem(path: Path) -> str:
    """The file's name without the endings of format and compression, as it can be printed."""
    if path.parent.name == "fd":  # a number in /dev/fd
        return printable(f"{path}")
    name = path.stem if path.suffix.lower() in COMPRESSIONS else path.name
    short = Path(name)
    return printable(short.stem if short.suffix.lower() in _FORMATS else name)


def has_known_suffix(path: Path) -> bool:
    """Whether the name ends as a data file's does."""
    return path.suffix.lower() in _FORMATS.keys() | COMPRESSIONS.keys()


def _ending(path: Path) -> str:
    """The ending of the name that says the format, before that of the compression."""
    named = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return named.suffix.lower()


def file_format(file: DataFile, least: int = 2, is_csv: bool = False) -> str:
    """The format: "svmlight", "csv", "parquet", "arrow", "arff" or "json", lines of objects.

    By the first bytes where these are certain, then by the suffix, else by the first line with
    data.

    least : columns of a CSV file
    is_csv : whether text of which the name says nothing is CSV
    """
    path = file.path
    suffix = _ending(path)
    known = _FORMATS.get(suffix)
    head = file.head(_HEAD)
    for magic, kind in _BINARY.items():
        if head.startswith(magic):
            return kind
    if (problem := foreign(head, path)) is not None:
        raise DataFileError(path, problem)
    if known is not None and suffix not in _BY_CONTENT:
        return known
    if is_csv:
        return "csv"
    for first, block in line_blocks(file):
        for number, line in enumerate(block.split(b"\n"), start=first):
            if not line.strip() or line.lstrip().startswith((b"#", b"%")):
                continue
            if line.lstrip().startswith(b"["):
                raise DataFileError(path, OF_LIST, number)
            found = _format_of_line(line, least)
            of_blanks = len(line.split()) > 1 and b":" not in line
            if found is None and (known is None or of_blanks):
                hint = f"; columns parted by blanks? {COMMAS}" if of_blanks else ""
                raise DataFileError(path, _FORMAT_HINT + hint, number)
            return found or "svmlight"
    raise DataFileError(path, "the file has no data line")


def foreign(head: bytes, path: Path) -> str | None:
    """What a file is that is not read, and the way out; None where it may be read.

    Examples
    --------
    >>> foreign(b"PK\\3\\4 and xl/workbook.xml", Path("sales.csv"))[:17]
    'an Excel workbook'
    """
    for beginning, problem in _BEGINNINGS.items():
        is_text = beginning.isascii() and b"\0" not in head  # a column may be called ORCID
        if head.startswith(beginning) and not is_text:
            return problem
    if head[8:].startswith(b'{"__metadata__":{"kernbrook"'):
        return _MODEL
    if head.startswith(b"PK\3\4"):
        if b"xl/" in head or path.suffix.lower() in (".xlsx", ".xlsm", ".xlsb", ".ods"):
            return _WORKBOOK
        return _ARRAYS if b".npy" in head else _ARCHIVE
    if head.lstrip()[:5].lower() in (b"<!doc", b"<html", b"<?xml"):
        return _PAGE
    if b"\0" not in head:
        return None
    if head[257:262] == b"ustar":
        return _ARCHIVE
    by_name = _ENDINGS.get(_ending(path))
    wide = _LATIN.get(bytes(map(bool, head[:8])))
    return by_name or (_WIDE.format(wide) if wide else None)


def _format_of_line(line: bytes, least: int) -> str | None:
    """The format that a first line with data is of, where that is certain."""
    whole = line if len(line) <= _LOOKED_AT else line[:_LOOKED_AT].rpartition(b" ")[0]
    if _SVMLIGHT_LINE.fullmatch(whole):
        return "svmlight"
    if line.lstrip().startswith(b"{"):
        return "json"
    if line.lstrip()[:9].lower() == b"@relation":
        return "arff"
    return "csv" if least == 1 or any(mark.encode() in line for mark in SEPARATORS) else None


def line_blocks(file: DataFile) -> Iterator[tuple[int, bytes]]:
    """The decompressed text in blocks of whole lines, about 1 MiB each, each with its first number.

    A line ends with LF, CR LF or CR, whichever the file has, and here with LF; only the file's last
    may lack it. Memory is bounded by the block or the longest line, whichever is longer.
    """
    line, length = 1, 0  # length: of what is held, a line without an end so far
    held: list[bytes] = []
    try:
        for data in _newlines(file):
            if b"\0" in data:
                line += data.count(b"\n", 0, data.index(b"\0"))
                raise DataFileError(file.path, "binary data where text was expected", line)
            end = data.rfind(b"\n") + 1
            if end == 0:
                held.append(data)
                length += len(data)
                if length > limits.LONGEST_LINE:
                    problem = f"a line of over {limits.LONGEST_LINE:,} bytes"
                    raise DataFileError(file.path, problem, line)
                continue
            block = _unmarked(b"".join([*held, data[:end]]))
            held, length = [data[end:]], len(data) - end
            yield line, block
            line += count_lines(block)
    except EOFError:
        read = f", after line {line - 1} or later" if line > 1 else ""
        raise DataFileError(file.path, f"the compressed data is truncated{read}") from None
    if last := _unmarked(b"".join(held)):
        yield line, last


def _unmarked(lines: bytes) -> bytes:
    """Lines without marks of the byte order, which files have that were put together."""
    has_mark = BOM_UTF8[:1] in lines and BOM_UTF8 in lines  # one byte alone is found quickly
    return _MARKS.sub(b"", lines) if has_mark else lines


def count_lines(text: bytes) -> int:
    """The newlines of a text: where lines are short, much faster than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def _newlines(file: DataFile) -> Iterator[bytes]:
    """What the file holds, every line ending with LF."""
    cut = b""
    for data in file.blocks():
        if cut or b"\r" in data:
            data = cut + data
            cut = data[-1:] if data.endswith(b"\r") else b""  # its LF may come with the next
            data = data[: len(data) - len(cut)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield data
    if cut:
        yield b"\n"
