"""Reading a table: its rows encoded, piece by piece, beside the cells of its labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, KernbrookError
from kernbrook.streams.records import (
    Batch,
    Records,
    Wanted,
    quoted,
    several_of,
)
from kernbrook.streams.tables.column_problems import ValueProblem
from kernbrook.streams.tables.date_columns import DateProblem, UnreadDatesError
from kernbrook.streams.tables.encoded_columns import ColumnProblem, stacked
from kernbrook.streams.tables.encoder import TableEncoder
from kernbrook.streams.tables.label_column import LabelCells, label_cells, or_the_label
from kernbrook.streams.tables.left_out_rows import BadRows
from kernbrook.streams.tables.levels import LevelCounts
from kernbrook.streams.tables.written_numbers import Written

PIECE = 1024  # rows; where so many have been read, the encoder knows them and no more
_CELLS = 1 << 20  # encoded at once
_KEPT_BYTES = 1 << 24  # of what was read: a table of no more is read once


class EncodedPiece(NamedTuple):
    """Rows that follow each other.

    Attributes
    ----------
    X : (n, d) encoded
    cells : their labels; None where there is no column of them
    values : (n, d') columns of numbers before gaps were filled, where they are wanted
    moments : (n,) microseconds since 1970 by the first column of dates, where they are wanted
    """

    X: Any
    cells: LabelCells | None
    values: NDArray[np.float64] | None = None
    moments: NDArray[np.int64] | None = None


class UndeclaredError(Exception):
    """A column that is to be declared."""

    def __init__(self, refusal: KernbrookError):
        self.refusal = refusal
        super().__init__()


class TableReader:
    """What it takes to read a table, as often as wanted.

    Parameters
    ----------
    records : the rows
    start : the encoder before the first row
    label : name of the column with the label; None where there is none
    label_is_known : whether it was named
    lacks : columns of the encoder that the table has not: all gaps
    learns : whether a copy of the encoder learns the rows, afresh in each reading
    trained : whether the rows are for a model that has learned; what its columns become is fixed
    skips : whether rows that cannot be read are left out
    ignores : whether names that come late are left out
    """

    def __init__(
        self,
        records: Records,
        start: TableEncoder,
        label: str | None,
        label_is_known: bool,
        lacks: Sequence[str] = (),
        learns: bool = False,
        trained: bool = False,
        skips: bool = False,
        ignores: bool = False,
    ):
        self.records, self.start, self.encoder = records, start, start
        self.label, self._label_is_known = label, label_is_known
        self.lacks, self.learns, self.trained = lacks, learns, trained
        self.skips, self.ignores = skips, ignores
        self._kept: list[Batch] | None = None
        self._keeps = True

    def pieces(
        self,
        met: Mapping[str, LevelCounts] | None = None,
        bad: BadRows | None = None,
        watched: bool = False,
        most_rows: int | None = None,
    ) -> Iterator[EncodedPiece]:
        """All rows from the first on; `encoder` then knows those that were given, and no more.

        met : to count the rows of each level
        bad : to remember rows that are left out
        watched : whether values and moments are wanted
        most_rows : that are read; None for all
        """
        keeps = self.learns or self.start.lags is not None
        encoder = self.encoder = self.start.copy() if keeps else self.start
        encoder.encoded.seen.keeps, encoder.encoded.seen.helps = watched, True
        bad = BadRows() if bad is None else bad
        most = max(1, _CELLS // encoder.dense_width)
        rows, first, step = 0, 0, most
        for batch in self._batches(self._wanted(encoder, bad)):
            table, start = _with_gaps(batch.table, self.lacks), 0
            while start < table.num_rows:
                room = PIECE - rows % PIECE if keeps and encoder.remembers else most
                if most_rows is not None and (room := min(room, most_rows - rows)) == 0:
                    return
                piece = table.slice(start, min(step, room))
                try:
                    encoded = self._encoded(encoder, piece, met, watched)
                except ColumnProblem as error:
                    problem = self._raised(batch, start + error.cause.row, error)
                    if not self.skips or isinstance(problem, UnreadDatesError):
                        raise problem from None
                    if (step := error.cause.row) == 0:  # else the rows before it come first
                        told = self._told(batch, start, error)
                        bad.leave_out(first + batch.place(start), told, problem, rows)
                        encoder.encoded.seen.helps = False
                        start, step = start + 1, 1
                    continue
                except InputError as error:
                    raise batch.refusal(start, str(error)) from None
                yield encoded
                start += piece.num_rows
                rows += piece.num_rows
                step = min(2 * step, most)
            bad.places += [first + place for place in batch.bad]
            first += batch.table.num_rows + len(batch.bad)
        bad.places.sort()

    def unfilled(self, learns: bool) -> Any:
        """(n, w) all rows at once as `read_table` of the encoder has them."""
        batches = self._batches(self._wanted(self.start, BadRows()))
        tables = [_with_gaps(batch.table, self.lacks) for batch in batches]
        return stacked([self.start.read_table(table, learns) for table in tables])

    def _wanted(self, encoder: TableEncoder, bad: BadRows) -> Wanted:
        there = [name for name in encoder.columns_ if name not in self.lacks]
        label = [] if self.label is None else [self.label]
        refused = (lambda error: bad.tell(str(error))) if self.skips else None
        numbers = [name for name in encoder.encoded.plain_numbers() if name in there]
        return Wanted(
            [*there, *label], encoder.decimal, encoder.levels(), numbers, refused, self.ignores
        )

    def _batches(self, wanted: Wanted) -> Iterator[Batch]:
        """The rows as they were read; those of a small table are kept."""
        if self._kept is not None:
            yield from self._kept
            return
        kept, size = list[Batch](), 0
        for batch in self.records.batches(wanted):
            size += batch.table.nbytes
            self._keeps = self._keeps and size <= _KEPT_BYTES
            kept = [*kept, batch] if self._keeps else []
            yield batch
        if self._keeps:
            self._kept = kept

    def _encoded(
        self,
        encoder: TableEncoder,
        piece: Any,
        met: Mapping[str, LevelCounts] | None,
        watched: bool,
    ) -> EncodedPiece:
        """A piece of a table; a row that is refused has taught nothing."""
        cells = self._cells(piece)
        known = piece.column(self.label) if self.label and encoder.lags_of_label else None
        counts = encoder.encoded.no_levels() if met else {}
        if self.learns:
            X = encoder.learn_arrow(piece, counts, known)
        else:
            X = encoder.transform_arrow(piece, counts, known, follows=encoder.lags is not None)
        for name, one in (met or {}).items():
            one.join(counts[name])
        moments = encoder.encoded.moments(piece) if watched else None
        return EncodedPiece(X, cells, encoder.encoded.seen.values, moments)

    def _cells(self, piece: Any) -> LabelCells | None:
        """The labels of a piece, None where it has none."""
        if self.label is None:
            return None
        declared = self.records.levels.get(self.label, ())
        written = Written(self.start.decimal, self.start.thousands)
        try:
            cells = label_cells(piece.column(self.label), declared, written, self.records.typed)
        except ValueProblem as problem:
            raise ColumnProblem(self.label, problem) from None
        return cells._replace(several=several_of(piece, self.label))

    def _raised(self, batch: Batch, row: int, error: ColumnProblem) -> Exception:
        """What is raised for a value in a row of a batch: the refusal, or what may mend it."""
        cause = error.cause
        problem = f"column {quoted(error.column)}: {cause.told(self.trained)}"
        if cause.is_text and not self._label_is_known:
            problem += or_the_label(error.column)
        refusal = batch.refusal(row, problem)
        new = self.learns and not self.trained
        if new and isinstance(cause, DateProblem) and cause.may_be_found:
            return UnreadDatesError(error.column, cause, refusal)
        if new and (cause.declared or cause.written) and error.column != self.label:
            return UndeclaredError(refusal)
        return refusal

    def _told(self, batch: Batch, row: int, error: ColumnProblem) -> str:
        """What is wrong with a row, without what would help."""
        return str(batch.refusal(row, f"column {quoted(error.column)}: {error.cause.found}"))


def _with_gaps(table: Any, names: Sequence[str]) -> Any:
    """A pyarrow table with these columns more, which have no value."""
    import pyarrow as pa

    for name in names:
        table = table.append_column(name, pa.nulls(table.num_rows))
    return table
