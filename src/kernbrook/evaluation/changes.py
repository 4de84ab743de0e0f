"""When errors change: a detector in memory of fixed size, which says where the change was."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.evaluation.measures import LARGEST_SUM, NO_DATE, added
from kernbrook.plain_values import Count, Size

DOUBT = 0.002  # the probability of a false signal, as the paper bounds it
UNIT = 32  # rows that are summed before a change is looked for
SAME_SIZE = 5  # buckets
SETTLING = 8  # units after which errors of numbers have a scale
KEPT = 20  # changes

_Sum = Annotated[float, -COUNTED, COUNTED]
_Root = Annotated[float, 0, 1e200]  # of squared errors


@dataclass
class Change:
    """A change of the mean loss, as `Changes` finds it.

    Attributes
    ----------
    row : the first row after it, from 1
    date : of that row, microseconds since 1970; None where it has none
    noticed : the row at which it was noticed
    before, after : the mean loss of the rows before, since the last change, and after
    rose : whether what the method compares rose, in which great squared errors count little; None
        where that was not recorded
    """

    row: Count
    date: int | None
    noticed: Count
    before: Size
    after: Size
    rose: bool | None = None


@dataclass
class Bucket:
    """Rows that follow each other."""

    first: Count  # number of the first row, from 1
    date: int | None  # of that
    rows: Annotated[int, 1, COUNTED] = 0  # some, once they are in a file
    loss: Size = 0.0  # the sum
    total: _Sum = 0.0  # of numbers from 0 to 1
    squares: _Sum = 0.0  # of these about their mean

    def add(self, losses: NDArray[Any], bounded: NDArray[np.float64]) -> None:
        """Take in more rows, one after the other: the length of a chunk does not matter."""
        self.loss = min(added(self.loss, losses.astype(np.float64)), LARGEST_SUM)
        for value in bounded.tolist():
            self.rows += 1
            mean = self.total / max(self.rows - 1, 1)
            self.total += value
            self.squares += (value - mean) * (value - self.total / self.rows)

    def join(self, other: Bucket) -> None:
        apart = self.total / self.rows - other.total / other.rows
        both = self.rows + other.rows
        self.squares += other.squares + apart**2 * self.rows * other.rows / both
        self.loss = min(self.loss + other.loss, LARGEST_SUM)
        self.total += other.total
        self.rows = both


@dataclass
class Changes:
    """ADWIN on losses: the longest window of rows in which no two parts differ in their means.

    The window is a list of buckets of 32, 64, 128, ... rows, up to six of each size. Where it can
    be cut between two buckets so that the means on both sides differ by more than chance allows,
    there was a change, and the older side is forgotten; of several such cuts it is the one that is
    the farthest beyond chance. Of classes the means are those of mistakes. Squared errors have no
    bound, which the method needs: there the means are those of e² / (e² + s²), where s² is the mean
    of e² over 256 rows at the beginning and after each change, which are not looked at. So the
    scale of the labels does not matter, a few great errors are no change, and neither is it where
    errors that are small beside s move together, as where most labels are 0.

    Parameters
    ----------
    numbers : whether losses are squared errors; else mistakes
    kept : changes that are kept; None for all

    Attributes
    ----------
    n_changes : found so far
    found : the last of them
    scale, settling, buckets : the state, which goes into a model's file

    References
    ----------
    Bifet, Gavalda (2007), Learning from time-changing data with adaptive windowing, SDM: ADWIN2
    with the bound for small variance, and delta' = delta / ln n.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> changes = Changes(numbers=False)
    >>> changes.add(rng.random(4000) < np.repeat([0.1, 0.3], 2000), np.arange(4000) + 1)
    >>> [(change.row, round(change.before, 2), round(change.after, 2)) for change in changes.found]
    [(1985, 0.1, 0.31)]
    """

    numbers: bool
    kept: int | None = KEPT
    n_changes: Count = 0
    found: list[Change] = field(default_factory=list)
    scale: _Root = 0.0  # the root of the mean of e²; 0 where it is not known yet
    settling: _Root = 0.0  # the root of the sum of e² of the rows that are not looked at
    buckets: list[Bucket] = field(default_factory=list)  # the last one may not be full

    def add(
        self, losses: NDArray[Any], rows: NDArray[np.int64], dates: NDArray[np.int64] | None = None
    ) -> None:
        """Take in the losses of more rows, (n,), their numbers from 1, and their dates or None."""
        at = 0
        while at < len(losses):
            if not self.buckets or self.buckets[-1].rows >= UNIT:
                date = None if dates is None or dates[at] == NO_DATE else int(dates[at])
                self.buckets.append(Bucket(int(rows[at]), date))
            last = self.buckets[-1]
            piece = losses[at : at + UNIT - last.rows]
            last.add(piece, self._bounded(piece))
            at += len(piece)
            if last.rows == UNIT:
                self._look(int(rows[at - 1]))

    def _bounded(self, losses: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers from 0 to 1 that rise with the losses."""
        if not self.numbers:
            return losses.astype(np.float64)
        sizes = np.sqrt(losses)
        if self.scale == 0.0:
            self.settling = reduce(math.hypot, sizes.tolist(), self.settling)
            return np.zeros(len(sizes))
        return np.asarray((sizes / np.hypot(sizes, self.scale)) ** 2)

    def _look(self, row: int) -> None:
        """Once a bucket is full at a row: can the window be cut? Then its buckets are merged."""
        if self.numbers and self.scale == 0.0:
            if len(self.buckets) < SETTLING:
                return
            self.scale = self.settling / math.sqrt(SETTLING * UNIT) or 1.0
            self.settling, self.buckets = 0.0, []
            return
        while (cut := self._cut()) is not None:
            before, after = self.buckets[:cut], self.buckets[cut:]
            self.n_changes += 1
            parts = (before, after)
            losses = (min(sum(bucket.loss for bucket in part), LARGEST_SUM) for part in parts)
            old, new = (loss / _rows(part) for loss, part in zip(losses, parts, strict=True))
            low, high = (sum(bucket.total for bucket in part) / _rows(part) for part in parts)
            change = Change(after[0].first, after[0].date, row, old, new, low < high)
            self.found = [*self.found, change][-(self.kept or 0) :]
            self.buckets = after
            if self.numbers:
                self.scale, self.buckets = 0.0, []
        self._merge()

    def _cut(self) -> int | None:
        """The first bucket after the change that is farthest beyond chance; None without one."""
        if len(self.buckets) < 2:
            return None
        rows, totals, squares = np.array(
            [[bucket.rows, bucket.total, bucket.squares] for bucket in self.buckets]
        ).T
        n, total = rows.sum(), totals.sum()
        variance = (squares + rows * (totals / rows - total / n) ** 2).sum() / n
        first, sums = np.cumsum(rows)[:-1], np.cumsum(totals)[:-1]
        apart = np.abs(sums / first - (total - sums) / (n - first))
        share = 1 / first + 1 / (n - first)
        if self.numbers:  # errors that follow each other: means of buckets differ by more than rows
            within = (totals**2 / rows).sum() - sums**2 / first - (total - sums) ** 2 / (n - first)
            variance = np.maximum(variance, within / max(len(rows) - 2, 1))
        sure = math.log(2 * math.log(n) / DOUBT)
        beyond = apart - np.sqrt(2 * share * variance * sure) - 2 / 3 * share * sure
        best = int(beyond.argmax())
        return best + 1 if beyond[best] > 0 else None

    def _merge(self) -> None:
        """Where there are more than five buckets of a size, the two oldest of them become one."""
        size, place = UNIT, len(self.buckets)
        while True:
            begin = place
            while begin and self.buckets[begin - 1].rows == size:
                begin -= 1
            if place - begin <= SAME_SIZE:
                return
            self.buckets[begin].join(self.buckets.pop(begin + 1))
            size, place = 2 * size, begin + 1


def _rows(buckets: list[Bucket]) -> int:
    return sum(bucket.rows for bucket in buckets)
