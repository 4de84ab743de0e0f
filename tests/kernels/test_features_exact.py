"""Monomials and Nystroem: what their inner products are."""

import math

import numpy as np
import pytest
from naive import features as naive

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows

rng = np.random.default_rng(1)
X = rng.normal(size=(25, 4))
X[3] = 0.0

POLYNOMIALS = [
    kb.Linear(),
    kb.Polynomial(1, offset=2.5),
    *(kb.Polynomial(degree) for degree in (2, 5)),
    *(kb.Polynomial(degree, offset=0.7) for degree in (2, 4)),
]


def features(kernel, recipe, points=X):
    return draw(kernel, recipe, points.shape[1], 0).transform(DenseRows.of(points))


@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_monomials_are_exact(kernel):
    Z = features(kernel, kb.Monomials())
    np.testing.assert_allclose(Z @ Z.T, kernel(X, X), rtol=1e-12, atol=1e-12)
    variables = 4 + (kernel.offset > 0)
    assert Z.shape[1] == math.comb(variables + kernel.degree - 1, kernel.degree)
    assert np.linalg.matrix_rank(
        features(kernel, kb.Monomials(), rng.normal(size=(300, 4)))
    ) == len(Z.T)  # none of them is superfluous
    np.testing.assert_allclose(
        Z, [naive.monomials(kernel.degree, kernel.offset, x) for x in X], rtol=1e-14, atol=1e-300
    )


def test_the_monomials_of_the_linear_kernel_are_the_inputs():
    np.testing.assert_array_equal(features(kb.Linear(), kb.Monomials()), X)


def test_too_many_monomials():
    with pytest.raises(InputError, match="of 96 features has 152,096 monomials, more than 65,536"):
        kb.Monomials().dim(kb.Polynomial(3), 96)
    assert kb.Monomials().dim(kb.Polynomial(3), 72) == math.comb(74, 3) <= 65_536
    with pytest.raises(InputError, match="has 67,525 monomials"):
        kb.Monomials().dim(kb.Polynomial(3), 73)


def test_factors_of_monomials_that_overflow():
    with pytest.raises(InputError, match=r"factors of \(x.z \+ 1e\+300\)\^3 overflow; lower its"):
        draw(kb.Polynomial(3, 1e300), kb.Monomials(), 2, 0)


NYSTROEM = [
    *(kb.Gaussian(sigma=1), kb.Laplacian(sigma=1), kb.Cauchy(sigma=1), kb.Matern(1.5, sigma=1)),
    kb.Mean([kb.Linear(), kb.Gaussian(sigma=1)]),
    kb.Callable(lambda A, B: np.exp(A @ B.T / 4), name="exp(x.z / 4)"),
]


@pytest.mark.parametrize("kernel", NYSTROEM, ids=str)
def test_nystroem_is_exact_on_its_landmarks(kernel):
    Z = features(kernel, kb.Nystroem(landmarks=X[:12]))
    exact = kernel(X, X)
    # Where one of the two is a landmark.
    np.testing.assert_allclose((Z @ Z.T)[:12], exact[:12], rtol=0, atol=1e-10)
    # Elsewhere the projection: never more than the kernel on the diagonal.
    assert (np.diag(Z @ Z.T) <= np.diag(exact) + 1e-10).all()
    inverse = np.linalg.inv(exact[:12, :12])
    np.testing.assert_allclose(Z @ Z.T, exact[:, :12] @ inverse @ exact[:12], atol=1e-9)


def test_nystroem_with_repeated_landmarks():
    """A singular matrix of kernel values: by its pseudo-inverse."""
    kernel = kb.Gaussian(sigma=1)
    twice = features(kernel, kb.Nystroem(landmarks=np.concatenate([X[:9], X[:9], X[:1]])))
    once = features(kernel, kb.Nystroem(landmarks=X[:9]))
    assert twice.shape[1] == 19
    np.testing.assert_allclose(twice @ twice.T, once @ once.T, rtol=0, atol=1e-9)
    linear = features(kb.Linear(), kb.Nystroem(landmarks=X))  # rank 4 of 25
    np.testing.assert_allclose(linear @ linear.T, X @ X.T, rtol=0, atol=1e-9)
    nothing = features(kb.Linear(), kb.Nystroem(landmarks=np.zeros((3, 4))))
    assert nothing.tolist() == np.zeros((25, 3)).tolist()


def test_nystroem_leaves_out_negative_directions():
    """tanh is not positive definite: what remains is the nearest that is."""
    kernel = kb.Sigmoid(gamma=1.0, offset=-1.0)
    Z = features(kernel, kb.Nystroem(landmarks=X))
    sizes, directions = np.linalg.eigh(kernel(X, X))
    assert sizes[0] < -0.1
    positive = (directions * np.maximum(sizes, 0)) @ directions.T
    np.testing.assert_allclose(Z @ Z.T, positive, rtol=0, atol=1e-9)


def test_nystroem_of_looked_up_values():
    matrix = kb.Gaussian(sigma=1)(X, X)
    rows = np.arange(25.0)[:, None]
    Z = features(kb.Precomputed(matrix), kb.Nystroem(landmarks=rows[::2]), rows)
    expected = features(kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X[::2]))
    np.testing.assert_allclose(Z, expected, rtol=0, atol=1e-10)
