"""Records from ARFF: a header that declares the columns, and dense rows that become CSV.

Values of a row, and levels, are parted by commas. One that begins with a quote, single or double,
ends with the same; within, a backslash stands before what is meant as it is, and a quote may be
doubled. A % outside of quotes begins a comment. A bare ? is a missing value, and no other value is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from kernbrook.errors import DataFileError
from kernbrook.streams import limits
from kernbrook.streams.bytes import NOT_UTF8, DataFile, line_blocks
from kernbrook.streams.csv import CsvRecords, TextRecords
from kernbrook.streams.loading import compute, pa
from kernbrook.streams.records import Batch, ReadOptions, Refused, checked_names, quoted

_KINDS = ("numeric", "real", "integer", "string", "date")
_QUOTED = r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+\""""
_ATTRIBUTE = re.compile(rf"@attribute\s++({_QUOTED}|[^\s{{%'\"]++)\s*+(.*)", re.IGNORECASE)
_KIND = re.compile(rf"(\w++)\s*+({_QUOTED}|\[[^]]*+\]|[^\s%{{]++)?\s*+(.*)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_BLANKS = re.compile(rb"(?<![ \t])[ \t]++(?=[,\n]|\Z)|(?<=[,\n])[ \t]++|\A[ \t]++")
# Values in quotes that mean the same without: between commas, and of plain letters.
_NEEDLESS = [
    re.compile(rb"(?<![^,\n])%b([^'\",%%\\{}?\n]*+)%b(?![^,\n])" % (mark, mark))
    for mark in (b"'", b'"')
]
# A value in quotes or a bare one, by what ends them all, and a comma behind it.
_CELL = {
    end: re.compile(rf"\s*+(?:({_QUOTED})\s*+(?=[,%{end}]|$)|([^,%{end}]*+))(,)?+")
    for end in ("", "}")
}
_CARE = re.compile(rb"['\"%{\\]|^,|,$|,,", re.MULTILINE)  # more than plain values
# Parts of the form of a date as Java has it, and as C has them.
_FIELD = re.compile(r"'((?:[^']|'')*+)'|(([A-Za-z])\3*+)|.")
_FIELDS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_FIELDS |= {letters[0]: field for letters, field in _FIELDS.items() if len(letters) == 2}
_AS_IT_IS = re.compile(r"yyyy-MM-dd(('T'| )HH:mm(:ss(\.S{1,9})?)?(X{1,3}|Z)?)?")  # an ISO date


class ArffRecords(CsvRecords):
    """ARFF with dense rows; nominal attributes are columns whose levels are declared."""

    levels: dict[str, list[str]]
    separator = ","

    def __init__(self, file: DataFile):
        TextRecords.__init__(self, file)  # not a CSV file's: there is no header to find
        self.columns, self.levels = [], {}
        self._forms = dict[str, str]()  # of dates that are not written as ISO's
        self._header = self._read_head()
        if not self.columns:
            raise self.at(self._header, "no @attribute before @data")
        checked_names(self.columns, self.refusal_of_names, limits.MOST_COLUMNS)

    def gaps(self, wanted: ReadOptions) -> list[str]:
        return ["?"]

    def _read_head(self) -> int:
        """The number of the line with @data; the attributes are then known."""
        for first, block in line_blocks(self._file):
            for number, raw in enumerate(block.split(b"\n"), start=first):
                line = self._decoded(number, raw)
                word = re.split(r"[\s%]", line, maxsplit=1)[0].lower()
                if word == "@data":
                    return number
                if word == "@attribute":
                    self._add(number, line)
                elif word not in ("", "@relation"):
                    expected = "expected @relation, @attribute or @data"
                    raise self.at(number, f"{expected}, found {quoted(line)}")
        raise self.refusal("no line with @data")

    def _decoded(self, number: int, line: bytes) -> str:
        try:
            return line.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise self.at(number, NOT_UTF8) from None

    def _add(self, number: int, line: str) -> None:
        if (found := _ATTRIBUTE.fullmatch(line)) is None:
            raise self.at(number, f"expected @attribute NAME TYPE, found {quoted(line)}")
        name, kind = _meant(found[1]), found[2]
        known = _KIND.fullmatch(kind)
        word, detail, rest = ("", "", "") if known is None else known.groups("")
        if kind.startswith("{"):
            self.levels[name], rest = self._levels_of(number, name, kind[1:])
        elif rest.startswith("{"):
            raise self.at(number, f"{quoted(name)} has a weight, which is not read")
        elif word.lower() == "date":
            if (form := _meant(detail)) and not _AS_IT_IS.fullmatch(form):
                self._forms[name] = form
        elif word.lower() not in _KINDS or detail[:1] not in ("", "["):
            problem = f"{quoted(name)} is of the type {quoted(kind)}, which is not read"
            raise self.at(number, problem)
        if rest and not rest.startswith("%"):
            raise self.at(number, f"expected the end of the line, found {quoted(rest)}")
        self.columns.append(name)

    def _levels_of(self, number: int, name: str, kind: str) -> tuple[list[str], str]:
        """Levels up to a brace, and what stands behind it."""
        try:
            cells, rest = _cells(kind, "}")
        except ValueError as error:
            raise self.at(number, f"{quoted(name)}: {error}") from None
        if not rest.startswith("}"):
            raise self.at(number, f"{quoted(name)}: expected levels up to a }}, found none")
        levels = [cell.strip() for cell, _ in cells]
        if not levels:
            raise self.at(number, f"{quoted(name)} has no level")
        level, times = Counter(levels).most_common(1)[0]
        if times > 1:
            raise self.at(number, f"{quoted(name)} has the level {quoted(level)} {times} times")
        return levels, rest[1:].strip()

    def _blocks(self, refused: Refused) -> Iterator[tuple[int, bytes]]:
        """The rows as CSV, with empty lines for the header and comments."""
        for first, block in line_blocks(self._file):
            lines = block.split(b"\n")
            head = min(len(lines), max(0, self._header + 1 - first))
            lines[:head] = [b""] * head
            if (text := _plain(b"\n".join(lines))) is not None:
                yield first, text
                continue
            for number, line in enumerate(lines, start=first):
                try:
                    lines[number - first] = self._as_csv(number, line)
                except DataFileError as error:
                    refused(error)
                    lines[number - first] = b""
            yield first, b"\n".join(lines)

    def _as_csv(self, number: int, line: bytes) -> bytes:
        text, n = self._decoded(number, line), len(self.columns)
        if not text or text.startswith("%"):
            return b""
        if text.startswith("{"):
            raise self.at(number, "a sparse row; svmlight is read where rows have gaps")
        try:
            cells, _ = _cells(text, "")
        except ValueError as error:
            raise self.at(number, str(error)) from None
        if len(cells) != n:
            is_weight = cells[-1][1] and cells[-1][0].startswith("{")
            found = f"expected {n} values, found {len(cells)}"
            raise self.at(number, "a weight in braces, which is not read" if is_weight else found)
        # In quotes as CSV has it; see `WholeRows`.
        quotes = ('"' + cell.replace("\n", "\r").replace('"', '""') + '"' for cell, _ in cells)
        values = (
            cell if bare and '"' not in cell else within
            for (cell, bare), within in zip(cells, quotes, strict=True)
        )
        return ",".join(values).encode()

    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        """Dates are moments; a value that is not one of its levels is refused."""
        for batch in super()._read(wanted):
            wrong = dict[int, str]()  # by row
            table = batch.table
            for i, name in enumerate(table.column_names):
                column = table.column(name)
                if name in self._forms:
                    found, expected = self._moments(name, column)
                    table = table.set_column(i, name, found)
                elif name in self.levels:
                    found, expected = self._known(name, column), "one of its levels"
                else:
                    continue
                for row in np.flatnonzero(found.is_null().to_numpy()).tolist():
                    if (value := column[row].as_py()) is not None:
                        problem = f"column {quoted(name)}: expected {expected}, found"
                        wrong.setdefault(row, f"{problem} {quoted(value)}")
            yield batch._replace(table=table).refusing(wrong, wanted.skips)

    def _known(self, name: str, column: Any) -> Any:
        levels = pa.array(self.levels[name])
        return compute.index_in(compute.utf8_trim_whitespace(column), value_set=levels)

    def _moments(self, name: str, column: Any) -> tuple[Any, str]:
        """Dates as moments, null where it is another; how it was to be written."""
        java, parts = self._forms[name], list[str]()
        for found in _FIELD.finditer(java):
            literal, letters, _ = found.groups()
            if letters is not None and letters not in _FIELDS:
                expected = f"dates of the form {quoted(java)}, of which yyyy, MM, dd, HH, mm and ss"
                raise self.refusal(f"column {quoted(name)}: {expected} are read")
            text = found[0] if literal is None else literal.replace("''", "'") or "'"
            parts.append(text.replace("%", "%%") if letters is None else _FIELDS[letters])
        dates = compute.utf8_trim_whitespace(column)
        moments = compute.strptime(dates, "".join(parts), "us", error_is_null=True)
        return moments, f"a date as {java}"


def _plain(text: bytes) -> bytes | None:
    """Rows of the same values with commas between them and nothing else; None where there is more.

    What is taken away stands between commas, so that it can be part of no other value in quotes:
    that one would have a comma, and its quotes would be left.
    """
    if b" " in text or b"\t" in text:
        text = _BLANKS.sub(b"", text)
    for mark in _NEEDLESS:
        text = mark.sub(itemgetter(1), text)
    return None if _CARE.search(text) else text


def _cells(text: str, end: str) -> tuple[list[tuple[str, bool]], str]:
    """Values up to a comment or what ends them, and whether each is bare; and what stands there.

    ValueError where a quote is where none can be, or nothing where a value must be.
    """
    cells: list[tuple[str, bool]] = []
    place, mark = 0, ","
    while mark == ",":
        found = _CELL[end].match(text, place)
        assert found is not None  # nothing at all is a bare value
        within, bare, mark = found.groups()
        if within is None and bare.startswith(("'", '"')):
            raise ValueError(f"a quote without an end, or beside other text: {quoted(bare)}")
        cells.append((bare.strip(), True) if within is None else (_meant(within), False))
        place = found.end()
    if cells[-1] == ("", True):  # after the last comma
        cells.pop()
    if ("", True) in cells:
        raise ValueError("no value between two commas; ? is a missing one")
    return cells, text[place:]


def _meant(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text
    marks = rf"\\(.)|{text[0]}{text[0]}"
    return re.sub(marks, lambda f: _ESCAPES.get(f[1], f[1]) or f[0][0], text[1:-1])
