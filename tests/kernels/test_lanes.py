"""Inner products that stay in vector registers, against one product after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.lanes import sum_products


@njit
def one_by_one(values, where, columns):
    out = np.zeros(columns.shape[1])
    for j in range(len(out)):
        for k in range(len(values)):
            out[j] = fma(values[k], columns[where[k], j], out[j])
    return out


@pytest.mark.parametrize("b", [1, 7, 8, 9, 64, 100, 127, 260])
def test_any_number_of_examples_from_any_on(b):
    rng = np.random.default_rng(b)
    columns, values = rng.normal(size=(20, b)), rng.normal(size=20)
    where = rng.permutation(20)[:11].astype(np.uintp)
    for lo in sorted({0, 1, b // 2, b - 1}):
        for n, chosen in ((11, where), (0, where), (20, None)):
            features = np.arange(20) if chosen is None else chosen[:n]
            right = one_by_one(values[:n], features, columns)
            out = np.full((3, b), np.nan)
            sum_products(values, chosen, n, columns, lo, out, 1)
            assert np.array_equal(out[1, lo:], right[lo:])
            assert np.isnan(out[[0, 2]]).all()
            assert np.isnan(out[1, : lo - lo % 8]).all()


def test_rows_lie_one_after_the_other():
    columns = np.zeros((4, 20))[:, ::2]
    with pytest.raises(TypingError, match="follow each other"):
        sum_products(np.zeros(4), None, 4, columns, 0, np.zeros((1, 10)), 0)
