"""Streams from tables: records, encoded, beside their labels."""

from __future__ import annotations

import math
import warnings
from bisect import bisect
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.errors import DataFileWarning, InputError, KernbrookError, UnknownNameError
from kernbrook.streams import limits
from kernbrook.streams.base import Labels, Piece, Stream
from kernbrook.streams.booleans import all_boolean, as_booleans
from kernbrook.streams.column_problems import ValueProblem, date_option, option
from kernbrook.streams.csv_header import is_number, quoted, without_gaps
from kernbrook.streams.date_columns import DateProblem
from kernbrook.streams.matching import Match, match_columns
from kernbrook.streams.records import Batch, Records
from kernbrook.streams.table_columns import as_text, is_text
from kernbrook.streams.table_encoder import ColumnProblem, TableEncoder
from kernbrook.streams.table_labels import (
    EXACT_INTEGERS,
    MISSING_LABEL,
    all_whole,
    inexact,
    is_inexact,
    or_the_label,
    told_of_labels,
    too_long,
)
from kernbrook.streams.table_levels import LevelCounts
from kernbrook.streams.written_dates import COMMON, ISO, formats_left
from kernbrook.streams.written_numbers import Written

PIECE = 1024  # rows; where so many have been read, the encoder knows them and no more
_INDEX = "", "Unnamed: 0"


class TableStream(Stream):
    """A table of any format; its columns but for the label are encoded as they come.

    It is read once when opened, and again by each pass. The first reading checks every value and
    finds the type of the labels: int64 where all are integers, float64 where all are numbers, else
    text, which is True and False where all are these in any letters.

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
    learns : whether an encoder that has learned goes on learning: a copy of it, afresh in each pass
    ignore_extra : whether columns that an encoder which has learned does not know are left out

    Attributes
    ----------
    encoder : what it has learned so far in the pass that was begun last; one that was given and
        learns stays as it is
    matched : where the encoder has learned before, columns that it knows and the table lacks, and
        the reverse
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
        As `CsvStream`.
    """

    matched: Match
    tells = True

    def __init__(
        self,
        records: Records,
        encoder: TableEncoder | None = None,
        label: str | None = None,
        labelled: bool = True,
        n_features: int | None = None,
        trained: bool = False,
        learns: bool = False,
        ignore_extra: bool = False,
    ):
        self.name = records.name
        self._records = records
        if (told := getattr(records, "told", None)) is not None:
            warnings.warn(told, stacklevel=1)
        self._new = encoder is None or not hasattr(encoder, "columns_")
        self._learns = self._new or learns
        self._trained = trained
        self.labelled = labelled
        self._aside = None if labelled else label
        self._label_is_known = label is not None or not labelled or "label" in records.columns
        self.label_name = _label(records, encoder, label) if labelled else None
        self.encoder = self._start = self._begun(encoder, ignore_extra)
        records.decimal, records.ignores = self._start.decimal, ignore_extra
        self.feature_names = self.encoder.get_feature_names_out().tolist()
        self.n_features = len(self.feature_names)
        if n_features is not None and n_features != self.n_features:
            problem = f"expected {n_features} features, found {self.n_features}"
            raise records.refusal(problem)
        self._label_type = np.dtype(np.float64)
        self.n_rows = None
        while True:
            try:
                self._look_through()
                break
            except _UnreadDatesError as unread:
                self._start = self._with_format(unread)

    def classes(self) -> Labels | None:
        return self._classes

    def written(self, row: int) -> dict[str, Any] | None:
        for batch in self._records.batches(self._start.columns_):
            if row < batch.table.num_rows:
                return batch.table.slice(row, 1).to_pylist()[0]
            row -= batch.table.num_rows
        return None

    def records(self) -> Records:
        return self._records

    def _begun(self, encoder: TableEncoder | None, ignore_extra: bool) -> TableEncoder:
        self._declared: set[str] = set()  # not by the file itself
        left_out = {self.label_name, self._aside}
        columns = [name for name in self._records.columns if name not in left_out]
        if encoder is not None and not self._new:
            self.matched = match_columns(
                encoder.columns_, columns, encoder.feature_names_in_, encoder.missing != "error",
                ignore_extra,
            )  # fmt: skip
            if self.matched.problem:
                raise self._records.refusal(self.matched.problem)
            return encoder
        self.matched = Match()
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
        for batch in self._records.batches([column]):
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
        rows = longest = 0
        numeric = integral = boolean = True
        met = self._start.no_levels()
        for column, counts in met.items():
            counts.expected = self._new and column in self._declared
        found: tuple[set[str], set[float]] | None = (set(), set())
        some: set[str] = set()  # of the labels, where there are many
        index = self._records.columns[0] if self._records.columns[0] in _INDEX else None
        place = None if index is None else self._start.place_of(index)
        is_index = place is not None
        for X, text, numbers in self._encoded(met):
            rows += len(X)
            if is_index:
                is_index = bool((X[:, place] >= 0).all()) and all_whole(X[:, place])
            if text is None:
                continue
            longest = max(longest, *map(len, text))
            boolean = boolean and all_boolean(text)
            if numbers is None:
                numeric = False
            else:
                integral = integral and all_whole(numbers)
            if found is not None:
                some = found[0]
                found[0].update(text)
                found[1].update(() if numbers is None else numbers.tolist())
                found = found if len(found[0]) <= limits.MOST_CLASSES else None
        if rows == 0:
            raise self._records.refusal("no row of data")
        self.n_rows = rows
        self.level_counts = list(met.values())
        if is_index:
            assert index is not None
            told = (
                f"the first column, called {index!r}, seems to be the index that pandas writes; it "
                f"is taken as a feature: {option('drop', index)} leaves it out"
            )
            warnings.warn(DataFileWarning(self._records.where, told), stacklevel=1)
        told_of = [f"column {quoted(name)}: {told}" for name, told in self.encoder.seen.odd.items()]
        if self.labelled and not numeric:
            told_of += told_of_labels(some, self._start.decimal, self._start.thousands)
        for told in told_of:
            warnings.warn(DataFileWarning(self._records.where, told), stacklevel=1)
        kind: Any = (np.int64 if integral else np.float64) if numeric else f"<U{longest}"
        self._classes: Labels | None = None
        self._boolean = self.labelled and boolean
        if self.labelled:
            self._label_type = np.dtype(kind)
            if found is not None:
                classes = np.array(sorted(found[1] if numeric else found[0])).astype(kind)
                self._classes = np.unique(as_booleans(classes)) if boolean else classes

    def _pieces(self) -> Iterator[Piece]:
        rows = 0
        for X, text, numbers in self._encoded():
            rows += len(X)
            if text is None:
                yield self._told(X, np.zeros(len(X)))
                continue
            kind = self._label_type
            if kind.kind == "U":
                y = np.array(text, dtype=object)
                if 4 * max(map(len, text)) > kind.itemsize or (
                    self._boolean and not all_boolean(text)
                ):
                    raise self._changed()
            elif numbers is None or (kind.kind == "i" and not all_whole(numbers)):
                raise self._changed()
            else:
                y = numbers
            labels = y.astype(kind)
            yield self._told(X, as_booleans(labels).astype(kind) if self._boolean else labels)
        if rows != self.n_rows:
            raise self._changed()

    def _told(self, X: Any, y: Labels) -> Piece:
        """A piece, once who watches has been told of it."""
        if self.watch is not None and (values := self.encoder.seen.values) is not None:
            self.watch(values, y, self._moments)
        return X, y

    def _changed(self) -> KernbrookError:
        return self._records.refusal("the table was changed after it was opened")

    def _encoded(
        self, met: Mapping[str, LevelCounts] | None = None
    ) -> Iterator[tuple[Any, list[str] | None, NDArray[np.float64] | None]]:
        """Encoded rows, their labels as text, and as numbers where all in the piece are.

        met : to count the rows of each level
        """
        encoder = self.encoder = self._start.copy() if self._learns else self._start
        encoder.seen.keeps = self.watch is not None
        encode = encoder.learn_arrow if self._learns else encoder.transform_arrow
        self._records.kept = encoder.levels()
        wanted = [name for name in encoder.columns_ if name not in self.matched.missing]
        if self.label_name is not None:
            wanted.append(self.label_name)
        rows = 0
        for batch in self._records.batches(wanted):
            table, start = _with_gaps(batch.table, self.matched.missing), 0
            while start < table.num_rows:
                piece = table.slice(start, PIECE - rows % PIECE)
                try:
                    X = encode(piece, met)
                    self._moments = None if self.watch is None else encoder.moments(piece)
                    text, numbers = self._labels(piece)
                except ColumnProblem as error:
                    refusal = self._refused(batch, start, error)
                    cause = error.cause
                    if self._new and isinstance(cause, DateProblem) and cause.may_be_found:
                        raise _UnreadDatesError(error.column, cause, refusal) from None
                    raise refusal from None
                except InputError as error:
                    raise batch.refusal(start, str(error)) from None
                yield X, text, numbers
                start += piece.num_rows
                rows += piece.num_rows

    def _refused(self, batch: Batch, start: int, error: ColumnProblem) -> KernbrookError:
        cause = error.cause
        problem = f"column {quoted(error.column)}: {cause.told(self._trained)}"
        if cause.is_text and not self._label_is_known:
            problem += or_the_label(error.column)
        return batch.refusal(start + cause.row, problem)

    def _labels(self, piece: Any) -> tuple[list[str] | None, NDArray[np.float64] | None]:
        """The labels of a piece as text, and as numbers where all are."""
        if self.label_name is None:
            return None, None
        try:
            labels = piece.column(self.label_name)
            text = _texts(labels, set(self._records.levels.get(self.label_name, ())))
            if not is_text(labels):
                return text, _numbers(text, ".", None)
            return text, _numbers(text, self._start.decimal, self._start.thousands)
        except ValueProblem as problem:
            raise ColumnProblem(self.label_name, problem) from None


class _UnreadDatesError(Exception):
    """Dates of a column that are in no format that is known yet."""

    def __init__(self, column: str, cause: DateProblem, refusal: KernbrookError):
        self.column = column
        self.cause = cause
        self.refusal = refusal
        super().__init__()


def _with_gaps(table: Any, names: Collection[str]) -> Any:
    """A pyarrow table with these columns more, which have no value."""
    import pyarrow as pa

    for name in names:
        table = table.append_column(name, pa.nulls(table.num_rows))
    return table


def _texts(array: Any, declared: Collection[str]) -> list[str]:
    """Labels as text; ValueProblem where one is missing or long."""
    from pyarrow import compute

    column = without_gaps(as_text(array), declared)
    text: list[Any] = column.to_pylist()
    long = compute.max(compute.utf8_length(column)).as_py() or 0
    for row, value in enumerate(text) if column.null_count or long > limits.LONGEST_LABEL else ():
        if value is None:
            raise ValueProblem(row, MISSING_LABEL)
        if len(value) > limits.LONGEST_LABEL:
            raise ValueProblem(row, too_long())
    return text


def _numbers(text: list[str], decimal: str, thousands: str | None) -> NDArray[np.float64] | None:
    """Labels as numbers, None where one is not; ValueProblem where a float does not hold one."""
    written, found = Written(decimal, thousands), dict[str, float]()
    for value in dict.fromkeys(text):
        marked = written.bare(value)
        if not is_number(marked):
            return None
        found[value] = float(marked)
    numbers = np.array([found[value] for value in text])
    for row in np.flatnonzero(~(np.abs(numbers) < EXACT_INTEGERS)):
        if not math.isfinite(numbers[row]):
            raise ValueProblem(int(row), f"{quoted(text[row])} is not finite")
        if is_inexact(written.bare(text[row]), float(numbers[row])):
            raise ValueProblem(int(row), inexact(text[row]))
    return numbers


def _label(records: Records, encoder: TableEncoder | None, label: str | None) -> str:
    """The name of the label's column."""
    if label is not None:
        if label not in records.columns:
            raise UnknownNameError("column", label, records.columns)
        return label
    if "label" in records.columns:
        return "label"
    dropped = () if encoder is None or encoder.drop is None else encoder.drop
    left = [name for name in records.columns if name not in dropped]
    if len(left) < 2:
        raise records.refusal("expected a label and features, found one column or none")
    return left[-1]
