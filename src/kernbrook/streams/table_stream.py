"""Streams from tables: records, encoded, beside their labels."""

from __future__ import annotations

import warnings
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from kernbrook.errors import DataFileWarning, InputError, KernbrookError, UnknownNameError
from kernbrook.streams.base import Labels, Piece, Stream
from kernbrook.streams.column_problems import ValueProblem, date_option, option
from kernbrook.streams.csv_header import MISSING, quoted
from kernbrook.streams.date_columns import DateProblem
from kernbrook.streams.records import Batch, Records, Wanted
from kernbrook.streams.table_columns import as_text, is_text
from kernbrook.streams.table_encoder import ColumnProblem, TableEncoder
from kernbrook.streams.table_labels import (
    LabelCells,
    LabelType,
    all_whole,
    label_cells,
    or_the_label,
)
from kernbrook.streams.table_levels import LevelCounts
from kernbrook.streams.written_dates import COMMON, ISO, formats_left
from kernbrook.streams.written_numbers import Written

PIECE = 1024  # rows; where so many have been read, the encoder knows them and no more
_CELLS = 1 << 20  # encoded at once
_KEPT_BYTES = 1 << 24  # of what was read: a table of no more is read once
_SLAB_BYTES = 1 << 24  # of labels as NumPy has them: each as long as the longest
_INDEX = "", "Unnamed: 0"


class TableStream(Stream):
    """A table of any format; its columns but for the label are encoded as they come.

    It is read once when opened, in bounded memory, and again by each pass where it takes over
    16 MiB. The first reading checks every value and finds the type of the labels, see `LabelType`.

    Parameters
    ----------
    records : the rows
    encoder : what the columns become; None for numbers only. One that has learned nothing learns,
        afresh in each pass; one that has, as it is
    label : name of the label's column; None for the column "label", else the last
    labelled : whether there is a label; without, the labels are all 0, and a column that is named
        as the label is no feature
    n_features : width, for a check
    trained : whether the rows are for a model that has learned; what its columns become is fixed
    aside : names of columns of any values, which are neither features nor the label

    Attributes
    ----------
    encoder : what it has learned so far in the pass that was begun last; one that was given and
        had learned nothing stays as it is
    level_counts : of each column of declared levels, how often each came in the whole table

    Raises
    ------
    DataFileError
        The file cannot be read, or a value is missing or not what was expected; the line or the
        row is named, the column, and the option that would help.
    UnknownNameError
        A column is not there.

    Warns
    -----
    DataFileWarning
        The first row of a CSV file is of numbers, the first column seems to be the index that
        pandas writes, or numbers, dates or labels are written in a way that was guessed.
    """

    def __init__(
        self,
        records: Records,
        encoder: TableEncoder | None = None,
        label: str | None = None,
        labelled: bool = True,
        n_features: int | None = None,
        trained: bool = False,
        aside: Sequence[str] = (),
    ):
        self.name = records.name
        self._records = records
        if records.told is not None:
            warnings.warn(records.told, stacklevel=1)
        self._learns = encoder is None or not hasattr(encoder, "columns_")
        self._trained = trained
        self.labelled, self.aside = labelled, list(aside)
        for name in [*aside, *([] if label is None else [label])]:
            if name not in records.columns:
                raise UnknownNameError("column", name, records.columns)
        self._label_is_known = label is not None or not labelled or "label" in records.columns
        self.label_name = _label(records, encoder, label, aside) if labelled else None
        left_out = {self.label_name, label, *aside}
        features = [name for name in records.columns if name not in left_out]
        self.encoder = self._start = self._begun(encoder, features)
        self.feature_names = self.encoder.get_feature_names_out().tolist()
        self.n_features = len(self.feature_names)
        if n_features is not None and n_features != self.n_features:
            problem = f"expected {n_features} features, found {self.n_features}"
            raise records.refusal_of_names(problem)
        self.n_rows = None
        self._kept: list[Batch] | None = None
        self._keeps = True
        while True:
            try:
                self._look_through()
                break
            except _UnreadDatesError as unread:
                self._start = self._with_format(unread)

    def classes(self) -> Labels | None:
        return self._labels.classes if self.labelled else None

    def rows_aside(self) -> Iterator[list[str]]:
        """What the columns `aside` say, row by row; each call begins anew."""
        for batch in self._records.batches(Wanted(self.aside, self._start.decimal, MISSING)):
            columns = (batch.table.column(name) for name in self.aside)
            values = [c if is_text(c) else as_text(c) for c in columns]
            for row in zip(*(column.to_pylist() for column in values), strict=True):
                yield ["" if value is None else value for value in row]

    def _begun(self, encoder: TableEncoder | None, columns: list[str]) -> TableEncoder:
        self._declared: set[str] = set()  # not by the file itself
        if not columns:
            raise self._records.refusal_of_names("no column is left to learn from")
        if encoder is not None and not self._learns:
            known = set(encoder.feature_names_in_)
            for name in encoder.columns_:
                if name not in columns:
                    raise self._records.refusal_of_names(
                        f"the model's features are not the columns here: missing {quoted(name)}"
                    )
            if unknown := [name for name in columns if name not in known]:
                raise self._records.refusal_of_names(
                    f"the model's features are not the columns here: unknown {quoted(unknown[0])}"
                )
            return encoder
        begun = TableEncoder() if encoder is None else clone(encoder)
        self._declared = begun.declared()
        levels = {k: v for k, v in self._records.levels.items() if k in columns}
        if levels:
            begun = begun.with_levels(levels)
        return begun.begin(columns)

    def _with_format(self, unread: _UnreadDatesError) -> TableEncoder:
        """The encoder with the one format in which all dates of a column can be read."""
        column, left = unread.column, [ISO, *COMMON]
        instead = f"{option('drop', column)} in place of dates"
        for batch in self._records.batches(Wanted([column])):
            array = as_text(batch.table.column(column))
            if not (rest := formats_left(array, left)):
                row = bisect(
                    range(len(array)), False, key=lambda i: not formats_left(array[: i + 1], left)
                )
                left = formats_left(array[:row], left)
                if len(left) > len(COMMON):
                    raise unread.refusal
                wanted = f"a date as {' or '.join(left)}, as in the rows before"
                found = f"expected {wanted}, found {quoted(array[row].as_py())}; {instead}"
                raise batch.refusal(row, f"column {quoted(column)}: {found}")
            left = rest
        declared = date_option(column, unread.cause.parts, left)
        if len(left) > 1:
            ways = " and as ".join(left)
            problem = f"all dates can be read as {ways}; which is it? {declared}"
            raise self._records.refusal(f"column {quoted(column)}: {problem}")
        told = (
            f"column {quoted(column)}: its dates are read as {left[0]}, the only common format for "
            f"all of them; {declared} says it"
        )
        warnings.warn(DataFileWarning(self._records.where, told), stacklevel=1)
        return self._start.rewritten(dates={column: left[0]})

    def _look_through(self) -> None:
        """Read all rows once: count them, and find what the labels are."""
        rows, met = 0, self._start.no_levels()
        for column, counts in met.items():
            counts.expected = self._learns and column in self._declared
        self._labels = LabelType(Written(self._start.decimal, self._start.thousands))
        first = self._records.columns[0]
        place = self._start.place_of(first) if first in _INDEX else None
        is_index = place is not None
        for X, cells in self._encoded(met):
            rows += len(X)
            if is_index:
                is_index = bool((X[:, place] >= 0).all()) and all_whole(X[:, place])
            if cells is not None:
                self._labels.meet(cells)
        if rows == 0:
            raise self._records.refusal("no row of data")
        self.n_rows = rows
        self.level_counts = list(met.values())
        told = [f"column {quoted(name)}: {odd}" for name, odd in self.encoder.seen.odd.items()]
        if is_index:
            told.append(
                f"the first column, called {first!r}, seems to be the index that pandas writes; it "
                f"is taken as a feature: {option('drop', first)} leaves it out, and so does "
                "to_csv(index=False)"
            )
        if self.labelled:
            told += self._labels.finish()
        for one in told:
            warnings.warn(DataFileWarning(self._records.where, one), stacklevel=1)

    def _pieces(self) -> Iterator[Piece]:
        rows = 0
        slab = max(1, _SLAB_BYTES // self._labels.dtype.itemsize)
        for X, cells in self._encoded():
            rows += len(X)
            if cells is None:
                yield X, np.zeros(len(X))
                continue
            for start in range(0, len(X), slab):
                labels = self._labels.labels(cells.part(start, slab))
                if labels is None:
                    raise self._changed()
                yield X[start : start + slab], labels
        if rows != self.n_rows:
            raise self._changed()

    def _changed(self) -> KernbrookError:
        return self._records.refusal("the table was changed after it was opened")

    def _encoded(
        self, met: Mapping[str, LevelCounts] | None = None
    ) -> Iterator[tuple[Any, LabelCells | None]]:
        """Encoded rows, and their labels.

        met : to count the rows of each level
        """
        encoder = self.encoder = self._start.copy() if self._learns else self._start
        encode = encoder.learn_arrow if self._learns else encoder.transform_arrow
        label = [] if self.label_name is None else [self.label_name]
        numbers = encoder.plain_numbers()
        wanted = Wanted([*encoder.columns_, *label], encoder.decimal, encoder.levels(), numbers)
        rows, most = 0, max(1, _CELLS // self.n_features)
        for batch in self._batches(wanted):
            start = 0
            while start < batch.table.num_rows:
                one_by_one = self._learns and encoder.missing != "error"
                step = min(most, PIECE - rows % PIECE) if one_by_one else most
                piece = batch.table.slice(start, step)
                try:
                    X = encode(piece, met)
                    cells = self._cells(piece)
                except ColumnProblem as error:
                    refusal = self._refused(batch, start, error)
                    cause = error.cause
                    if self._learns and isinstance(cause, DateProblem) and cause.may_be_found:
                        raise _UnreadDatesError(error.column, cause, refusal) from None
                    raise refusal from None
                except InputError as error:
                    raise batch.refusal(start, str(error)) from None
                yield X, cells
                start += piece.num_rows
                rows += piece.num_rows

    def _batches(self, wanted: Wanted) -> Iterator[Batch]:
        """The rows as they were read; those of a small table are kept."""
        if self._kept is not None:
            yield from self._kept
            return
        kept, size = list[Batch](), 0
        for batch in self._records.batches(wanted):
            size += batch.table.nbytes
            self._keeps = self._keeps and size <= _KEPT_BYTES
            kept = [*kept, batch] if self._keeps else []
            yield batch
        if self._keeps:
            self._kept = kept

    def _refused(self, batch: Batch, start: int, error: ColumnProblem) -> KernbrookError:
        cause = error.cause
        problem = f"column {quoted(error.column)}: {cause.told(self._trained)}"
        if cause.is_text and not self._label_is_known:
            problem += or_the_label(error.column)
        return batch.refusal(start + cause.row, problem)

    def _cells(self, piece: Any) -> LabelCells | None:
        """The labels of a piece, None where it has none."""
        if self.label_name is None:
            return None
        declared = self._records.levels.get(self.label_name, ())
        written = Written(self._start.decimal, self._start.thousands)
        try:
            return label_cells(piece.column(self.label_name), declared, written)
        except ValueProblem as problem:
            raise ColumnProblem(self.label_name, problem) from None


class _UnreadDatesError(Exception):
    """Dates of a column that are in no format that is known yet."""

    def __init__(self, column: str, cause: DateProblem, refusal: KernbrookError):
        self.column = column
        self.cause = cause
        self.refusal = refusal
        super().__init__()


def _label(
    records: Records, encoder: TableEncoder | None, label: str | None, aside: Sequence[str]
) -> str:
    """The name of the label's column."""
    if label is not None:
        return label
    if "label" in records.columns:
        return "label"
    dropped = () if encoder is None or encoder.drop is None else encoder.drop
    left = [name for name in records.columns if name not in dropped and name not in aside]
    if len(left) < 2:
        raise records.refusal("expected a label and features, found one column or none")
    return left[-1]
