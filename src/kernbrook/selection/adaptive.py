"""Experts drawn ahead of a round by their weights: adaptive kernel selection."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from kernbrook.checks import Number, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.progress import ROUND, SEED
from kernbrook.engine.verbs import choose_next, expect, select
from kernbrook.numerics.draws import DRAW_SUBSET, PURPOSE, uniform


@parameters
class AdaptiveSelection(BaseEstimator):
    """AKS: the prediction is formed by a subset of the experts, drawn anew after every label.

    With w_i relative to the greatest weight and K = #{i : w_i > ratio}, a subset is drawn with
    probability in proportion to the sum of its weights: out of all subsets of size K, where there
    are at most 2 m of them, else out of 2 m bins into which each expert was put 2 K times, the bins
    drawn uniformly and all different. Within the subset the weights count as they are. All experts
    learn.

    Parameters
    ----------
    ratio : float in [0, 1), delta of the paper

    References
    ----------
    Hong and Chae (2020), Active learning with multiple kernels, algorithm 1 and remark 1, with
    gamma as in equation 58.

    Examples
    --------
    >>> AdaptiveSelection(ratio=0.5)
    AdaptiveSelection(ratio=0.5)
    """

    choice = "selection"
    draws_updates = False
    ratio: Annotated[float, Number(0, 1, "[)")] = 0.8

    def rule(self) -> AdaptiveRule:
        return AdaptiveRule(self.ratio)


class AdaptiveRule(NamedTuple):
    """ratio : to the greatest weight."""

    ratio: float


@select.of(AdaptiveRule)
def _select_drawn_before(selection, progress, weights, votes, updates):
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
        updates[e] = True


@expect.of(AdaptiveRule)
def _expect_drawn_before(selection, progress, weights, votes):
    for e in range(votes.shape[0]):
        votes[e] = weights[e] if progress.used[e] else 0.0
    return votes.shape[0] == 1


@choose_next.of(AdaptiveRule)
def _draw_next(selection, progress):
    seed, round_ = progress.counters[SEED], progress.counters[ROUND]
    draw_subset(progress.log_weights, selection.ratio, seed, round_, progress.used)


@njit(cache=True, nogil=True)
def binomial(n, k, limit):
    """n over k, or limit + 1 where it is more than limit."""
    k = min(k, n - k)
    value = 1
    for i in range(k):
        value = value * (n - i) // (i + 1)
        if value > limit:
            return limit + 1
    return value


@njit(cache=True, nogil=True)
def draw_subset(log_weights, ratio, seed, round_, used):
    """Draw a subset of the P experts: Hong and Chae (2020), remark 1 and equations 23 to 30.

    K is the number of experts whose weight is above `ratio` times the greatest. The subsets drawn
    from are all of size K, if they are at most 2 P; else 2 P bins, with each expert in 2 K of
    them, drawn uniformly. A subset's chance is in proportion to the sum of its weights.

    log_weights : (P,), the greatest 0; used : (P,) bool, out
    """
    experts = log_weights.shape[0]
    weights = np.empty(experts)
    size = 0
    for e in range(experts):
        weights[e] = math.exp(log_weights[e])
        size += weights[e] > ratio
    first = DRAW_SUBSET * PURPOSE
    u = uniform(seed, round_, first)
    for e in range(experts):
        used[e] = False
    if binomial(experts, np.int64(size), 2 * experts) <= 2 * experts:
        _one_of_all(weights, size, u, used)
    else:
        _one_of_bins(weights, size, u, seed, round_, first + 1, used)


@njit(cache=True, nogil=True)
def _one_of_all(weights, size, u, used):
    """Draw one of all subsets of a size, in lexicographic order."""
    experts = weights.shape[0]
    members = np.empty(size, dtype=np.int64)
    total, left = 0.0, 0.0
    for count in range(2):  # the first time for the total
        left = u * total
        for k in range(size):
            members[k] = k
        i = 0
        while i >= 0:
            weight = 0.0
            for k in range(size):
                weight += weights[members[k]]
            if count == 0:
                total += weight
            else:
                left -= weight
                if left < 0.0:
                    break
            i = size - 1
            while i >= 0 and members[i] == experts - size + i:
                i -= 1
            if i >= 0:
                members[i] += 1
                for k in range(i + 1, size):
                    members[k] = members[k - 1] + 1
    for k in range(size):
        used[members[k]] = True


@njit(cache=True, nogil=True)
def _one_of_bins(weights, size, u, seed, round_, slot, used):
    """Draw one of 2 P bins, with each expert in 2 `size` of them."""
    experts = weights.shape[0]
    bins, each = 2 * experts, 2 * size
    held = np.zeros((bins, experts), dtype=np.bool_)
    sums = np.zeros(bins)
    order = np.empty(bins, dtype=np.int64)
    for s in range(bins):
        order[s] = s
    total = 0.0
    for e in range(experts):
        total += each * weights[e]
        for k in range(each):  # the first `each` of a shuffle
            other = k + int(uniform(seed, round_, slot) * (bins - k))
            slot += 1
            order[k], order[other] = order[other], order[k]
            held[order[k], e] = True
            sums[order[k]] += weights[e]
    left = u * total
    chosen = 0
    for s in range(bins):
        if sums[s] > 0.0:
            chosen = s
            left -= sums[s]
            if left < 0.0:
                break
    for e in range(experts):
        used[e] = held[chosen, e]
