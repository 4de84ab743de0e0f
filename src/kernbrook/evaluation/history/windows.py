"""What rows cost and what they were like: in windows whose number is bounded, and by data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.evaluation.history.inputs import Columns, Inputs
from kernbrook.evaluation.measuring.by_task import added
from kernbrook.plain_values import expect, is_count

MOST = 16  # windows
MOST_DATA = 400  # data that are told apart: a year of days, and a month
FIRST = 16  # rows of each, at first
_LENGTHS = [FIRST << doubled for doubled in range(60)]
NO_DATE = int(np.iinfo(np.int64).min)  # of a row


@dataclass
class Span:
    """Rows that follow each other.

    Attributes
    ----------
    rows : of it
    judged : of these, rows whose label was predicted before it was seen
    sums : of what judged rows cost, by name: "loss" are mistakes or squared errors
    began, ended : the earliest and the latest date, microseconds since 1970; None without dates
    columns : what the columns of a table were like; None of other data
    """

    rows: int = 0
    judged: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    began: int | None = None
    ended: int | None = None
    columns: Columns | None = None

    def add(self, rows: int, costs: Mapping[str, NDArray[Any]], dates: Any = None) -> None:
        """Take in more rows, what the judged ones of them cost, and the dates, (n,) or None."""
        self.rows += rows
        if judged := len(next(iter(costs.values()), ())):
            names = self._in_common(costs)
            self.sums = {name: added(self.sums.get(name, 0), costs[name]) for name in names}
            self.judged += judged
        if dates is not None and (there := dates[dates != NO_DATE]).size:
            self._over(int(there.min()), int(there.max()))

    def _in_common(self, costs: Mapping[str, Any]) -> list[str]:
        """The costs that are known of the judged rows so far and of others."""
        return [name for name in costs if name in self.sums or not self.judged]

    def join(self, other: Span) -> None:
        """Take in the rows of one that follows."""
        self.rows += other.rows
        if other.judged:
            names = self._in_common(other.sums)
            self.sums = {name: self.sums.get(name, 0) + other.sums[name] for name in names}
            self.judged += other.judged
        if other.began is not None and other.ended is not None:
            self._over(other.began, other.ended)
        if other.columns is not None:
            self.columns = other.columns.joined(self.columns)

    def _over(self, began: int, ended: int) -> None:
        self.began = began if self.began is None else min(began, self.began)
        self.ended = ended if self.ended is None else max(ended, self.ended)

    def mean(self, name: str) -> float | None:
        """The mean of a cost over the judged rows; None where it is not known."""
        return self.sums[name] / self.judged if self.judged and name in self.sums else None

    def check(self, what: str) -> None:
        """InputError where a value is of no kind that it can be."""
        if not (is_count(self.rows) and is_count(self.judged) and self.judged <= self.rows):
            raise InputError(f"{what}: expected numbers of rows, got {self.rows}, {self.judged}")
        numbers = self.sums.values() if isinstance(self.sums, dict) else [None]
        if not all(type(one) in (int, float) and 0 <= one < math.inf for one in numbers):
            raise InputError(f"{what}: expected sums of costs, got {self.sums!r:.60}")
        if any(type(one) not in (int, type(None)) for one in (self.began, self.ended)):
            raise InputError(f"{what}: expected dates as integers, got {self.began}, {self.ended}")


@dataclass
class Windows:
    """Spans of one length; the last one may not be full.

    Where 16 are full and one more row comes, each two become one. So from the 129th row on there
    are 9 to 16 of them, and they do not depend on where chunks end.

    Attributes
    ----------
    length : rows of a window
    spans : the windows
    inputs : what is known of the columns of a table; None of other data

    Examples
    --------
    >>> windows = Windows()
    >>> windows.add(300, {"loss": np.arange(300) < 30})
    >>> windows.length, [span.sums["loss"] for span in windows.spans]
    (32, [30, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> [round(mean, 2) for mean in windows.means("loss")[:2]]
    [0.94, 0.0]
    """

    length: int = FIRST
    spans: list[Span] = field(default_factory=list)
    inputs: Inputs | None = None

    @property
    def rows(self) -> int:
        """That were met."""
        return sum(span.rows for span in self.spans)

    def add(
        self,
        rows: int,
        costs: Mapping[str, NDArray[Any]],
        judged: NDArray[np.int64] | None = None,
        values: NDArray[np.float64] | None = None,
        dates: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in more rows.

        Parameters
        ----------
        rows : how many, n
        costs : of the judged ones, (k,) each, by name
        judged : (k,) their numbers, rising from 0; None: all are
        values : (n, d) encoded columns before gaps are filled, where there are `inputs`
        dates : (n,) microseconds since 1970, `NO_DATE` where there is none; None without dates
        """
        judged, at = np.arange(rows) if judged is None else judged, 0
        while at < rows:
            if len(self.spans) == MOST and self.spans[-1].rows == self.length:
                self._halve()
            if not self.spans or self.spans[-1].rows == self.length:
                self.spans.append(Span())
            span = self.spans[-1]
            end = min(rows, at + self.length - span.rows)
            own = slice(*np.searchsorted(judged, [at, end]))
            span.add(
                end - at, {name: cost[own] for name, cost in costs.items()},
                None if dates is None else dates[at:end],
            )  # fmt: skip
            if self.inputs is not None and values is not None:
                span.columns = self.inputs.counted(span.columns, values[at:end])
            at = end

    def _halve(self) -> None:
        """Each two windows become one."""
        for first, second in zip(self.spans[::2], self.spans[1::2], strict=True):
            first.join(second)
        self.spans, self.length = self.spans[::2], 2 * self.length

    def ends(self) -> list[int]:
        """The number of the last row of each window, from 1."""
        return list(np.cumsum([span.rows for span in self.spans], dtype=int).tolist())

    def means(self, name: str) -> list[float | None]:
        """The mean of a cost in each window; None where it is not known."""
        return [span.mean(name) for span in self.spans]

    def described(self) -> dict[str, Any]:
        """The same as plain values, for a file."""
        return asdict(self)

    @classmethod
    def restored(cls, described: Any) -> Windows:
        """What `described` told of; InputError where it can be no such thing."""
        try:
            given = {"inputs": None, **described}
            inputs = None if given["inputs"] is None else Inputs.restored(given["inputs"])
            spans = [Span(**span) for span in given["spans"]]
            windows = cls(**{**given, "spans": spans, "inputs": inputs})
            for span in spans:
                if span.columns is not None:
                    span.columns = Columns.restored(span.columns, inputs)
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(f"windows: not what is written of windows: {error}") from error
        windows._check()
        return windows

    def _check(self) -> None:
        if type(self.length) is not int or self.length not in _LENGTHS:
            raise InputError(f"windows: not of {self.length!r:.40} rows each")
        for span in self.spans:
            span.check("windows")
        full = all(span.rows == self.length for span in self.spans[:-1])
        last = self.spans[-1].rows if self.spans else 1
        fewest = MOST // 2 if self.length > FIRST else 0
        if not (full and 0 < last <= self.length and fewest < len(self.spans) + 1 <= MOST + 1):
            raise InputError(f"windows: not of {self.length} rows where there are {self.rows}")


@dataclass
class Past(Span):
    """Data that a model has learned from.

    Attributes
    ----------
    name : of the data; None where it was not recorded
    first, digest : of the first row and of all rows met, by `RowDigest`; "" where not recorded
    data : how many data these are: those of long ago are put together
    rows, judged, sums, began, ended : as `Span` has them
    """

    name: str | None = None
    first: str = ""
    digest: str = ""
    data: int = 1

    @property
    def loss(self) -> float | None:
        """Mistakes, or squared errors, of the judged rows; None where they were not recorded."""
        return self.sums.get("loss")

    def check(self, what: str = "past") -> None:
        """InputError where a value is of no kind that it can be."""
        super().check(what)
        expect(f"{what}: name", self.name, str, NoneType)
        for name in ("first", "digest"):
            expect(f"{what}: {name}", getattr(self, name), str)
        if not (is_count(self.data) and self.data):
            raise InputError(f"{what}: expected a number of data from 1, got {shown(self.data)}")
        if self.columns is not None:
            raise InputError(f"{what}: expected null as columns")


def shortened(past: Sequence[Past]) -> list[Past]:
    """The same, with those of long ago put together where they are more than 400.

    Examples
    --------
    >>> days = shortened([Past(10, 10, {"loss": 1}, name=f"day {i}") for i in range(1000)])
    >>> len(days), days[0].data, days[0].rows, days[0].loss, days[1].name
    (400, 601, 6010, 601, 'day 601')
    """
    if len(past) <= MOST_DATA:
        return list(past)
    cut = len(past) - MOST_DATA + 1
    return [together(past[:cut]), *past[cut:]]


def together(past: Sequence[Past]) -> Past:
    """Several data as one; a cost that one of them lacks is not known of all."""
    found = Past(data=sum(one.data for one in past))
    for one in past:
        found.join(one)
    return found


def read_past(given: Any) -> list[Past]:
    """What a file says of the data learned from.

    Raises
    ------
    InputError
        It is nothing that can be said of them.
    """
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InputError(f"past: expected a list of objects, got {shown(given)}")
    past = [Past(**one) for one in given]
    for one in past:
        one.check()
    return past
