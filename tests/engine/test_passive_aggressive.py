"""PA, PA-I, PA-II and SPA: what the steps promise, zero vectors, huge losses."""

from functools import partial

import hard_streams
import numpy as np
import plain
import pytest
from every_learner import of_steps
from inside import progress_of
from naive import budget, combiners, multiclass
from naive import kernels as naive_kernels
from twins import assert_equals_its_twin

import kernbrook as kb
from kernbrook.learners import PassiveAggressive, SparsePA


@pytest.mark.parametrize("unit", [False, True])
def test_zero_vectors(unit):
    """k(x, x) = 0 for the polynomials alone: not added, unless k(x, x) is taken as 1."""
    X, y = hard_streams.with_zero_rows()
    sparse = SparsePA(divisor=1, unit_diagonal=unit)
    for learner in (sparse,) if unit else (PassiveAggressive("PA-I", 0.1), sparse):
        model = plain.classifier("omkc16", learner, kb.Hedge(1, "hinge"), random_state=0)
        model.learn(X, y)
        added = np.array([not row.any() for row in model.support_vectors_])
        assert model.dual_coef_[added][:, :3].any() == unit
        assert model.dual_coef_[added][:, 3:].any()
        assert model.dual_coef_[~added][:, :3].any()


def test_lengths_at_the_edge_of_zero():
    """k(x, x) = 1e-12 is not added, 1.1e-12 is."""
    X = np.array([[1e-6], [1.1e-6]])
    assert float(X[0, 0]) ** 2 <= 1e-12
    for learner in (PassiveAggressive("PA-I"), SparsePA(cap=1, divisor=1)):
        model = plain.classifier([kb.Linear()], learner, kb.Hedge(loss="hinge"))
        model.learn(X, [1, 1], classes=[-1, 1])
        np.testing.assert_array_equal(model.support_vectors_, X[1:])


UNIT = {"step": 0.2, "cap": 0.5, "divisor": 2.0, "unit_diagonal": True}


@pytest.mark.parametrize("cap", [None, 1.0])
def test_huge_losses(cap):
    """Raw features make the cubic kernel's losses 1e6 and more: its weight is 0, or capped."""
    X, y = hard_streams.wdbc(300)
    twin = of_steps(*(partial(of.sparse_pa, **UNIT) for of in (budget, multiclass)))
    model, expected = assert_equals_its_twin(
        SparsePA(**UNIT), twin, X, (y > 0).astype(int), 2, kb.Hedge(0.99, "hinge", cap=cap),
        lambda m: combiners.Hedge(m, 0.99),
        (
            kb.Selection(update="drawn", smoothing=0.001, spread=False),
            {"update": "drawn", "smoothing": 0.001, "spread": False},
        ),
        kernels=("omkc16", naive_kernels.omkc16()), size=100,
    )  # fmt: skip
    assert max(expected.experts[2].see(t)[1][0] for t in range(300)) > 1e12
    weights, log_weights = model.kernel_weights_, progress_of(model).log_weights
    if cap is None:
        assert weights[2] == 0
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert log_weights.min() < -1e6  # far below any float
        assert log_weights.max() == 0
    else:  # a round takes no more than the cap
        assert (weights / weights.max() >= 0.99**300 * (1 - 1e-9)).all()


def test_scores_that_cancel_among_kernels():
    """-0.1 - 0.2 + 0.3 is -5.6e-17 in floats, and 0 here: the positive class."""

    def constant(value):
        return lambda A, B: np.full((len(A), len(B)), value)

    model = plain.classifier(
        [constant(value) for value in (-0.1, -0.2, 0.3)],
        kb.Perceptron(),
        kb.Hedge(discount=1.0, loss="hinge"),
    )
    model.learn([[1.0]], [1], classes=[-1, 1])  # every score is 0, an error: added with 1
    assert model.decision_function([[2.0]])[0] == 0
    assert model.learn([[2.0]], [1])[0] == 1
    assert -0.1 - 0.2 + 0.3 < 0


def test_how_often_spa_adds():
    """Theorem 2 of Lu et al. (2015) is tight where losses are never below the cap."""
    T, share = 4000, 0.5 / 3
    rng, kernels = np.random.default_rng(0), [kb.Linear(), kb.Gaussian(sigma=2)]
    X, y = rng.normal(size=(T, 3)), rng.choice([-1.0, 1.0], size=T)
    parameters = {"step": 1e-6, "cap": 0.5, "discount": 1.0}
    model = kb.recipes.make("spa", random_state=0, kernels=kernels, **parameters)
    model.learn(X, y)
    counts = np.count_nonzero(model.dual_coef_, axis=0)
    assert (np.abs(counts - share * T) <= 4 * np.sqrt(T * share * (1 - share))).all()
