"""The area under the ROC curve of a stream, in memory of fixed size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError

STEPS = 64  # bins for each doubling of a score's size
LEAST, MOST = -32, 32  # powers of two between which sizes of scores are told apart
HALF = STEPS * (MOST - LEAST)
BINS = 2 * HALF + 1
_UNUSUAL = "roc: expected bins, each with its numbers of labels of both classes"


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
