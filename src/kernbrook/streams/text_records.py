"""Records from text: CSV with any separator, JSON lines, ARFF."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kernbrook.errors import DataFileError, DataFileWarning
from kernbrook.streams import limits
from kernbrook.streams.csv_header import (
    MISSING,
    OPEN_QUOTE,
    data_blocks,
    find_separator,
    quoted,
    read_header,
)
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.records import Batch, Records
from kernbrook.streams.text_files import line_blocks, stem

_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.IGNORECASE
)
_ARFF_KINDS = ("numeric", "real", "integer", "string", "date")


class TextRecords(Records):
    """A text file, a block of whole lines at a time; problems name the line."""

    def __init__(self, file: DataFile):
        self._file = file
        self.where = file.path
        self.name = stem(file.path)
        self.levels: dict[str, list[str]] = {}

    def refusal(self, problem: str) -> DataFileError:
        return DataFileError(self.where, problem)

    def at(self, line: int, problem: str) -> DataFileError:
        """The error for a problem with one line."""
        return DataFileError(self.where, problem, line)

    def batch(self, table: Any, first: int, block: bytes) -> Batch:
        """The rows of a block of text whose first line has that number; empty lines are none."""

        def refusal(row: int, problem: str) -> DataFileError:
            lines = (i for i, line in enumerate(block.split(b"\n")) if self.is_row(line))
            return self.at(first + next(islice(lines, row, None)), problem)

        return Batch(table, refusal)

    def is_row(self, line: bytes) -> bool:
        """Whether a line has values."""
        return line != b""

    def check_names(self, names: Sequence[str], line: int) -> None:
        """DataFileError where there are too many or two are the same."""
        if len(names) > limits.MOST_COLUMNS:
            problem = f"over {limits.MOST_COLUMNS:,} columns, for which there is svmlight"
            raise self.at(line, problem)
        seen = set()
        for name in names:
            if name in seen:
                raise self.at(line, f"two columns are called {quoted(name)}")
            seen.add(name)


class CsvRecords(TextRecords):
    """A CSV file. All values come as text, trimmed; those in `MISSING` are none.

    Parameters
    ----------
    file : the file
    separator : one character between values; None to find it

    Warns
    -----
    DataFileWarning
        As `read_header` says how the first row was taken.
    """

    def __init__(self, file: DataFile, separator: str | None = None):
        super().__init__(file)
        self.separator = find_separator(file) if separator is None else separator
        line, self.columns, self._headless, told = read_header(file, self.separator)
        self.told = DataFileWarning(file.path, told, line) if told else None

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for first, block in data_blocks(self._file, self._headless):
            for line, row in enumerate(block.split(b"\n"), start=first) if b'"' in block else ():
                if row.count(b'"') % 2:
                    raise self.at(line, OPEN_QUOTE)
            try:
                table = csv_table(block, self.columns, columns, self.separator)
            except ValueError as error:
                raise self._fault(first, block, error) from None
            yield self.batch(table, first, block)

    def _fault(self, first: int, block: bytes, error: Exception) -> DataFileError:
        """What is wrong with a block that pyarrow does not read."""
        lines = ((i, line) for i, line in enumerate(block.split(b"\n"), start=first) if line)
        for line, row in lines:
            try:
                text = row.decode("utf-8")
                cells = len(next(csv.reader([text], delimiter=self.separator)))
            except UnicodeDecodeError:
                return self.at(line, "expected UTF-8 text")
            except csv.Error as problem:
                return self.at(line, str(problem))
            if cells != len(self.columns):
                return self.at(line, f"expected {len(self.columns)} values, found {cells}")
        return self.at(first, f"in the lines from here on: {error}")


class JsonRecords(TextRecords):
    """JSON lines: an object each. The columns are the names in the first of them.

    What an object lacks, and null, is missing. A name that comes later is refused.
    """

    def __init__(self, file: DataFile):
        super().__init__(file)
        names: dict[str, None] = {}
        for first, block in line_blocks(file):
            for row in self._objects(first, block):
                names.update(dict.fromkeys(row))
            if names:
                break
        else:
            raise self.refusal("the file has no object with a name in it")
        self.columns = list(names)
        self.check_names(self.columns, 1)

    def is_row(self, line: bytes) -> bool:
        return bool(line.strip())

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        import pyarrow as pa

        known = set(self.columns)
        for first, block in line_blocks(self._file):
            rows = self._objects(first, block)
            batch = self.batch(None, first, block)
            for i, row in enumerate(rows):
                if not row.keys() <= known:
                    name = next(name for name in row if name not in known)
                    problem = f"{quoted(name)} is in none of the first objects; take it out"
                    raise batch.refusal(i, problem)
            if rows:
                arrays = [_array([row.get(name) for row in rows], self.decimal) for name in columns]
                yield batch._replace(table=pa.Table.from_arrays(arrays, names=list(columns)))

    def _objects(self, first: int, block: bytes) -> list[dict[str, Any]]:
        rows = []
        for number, line in enumerate(block.split(b"\n"), start=first):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except UnicodeDecodeError:
                raise self.at(number, "expected UTF-8 text") from None
            except (ValueError, RecursionError) as error:
                raise self.at(number, f"not an object of JSON: {error}") from None
            if not isinstance(row, dict):
                raise self.at(number, f"expected an object of JSON, found {quoted(str(row))}")
            rows.append(row)
        return rows


def _array(values: list[Any], decimal: str) -> Any:
    """An Arrow array; values of several kinds become text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):
        return pa.array([None if value is None else _text(value, decimal) for value in values])


def _text(value: Any, decimal: str) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", errors="replace").decode()
    if isinstance(value, float):
        return (f"{value:.0f}" if value.is_integer() else str(value)).replace(".", decimal)
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


class ArffRecords(TextRecords):
    """ARFF with dense rows; nominal attributes are columns whose levels are declared."""

    def __init__(self, file: DataFile):
        super().__init__(file)
        self.columns = []
        self._data = self._read_head()
        if not self.columns:
            raise self.at(self._data, "no @attribute before @data")
        self.check_names(self.columns, self._data)

    def is_row(self, line: bytes) -> bool:
        return bool(line.strip()) and not line.lstrip().startswith(b"%")

    def _read_head(self) -> int:
        """The number of the line with @data; the attributes are then known."""
        for first, block in line_blocks(self._file):
            for number, raw in enumerate(block.split(b"\n"), start=first):
                if not self.is_row(raw):
                    continue
                try:
                    line = raw.decode("utf-8").strip()
                except UnicodeDecodeError:
                    raise self.at(number, "expected UTF-8 text") from None
                word = line.split()[0].lower()
                if word == "@data":
                    return number
                if word == "@attribute":
                    self._add(number, line)
                elif word != "@relation":
                    expected = "expected @relation, @attribute or @data"
                    raise self.at(number, f"{expected}, found {quoted(line)}")
        raise self.refusal("no line with @data")

    def _add(self, number: int, line: str) -> None:
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            raise self.at(number, f"expected @attribute NAME TYPE, found {quoted(line)}")
        name, kind = _unquoted(found[1]), found[2].strip()
        if kind.startswith("{") and kind.endswith("}"):
            reader = csv.reader(
                [kind[1:-1]],
                quotechar='"' if '"' in kind else "'",
                escapechar="\\",
                skipinitialspace=True,
            )
            levels = list(dict.fromkeys(level.strip() for level in next(reader, [])))
            if not any(levels):
                raise self.at(number, f"{quoted(name)} has no level")
            self.levels[name] = levels
        elif kind.split(" ")[0].lower() not in _ARFF_KINDS:
            problem = f"{quoted(name)} is of the type {quoted(kind)}, which is not read"
            raise self.at(number, problem)
        self.columns.append(name)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for first, block in line_blocks(self._file):
            lines = block.split(b"\n")
            skipped = max(0, self._data + 1 - first)
            first, lines = first + skipped, lines[skipped:]
            rows = []
            for number, line in enumerate(lines, start=first):
                if self.is_row(line):
                    if line.lstrip().startswith(b"{"):
                        raise self.at(number, "a sparse row; svmlight is read where rows have gaps")
                    rows.append(line)
            if not rows:
                continue
            text = b"\n".join(rows)
            mark = "'" if b"'" in text else '"'
            try:
                table = csv_table(text, self.columns, columns, ",", mark)
            except ValueError as error:
                raise self.at(first, f"in the lines from here on: {error}") from None
            yield self.batch(table, first, b"\n".join(lines))


def _unquoted(name: str) -> str:
    quotes = len(name) > 1 and name[0] == name[-1] and name[0] in "'\""
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if quotes else name


def csv_table(
    block: bytes, names: Sequence[str], wanted: Sequence[str], separator: str, quote: str = '"'
) -> Any:
    """Some columns of a block of lines as text, trimmed; null where a value is missing.

    Raises
    ------
    ValueError
        pyarrow does not read it.
    """
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    places = [f"{i}" for i in range(len(names))]  # names as they are may be the same as options
    number: Mapping[str, str] = dict(zip(names, places, strict=True))
    table = arrow_csv.read_csv(
        # At the start pyarrow would skip a mark of the byte order, which has no meaning here.
        pa.BufferReader(b"\n" + block),
        read_options=arrow_csv.ReadOptions(
            column_names=places, use_threads=False, block_size=len(block) + 2
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=separator, quote_char=quote, escape_char="\\" if quote == "'" else False
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            null_values=list(MISSING),
            strings_can_be_null=True,
            include_columns=[number[name] for name in wanted],
        ),
    )
    columns = [column.combine_chunks() for column in table.columns]
    if b" " in block or b"\t" in block:
        gone = pa.array(MISSING)
        for i, column in enumerate(columns):
            trimmed = compute.utf8_trim_whitespace(column)
            missing = compute.is_in(trimmed, value_set=gone)
            columns[i] = compute.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    return pa.Table.from_arrays(columns, names=list(wanted))
