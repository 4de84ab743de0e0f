"""Weighted sums of the powers of numbers: the prices of all polynomials at once."""

from __future__ import annotations

import numpy as np

from kernbrook.compiler.compiling import njit

LANES = 64


@njit(cache=True, nogil=True)
def add_powers(source, added, rows, weights, first, sums):  # type: ignore[no-untyped-def]
    """sums[e - 1, j] += sum over i of weights[i] (source[rows[i], first + j] + added)^e, e = 1, ...

    Two rows at a time: every number of `sums` is read and written half as often.

    source : (m, n)
    rows : (r,) rows in use
    weights : (r,)
    sums : (top, b), b at most n - first
    """
    top, width, first = np.uintp(sums.shape[0]), np.uintp(sums.shape[1]), np.uintp(first)
    lanes, last = np.uintp(LANES), len(rows) - 1
    bases, terms = np.empty((2, lanes)), np.empty((2, lanes))
    for lo in range(np.uintp(0), width, lanes):
        here = min(lanes, width - lo)
        for i in range(0, len(rows), 2):
            for a in range(2):
                row = np.uintp(rows[min(i + a, last)])
                weight = weights[i + a] if i + a <= last else 0.0
                for j in range(here):
                    bases[a, j] = source[row, first + lo + j] + added
                    terms[a, j] = weight
            for e in range(top):
                for j in range(here):
                    one, other = terms[0, j] * bases[0, j], terms[1, j] * bases[1, j]
                    terms[0, j], terms[1, j] = one, other
                    sums[e, lo + j] += one + other
