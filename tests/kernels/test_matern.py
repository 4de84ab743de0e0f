"""The Matern kernel: formula, values, in the engine, in budgeted learners, in a file."""

import kernel_sums
import numpy as np
import pytest
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.errors import InputError

rng = np.random.default_rng(0)
X = rng.normal(size=(23, 6))
Z = np.concatenate([rng.normal(size=(11, 6)), X[:3]])
KERNELS = [kb.Matern(nu, sigma=1.7) for nu in (0.5, 1.5, 2.5)]


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_over_the_whole_range(nu):
    """Against the closed form; exactly 0 where the exponential is, and never NaN."""
    kernel = kb.Matern(nu, gamma=0.3)
    squares = np.concatenate([[0.0], 10.0 ** rng.uniform(-12, 9, 3000), [1e150, 1e300]])
    values = kernel_sums.values([kernel], squares)[0]
    s = np.sqrt(4 * nu * 0.3) * np.sqrt(squares)
    with np.errstate(over="ignore", invalid="ignore"):
        factor = {0.5: np.ones_like(s), 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu]
        expected = np.where(s > 746, 0.0, factor * np.exp(-s))
    normal = expected > 1e-300
    np.testing.assert_allclose(values[normal], expected[normal], rtol=1e-12)
    assert (values[s > 746] == 0).all()
    assert not np.isnan(values).any()


def test_beside_gaussians_it_keeps_its_reach():
    """A narrow Gaussian is 0 long before a Matern kernel is; both are right."""
    kernels = [kb.Gaussian(sigma=0.01), kb.Matern(0.5, sigma=3)]
    A = np.concatenate([X, X[:5] + 1e-7]) + 50.0
    coefficients = np.ones((len(A), 2))
    scores, _ = kernel_sums.sums(kernels, A, coefficients, A)
    for kernel, row in zip(kernels, scores, strict=True):
        np.testing.assert_allclose(row, kernel(A, A).sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_far_tails_far_from_the_origin(storage):
    """20 apart at an offset of 1e5: exp(-50) needs the distance itself, to all its digits."""
    a = np.full((1, 6), 1e5)
    b = a + rng.normal(size=(1, 6))
    b = a + (b - a) * (20.0 / np.linalg.norm(b - a))
    for pool in ([kb.Matern(0.5, sigma=0.4)], [kb.Gaussian(sigma=0.1), kb.Matern(0.5, sigma=0.4)]):
        values, _ = kernel_sums.sums(pool, storage(b), np.ones((1, len(pool))), storage(a))
        np.testing.assert_allclose(values[-1], pool[-1](a, b)[0], rtol=1e-12)


def test_it_tends_to_the_gaussian():
    far = [np.abs(k(X, Z) - kb.Gaussian(sigma=1.7)(X, Z)).max() for k in KERNELS]
    assert far[0] > far[1] > far[2]
    assert far[2] < 0.1


def test_the_width_is_given_once():
    by_gamma = kb.Matern(1.5, gamma=1 / (2 * 1.7**2))
    np.testing.assert_allclose(by_gamma(X, Z), KERNELS[1](X, Z), rtol=1e-14)
    assert str(by_gamma) == "(1 + s) exp(-s), s = sqrt(3) sqrt(2 * 0.17301) ||x-z||"
    assert str(KERNELS[0]) == "exp(-s), s = ||x-z|| / 1.7"
    assert str(KERNELS[2]) == "(1 + s + s^2/3) exp(-s), s = sqrt(5) ||x-z|| / 1.7"
    assert repr(KERNELS[2]) == "Matern(2.5, sigma=1.7)"
    for wrong, message in (
        (lambda: kb.Matern(1.5), "Matern: give either sigma or gamma"),
        (lambda: kb.Matern(2, sigma=1), "Matern: nu must be 0.5, 1.5 or 2.5, got 2"),
        (lambda: kb.Matern("1.5", sigma=1), "nu must be 0.5, 1.5 or 2.5, got '1.5'"),
        (lambda: kb.Matern(0.5, sigma=0), "sigma must be None or a positive number, got 0"),
    ):
        with pytest.raises(InputError, match=message):
            wrong()
