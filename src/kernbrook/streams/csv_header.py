"""The first row of a CSV file: the names of the columns, or data already.

A row with two words or more, or without a number, is a header. A row of numbers, one word among
them at most, may be either:

- with a word that comes again below in its column, it is data, the word being a label;
- with quoted numbers where those of the next row are not quoted, it is a header, of years perhaps;
- with the numbers 0, 1, 2, ... it is the header that pandas writes where nobody gave names;
- else it is data if it is all numbers, and a header if it has a word.

Where that is a guess, `CsvStream` warns and says how the row was taken. Missing values count as
numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams import limits
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.text_files import SEPARATORS, line_blocks

MISSING = ("", "?", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "None")
OPEN_QUOTE = "a quoted value does not end here"
# ++ and *+ give nothing back: else many digits would be tried in all their parts.
_NUMBER = re.compile(
    r"[+-]?((\d++\.?\d*+|\.\d++)(e[+-]?\d++)?|inf(inity)?)", re.ASCII | re.IGNORECASE
)
_QUOTED_NUMBER = re.compile(rf'"\s*+{_NUMBER.pattern}\s*+"'.encode(), re.IGNORECASE)
_QUOTED = re.compile(rb'"[^"]*+"')
_DECIMAL_COMMA = re.compile(rb"(?<=\d),(?=\d)")
_DECIMALS = re.compile(r"^([+-]?\d++),(\d++)$", re.ASCII)
_IN_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLED = 20  # rows in which the separator is searched for
_LOOKED_AT = 10_000  # rows in which the word is searched for


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

    What the first row has. Of several, what parts the first rows into equally many values; of
    commas and another one, the commas, unless all of them stand between digits.

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
    if len(there) > 1:
        even = [mark for mark in there if len({row.count(mark.encode()) for row in rows}) == 1]
        others = [mark for mark in even if mark != ","]
        decimal = all(row.count(b",") == len(_DECIMAL_COMMA.findall(row)) for row in rows)
        if others and ("," not in even or decimal):
            return max(others, key=lambda mark: rows[0].count(mark.encode()))
    return "," if "," in there or not there else there[0]


def read_header(source: DataFile | Path, separator: str = ",") -> Header:
    """Read the first row, and as many more as it takes to tell whether it is a header.

    Raises
    ------
    DataFileError
        The file cannot be read, has no line or one column, or two columns have the same name.
    """
    file = DataFile.of(source)
    path = file.path
    rows = _rows(file)
    line, row = next(rows, (0, b""))
    if not row:
        raise DataFileError(path, "the file has no line")
    names = _names(path, line, row, separator)
    if len(names) < 2:
        found = f"found one column, {quoted(names[0])}; is something else between them? sep (--sep)"
        by = _IN_WORDS.get(separator, quoted(separator))
        raise DataFileError(path, f"expected a label and features parted by {by}, {found}", line)
    is_data, told = _is_data(names, row, rows, separator)
    if is_data:
        names = [f"x{i}" for i in range(1, len(names) + 1)]
        told = f"numbers where names were expected: taken as data, the columns as x1 to {names[-1]}"
    seen = set()
    for name in names:
        if name in seen:
            raise DataFileError(path, f"two columns are called {quoted(name)}", line)
        seen.add(name)
    return Header(line, names, is_data, told)


def data_blocks(file: DataFile, headless: bool) -> Iterator[tuple[int, bytes]]:
    """The blocks of `line_blocks` that have rows; without the header, unless there is none."""
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
            yield first, block


def _rows(file: DataFile) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, and their numbers."""
    for first, block in line_blocks(file):
        for line, row in enumerate(block.split(b"\n"), start=first):
            if row:
                yield line, row


def _names(path: Path, line: int, row: bytes, separator: str) -> list[str]:
    if row.count(b'"') % 2:
        raise DataFileError(path, OPEN_QUOTE, line)
    if row.count(separator.encode()) >= limits.MOST_COLUMNS:
        problem = f"over {limits.MOST_COLUMNS:,} columns, for which there is svmlight"
        raise DataFileError(path, problem, line)
    try:
        return [name.strip() for name in next(_cells(row.decode("utf-8"), separator))]
    except UnicodeDecodeError:
        raise DataFileError(path, "expected UTF-8 text", line) from None
    except csv.Error as error:
        raise DataFileError(path, str(error), line) from None


def _cells(row: str, separator: str) -> Iterator[list[str]]:
    return csv.reader([row], delimiter=separator)


def _is_data(
    names: list[str], row: bytes, rows: Iterator[tuple[int, bytes]], separator: str
) -> tuple[bool, str]:
    """Whether the first row is data, and what has to be said where it is not."""
    marked = names if separator == "," else [_DECIMALS.sub(r"\1.\2", name) for name in names]
    numbers = [name for name in marked if is_number(name)]
    words = [i for i, name in enumerate(marked) if not is_number(name) and name not in MISSING]
    if not numbers or len(words) > 1:
        return False, ""
    _, below = next(rows, (0, b""))
    if below and _quoted_numbers(row) > _quoted_numbers(below):
        return False, ""
    if words and _comes_again(names[words[0]], words[0], chain([(0, below)], rows), separator):
        return True, ""
    if numbers == list(map(str, range(len(numbers)))):
        counted = "0, 1, ... are taken as the names of the columns, not as data"
        return False, "" if words else counted
    return not words, "numbers and a word are taken as the names of the columns, not as data"


def _quoted_numbers(row: bytes) -> int:
    return sum(1 for _ in _QUOTED_NUMBER.finditer(row))


def _comes_again(word: str, place: int, rows: Iterator[tuple[int, bytes]], separator: str) -> bool:
    try:
        for _, row in islice(rows, _LOOKED_AT):
            if word.encode() in row and row.count(separator.encode()) < limits.MOST_COLUMNS:
                cells = next(_cells(row.decode("utf-8", errors="replace"), separator))
                if len(cells) > place and cells[place].strip() == word:
                    return True
    except csv.Error:
        pass  # found again, and named, when the rows are read
    return False
