"""Values of rows before as columns: those of a column, or of labels as far as they are known."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED, shown
from kernbrook.errors import InputError
from kernbrook.streams.records import quoted
from kernbrook.streams.tables.column_kinds import Floats
from kernbrook.streams.tables.column_problems import ValueProblem
from kernbrook.streams.tables.encoded_columns import EncodedColumns
from kernbrook.streams.tables.gaps import filled_by_last, sums_of


class Lags:
    """The lags of some columns of numbers, and of labels.

    Parameters
    ----------
    declared : by column how many rows back; None stands for the label
    label : name of the label's column; None where it has none
    values : what labels become: itself, or its levels
    encoded : the columns
    delay, every : how late labels come
    """

    def __init__(
        self,
        declared: Mapping[str | None, tuple[int, ...]],
        label: str | None,
        values: list[str],
        encoded: EncodedColumns,
        delay: int,
        every: int,
    ):
        self._of: list[tuple[Lagged, int | None]] = []  # and the place of the column
        self.sources: list[str] = []  # of the columns
        for name, lags in declared.items():
            if name is None or name == label:
                self._of.append((Lagged(values, lags, delay, every), None))
                self.sources += [label or "label"] * len(self._of[-1][0].names)
                continue
            if (place := encoded.place_of(name)) is None:
                raise InputError(f"lags: {quoted(name)} is no column of numbers here")
            self._of.append((Lagged([name], lags), place))
            self.sources += [name] * len(lags)

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [name for one, _ in self._of for name in one.names]

    def columns(self, rows: Floats, labels: Floats, meets: bool) -> list[Floats]:
        """What the next rows (n, d) have, with labels (n, v), NaN where they are not known.

        meets : whether they have come then
        """
        own = [(one, labels if at is None else rows[:, at : at + 1]) for one, at in self._of]
        found = [one.columns(values) for one, values in own]
        for one, values in own if meets else ():
            one.meet(values)
        return found

    def copy(self) -> Lags:
        """Another that meets rows by itself."""
        if not self._of:
            return self
        new = copy.copy(self)
        new._of = [(copy.copy(one), at) for one, at in self._of]  # `meet` changes no array
        return new

    def state(self) -> list[dict[str, Any]]:
        """What was met, as plain JSON."""
        return [one.state() for one, _ in self._of]

    def restore(self, state: Any) -> None:
        """Go on from there; InputError where it is nothing that `state` gives."""
        if not isinstance(state, list) or len(state) != len(self._of):
            raise InputError(f"encoder: no state of lags: {shown(state)}")
        for (one, _), own in zip(self._of, state, strict=True):
            one.restore(own)


def of_lags(problem: ValueProblem) -> ValueProblem:
    """What is wrong with a label whose lags are wanted."""
    if not problem.is_text:
        return problem
    helps = "lags are of numbers; declare the levels of the label, too"
    return ValueProblem(problem.row, problem.found, declared=[helps])


class Lagged:
    """Columns of the values so many rows back.

    A value so far back that is not known yet, or is missing, is the last one known at that row;
    before the first row it is the mean of the values known so far, 0 where there is none.

    Parameters
    ----------
    names : of the values
    lags : rows back
    delay : rows that come between a row and its value
    every : values come after each so many rows, all that there are by then

    Attributes
    ----------
    rows : met so far
    window : (w, v) the values of the last rows, NaN where they are missing
    last, totals, counts : (v,) of the rows before the window: the last values, 0 before the first;
        their sums, their numbers
    """

    def __init__(self, names: list[str], lags: tuple[int, ...], delay: int = 0, every: int = 1):
        self.lags, self.delay, self.every = lags, delay, every
        self.names = [f"{name} lag {lag}" for lag in lags for name in names]
        self.rows = 0
        width = len(names)
        self.window: Floats = np.empty((0, width))
        self.last, self.totals = np.zeros(width), np.zeros(width)
        self.counts = np.zeros(width, dtype=np.int64)

    @property
    def _reach(self) -> int:
        """Rows back that are looked at."""
        return max(*self.lags, self.delay + self.every)

    def columns(self, values: Floats) -> Floats:
        """(n, lags x v) what the next rows have, of values (n, v); nothing changes."""
        n, first = len(values), self.rows - len(self.window)  # the row that the window begins with
        rows = np.vstack([self.window, values])
        known = filled_by_last(rows, self.last)[0]
        sums, counts = sums_of(rows, self.totals, self.counts)
        now = np.arange(self.rows, self.rows + n)
        there = np.maximum(now - now % self.every - self.delay, 0)  # values, by then
        means = (sums / np.maximum(counts, 1))[np.maximum(there - first, 0)]
        found = []
        for lag in self.lags:
            place = np.minimum(now - lag, there - 1)
            own = known[np.maximum(place - first, 0)]
            found.append(np.where((place < 0)[:, None], means, own))
        return np.hstack(found)

    def meet(self, values: Floats) -> None:
        """Rows have come, with values (n, v)."""
        rows = np.vstack([self.window, values])
        old, self.window = rows[: -self._reach], rows[-self._reach :].copy()
        self.rows += len(values)
        if len(old):
            self.last = filled_by_last(old, self.last)[1]
            sums, counts = sums_of(old, self.totals, self.counts)
            self.totals, self.counts = sums[-1].copy(), counts[-1].copy()

    # -- as JSON -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What was met, as plain JSON."""
        window = [None if np.isnan(value) else value for value in self.window.ravel().tolist()]
        totals, counts = self.totals.tolist(), self.counts.tolist()
        return {
            "rows": self.rows, "window": window, "last": self.last.tolist(), "totals": totals,
            "counts": counts,
        }  # fmt: skip

    def restore(self, state: Any) -> None:
        """Go on from there; InputError where it is nothing that `state` gives."""
        if not isinstance(state, dict) or state.keys() != self.state().keys():
            raise InputError(f"encoder: no state of lags: {shown(state)}")
        rows, width = state["rows"], len(self.last)
        if type(rows) is not int or not 0 <= rows <= COUNTED:
            raise InputError(f"encoder: expected a number of rows of lags, got {shown(rows)}")
        window = _numbers("window", state["window"], min(rows, self._reach) * width, None)
        counts = state["counts"]
        own = isinstance(counts, list) and len(counts) == width
        if not own or not all(type(one) is int and 0 <= one <= rows for one in counts):
            raise InputError(f"encoder: expected {width} numbers of values as counts of lags")
        self.rows, self.window = rows, window.reshape(-1, width)
        self.counts = np.array(counts, dtype=np.int64)
        self.last, self.totals = (_numbers(k, state[k], width) for k in ("last", "totals"))


def _numbers(name: str, values: Any, size: int, *others: None) -> NDArray[np.float64]:
    """Finite numbers, or one of some other values, which is NaN."""
    fits = isinstance(values, list) and len(values) == size
    if not fits or not all(v in others or (type(v) is float and abs(v) < np.inf) for v in values):
        raise InputError(f"encoder: expected {size} numbers as {name} of lags")
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
