"""Tables of Arrow as rows of numbers: what learns and encodes them beneath `TableEncoder`."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from kernbrook.checks import check, counted
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.streams import limits
from kernbrook.streams.records import quoted
from kernbrook.streams.tables.column_kinds import Floats, Seen
from kernbrook.streams.tables.column_problems import ValueProblem, missing_value
from kernbrook.streams.tables.date_columns import described_dates
from kernbrook.streams.tables.declarations import (
    AUTO,
    check_lags,
    declared_lags,
    declared_levels,
    declared_moments,
    declared_names,
    declared_words,
    is_auto,
)
from kernbrook.streams.tables.encoded_columns import (
    ColumnProblem,
    Declarations,
    EncodedColumns,
    with_words,
)
from kernbrook.streams.tables.gaps import filled_by_last, filled_by_means, sums_of
from kernbrook.streams.tables.lags import Lags, of_lags
from kernbrook.streams.tables.levels import LevelCounts
from kernbrook.streams.tables.written_numbers import (
    Written,
    check_marks,
    declared_units,
)
from kernbrook.turns import in_turn


class ArrowEncoder(BaseEstimator):
    """What a `TableEncoder` is to a stream: it takes tables of Arrow, piece by piece.

    Attributes
    ----------
    label : name of the label's column; None where there is none, or it is not known
    columns_, totals_, counts_, last_, taken_ : as `TableEncoder` has them
    """

    parameter_ranges: ClassVar[dict[str, Any]]
    categorical: Any
    dates: Any
    drop: Any
    missing: str
    decimal: str
    thousands: str | None
    units: Any
    words: Any
    lags: Any
    delay: int
    every: int
    columns_: list[str]
    totals_: Floats
    counts_: NDArray[np.int64]
    last_: Floats
    taken_: dict[str, Any]
    label: str | None = None
    _rules = 2  # what words are, and what hours of a zone; 1 for models that were saved before

    def begin(
        self,
        columns: Sequence[str],
        label: str | None = None,
        taken: Mapping[str, Any] | None = None,
        goes_on: bool = False,
    ) -> Self:
        """Take the names of the columns, and learn nothing yet.

        Parameters
        ----------
        columns : names of all columns but the label's, each once
        label : name of the label's column, for lags; None where there is none
        taken : what "auto" takes, as `categorical` and `dates` would have it
        goes_on : whether from what a file says
        """
        check(self)
        check_marks(self.decimal, self.thousands)
        self.taken_, self.label = dict(taken or {}), label
        said = self.declarations()
        declared, known = said.names(), set(columns)
        if self.lags_of_label:
            declared = [name for name in declared if name != label]
        lagged = [name for name in declared_lags(self.lags) if name not in (None, label)]
        for name in [*declared, *lagged]:
            if name not in known:
                raise UnknownNameError("column", f"{name}", columns)
            if declared.count(name) > 1:
                raise InputError(
                    f"categorical, dates, drop, units, words: the column {quoted(name)} is in two "
                    "of them"
                )
        dropped = set(said.drop)
        kept = [name for name in columns if name not in dropped]
        if not kept:
            raise InputError("drop: no column is left")
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        self.columns_ = kept
        if not goes_on:
            check_lags(self.lags, label, self.delay)
        self._begin()
        return self

    def named_columns(self) -> list[str]:
        """The columns that are known already, or declared."""
        if hasattr(self, "columns_"):
            return self.columns_
        return list(self.declared())

    def declared(self) -> set[str]:
        """The columns of which it is said what they become."""
        said = self.declarations()
        return {*said.levels, *said.dates, *said.drop, *said.words}

    def levels(self) -> set[str]:
        """All levels that are declared, of any column."""
        declared = self.declarations().levels.values()
        return {level for levels in declared if not isinstance(levels, int) for level in levels}

    @property
    def encoded(self) -> EncodedColumns:
        """What the columns become."""
        return self._encoded

    @property
    def remembers(self) -> bool:
        """Whether a row depends on those before it."""
        return self.missing != "error" or self.lags is not None

    @property
    def lags_of_label(self) -> bool:
        """Whether labels of rows before are columns."""
        return self.has_lags_of(self.label)

    def has_lags_of(self, label: str | None) -> bool:
        """Whether labels of rows before are columns, where the label's column has that name."""
        return any(name in (None, label) for name in declared_lags(self.lags))

    @property
    def dense_width(self) -> int:
        """Columns of a row but for words, at least 1."""
        return max(1, self._encoded.width + len(self._lags.names))

    def was_given(self) -> None:
        """A stream has a copy of this one; `transform` says so until it has learned something."""
        self._given = True

    def with_levels(self, levels: Mapping[str, Sequence[str]]) -> Self:
        """A new one that has these levels for columns of which nothing else is said."""
        taken, before = self.declared(), declared_levels(self.categorical)
        more = {name: list(values) for name, values in levels.items() if name not in taken}
        auto = {AUTO: AUTO} if is_auto(self.categorical) else {}
        new: Self = clone(self)
        return new.set_params(categorical={**before, **more, **auto})

    def rewritten(
        self,
        decimal: str | None = None,
        thousands: str | None = None,
        units: Mapping[str, str] | None = None,
        dates: Mapping[str, str] | None = None,
    ) -> Self:
        """Another that knows the same, for rows that are written in another way.

        Parameters
        ----------
        decimal, thousands : the marks; where one of them is given both are as said here
        units : by column, besides those that are declared
        dates : by column its format; the parts stay as they are
        """
        new, parts = self.copy(), self.declarations().dates
        if decimal is not None or thousands is not None:
            new.set_params(decimal=decimal or ".", thousands=thousands)
        for name in dates or {}:
            if name not in parts:
                raise InputError(f"dates: {quoted(name)} is no column of dates here")
        if dates:
            given = {name: [*parts[name][0], written] for name, written in dates.items()}
            new.set_params(dates={**described_dates(parts), **given})
        if units:
            new.set_params(units={**declared_units(self.units), **units})
            for name in units if hasattr(self, "columns_") else ():
                if self._encoded.place_of(name) is None:
                    raise InputError(f"units: {quoted(name)} is no column of numbers here")
        check(new)
        check_marks(new.decimal, new.thousands)
        if hasattr(self, "columns_"):
            new._make()
        return new

    @in_turn
    def learn_arrow(
        self, table: Any, met: Mapping[str, LevelCounts] | None = None, labels: Any = None
    ) -> Any:
        """`learn` of a pyarrow table that has the columns of `columns_`, at least.

        met : of `no_levels`, to count the rows
        labels : an Arrow array, for lags; None where they are not known
        """
        self._encoded.seen.learns = True
        values, holes, words = self._read(table, met or {})
        return self._learned(values, holes, words, self._known(labels, len(values)))

    @in_turn
    def transform_arrow(
        self,
        table: Any,
        met: Mapping[str, LevelCounts] | None = None,
        labels: Any = None,
        follows: bool = False,
    ) -> Any:
        """`transform` of a pyarrow table that has the columns of `columns_`, at least.

        met, labels : as `learn_arrow` has them
        follows : whether the rows are those before the next ones, for lags; else nothing changes
        """
        self._encoded.seen.learns = False
        values, holes, words = self._read(table, met or {})
        return self._filled(values, holes, words, self._known(labels, len(values)), follows)

    @in_turn
    def read_table(self, table: Any, learns: bool = False) -> Any:
        """(n, w) what the columns of a pyarrow table become, NaN where a value is missing.

        So rows wait that `next_rows` makes rows of later, as they then are by the rows before.

        learns : whether the rows are to be learned
        """
        self._encoded.seen.learns = learns
        values, _, words = self._read(table, {})
        return with_words(values, words)

    @in_turn
    def read_record(self, record: Mapping[str, Any], learns: bool = False) -> Any:
        """(1, w) the same of a record, in a tenth of the time; a key that is not there is a gap.

        None where only a table of it tells, or refuses it.
        """
        self._encoded.seen.learns = learns
        found = self._encoded.encode_record(record, gaps=self.missing != "error")
        return None if found is None else with_words(*found)

    @in_turn
    def next_rows(self, rows: Any, learns: bool = False, labels: Any = None) -> Any:
        """(n, d) rows of `read_table` or `read_record`, each as if it came next.

        learns : whether they are known then, with their labels, as `learn_arrow` has these
        """
        values, words = rows, list[Any]()
        if self._encoded.words:
            values = rows[:, : self._encoded.width].toarray()
            words = [rows[:, self._encoded.width :]]
        holes, known = self._encoded.holes(values), self._known(labels, len(values))
        if learns:
            return self._learned(values, holes, words, known)
        return self._filled(values, holes, words, known, False)

    def branch(self) -> Self:
        """Another that learns by itself from here on, and shares what encodes with this one."""
        new = object.__new__(type(self))
        new.__dict__.update(vars(self), _lags=self._lags.copy())
        return new

    def copy(self) -> Self:
        """Another that goes on from here by itself."""
        return copy.deepcopy(self)

    def declarations(self) -> Declarations:
        """What is declared of the columns, and what "auto" has taken."""
        taken: Mapping[str, Any] = vars(self).get("taken_", {})
        return Declarations(
            {**declared_levels(taken.get("categorical")), **declared_levels(self.categorical)},
            {**declared_moments(taken.get("dates")), **declared_moments(self.dates)},
            declared_words(self.words),
            declared_units(self.units),
            declared_names("drop", self.drop),
            Written(self.decimal, self.thousands),
            self._rules,
        )

    def _begin(self) -> None:
        """Make the state for `columns_`."""
        self._zones: dict[str, str] = {}
        if self._rules == 1:
            self._zones = dict.fromkeys(self.declarations().dates, "UTC")
        self._make()
        width = self._encoded.width
        self._lags = Lags(
            declared_lags(self.lags), self.label, self._label_column.names, self._encoded,
            self.delay, self.every,
        )  # fmt: skip
        wide = width + len(self._lags.names)
        if wide > limits.MOST_COLUMNS:
            raise InputError(
                f"categorical, lags: {wide:,} encoded columns, expected {limits.MOST_COLUMNS:,} "
                "at most"
            )
        self.totals_, self.last_ = np.zeros(width), np.zeros(width)
        self.counts_ = np.zeros(width, dtype=np.int64)

    def _make(self) -> None:
        """Make what encodes each of `columns_`, and the label."""
        said = self.declarations()
        self._encoded, self._said_of = EncodedColumns(self.columns_, said), set[str]()
        self._encoded.seen.zones = self._zones
        self._label_column = said.column(self.label or "label", Seen())

    def _read(
        self, table: Any, met: Mapping[str, LevelCounts]
    ) -> tuple[Floats, NDArray[np.bool_], list[Any]]:
        """Numbers (n, d), NaN where they are missing; where columns are missing; words."""
        values = self._encoded.encode(table, met)
        holes = self._encoded.holes(values)
        if self.missing == "error" and holes.any():
            row, place = divmod(int(holes.argmax()), holes.shape[1])
            name = self._encoded.columns[place].column
            raise ColumnProblem(name, missing_value(row, name))
        return values, holes, self._encoded.words_of(table)

    def _known(self, labels: Any, rows: int) -> Floats:
        """(n, v) what labels become for their lags, NaN where they are not known."""
        if labels is None or self.lags is None or not self.lags_of_label:
            return np.full((rows, len(self._label_column.names)), np.nan)
        try:
            return self._label_column.encode(labels)
        except ValueProblem as problem:
            raise ColumnProblem(self._label_column.column, of_lags(problem)) from None

    def _learned(
        self, values: Floats, holes: NDArray[np.bool_], words: list[Any], known: Floats
    ) -> Any:
        """Rows that are filled by those before, and known then."""
        if self.missing == "last":
            values, self.last_ = filled_by_last(values, self.last_)
        elif self.missing != "error":
            sums, counts = sums_of(values, self.totals_, self.counts_)
            counted("X", int(self.counts_.max(initial=0)), len(values))
            if not np.isfinite(sums[-1]).all():
                name = self.get_feature_names_out()[int(np.isinf(sums[-1]).argmax())]
                raise InputError(f"missing: the values of {quoted(name)} are too large for a mean")
            values = filled_by_means(values, sums, counts) if holes.any() else values
            self.totals_, self.counts_ = sums[-1].copy(), counts[-1].copy()
        return self._whole(values, holes, words, known, meets=True)

    def _filled(
        self,
        values: Floats,
        holes: NDArray[np.bool_],
        words: list[Any],
        known: Floats,
        follows: bool,
    ) -> Any:
        """Rows that are filled as they would be if each came next."""
        if holes.any():
            mean = self.totals_ / np.maximum(self.counts_, 1)
            filling = self.last_ if self.missing == "last" else mean
            values = np.where(np.isnan(values), filling, values)
        return self._whole(values, holes, words, known, meets=follows)

    def _whole(
        self,
        values: Floats,
        holes: NDArray[np.bool_],
        words: list[Any],
        known: Floats,
        meets: bool,
    ) -> Any:
        """Rows of all columns: an array, or CSR where there are words."""
        rows = [values, *self._lags.columns(values, known, meets)]
        if self.missing == "indicator":
            rows.append(holes.astype(np.float64))
        dense = np.hstack(rows) if len(rows) > 1 else values
        return with_words(dense, words)
