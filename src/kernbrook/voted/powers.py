"""Weighted sums of the powers of numbers: the prices of all polynomials at once."""

from __future__ import annotations

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.lanes import WIDTH, add_powers_of_four

LANES = np.uintp(WIDTH)


@njit(cache=True, nogil=True)
def add_powers(bases, rows, weights, sums):  # type: ignore[no-untyped-def]
    """sums[e - 1, j] += sum over i of weights[i] bases[rows[i], j]^e, for e = 1 ... top.

    bases : (m, b)
    rows : (r,) rows in use
    weights : (r,)
    sums : (top, b)
    """
    top, width, last = np.uintp(sums.shape[0]), np.uintp(sums.shape[1]), len(rows) - 1
    for i in range(0, len(rows), 4):
        b, c, d = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        four = np.uintp(rows[i]), np.uintp(rows[b]), np.uintp(rows[c]), np.uintp(rows[d])
        factors = (
            weights[i], weights[b] if b > i else 0.0, weights[c] if c > b else 0.0,
            weights[d] if d > c else 0.0,
        )  # fmt: skip
        j = np.uintp(0)
        while j + LANES <= width:
            add_powers_of_four(bases, four, factors, j, sums)
            j += LANES
        while j < width:
            terms = factors
            for e in range(top):
                terms = (
                    terms[0] * bases[four[0], j], terms[1] * bases[four[1], j],
                    terms[2] * bases[four[2], j], terms[3] * bases[four[3], j],
                )  # fmt: skip
                sums[e, j] += (terms[0] + terms[1]) + (terms[2] + terms[3])
            j += np.uintp(1)
