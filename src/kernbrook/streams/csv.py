"""Records from CSV: rows and their values, the first row, and blocks of rows as tables of Arrow.

Names that somebody has said decide, a model or an argument: where the row has them all, it is a
header; where they are "x1", "x2", ... and it has not, it is data. Else it is data where it is all
numbers, or where words of it come again below in their columns: one beside numbers, of words alone
more than half. Missing values count as numbers; 0, 1, 2, ... are the header that pandas writes
where nobody gave names. Where that is a guess, a warning says how the row was taken.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, takewhile
from operator import not_
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kernbrook.errors import DataFileError, DataFileWarning, InputError
from kernbrook.streams import limits
from kernbrook.streams.bytes import (
    COMMAS,
    NOT_UTF8,
    SEPARATORS,
    DataFile,
    count_lines,
    line_blocks,
    stem,
)
from kernbrook.streams.loading import compute, pa
from kernbrook.streams.records import (
    MISSING,
    NUMBER,
    Batch,
    ReadOptions,
    Records,
    Refused,
    checked_names,
    is_number,
    quoted,
    raised,
)

OPEN, BAD, BARE, PLAIN = "open", "bad", "bare", "plain"  # see `cells_of`
_BLANK = r"[ \t]"
_BLANKS = {" ": r"\t", "\t": " "}  # by separator
UNENDED = "a quoted value of the row that begins here does not end"
_ODD = (
    "an odd number of quotes; a value with a quote in it stands in quotes, and the quote in it is "
    "written twice"
)
_TWO_WAYS = (
    "a backslash before a quote, which can be read in several ways; write a quote in a value twice"
)


class WholeRows:
    r"""Makes of blocks of lines such blocks that each row is one line, quoted as pyarrow reads it.

    Within a value its lines end with CR. Empty lines follow such a row, as many as it takes for
    the lines after it to keep their numbers. Quotes stand around values, or are doubled within;
    blanks around a quoted value are taken away. A backslash before a quote, as Spark and MySQL
    write it, is no part of the value; where the row can be read without that, it is.

    refused : called with the error for a row; where that returns, the row is empty

    Examples
    --------
    >>> rows = WholeRows(Path("t.csv"), ",")
    >>> list(rows.of([(1, b'1,"a\n'), (2, b'b"\n2,c\n')]))
    [(1, b'1,"a\rb"\n\n2,c\n')]
    >>> list(rows.of([(1, b'1, "a"\n2,"5\\" pipe"\n')]))
    [(1, b'"1","a"\n"2","5"" pipe"\n')]
    """

    def __init__(self, path: Path, separator: str, refused: Refused = raised):
        self._path, self._separator, self._refused = path, separator, refused
        # Quotes behind a backslash, and behind blanks at the begin of a value.
        blanks = rf"(?:^|{re.escape(separator)}){_BLANKS.get(separator, _BLANK)}++"
        self._marks = b'\\"', b' "', b'\t"'  # one of them is in each of these; quick to look for
        self._odd = re.compile(rf'(?:\\|{blanks})"'.encode(), re.MULTILINE)

    def of(self, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        held = b""
        for first, lines in blocks:
            first -= count_lines(held)
            block, held = self._joined(first, lines := held + lines)
            if len(held) > limits.LONGEST_CELL:
                block, held = self._joined(first, lines, is_last=True)
            if block or not held:  # a row that is left out is counted where its block is read
                yield first, block
            first += count_lines(block)
            if len(held) > limits.LONGEST_CELL:
                problem = f"{UNENDED} within {limits.LONGEST_CELL:,} bytes"
                raise DataFileError(self._path, problem, first)
        if held:
            block, held = self._joined(first, held, is_last=True)
            if held:
                raise DataFileError(self._path, UNENDED, first + count_lines(block))
            yield first, block

    def _joined(self, first: int, block: bytes, is_last: bool = False) -> tuple[bytes, bytes]:
        """The rows of a block that are whole, and the lines from one on that goes on after it.

        is_last : whether a row that may go on, or may not, ends
        """
        is_odd = any(mark in block for mark in self._marks) and self._odd.search(block)
        if _all_even(block) and not is_odd:
            return block, b""
        lines, stop = block.split(b"\n"), 0
        while (place := stop) < len(lines):
            row, stop = lines[place], place + 1
            is_odd = self._odd.search(row)
            if row.count(b'"') % 2 or (is_odd and b'\\"' in row):
                stop = self._stop(first, lines, place, is_last)
                if stop == 0:
                    return b"\n".join([*lines[:place], b""]), b"\n".join(lines[place:])
                row = b"\r".join(lines[place:stop])
                is_odd = self._odd.search(row)
            elif not is_odd:
                continue
            try:
                if is_odd:
                    row = self._rewritten(first + place, row)
                if row.count(b'"') % 2:
                    raise DataFileError(self._path, _ODD, first + place)
                lines[place] = row
            except DataFileError as error:
                self._refused(error)
                lines[place] = b""
            lines[place + 1 : stop] = [b""] * (stop - place - 1)
        return b"\n".join(lines), b""

    def _stop(self, first: int, lines: list[bytes], place: int, is_last: bool) -> int:
        """Where the row ends that begins at a place among lines; 0 where it goes on after them."""
        quotes = marks = 0
        for stop in range(place + 1, len(lines) + 1):
            line = lines[stop - 1]
            quotes, marks = quotes + line.count(b'"'), marks + line.count(b'\\"')
            is_even = quotes % 2 == 0 or (quotes + marks) % 2 == 0  # with or without backslashes
            if is_even or stop == place + 1:
                text = b"\r".join(lines[place:stop]).decode("latin-1")
                ways = (False, True) if '\\"' in text else (False,)  # with and without backslashes
                states = [self._state(text, escapes) for escapes in ways]
                if {*states} == {BAD} and (quotes % 2 or stop > place + 1):
                    raise DataFileError(self._path, UNENDED, first + place)
                if OPEN not in states:
                    return stop
                if BARE in states or PLAIN in states:  # and the other way it goes on
                    escapes = states.index(OPEN) == 1
                    after = ('"' + lines[i].decode("latin-1") for i in range(stop, len(lines)))
                    left = (self._state(text, escapes) for text in after)
                    ends = next((state for state in left if state != OPEN), None)
                    if ends in (BARE, PLAIN):
                        raise DataFileError(self._path, _TWO_WAYS, first + place)
                    return stop if ends == BAD or is_last else 0
        return 0

    def _state(self, text: str, escapes: bool) -> str:
        return cells_of(text, self._separator, escapes)[1]

    def _rewritten(self, number: int, row: bytes) -> bytes:
        """A row with all values in quotes; as it is where it cannot be read that way."""
        try:
            text = row.decode("utf-8")
        except UnicodeDecodeError:
            return row  # who reads on says so
        cells, state = cells_of(text, self._separator)
        if '\\"' in text and state != PLAIN:
            cells, state = cells_of(text, self._separator, escapes=True)
            if state != PLAIN or "\\\\" in text:
                raise DataFileError(self._path, _TWO_WAYS, number)
        if state in (OPEN, BAD):
            return row
        return self._separator.join('"' + c.replace('"', '""') + '"' for c in cells).encode()


def cells_of(text: str, separator: str, escapes: bool = False) -> tuple[list[str], str]:
    r"""The values of a row, without quotes around them and blanks beside these; and their state.

    OPEN where the row goes on after its end, BAD where something stands beside a quoted value, BARE
    where a quote is in a value that stands in none, else PLAIN.

    escapes : whether a backslash may stand before a quote in a value

    Examples
    --------
    >>> cells_of('1, "a, b" ,c', ",")
    (['1', 'a, b', 'c'], 'plain')
    >>> [cells_of(row, ",")[1] for row in ('1,"a', '1,"a" b', '1,5"')]
    ['open', 'bad', 'bare']
    """
    pattern, cells, place, state = _cell(separator, escapes), list[str](), 0, PLAIN
    while (found := pattern.match(text, place)) is not None:
        within, bare, mark = found["within"], found["bare"], found["mark"]
        if mark is None:
            return cells, OPEN
        state = BARE if bare and '"' in bare else state
        value = bare if within is None else within.replace('""', '"')
        cells.append(value.replace('\\"', '"') if escapes else value)
        if not mark:
            return cells, state
        place = found.end()
    return cells, BAD


@lru_cache
def _cell(separator: str, escapes: bool) -> re.Pattern[str]:
    """A value and the mark behind it; the begin of a quoted one alone."""
    mark = re.escape(separator)
    blanks = _BLANKS.get(separator, _BLANK) + "*+"
    within = r'(?:[^"\\]|\\.|"")*+' if escapes else '(?:[^"]|"")*+'
    bare = rf'[^{mark}"]*+' if escapes else rf'(?!{blanks}")[^{mark}]*+'
    within_quotes = rf'{blanks}"(?P<within>{within})(?:"{blanks}|(?P<open>\Z))'
    cell = rf"(?:{within_quotes}|(?P<bare>{bare}))(?(open)|(?P<mark>{mark}|\Z))"
    return re.compile(cell, re.DOTALL)


def _all_even(block: bytes) -> bool:
    if b'"' not in block:
        return True
    text = np.frombuffer(block, np.uint8)
    marks = text[(text == ord('"')) | (text == ord("\n"))]
    ends = np.flatnonzero(marks == ord("\n"))
    quotes = ends - np.arange(len(ends))  # before each
    return not (quotes % 2).any() and (len(marks) - len(ends)) % 2 == 0


_AGAIN = "the names of the columns come again, as where files are put together"
_MOVED = "the names of the columns come again in another order: make two files of it"
_LEAVE_OUT = (
    'take such lines out, or leave them out: on_bad_rows="skip" (--on-bad-rows skip of train and '
    "predict)"
)
NO_COMMENT = "lines that begin with # are no comments in a CSV file: sed '/^#/d' takes them out"
_OF_R = (
    "has the first column no name, as in what R's write.table writes? Write with row.names=FALSE"
)
_ONE = "is something else between them? sep (--sep)"
_FOR_EXCEL = re.compile(rb'"?sep=.?"?', re.IGNORECASE)
_QUOTED = re.compile(rb'"[^"]*+"')
_NUMBER_CELL = re.compile(rb"\s*+" + NUMBER.pattern.encode() + rb"\s*+", re.IGNORECASE)
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

Line: TypeAlias = "tuple[int, list[str]]"  # a number, and values


class Header(NamedTuple):
    """What the first row says; `note` is for a warning where how it was taken is a guess."""

    line: int
    names: list[str]
    is_data: bool
    note: str


def checked_separator(sep: object) -> str | None:
    """What somebody says parts the values; None to find it."""
    if sep is None:
        return None
    sep = "\t" if sep == r"\t" else sep  # as a shell gives it
    if not isinstance(sep, str) or len(sep) != 1 or not sep.isascii() or sep in '"\n\r\0':
        raise InputError(f"sep: expected one character, got {sep!r:.40}")
    return sep


def find_separator(file: DataFile) -> str:
    """What parts the values of a CSV file: a comma, a semicolon, a tab or a bar.

    What the first row has. Of several, what parts more of the first rows into equally many values;
    then what leaves more numbers below the first row, also with decimal commas; then more values.
    """
    lines = _rows(line_blocks(file))
    rows = [_QUOTED.sub(b"", row) for _, row in islice(lines, _SAMPLED)]
    marks = [mark for mark in SEPARATORS if rows and mark.encode() in rows[0]]
    if len(marks) < 2:
        return marks[0] if marks else ","
    return max(marks, key=lambda mark: _parting(mark.encode(), rows))


def _parting(mark: bytes, rows: list[bytes]) -> tuple[int, int, int]:
    """How well a mark parts rows: rows as long as the first, then numbers below it, then cells."""
    marks = [row.count(mark) for row in rows]
    number = _NUMBER_CELL if mark == b"," else _MARKED_NUMBER_CELL
    below = [row.split(mark, _SAMPLED_CELLS)[:_SAMPLED_CELLS] for row in rows[1:] or rows]
    numbers = sum(1 for row in below for cell in row if number.fullmatch(cell))
    return marks.count(marks[0]), numbers, marks[0]


def read_header(
    file: DataFile, separator: str = ",", known: Collection[str] = (), least: int = 2
) -> Header:
    """Read the first row, and as many more as it takes to tell whether it is a header.

    known : names that columns must have, as a model or an argument says; empty where nobody does
    least : columns
    """
    path = file.path
    errors = list[DataFileError]()
    lines = _rows(WholeRows(path, separator, errors.append).of(line_blocks(file)))
    line, row = next(lines, (0, b""))
    if errors and not 0 < line < (errors[0].line or 0):
        raise errors[0]
    if not row:
        raise DataFileError(path, "the file has no line")
    names = _names(path, line, row, separator)
    some = [(line, row), *islice(lines, _SAMPLED if len(row) < _LONG else 2)]
    first = [(number, _lenient(row, separator)) for number, row in some]
    if len(names) < least:
        text = [row.decode("utf-8", errors="replace") for _, row in some]
        by = IN_WORDS.get(separator, quoted(separator))
        raise DataFileError(path, _one_column(first, text, by), line)
    _check_ends(path, first, separator, bool(known))
    rows = (row for _, row in chain(some[1:], lines))
    numbered = [f"x{i}" for i in range(1, len(names) + 1)]
    is_data, note = False, ""
    if not known or not set(known) <= set(names):
        by_number = bool(known) and set(known) <= set(numbered)
        is_data, note = (True, "") if by_number else _is_data(names, row, rows, separator)
    if is_data:
        names = numbered
        note = f"numbers where names were expected: taken as data, the columns as x1 to {names[-1]}"
    hint = f"; several blanks between values? {COMMAS}" if separator == " " else ""
    checked_names(names, lambda problem: DataFileError(path, f"{problem}{hint}", line))
    return Header(line, names, is_data, note)


def _check_ends(path: Path, rows: list[Line], separator: str, named: bool) -> None:
    """DataFileError where the first row is shorter than those below it, or all end with a mark."""
    (first, names), below = rows[0], rows[1:]
    counts, n = [len(cells) for _, cells in below], len(names)
    if not below or min(counts) != max(counts) or counts[0] < n:
        if problem := _title(rows):
            raise DataFileError(path, problem, first)
        return
    more, empty = counts[0] - n, min(_empty_at_end(cells) for _, cells in below)
    ends = more or min(empty, _empty_at_end(names))
    if empty >= ends > (named and not more):
        problem = f"expected {n} values, found {counts[0]}; each row" if more else "each line"
        mark = {"\t": r"\t"}.get(separator, separator) * ends
        kind = "a separator" if ends == 1 else f"{ends} separators"
        way = f"ends with {kind}: sed 's/{mark}\\r*$//' cuts it off"
        raise DataFileError(path, f"{problem} {way}", below[0][0])
    has_numbers = [any(_is_cell_number(cell, separator) for cell in row) for _, row in below[:2]]
    if more > 1 or names[0].startswith("#") or has_numbers == [False, True]:
        if more and (problem := _title(rows)):
            raise DataFileError(path, problem, first)
    elif more:
        raise DataFileError(path, f"expected {n} values, found {n + 1}; {_OF_R}", below[0][0])


def _empty_at_end(cells: list[str]) -> int:
    return sum(1 for _ in takewhile(not_, reversed(cells)))


def _title(rows: list[Line]) -> str:
    """Lines before the header: the last rows have more values, and all equally many; or empty."""
    counts = [len(cells) for _, cells in rows]
    before = max((i + 1 for i, n in enumerate(counts) if n != counts[-1]), default=0)
    if not 0 < before <= len(rows) - 2 or max(counts[:before]) >= counts[-1]:
        return ""
    line, last = rows[before][0], rows[before - 1][0]
    way = f"is that no header? sed 1{f',{last}' * (last > 1)}d takes it out"
    if all(cells[0].startswith("#") for _, cells in rows[:before]):
        way = NO_COMMENT
    found = f"found {counts[0]} value{'s' * (counts[0] > 1)}, and {counts[-1]} from line {line} on"
    return f"{found}; {way}"


def _one_column(rows: list[Line], text: list[str], by: str) -> str:
    """What is wrong where the first of some rows, parted by something, has one value alone."""
    for mark in SEPARATORS:
        if found := _title(
            [(row[0], line.split(mark)) for row, line in zip(rows, text, strict=True)]
        ):
            return found
    parts = {len(line.split()) for line in text}
    hint = f"columns parted by blanks? {COMMAS}" if len(parts) == 1 and parts != {1} else _ONE
    hint = NO_COMMENT if text[0].lstrip().startswith("#") else hint
    found = f"found one column, {text[0].strip()!r:.40}"
    return f"expected a label and features parted by {by}, {found}; {hint}"


def _plain(text: bytes, separator: str) -> bytes:
    """Text in small letters, without quotes and blanks, as a header is compared."""
    return text.lower().translate(None, b'" '.replace(separator.encode(), b""))


def _rows(blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
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
    text = row.replace("\r", "\n")  # as `WholeRows` has it
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
    if not numbers:
        below = next(rows, b"")
        cells, rows = _lenient(below, separator), chain([below], rows)
        if any(_is_cell_number(cells[i], separator) for i in words if i < len(cells)):
            return False, ""
    if words and _come_again(words, 1 if numbers else len(words) // 2 + 1, row, rows, separator):
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


def _come_again(
    words: dict[int, str], needed: int, row: bytes, rows: Iterator[bytes], separator: str
) -> bool:
    """Whether so many words of the first row, by their places, are found below themselves."""
    left, plain = dict(words), _plain(row, separator)  # a row that is the same says nothing
    for other in islice(rows, min(_LOOKED_AT, _CELLS // len(words) + 1)):
        cells = [] if _plain(other, separator) == plain else _lenient(other, separator)
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
        return _cells(row.decode("utf-8", errors="replace"), separator)
    except csv.Error:
        return []


class TextRecords(Records):
    """A text file, a block of whole lines at a time; problems name the line."""

    def __init__(self, file: DataFile):
        self._file, self.where, self.name = file, file.path, stem(file.path)

    def at(self, line: int, problem: str) -> DataFileError:
        return DataFileError(self.where, problem, line)

    def lines_of(self, rows: int, first: int, block: bytes) -> Sequence[int]:
        """The numbers of the lines of so many rows of a block, the first of which has a number."""
        if rows == _n_lines(block):
            return range(first, first + rows)
        numbered = enumerate(block.split(b"\n"), start=first)
        return [number for number, line in numbered if line]

    def batch(self, table: Any, lines: Sequence[int], errors: Mapping[int, DataFileError]) -> Batch:
        """Rows, the numbers of their lines, and what is wrong with some of these."""
        refused = {bisect_left(lines, line): errors[line] for line in sorted(errors)}
        return Batch(table, lambda row, problem: self.at(lines[row], problem), refused)

    def refusing(self, skips: bool) -> tuple[Refused, dict[int, DataFileError]]:
        """What is called with the error for a line; and these errors, where rows are left out."""
        errors = dict[int, DataFileError]()

        def refuse(error: DataFileError) -> None:
            errors[error.line or 0] = error

        return (refuse if skips else raised), errors


class CsvRecords(TextRecords):
    """A CSV file. Values come as text, and of columns that are to be numbers as these.

    A column of which a value is no plain number comes as text from that block on. Where no
    separator is given, it is found; known, least : as `read_header` has them.
    """

    typed = False

    def __init__(
        self,
        file: DataFile,
        separator: str | None = None,
        known: Collection[str] = (),
        least: int = 2,
    ):
        super().__init__(file)
        self.separator = find_separator(file) if separator is None else separator
        header = read_header(file, self.separator, known, least)
        self._header, self.columns, self._headless, note = header
        self.note = DataFileWarning(file.path, note, self._header) if note else None

    def _blocks(self, refused: Refused) -> Iterator[tuple[int, bytes]]:
        """Blocks of whole rows without the header, which is refused where it comes again."""
        headed, header = self._headless, b""
        rows = WholeRows(self.where, self.separator, refused)
        for first, block in rows.of(line_blocks(self._file)):
            if not headed:
                blank = len(block) - len(block.lstrip(b"\n"))
                end = block.find(b"\n", blank) + 1
                if blank == len(block):
                    continue
                headed, header = True, block[blank:end].strip(b"\n")
                first += block.count(b"\n", 0, end)
                block = block[end:] if end else b""
            yield first, self._once(header, first, block, refused) if header else block

    def _once(self, header: bytes, first: int, block: bytes, refused: Refused) -> bytes:
        """A block with empty lines in place of such as are the header, each of which is refused.

        Its names in another order are an error: the rows below them are in that order. Numbers
        alone can be a row.
        """
        plain, mark = _plain(header, self.separator), self.separator.encode()
        word = max(re.findall(rb"\w+", header.lower()), key=len, default=b"")
        if word not in block.lower():
            return block
        lines, names = block.split(b"\n"), sorted(plain.split(mark))
        has_words = not all(map(_NUMBER_CELL.fullmatch, names))
        for i, line in enumerate(lines):
            here = _plain(line, self.separator)
            moved = has_words and here != plain and len(here) == len(plain)
            if moved and sorted(here.split(mark)) == names:
                raise self.at(first + i, _MOVED)
            if line and here == plain:
                refused(self.at(first + i, _AGAIN + f"; {_LEAVE_OUT}" * (refused is raised)))
                lines[i] = b""
        return b"\n".join(lines)

    def gaps(self, wanted: ReadOptions) -> list[str]:
        """Text of cells that are missing; where it is ? alone, only outside of quotes."""
        return [gap for gap in MISSING if gap not in wanted.kept]

    def refusal_of_names(self, problem: str) -> DataFileError:
        return self.at(self._header, problem)

    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        refused, errors = self.refusing(wanted.skips)
        for first, block in self._blocks(refused):
            block = self._without(errors, first, block, wanted)
            table = self._with_numbers(block, wanted)
            if table is None:
                texts = wanted._replace(numbers=())
                table, block = self._as_text(first, block, texts, refused)
                plain = {name for name in wanted.numbers if _is_plain(table.column(name))}
                wanted = wanted._replace(numbers=plain)
            yield self.batch(table, self.lines_of(table.num_rows, first, block), errors)
            errors.clear()

    def _without(
        self, errors: Mapping[int, DataFileError], first: int, block: bytes, wanted: ReadOptions
    ) -> bytes:
        """The block with rows of gaps in place of lines that are refused."""
        if not errors:
            return block
        lines, gap = block.split(b"\n"), (self.gaps(wanted) or MISSING)[-1]
        for line in errors:
            lines[line - first] = self.separator.join([gap] * len(self.columns)).encode()
        return b"\n".join(lines)

    def _as_text(
        self, first: int, block: bytes, wanted: ReadOptions, refused: Refused
    ) -> tuple[Any, bytes]:
        """The table of a block, all of it text, and the block without lines that are refused."""
        try:
            return self._table(block, wanted), block
        except (ValueError, csv.Error) as error:
            if not (faults := list(self._faults(first, block))):
                raise self.at(first, f"in the lines from here on: {error}") from None
        for fault in faults:
            refused(fault)
        block = self._without({fault.line or 0: fault for fault in faults}, first, block, wanted)
        return self._table(block, wanted), block

    def _with_numbers(self, block: bytes, wanted: ReadOptions) -> Any:
        """The table of a block where all that are to be numbers are; else None."""
        if not wanted.numbers or len(self.columns) > limits.WIDE:
            return None
        try:
            table = self._table(block, wanted)
        except ValueError:
            return None
        # What is written as infinity, or is too large, is named as it stands.
        return table if all(_is_finite(table.column(name)) for name in wanted.numbers) else None

    def _table(self, block: bytes, wanted: ReadOptions) -> Any:
        """The columns wanted of whole lines, as text or numbers; null where a value is missing.

        Of text with blanks around it `without_gaps` says later whether it is missing. ValueError
        where a line cannot be read, or a row goes on in the next line.
        """
        is_wide = len(self.columns) > limits.WIDE
        table = self._by_python(block, wanted) if is_wide else self._by_arrow(block, wanted)
        rows = table.num_rows
        if rows != _n_lines(block) and rows != sum(1 for line in block.split(b"\n") if line):
            raise ValueError("quotes stand where they are not expected")
        return _with_line_ends(table) if b"\r" in block else table

    def _by_arrow(self, block: bytes, wanted: ReadOptions) -> Any:
        from pyarrow import csv as arrow_csv

        places = [f"{i}" for i in range(len(self.columns))]  # names may be the same as options
        number = dict(zip(self.columns, places, strict=True))
        kinds = dict.fromkeys(places, pa.string())
        kinds |= {number[name]: pa.float64() for name in wanted.numbers}
        gaps = self.gaps(wanted)
        table = arrow_csv.read_csv(
            # At the start pyarrow would skip a mark of the byte order, which has no meaning here.
            pa.BufferReader(b"\n" + block),
            read_options=arrow_csv.ReadOptions(
                column_names=places, use_threads=False, block_size=len(block) + 2
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=self.separator),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds,
                null_values=gaps,
                strings_can_be_null=True,
                quoted_strings_can_be_null=gaps != ["?"],
                include_columns=[number[name] for name in wanted.columns],
            ),
        )
        return table.rename_columns(list(wanted.columns))

    def _by_python(self, block: bytes, wanted: ReadOptions) -> Any:
        """Where pyarrow's memory for each column is more than the text; all of it text."""
        n = len(self.columns)
        if any(map(self._is_too_long, block.split(b"\n"))):
            raise ValueError("a row of another length")
        lines = block.decode("utf-8").split("\n")
        rows = [row for row in csv.reader(lines, delimiter=self.separator) if row]
        if any(len(row) != n for row in rows):
            raise ValueError("a row of another length")
        cells: Iterable[tuple[str, ...]] = zip(*rows, strict=True) if rows else [()] * n
        columns = dict(zip(self.columns, cells, strict=True))
        return pa.table({name: pa.array(columns[name], pa.string()) for name in wanted.columns})

    def _is_too_long(self, line: bytes) -> bool:
        return line.count(self.separator.encode()) > len(self.columns) + limits.LONGEST_LABEL

    def _faults(self, first: int, block: bytes) -> Iterator[DataFileError]:
        for line, row in enumerate(block.split(b"\n"), start=first):
            if b'"' in row and cells_of(row.decode("latin-1"), self.separator)[1] == OPEN:
                raise self.at(line, UNENDED)
            if row and (problem := self._problem(row)) is not None:
                yield self.at(line, problem)

    def _problem(self, row: bytes) -> str | None:
        if self._is_too_long(row):
            kind = IN_WORDS.get(self.separator, f"of {quoted(self.separator)}")
            marks = f"{row.count(self.separator.encode()):,} {kind}"
            return f"expected {len(self.columns)} values, found {marks}"
        try:
            cells = next(csv.reader([row.decode("utf-8")], delimiter=self.separator))
        except UnicodeDecodeError:
            return NOT_UTF8
        except csv.Error as problem:
            return str(problem)
        if len(cells) != len(self.columns):
            expected = f"expected {len(self.columns)} values, found {len(cells)}"
            return f"{expected}; {NO_COMMENT}" if cells[0].startswith("#") else expected
        return None


def _n_lines(block: bytes) -> int:
    return count_lines(block) + (not block.endswith(b"\n"))


def _with_line_ends(table: Any) -> Any:
    """A table in whose text LF stands where lines ended, in place of CR."""
    for i, name in enumerate(table.column_names):
        if pa.types.is_string(table.column(i).type):
            text = compute.replace_substring(table.column(i), "\r", "\n")
            table = table.set_column(i, name, text)
    return table


def _is_plain(text: Any) -> bool:
    """Whether all of a column of text are numbers as Arrow reads them, or missing."""
    try:
        return _is_finite(text.cast(pa.float64()))
    except pa.ArrowInvalid:
        return False


def _is_finite(numbers: Any) -> bool:
    """Whether none of a column is infinite, or what text such as "nan(1)" means."""
    return compute.all(compute.is_finite(numbers), min_count=0).as_py() is True
