"""Gradient descent on kernel expansions: coefficients that shrink, windows, what diverges."""

import hard_streams
import numpy as np
import plain
import pytest
from covering import pairwise
from driving import says, waves
from every_learner import POOL, SEED, TWINS, of_gradients
from every_policy import POLICIES
from inside import scale_of, state_of
from naive import combiners as naive_combiners
from naive import regression
from twins import EVERY, assert_equals_its_twin

import kernbrook as kb
from kernbrook.engine.stores.expansion import SMALL
from kernbrook.errors import InputError, NonFiniteError


def make(learners, combiner, numbers=True, selection=None, kernels=POOL, **others):
    kind = plain.regressor if numbers else plain.classifier
    pool = [kb.GradientDescent(features=None, **parameters) for parameters in learners]
    return kind(kernels, pool, combiner, selection, random_state=SEED, **others)


def test_an_example_whose_margin_is_met_is_not_added_again():
    """Ten steps of 0.1 add up to 1 but for rounding: no loss is left."""
    assert np.cumsum([0.1] * 10)[-1] < 1
    X = np.ones((30, 2))
    parameters = {"step": 0.1, "schedule": "constant", "loss": "hinge"}
    model = make([parameters], kb.Uniform(), numbers=False, kernels=[kb.Gaussian(sigma=1)])
    says(model, X, np.ones(30, dtype=int), 2)
    assert model.n_support_stored_ == 10


# -- the scale ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shrink", "C", "budget", "size"),
    [(0.9, None, None, 1), (0.5, 2, None, 530), (0.03, 3, None, 530), (0.9, None, 60, 1),
     (0.3, None, 60, 530)],
)  # fmt: skip
def test_a_scale_that_shrinks_for_ever(shrink, C, budget, size):
    """It passes 2^-64 up to 40 times; blocks begin in between, and old coefficients vanish."""
    X, y = waves(530)
    y, loss = (y, "squared") if C is None else (hard_streams.classes_of(X, C), "hinge")
    given = {
        "step": 0.05, "schedule": "constant", "regularization": (1 - shrink) / 2 / 0.05,
        "budget": budget,
    }  # fmt: skip
    model, _ = assert_equals_its_twin(
        kb.GradientDescent(features=None, **given), of_gradients(**given), X, y, C,
        kb.EXP(loss=loss), regression.EXP, kernels=(POOL[1:3], TWINS[1:3]), size=size,
    )  # fmt: skip
    if budget is None:
        assert ((scale_of(model) >= SMALL) & (scale_of(model) <= 1)).all()


# -- under a budget: the last examples with labels ----------------------------------------------


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("budget", "C", "policy"), pairwise([1, 12, 140], [None, 2, 4], [EVERY, POLICIES["random"]])
)
def test_budgets(budget, C, policy):
    """Each learner holds the last labelled examples of some weight; of classes some of no slope."""
    X, y = waves(190)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "squared" if C is None else "hinge"
    given = {"step": 0.2, "regularization": 0.3, "budget": budget, "loss": loss}
    importance = np.random.default_rng(0).choice([0.0, 0.5, 1.0], len(y))
    poly = kb.MLPoly("absolute" if C is None else "mistakes"), naive_combiners.MLPoly
    model, expected = assert_equals_its_twin(
        kb.GradientDescent(features=None, **given), of_gradients(**given), X, y, C, *poly,
        policy=policy, kernels=(POOL[1:3], TWINS[1:3]), size=150, importance=importance,
    )  # fmt: skip
    held = np.flatnonzero(expected.asked & (importance > 0))[-budget:]
    np.testing.assert_array_equal(model.support_vectors_, X[held])


# -- what is refused ---------------------------------------------------------------------------

WRONG = [
    ({"schedule": "adagrad"}, "schedule 'adagrad' needs features, got features=None"),
    ({"schedule": "normalized"}, "schedule 'normalized' needs features, got features=None"),
    (
        {"step": 1.0, "regularization": 0.5, "schedule": "constant"},
        r"2 \* step \* regularization must be below 1, got 1",
    ),
    ({"restart": 3}, "a restart needs features, got features=None"),
    ({"step": 10.0, "regularization": 1.0}, "must be below 1, got 20"),
]


@pytest.mark.parametrize(("parameters", "message"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        make([parameters], None).fit(*waves(10))
    if "step" in parameters:  # a known horizon makes it small enough
        make([{**parameters, "schedule": "root", "horizon": 10_000}], None).fit(*waves(10))


@pytest.mark.parametrize(("size", "budget"), [(1, None), (40, 30)])
def test_a_step_that_diverges(size, budget):
    """The model is what it was before the block that overflows, and goes on from there."""
    X, y = waves(120)
    parameters = {"step": 3.0, "schedule": "constant", "budget": budget}
    model = make([parameters], kb.Uniform(), kernels=POOL[:1])
    says(model, X[:3], y[:3])
    for _ in range(100):
        state, rounds_ = state_of(model), model.n_rounds_
        try:
            says(model, 1e3 * X[:size], y[:size])
        except NonFiniteError as error:
            message = str(error)
            break
        assert np.isfinite(model.dual_coef_).all()
    assert "diverged" in message or "overflowed" in message
    assert (model.n_rounds_, state_of(model)) == (rounds_, state)


def test_an_overflow_after_a_shift_changes_nothing():
    """The scale has moved into the coefficients in the block that a later row makes overflow."""
    X, y = hard_streams.gaussian_clouds(200, 3, 0)
    X[:100, 2] = 0.0
    steps = {"step": 0.4, "schedule": "constant", "regularization": 1.0}
    learner = kb.GradientDescent(features=None, **steps)
    model = plain.regressor([kb.Gaussian(sigma=1), kb.Polynomial(3)], learner)
    model.learn(X[:100], y[:100])
    before, state = model.predict(X), scale_of(model).copy()
    bad, weights = X[100:].copy(), np.ones(100)
    bad[60], weights[60] = (0.0, 0.0, 1e120), 0.0  # far from rows of its own block alone
    with pytest.raises(NonFiniteError, match="overflowed"):
        model.learn(bad, y[100:], sample_weight=weights)
    assert model.n_rounds_ == 100
    np.testing.assert_array_equal(scale_of(model), state)
    np.testing.assert_array_equal(model.predict(X), before)
    learned = plain.regressor([kb.Gaussian(sigma=1), kb.Polynomial(3)], learner)
    learned.learn(X, y)
    model.learn(X[100:], y[100:])
    np.testing.assert_array_equal(model.predict(X), learned.predict(X))
    assert 0.2**60 < 2.0**-64, "enough rounds for a shift before the overflow"
