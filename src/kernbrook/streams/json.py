"""Records from JSON lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from kernbrook.errors import DataFileError
from kernbrook.streams import limits
from kernbrook.streams.bytes import NOT_UTF8, OF_LIST, DataFile, line_blocks
from kernbrook.streams.csv import TextRecords
from kernbrook.streams.loading import pa
from kernbrook.streams.records import (
    HALF,
    MANY_DIGITS,
    Batch,
    ReadOptions,
    Refused,
    checked_names,
    is_unicode,
    kinds_of,
    quoted,
    table_of,
)


class JsonRecords(TextRecords):
    """JSON lines: an object each. The columns are the names in the first of them.

    What an object lacks, and null, is missing. A name that comes later is refused, or left out.
    pyarrow's own reader is not used: text that looks like a date would be one, whole numbers of
    over 64 bits would be rounded, and numbers beside text are no column to it.

    known : names of columns that are there whether an object has them or not
    skips : whether lines that are no objects are left out
    """

    def __init__(self, file: DataFile, known: Collection[str] = (), skips: bool = False):
        super().__init__(file)
        for first, block in line_blocks(file):
            rows = self._objects(first, block, self.refusing(skips)[0])[1]
            if names := dict.fromkeys(name for row in rows for name in row):
                break
        else:
            raise self.refusal("the file has no object with a name in it")
        self.columns = [*names, *(name for name in known if name not in names)]
        refusal = partial(self.at, first)
        checked_names(self.columns, refusal, limits.MOST_COLUMNS)

    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        known = set(self.columns)
        refused, errors = self.refusing(wanted.skips)
        most = max(1, limits.MOST_CELLS // len(self.columns))  # rows at once
        for first, block in line_blocks(self._file):
            lines, rows = self._objects(first, block, refused)
            for line, row in () if wanted.ignores else zip(lines, rows, strict=True):
                if not row.keys() <= known:
                    name = next(name for name in row if name not in known)
                    problem = f"{quoted(name)} is in none of the first objects; take it out"
                    raise self.at(line, problem)
            for start in range(0, len(rows), most):
                chunk = lines[start : start + most]
                here = {line: errors.pop(line) for line in chunk if line in errors}
                table = self._table(chunk, rows[start : start + most], wanted)
                yield self.batch(table, chunk, here)

    def _table(self, lines: Sequence[int], rows: list[dict[str, Any]], wanted: ReadOptions) -> Any:
        """The rows of these lines; values of several kinds become text."""
        arrays, kinds = dict[str, Any](), dict[str, list[str]]()
        for name in wanted.columns:
            values = [row.get(name) for row in rows]
            try:
                arrays[name] = pa.array(values)
            except UnicodeEncodeError:
                row = next(i for i, value in enumerate(values) if not is_unicode(value))
                raise self.at(lines[row], f"column {quoted(name)}: {HALF}") from None
            except (pa.ArrowException, OverflowError):
                arrays[name] = pa.array([_text(value, wanted.decimal) for value in values])
                kinds[name] = kinds_of(values)
        return table_of(arrays, kinds)

    def _objects(
        self, first: int, block: bytes, refused: Refused
    ) -> tuple[list[int], list[dict[str, Any]]]:
        """The objects of a block, empty where they are refused; and the numbers of their lines."""
        lines, rows = list[int](), list[dict[str, Any]]()
        for number, line in enumerate(block.split(b"\n"), start=first):
            if not line.strip():
                continue
            lines.append(number)
            try:
                rows.append(self._object(number, line))
            except DataFileError as error:
                refused(error)
                rows.append({})
        return lines, rows

    def _object(self, number: int, line: bytes) -> dict[str, Any]:
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


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where a name has two values."""
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


def _text(value: Any, decimal: str) -> str | None:
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 2**53
        return (f"{value:.0f}" if whole else str(value)).replace(".", decimal)
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return None if value is None else str(value)
