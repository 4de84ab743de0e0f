"""Columns by name: they come in any order, appear, vanish, and have gaps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import compress
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from kernbrook.checks import COUNTED, Other, Whole, check, counted, is_whole, shown
from kernbrook.errors import InputError
from kernbrook.estimators.base import Kept, if_model_has, rows_seen
from kernbrook.estimators.labels import present
from kernbrook.gram.arrays import Floats, Ints, check_array
from kernbrook.plain_values import expect, is_count
from kernbrook.snapshots import Snapshots
from kernbrook.turns import changes, in_turn

MOST_SPARE = 10**6  # columns; each row has them all
LARGEST = 1e154  # beyond it squares are no numbers

Name = str | int
Record = dict[Name, float]


class NamedColumns(Kept, Snapshots, BaseEstimator):
    """A model that is given frames or records: columns go by their names, in any order.

    The columns are those of the first chunk that is learned: of records all keys, as they come. A
    name that comes later takes one of the spare columns; where none is left it is ignored, and
    counted. What is missing, or None or NaN, counts as the mean of its column so far, 0 before the
    first value. These are means of the rows learned before a row: after the first chunk nothing
    depends on how the stream is cut. Predicting changes nothing. A frame is one of pandas, polars
    or pyarrow, or has `columns` as they have; a record is a dict of numbers. Names are text or
    whole numbers.

    Parameters
    ----------
    model : one of ours; it learns in place
        Its rows are the columns of the first chunk, then the spare ones: `filled(X)` gives them.
    spare : int, columns that are kept for names to come; they are 0 until then

    Attributes
    ----------
    names_ : list of the names so far, in the order of the columns
    totals_, counts_, means_ : (d,) sums, numbers and means of the values so far, in each column
    n_ignored_ : values whose names found no column
    classes_, n_rounds_, n_rows_skipped_ : those of the model

    Examples
    --------
    >>> import kernbrook as kb
    >>> model = kb.NamedColumns(kb.OnlineMKRegressor([kb.Linear()]), spare=1)
    >>> _ = model.learn([{"rain": 1, "wind": 5}, {"wind": -4}, {"rain": 2}], [3, 2, 4])
    >>> _ = model.learn([{"wind": 0.5, "snow": 7}], [1])
    >>> model.filled([{"snow": 0.2}])
    array([[1.5, 0.5, 0.2]])
    """

    parameter_ranges: ClassVar = {
        "model": Other("a model of ours"),
        "spare": Whole(0, MOST_SPARE),
    }
    names_: list[Name]
    totals_: Floats
    _kept_around = True

    def __init__(self, model: Any, spare: int = 0):
        self.model = model
        self.spare = spare

    @if_model_has("learn")
    @changes
    def learn(self, X: Any, y: Any, **named: Any) -> Any:
        """Test, ask, train, as the model does; X is a frame or a list of records."""
        return self._learn("learn", X, y, named)

    @if_model_has("learn_one")
    @changes
    def learn_one(self, x: Any, y: Any = None, **named: Any) -> Any:
        """Test, then train on one record; the prediction made before."""
        return self._learn("learn_one", [x], y, named)

    @if_model_has("partial_fit")
    @changes
    def partial_fit(self, X: Any, y: Any, **named: Any) -> NamedColumns:
        """Learn from a frame, or a list of records, after what was learned before."""
        self._learn("partial_fit", X, y, named)
        return self

    @if_model_has("predict")
    @in_turn
    def predict(self, X: Any, **named: Any) -> Any:
        """What the model says of the rows of a frame, or of a list of records."""
        return self.model.predict(self.filled(X), **named)

    @if_model_has("predict_proba")
    @in_turn
    def predict_proba(self, X: Any) -> Any:
        """The model's probabilities for the rows of a frame, or of a list of records."""
        return self.model.predict_proba(self.filled(X))

    @if_model_has("decision_function")
    @in_turn
    def decision_function(self, X: Any) -> Any:
        """The model's decisions on the rows of a frame, or of a list of records."""
        return self.model.decision_function(self.filled(X))

    @in_turn
    def filled(self, X: Any) -> Floats:
        """(n, d) the rows as the model is given them, filled by the means so far."""
        if "names_" not in vars(self):
            raise NotFittedError("NamedColumns: nothing was learned yet, not even what columns are")
        values = _table(records_of(X), self.names_, len(self.totals_))
        return np.where(np.isnan(values), self.means_, values)

    means_ = property(in_turn(lambda self: self.totals_ / np.maximum(self.counts_, 1)))
    classes_ = property(lambda self: self.model.classes_)
    n_rounds_ = property(lambda self: self.model.n_rounds_)
    n_rows_skipped_ = property(lambda self: self.model.n_rows_skipped_)

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        if "names_" not in vars(self):
            return
        learned: list[Any] = [vars(self).get(f"{name}_") for name in ("names", "totals", "counts")]
        names, totals, counts = learned
        if "ignored_" in vars(self):  # older files have them by name
            older = self.__dict__.pop("ignored_")
            expect("ignored_", older, dict)
            self.n_ignored_ = sum(older.values())
        width = getattr(self.model, "n_features_in_", np.size(totals))
        if not (type(width) is int and width >= 1):
            raise InputError("totals_: expected one column or more")
        check_array("totals_", totals, (width,), np.float64)
        check_array("counts_", counts, (width,), np.int64)
        expect("names_", names, list)
        check_names("names_", names, width)
        if counts.min() < 0 or counts.max() > COUNTED:
            raise InputError("counts_: expected numbers of values")
        if not is_count(vars(self).get("n_ignored_")):
            raise InputError("n_ignored_: expected an integer from 0")

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def _learn(self, verb: str, X: Any, y: Any, named: dict[str, Any]) -> Any:
        rows, learn = records_of(X), getattr(self.model, verb)
        names, totals, counts = self._with(rows)
        if not rows:
            return learn(np.empty((0, max(1, len(totals)))), y, **named)
        values = _table(rows, names, len(totals))
        has_value = ~np.isnan(values)
        # One after the other, so that the length of a chunk does not matter.
        totals = np.add.accumulate(np.vstack([totals, np.where(has_value, values, 0.0)]))
        counts = np.add.accumulate(np.vstack([counts, has_value]))
        counted("X", int(counts[0].max()), len(rows))
        filled = np.where(has_value, values, totals[:-1] / np.maximum(counts[:-1], 1))
        before, seen = rows_seen(self), len(rows)
        try:
            return learn(filled[0] if verb == "learn_one" else filled, y, **named)
        except BaseException:  # some blocks are learned as a whole, the others not
            seen = max(rows_seen(self) - before, 0)
            raise
        finally:
            if seen:
                known, before = set(names), vars(self).get("n_ignored_", 0)
                more = sum(name not in known for row in rows[:seen] for name in row)
                self.__dict__.update(
                    names_=names, totals_=totals[seen], counts_=counts[seen],
                    n_ignored_=min(before + more, COUNTED),
                )  # fmt: skip

    def _with(self, rows: list[Record]) -> tuple[list[Name], Floats, NDArray[np.int64]]:
        """Names, totals and counts of all columns, once the rows' names have come."""
        come = dict.fromkeys(name for row in rows for name in row)
        if "names_" in vars(self):
            free = len(self.totals_) - len(self.names_)
            for name in self.names_:
                come.pop(name, None)
            return [*self.names_, *list(come)[:free]], self.totals_, self.counts_
        check(self)
        width = len(come) + int(self.spare)
        if rows and not width:
            raise InputError("X: the first rows have no columns")
        return list(come), np.zeros(width), np.zeros(width, dtype=np.int64)


def check_names(owner: str, names: Sequence[Any], most: int) -> None:
    """Raise InputError unless these are names, each once, of so many columns at most."""
    if not all(type(name) in (str, int) for name in names) or len(set(names)) < len(names):
        raise InputError(f"{owner}: expected text or whole numbers, each once")
    if len(names) > most:
        raise InputError(f"{owner}: {len(names)} names of {most} columns")


def records_of(X: Any) -> list[Record]:
    """The rows of a frame, or records, as dicts of floats, NaN where a value is missing."""
    if hasattr(X, "columns"):
        columns = columns_of(X)
        names = [_name(name) for name in columns]
        lists = [column.tolist() for column in columns.values()]
        return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]
    if isinstance(X, (list, tuple)) and all(isinstance(row, Mapping) for row in X):
        several = [[_name(name) for name in row] for row in X]
        values = [values_of(row, i).tolist() for i, row in enumerate(X)]
        return [dict(zip(*both, strict=True)) for both in zip(several, values, strict=True)]
    raise InputError(f"X: expected a frame, or records such as [{{'a': 1}}], got {shown(X)}")


def _name(name: Any) -> Name:
    if not isinstance(name, str) and not is_whole(name):
        raise InputError(f"X: expected columns named by text or whole numbers, got {shown(name)}")
    return str(name) if isinstance(name, str) else int(name)


def _table(rows: list[Record], names: list[Name], width: int) -> Floats:
    """(n, width) the values, NaN where there are none."""
    spare = [math.nan] * (width - len(names))
    table = [[row.get(name, math.nan) for name in names] + spare for row in rows]
    return np.array(table).reshape(len(rows), width)


# -- values of named columns -----------------------------------------------------------------------


class Columns:
    """The names so far, in their order. A column that a row does not have, or None or NaN, is 0."""

    def __init__(self) -> None:
        self._place: dict[Hashable, int] = {}
        self._last: tuple[tuple[Hashable, ...], Ints] = (), np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, name: Hashable) -> bool:
        return name in self._place

    def add(self, names: Iterable[Hashable]) -> None:
        """A column for each name that has none; new ones in alphabetical order, whatever theirs."""
        for name in sorted((name for name in names if name not in self._place), key=str):
            self._place[name] = len(self._place)

    def row(self, x: Mapping[Hashable, Any], width: int, adds: bool) -> Floats:
        """(width,) a row, for which there may be new columns; or else unknown names are ignored."""
        values, names, place = values_of(x), tuple(x), self._place
        if names != self._last[0]:  # rows often have the same names
            if adds:
                self.add(names)
            known = [name in place for name in names]
            if not all(known):
                values, names = values[known], tuple(compress(names, known))
            self._last = names, np.array([place[name] for name in names], dtype=np.int64)
        row = np.zeros(max(width, len(place)) if adds else width)
        row[self._last[1]] = np.where(values == values, values, 0.0)
        return row

    def rows(self, X: Any, width: int, adds: bool) -> Floats:
        columns = columns_of(X)
        if adds:
            self.add(columns)
            width = max(width, len(self._place))
        rows = np.zeros((len(X), width))
        for name, values in columns.items():
            if name in self._place:
                rows[:, self._place[name]] = np.where(values == values, values, 0.0)
        return rows


def values_of(x: Mapping[Hashable, Any], row: int | None = None) -> Floats:
    """(n,) the values of a record, NaN where they are missing; InputError where one is no number.

    row : its number in the chunk, for the message
    """
    try:
        values = np.array([*x.values()])
    except ValueError:  # lists of several lengths
        values = np.empty(0, dtype=object)
    if _is_plain(values):
        return values.astype(np.float64, copy=False)
    place = "" if row is None else f", row {row} of the chunk"
    return np.array([_number(value, name, place) for name, value in x.items()], dtype=np.float64)


def columns_of(frame: Any) -> dict[Hashable, Floats]:
    """The columns of a frame by name, in the same way."""
    names = [*getattr(frame, "column_names", frame.columns)]  # of pyarrow, whose columns are arrays
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"X: there are {times} columns {shown(name)}")
    return {name: _column(frame[name], name) for name in names}


def _column(column: Any, name: Hashable) -> Floats:
    try:
        values = np.asarray(column)
    except Exception:  # polars has errors of its own; NumPy has no type for 128 bits
        values = np.array(list(column), dtype=object)
    if _is_plain(values):
        return values.astype(np.float64, copy=False)
    each = [_number(value, name, f", row {i} of the chunk") for i, value in enumerate(values)]
    return np.array(each, dtype=np.float64)


def _is_plain(values: NDArray[Any]) -> bool:
    """Whether these are numbers, none of which is too large."""
    plain = values.ndim == 1 and values.dtype.kind in "biuf"
    return plain and not (np.abs(values) >= LARGEST).any()


def _number(value: Any, name: Hashable, place: str) -> float:
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":  # and no time
        value = value.item()
    if isinstance(value, Real) and not isinstance(value, np.timedelta64):
        number: Any = value
        if not abs(number) >= LARGEST:
            return float(number)
    elif not present(np.array([value, None], dtype=object))[0]:
        return math.nan
    wanted = "expected a number of size below 1e154, None or NaN"
    way = "" if (way := _way_of(value)) is None else f"; {way}"
    raise InputError(f"X: column {shown(name)}{place}: {wanted}, got {shown(value)}{way}")


def _way_of(value: Any) -> str | None:
    if isinstance(value, (date, timedelta, np.datetime64, np.timedelta64)):
        return "a moment: take numbers of it, such as its hour"
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        makers = "kb.TableEncoder, and River's preprocessing.OneHotEncoder, make numbers of text"
        return makers if isinstance(value, str) else None
    if isinstance(value, Real):
        return None
    return "float() makes one of it, as converters= of River's stream.iter_csv does"
