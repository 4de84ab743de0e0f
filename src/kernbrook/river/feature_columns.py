"""Features by name as columns, in the order of the rows in which the names first came."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from datetime import date, timedelta
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.estimators.labelled import present
from kernbrook.gram.arrays import Floats, Labels


class Columns:
    """The names so far. A feature that a row does not have, or None or NaN, is 0."""

    def __init__(self) -> None:
        self._place: dict[Hashable, int] = {}
        self._last: tuple[tuple[Hashable, ...], Labels] = (), np.zeros(0, dtype=np.int64)

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
        row[self._last[1]] = values
        return row

    def rows(self, X: Any, width: int, adds: bool) -> Floats:
        """(n, width) the same of the rows of a frame."""
        names = list(X.columns)
        for name, times in Counter(names).items():
            if times > 1:
                raise InputError(f"X: there are {times} columns {name!r}")
        columns = {name: column_of(X[name], name) for name in names}
        if adds:
            self.add(columns)
            width = max(width, len(self._place))
        rows = np.zeros((len(X), width))
        for name, column in columns.items():
            if name in self._place:
                rows[:, self._place[name]] = column
        return rows


def values_of(x: Mapping[Hashable, Any]) -> Floats:
    """(n,) the values of a row, 0 where they are missing; InputError where one is no number."""
    try:
        values = np.array([*x.values()])
    except ValueError:  # lists of several lengths
        values = np.empty(0, dtype=object)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        return np.array([_number(value, name) for name, value in x.items()], dtype=np.float64)
    values = values.astype(np.float64, copy=False)
    if not np.isfinite(values.sum()):
        for name, value in zip(x, values, strict=True):
            _check_finite(value, name)
        return np.where(np.isnan(values), 0.0, values)
    return values


def column_of(column: Any, name: Hashable) -> Floats:
    """(n,) the values of a column of a frame, in the same way."""
    values: NDArray[Any] = np.asarray(column)
    if values.dtype.kind not in "biuf":
        return np.array([_number(value, name) for value in values], dtype=np.float64)
    values = values.astype(np.float64, copy=False)
    if np.isinf(values).any():
        _check_finite(values[np.isinf(values)][0], name)
    return np.where(np.isnan(values), 0.0, values)


def _check_finite(value: Any, name: Hashable) -> None:
    if value in (math.inf, -math.inf):
        raise InputError(f"x: feature {name!r}: expected a finite number, got {float(value)}")


def _way_of(value: Any) -> str | None:
    """What makes a number of a value that is nearly one; None of other text."""
    kind = type(value).__name__
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return None
        return "float() makes one of it, as converters= of River's stream.iter_csv does"
    if kind == "Decimal":
        return "float() makes one of it"
    if isinstance(value, (date, timedelta)):
        return "a moment: take numbers of it, such as its hour"
    return None


def _number(value: Any, name: Hashable) -> float:
    if isinstance(value, (Real, np.bool_)) and not isinstance(value, np.timedelta64):
        try:
            _check_finite(value, name)
            return 0.0 if value != value else float(value)
        except OverflowError:
            size = "expected a number below 1e308"
            raise InputError(f"x: feature {name!r}: {size}, got {shown(value)}") from None
    if not present(np.array([value, None], dtype=object))[0]:
        return 0.0
    if (way := _way_of(value)) is not None:
        raise InputError(f"x: feature {name!r}: expected a number, got {shown(value)}; {way}")
    raise InputError(
        f"x: feature {name!r}: expected a number, got {shown(value)}; River's "
        "preprocessing.OneHotEncoder makes numbers of text"
    )
