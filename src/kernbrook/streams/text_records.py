"""Records from text: CSV with any separator, JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from kernbrook.errors import DataFileError, DataFileWarning, KernbrookError
from kernbrook.streams import limits
from kernbrook.streams.csv_header import (
    MISSING,
    data_blocks,
    find_separator,
    miscounted,
    quoted,
    read_header,
)
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.records import Batch, Records
from kernbrook.streams.text_files import NOT_UTF8, OF_LIST, line_blocks, stem

_HALF = "half of a character, which UTF-8 does not have"


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
        """DataFileError where there are too many, two are the same, or one is no text."""
        if len(names) > limits.MOST_COLUMNS:
            problem = f"over {limits.MOST_COLUMNS:,} columns, for which there is svmlight"
            raise self.at(line, problem)
        seen = set()
        for name in names:
            if name in seen:
                raise self.at(line, f"two columns are called {quoted(name)}")
            if not _is_unicode(name):
                raise self.at(line, f"the name {quoted(name)}: {_HALF}")
            seen.add(name)


class CsvRecords(TextRecords):
    """A CSV file. All values come as text.

    Parameters
    ----------
    file : the file
    separator : one character between values; None to find it
    known, least : as `read_header` has them

    Warns
    -----
    DataFileWarning
        As `read_header` says how the first row was taken.
    """

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
        line, self.columns, self._headless, told = header
        self.told = DataFileWarning(file.path, told, line) if told else None

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for first, block in data_blocks(self._file, self._headless, self.separator):
            try:
                table = csv_table(block, self.columns, columns, self.separator, self.kept)
            except (ValueError, csv.Error) as error:
                raise self._fault(first, block, error) from None
            yield self.batch(table, first, block)

    def _fault(self, first: int, block: bytes, error: Exception) -> DataFileError:
        """What is wrong with a block that pyarrow does not read."""
        lines = ((i, line) for i, line in enumerate(block.split(b"\n"), start=first) if line)
        for line, row in lines:
            if _is_too_long(row, self.columns, self.separator):
                marks = f"{row.count(self.separator.encode()):,} of {quoted(self.separator)}"
                return self.at(line, f"expected {len(self.columns)} values, found {marks}")
            try:
                text = row.decode("utf-8")
                cells = next(csv.reader([text], delimiter=self.separator))
            except UnicodeDecodeError:
                return self.at(line, NOT_UTF8)
            except csv.Error as problem:
                return self.at(line, str(problem))
            if len(cells) != len(self.columns):
                return self.at(line, miscounted(self.columns, len(cells), line, cells[0]))
        return self.at(first, f"in the lines from here on: {error}")


class JsonRecords(TextRecords):
    """JSON lines: an object each. The columns are the names in the first of them.

    What an object lacks, and null, is missing. A name that comes later is refused, or left out.

    Parameters
    ----------
    file : the file
    known : names of columns that are there whether an object has them or not
    """

    def __init__(self, file: DataFile, known: Collection[str] = ()):
        super().__init__(file)
        names: dict[str, None] = {}
        for first, block in line_blocks(file):
            rows = self._objects(first, block)
            for row in rows:
                names.update(dict.fromkeys(row))
            if names:
                self._check_share(first, rows, len(names))
                break
        else:
            raise self.refusal("the file has no object with a name in it")
        self.columns = [*names, *(name for name in known if name not in names)]
        self.check_names(self.columns, first)

    def is_row(self, line: bytes) -> bool:
        return bool(line.strip())

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        known = set(self.columns)
        most = max(1, limits.MOST_CELLS // len(self.columns))  # rows at once
        for first, block in line_blocks(self._file):
            batch = self.batch(None, first, block)
            rows = self._objects(first, block)
            for i, row in enumerate(() if self.ignores else rows):
                if not row.keys() <= known:
                    name = next(name for name in row if name not in known)
                    problem = f"{quoted(name)} is in none of the first objects; take it out"
                    raise batch.refusal(i, problem)
            self._check_share(first, rows, len(self.columns))
            for start in range(0, len(rows), most):
                table = self._table(batch, start, rows[start : start + most], columns)
                yield Batch(table, partial(_later, batch.refusal, start))

    def _check_share(self, first: int, rows: list[dict[str, Any]], n_names: int) -> None:
        """DataFileError where nearly all values lack."""
        cells, there = len(rows) * n_names, sum(map(len, rows))
        if cells > limits.MOST_CELLS and cells > limits.MOST_GAPS * there:
            found = f"{n_names:,} names, and {there:,} values in {len(rows):,} objects from here on"
            raise self.at(first, f"{found}; svmlight is the format for so many gaps")

    def _table(self, batch: Batch, first: int, rows: list[dict[str, Any]], names: Any) -> Any:
        """The rows with number `first` and after of a batch."""
        import pyarrow as pa

        arrays = []
        for name in names:
            values = [row.get(name) for row in rows]
            try:
                arrays.append(_array(values, self.decimal))
            except UnicodeEncodeError:
                row = next(i for i, value in enumerate(values) if not _is_unicode(value))
                raise batch.refusal(first + row, f"column {quoted(name)}: {_HALF}") from None
        return pa.Table.from_arrays(arrays, names=list(names))

    def _objects(self, first: int, block: bytes) -> list[dict[str, Any]]:
        rows = []
        for number, line in enumerate(block.split(b"\n"), start=first):
            if not line.strip():
                continue
            if len(line) > limits.LONGEST_OBJECT:
                raise self.at(number, f"an object of over {limits.LONGEST_OBJECT:,} bytes")
            try:
                row = json.loads(line)
                if isinstance(row, dict) and line.count(b":") != len(row):
                    row = json.loads(line, object_pairs_hook=_once)
            except UnicodeDecodeError:
                raise self.at(number, NOT_UTF8) from None
            except (ValueError, RecursionError) as error:
                raise self.at(number, _not_an_object(line, error)) from None
            if not isinstance(row, dict):
                found = f"expected an object of JSON, found {quoted(str(row))}"
                raise self.at(number, OF_LIST if isinstance(row, list) else found)
            rows.append(row)
        return rows


def _later(
    refusal: Callable[[int, str], KernbrookError], start: int, row: int, problem: str
) -> KernbrookError:
    """The error for a row of a part that begins later."""
    return refusal(start + row, problem)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where a name has two values or cannot be written."""
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two values of {quoted(name)}")
    return made


def _not_an_object(line: bytes, error: Exception) -> str:
    begun = line.strip()
    if begun.startswith(b"["):
        return OF_LIST
    if begun == b"{":
        return "an object of several lines, where one on each line was expected; jq -c . writes so"
    return f"not an object of JSON: {error}"


def _is_unicode(value: Any) -> bool:
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def _array(values: list[Any], decimal: str) -> Any:
    """An Arrow array; values of several kinds become text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except UnicodeEncodeError:
        raise
    except (pa.ArrowException, OverflowError):
        return pa.array([None if value is None else _text(value, decimal) for value in values])


def _text(value: Any, decimal: str) -> str:
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 2**53
        return (f"{value:.0f}" if whole else str(value)).replace(".", decimal)
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def csv_table(
    block: bytes,
    names: Sequence[str],
    wanted: Sequence[str],
    separator: str,
    kept: Collection[str] = (),
) -> Any:
    """Some columns of a block of lines as text; null where a value is missing and is not `kept`.

    Of values with blanks around them `without_gaps` says later whether they are missing.

    Raises
    ------
    ValueError
        pyarrow does not read it.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if len(names) > limits.WIDE:
        return _wide_table(block, names, wanted, separator)
    places = [f"{i}" for i in range(len(names))]  # names as they are may be the same as options
    number: Mapping[str, str] = dict(zip(names, places, strict=True))
    table = arrow_csv.read_csv(
        # At the start pyarrow would skip a mark of the byte order, which has no meaning here.
        pa.BufferReader(b"\n" + block),
        read_options=arrow_csv.ReadOptions(
            column_names=places, use_threads=False, block_size=len(block) + 2
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=separator),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            null_values=[gap for gap in MISSING if gap not in kept],
            strings_can_be_null=True,
            include_columns=[number[name] for name in wanted],
        ),
    )
    return table.rename_columns(list(wanted))


def _is_too_long(line: bytes, names: Sequence[str], separator: str) -> bool:
    """Whether a line has so many separators that it is not to be taken apart."""
    return line.count(separator.encode()) > len(names) + limits.LONGEST_LABEL


def _wide_table(block: bytes, names: Sequence[str], wanted: Sequence[str], separator: str) -> Any:
    """The same where pyarrow's memory for each column is more than the text."""
    import pyarrow as pa

    if any(_is_too_long(line, names, separator) for line in block.split(b"\n")):
        raise ValueError("a row of another length")
    lines = block.decode("utf-8").split("\n")
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if any(len(row) != len(names) for row in rows):
        raise ValueError("a row of another length")
    place = {name: i for i, name in enumerate(names)}
    arrays = [pa.array([row[place[name]] for row in rows], pa.string()) for name in wanted]
    return pa.Table.from_arrays(arrays, names=list(wanted))
