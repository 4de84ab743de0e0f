"""Rows of a table as they stand in it, by their number: what a person is shown, or is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kernbrook.checks import shown
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.streams import Stream
from kernbrook.streams.loading import pa
from kernbrook.streams.records import MISSING, Batch, ReadOptions, Records
from kernbrook.streams.tables.stream import BadRows


def number_columns(stream: Stream) -> set[str]:
    """The columns that are learned from and whose values are numbers."""
    encoder = stream.encoder
    if encoder is None:
        return set(stream.feature_names or ())
    return {name for name in encoder.sources() if encoder.place_of(name) is not None}


def kept_columns(
    records: Records | None, names: Sequence[str], bad: BadRows
) -> Iterator[list[str]]:
    """Columns of a table as they are in it, row by row: as text, empty in gaps.

    records : None where the data are no table
    bad : rows that are left out
    """
    if records is None:
        raise InputError("keep (--keep): expected a table, whose columns have names")
    for name in names:
        if name not in records.columns:
            raise UnknownNameError("column", name, records.columns)
        if names.count(name) > 1:
            raise InputError(f"keep (--keep): {shown(name)} is named {names.count(name)} times")
    wanted = ReadOptions(names, kept=MISSING, skips=bool(bad.places))
    return _texts(records.batches(wanted), names, set(bad.places))


def _texts(batches: Iterator[Batch], names: Sequence[str], out: set[int]) -> Iterator[list[str]]:
    first = 0
    for batch in batches:
        columns = [batch.table.column(name).to_pylist() for name in names]
        for row, values in enumerate(zip(*columns, strict=True)):
            if first + row in out:
                continue
            if row in batch.refused:
                raise batch.refused[row]
            yield ["" if value is None else str(value) for value in values]
        first += batch.table.num_rows


class RawRows:
    """Rows by number, read once as long as the numbers rise; else from the beginning again.

    Values are those of the file, also in columns that nothing is learned from: of text files text,
    though it may say that a value is missing.
    """

    def __init__(self, records: Records):
        self._records = records
        self.columns = records.columns
        self._start()

    def row(self, number: int) -> dict[str, Any]:
        """A row, from 1, by the names of its columns."""
        found: list[dict[str, Any]] = self._found(number).to_pylist()
        return found[0]

    def rows(self, numbers: Sequence[int], columns: Sequence[str]) -> Any:
        """A pyarrow table of some rows, whose numbers rise from 1 on, and columns.

        A column of several types is one of text.
        """
        if not numbers:
            return pa.table({name: pa.array([], pa.string()) for name in columns})
        parts = [self._found(number).select(list(columns)) for number in numbers]
        try:
            return pa.concat_tables(parts, promote_options="permissive")
        except pa.ArrowException:  # a column of text here and of numbers there
            rows = [part.to_pylist()[0] for part in parts]
            text = {
                name: [None if row[name] is None else f"{row[name]}" for row in rows]
                for name in columns
            }
            return pa.table(text)

    def _start(self) -> None:
        options = ReadOptions(self.columns, kept=MISSING)
        self._batches: Iterator[Any] = self._records.batches(options)
        self._first, self._table = 1, None

    def _found(self, number: int) -> Any:
        if number < self._first:
            self._start()
        while self._table is None or number >= self._first + self._table.num_rows:
            if self._table is not None:
                self._first += self._table.num_rows
            batch = next(self._batches, None)
            if batch is None:
                raise self._records.refusal(f"row {number:,} is not there any more")
            self._table = batch.table
        return self._table.slice(number - self._first, 1)
