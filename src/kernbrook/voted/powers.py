"""Weighted sums of the powers of numbers: the prices of all polynomials at once."""

from __future__ import annotations

import numpy as np

from kernbrook.numerics.compiling import njit

FOUR, STRIP = np.uintp(4), np.uintp(64)  # rows and columns taken together: what stays near


@njit(cache=True, nogil=True)
def add_powers(bases, rows, weights, sums):  # type: ignore[no-untyped-def]
    """sums[e - 1, j] += sum over i of weights[i] bases[rows[i], j]^e, for e = 1 ... top.

    bases : (m, b)
    rows : (r,) rows in use
    weights : (r,)
    sums : (top, b)
    """
    top, width = np.uintp(sums.shape[0]), np.uintp(sums.shape[1])
    base, term = np.empty((FOUR, STRIP)), np.empty((FOUR, STRIP))
    lo = np.uintp(0)
    while lo < width:
        count = min(STRIP, width - lo)
        for i in range(0, len(rows), 4):
            for a in range(FOUR):
                over = i + a >= len(rows)  # fewer than four are left
                row, weight = np.uintp(rows[i if over else i + a]), 0.0 if over else weights[i + a]
                for j in range(count):
                    base[a, j] = bases[row, lo + j]
                    term[a, j] = weight
            for e in range(top):
                for j in range(count):
                    term[0, j] *= base[0, j]
                    term[1, j] *= base[1, j]
                    term[2, j] *= base[2, j]
                    term[3, j] *= base[3, j]
                    sums[e, lo + j] += (term[0, j] + term[1, j]) + (term[2, j] + term[3, j])
        lo += STRIP
