"""Problems of voted kernel regularization: examples, kernels, labels."""

import hard_streams
import numpy as np
import pytest

import kernbrook as kb
from kernbrook.voted import Columns, Examples

POLYNOMIALS = [kb.Polynomial(k, offset=1) for k in range(1, 11)]
GAUSSIANS = [kb.Gaussian(gamma=10.0**i) for i in range(-3, 1)]
NORMALIZED = [kb.NormalizedPolynomial(k) for k in range(1, 11)]  # the default
BASES = [*POLYNOMIALS[:2], *NORMALIZED[1:3], kb.NormalizedPolynomial(1, offset=0)]  # of powers
MIXED = [
    kb.Linear(), kb.Gaussian(sigma=1), kb.Sigmoid(0.5, -1), kb.Laplacian(sigma=2),
    kb.Cauchy(sigma=1), kb.Matern(1.5, sigma=1), kb.Mean([kb.Linear(), kb.Cauchy(gamma=2)]),
]  # fmt: skip


def of_length_one(X):
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1)


def clouds(n=60, d=4, seed=0):
    X, y = hard_streams.gaussian_clouds(n, d, seed)
    return X, y


def ionosphere(n=210):
    X, y = hard_streams.real("ionosphere")
    order = np.random.default_rng(1).permutation(len(y))[:n]
    return X.toarray()[order], np.where(y[order] > 0, 1.0, -1.0)


def columns_of(kernels, X, memory=1e9):
    return Columns(kernels, Examples(X), memory)


def matrices(kernels, X):
    return [kernel(X, X) for kernel in kernels]


# name: (X, y), kernels
PROBLEMS = {
    "polynomials, unit length": (
        lambda: (of_length_one(clouds()[0]), clouds()[1]), POLYNOMIALS),
    "polynomials, z-scores": (clouds, POLYNOMIALS),
    "gaussians": (lambda: clouds(80, 3, 1), GAUSSIANS),
    "every kernel": (lambda: clouds(50, 5, 2), MIXED),
    "duplicates": (lambda: hard_streams.duplicates(80), GAUSSIANS),
    "zero rows": (lambda: hard_streams.with_zero_rows(70), [kb.Linear(), *BASES]),
    "normalized": (clouds, NORMALIZED),
    "wdbc": (
        lambda: (of_length_one(hard_streams.wdbc(150)[0]), hard_streams.wdbc(150)[1]),
        POLYNOMIALS),
    "ionosphere": (
        lambda: (of_length_one(ionosphere()[0]), ionosphere()[1]), POLYNOMIALS),
    "ionosphere, z-scores": (
        lambda: (hard_streams.scaled(ionosphere()[0]), ionosphere()[1]), POLYNOMIALS[:6]),
}  # fmt: skip
NAMES = [
    pytest.param(name, marks=pytest.mark.data) if "ionosphere" in name else name
    for name in PROBLEMS
]
PRICES = [(1.0, 0.1), (0.01, 0.01), (0.0, 0.001), (1e-3, 0.0), (1e-6, 1e-6)]
