"""Loops over numbers: inner products, halves of matrices, vectors, which slot makes room."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError
from numpy.testing import assert_array_equal

from kernbrook.numerics import symmetric, vectors
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.lanes import CHAINS, POINTS, dense_inner, lay_across, sum_products
from kernbrook.numerics.upkeep import cheapest, find_equal, oldest
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


@pytest.mark.parametrize("b", [1, 8, 9, 127, 260])
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


def test_rows_lie_one_after_the_other():
    columns = np.zeros((4, 20))[:, ::2]
    with pytest.raises(TypingError, match="follow each other"):
        sum_products(np.zeros(4), None, 4, columns, 0, np.zeros((1, 10)), 0)


@pytest.mark.parametrize(("length", "n"), [(0, 9), (1, 1), (8, 8), (15, 7), (64, 33), (64, 0)])
def test_rows_are_laid_across(length, n):
    source = np.random.default_rng(0).normal(size=(40, 64))
    for first, column in ((0, 0), (3, 2)):
        target = np.full((length, 40), np.nan)
        lay_across(source, first, n, target, column)
        right = np.full((length, 40), np.nan)
        right[:, column : column + n] = source[first : first + n, :length].T
        assert_array_equal(target, right)


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


# -- vectors ------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
DRAWN = [np.round(RNG.normal(size=n), 1).astype(kind) for n in (0, 1, 2, 9, 300) for kind in "fd"]


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: f"{len(drawn)} {drawn.dtype}")
def test_vectors(drawn):
    ordered, other, marks = drawn.copy(), np.empty_like(drawn), drawn > 0
    vectors.put_in_order(ordered)
    vectors.copy(drawn, other)
    np.testing.assert_array_equal(ordered, np.sort(drawn))
    np.testing.assert_array_equal(other, drawn)
    vectors.fill_with(other, 0.5)
    np.testing.assert_array_equal(other, np.full_like(drawn, 0.5))
    np.testing.assert_array_equal(vectors.places_of(marks), np.flatnonzero(marks))
    assert vectors.any_of(marks) == marks.any()
    assert vectors.greatest_of(drawn) == drawn.max(initial=-np.inf)
    for number in (*drawn[:9], -9.0, 9.0, 0.05):
        for up_to, side in ((False, "left"), (True, "right")):
            found = vectors.count_below(ordered, float(number), up_to)
            assert found == np.searchsorted(ordered, float(number), side)


def test_the_greatest_of_numbers_with_nan():
    assert np.isnan(vectors.greatest_of(np.array([1.0, np.nan, 2.0])))


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


def test_equal_ones():
    values = np.array([4, 1, 4, 1, 1])
    assert find_equal(values, 1, 5) == (1, 3)
    assert find_equal(values, 4, 1) == (0, 1)
    assert find_equal(values, 7, 5) == (5, 0)


def test_what_is_not_finite_chooses_some_slot():
    """An overflow is found, and refused, by who comes later."""
    assert cheapest(np.full(3, np.nan), np.arange(3)) in range(3)
