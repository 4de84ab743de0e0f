"""Models of the same choices that have learned apart, brought together.

Sums over examples add up: what the models had in common before counts once. Other numbers are
averaged, each model's by its share of the labels. So are kernel expansions, which are then cut back
to their budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.gram.rows import DenseRows, keys_of
from kernbrook.gram.stored_points import StoredPoints

RIDGE = 5e-4  # of a projection, beside k(x, x): that of Liao et al. (2024), algorithm 2


class Apart(NamedTuple):
    """Arrays, or tuples of arrays, of s models.

    each : of the models; before : of what they had in common; shares : (s,) of the labels since
    """

    each: Sequence[Any]
    before: Any
    shares: Floats

    def over(self, function: Callable[[Any], Any]) -> Apart:
        """The results of a function for each."""
        return Apart([function(item) for item in self.each], function(self.before), self.shares)

    def of(self, name: str) -> Apart:
        """An attribute of each."""
        return self.over(attrgetter(name))

    def added(self) -> Any:
        """Sums over examples."""
        return self.before + sum(item - self.before for item in self.each)

    def averaged(self) -> Any:
        """The means of numbers that are no sums, each model's by its share."""
        return sum(share * item for share, item in zip(self.shares, self.each, strict=True))

    def newest(self, most: int) -> Any:
        """The last rows that the models keep, of all models in turn, oldest first."""
        shares = np.maximum(self.shares, 1e-9)
        pairs = zip(shares, self.each, strict=True)
        ages = [np.arange(len(ring), 0, -1) / share for share, ring in pairs]
        order = np.argsort(-np.concatenate(ages), kind="stable")[-most:]
        return np.concatenate(self.each)[order]


def oldest_first(ring: Any, seen: int) -> Any:
    """The values of a ring, (n, ...), in which the t-th stands at t modulo its length."""
    return ring[np.arange(max(seen - len(ring), 0), seen) % len(ring)]


class Weighing(NamedTuple):
    """The state of a combiner: (e,) logarithms of weights, and what else it keeps."""

    log_weights: Floats
    state: Floats


@singledispatch
def weigh_together(combiner: Any, apart: Apart) -> Weighing:
    """The `Weighing` that a combiner's rule makes of those of several models."""
    raise InputError("merge: the weights of this combiner belong to one stream")


@singledispatch
def descend_together(rule: Any, apart: Apart) -> tuple[Floats, Floats]:
    """The theta and extra that a learner's rule makes of several `Coefficients`."""
    raise InputError("merge: what this learner has learned belongs to one stream")


@singledispatch
def remember_together(rule: Any, memory: Apart, square: Callable[[], float], scores: int) -> Floats:
    """The (3,) memory that a budgeted learner's rule makes of those of several models.

    square : gives |f|^2 of their function, the sum over its scores
    """
    return np.asarray(memory.added())


def added_weights(apart: Apart) -> Weighing:
    """Weights by losses so far, and sums over rounds."""
    return _weighed(apart, Apart.added)


def averaged_weights(apart: Apart) -> Weighing:
    """Weights by losses of late."""
    return _weighed(apart, Apart.averaged)


def _weighed(apart: Apart, united: Callable[[Apart], Any]) -> Weighing:
    """The greatest 0; a weight of 0 has an infinite logarithm, and all are equal where all are."""
    with np.errstate(invalid="ignore"):
        log_weights = united(apart.of("log_weights"))
    log_weights[np.isnan(log_weights)] = -np.inf
    greatest = log_weights.max()
    log_weights = log_weights - greatest if greatest > -np.inf else np.zeros_like(log_weights)
    return Weighing(log_weights, united(apart.of("state")))


def inverse_of(matrix: Floats) -> Floats:
    """The inverse; where there is none, after weights beyond rounding, the nearest thing to it."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True))


class UnitedPoints(NamedTuple):
    """The points of several expansions, equal ones once.

    points : with no coefficients
    places : of each expansion, the numbers of its points among them
    coefficients : (n, ...) averaged
    """

    points: StoredPoints
    places: list[Ints]
    coefficients: Floats


def unite_points(width: int, sparse: bool, apart: Apart) -> UnitedPoints:
    """apart : (points, (n, ...) coefficients) of each model."""
    points, known = StoredPoints(0, width, sparse), np.empty(0, dtype=np.int64)
    found = []
    for rows, _ in apart.each:
        dense = isinstance(rows, DenseRows)
        keys = keys_of(rows.X if dense else sp.csr_matrix(rows.csr(), shape=(len(rows), width)))
        unique, first = np.unique(keys, return_index=True)
        new = np.sort(first[~np.isin(unique, known)])
        points = points.appended(rows, new, np.zeros((len(new), 0)))
        known = np.concatenate([known, keys[new]])
        found.append(keys)
    order = np.argsort(known)
    places = [order[np.searchsorted(known, keys, sorter=order)] for keys in found]
    total = np.zeros((len(known), *apart.each[0][1].shape[1:]))
    for (_, coefficients), share, where in zip(apart.each, apart.shares, places, strict=True):
        np.add.at(total, where, share * coefficients)
    return UnitedPoints(points, places, total)
