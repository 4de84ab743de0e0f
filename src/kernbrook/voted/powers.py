"""Weighted sums of the powers of numbers: the prices of all polynomials at once."""

from __future__ import annotations

import numpy as np

from kernbrook.compiler.compiling import njit


@njit(cache=True, nogil=True)
def add_powers(source, added, rows, weights, first, sums):  # type: ignore[no-untyped-def]
    """sums[e - 1, j] += sum over i of weights[i] (source[rows[i], first + j] + added)^e, e = 1, ...

    Two rows and two powers at a time: what lies in memory is read and written half as often.

    source : (m, n)
    rows : (r,) rows in use
    weights : (r,)
    sums : (top, b), top even, b at most n - first
    """
    top, width, first = np.uintp(sums.shape[0]), np.uintp(sums.shape[1]), np.uintp(first)
    unit, two, last = np.uintp(1), np.uintp(2), len(rows) - 1
    bases, terms = np.empty((2, width)), np.empty((2, width))
    for i in range(0, len(rows), 2):
        for a in range(2):
            row = np.uintp(rows[min(i + a, last)])
            weight = weights[i + a] if i + a <= last else 0.0
            for j in range(width):
                bases[a, j] = source[row, first + j] + added
                terms[a, j] = weight
        for e in range(np.uintp(0), top, two):
            for j in range(width):
                b, c = bases[0, j], bases[1, j]
                t, u = terms[0, j] * b, terms[1, j] * c
                sums[e, j] += t + u
                t, u = t * b, u * c
                sums[e + unit, j] += t + u
                terms[0, j], terms[1, j] = t, u
