"""Loops over numbers: inner products, halves of matrices, vectors, which slot makes room."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from kernbrook.numerics import symmetric
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.lanes import CHAINS, POINTS, dense_inner, lay_across
from kernbrook.numerics.upkeep import cheapest, oldest
from kernbrook.numerics.vectors import least


@njit
def one_by_one(values, where, columns):
    out = np.zeros(columns.shape[1])
    for j in range(len(out)):
        total = 0.0
        for k in range(len(values)):
            total = fma(values[k], columns[where[k], j], total)
        out[j] = total
    return out


@pytest.mark.parametrize(
    ("b", "d"), [(1, 11), (7, 0), (9, 1), (31, 11), (33, 1), (64, 11), (260, 11)]
)
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


@pytest.mark.parametrize(("length", "n"), [(1, 1), (8, 8), (15, 7), (64, 33), (64, 0)])
def test_rows_are_laid_across(length, n):
    source, target = np.random.default_rng(0).normal(size=(40, 64)), np.full((length, 40), np.nan)
    expected = target.copy()
    expected[:, 2 : 2 + n] = source[3 : 3 + n, :length].T
    lay_across(source, 3, n, target, 2)
    np.testing.assert_array_equal(target, expected)


# -- symmetric matrices in half of the memory -----------------------------------------------------

SIZES = [1, 7, 8, 9, 16, 17, 55, 100]


def drawn(d, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(d, d))
    return rows + rows.T, rng.normal(size=(3, d)), rng.normal(size=(8, d))


every_size = pytest.mark.parametrize("d", SIZES)


@every_size
def test_half_of_a_matrix_is_all_of_it(d):
    matrix, _, _ = drawn(d)
    half = symmetric.pack(matrix)
    assert len(half) == symmetric.halves(d) <= d * (d + 8)
    np.testing.assert_array_equal(symmetric.unpack(half, d), matrix)
    diagonal = [symmetric.diagonal(half, d, j) for j in range(d)]
    np.testing.assert_array_equal(diagonal, matrix.diagonal())


@every_size
def test_products_and_squares_that_are_taken_off(d):
    matrix, z, others = drawn(d)
    out = np.full(d, np.nan)
    symmetric.multiply(symmetric.pack(matrix), z, 1, out)
    np.testing.assert_allclose(out, matrix @ z[1], rtol=0, atol=1e-13 * d)
    for n in (0, 1, 5, 8):
        half = symmetric.pack(matrix)
        symmetric.take_off(half, others, n, 0.5)
        wanted = 0.5 * (matrix - others[:n].T @ others[:n])
        np.testing.assert_allclose(symmetric.unpack(half, d), wanted, rtol=0, atol=1e-13 * d)


@every_size
def test_where_in_memory_does_not_matter(d):
    """Nor the rows beside: a block of rows and one row give the same bits."""
    matrix, z, others = drawn(d)
    half = symmetric.pack(matrix)
    moved = np.concatenate([[0.0], half])[1:]
    results = []
    for own, rows, t in ((half, z, 1), (moved, z[1:2].copy(), 0)):
        out = np.empty(d)
        symmetric.multiply(own, rows, t, out)
        symmetric.take_off(own, others, 8, 2.0)
        results.append((out, own))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("d", [8, 100])
def test_squares_on_the_diagonal_stay_symmetric(d):
    """To the last bit: what lies above the diagonal there is read, too."""
    matrix, _, others = drawn(d)
    half = symmetric.pack(matrix)
    for _ in range(20):
        symmetric.take_off(half, others, 8, 0.9)
    at = 0
    for row in range(1, d // 8 + 1):
        at += 64 * row
        square = half[at - 64 : at].reshape(8, 8)
        np.testing.assert_array_equal(square, square.T)


# -- the slot that makes room -------------------------------------------------------------------

COSTS = st.lists(st.sampled_from([-3.5, -1e-310, -0.0, 0.0, 1e-310, 0.1, 2.0, np.inf]), min_size=1)


def naive_cheapest(costs, born):
    best = 0
    for s in range(1, len(costs)):
        if costs[s] < costs[best] or (costs[s] == costs[best] and born[s] < born[best]):
            best = s
    return best


@settings(deadline=None)
@given(COSTS, st.randoms(use_true_random=False))
def test_the_cheapest_and_of_equal_ones_the_oldest(costs, random):
    born = list(range(len(costs)))
    random.shuffle(born)
    costs, born = np.array(costs), np.array(born)
    assert least(costs) == costs.min()
    assert cheapest(costs, born) == naive_cheapest(costs, born)


@pytest.mark.parametrize("n", [1, 7, 64, 1001])
def test_of_many(n):
    rng = np.random.default_rng(n)
    for scale in (1e-300, 1.0, 1e300):
        costs, born = scale * rng.normal(size=n), rng.permutation(n)
        assert least(costs) == costs.min()
        assert cheapest(costs, born) == costs.argmin()
        assert oldest(born, n) == born.argmin()
        assert oldest(born, (n + 1) // 2) == born[: (n + 1) // 2].argmin()


def test_what_is_not_finite_chooses_some_slot():
    """An overflow is found, and refused, by who comes later."""
    assert cheapest(np.full(3, np.nan), np.arange(3)) in range(3)
