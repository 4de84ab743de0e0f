"""Every kernel, with values from elsewhere: the list that the tests of kernels run over."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gamma as gamma_function
from scipy.special import kv
from sklearn.metrics import pairwise

import kernbrook as kb


class Case(NamedTuple):
    """A kernel, its formula, its values by scikit-learn or by NumPy, examples if not any."""

    kernel: object
    formula: str
    values: object
    X: np.ndarray | None = None


def city_block(A, B):
    return -np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2)


def with_one(A):
    return np.hstack([A, np.ones((len(A), 1))])


def bessel(nu, sigma):
    """Rasmussen and Williams (2006), equation 4.14, one pair at a time."""

    def values(A, B):
        out = np.ones((len(A), len(B)))
        for i, a in enumerate(A):
            for j, b in enumerate(B):
                s = math.sqrt(2 * nu) * math.dist(a, b) / sigma
                if s > 0:
                    out[i, j] = 2 ** (1 - nu) / gamma_function(nu) * s**nu * kv(nu, s)
        return out

    return values


MATRIX = np.random.default_rng(5).normal(size=(40, 40))
MATRIX += MATRIX.T
NUMBERS = np.random.default_rng(6).integers(40, size=(25, 1)).astype(float)

CASES = [
    Case(kb.Linear(), "x.z", pairwise.linear_kernel),
    Case(kb.Polynomial(1), "x.z", pairwise.linear_kernel),
    Case(
        *(kb.Polynomial(3), "(x.z)^3"),
        lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=1, coef0=0),
    ),
    Case(
        *(kb.Polynomial(7, offset=0.5), "(x.z + 0.5)^7"),
        lambda A, B: pairwise.polynomial_kernel(A, B, degree=7, gamma=1, coef0=0.5),
    ),
    Case(
        *(kb.NormalizedPolynomial(1, offset=0), "x.z / sqrt(x.x z.z)"),
        pairwise.cosine_similarity,
    ),
    Case(
        *(kb.NormalizedPolynomial(4), "((x.z + 1) / sqrt((x.x + 1) (z.z + 1)))^4"),
        lambda A, B: pairwise.cosine_similarity(with_one(A), with_one(B)) ** 4,
    ),
    Case(
        *(kb.Gaussian(sigma=4), "exp(-||x-z||^2 / (2 * 4^2))"),
        lambda A, B: pairwise.rbf_kernel(A, B, gamma=1 / 32),
    ),
    Case(
        *(kb.Gaussian(gamma=0.25), "exp(-0.25 ||x-z||^2)"),
        lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.25),
    ),
    Case(
        *(kb.Laplacian(sigma=2), "exp(-||x-z||_1 / 2)"),
        lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.5),
    ),
    Case(
        *(kb.Laplacian(gamma=3), "exp(-3 ||x-z||_1)"),
        lambda A, B: pairwise.laplacian_kernel(A, B, gamma=3),
    ),
    Case(
        *(kb.Cauchy(sigma=2), "1 / (1 + ||x-z||^2 / 2^2)"),
        lambda A, B: 1 / (1 + pairwise.euclidean_distances(A, B, squared=True) / 4),
    ),
    Case(
        *(kb.Cauchy(gamma=3), "1 / (1 + 3 ||x-z||^2)"),
        lambda A, B: 1 / (1 + 3 * pairwise.euclidean_distances(A, B, squared=True)),
    ),
    Case(kb.Matern(0.5, sigma=1.7), "exp(-s), s = ||x-z|| / 1.7", bessel(0.5, 1.7)),
    Case(
        *(kb.Matern(1.5, sigma=2), "(1 + s) exp(-s), s = sqrt(3) ||x-z|| / 2"),
        bessel(1.5, 2),
    ),
    Case(
        *(kb.Matern(2.5, gamma=0.5), "(1 + s + s^2/3) exp(-s), s = sqrt(5) sqrt(2 * 0.5) ||x-z||"),
        bessel(2.5, 1),
    ),
    Case(
        *(kb.Sigmoid(gamma=0.5, offset=-1), "tanh(0.5 x.z + -1)"),
        lambda A, B: pairwise.sigmoid_kernel(A, B, gamma=0.5, coef0=-1),
    ),
    Case(kb.Callable(city_block), "city_block(x, z)", city_block),
    Case(kb.Callable(city_block, name="city"), "city", city_block),
    Case(
        *(kb.Mean([kb.Linear(), kb.Gaussian(gamma=1)]), "mean of 2 kernels"),
        lambda A, B: (A @ B.T + pairwise.rbf_kernel(A, B, gamma=1)) / 2,
    ),
    Case(
        kb.Mean([kb.Mean([kb.Linear(), kb.Polynomial(2)]), kb.Callable(city_block)]),
        "mean of 2 kernels",
        lambda A, B: (A @ B.T + (A @ B.T) ** 2) / 4 + city_block(A, B) / 2,
    ),
    Case(
        kb.Precomputed(MATRIX, name="K"),
        "K",
        lambda A, B: MATRIX[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))],
        NUMBERS,
    ),
]

OF_VECTORS = [case.kernel for case in CASES if case.kernel.of_vectors]
