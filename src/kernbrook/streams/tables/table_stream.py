"""Streams from tables: records, encoded, beside their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from kernbrook.errors import DataFileWarning, InputError, KernbrookError, UnknownNameError
from kernbrook.streams.records import Records, Wanted, quoted
from kernbrook.streams.stream import Labels, Piece, Stream
from kernbrook.streams.tables.codes import Code, codes_of
from kernbrook.streams.tables.column_problems import option
from kernbrook.streams.tables.date_columns import UnreadDatesError, found_format
from kernbrook.streams.tables.declarations import declared_lags
from kernbrook.streams.tables.encoder import TableEncoder
from kernbrook.streams.tables.label_column import LabelType, all_whole
from kernbrook.streams.tables.left_out_rows import BadRows
from kernbrook.streams.tables.matching import Match, match_columns
from kernbrook.streams.tables.reader import TableReader, UndeclaredError
from kernbrook.streams.tables.surveys import WHICH, survey, taken_of, told_of_taken, undeclared
from kernbrook.streams.tables.written_numbers import Written
from kernbrook.telling import tell

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
    learns : whether an encoder that has learned goes on learning: a copy of it, afresh in each pass
    ignore_extra : whether columns that an encoder which has learned does not know are left out
    skips : whether rows that cannot be read are left out

    Attributes
    ----------
    encoder : what it has learned so far in the pass that was begun last; one that was given and
        learns stays as it is
    matched : where the encoder has learned before, columns that it knows and the table lacks, and
        the reverse
    bad_rows : those that are left out
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

    matched: Match
    bad_rows: BadRows
    tells = True

    def __init__(
        self,
        records: Records,
        encoder: TableEncoder | None = None,
        label: str | None = None,
        labelled: bool = True,
        n_features: int | None = None,
        trained: bool = False,
        aside: Sequence[str] = (),
        learns: bool = False,
        ignore_extra: bool = False,
        skips: bool = False,
    ):
        self.name = records.name
        self._records = records
        self._new = encoder is None or not hasattr(encoder, "columns_")
        self.labelled, self.aside = labelled, list(aside)
        self._refused = BadRows.silently if skips else None
        self._label_is_known = label is not None or not labelled or "label" in records.columns
        self.label_name = _label(records, encoder, label, aside) if labelled else None
        left_out = {self.label_name, label, *aside}
        if (told := records.told) is not None:
            problem = "; ".join(filter(None, [told.problem, self._told_of_label()]))
            tell(DataFileWarning(told.path, problem, told.line))
        for name in [*aside, *([] if label is None else [label])]:
            if name not in records.columns:
                raise UnknownNameError("column", name, records.columns)
        features = [name for name in records.columns if name not in left_out]
        start = self._begun(encoder, features, ignore_extra)
        self._reader = TableReader(
            records, start, self.label_name, self._label_is_known, self.matched.missing,
            self._new or learns, trained, skips, ignore_extra,
        )  # fmt: skip
        self.in_turn = start.lags is not None
        self.feature_names = start.get_feature_names_out().tolist()
        self.n_features = len(self.feature_names)
        if n_features is not None and n_features != self.n_features:
            problem = f"expected {n_features} features, found {self.n_features}"
            raise records.refusal_of_names(problem)
        self.n_rows = None
        while True:
            try:
                self._look_through()
                break
            except UnreadDatesError as unread:
                found = {unread.column: found_format(records, unread, self._refused)}
                self._reader.start = self._reader.start.rewritten(dates=found)
            except UndeclaredError as one:
                raise self._all_undeclared() or one.refusal from None

    @property
    def encoder(self) -> TableEncoder:
        return self._reader.encoder

    def classes(self) -> Labels | None:
        return self._labels.classes if self.labelled else None

    def written(self, row: int) -> dict[str, Any] | None:
        names = [name for name in self.encoder.columns_ if name not in self.matched.missing]
        encoder, ignores = self.encoder, self._reader.ignores
        wanted = Wanted(names, encoder.decimal, encoder.levels(), (), self._refused, ignores)
        for batch in self._records.batches(wanted):
            if row < batch.table.num_rows:
                found = dict(batch.table.slice(row, 1).to_pylist()[0])
                if self.encoder.lags_of_label and self.encoder.label is not None:
                    found[self.encoder.label] = "labels of rows before"
                return found
            row -= batch.table.num_rows
        return None

    def records(self) -> Records:
        return self._records

    def taught(self, rows: int) -> TableEncoder:
        """What the encoder is once it has learned so many rows."""
        for _ in self._reader.pieces(most_rows=rows):
            pass
        return self.encoder

    def unfilled(self, learns: bool = False) -> Any:
        """(n, w) all rows as the encoder's `read_table` has them; it has learned before."""
        return self._reader.unfilled(learns)

    def _begun(
        self, encoder: TableEncoder | None, columns: list[str], ignore_extra: bool
    ) -> TableEncoder:
        """The encoder before the first row."""
        self._declared: set[str] = set()  # not by the file itself
        self._codes: list[Code] = []
        self.matched = Match()
        if encoder is not None and not self._new:
            self.matched = match_columns(
                encoder.columns_, columns, encoder.feature_names_in_, encoder.missing != "error",
                ignore_extra,
            )  # fmt: skip
            if self.matched.problem:
                raise self._records.refusal_of_names(self.matched.problem)
            return encoder
        if not columns:
            raise self._records.refusal_of_names("no column is left to learn from")
        begun = TableEncoder() if encoder is None else clone(encoder)
        if encoder is not None:
            encoder.was_given()
        self._declared = begun.declared()
        levels = {k: v for k, v in self._records.levels.items() if k in columns}
        if levels:
            begun = begun.with_levels(levels)
        of_label = begun.has_lags_of(self.label_name)
        if of_label and not self.labelled:
            raise self._records.refusal("lags: of the label, and there is none")
        label = [self.label_name] if of_label and self.label_name is not None else []
        taken = taken_of(begun, self._records, [*columns, *label], self._refused)
        for told in told_of_taken(taken):
            tell(DataFileWarning(self._records.where, told))
        start = begun.begin(columns, self.label_name, taken)
        lagged = set(declared_lags(start.lags))
        numbers = [name for name in start.encoded.plain_numbers() if name not in lagged]
        self._codes = codes_of(self._records, numbers, start.decimal)
        return start

    def _all_undeclared(self) -> KernbrookError | None:
        """What all columns are to be declared as, where there are several; None where not."""
        encoder, records = self._reader.start, self._records
        names = encoder.feature_names_in_.tolist()
        found = survey(
            records, names, encoder.declarations(), encoder.missing != "error", self._refused
        )
        if len(found) == 1 and WHICH in found[0].told:
            return records.refusal(f"column {quoted(found[0].column)}: {found[0].told}")
        if len(found) < 2:
            return None
        return undeclared(records.where, found, encoder, self._told_of_label())

    def _told_of_label(self) -> str:
        """Which column was taken for the label; empty where somebody has said it."""
        label = f"the label is {quoted(self.label_name or '')}, the last column"
        return "" if self._label_is_known else f"{label}; label (--label NAME) says another"

    def _look_through(self) -> None:
        """Read all rows once: count them, and find what the labels are."""
        start = self._reader.start
        rows, met, self.bad_rows = 0, start.encoded.no_levels(), BadRows()
        for column, counts in met.items():
            counts.expected = self._new and column in self._declared
        self._labels = LabelType(Written(start.decimal, start.thousands))
        first = self._records.columns[0]
        place = start.encoded.place_of(first) if first in _INDEX else None
        is_index = place is not None
        for piece in self._reader.pieces(met, self.bad_rows):
            rows += piece.X.shape[0]
            if is_index:
                own = piece.X[:, [place]]
                numbers = own if isinstance(own, np.ndarray) else own.toarray()
                is_index = bool((numbers >= 0).all()) and all_whole(numbers)
            if piece.cells is not None:
                self._labels.meet(piece.cells)
        if rows == 0:
            no_rows = self._records.refusal("; ".join(["no row of data", *self.bad_rows.told[:1]]))
            raise self.bad_rows.first or no_rows
        self.n_rows, self.level_counts = rows, list(met.values())
        odd = self.encoder.encoded.seen.odd.items()
        told = [f"column {quoted(name)}: {problem}" for name, problem in odd]
        told += [code.sentence() for code in self._codes]
        if is_index:
            told.append(
                f"the first column, called {first!r}, seems to be the index that pandas writes; it "
                f"is taken as a feature: {option('drop', first)} leaves it out, and so does "
                "to_csv(index=False)"
            )
        if self.labelled:
            try:
                told += self._labels.finish()
            except InputError as error:
                problem = f"column {quoted(self.label_name or '')}: {error}"
                raise self._records.refusal(problem) from None
            self.seem_counts = self._labels.seem_counts
            self.labelled = self._labels.present > 0
            self.n_unlabelled = self._labels.missing if self.labelled else 0
            self.label_type = self._labels.present_dtype
        for one in told:
            tell(DataFileWarning(self._records.where, one))

    def _pieces(self) -> Iterator[Piece]:
        rows = 0
        slab = max(1, _SLAB_BYTES // self._labels.dtype.itemsize)
        for X, cells, values, moments in self._reader.pieces(watched=self.watch is not None):
            rows += X.shape[0]
            for start in range(0, X.shape[0], slab):
                here = slice(start, start + slab)
                labels: Labels | None = np.zeros(X[here].shape[0])
                if cells is not None and self.labelled:
                    labels = self._labels.labels(cells.part(start, slab))
                if labels is None:
                    raise self._changed()
                if self.watch is not None and values is not None:
                    self.watch(values[here], labels, None if moments is None else moments[here])
                yield X[here], labels
        if rows != self.n_rows:
            raise self._changed()

    def _changed(self) -> KernbrookError:
        return self._records.refusal("the table was changed after it was opened")


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
