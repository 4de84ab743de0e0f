"""Inner products that stay in vector registers, against one product after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numpy.testing import assert_array_equal

from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.lanes import CHAINS, POINTS, dense_inner, lay_across, sum_products


@njit
def one_by_one(values, where, columns):
    out = np.zeros(columns.shape[1])
    for j in range(len(out)):
        total = 0.0
        for k in range(len(values)):
            total = fma(values[k], columns[where[k], j], total)
        out[j] = total
    return out


@pytest.mark.sampled
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


@pytest.mark.sampled
@pytest.mark.parametrize("d", [0, 1, 11])
@pytest.mark.parametrize("b", [1, 7, 9, 31, 33, 64, 100, 260])
def test_any_number_of_points(b, d):
    rng = np.random.default_rng(b)
    columns = rng.normal(size=(d, b))
    for n in (0, 1, POINTS - 1, POINTS, POINTS + 1, CHAINS, CHAINS + 1, 5 * POINTS + 2):
        points = rng.normal(size=(n, d))
        for which in (None, rng.integers(max(n, 1), size=n), rng.permutation(n)[: n // 2]):
            chosen = points if which is None else points[which]
            out = np.full((len(chosen), b), np.nan)
            dense_inner(points, which, columns, out)
            right = [one_by_one(point, np.arange(d), columns) for point in chosen]
            assert np.array_equal(out, np.reshape(right, out.shape))


def test_rows_lie_one_after_the_other():
    columns = np.zeros((4, 20))[:, ::2]
    with pytest.raises(TypingError, match="follow each other"):
        sum_products(np.zeros(4), None, 4, columns, 0, np.zeros((1, 10)), 0)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 33])
@pytest.mark.parametrize("length", [0, 1, 8, 15, 64])
def test_rows_are_laid_across(length, n):
    source = np.random.default_rng(0).normal(size=(40, 64))
    for first, column in ((0, 0), (3, 2)):
        target = np.full((length, 40), np.nan)
        lay_across(source, first, n, target, column)
        right = np.full((length, 40), np.nan)
        right[:, column : column + n] = source[first : first + n, :length].T
        assert_array_equal(target, right)
