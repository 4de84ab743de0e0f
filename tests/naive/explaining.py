"""Contributions from their definition, a set of columns at a time."""

from itertools import combinations
from math import factorial

import numpy as np


def shapley_values(score, x, background, groups):
    """Of each group of places the weighted mean of what it adds to every set of the others.

    Shapley (1953); a set's value is the mean score of rows that have its places of x, and the
    others of a row of the background (Strumbelj and Kononenko, 2014, equation 1).
    """
    columns = sorted(set(groups))
    n = len(columns)

    def value(chosen):
        total = 0.0
        for other in background:
            row = [a if g in chosen else b for a, b, g in zip(x, other, groups, strict=True)]
            total += score(np.array(row))
        return total / len(background)

    found = []
    for column in columns:
        others = [c for c in columns if c != column]
        adds = 0.0
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for chosen in combinations(others, size):
                adds += weight * (value({*chosen, column}) - value(set(chosen)))
        found.append(adds)
    return found, value(set())
