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
from functools import lru_cache, partial
from itertools import chain, islice, product
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple

from kernbrook.errors import DataFileError, InputError
from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import COMMAS, NOT_UTF8, SEPARATORS, line_blocks
from kernbrook.streams.formats.first_lines import Line, oddity, one_column
from kernbrook.streams.formats.text_cells import Refused, csv_lines, whole_rows

# Text that stands for a missing value, whatever format it comes from: see `without_gaps`.
MISSING = (
    *("", "?", ".", r"\N", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *(sign + "".join(nan) for sign in ("", "+", "-") for nan in product("nN", "aA", "nN")),
)
_AGAIN = "the names of the columns come again, as where files are put together"
_MOVED = "the names of the columns come again in another order: make two files of it"
_LEAVE_OUT = (
    'take such lines out, or leave them out: on_bad_rows="skip" (--on-bad-rows skip of train and '
    "predict)"
)
_SMALL = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
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
_SAMPLED = 20  # first rows in which the separator is searched for, and what is odd
_LONG = 1 << 16  # bytes of a row of which fewer are looked at
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
    lines = _rows(line_blocks(DataFile.of(source)))
    rows = [_QUOTED.sub(b"", row) for _, row in islice(lines, _SAMPLED)]
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
    lines = _rows(whole_rows(path, line_blocks(file), separator))
    line, row = next(lines, (0, b""))
    if not row:
        raise DataFileError(path, "the file has no line")
    names = _names(path, line, csv_lines(path, line, row, separator), separator)
    some = [(line, row), *islice(lines, _SAMPLED if len(row) < _LONG else 2)]
    if len(names) < least:
        text = [(number, one.decode("utf-8", errors="replace")) for number, one in some]
        by = IN_WORDS.get(separator, quoted(separator))
        raise DataFileError(path, one_column(text, by), line)
    first = [Line(number, _lenient(one, separator)) for number, one in some]
    odd = oddity(first, separator, bool(known), partial(_is_cell_number, separator=separator))
    if odd is not None:
        raise DataFileError(path, odd[1], odd[0])
    rows = (one for _, one in chain(some[1:], lines))
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
            hint = f"; several blanks between values? {COMMAS}" if separator == " " else ""
            raise DataFileError(path, f"two columns are called {quoted(name)}{hint}", line)
        seen.add(name)
    return Header(line, names, is_data, told)


def data_blocks(
    file: DataFile, headless: bool, separator: str, refused: Refused | None = None
) -> Iterator[tuple[int, bytes]]:
    """The blocks of `whole_rows` that have rows; without the header, unless there is none.

    Quotes stand, and lines are refused, as `csv_lines` has it; so is a header that comes again.
    """
    headed, header = headless, b""
    for first, block in whole_rows(file.path, line_blocks(file), separator):
        if not headed:
            blank = len(block) - len(block.lstrip(b"\n"))
            end = block.find(b"\n", blank) + 1
            if blank == len(block):
                continue
            headed, header = True, block[blank:end].strip(b"\n")
            first += block.count(b"\n", 0, end)
            block = block[end:] if end else b""
        if block.strip(b"\n"):
            block = csv_lines(file.path, first, block, separator, refused)
            if header:
                block = _once(header, file.path, first, block, separator, refused)
            yield first, block


def _plain(text: bytes, separator: str) -> bytes:
    """Text in small letters, without quotes and blanks, as a header is compared."""
    return text.translate(_SMALL, b'" '.replace(separator.encode(), b""))


def _once(
    header: bytes, path: Path, first: int, block: bytes, separator: str, refused: Refused | None
) -> bytes:
    """A block with empty lines in place of such as are the header, each of which is refused."""
    words = re.findall(rb'[^\s"%b]+' % re.escape(separator.encode()), header.lower())
    word, small = max(words, key=len, default=b""), block.lower()
    there = all(bytes((letter,)) in small for letter in word)  # one byte alone is found quickly
    if not there or word not in small:
        return block
    header, mark, lines = _plain(header, separator), separator.encode(), block.split(b"\n")
    names = sorted(header.split(mark))
    for i, line in enumerate(_plain(block, separator).split(b"\n")):
        if len(line) == len(header) and sorted(line.split(mark)) == names:
            if line != header:
                raise DataFileError(path, _MOVED, first + i)
            if refused is None:
                raise DataFileError(path, f"{_AGAIN}; {_LEAVE_OUT}", first + i)
            refused(DataFileError(path, _AGAIN, first + i))
            lines[i] = b""
    return b"\n".join(lines)


def _rows(blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, and their numbers."""
    for first, block in blocks:
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
    text = row.replace("\r", "\n")  # as `whole_rows` has it
    return [cell.strip() for cell in next(csv.reader([text], delimiter=separator))]


def _is_data(
    names: list[str], row: bytes, rows: Iterator[bytes], separator: str
) -> tuple[bool, str]:
    """Whether the first row is data, and what has to be said where it is not."""
    numbers = [name for name in names if _is_cell_number(name, separator)]
    words = {
        i: name
        for i, name in enumerate(names)
        if name not in MISSING and not _is_cell_number(name, separator)
    }
    below = next(rows, b"")
    if numbers and below and _quoted_numbers(row) > _quoted_numbers(below):
        return False, ""
    needed = 1 if numbers else len(words) // 2 + 1
    plain = _plain(row, separator)  # a row that is the same says nothing
    if not numbers and _has_numbers(below, words, separator):
        return False, ""
    others = (other for other in chain([below], rows) if _plain(other, separator) != plain)
    if words and _come_again(words, needed, others, separator):
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
    cells = _lenient(row, separator)
    return any(_is_cell_number(cells[i], separator) for i in words if i < len(cells))


def _come_again(words: dict[int, str], needed: int, rows: Iterator[bytes], separator: str) -> bool:
    """Whether so many words of the first row, by their places, are found below themselves."""
    left = dict(words)
    for row in islice(rows, min(_LOOKED_AT, _CELLS // len(words) + 1)):
        cells = _lenient(row, separator)
        for i in [i for i, word in left.items() if i < len(cells) and cells[i] == word]:
            del left[i]
        if len(words) - len(left) >= needed:
            return True
    return False


def _lenient(row: bytes, separator: str) -> list[str]:
    """The values of a row; none where something is wrong, which who reads the rows says."""
    if row.count(separator.encode()) >= limits.MOST_COLUMNS:
        return []
    try:
        text = csv_lines(Path(), 0, row, separator)
        return _cells(text.decode("utf-8", errors="replace"), separator)
    except (DataFileError, csv.Error):
        return []
