"""Importance and contributions from their definitions, a row and a column at a time."""

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


def importances(loss, X, y, groups, stretches, repeats, generator):
    """(columns, repeats) by how much the loss grows, a column at a time, all rows in each repeat.

    loss : of rows and labels
    """
    columns = sorted(set(groups))
    grown = np.zeros((len(columns), repeats))
    for repeat in range(repeats):
        base = loss(X, y)
        for i, column in enumerate(columns):
            order = []
            for stretch in stretches:
                order += generator.permutation(stretch).tolist()
            moved = [
                [X[order[r]][j] if groups[j] == column else X[r][j] for j in range(len(groups))]
                for r in range(len(X))
            ]
            grown[i, repeat] = loss(np.array(moved), y) - base
    return grown
