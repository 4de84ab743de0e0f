"""Symmetric matrices in half of the memory, beside NumPy's."""

import numpy as np
import pytest

from kernbrook.numerics import symmetric

SIZES = [1, 2, 7, 8, 9, 15, 16, 17, 31, 55, 100]


def drawn(d, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(d, d))
    return rows + rows.T, rng.normal(size=(3, d)), rng.normal(size=(8, d))


@pytest.mark.parametrize("d", SIZES)
def test_half_of_a_matrix_is_all_of_it(d):
    matrix, _, _ = drawn(d)
    half = symmetric.packed(matrix)
    assert len(half) == symmetric.halves(d) <= d * (d + 8)
    np.testing.assert_array_equal(symmetric.unpacked(half, d), matrix)
    diagonal = [symmetric.diagonal(half, d, j) for j in range(d)]
    np.testing.assert_array_equal(diagonal, matrix.diagonal())


@pytest.mark.parametrize("d", SIZES)
def test_products(d):
    matrix, z, _ = drawn(d)
    half, out = symmetric.packed(matrix), np.full(d, np.nan)
    symmetric.multiply(half, z, 1, out)
    np.testing.assert_allclose(out, matrix @ z[1], rtol=0, atol=1e-13 * d)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("n", [0, 1, 5, 8])
def test_squares_are_taken_off(d, n):
    matrix, _, others = drawn(d)
    half = symmetric.packed(matrix)
    symmetric.take_off(half, others, n, 0.5)
    wanted = 0.5 * (matrix - others[:n].T @ others[:n])
    np.testing.assert_allclose(symmetric.unpacked(half, d), wanted, rtol=0, atol=1e-13 * d)


@pytest.mark.parametrize("d", SIZES)
def test_where_in_memory_does_not_matter(d):
    """Nor the rows beside: a block of rows and one row give the same bits."""
    matrix, z, others = drawn(d)
    half = symmetric.packed(matrix)
    moved = np.concatenate([[0.0], half])[1:]
    results = []
    for own, rows, t in ((half, z, 1), (moved, z[1:2].copy(), 0)):
        out = np.empty(d)
        symmetric.multiply(own, rows, t, out)
        symmetric.take_off(own, others, 8, 2.0)
        results.append((out, own))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("d", [8, 24, 100])
def test_squares_on_the_diagonal_stay_symmetric(d):
    """To the last bit: what lies above the diagonal there is read, too."""
    matrix, _, others = drawn(d)
    half = symmetric.packed(matrix)
    for _ in range(20):
        symmetric.take_off(half, others, 8, 0.9)
    at = 0
    for row in range(1, d // 8 + 1):
        at += 64 * row
        square = half[at - 64 : at].reshape(8, 8)
        np.testing.assert_array_equal(square, square.T)
