"""Files that are no text and none of the formats that are read: what they are, and the way out."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

LOOKED_AT = 1024  # bytes

_BY_PANDAS = "pandas.{0}(FILE).to_parquet(...) makes a Parquet file of it"
_WORKBOOK = "an Excel workbook; 'CSV UTF-8' is how to save a sheet of it"
_ARRAYS = "arrays of NumPy; in Python, kb.open_stream((X, y)) takes them"
_ARCHIVE = "an archive of files; unpack it"
_UTF16 = "text in UTF-16, where UTF-8 was expected; iconv -f UTF-16 -t UTF-8 makes it so"
_PAGE = "a page of HTML or XML; is it what was to be downloaded?"

# By the first bytes, and by the ending of the name where binary data follow.
_BEGINNINGS = {
    BOM_UTF16_LE: _UTF16,
    BOM_UTF16_BE: _UTF16,
    b"\xd0\xcf\x11\xe0": _WORKBOOK,
    b"<stata_dta>": "data of Stata; " + _BY_PANDAS.format("read_stata"),
    b"$FL": "data of SPSS; " + _BY_PANDAS.format("read_spss"),
    b"\x89HDF": "data in HDF5; " + _BY_PANDAS.format("read_hdf"),
    b"ORC": "data in ORC; " + _BY_PANDAS.format("read_orc"),
    b"\x93NUMPY": _ARRAYS,
    b"SQLite format 3": "a database; " + _BY_PANDAS.format("read_sql"),
    b"RDX": "data of R; write.csv(DATA, FILE, row.names = FALSE) in R makes a CSV file of it",
    b"7z\xbc\xaf": _ARCHIVE,
    b"Rar!": _ARCHIVE,
}
_ENDINGS = {
    ".dta": _BEGINNINGS[b"<stata_dta>"],
    ".sas7bdat": "data of SAS; " + _BY_PANDAS.format("read_sas"),
    ".xpt": "data of SAS; " + _BY_PANDAS.format("read_sas"),
    ".sav": _BEGINNINGS[b"$FL"],
    ".rds": _BEGINNINGS[b"RDX"],
    ".tar": _ARCHIVE,
    ".pkl": "a pickle, which is never read, because reading one can run any program",
    ".pickle": "a pickle, which is never read, because reading one can run any program",
}


def foreign(head: bytes, path: Path) -> str | None:
    """What a file is that is not read, and the way out; None where it may be read.

    Examples
    --------
    >>> foreign(b"PK\\3\\4 and xl/workbook.xml", Path("sales.csv"))[:17]
    'an Excel workbook'
    """
    for beginning, told in _BEGINNINGS.items():
        if head.startswith(beginning):
            return told
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
    names = (path.suffix.lower(), path.with_suffix("").suffix.lower())  # as in .rds.gz
    by_name = next((_ENDINGS[name] for name in names if name in _ENDINGS), None)
    nothing = {head[0:8:2], head[1:8:2]} & {b"\0\0\0\0"}  # Latin letters without a mark before
    return by_name or (_UTF16 if nothing else None)
