"""Adaptive kernel selection: Hong, Chae (2020), equations 23 to 30, remark 1, gamma = 2."""

from itertools import combinations
from math import comb

import numpy as np

from . import draws

SUBSET = 5  # the purpose of these draws


def collection(P, K, seed, round_):
    """Omega(J, K): subsets of 0 ... P - 1 that hold every one of them equally often.

    All of size K where there are at most 2 P; else 2 P bins, into which each of the P balls is
    thrown 2 K times, into distinct ones. Draw 0 of the round is kept for the choice among them.
    """
    if comb(P, K) <= 2 * P:
        return [list(subset) for subset in combinations(range(P), K)]
    bins = [[] for _ in range(2 * P)]
    order, number = list(range(2 * P)), 0
    for ball in range(P):
        for k in range(2 * K):  # a shuffle of the bins, as far as it is needed
            number += 1
            u = draws.uniform(seed, round_, SUBSET * 2**20 + number)
            other = k + int(u * (2 * P - k))
            order[k], order[other] = order[other], order[k]
            bins[order[k]].append(ball)
    return bins


def size_of(weights, ratio):
    """K, equation 23."""
    return sum(w / max(weights) > ratio for w in weights)


def chances(subsets, weights):
    """alpha, equation 29."""
    sums = np.array([sum(weights[i] for i in subset) for subset in subsets], dtype=float)
    return sums / sums.sum()


def draw(weights, ratio, seed, round_):
    """(P,) bool: one subset, drawn by `chances`."""
    P = len(weights)
    subsets = collection(P, size_of(weights, ratio), seed, round_)
    u = draws.uniform(seed, round_, SUBSET * 2**20)
    passed = np.cumsum(chances(subsets, weights))
    chosen = subsets[int(np.flatnonzero(passed > u)[0])]
    return np.array([i in chosen for i in range(P)])
