"""Records from JSON lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from kernbrook.errors import DataFileError
from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import NOT_UTF8, OF_LIST, line_blocks
from kernbrook.streams.formats.csv_header import quoted
from kernbrook.streams.formats.table_records import (
    HALF,
    MANY_DIGITS,
    Batch,
    Wanted,
    is_unicode,
    kinds_of,
    table_of,
)
from kernbrook.streams.formats.text_cells import Refused
from kernbrook.streams.formats.text_records import Refusing, TextRecords


class JsonRecords(TextRecords):
    """JSON lines: an object each. The columns are the names in the first of them.

    What an object lacks, and null, is missing. A name that comes later is refused, or left out.

    Parameters
    ----------
    file : the file
    known : names of columns that are there whether an object has them or not
    skips : whether lines that are no objects are left out
    """

    def __init__(self, file: DataFile, known: Collection[str] = (), skips: bool = False):
        super().__init__(file)
        names: dict[str, None] = {}
        for first, block in line_blocks(file):
            rows = self._objects(first, block, _later if skips else None)[1]
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

    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        known, bad = set(self.columns), Refusing(wanted)
        most = max(1, limits.MOST_CELLS // len(self.columns))  # rows at once
        for first, block in line_blocks(self._file):
            lines, rows = self._objects(first, block, bad.refused)
            for line, row in () if wanted.ignores else zip(lines, rows, strict=True):
                if not row.keys() <= known:
                    name = next(name for name in row if name not in known)
                    problem = f"{quoted(name)} is in none of the first objects; take it out"
                    raise self.at(line, problem)
            self._check_share(first, rows, len(self.columns))
            left = bad.lines()
            for start in range(0, max(len(rows), 1), most):
                own = lines[start : start + most]
                until = first + len(block) if start + most >= len(rows) else own[-1]
                here = [line for line in left if line <= until]
                left = left[len(here) :]
                table = self._table(own, rows[start : start + most], wanted)
                yield self.batch(table, own, here)

    def _check_share(self, first: int, rows: list[dict[str, Any]], n_names: int) -> None:
        """DataFileError where nearly all values lack."""
        cells, there = len(rows) * n_names, sum(map(len, rows))
        if cells > limits.MOST_CELLS and cells > limits.MOST_GAPS * there:
            found = f"{n_names:,} names, and {there:,} values in {len(rows):,} objects from here on"
            raise self.at(first, f"{found}; svmlight is the format for so many gaps")

    def _table(self, lines: Sequence[int], rows: list[dict[str, Any]], wanted: Wanted) -> Any:
        """The rows of these lines."""
        arrays, kinds = dict[str, Any](), dict[str, list[str]]()
        for name in wanted.columns:
            values = [row.get(name) for row in rows]
            try:
                arrays[name], kinds[name] = _array(values, wanted.decimal)
            except UnicodeEncodeError:
                row = next(i for i, value in enumerate(values) if not is_unicode(value))
                raise self.at(lines[row], f"column {quoted(name)}: {HALF}") from None
        return table_of(arrays, kinds)

    def _objects(
        self, first: int, block: bytes, refused: Refused | None = None
    ) -> tuple[list[int], list[dict[str, Any]]]:
        """The objects of a block, and the numbers of their lines."""
        lines, rows = [], []
        for number, line in enumerate(block.split(b"\n"), start=first):
            if not line.strip():
                continue
            try:
                rows.append(self._object(number, line))
                lines.append(number)
            except DataFileError as error:
                if refused is None:
                    raise
                refused(error)
        return lines, rows

    def _object(self, number: int, line: bytes) -> dict[str, Any]:
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
        return row


def _later(error: DataFileError) -> None:
    """What is wrong with a line, which is said when the rows are read."""


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
    if "int_max_str_digits" in str(error):
        return MANY_DIGITS
    return f"not an object of JSON: {error}"


def _array(values: list[Any], decimal: str) -> tuple[Any, list[str]]:
    """An Arrow array; and values of several kinds, which become text."""
    import pyarrow as pa

    try:
        return pa.array(values), []
    except UnicodeEncodeError:
        raise
    except (pa.ArrowException, OverflowError):
        text = [None if value is None else _text(value, decimal) for value in values]
        return pa.array(text), kinds_of(values)


def _text(value: Any, decimal: str) -> str:
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 2**53
        return (f"{value:.0f}" if whole else str(value)).replace(".", decimal)
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)
