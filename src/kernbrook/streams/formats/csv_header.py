"""The first row of a CSV file: the names of the columns, or data already.

Names that somebody has said decide, a model or an argument: where the row has them all, it is a
header; where they are "x1", "x2", ... and it has not, it is data. Else:

- with quoted numbers where those of the next row are not quoted, it is a header, of years perhaps;
- with numbers, and a word that comes again below in its column, it is data; of words alone, where
  the next row has words alone, too, more than half must come again;
- with words alone it is else a header;
- with the numbers 0, 1, 2, ... it is the header that pandas writes where nobody gave names;
- else it is data if it is all numbers, and a header if it has a word.

Where that is a guess, a warning says how the row was taken. Missing values count as
numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import chain, islice, product
from pathlib import Path
from typing import Any, NamedTuple

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import NOT_UTF8, SEPARATORS, line_blocks
from kernbrook.streams.formats.text_cells import Refused, csv_lines

# Text that stands for a missing value, whatever format it comes from: see `without_gaps`.
MISSING = (
    *("", "?", ".", r"\N", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *(sign + "".join(nan) for sign in ("", "+", "-") for nan in product("nN", "aA", "nN")),
)
NO_COMMENT = "lines that begin with # are no comments in a CSV file: take them out"
_FOR_EXCEL = re.compile(rb'"?sep=.?"?', re.IGNORECASE)
# ++ and *+ give nothing back: else many digits would be tried in all their parts.
_NUMBER = re.compile(
    r"[+-]?((\d++\.?\d*+|\.\d++)(e[+-]?\d++)?|inf(inity)?)", re.ASCII | re.IGNORECASE
)
_QUOTED_NUMBER = re.compile(rf'"\s*+{_NUMBER.pattern}\s*+"'.encode(), re.IGNORECASE)
_QUOTED = re.compile(rb'"[^"]*+"')
_NUMBER_CELL = re.compile(rb"\s*+" + _NUMBER.pattern.encode() + rb"\s*+", re.IGNORECASE)
_MARKED_NUMBER_CELL = re.compile(
    rb"\s*+[+-]?(\d{1,3}(\.\d{3})++,\d++|\d++([.,]\d*+)?+|[.,]\d++)(e[+-]?\d++)?\s*+", re.IGNORECASE
)
_DECIMALS = re.compile(r"^([+-]?\d++),(\d++)$", re.ASCII)
IN_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLED = 20  # rows in which the separator is searched for
_SAMPLED_CELLS = 1000  # of each
_LOOKED_AT = 10_000  # rows in which words are searched for
_CELLS = 1_000_000  # of them at most


class Header(NamedTuple):
    """What the first row says.

    Attributes
    ----------
    line : its number
    names : of the columns; "x1", "x2", ... where the row is data
    is_data : whether it is data
    told : how the row was taken where that is a guess, for a warning; else empty
    """

    line: int
    names: list[str]
    is_data: bool
    told: str


def without_gaps(array: Any, kept: Collection[str] = ()) -> Any:
    """Arrow text, trimmed; null where it stands for a missing value.

    This is the one rule for all formats, with and without an encoder.

    Parameters
    ----------
    array : of text
    kept : declared levels, which are values whatever they look like

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_gaps(pa.array([" a", "NA ", "None"]), kept=["None"]).to_pylist()
    ['a', None, 'None']
    """
    import pyarrow as pa
    from pyarrow import compute

    text = compute.utf8_trim_whitespace(array)
    found = compute.is_in(text, value_set=_gaps(frozenset(kept).intersection(MISSING)))
    return compute.if_else(found, pa.scalar(None, text.type), text) if found.true_count else text


@lru_cache
def _gaps(kept: frozenset[str]) -> Any:
    import pyarrow as pa

    return pa.array([gap for gap in MISSING if gap not in kept])


def is_number(text: str) -> bool:
    """Whether it is written as a number, infinity included."""
    return _NUMBER.fullmatch(text) is not None


def quoted(text: str) -> str:
    """Text in quotes for a message, cut where it is long."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def checked_separator(sep: object) -> str | None:
    """What somebody says parts the values; None to find it.

    Raises
    ------
    InputError
        It is not one character that can.
    """
    if sep is None:
        return None
    sep = "\t" if sep == r"\t" else sep  # as a shell gives it
    if not isinstance(sep, str) or len(sep) != 1 or not sep.isascii() or sep in '"\n\r\0':
        raise InputError(f"sep: expected one character, got {sep!r:.40}")
    return sep


def find_separator(source: DataFile | Path) -> str:
    """What parts the values of a CSV file: a comma, a semicolon, a tab or a bar.

    What the first row has. Of several, what parts more of the first rows into equally many values;
    then what leaves more numbers below the first row, also with decimal commas; then more values.

    Raises
    ------
    DataFileError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("1,5;2,5;yes\\n3,0;4,25;no\\n")
    ...     find_separator(path)
    ';'
    """
    rows = [_QUOTED.sub(b"", row) for _, row in islice(_rows(DataFile.of(source)), _SAMPLED)]
    there = [mark for mark in SEPARATORS if rows and mark.encode() in rows[0]]
    if len(there) < 2:
        return there[0] if there else ","
    return max(there, key=lambda mark: _parting(mark.encode(), rows))


def _parting(mark: bytes, rows: list[bytes]) -> tuple[int, int, int]:
    """How well a mark parts rows: rows as long as the first, then numbers below it, then cells."""
    marks = [row.count(mark) for row in rows]
    number = _NUMBER_CELL if mark == b"," else _MARKED_NUMBER_CELL
    below = [row.split(mark, _SAMPLED_CELLS)[:_SAMPLED_CELLS] for row in rows[1:] or rows]
    numbers = sum(1 for row in below for cell in row if number.fullmatch(cell))
    return marks.count(marks[0]), numbers, marks[0]


def read_header(
    source: DataFile | Path, separator: str = ",", known: Collection[str] = (), least: int = 2
) -> Header:
    """Read the first row, and as many more as it takes to tell whether it is a header.

    Parameters
    ----------
    source : the file, or its name
    separator : what parts the values
    known : names that columns must have, as a model or an argument says; empty where nobody does
    least : columns

    Raises
    ------
    DataFileError
        The file cannot be read, has no line or fewer columns, or two columns have the same name.
    """
    file = DataFile.of(source)
    path = file.path
    lines = _rows(file)
    rows = ((number, csv_lines(path, number, row, separator)) for number, row in lines)
    line, row = next(rows, (0, b""))
    if not row:
        raise DataFileError(path, "the file has no line")
    names = _names(path, line, row, separator)
    if len(names) < least:
        comment = names[0].startswith("#")
        hint = NO_COMMENT if comment else "is something else between them? sep (--sep)"
        found = f"found one column, {quoted(names[0])}; {hint}"
        by = IN_WORDS.get(separator, quoted(separator))
        raise DataFileError(path, f"expected a label and features parted by {by}, {found}", line)
    numbered = [f"x{i}" for i in range(1, len(names) + 1)]
    is_data, told = False, ""
    if not known or not set(known) <= set(names):
        by_number = bool(known) and set(known) <= set(numbered)
        is_data, told = (True, "") if by_number else _is_data(names, row, rows, separator)
    if is_data:
        names = numbered
        told = f"numbers where names were expected: taken as data, the columns as x1 to {names[-1]}"
    seen = set()
    for name in names:
        if name in seen:
            raise DataFileError(path, f"two columns are called {quoted(name)}", line)
        seen.add(name)
    return Header(line, names, is_data, told)


def data_blocks(
    file: DataFile, headless: bool, separator: str, refused: Refused | None = None
) -> Iterator[tuple[int, bytes]]:
    """The blocks of `line_blocks` that have rows; without the header, unless there is none.

    Quotes stand, and lines are refused, as `csv_lines` has it.
    """
    headed = headless
    for first, block in line_blocks(file):
        if not headed:
            blank = len(block) - len(block.lstrip(b"\n"))
            end = block.find(b"\n", blank) + 1
            if blank == len(block):
                continue
            headed = True
            first += block.count(b"\n", 0, end)
            block = block[end:] if end else b""
        if block.strip(b"\n"):
            yield first, csv_lines(file.path, first, block, separator, refused)


def miscounted(columns: Collection[str], found: int, line: int, first: str) -> str:
    """What is wrong with a row of `found` values, the first of which is given."""
    problem = f"expected {len(columns)} values, found {found}"
    if first.startswith("#"):
        return f"{problem}; {NO_COMMENT}"
    if line == 2 and found == len(columns) + 1:
        problem += (
            "; has the first column no name, as in what R's write.table writes? Write with "
            "row.names=FALSE"
        )
    return problem


def _rows(file: DataFile) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, and their numbers."""
    for first, block in line_blocks(file):
        for line, row in enumerate(block.split(b"\n"), start=first):
            if row:
                yield line, row


def _names(path: Path, line: int, row: bytes, separator: str) -> list[str]:
    if _FOR_EXCEL.fullmatch(row):
        raise DataFileError(path, "a line that Excel alone reads; take it out", line)
    if row.count(separator.encode()) >= limits.MOST_COLUMNS:
        problem = f"over {limits.MOST_COLUMNS:,} columns, for which there is svmlight"
        raise DataFileError(path, problem, line)
    try:
        return _cells(row.decode("utf-8"), separator)
    except UnicodeDecodeError:
        raise DataFileError(path, NOT_UTF8, line) from None
    except csv.Error as error:
        raise DataFileError(path, str(error), line) from None


def _cells(row: str, separator: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([row], delimiter=separator))]


def _is_data(
    names: list[str], row: bytes, rows: Iterator[tuple[int, bytes]], separator: str
) -> tuple[bool, str]:
    """Whether the first row is data, and what has to be said where it is not."""
    numbers = [name for name in names if _is_cell_number(name, separator)]
    words = {
        i: name
        for i, name in enumerate(names)
        if name not in MISSING and not _is_cell_number(name, separator)
    }
    _, below = next(rows, (0, b""))
    if numbers and below and _quoted_numbers(row) > _quoted_numbers(below):
        return False, ""
    needed = 1 if numbers else len(words) // 2 + 1
    if not numbers and _has_numbers(below, words, separator):
        return False, ""
    if words and _come_again(words, needed, chain([(0, below)], rows), separator):
        return True, ""
    if not numbers:
        return False, ""
    if numbers == list(map(str, range(len(numbers)))):
        counted = "0, 1, ... are taken as the names of the columns, not as data"
        return False, "" if words else counted
    some = "a word" if len(words) == 1 else "words"
    return not words, f"numbers and {some} are taken as the names of the columns, not as data"


def _is_cell_number(text: str, separator: str) -> bool:
    return is_number(text if separator == "," else _DECIMALS.sub(r"\1.\2", text))


def _quoted_numbers(row: bytes) -> int:
    return sum(1 for _ in _QUOTED_NUMBER.finditer(row))


def _has_numbers(row: bytes, words: Collection[int], separator: str) -> bool:
    """Whether a number is in one of these places."""
    try:
        cells = _cells(row.decode("utf-8", errors="replace"), separator)
    except csv.Error:
        return False
    return any(_is_cell_number(cells[i], separator) for i in words if i < len(cells))


def _come_again(
    words: dict[int, str], needed: int, rows: Iterator[tuple[int, bytes]], separator: str
) -> bool:
    """Whether so many words of the first row, by their places, are found below themselves."""
    left = dict(words)
    most = min(_LOOKED_AT, _CELLS // len(words) + 1)
    try:
        for _, row in islice(rows, most):
            if row.count(separator.encode()) >= limits.MOST_COLUMNS:
                continue
            cells = _cells(row.decode("utf-8", errors="replace"), separator)
            for i in [i for i, word in left.items() if i < len(cells) and cells[i] == word]:
                del left[i]
            if len(words) - len(left) >= needed:
                return True
    except csv.Error:
        pass  # found again, and named, when the rows are read
    return False
