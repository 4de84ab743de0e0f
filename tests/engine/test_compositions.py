"""Compositions that no paper has: each against its twin, and the same for any chunks."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import SIGNS, says, seed_of
from naive import budget, combiners, compositions, projecting
from naive import kernels as naive_kernels

import kernbrook as kb

SEED = 5
GAMMAS = (0.005, 0.02, 0.05, 0.2)
POOL = [kb.Linear(), *(kb.Gaussian(gamma=g) for g in GAMMAS)]
TWINS = [naive_kernels.polynomial(1), *(naive_kernels.gaussian(g) for g in GAMMAS)]
M = len(POOL)
# name -> (learner, combiner, selection; the twin's step, budget, combiner and settings)
COMPOSITIONS = {
    "MLPoly, Forgetron": (
        (kb.Forgetron(9), kb.MLPoly(), kb.Selection()),
        (budget.forgetron, 9, lambda: combiners.MLPoly(M), {"tie": "margin"}),
    ),
    "Fixed-Share, SPA": (
        (
            kb.SparsePA(divisor=1.5),
            kb.FixedShare(0.9, 0.05, "hinge"),
            kb.Selection(update="drawn", smoothing=0.05, spread=False),
        ),
        (
            partial(budget.sparse_pa, divisor=1.5),
            10_000,
            lambda: combiners.FixedShare(M, 0.9, 0.05),
            {"loss": "hinge", "update": "drawn", "smoothing": 0.05, "spread": False},
        ),
    ),
    "Fixed-Share, SPA under a budget": (
        (
            kb.SparsePA(divisor=1.5, budget=8),
            kb.FixedShare(0.9, 0.05),
            kb.Selection(update="drawn", smoothing=0.05),
        ),
        (
            partial(budget.sparse_pa, divisor=1.5),
            8,
            lambda: combiners.FixedShare(M, 0.9, 0.05),
            {"update": "drawn", "smoothing": 0.05},
        ),
    ),
    "ML-Poly, Projectron, drawn": (
        (kb.Projectron(9), kb.MLPoly(), kb.Selection(update="drawn", smoothing=0.1)),
        (
            projecting.projectron,
            9,
            lambda: combiners.MLPoly(M),
            {"tie": "margin", "update": "drawn", "smoothing": 0.1},
        ),
    ),
}
STREAMS = {
    "clouds": lambda: hard_streams.gaussian_clouds(160),
    "wdbc, standardised": lambda: standardised(*hard_streams.wdbc()),
}


def standardised(X, y):
    X, y = X[:160], y[:160]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def make(name):
    learner, combiner, selection = COMPOSITIONS[name][0]
    return plain.classifier(POOL, learner, combiner, selection, random_state=SEED)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_against_the_twin(name, stream):
    X, y = STREAMS[stream]()
    step, slots, combiner, settings = COMPOSITIONS[name][1]
    seed = seed_of(SEED)
    expected = compositions.run(X, y, TWINS, step, slots, combiner(), seed=seed, **settings)
    model = make(name)
    np.testing.assert_array_equal(says(model, X, y, SIGNS, 160), expected.predictions)
    np.testing.assert_array_equal(model.expert_mistakes_, expected.mistakes)
    weights = np.exp(expected.log_weights)
    np.testing.assert_allclose(model.kernel_weights_, weights / weights.sum(), atol=1e-9)
    kept = sorted({row for expert in expected.experts for row in expert.rows})
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    coefficients = np.zeros((len(kept), M))
    for i, expert in enumerate(expected.experts):
        for row, alpha in zip(expert.rows, expert.alphas, strict=True):
            coefficients[kept.index(row), i] = alpha
    np.testing.assert_allclose(model.dual_coef_, coefficients, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_chunks_and_sparsity(name):
    X, y = hard_streams.gaussian_clouds(300)
    whole = make(name)
    said = says(whole, X, y, SIGNS, 300)
    for size, rows in ((1, X), (7, sp.csr_matrix(X)), (129, X)):
        model = make(name)
        np.testing.assert_array_equal(says(model, rows, y, SIGNS, size), said)
        assert model.dual_coef_.tobytes() == whole.dual_coef_.tobytes()
        assert model.kernel_weights_.tobytes() == whole.kernel_weights_.tobytes()
