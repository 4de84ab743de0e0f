"""Tables as people have them as rows of numbers, of a width that is known from the start."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernbrook.checks import COUNTED, OneOf, Other, check, counted, is_whole, shown
from kernbrook.errors import InputError, KernbrookWarning, UnknownNameError
from kernbrook.snapshots import Snapshots
from kernbrook.streams import limits
from kernbrook.streams.arrow_records import cell_text, eager, to_arrow
from kernbrook.streams.column_problems import ValueProblem, missing_value
from kernbrook.streams.csv_header import quoted
from kernbrook.streams.date_columns import Dates, Declared, declared_dates, described_dates
from kernbrook.streams.table_columns import Floats, Hashed, Levels, Numbers, Seen, as_text
from kernbrook.streams.table_levels import LevelCounts
from kernbrook.streams.written_numbers import (
    DECIMALS,
    THOUSANDS,
    Written,
    check_marks,
    check_thousands,
    declared_units,
)
from kernbrook.turns import in_turn

MISSING = ("error", "mean", "last", "indicator")
HASHED = 16  # columns where nothing else is said
MOST_HASHED = 1 << 14

_Column: TypeAlias = Numbers | Levels | Hashed | Dates
_KINDS = {Numbers: "numbers", Levels: "levels", Hashed: "hashed", Dates: "dates"}


class Part(NamedTuple):
    """A column of a table, and the encoded columns that it becomes.

    Attributes
    ----------
    column : its name
    kind : "numbers", "levels", of which the last encoded column is that of all others, "hashed" or
        "dates"
    start, width : where its encoded columns begin, and how many there are
    """

    column: str
    kind: str
    start: int
    width: int

    def is_sound(self) -> bool:
        """Whether it can be one."""
        texts = isinstance(self.column, str) and self.kind in _KINDS.values()
        return (
            texts and type(self.start) is type(self.width) is int and self.width > 0 <= self.start
        )


class TableEncoder(Snapshots, TransformerMixin, BaseEstimator):
    """Frames with text, dates and gaps as rows of numbers, encoded as they come.

    Columns of numbers stay as they are; so is text that is written as a number. What else a column
    becomes is declared, so that the width follows from the names of the columns alone: a level or a
    gap that first comes after a million rows changes nothing but its own row.

    A row is filled by the rows before it: results do not depend on how rows are cut into chunks.

    Parameters
    ----------
    categorical : list or dict, the columns of levels
        By name the list of levels: a column of 0 and 1 for each, and one more for all others. Or by
        name a number of columns that levels are hashed to, with a sign, as scikit-learn's
        FeatureHasher does it; of a list of names 16 each. See the notes.
    dates : list or dict, the columns of moments: dates, timestamps, or text such as 2024-01-31
        By name the list of parts: "days" since 1970 as a number; "hour", "weekday", "yearday", how
        far the day, the week and the year are, as sine and cosine. Of a list of names these three.
        Moments are in UTC. In the list may stand the format of text, as `strptime` takes it, such
        as "%d.%m.%Y", or alone in place of the list; "%s" and "%Q" count seconds and milliseconds
        since 1970. When a stream of a table is opened, a common format of a column is found.
    drop : list, the columns to leave out
    missing : "error", "mean", "last" or "indicator"
        What is missing is an error, or becomes the mean of its column so far, or the last value,
        0 before there was any; of a categorical column and a date those of each encoded column.
        "indicator": the mean, and one more column for each input column, 1 where it was missing.
    decimal : "." or ",", the mark before the fraction of numbers that come as text
    thousands : None, ".", ",", "'" or " ", the mark between groups of digits of such numbers
    units : dict, by name what stands beside the numbers of a column that come as text: "EUR", "kg"
        "%" means hundredths: 12 % is 0.12

    Attributes
    ----------
    feature_names_in_, n_features_in_ : the columns seen by `fit`, also those that are dropped
    columns_ : list of the columns that are encoded
    totals_, counts_ : (d,) sums and numbers of the values so far, before the columns of "indicator"
    last_ : (d,) the last value of each column

    Raises
    ------
    InputError
        A parameter is not what was expected, a column is not declared as what it is, or a value is
        missing; column and row are named.
    UnknownNameError
        A column is declared that is not there.

    Notes
    -----
    `learn` encodes rows, each by those before it, which are then known. `transform` encodes each
    row as if it came next, and changes nothing.

    Two cells are one level where they are one value, however it is written. Numbers go by value:
    1, 1.0 and 1e0 are one level, as text and as numbers of any type; a float of 32 bits is the
    number with the fewest digits that it is written with. true, True and TRUE are one level. All
    other text is itself, without blanks around it. A cell is the declared level that has its text,
    else the one that has its value: so "01" and "1" are two levels where both are declared. Digits
    after a 0, such as 007, are hashed as they stand.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import kernbrook as kb
    >>> rows = pa.table({"age": [30, None, 40], "sex": ["f", "m", "f"], "name": ["a", "b", "c"]})
    >>> encoder = kb.TableEncoder({"sex": ["f", "m"]}, drop=["name"], missing="mean")
    >>> encoder.learn(rows)
    array([[30.,  1.,  0.,  0.],
           [30.,  0.,  1.,  0.],
           [40.,  1.,  0.,  0.]])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'sex=f', 'sex=m', 'sex=other']
    >>> encoder.transform(pa.table({"age": [None], "sex": ["x"]}))
    array([[35.,  0.,  0.,  1.]])
    """

    parameter_ranges: ClassVar = {
        "categorical": Other(
            "None, a list of columns, or a dict of lists of levels and numbers of columns",
            lambda value: _categorical(value),
        ),
        "dates": Other(
            "None, a list of columns, or a dict of lists of days, hour, weekday, yearday, a format",
            lambda value: _dates(value),
        ),
        "drop": Other("None or a list of columns", lambda value: _names("drop", value)),
        "missing": OneOf(MISSING),
        "decimal": OneOf(DECIMALS),
        "thousands": Other(f"None, {THOUSANDS}", lambda value: check_thousands(value)),
        "units": Other("None, or a dict of columns and units", lambda value: declared_units(value)),
    }
    columns_: list[str]
    totals_: Floats
    counts_: NDArray[np.int64]
    last_: Floats

    def __init__(
        self,
        categorical: Any = None,
        dates: Any = None,
        drop: Any = None,
        missing: str = "error",
        decimal: str = ".",
        thousands: str | None = None,
        units: Any = None,
    ):
        self.categorical = categorical
        self.dates = dates
        self.drop = drop
        self.missing = missing
        self.decimal = decimal
        self.thousands = thousands
        self.units = units

    @in_turn
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Forget what was learned, and learn from a frame."""
        check(self)
        return self.begin(self._frame(X).columns).partial_fit(X)

    @in_turn
    def partial_fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn from one more frame, after what was learned before."""
        self.learn(X)
        return self

    @in_turn
    def learn(self, X: Any) -> Floats:
        """(n, d) the rows, each filled by those before it; then they are known."""
        frame = self._frame(X)
        if not hasattr(self, "columns_"):
            self.begin(frame.columns)
        return self._said(self.learn_arrow(self._arrow(frame)))

    @in_turn
    def transform(self, X: Any) -> Floats:
        """(n, d) each row as if it came next; nothing changes."""
        check_is_fitted(self)
        return self._said(self.transform_arrow(self._arrow(self._frame(X))))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """(d,) the names of the encoded columns, such as "sex=male"."""
        check_is_fitted(self)
        names = [name for column in self._encoders for name in column.names]
        if self.missing == "indicator":
            names += [f"{name} missing" for name in self.columns_]
        return np.array(names, dtype=object)

    def sources(self) -> list[str]:
        """(d,) of each encoded column the column of the table that it is made of."""
        check_is_fitted(self)
        names = [column.column for column in self._encoders for _ in column.names]
        return [*names, *self.columns_] if self.missing == "indicator" else names

    # -- what a stream of a table calls ------------------------------------------------------------

    def begin(self, columns: Sequence[str]) -> TableEncoder:
        """Take the names of the columns, and learn nothing yet.

        Parameters
        ----------
        columns : names of all columns, each once
        """
        check(self)
        check_marks(self.decimal, self.thousands)
        categorical, dates = _categorical(self.categorical), _dates(self.dates)
        drop = _names("drop", self.drop)
        declared = [*categorical, *dates, *drop, *declared_units(self.units)]
        known = set(columns)
        for name in declared:
            if name not in known:
                raise UnknownNameError("column", name, columns)
            if declared.count(name) > 1:
                raise InputError(
                    f"categorical, dates, drop, units: the column {quoted(name)} is in two of them"
                )
        dropped = set(drop)
        kept = [name for name in columns if name not in dropped]
        if not kept:
            raise InputError("drop: no column is left")
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        self.columns_ = kept
        self._begin()
        return self

    def named_columns(self) -> list[str]:
        """The columns that are known already, or declared."""
        if hasattr(self, "columns_"):
            return self.columns_
        return list(self.declared())

    def declared(self) -> set[str]:
        """The columns of which something is said."""
        columns = {**_categorical(self.categorical), **_dates(self.dates)}
        return {*columns, *_names("drop", self.drop)}

    def levels(self) -> set[str]:
        """All levels that are declared, of any column."""
        declared = _categorical(self.categorical).values()
        return {level for levels in declared if not isinstance(levels, int) for level in levels}

    def with_levels(self, levels: Mapping[str, Sequence[str]]) -> TableEncoder:
        """A new one that has these levels for columns of which nothing else is said."""
        taken = self.declared()
        more = {name: list(values) for name, values in levels.items() if name not in taken}
        new: TableEncoder = clone(self)
        return new.set_params(categorical={**_categorical(self.categorical), **more})

    def no_levels(self) -> dict[str, LevelCounts]:
        """Counts of the declared levels, by column, before any row."""
        return {
            of.column: LevelCounts(of.column, of.levels, np.zeros(len(of.levels) + 1, np.int64))
            for of in self._encoders
            if isinstance(of, Levels)
        }

    def rewritten(
        self,
        decimal: str | None = None,
        thousands: str | None = None,
        units: Mapping[str, str] | None = None,
        dates: Mapping[str, str] | None = None,
    ) -> TableEncoder:
        """Another that knows the same, for rows that are written in another way.

        Parameters
        ----------
        decimal, thousands : the marks; where one of them is given both are as said here
        units : by column, besides those that are declared
        dates : by column its format; the parts stay as they are
        """
        new, parts = self.copy(), _dates(self.dates)
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
                if self.place_of(name) is None:
                    raise InputError(f"units: {quoted(name)} is no column of numbers here")
        check(new)
        check_marks(new.decimal, new.thousands)
        if hasattr(self, "columns_"):
            new._make()
        return new

    @in_turn
    def learn_arrow(self, table: Any, met: Mapping[str, LevelCounts] | None = None) -> Floats:
        """`learn` of a pyarrow table that has the columns of `columns_`, at least.

        met : of `no_levels`, to count the rows
        """
        self.seen.learns = True
        values = self._values(table, met or {})
        holes = self._holes(values)
        if self.missing == "error":
            return values
        if self.missing == "last":
            rows = np.vstack([self.last_, values])
            place = np.where(np.isnan(rows), 0, np.arange(len(rows))[:, None])
            filled = np.take_along_axis(rows, np.maximum.accumulate(place, axis=0), axis=0)
            self.last_ = filled[-1].copy()
            return np.ascontiguousarray(filled[1:])
        # One after the other, so that the length of a chunk does not matter.
        there = ~np.isnan(values)
        with np.errstate(over="ignore"):
            totals = np.add.accumulate(np.vstack([self.totals_, np.where(there, values, 0.0)]))
        counts = np.add.accumulate(np.vstack([self.counts_, there]), dtype=np.int64)
        counted("X", int(self.counts_.max()), len(values))
        if not np.isfinite(totals[-1]).all():
            name = self.get_feature_names_out()[int(np.isinf(totals[-1]).argmax())]
            raise InputError(f"missing: the values of {quoted(name)} are too large for a mean")
        if holes.any():
            values = np.where(there, values, totals[:-1] / np.maximum(counts[:-1], 1))
        self.totals_, self.counts_ = totals[-1].copy(), counts[-1].copy()
        return self._with_indicators(values, holes)

    @in_turn
    def transform_arrow(self, table: Any, met: Mapping[str, LevelCounts] | None = None) -> Floats:
        """`transform` of a pyarrow table that has the columns of `columns_`, at least.

        met : of `no_levels`, to count the rows
        """
        self.seen.learns = False
        values = self._values(table, met or {})
        holes = self._holes(values)
        if holes.any():
            mean = self.totals_ / np.maximum(self.counts_, 1)
            filling = self.last_ if self.missing == "last" else mean
            values = np.where(np.isnan(values), filling, values)
        return self._with_indicators(values, holes)

    def place_of(self, column: str) -> int | None:
        """Where a column of numbers is in the encoded rows; None where it is not numbers."""
        for encoder, start in zip(self._encoders, self._starts.tolist(), strict=True):
            if encoder.column == column:
                return start if isinstance(encoder, Numbers) else None
        return None

    def parts(self) -> list[Part]:
        """What each of `columns_` becomes."""
        return [
            Part(of.column, _KINDS[type(of)], start, len(of.names))
            for of, start in zip(self._encoders, self._starts.tolist(), strict=True)
        ]

    def moments(self, table: Any) -> NDArray[np.int64] | None:
        """(n,) microseconds since 1970 by the first column of dates; None where there is none.

        A row without a date has the least number that there is.
        """
        for encoder in self._encoders:
            if isinstance(encoder, Dates) and encoder.parts != ("hour",):
                moments, missing = encoder.moments(table.column(encoder.column))
                return np.where(missing, np.iinfo(np.int64).min, moments)
        return None

    def copy(self) -> TableEncoder:
        """Another that goes on from here by itself."""
        return copy.deepcopy(self)

    def _begin(self) -> None:
        """Make the state for `columns_`."""
        self._make()
        widths = [len(encoder.names) for encoder in self._encoders]
        self._starts = np.cumsum([0, *widths[:-1]])
        width = sum(widths)
        if width > limits.MOST_COLUMNS:
            raise InputError(
                f"categorical: {width:,} encoded columns, expected {limits.MOST_COLUMNS:,} at most"
            )
        self.totals_, self.last_ = np.zeros(width), np.zeros(width)
        self.counts_ = np.zeros(width, dtype=np.int64)

    def _make(self) -> None:
        """Make what encodes each of `columns_`."""
        categorical, dates = _categorical(self.categorical), _dates(self.dates)
        units = declared_units(self.units)
        self.seen, self._said_of = Seen(), set[str]()
        self._encoders: list[_Column] = []
        for name in self.columns_:
            if name in categorical:
                given = categorical[name]
                if isinstance(given, int):
                    self._encoders.append(Hashed(name, given, self.decimal))
                else:
                    self._encoders.append(Levels(name, given, self.decimal))
            elif name in dates:
                self._encoders.append(Dates(name, *dates[name]))
            else:
                written = Written(self.decimal, self.thousands, units.get(name, ""))
                self._encoders.append(Numbers(name, written, self.seen))

    def _values(self, table: Any, met: Mapping[str, LevelCounts]) -> Floats:
        """(n, d) the encoded columns, NaN where values are missing; InputError names the column."""
        values = np.empty((table.num_rows, len(self.totals_)))
        for encoder, start in zip(self._encoders, self._starts.tolist(), strict=True):
            try:
                column = table.column(encoder.column)
                if isinstance(encoder, Levels):
                    found = encoder.encode(column, met.get(encoder.column))
                else:
                    found = encoder.encode(column)
            except ValueProblem as problem:
                raise ColumnProblem(encoder.column, problem) from None
            values[:, start : start + found.shape[1]] = found
        if self.seen.keeps:
            self.seen.values = values
        return values

    def _holes(self, values: Floats) -> NDArray[np.bool_]:
        """(n, columns) where values are missing; InputError where that is an error."""
        holes = np.isnan(values[:, self._starts])
        if self.missing == "error" and holes.any():
            row, place = divmod(int(holes.argmax()), holes.shape[1])
            name = self.columns_[place]
            raise ColumnProblem(name, missing_value(row, name))
        return holes

    def _with_indicators(self, values: Floats, holes: NDArray[np.bool_]) -> Floats:
        return np.hstack([values, holes]) if self.missing == "indicator" else values

    def _said(self, rows: Floats) -> Floats:
        """The rows; how numbers in them were read is said once."""
        for name, problem in self.seen.odd.items():
            if name in self._said_of:
                continue
            self._said_of.add(name)
            warnings.warn(KernbrookWarning(f"X: column {quoted(name)}: {problem}"), stacklevel=3)
        return rows

    def _frame(self, X: Any) -> Any:
        return eager(X)

    def _arrow(self, frame: Any) -> Any:
        names, known = set(frame.columns), set(self.feature_names_in_)
        for name in self.columns_:
            if name not in names:
                raise InputError(f"X: expected a column {quoted(name)}, found none")
        for name in frame.columns:
            if name not in known:
                raise InputError(f"X: found a column {quoted(str(name))} that `fit` did not see")
        return to_arrow(frame.select(self.columns_), self.decimal)

    # -- as JSON -----------------------------------------------------------------------------------

    def described(self) -> dict[str, Any]:
        """What is declared and what was learned, as plain JSON; `from_description` reads it."""
        categorical, dates = _categorical(self.categorical), _dates(self.dates)
        state = {}
        if self.missing in ("mean", "indicator"):
            state = {"totals": self.totals_.tolist(), "counts": self.counts_.tolist()}
        elif self.missing == "last":
            state = {"last": self.last_.tolist()}
        return {
            "categorical": {k: v if isinstance(v, int) else [*v] for k, v in categorical.items()},
            "dates": described_dates(dates),
            "drop": list(_names("drop", self.drop)),
            "missing": self.missing,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "units": declared_units(self.units),
            "columns": self.feature_names_in_.tolist(),
            "state": state,
        }

    @classmethod
    def from_description(cls, described: Any) -> TableEncoder:
        """The encoder that was described.

        Raises
        ------
        InputError
            It is no description that `described` gives.
        """
        expected = {*cls.parameter_ranges, "columns", "state"}
        before: dict[str, Any] = {"thousands": None, "units": {}}  # that models of 0.1 do not have
        held = {**before, **described} if isinstance(described, dict) else {}
        if held.keys() != expected:
            raise InputError(f"encoder: expected {', '.join(sorted(expected))}")
        columns, state = held.pop("columns"), held.pop("state")
        text = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
        if not text or not 0 < len(set(columns)) == len(columns) <= limits.MOST_COLUMNS:
            raise InputError(f"encoder: expected names of columns, each once, got {shown(columns)}")
        encoder = cls(**held).begin(columns)
        names = {"mean": ("totals", "counts"), "last": ("last",), "error": ()}
        names["indicator"] = names["mean"]
        if not isinstance(state, dict) or state.keys() != set(names[encoder.missing]):
            raise InputError(f"encoder: no state of missing={encoder.missing!r}: {shown(state)}")
        for name, values in state.items():
            kind, width = (int if name == "counts" else float), len(encoder.totals_)
            fits = isinstance(values, list) and len(values) == width
            if not (fits and all(type(v) is kind and abs(v) < math.inf for v in values)):
                raise InputError(f"encoder: expected {width} numbers as {name}")
            if kind is int and not all(0 <= value <= COUNTED for value in values):
                raise InputError("encoder: expected numbers of values as counts")
            setattr(encoder, f"{name}_", np.array(values))
        if (encoder.totals_[encoder.counts_ == 0] != 0).any():
            raise InputError("encoder: expected totals of 0 where counts are 0")
        return encoder


class ColumnProblem(InputError):
    """A value of a named column that cannot be encoded.

    Parameters
    ----------
    column : name
    cause : what is wrong, and in which row
    """

    def __init__(self, column: str, cause: ValueProblem):
        self.column = column
        self.cause = cause
        where = f"column {quoted(column)}, row {cause.row} of the chunk, counted from 0"
        super().__init__(f"X: {where}: {cause.problem}")


def _names(what: str, given: Any) -> list[str]:
    """Names of columns, each once."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else given
    listed = isinstance(names, (list, tuple, set, frozenset, dict, np.ndarray))
    if not listed or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what}: expected names of columns, got {shown(given)}")
    return [str(name) for name in dict.fromkeys(names)]


def _categorical(given: Any) -> dict[str, int | tuple[str, ...]]:
    """For each column a number of columns to hash to, or its levels."""
    names = _names("categorical", given)
    declared: dict[str, int | tuple[str, ...]] = dict.fromkeys(names, HASHED)
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if is_whole(value) and not isinstance(value, bool):
            if not 1 <= value <= MOST_HASHED:
                wanted = f"expected 1 to {MOST_HASHED:,} columns to hash to"
                raise InputError(f"categorical: {quoted(name)}: {wanted}, got {shown(value)}")
            declared[name] = int(value)
        else:
            declared[name] = _levels_of(name, value)
    return declared


def _one_kind(name: str, values: list[Any]) -> Any:
    """An Arrow array of values; of text, where they are of several kinds."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([cell_text(value, name, ".") for value in values], pa.string())


def _levels_of(name: str, value: Any) -> tuple[str, ...]:
    import pyarrow as pa

    if isinstance(value, (list, tuple, np.ndarray)) and len(value):
        try:
            levels = as_text(_one_kind(name, list(value))).to_pylist()
        except (pa.ArrowException, InputError, OverflowError):
            levels = [None]
        if None not in levels and len(set(levels)) == len(levels):
            return tuple(levels)
    raise InputError(
        f"categorical: {quoted(name)}: expected levels, each once, or a number of columns to hash "
        f"to, got {shown(value)}"
    )


def _dates(given: Any) -> Declared:
    """For each column its parts, and its format where one is declared."""
    return declared_dates(_names("dates", given), given)
