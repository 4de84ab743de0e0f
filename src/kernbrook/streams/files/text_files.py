"""Text files, plain or compressed, a block of whole lines at a time; what others are."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kernbrook.errors import DataFileError, printable
from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import COMPRESSIONS, DataFile

# By their first bytes, whatever the name.
_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_FORMATS = {
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".txt": "svmlight",
    ".dat": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arff": "arff",
    ".jsonl": "json",
    ".ndjson": "json",
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

# -- files that are no text and none of the formats that are read: what they are, and the way out --

_HEAD = 1024  # bytes that are looked at
_BY = "{0}.to_parquet('rows.parquet') makes a Parquet file of it"
_STATA = "data of Stata; " + _BY.format("pandas.read_stata(FILE)")
_SPSS = "data of SPSS; " + _BY.format("pyreadstat.read_sav(FILE, apply_value_formats=True)[0]")
_SAS = "data of SAS; " + _BY.format("pyreadstat.read_sas7bdat(FILE)[0]")
_XPORT = "data of SAS; " + _BY.format("pyreadstat.read_xport(FILE)[0]")
_WORKBOOK = (
    "an Excel workbook; 'CSV UTF-8' is how to save a sheet of it, and "
    "pandas.read_excel(FILE).to_csv('rows.csv', index=False) writes the first one"
)
_MODEL = "a model that kernbrook saved, and no data; are MODEL and DATA exchanged?"
_ARRAYS = "arrays of NumPy; in Python, kb.open_stream((X, y)) takes them"
_ARCHIVE = "an archive of files; unpack it"
_WIDE = "text in {0}, where UTF-8 was expected; iconv -f {0} -t UTF-8 makes it so"
_PAGE = "a page of HTML or XML; is it what was to be downloaded?"

# By the first bytes, and by the ending of the name where binary data follow.
_BEGINNINGS = {
    BOM_UTF32_LE: _WIDE.format("UTF-32"),  # begins as the next does
    BOM_UTF16_LE: _WIDE.format("UTF-16"),
    BOM_UTF16_BE: _WIDE.format("UTF-16"),
    BOM_UTF32_BE: _WIDE.format("UTF-32"),
    b"\xd0\xcf\x11\xe0": _WORKBOOK,
    b"<stata_dta>": _STATA,
    b"$FL": _SPSS,
    b"HEADER RECORD*******LIB": _XPORT,
    b"FEA1": "data of Feather version 1; " + _BY.format("pandas.read_feather(FILE)"),
    b"\x89HDF": "data in HDF5; " + _BY.format("pandas.read_hdf(FILE)"),
    b"ORC": "data in ORC; " + _BY.format("pandas.read_orc(FILE)"),
    b"\x93NUMPY": _ARRAYS,
    b"SQLite format 3": "a database; "
    + _BY.format("pandas.read_sql('select * from TABLE', sqlite3.connect(FILE))"),
    b"RDX": "data of R; write.csv(DATA, FILE, row.names = FALSE) in R makes a CSV file of it",
    b"7z\xbc\xaf": _ARCHIVE,
    b"Rar!": _ARCHIVE,
}
# Where bytes of the first letters are not 0, if these are Latin and no mark stands before them.
_LATIN = {
    b"\1\0\1\0\1\0\1\0": "UTF-16LE",
    b"\0\1\0\1\0\1\0\1": "UTF-16BE",
    b"\1\0\0\0\1\0\0\0": "UTF-32LE",
    b"\0\0\0\1\0\0\0\1": "UTF-32BE",
}
_ENDINGS = {
    ".dta": _STATA,
    ".sas7bdat": _SAS,
    ".xpt": _XPORT,
    ".sav": _SPSS,
    ".rds": _BEGINNINGS[b"RDX"],
    ".tar": _ARCHIVE,
    ".pkl": "a pickle, which is never read, because reading one can run any program",
    ".pickle": "a pickle, which is never read, because reading one can run any program",
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


def file_format(file: DataFile, least: int = 2, is_csv: bool = False) -> str:
    """ "svmlight", "csv", "parquet", "arrow", "arff" or "json": lines of objects.

    Parameters
    ----------
    file : the file
    least : columns of a CSV file
    is_csv : whether text of which the name says nothing is CSV

    By the first bytes where these are certain, then by the suffix, else by the first line with
    data.

    Raises
    ------
    DataFileError
        The file cannot be read, or its first line is none of them.
    """
    path = file.path
    named = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    suffix = named.suffix.lower()
    known = _FORMATS.get(suffix)
    head = file.head(_HEAD)
    for magic, kind in _BINARY.items():
        if head.startswith(magic):
            return kind
    if (told := foreign(head, path)) is not None:
        raise DataFileError(path, told)
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
    for beginning, told in _BEGINNINGS.items():
        is_text = beginning.isascii() and b"\0" not in head  # a column may be called ORCID
        if head.startswith(beginning) and not is_text:
            return told
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
    named = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    by_name = _ENDINGS.get(named.suffix.lower())
    wide = _LATIN.get(bytes(map(bool, head[:8])))
    return by_name or (_WIDE.format(wide) if wide else None)


def _format_of_line(line: bytes, least: int) -> str | None:
    """The format that a first line with data is of, where that is certain."""
    if _SVMLIGHT_LINE.fullmatch(_begin(line)):
        return "svmlight"
    if line.lstrip().startswith(b"{"):
        return "json"
    if line.lstrip()[:9].lower() == b"@relation":
        return "arff"
    return "csv" if least == 1 or any(mark.encode() in line for mark in SEPARATORS) else None


def _begin(line: bytes) -> bytes:
    """A line that is not long, or what is whole of its first part."""
    return line if len(line) <= _LOOKED_AT else line[:_LOOKED_AT].rpartition(b" ")[0]


def line_blocks(file: DataFile) -> Iterator[tuple[int, bytes]]:
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
        The file is empty, not text, truncated, corrupt, too large, or cannot be opened.
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
        problem = f"the compressed data is truncated, after line {line - 1} or later"
        raise DataFileError(file.path, problem) from None
    if last := _unmarked(b"".join(held)):
        yield line, last


def _unmarked(lines: bytes) -> bytes:
    """Lines without marks of the byte order, which files have that were put together."""
    there = BOM_UTF8[:1] in lines and BOM_UTF8 in lines  # one byte alone is found quickly
    return _MARKS.sub(b"", lines) if there else lines


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
