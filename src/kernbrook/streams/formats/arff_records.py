"""Records from ARFF, by the grammar that Weka and scipy read.

Values of a row, and levels, are parted by commas, or by blanks where there is no comma. One that
begins with a quote, single or double, ends with the same; within, a backslash stands before what is
meant as it is, and a quote may be doubled. A % outside of quotes begins a comment. A bare ? is a
missing value, and no other value is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from kernbrook.errors import DataFileError
from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import NOT_UTF8, line_blocks
from kernbrook.streams.formats.csv_header import MISSING, quoted
from kernbrook.streams.formats.table_records import Batch, Wanted
from kernbrook.streams.formats.text_records import Refusing, TextRecords, csv_table

_KINDS = ("numeric", "real", "integer", "string", "date")
_QUOTED = r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+\""""
_ATTRIBUTE = re.compile(rf"@attribute\s++({_QUOTED}|[^\s{{%'\"]++)\s*+(.*)", re.IGNORECASE)
_KIND = re.compile(rf"(\w++)\s*+({_QUOTED}|\[[^]]*+\]|[^\s%{{]++)?\s*+(.*)")
_ESCAPED = {mark: re.compile(rf"\\(.)|{mark}{mark}") for mark in "'\""}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_SPECIAL = (b"'", b'"', b"%", b"{", b"\\", b",,", b"\n,", b",\n")  # more than plain values
# Values in quotes that mean the same without: between commas, and of plain letters.
_NEEDLESS = [
    re.compile(rb"%b(?<![^,\n]%b)([^'\",%%\\{}?\n]*+)%b(?![^,\n])" % (mark, mark, mark))
    for mark in (b"'", b'"')
]
_PLAIN = 1 << 22  # bytes of lines: more is one line, whose blanks would be many
_BLANKS = re.compile(rb"[ \t]++([,\n][ \t]*+)?")
# Parts of the form of a date as Java has it, and as Python has them.
_FIELD = re.compile(r"'((?:[^']|'')*+)'|(([A-Za-z])\3*+)|.")
_FIELDS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_FIELDS |= {letters[0]: field for letters, field in _FIELDS.items() if len(letters) == 2}
_AS_IT_IS = re.compile(r"yyyy-MM-dd(('T'| )HH:mm(:ss(\.S{1,9})?)?(X{1,3}|Z)?)?")  # an ISO date


class ArffRecords(TextRecords):
    """ARFF with dense rows; nominal attributes are columns whose levels are declared."""

    typed = False

    def __init__(self, file: DataFile):
        super().__init__(file)
        self.columns = []
        self._forms: dict[str, str] = {}  # of dates that are not written as ISO has them
        self._data = self._read_head()
        if not self.columns:
            raise self.at(self._data, "no @attribute before @data")
        self.check_names(self.columns, self._data)

    def is_row(self, line: bytes) -> bool:
        if line[:1] > b"%":  # no blank, no comment: nearly always
            return True
        return bool(line.strip()) and not line.lstrip().startswith(b"%")

    def _read_head(self) -> int:
        """The number of the line with @data; the attributes are then known."""
        for first, block in line_blocks(self._file):
            for number, raw in enumerate(block.split(b"\n"), start=first):
                if not self.is_row(raw):
                    continue
                line = self._decoded(number, raw)
                word = re.split(r"[\s%]", line, maxsplit=1)[0].lower()
                if word == "@data":
                    return number
                if word == "@attribute":
                    self._add(number, line)
                elif word != "@relation":
                    expected = "expected @relation, @attribute or @data"
                    raise self.at(number, f"{expected}, found {quoted(line)}")
        raise self.refusal("no line with @data")

    def _decoded(self, number: int, line: bytes) -> str:
        try:
            return line.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise self.at(number, NOT_UTF8) from None

    def _add(self, number: int, line: str) -> None:
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            raise self.at(number, f"expected @attribute NAME TYPE, found {quoted(line)}")
        name, kind = _meant(found[1]), found[2]
        if kind.startswith("{"):
            self.levels[name] = self._levels_of(number, name, kind[1:])
        else:
            known = _KIND.fullmatch(kind)
            word, detail, rest = ("", "", "") if known is None else known.groups("")
            if rest.startswith("{"):
                raise self.at(number, f"{quoted(name)} has a weight, which is not read")
            if word.lower() == "date":
                form = _meant(detail)
                if form and not _AS_IT_IS.fullmatch(form):
                    self._forms[name] = form
            elif word.lower() not in _KINDS or detail[:1] not in ("", "["):
                problem = f"{quoted(name)} is of the type {quoted(kind)}, which is not read"
                raise self.at(number, problem)
            self._check_end(number, rest)
        self.columns.append(name)

    def _levels_of(self, number: int, name: str, kind: str) -> list[str]:
        try:
            cells, rest = _cells(kind, "}", False, limits.MOST_COLUMNS)
            if len(cells) == 1 and not _is_quoted(kind):
                cells, rest = _cells(kind, "}", True, limits.MOST_COLUMNS)
        except ValueError as error:
            raise self.at(number, f"{quoted(name)}: {error}") from None
        if not rest.startswith("}"):
            raise self.at(number, f"{quoted(name)}: expected levels up to a }}, found none")
        self._check_end(number, rest[1:].strip())
        levels = [cell.strip() for cell, _ in cells]
        if not levels:
            raise self.at(number, f"{quoted(name)} has no level")
        level, times = Counter(levels).most_common(1)[0]
        if times > 1:
            raise self.at(number, f"{quoted(name)} has the level {quoted(level)} {times} times")
        return levels

    def _check_end(self, number: int, rest: str) -> None:
        if rest and not rest.startswith("%"):
            raise self.at(number, f"expected the end of the line, found {quoted(rest)}")

    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        columns, bad = wanted.columns, Refusing(wanted)
        for first, block in line_blocks(self._file):
            lines = block.split(b"\n")
            skipped = max(0, self._data + 1 - first)
            first, lines = first + skipped, lines[skipped:]
            rows = [(n, line) for n, line in enumerate(lines, start=first) if self.is_row(line)]
            if rows:
                table, numbers = self._table(rows, columns, bad)
                table, numbers = self._meant(table, numbers, bad)
                yield self.batch(table, numbers, bad.lines())

    def _table(
        self, rows: list[tuple[int, bytes]], columns: Sequence[str], bad: Refusing
    ) -> tuple[Any, list[int]]:
        """Some columns of the rows as text, null where a bare ? stands; the numbers of lines."""
        import pyarrow as pa
        from pyarrow import compute

        text = b"\n".join(line for _, line in rows)
        if len(text) < _PLAIN and (text := _plain(text)):
            try:
                table = csv_table(text, self.columns, Wanted(columns, kept=MISSING), ",")
            except ValueError:
                pass  # found again, and named, line by line
            else:
                null = pa.scalar(None, pa.string())
                arrays = [compute.if_else(compute.equal(a, "?"), null, a) for a in table.columns]
                return pa.Table.from_arrays(arrays, names=list(columns)), [n for n, _ in rows]
        places = [self.columns.index(name) for name in columns]
        taken, numbers = list[list[str | None]](), list[int]()
        for number, line in rows:
            try:
                row = self._row(number, line)
            except DataFileError as error:
                bad.refuse(error)
                continue
            taken.append([row[i] for i in places])
            numbers.append(number)
        arrays = [pa.array([row[i] for row in taken], pa.string()) for i in range(len(columns))]
        return pa.Table.from_arrays(arrays, names=list(columns)), numbers

    def _row(self, number: int, line: bytes) -> list[str | None]:
        """The values of one line."""
        text, problem = self._decoded(number, line), ""
        if text.startswith("{"):
            raise self.at(number, "a sparse row; svmlight is read where rows have gaps")
        for by_blanks in (False, True):
            try:
                cells, _ = _cells(text, "", by_blanks, len(self.columns) + 2)
            except ValueError as error:
                problem = problem or str(error)
                continue
            if len(cells) == len(self.columns):
                return [None if bare and cell == "?" else cell for cell, bare in cells]
            if cells and cells[-1][1] and cells[-1][0].startswith("{"):
                raise self.at(number, "a weight in braces, which is not read")
            problem = problem or f"expected {len(self.columns)} values, found {len(cells)}"
        raise self.at(number, problem)

    def _meant(self, table: Any, lines: list[int], bad: Refusing) -> tuple[Any, list[int]]:
        """The table with dates as moments, and lines, without rows that are refused.

        A value that is not one of its levels is refused, and a date in another form.
        """
        wrong = dict[int, str]()  # by row
        for i, name in enumerate(table.column_names):
            column = table.column(name)
            if name in self._forms:
                moments, problems = self._moments(name, column)
                table = table.set_column(i, name, moments)
            elif name in self.levels:
                problems = self._others(name, column)
            else:
                continue
            for row, problem in problems.items():
                wrong.setdefault(row, f"column {quoted(name)}: {problem}")
        for row in sorted(wrong):
            bad.refuse(self.at(lines[row], wrong[row]))
        left = [row for row in range(len(lines)) if row not in wrong]
        return (table.take(left), [lines[row] for row in left]) if wrong else (table, lines)

    def _others(self, name: str, column: Any) -> dict[int, str]:
        """What is wrong with values that are no level, by row."""
        import pyarrow as pa
        from pyarrow import compute

        values = compute.utf8_trim_whitespace(column)
        known = compute.is_in(values, value_set=pa.array(self.levels[name]))
        odd = compute.and_not(compute.is_valid(column), known).to_numpy()
        return {
            row: f"expected one of its levels, found {quoted(column[row].as_py())}"
            for row in np.flatnonzero(odd).tolist()
        }

    def _moments(self, name: str, column: Any) -> tuple[Any, dict[int, str]]:
        """Dates as moments, and what is wrong with others, by row."""
        import pyarrow as pa

        java = self._forms[name]
        form = _python_form(java)
        if form is None:
            parts = "of which yyyy, MM, dd, HH, mm and ss are read"
            raise self.refusal(f"column {quoted(name)}: dates of the form {quoted(java)}, {parts}")
        moments: dict[str | None, datetime | None] = {None: None}
        values, wrong = column.to_pylist(), dict[int, str]()
        for row, value in enumerate(values):
            if value not in moments:
                try:
                    moments[value] = datetime.strptime(value.strip(), form)
                except ValueError:
                    wrong[row] = f"expected a date as {java}, found {quoted(value)}"
        return pa.array([moments.get(value) for value in values], pa.timestamp("us")), wrong


def _plain(text: bytes) -> bytes:
    """Rows of the same values with commas between them and nothing else; empty where there is more.

    What is taken away stands between commas, so that it can be part of no other value in quotes:
    that one would have a comma, and its quotes would be left.
    """
    if b" " in text or b"\t" in text:
        for blank in (b" ,", b", ", b" \n", b"\n "):
            text = text.replace(blank, blank.strip(b" "))
    if b" " in text or b"\t" in text:  # also more than one beside a comma
        text = _BLANKS.sub(_inside, text.strip())
    for mark in _NEEDLESS:
        text = mark.sub(itemgetter(1), text)
    special = text[:1] == b"," or text[-1:] == b"," or any(mark in text for mark in _SPECIAL)
    return b"" if special else text


def _inside(blanks: re.Match[bytes]) -> bytes:
    """What is left of blanks: those in a value, and a comma or line end after the others."""
    if blanks[1]:
        return blanks[1][:1]
    return b"" if blanks.string[blanks.start() - 1] in b",\n" else blanks[0]


def _cells(text: str, end: str, by_blanks: bool, most: int) -> tuple[list[tuple[str, bool]], str]:
    """Values up to a comment or what ends them, and whether each is bare; and what stands there.

    Raises
    ------
    ValueError
        A quote or a comma is where none can be, or nothing where a value must be, or there are
        more values than `most`.
    """
    pattern = _cell(end, by_blanks)
    cells: list[tuple[str, bool]] = []
    place, more = 0, True
    while more:
        if len(cells) > most:
            raise ValueError(f"over {most:,} values")
        found = pattern.match(text, place)
        assert found is not None  # nothing at all is a bare value
        within, bare, mark = found.groups()
        bare = "" if bare is None else bare.strip()
        if bare[:1] in ("'", '"') and bare:
            raise ValueError(f"a quote without an end, or beside other text: {quoted(bare)}")
        cells.append((bare, True) if within is None else (_meant(within), False))
        place, more = found.end(), mark is not None
    if cells[-1] == ("", True):  # after the last comma
        cells.pop()
    if ("", True) in cells:
        raise ValueError("no value between two commas; ? is a missing one")
    if (rest := text[place:])[:1] not in ("", "%", end):
        raise ValueError(f"commas and blanks between values: {quoted(rest)}")
    return cells, rest


@lru_cache
def _cell(end: str, by_blanks: bool) -> re.Pattern[str]:
    """A value in quotes or a bare one, and what parts it from the next."""
    blank, mark, then = (r"\s", r"\s++", "") if by_blanks else ("", ",", r"\s*+")
    quoted_value = rf"({_QUOTED}){then}(?=[{blank},%{end}]|$)"
    return re.compile(rf"\s*+(?:{quoted_value}|([^{blank},%{end}]*+))({mark})?+")


def _is_quoted(text: str) -> bool:
    return text.lstrip()[:1] in ("'", '"')


def _meant(text: str) -> str:
    """What stands in quotes, if these are there."""
    if not _is_quoted(text):
        return text
    meant = _ESCAPED[text[0]]
    return meant.sub(lambda found: _ESCAPES.get(found[1], found[1]) or found[0][0], text[1:-1])


def _python_form(java: str) -> str | None:
    """The form of a date as Python has it; None where a part of it is not read."""
    parts = []
    for found in _FIELD.finditer(java):
        literal, letters, _ = found.groups()
        if letters is not None and letters not in _FIELDS:
            return None
        text = found[0] if literal is None else literal.replace("''", "'") or "'"
        parts.append(text.replace("%", "%%") if letters is None else _FIELDS[letters])
    return "".join(parts)
