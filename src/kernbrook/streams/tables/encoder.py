"""Tables as people have them as rows of numbers, of a width that is known from the start."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError

from kernbrook.checks import OneOf, Other, Whole, check, counted, parameters, shown
from kernbrook.errors import InputError, KernbrookWarning, UnknownNameError
from kernbrook.gone import PARAMETERS
from kernbrook.plain_values import Count, read_as
from kernbrook.snapshots import Snapshots
from kernbrook.streams import limits
from kernbrook.streams.arrow import FrameRecords, eager, labels_as_arrow, to_arrow
from kernbrook.streams.loading import pa
from kernbrook.streams.records import is_unicode, quoted
from kernbrook.streams.tables.columns import Column, Date, Floats, Lag, filled_by_last, sums_of
from kernbrook.streams.tables.declared import (
    AUTO,
    Declared,
    check_lags,
    check_marks,
    check_thousands,
    declared_dates,
    declared_lags,
    declared_levels,
    declared_names,
    declared_words,
    described_dates,
    is_auto,
    no_lags_of,
)
from kernbrook.streams.tables.hints import helped, taken_of
from kernbrook.streams.tables.values import (
    DECIMALS,
    ColumnProblem,
    LevelCounts,
    ValueProblem,
    Written,
    option,
)
from kernbrook.turns import in_turn

FILLINGS = ("error", "mean", "last", "indicator")
_STATES = {"mean": ("totals", "counts"), "last": ("last",), "error": ()}
_STATES["indicator"] = _STATES["mean"]
_RULES = 2  # of what words are, and what hours of a zone: files say which they were made by
_PLAIN: dict[str, Any] = {  # what a description has besides parameters, and lags by column
    "columns": list[str], "state": dict[str, Any], "label": str | None,
    "rules": int, "zones": dict[str, str], "lags": list[list[Any]],
}  # fmt: skip


# What parameters may be.
_LEVELS = Other(
    "None, a list of columns, or a dict of lists of levels and numbers of columns", declared_levels
)
_DATES = Other(
    "None, a list of columns, or a dict of lists of days, hour, weekday, yearday, a format",
    declared_dates,
)
_DROP = Other("None or a list of columns", partial(declared_names, "drop"))
_WORDS = Other("None, a list of columns, or a dict of them and widths", declared_words)
_LAGS = Other("None, a list of numbers, or a dict of the label and it", declared_lags)


@parameters
class TableEncoder(Snapshots, TransformerMixin, BaseEstimator):
    """Frames with text, dates and gaps as rows of numbers, encoded as they come.

    Columns of numbers stay as they are; so is text that is written as a number. What else a column
    becomes is declared, so that the width follows from the names of the columns alone: a level or a
    gap that first comes after a million rows changes nothing but its own row.

    A row is filled by the rows before it: results do not depend on how rows are cut into chunks.

    Parameters
    ----------
    categorical : list or dict, the columns of levels, or "auto"
        By name the list of levels: a column of 0 and 1 for each, and one more for all others. Or by
        name a number of columns that levels are hashed to, with a sign, as scikit-learn's
        FeatureHasher does it; of a list of names 16 each. See the notes. "auto", alone or in the
        list, or {"auto": "auto"} in the dict: also the columns of text that have levels, it seems
    dates : list or dict, the columns of moments: dates, timestamps, or text such as 2024-01-31; or
        "auto", as `categorical` has it
        By name the list of parts: "days" since 1970 as a number; "hour", "weekday", "yearday", how
        far the day, the week and the year are, as sine and cosine. Of a list of names these three.
        Hours are those of the zone that a column of Arrow or pandas has, else of UTC. In the list
        may stand the format of text, as `strptime` takes it, such as "%d.%m.%Y", or alone in place
        of the list; "%s" and "%Q" count seconds and milliseconds since 1970. When a stream of a
        table is opened, a common format of a column is found.
    drop : list, the columns to leave out
    missing : "error", "mean", "last" or "indicator"
        What is missing is an error, or becomes the mean of its column so far, or the last value,
        0 before there was any; of a categorical column and a date those of each encoded column.
        "indicator": the mean, and one more column for each input column, 1 where it was missing.
    decimal : "." or ",", the mark before the fraction of numbers that come as text
    thousands : None, ".", ",", "'" or " ", the mark between groups of digits of such numbers
    words : list or dict, the columns of text of which words and pairs of words are hashed
        As scikit-learn's HashingVectorizer does it, to 262,144 columns each, or by name to so many;
        single letters, emoji and each character of Chinese and Japanese are words, too. Rows are
        then CSR. Text that is missing has no words.
    lags : list, of how many rows back labels are columns, too; or a dict of their column and it
        A label that is not known yet is the last one known; see the notes.
    delay, every : how late labels come, for `lags`: after so many more rows, in batches of so many

    Attributes
    ----------
    feature_names_in_, n_features_in_ : the columns seen by `fit`, also those that are dropped
    taken_ : dict, what "auto" has taken: by column what it becomes
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

    Lags count rows in the order in which they are learned. Before the first row, labels are the
    mean of those known so far, 0 before there is one. `transform` takes its rows for those that
    come next, one after the other, and knows no label of theirs. Of text the levels of the label
    are declared, and each has its lags.

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

    categorical: Annotated[Any, _LEVELS] = None
    dates: Annotated[Any, _DATES] = None
    drop: Annotated[Any, _DROP] = None
    missing: Annotated[str, OneOf(FILLINGS)] = "error"
    decimal: Annotated[str, OneOf(DECIMALS)] = "."
    thousands: Annotated[str | None, Other("None, . , ' or a blank", check_thousands)] = None
    words: Annotated[Any, _WORDS] = None
    lags: Annotated[Any, _LAGS] = None
    delay: Annotated[int, Whole(0)] = 0
    every: Annotated[int, Whole()] = 1

    # The name of the label's column, where there is one and it is known.
    label: str | None = field(default=None, init=False)
    given = False  # to a stream, which has a copy
    helps = True  # whether problems say what would help, which takes time
    keeps = False  # whether `values` is kept
    # (n, width) the last rows that were read, before gaps were filled.
    values: Floats | None = field(default=None, init=False)

    # -- for users ---------------------------------------------------------------------------------

    @in_turn
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Forget what was learned, and learn from a frame, and its labels where lags need them."""
        check(self)
        self._begun_with(eager(X))
        return self.partial_fit(X, y)

    @in_turn
    def partial_fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn from one more frame, after what was learned before."""
        self.learn(X, y)
        return self

    @in_turn
    def learn(self, X: Any, y: Any = None) -> Any:
        """(n, d) the rows, each filled by those before it; then they are known."""
        frame = eager(X)
        if not hasattr(self, "columns_"):
            self._begun_with(frame)
        labels = self._labels(y, len(frame))
        return self._warn_of_reading(self.encode(self._arrow(frame), learns=True, labels=labels))

    @in_turn
    def transform(self, X: Any) -> Any:
        """(n, d) each row as if it came next; nothing changes."""
        self._check_fitted()
        return self._warn_of_reading(self.encode(self._arrow(eager(X))))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """(d,) the names of the encoded columns, such as "sex=male"."""
        return np.array([name for name, _ in self._names()], dtype=object)

    def copy(self) -> Self:
        """Another that goes on from here by itself."""
        new = self.branch()
        new.__dict__.pop("_turn", None)
        if hasattr(self, "columns_"):
            new._columns = [copy.copy(column) for column in self._columns]
            new._lag.label = copy.copy(self._lag.label)
        return new

    def _begun_with(self, frame: Any) -> None:
        """Take the columns of a frame, and what "auto" takes them for."""
        check(self)
        self.__dict__.pop("_declared", None)
        self.begin(frame.columns, None, taken_of(self, FrameRecords(frame, "X"), frame.columns))

    def _check_fitted(self) -> None:
        """NotFittedError where not even the columns are known."""
        if hasattr(self, "columns_"):
            return
        problem = "it has not seen a table"
        if self.given:
            problem = (
                "the stream that it was given to has a copy, which learns the rows as they are "
                "read: transform with stream.encoder once the stream was read, or fit this one"
            )
        raise NotFittedError(f"TableEncoder is not fitted: {problem}")

    def _warn_of_reading(self, rows: Any) -> Any:
        """The rows; how values in them were read is said once."""
        for name, problem in self.notes().items():
            if name not in self._warned:
                self._warned.add(name)
                warning = KernbrookWarning(f"X: column {quoted(name)}: {problem}")
                warnings.warn(warning, stacklevel=3)
        return rows

    def _labels(self, y: Any, rows: int) -> Any:
        """Labels (n,) for lags as an Arrow array; None where none are wanted."""
        if not self.lags_of_label:
            return None
        if y is None:
            raise InputError("y: expected labels, for their lags")
        labels = labels_as_arrow(y)
        if len(labels) != rows:
            raise InputError(f"X has {rows} rows, y has {len(labels)}")
        return labels

    def _arrow(self, frame: Any) -> Any:
        names, known = set(frame.columns), set(self.feature_names_in_)
        for name in self.columns_:
            if name not in names:
                raise InputError(f"X: expected a column {quoted(name)}, found none")
        for name in frame.columns:
            if name not in known:
                raise InputError(f"X: found a column {quoted(str(name))} that `fit` did not see")
        return to_arrow(frame.select(self.columns_), self.decimal)

    def __dir__(self) -> list[str]:
        """What is for users; not what streams and files ask for."""
        users = {"fit", "partial_fit", "learn", "transform", "fit_transform", *self.get_params()}
        users |= {"get_feature_names_out", "get_params", "get_metadata_routing", "parameter_ranges"}
        names = super().__dir__()
        return [n for n in names if n[0] == "_" or n[-1] == "_" or n[:4] == "set_" or n in users]

    # -- what is declared --------------------------------------------------------------------------

    def begin(
        self,
        columns: Sequence[str],
        label: str | None = None,
        taken: Mapping[str, Any] | None = None,
        goes_on: bool = False,
        zones: Mapping[str, str] | None = None,
    ) -> Self:
        """Take the names of all columns but the label's, and learn nothing yet.

        label : name of the label's column, for lags; None where there is none
        taken : what "auto" takes, as `categorical` and `dates` would have it
        goes_on, zones : whether from what a file says, and what zones these dates have
        """
        check(self)
        check_marks(self.decimal, self.thousands)
        declared, known = Declared.of(self, taken or {}), set(columns)
        names = [name for name in declared.names if not (declared.lags and name == label)]
        if declared.lags_of not in (None, label):
            if declared.lags_of in known:
                raise no_lags_of(self.lags)
            names.append(declared.lags_of)
        for name in names:
            if name not in known:
                raise UnknownNameError("column", f"{name}", columns)
            if names.count(name) > 1:
                raise InputError(
                    f"categorical, dates, drop, words: the column {quoted(name)} is in two of them"
                )
        kept = [name for name in columns if name not in declared.drop]
        if not kept:
            raise InputError("drop: no column is left")
        if not goes_on:
            check_lags(declared.lags, self.delay)
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        self.columns_, self.label = kept, label
        self.taken_: dict[str, Any] = dict(taken or {})
        self._make(declared, zones or {})
        self._lag = Lag(declared.column(label or "label"), declared.lags, self.delay, self.every)
        wide = self.width + len(self._lag.names)
        if wide > limits.MOST_COLUMNS:
            raise InputError(
                f"categorical, lags: {wide:,} encoded columns, expected {limits.MOST_COLUMNS:,} "
                "at most"
            )
        self.totals_, self.last_ = np.zeros(self.width), np.zeros(self.width)
        self.counts_ = np.zeros(self.width, dtype=np.int64)
        return self

    def _make(self, declared: Declared, zones: Mapping[str, str]) -> None:
        columns = [declared.column(name, zones) for name in self.columns_]
        self._declared, self._warned = declared, set[str]()
        self._columns = [column for column in columns if column.kind != "words"]
        self._words = [column for column in columns if column.kind == "words"]
        widths = [column.width for column in self._columns]
        self._starts: NDArray[np.int64] = np.cumsum([0, *widths])[:-1].astype(np.int64)
        self.width, self.words_width = sum(widths), sum(words.width for words in self._words)

    def declarations(self) -> Declared:
        """What is declared of the columns, and what "auto" has taken."""
        declared: Declared | None = vars(self).get("_declared")
        return Declared.of(self, {}) if declared is None else declared

    def named_columns(self) -> list[str]:
        """The columns that are known already, or declared."""
        return self.columns_ if hasattr(self, "columns_") else self.declarations().names

    def levels(self) -> set[str]:
        """All levels that are declared, of any column."""
        declared = self.declarations().levels.values()
        return {level for levels in declared if not isinstance(levels, int) for level in levels}

    @property
    def remembers(self) -> bool:
        """Whether a row depends on those before it."""
        return self.missing != "error" or self.lags is not None

    @property
    def lags_of_label(self) -> bool:
        """Whether labels of rows before are columns."""
        return self.declarations().has_lags_of(self.label)

    def with_levels(self, levels: Mapping[str, Sequence[str]]) -> Self:
        """A new one that has these levels for columns of which nothing else is said."""
        taken, before = self.declarations().names, declared_levels(self.categorical)
        more = {name: list(values) for name, values in levels.items() if name not in taken}
        auto = {AUTO: AUTO} if is_auto(self.categorical) else {}
        new: Self = clone(self)
        return new.set_params(categorical={**before, **more, **auto})

    def rewritten(
        self,
        decimal: str | None = None,
        thousands: str | None = None,
        dates: Mapping[str, str] | None = None,
    ) -> Self:
        """Another that knows the same, for rows that are written in another way.

        Where one of the two marks is given, both are as said here. `dates` has formats by column;
        the parts stay as they are.
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
        check(new)
        check_marks(new.decimal, new.thousands)
        if hasattr(self, "columns_"):
            new._make(Declared.of(new, self.taken_), self._zones())
        return new

    # -- rows, as streams have them ----------------------------------------------------------------

    @in_turn
    def encode(
        self,
        table: Any,
        counts: Mapping[str, LevelCounts] | None = None,
        learns: bool = False,
        labels: Any = None,
        follows: bool = False,
    ) -> Any:
        """(n, d) the rows of a pyarrow table that has the columns of `columns_`, at least.

        counts : of `no_levels`, to count the rows
        learns : whether they are known then, as `learn` has it; else as `transform`
        labels : an Arrow array, for lags; None where they are not known
        follows : whether the rows are those before the next ones, for lags, and nothing else
        """
        return self._whole(*self._read(table, counts or {}, learns), labels, learns, follows)

    @in_turn
    def read_table(self, table: Any, learns: bool = False) -> Any:
        """(n, w) what the columns of a pyarrow table become, NaN where a value is missing.

        So rows wait that `next_rows` makes rows of later, as they then are by the rows before.
        """
        return with_words(*self._read(table, {}, learns))

    @in_turn
    def read_record(self, record: Mapping[str, Any], learns: bool = False) -> Any:
        """(1, w) the same of a record, in a tenth of the time; a key that is not there is a gap.

        None where only a table of it tells, or refuses it; then nothing is remembered of it.
        """
        before, found = [(column.seen, column.note) for column in self._columns], None
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            found = self._encode_record(record, learns)
        noted = any(c.note != was for c, (_, was) in zip(self._columns, before, strict=True))
        if found is None or noted or (self.missing == "error" and np.isnan(found[0]).any()):
            for column, was in zip(self._columns, before, strict=True):
                column.seen, column.note = was
            return None
        return with_words(*found)

    def _encode_record(
        self, record: Mapping[str, Any], learns: bool
    ) -> tuple[Floats, list[Any]] | None:
        """(1, width) the columns of numbers of a record, and (1, n) CSR of each one of words."""
        row, words, longest = list[float](), list[Any](), limits.LONGEST_CELL // 4
        for column in (*self._columns, *self._words):
            value = record.get(column.column)
            if isinstance(value, str) and not (len(value) <= longest and is_unicode(value)):
                return None
            if column.kind == "words":
                words.append(column.alone(value))
            elif (found := column.encode_value(value, learns)) is None:
                return None
            else:
                row += found
        return np.array([row]), words

    @in_turn
    def next_rows(self, rows: Any, learns: bool = False, labels: Any = None) -> Any:
        """(n, d) rows of `read_table` or `read_record`, each as if it came next.

        learns : whether they are known then, with their labels, as `encode` has these
        """
        words = list[Any]()
        if self._words:
            rows, words = rows[:, : self.width].toarray(), [rows[:, self.width :]]
        return self._whole(rows, words, labels, learns)

    def branch(self) -> Self:
        """Another that learns by itself from here on, and shares what encodes with this one."""
        new = object.__new__(type(self))
        new.__dict__.update(vars(self))
        if hasattr(self, "columns_") and self._lag.lags:
            new._lag = copy.copy(self._lag)
        return new

    def _read(
        self, table: Any, level_counts: Mapping[str, LevelCounts], learns: bool
    ) -> tuple[Floats, list[Any]]:
        """Numbers (n, width), NaN where they are missing, and words; `level_counts` counts."""
        values = np.empty((table.num_rows, self.width))
        for column, start in zip(self._columns, self._starts.tolist(), strict=True):
            counts = level_counts.get(column.column)
            values[:, start : start + column.width] = self._column(column, table, learns, counts)
        self.values = values if self.keeps else None
        if self.missing == "error" and (holes := np.isnan(values[:, self._starts])).any():
            row, place = divmod(int(holes.argmax()), holes.shape[1])
            name = self._columns[place].column
            ways = ["missing (--missing mean, last or indicator)", option("drop", name)]
            raise ColumnProblem(name, ValueProblem(row, "missing value", None, ways))
        return values, [self._column(column, table, learns) for column in self._words]

    def _column(
        self, column: Column, table: Any, learns: bool, counts: LevelCounts | None = None
    ) -> Any:
        try:
            return column.encode(table.column(column.column), learns, counts)
        except ValueProblem as problem:
            if self.helps:
                helped(column, problem)
            raise ColumnProblem(column.column, problem) from None

    def _whole(
        self, values: Floats, words: list[Any], labels: Any, learns: bool, follows: bool = False
    ) -> Any:
        """Rows with gaps as those that come next: an array, or CSR where there are words."""
        try:
            known = self._lag.known(labels, len(values))
        except ValueProblem as problem:
            raise ColumnProblem(self._lag.label.column, problem) from None
        holes = np.isnan(values[:, self._starts])
        if learns and self.missing != "error":
            values = self._learned(values)
        elif holes.any():
            mean = self.totals_ / np.maximum(self.counts_, 1)
            filling = self.last_ if self.missing == "last" else mean
            values = np.where(np.isnan(values), filling, values)
        rows = [values]
        if self._lag.lags:
            rows.append(self._lag.encode(known))
            if learns or follows:
                self._lag.learn(known)
        if self.missing == "indicator":
            rows.append(holes.astype(np.float64))
        return with_words(np.hstack(rows) if len(rows) > 1 else values, words)

    def _learned(self, values: Floats) -> Floats:
        """Rows that are filled by those before, and known then."""
        if self.missing == "last":
            filled, self.last_ = filled_by_last(values, self.last_)
            return filled
        sums, counts = sums_of(values, self.totals_, self.counts_)
        counted("X", int(self.counts_.max(initial=0)), len(values))
        if not np.isfinite(sums[-1]).all():
            name = self.get_feature_names_out()[int(np.isinf(sums[-1]).argmax())]
            raise InputError(f"missing: the values of {quoted(name)} are too large for a mean")
        self.totals_, self.counts_ = sums[-1].copy(), counts[-1].copy()
        gaps = np.isnan(values)
        return (
            np.where(gaps, sums[:-1] / np.maximum(counts[:-1], 1), values) if gaps.any() else values
        )

    # -- what the columns are ----------------------------------------------------------------------

    def notes(self) -> dict[str, str]:
        """By column how its values are read, where they could be read in another way."""
        return {column.column: column.note for column in self._columns if column.note}

    def place_of(self, name: str) -> int | None:
        """Where a column of numbers is in the encoded rows; None where it is not numbers."""
        for column, start in zip(self._columns, self._starts.tolist(), strict=True):
            if column.column == name:
                return start if column.kind == "numbers" else None
        return None

    def plain_numbers(self) -> list[str]:
        """The columns of numbers, where these are written as programs write them."""
        plain = self.declarations().written == Written()
        return [of.column for of in self._columns if of.kind == "numbers" and plain]

    def no_levels(self) -> dict[str, LevelCounts]:
        """Counts of the declared levels, by column, before any row."""
        levels = self.declarations().levels
        return {
            of.column: LevelCounts(of.column, known, np.zeros(of.width, np.int64))
            for of in self._columns
            if not isinstance(known := levels.get(of.column, 0), int)
        }

    def moments_of(self, table: Any) -> NDArray[np.int64] | None:
        """(n,) microseconds since 1970 by the first column of dates; None where there is none.

        A row without a date has the least number that there is.
        """
        for column in self._columns:
            if isinstance(column, Date) and column.parts != ("hour",):
                moments, missing = column.moments(table.column(column.column))
                return np.where(missing, np.iinfo(np.int64).min, moments)
        return None

    def sources(self) -> list[str]:
        """(d,) of each encoded column the column of the table that it is made of."""
        return [source for _, source in self._names()]

    def _names(self) -> list[tuple[str, str]]:
        """(d,) of each encoded column its name, and the column of the table that it is made of."""
        self._check_fitted()
        names = [(name, of.column) for of in self._columns for name in of.names]
        names += [(name, self.label or "label") for name in self._lag.names]
        if self.missing == "indicator":
            names += [(f"{of.column} missing", of.column) for of in self._columns]
        return names + [(name, of.column) for of in self._words for name in of.names]

    def _zones(self) -> dict[str, str]:
        """By column of dates the zone whose hours it has, where that is known."""
        dates = [column for column in self._columns if column.kind == "dates"]
        return {column.column: column.seen[0] for column in dates if column.seen[0] is not None}

    # -- as JSON -----------------------------------------------------------------------------------

    def described(self) -> dict[str, Any]:
        """What is declared and what was learned, as plain JSON; `from_description` reads it."""
        declared, levels = self.declarations(), self.declarations().levels
        state: dict[str, Any] = {
            name: getattr(self, f"{name}_").tolist() for name in _STATES[self.missing]
        }
        if self.lags is not None:
            state["lags"] = self._lag.describe()
        return {
            "categorical": {k: v if isinstance(v, int) else [*v] for k, v in levels.items()},
            "dates": described_dates(declared.dates),
            "drop": list(declared.drop),
            "missing": self.missing,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "words": dict(declared.words),
            "lags": [[declared.lags_of, [*declared.lags]]] if declared.lags else [],
            "delay": self.delay,
            "every": self.every,
            "label": self.label if self.lags_of_label else None,
            "rules": _RULES,
            "zones": self._zones(),
            "columns": self.feature_names_in_.tolist(),
            "state": state,
        }

    @classmethod
    def from_description(cls, described: Any) -> TableEncoder:
        """The encoder that was described; InputError where it is nothing that `described` gives."""
        expected = {*cls.parameter_ranges, *_PLAIN}
        held = dict(described) if isinstance(described, dict) else {}
        if held.pop("units", None):
            raise InputError(f"encoder: {PARAMETERS['units'][1]}")
        if "columns" in held and held.get("rules") != _RULES:
            raise InputError(
                "encoder: of a version before, whose words and hours were others; train again"
            )
        if held.keys() != expected:
            raise InputError(f"encoder: expected {', '.join(sorted(expected))}")
        columns, state, label, _, zones, lags = (
            read_as(kind, held.pop(name), f"encoder: {name}") for name, kind in _PLAIN.items()
        )
        if not 0 < len(set(columns)) == len(columns) <= limits.MOST_COLUMNS:
            raise InputError(f"encoder: expected names of columns, each once, got {shown(columns)}")
        if not all(len(lag) == 2 and isinstance(lag[0], str | None) for lag in lags):
            raise InputError(f"encoder: expected lags by column, got {shown(lags)}")
        encoder = cls(**held, lags=dict(lags) or None)
        encoder.begin(columns, label, goes_on=True, zones=zones)
        known = _STATES[encoder.missing]
        if state.keys() != {*known, *["lags"] * (encoder.lags is not None)}:
            raise InputError(f"encoder: no state of missing={encoder.missing!r}: {shown(state)}")
        if "lags" in state:
            encoder._lag.restore(state["lags"])
        for name in known:
            kind, width = Count if name == "counts" else float, encoder.width
            values = read_as(list[kind], state[name], f"encoder: {name}")  # type: ignore[valid-type]
            if len(values) != width:
                raise InputError(f"encoder: expected {width} numbers as {name}")
            setattr(encoder, f"{name}_", np.array(values, int if name == "counts" else float))
        return encoder


def with_words(rows: Floats, words: Sequence[Any]) -> Any:
    """The rows, and behind them their words: CSR where there are some."""
    if not words:
        return rows
    from scipy.sparse import csr_array, hstack

    blocks = [csr_array(rows)] if rows.shape[1] else []
    return hstack([*blocks, *map(csr_array, words)], format="csr")


def stacked(parts: Sequence[Any]) -> Any:
    """Rows below one another, CSR where those are."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")
