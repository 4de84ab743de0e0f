"""Adaptive kernel selection: which experts form the next prediction."""

import numpy as np
from numba import njit

from kernbrook._jit.draws import DRAW_SUBSET, PURPOSE, uniform


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
def draw_subset(weights, ratio, seed, round_, used):
    """Draw a subset of the P experts: Hong and Chae (2020), remark 1 and equations 23 to 30.

    K is the number of experts whose weight is above `ratio` times the greatest. The subsets drawn
    from are all of size K, if they are at most 2 P; else 2 P bins, with each expert in 2 K of
    them, drawn uniformly. A subset's chance is in proportion to the sum of its weights.

    weights : (P,), the greatest 1; used : (P,) bool, out
    """
    experts = weights.shape[0]
    size = 0
    for e in range(experts):
        size += weights[e] > ratio
    first = DRAW_SUBSET * PURPOSE
    u = uniform(seed, round_, first)
    used[:] = False
    if binomial(experts, size, 2 * experts) <= 2 * experts:
        _one_of_all(weights, size, u, used)
    else:
        _one_of_bins(weights, size, u, seed, round_, first + 1, used)


@njit(cache=True, nogil=True)
def _one_of_all(weights, size, u, used):
    """One of all subsets of that size, in lexicographic order."""
    experts = weights.shape[0]
    members = np.arange(size)
    total = 0.0
    for count in range(2):  # the first time for the total
        left = u * total
        members[:] = np.arange(size)
        while True:
            weight = np.sum(weights[members])
            if count == 0:
                total += weight
            else:
                left -= weight
            i = size - 1
            while i >= 0 and members[i] == experts - size + i:
                i -= 1
            if i < 0 or (count == 1 and left < 0.0):
                break
            members[i] += 1
            for k in range(i + 1, size):
                members[k] = members[k - 1] + 1
    used[members] = True


@njit(cache=True, nogil=True)
def _one_of_bins(weights, size, u, seed, round_, slot, used):
    """One of 2 P bins, with each expert in 2 `size` of them."""
    experts = weights.shape[0]
    bins, each = 2 * experts, 2 * size
    held = np.zeros((bins, experts), dtype=np.bool_)
    sums = np.zeros(bins)
    order = np.arange(bins)
    for e in range(experts):
        for k in range(each):  # the first `each` of a shuffle
            other = k + int(uniform(seed, round_, slot) * (bins - k))
            slot += 1
            order[k], order[other] = order[other], order[k]
            held[order[k], e] = True
            sums[order[k]] += weights[e]
    left = u * np.sum(sums)
    chosen = -1
    for s in range(bins):
        if sums[s] > 0.0:
            chosen = s
            left -= sums[s]
            if left < 0.0:
                break
    used[:] = held[chosen]
