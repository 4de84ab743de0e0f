"""What predictions cost: sums over rows, and how they rank, of which measures are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.estimators.tasks import Learned
from kernbrook.evaluation.measuring.by_task import added, losses

SMALLEST_CHANCE = float(np.finfo(np.float64).eps)  # that counts in a log loss, as in scikit-learn

STEPS = 64  # bins for each doubling of a score's size
LEAST, MOST = -32, 32  # powers of two between which sizes of scores are told apart
HALF = STEPS * (MOST - LEAST)
BINS = 2 * HALF + 1
_UNUSUAL = "roc: expected bins, each with its numbers of labels of both classes"

# What each row costs, by the name of the cost; the means of costs are measures, or lead to them.
Costs = dict[str, NDArray[Any]]


def costs_of_classes(numbers: NDArray[np.int64], said: NDArray[Any], chances: Any) -> Costs:
    """What rows cost whose labels are classes.

    Parameters
    ----------
    numbers : (n,) of the classes of the labels, from 0
    said : (n,) of the classes predicted
    chances : (n, c) probabilities, or None

    Returns
    -------
    "error", bool; with probabilities "log_loss", of which none is below 2^-52
    """
    costs: Costs = {"error": losses(said, numbers, "classification")}
    if chances is not None:
        own = chances[np.arange(len(numbers)), numbers]
        costs["log_loss"] = -np.log(np.clip(own, SMALLEST_CHANCE, 1 - SMALLEST_CHANCE))
    return costs


def costs_of_numbers(y: NDArray[Any], said: NDArray[Any], intervals: Any) -> Costs:
    """What rows cost whose labels are numbers.

    Parameters
    ----------
    y : (n,) labels
    said : (n,) numbers predicted
    intervals : (n, 2), or None

    Returns
    -------
    "squared" and "absolute" errors; with intervals "covered", bool, and "width"
    """
    with np.errstate(over="ignore"):
        costs: Costs = {"squared": losses(said, y, "regression"), "absolute": np.abs(said - y)}
    if intervals is not None:
        low, high = intervals.T
        costs |= {"covered": (low <= y) & (y <= high), "width": high - low}
    return costs


class Roc:
    """How scores of two classes are ranked: how often each size of score came with each label.

    Bins are 1.1 to 1.6 % of a score wide, so scores of any unit will do. Scores in one bin count as
    equal. That is exact where each bin has labels of one class, and never off by more than `doubt`:
    of probabilities of real streams, by their log odds, the area is off by 0.0001 or less.

    Attributes
    ----------
    counts : (2, BINS) int, labels of each class with a score in each bin

    Examples
    --------
    >>> roc = Roc()
    >>> roc.add(np.array([0, 0, 1, 1]), np.array([-2.0, 0.5, 0.4, 3.0]))
    >>> roc.area()
    0.75
    """

    def __init__(self) -> None:
        self.counts = np.zeros((2, BINS), dtype=np.int64)

    def add(self, labels: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Count labels, (n,) 0 or 1, with their scores, (n,), greater for 1; none may be NaN."""
        bins = bins_of(scores)
        for label in (0, 1):
            self.counts[label] += np.bincount(bins[labels == label], minlength=BINS)

    def area(self) -> float:
        """The share of pairs of unlike labels that are ranked rightly; NaN without such pairs.

        Pairs in one bin count half.
        """
        negative, positive = self.counts.astype(np.float64)
        below = np.cumsum(negative) - negative
        return _share(positive @ (below + negative / 2), negative, positive)

    def doubt(self) -> float:
        """How far the area may be from that of the scores themselves, at most."""
        negative, positive = self.counts.astype(np.float64)
        return _share(positive @ negative / 2, negative, positive)

    def described(self) -> list[list[int]]:
        """The bins that have labels, for a file: number, labels of class 0 and of class 1."""
        where = np.flatnonzero(self.counts.any(axis=0))
        return np.column_stack([where, *self.counts[:, where]]).tolist()

    @classmethod
    def restored(cls, described: Any) -> Roc:
        """What `described` told of; InputError where it can be no such thing."""
        roc = cls()
        if not isinstance(described, list):
            raise InputError(_UNUSUAL)
        for entry in described:
            if not _is_entry(entry):
                raise InputError(_UNUSUAL)
            roc.counts[:, entry[0]] = entry[1:]
        return roc


def bins_of(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) the numbers of the bins of scores, (n,), from 0: they rise with the scores."""
    sizes = np.abs(scores)
    mantissas, powers = np.frexp(np.where(np.isfinite(sizes), sizes, 2.0**MOST))
    steps = (powers - 1 - LEAST) * STEPS + np.floor((2 * mantissas - 1) * STEPS)
    places = 1 + np.clip(steps, 0, HALF - 1).astype(np.int64)
    return np.asarray(HALF + np.sign(scores).astype(np.int64) * places)


def _share(pairs: Any, negative: NDArray[np.float64], positive: NDArray[np.float64]) -> float:
    every = negative.sum() * positive.sum()
    return float(pairs / every) if every else math.nan


def _is_entry(entry: Sequence[Any]) -> bool:
    whole = isinstance(entry, list) and len(entry) == 3 and all(type(one) is int for one in entry)
    return whole and 0 <= entry[0] < BINS and all(0 <= one < 2**53 for one in entry[1:])


@dataclass
class Account:
    """What one who predicts has cost so far: sums over rows, in any chunks.

    Attributes
    ----------
    rows : that were counted
    sums : of each cost, by its name; of widths of intervals those that are finite
    counts : rows of each of the sums
    roc : of two classes, where there are probabilities or scores
    """

    rows: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    roc: Roc | None = None

    def add(self, costs: Costs) -> None:
        """Count more rows."""
        for name, values in costs.items():
            values = values[np.isfinite(values)] if name == "width" else values
            self.sums[name] = added(self.sums.get(name, 0), values)
            self.counts[name] = self.counts.get(name, 0) + len(values)
        self.rows += len(next(iter(costs.values())))

    def rank(self, numbers: NDArray[np.int64], said: Learned) -> None:
        """Count how rows of two classes, 0 and 1, are ranked: by log odds, else by scores."""
        scores = said.scores
        if said.probabilities is not None:
            with np.errstate(divide="ignore"):
                scores = np.subtract(*np.log(said.probabilities.T[::-1]))
        if scores is not None and not np.isnan(scores).any():
            self.roc = self.roc or Roc()
            self.roc.add(numbers, scores.ravel())
            self.counts["ranked"] = self.counts.get("ranked", 0) + len(numbers)

    def values(self) -> dict[str, float]:
        """The measures that all rows have, by name; error and coverage as shares.

        With "coverage" comes "width", the mean width of the intervals that are finite.
        """
        full = {name for name, count in self.counts.items() if 0 < count == self.rows}
        means = {name: self.sums[name] / self.rows for name in full & self.sums.keys()}
        found: dict[str, float] = {k: means[k] for k in ("error", "log_loss") if k in means}
        if self.roc is not None and "ranked" in full:
            found["auc"] = self.roc.area()
        if "squared" in means:
            found["mse"], found["rmse"] = means["squared"], math.sqrt(means["squared"])
        for name, cost in (("mae", "absolute"), ("coverage", "covered")):
            if cost in means:
                found[name] = means[cost]
        if finite := self.counts.get("width"):
            found["width"] = self.sums["width"] / finite
        return found

    def described(self) -> dict[str, Any]:
        """What was counted as plain values, for a file."""
        return {**vars(self), "roc": None if self.roc is None else self.roc.described()}

    @classmethod
    def restored(cls, described: Any) -> Account:
        """What `described` told of; InputError where it can be no such thing."""
        problem = "measures: expected rows, sums, counts and roc of predictions"
        if not (isinstance(described, dict) and described.keys() == vars(cls()).keys()):
            raise InputError(problem)
        account = cls(**described)
        rows, sums, counts = account.rows, account.sums, account.counts
        if not (type(rows) is int and type(sums) is type(counts) is dict):
            raise InputError(problem)
        if not all(type(n) is int and 0 <= n <= rows for n in counts.values()) or not all(
            type(one) in (int, float) and 0 <= one < math.inf for one in sums.values()
        ):
            raise InputError(problem)
        if sums.keys() != counts.keys() - {"ranked"}:
            raise InputError(problem)
        account.roc = None if described["roc"] is None else Roc.restored(described["roc"])
        return account
