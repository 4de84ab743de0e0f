"""Complexities and penalties of kernels."""

import hard_streams
import numpy as np
import pytest
from naive import voted as naive
from voted_problems import BASES, GAUSSIANS, POLYNOMIALS, clouds, columns_of

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.voted import complexities, penalties

INDEFINITE = kb.Sigmoid(gamma=2.0, offset=-1)


def lopsided(A, B):
    return A[:, :1] * B[:, 1:2].T + 3.0


def distance(A, B):
    return np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2)


@pytest.mark.parametrize("kernels", [POLYNOMIALS, GAUSSIANS])
def test_formulas(kernels):
    X, _ = hard_streams.sparse_counts(70, 8)
    columns = columns_of(kernels, X)
    grams = [kernel(X, X) for kernel in kernels]
    found = complexities("trace", columns)
    np.testing.assert_allclose(found, [naive.trace(gram) for gram in grams], rtol=1e-10)
    for s in (0.01, 0.5, 1.0):
        found = complexities("local", columns, s)
        np.testing.assert_allclose(found, [naive.local(gram, s) for gram in grams], rtol=1e-6)
    found = complexities("max", columns)
    expected = [np.abs(gram).max() / np.sqrt(70) for gram in grams]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_pdim():
    (X, _), powers = clouds(50, 6), [*POLYNOMIALS, *BASES]
    found = complexities("pdim", columns_of(powers, X))
    expected = [naive.pdim(kernel(X, X), kernel.degree, 6) for kernel in powers]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    with pytest.raises(InputError, match=r"'pdim' is for polynomials, got the kernel exp"):
        complexities("pdim", columns_of(GAUSSIANS, X))


@pytest.mark.parametrize("complexity", ["trace", "local"])
@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        (INDEFINITE, "not positive definite"),
        (kb.Polynomial(2, -3.0), "not positive definite"),  # a linear one has the sign -6
        (kb.Callable(lopsided), "not symmetric"),
        (kb.Callable(distance), "not positive definite"),
    ],
)
def test_bounds_for_positive_definite_kernels_only(complexity, kernel, fault):
    X, _ = clouds(60, 3)
    columns = columns_of([kb.Linear(), kernel], X)
    with pytest.raises(InputError, match=rf"kernel .* is {fault}; take complexity='max'"):
        complexities(complexity, columns)
    assert (complexities("max", columns) > 0).all()


def test_own_numbers():
    X, _ = clouds(30, 3)
    columns = columns_of(GAUSSIANS, X)
    np.testing.assert_array_equal(complexities([1, 2, 3, 0], columns), [1, 2, 3, 0])
    seen = []

    def width(kernel, examples):
        seen.append(examples)
        return kernel.gamma

    gammas = [kernel.gamma for kernel in GAUSSIANS]
    np.testing.assert_array_equal(complexities(width, columns), gammas)
    assert all(examples.shape == (30, 3) for examples in seen)


@pytest.mark.parametrize("complexity", [[1, 2], [1, 2, 3, np.nan], None, lambda k, X: -1])
def test_wrong_numbers(complexity):
    columns = columns_of(GAUSSIANS, clouds(30, 3)[0])
    with pytest.raises(InputError, match="complexity: expected 4 numbers from 0"):
        complexities(complexity, columns)


def test_unknown_words():
    columns = columns_of(GAUSSIANS, clouds(30, 3)[0])
    with pytest.raises(InputError, match="expected 'trace', 'pdim', 'local', 'max', 4 numbers"):
        complexities("traces", columns)
    for s in (0, 1.5, None, np.nan):
        with pytest.raises(InputError, match="s: expected a share"):
            complexities("local", columns, s)


def test_penalties():
    np.testing.assert_allclose(penalties(np.array([1.0, 4.0]), 0.5, 0.1), [0.6, 2.1])
    for lam, beta, name in [(-1, 0, "lam"), (0, -1, "beta"), (np.nan, 1, "lam"), ("1", 1, "lam")]:
        with pytest.raises(InputError, match=f"{name}: expected a finite number from 0"):
            penalties(np.ones(2), lam, beta)
    with pytest.raises(InputError, match="lam=0, beta=0: kernel number 0 would cost nothing"):
        penalties(np.ones(2), 0, 0)
    with pytest.raises(InputError, match="kernel number 1 would cost nothing"):
        penalties(np.array([1.0, 0.0]), 1, 0)
