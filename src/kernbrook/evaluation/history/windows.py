"""What rows cost: in windows whose number is bounded, and by data."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.evaluation.measuring.by_task import added
from kernbrook.plain_values import Count, Size

MOST = 16  # windows
MOST_DATA = 400  # data that are told apart: a year of days, and a month
FIRST = 16  # rows of each, at first
LARGEST = sys.float_info.max  # sum: no file can hold infinity
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
    """

    rows: Count = 0
    judged: Count = 0
    sums: dict[str, Size] = field(default_factory=dict)
    began: int | None = None
    ended: int | None = None

    def add(self, rows: int, costs: Mapping[str, NDArray[Any]], dates: Any = None) -> None:
        """Take in more rows, what the judged ones of them cost, and the dates, (n,) or None."""
        self.rows += rows
        if judged := len(next(iter(costs.values()), ())):
            names = self._in_common(costs)
            sums = {name: added(self.sums.get(name, 0), costs[name]) for name in names}
            self.sums = {name: min(total, LARGEST) for name, total in sums.items()}
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
            sums = {name: self.sums.get(name, 0) + other.sums[name] for name in names}
            self.sums = {name: min(total, LARGEST) for name, total in sums.items()}
            self.judged += other.judged
        if other.began is not None and other.ended is not None:
            self._over(other.began, other.ended)

    def _over(self, began: int, ended: int) -> None:
        self.began = began if self.began is None else min(began, self.began)
        self.ended = ended if self.ended is None else max(ended, self.ended)

    def mean(self, name: str) -> float | None:
        """The mean of a cost over the judged rows; None where it is not known."""
        return self.sums[name] / self.judged if self.judged and name in self.sums else None


@dataclass
class Windows:
    """Spans of one length; the last one may not be full.

    Where 16 are full and one more row comes, each two become one. So from the 129th row on there
    are 9 to 16 of them, and they do not depend on where chunks end.

    Attributes
    ----------
    length : rows of a window
    spans : the windows

    Examples
    --------
    >>> windows = Windows()
    >>> windows.add(300, {"loss": np.arange(300) < 30})
    >>> windows.length, [span.sums["loss"] for span in windows.spans]
    (32, [30, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> [round(mean, 2) for mean in windows.means("loss")[:2]]
    [0.94, 0.0]
    """

    length: Annotated[int, 1, COUNTED] = FIRST
    spans: list[Span] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """That were met."""
        return sum(span.rows for span in self.spans)

    def add(
        self,
        rows: int,
        costs: Mapping[str, NDArray[Any]],
        judged: NDArray[np.int64] | None = None,
        dates: NDArray[np.int64] | None = None,
    ) -> None:
        """Take in more rows.

        Parameters
        ----------
        rows : how many, n
        costs : of the judged ones, (k,) each, by name
        judged : (k,) their numbers, rising from 0; None: all are
        dates : (n,) microseconds since 1970, `NO_DATE` where there is none; None without dates
        """
        judged, at = np.arange(rows) if judged is None else judged, 0
        while at < rows:
            if len(self.spans) >= MOST and self.spans[-1].rows >= self.length:
                self._halve()
            if not self.spans or self.spans[-1].rows >= self.length:
                self.spans.append(Span())
            span = self.spans[-1]
            end = min(rows, at + self.length - span.rows)
            own = slice(*np.searchsorted(judged, [at, end]))
            span.add(
                end - at, {name: cost[own] for name, cost in costs.items()},
                None if dates is None else dates[at:end],
            )  # fmt: skip
            at = end

    def _halve(self) -> None:
        """Each two windows become one."""
        for first, second in zip(self.spans[::2], self.spans[1::2], strict=False):
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
    data: Annotated[int, 1, COUNTED] = 1

    @property
    def loss(self) -> float | None:
        """Mistakes, or squared errors, of the judged rows; None where they were not recorded."""
        return self.sums.get("loss")


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
