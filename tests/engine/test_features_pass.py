"""Learners on explicit features: which features, ridge regression, losses of any size."""

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import learn, named, waves
from engine.test_learners import COMBINERS
from every_learner import SEED, SHIFTING, WAVES, features_of, of_features
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import extra_of, pool_of, progress_of, state_of, theta_of
from naive import combiners as naive_combiners
from naive import regression
from naive.weights import relative
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from twins import assert_equals_its_twin

import kernbrook as kb
from kernbrook.learners.ridge import matrix_of

POOL_OF_LEARNERS = [
    kb.Ridge(features=WAVES),
    kb.GradientDescent(0.2, "constant", regularization=0.1, features=WAVES),
    kb.GradientDescent(0.3, "adagrad", features=WAVES),
    kb.GradientDescent(3.0, horizon=100, regularization=0.05, features=WAVES),
    kb.GradientDescent(0.3, restart=7, features=WAVES),
]


def make(learners, combiner, numbers=True, kernels=SHIFTING, **others):
    kind = plain.regressor if numbers else plain.classifier
    return kind(kernels, learners, combiner, random_state=SEED, **others)


def test_a_pool_shares_its_features():
    """One map for each kernel, drawn by its number in the pool; other features have their own."""
    X, y = waves(60)
    learners = [kb.Ridge(features=WAVES), kb.GradientDescent(0.1, features=kb.RandomFeatures(5))]
    model = make(learners, kb.Uniform()).fit(X, y)
    assert len(pool_of(model).maps) == len(SHIFTING)
    alone = [make(one, kb.Uniform()).fit(X, y) for one in learners]
    together = np.mean([each.predict(X) for each in alone], axis=0)
    np.testing.assert_allclose(model.predict(X), together, rtol=1e-12, atol=1e-14)
    model = make([kb.Ridge(features=WAVES), kb.Ridge(features=kb.RandomFeatures(6))], None)
    assert pool_of(model.fit(X, y)).dims.tolist() == [10] * 3 + [12] * 3
    model = make(kb.Ridge(features=WAVES), None, kernels=[kb.Gaussian(sigma=s) for s in (1, 2)])
    first, second = (own.arrays()["frequencies"] for own in pool_of(model.fit(X, y)).maps)
    assert (np.abs(first - 2 * second) > 1e-6).all()  # each kernel has draws of its own


@pytest.mark.parametrize("C", [None, 3])
def test_features_by_default(C):
    """50 frequencies for kernels of x - z, the monomials of a polynomial."""
    X, y = waves(40)
    y = y if C is None else hard_streams.classes_of(X, C)
    kernels = [kb.Gaussian(sigma=2), kb.Polynomial(2, 1.0), kb.Linear(), kb.Matern(1.5, sigma=2)]
    twin = of_features(regression.Descent, kb.RandomFeatures(), kernels, schedule="normalized")
    poly = kb.MLPoly("squared" if C is None else "hinge"), naive_combiners.MLPoly
    learner = kb.GradientDescent(1.0, "normalized")
    assert_equals_its_twin(learner, twin, X, y, C, *poly, kernels=(kernels, kernels))


# -- ridge -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("forgetting", "n"), [(1.0, 3), (0.9, 3), (0.99, 10), (0.4, 8)])
def test_ridge_does_not_drift_from_the_direct_solution(forgetting, n):
    """Over 4,000 examples: with forgetting, an error in P that is not symmetric would grow."""
    few, kernels = kb.RandomFeatures(n), [kb.Gaussian(sigma=1)]
    given = {"regularization": 0.1, "forgetting": forgetting}
    model, expected = assert_equals_its_twin(
        kb.Ridge(features=few, **given), of_features(regression.Ridge, few, kernels, **given),
        *waves(4000, 2), None, kb.Uniform(), regression.Uniform, kernels=(kernels, kernels),
    )  # fmt: skip
    A = expected.experts[0].learner.A
    inverse = np.linalg.inv(A)
    off = np.linalg.norm(matrix_of(extra_of(model).reshape(-1, 2 * n)) - inverse, 2)
    # What rounding does to an inverse grows with the condition of the matrix.
    assert off <= 100 * np.finfo(float).eps * np.linalg.cond(A) * np.linalg.norm(inverse, 2)


def test_ridge_is_the_ridge_regression_of_all_so_far():
    """Without the forecaster's shrinkage of a prediction: theta is scikit-learn's Ridge."""
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X, (y - y.mean()) / y.std()
    importance = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(y))
    model = make(kb.Ridge(0.3, features=WAVES), kb.Uniform(), kernels=SHIFTING[:1])
    learn(model, X, y, importance=importance)
    batch = Ridge(alpha=0.3, fit_intercept=False, solver="cholesky")
    batch.fit(features_of(SHIFTING[0], WAVES, X), y, relative(importance, len(y)))
    np.testing.assert_allclose(theta_of(model), batch.coef_, rtol=1e-8, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(
    power=st.integers(-30, 30),
    sign=st.sampled_from([-1, 1]),
    forgetting=st.sampled_from([1.0, 0.95]),
)
def test_ridge_is_equivariant_to_the_scale_of_the_target(power, sign, forgetting):
    """A power of 2 rounds nothing."""
    X, y = waves(60)
    factor = sign * 2.0**power
    choices = [kb.Ridge(forgetting=forgetting, features=WAVES), kb.Ridge(0.01, features=WAVES)]
    usual, scaled = (make(choices, kb.Uniform()) for _ in range(2))
    np.testing.assert_array_equal(factor * learn(usual, X, y)[0], learn(scaled, X, factor * y)[0])
    np.testing.assert_array_equal(factor * usual.predict(X), scaled.predict(X))
    np.testing.assert_array_equal(usual.expert_weights_, scaled.expert_weights_)


# -- threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(1.0)], ids=["alone", "together"])
def test_threads_change_nothing(labels, monkeypatch):
    """Where every label is learned from, experts learn by themselves, in several threads."""
    X, y = waves(700, 5)
    models = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        model = make(POOL_OF_LEARNERS, kb.MLPoly("squared"), labels=labels)
        models.append((model, learn(model, X, y)[0], model.predict(X)))
    (first, *said), (second, *again) = models
    np.testing.assert_array_equal(said, again)
    assert state_of(first) == state_of(second)


@pytest.mark.parametrize("C", [None, 2, 3])
def test_learning_alone_is_learning_together(C):
    """A policy that asks for all labels goes the other way through the pass."""
    X, y = waves(300)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "squared" if C is None else "hinge"
    alone, together, without = (
        make(POOL_OF_LEARNERS, kb.MLPoly(loss), numbers=C is None, labels=labels)
        for labels in ("all", kb.RandomLabels(1.0), kb.RandomLabels(0.0))
    )
    np.testing.assert_array_equal(learn(alone, X, y, C), learn(together, X, y, C))
    assert state_of(alone) == state_of(together)
    without.partial_fit(X, y, **named(C))
    assert state_of(alone) == state_of(without)


# -- losses of any size ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exp", "twin"),
    [
        (kb.EXP(), regression.EXP),
        (kb.EXP(10.0, horizon=200), lambda m: regression.EXP(m, 10.0, 200)),
        (kb.EXP(0.5, horizon=200, cap=2.0), lambda m: regression.EXP(m, 0.5, 200)),
    ],
)
def test_exp_with_losses_of_a_million(exp, twin):
    """Weights in the log domain: they never underflow to nobody, and come back."""
    X, y = waves(200)
    importance = np.where(np.arange(200) == 50, 30.0, 1.0)
    model, _ = assert_equals_its_twin(
        kb.Ridge(features=WAVES), of_features(regression.Ridge), X, 1e3 * y, None, exp, twin,
        importance=importance,
    )  # fmt: skip
    assert np.isfinite(progress_of(model).log_weights).all()
    assert exp.cap or model.expert_weights_.max() > 0.99


@pytest.mark.parametrize(
    ("unit", "loss", "combiner"),
    pairwise(
        [1e-160, 1e-90, 1e30, 1e90],
        ["squared", "absolute", "linearized"],
        COMBINERS,
    ),
)
def test_numbers_in_any_unit(unit, loss, combiner):
    """Squares of the losses may underflow, or overflow: weights and predictions stay numbers."""
    X, y = waves(30)
    model = make(POOL_OF_LEARNERS[:2], COMBINERS[combiner][0](loss), kernels=SHIFTING[:2])
    said, _ = learn(model, X, unit * y)
    assert np.isfinite(said).all()
    assert model.expert_weights_.sum() == pytest.approx(1)
    assert (np.abs(said) < 1e3 * unit).all()
