"""AdaRaker, on learners that begin afresh, against its twin."""

import hard_streams
import numpy as np
import plain
import pytest
from driving import says, seed_of, waves
from every_learner import features_of
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import progress_of, theta_of
from naive import ada_raker as naive
from naive import regression

import kernbrook as kb
from kernbrook.errors import InputError

SEED = 5
WAVES = kb.RandomFeatures(6)
POOL = [kb.Gaussian(sigma=1.5), kb.Laplacian(sigma=3), kb.Cauchy(sigma=1)]


def drifting(n=150, d=3, seed=1):
    """The sign of the target changes half way."""
    X, y = waves(n, d, seed)
    return X, np.where(np.arange(n) < n // 2, y, -y)


# -- the machine and its twin ------------------------------------------------------------------


def learners(levels, step=1.0, carried=False, features=WAVES, **others):
    return [
        kb.GradientDescent(
            min(0.5, step / 2 ** (j / 2)), "constant", features=features,
            restart=None if carried else 2**j, **others,
        )
        for j in range(levels)
    ]  # fmt: skip


def make(combiner, pool, selection=None, numbers=True, kernels=POOL, **others):
    kind = plain.regressor if numbers else plain.classifier
    return kind(kernels, pool, combiner, selection, random_state=SEED, **others)


def twin(X, y, loss, levels, C=None, step=1.0, descent=None, **others):
    def learner(rate, d):
        return regression.Descent(d, C, step=rate, schedule="constant", **(descent or {}))

    return naive.run(
        y,
        [features_of(kernel, WAVES, X, i) for i, kernel in enumerate(POOL)],
        learner,
        loss,
        levels,
        step,
        C=C,
        seed=seed_of(SEED),
        **others,
    )


def assert_same(model, said, expected, y, C=None, rtol=1e-9):
    if C is None:
        size = np.abs(y).max()
        np.testing.assert_allclose(said, expected.predictions, rtol=0, atol=rtol * size)
        errors = expected.losses / max(model.labels_asked_, 1)
        np.testing.assert_allclose(model.expert_errors_, errors, rtol=100 * rtol)
    else:
        np.testing.assert_array_equal(said, expected.predictions)
        np.testing.assert_allclose(model.expert_mistakes_, expected.losses, rtol=1e-12)
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=10 * rtol)
    np.testing.assert_array_equal(progress_of(model).used, expected.used)
    theta = np.concatenate([own.ravel() for own in expected.thetas])
    size = np.abs(theta).max(initial=1e-300)
    np.testing.assert_allclose(theta_of(model), theta, rtol=0, atol=100 * rtol * size)


# -- AdaRaker ----------------------------------------------------------------------------------

FRESH = {"as printed": (True, False), "as published": (False, True), "weights": (True, True)}


@pytest.mark.parametrize(("loss", "fresh"), [("squared", "weights"), ("absolute", "as printed")])
def test_steps_losses_weights_and_caps(loss, fresh):
    X, y = drifting(120)
    y[40] = 1e3
    importance = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 5.0], len(y))
    restart, carried = FRESH[fresh]
    expected = twin(
        X, y, loss, 4, step=0.3, restart=restart, carried=carried, importance=importance, cap=2.0,
        descent={"regularization": 0.02},
    )  # fmt: skip
    combiner = kb.AdaRaker(4, 0.3, restart, loss, cap=2.0)
    model = make(combiner, learners(4, 0.3, carried, regularization=0.02))
    assert_same(model, says(model, X, y, size=50, importance=importance), expected, y)


@pytest.mark.parametrize(
    ("selection", "own", "fresh"),
    [
        (kb.AdaptiveSelection(0.9), {"ratio": 0.9}, "as printed"),
        (kb.Selection(update="drawn", smoothing=0.3), {"drawn": 0.3}, "as published"),
    ],
    ids=str,
)
def test_selections(selection, own, fresh):
    X, y = drifting(140)
    restart, carried = FRESH[fresh]
    expected = twin(X, y, "squared", 5, restart=restart, carried=carried, **own)
    model = make(kb.AdaRaker(5, restart=restart), learners(5, carried=carried), selection)
    assert_same(model, says(model, X, y, size=33), expected, y)


@settings(max_examples=40, deadline=None)
@given(
    levels=st.integers(1, 5),
    step=st.sampled_from([0.05, 0.5, 1.0]),
    fresh=st.sampled_from(list(FRESH)),
    C=st.sampled_from([None, 2, 3]),
    n=st.integers(1, 40),
    size=st.integers(1, 40),
    seed=st.integers(0, 2**31 - 1),
)
def test_random_streams(levels, step, fresh, C, n, size, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = rng.normal(size=n) if C is None else rng.integers(C, size=n)
    importance = rng.choice([0.0, 0.5, 2.0], size=n)
    loss = "squared" if C is None else "logistic"
    restart, carried = FRESH[fresh]
    expected = twin(
        X, y, loss, levels, C, step, {"loss": loss}, restart=restart, carried=carried,
        importance=importance,
    )  # fmt: skip
    combiner = kb.AdaRaker(levels, step, restart, loss)
    model = make(combiner, learners(levels, step, carried, loss=loss), numbers=C is None)
    assert_same(model, says(model, X, y, C, size, importance), expected, y, C, rtol=1e-8)


@pytest.mark.data
@pytest.mark.parametrize("restart", [False, True])
def test_the_recipe_on_energy(restart):
    X, y = hard_streams.real("energy", 300)
    X, kernels, levels = X.toarray(), kb.kernels.resolve("amkl17")[5::4], 12
    features = kb.RandomFeatures(50, normalize=False)
    Zs = [features_of(kernel, features, X, i) for i, kernel in enumerate(kernels)]

    def learner(rate, d):
        return regression.Descent(d, step=rate / 50, schedule="constant", regularization=0.01)

    expected = naive.run(
        y, Zs, learner, "squared", levels, 0.5, restart, not restart, seed=seed_of(SEED)
    )
    model = kb.recipes.make("ada-raker", kernels=kernels, restart=restart, random_state=SEED)
    assert_same(model, says(model, X, y, size=130), expected, y)


# -- what it is for ----------------------------------------------------------------------------


@pytest.mark.parametrize("restart", [False, True])
def test_it_follows_a_change_faster_than_raker(restart):
    """Raker's steps have shrunk by the time of the change; short intervals have large ones."""
    X, y = waves(4000)
    y = np.where(np.arange(len(y)) < 3000, y, -y)
    errors = []
    for name, own in (("ada-raker", {"restart": restart}), ("raker", {})):
        model = kb.recipes.make(name, mode="library", random_state=0, **own)
        errors.append((says(model, X, y) - y) ** 2)
    after = slice(3000, 3200)
    adaptive, static = (error[after].mean() for error in errors)
    assert adaptive < 0.7 * static


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("combiner", "message"),
    [
        (kb.AdaRaker(2, loss="linearized"), "one of squared, absolute, hinge, logistic, got 'lin"),
        (kb.AdaRaker(2, loss="hinge"), "for regression expected a loss"),
    ],
)
def test_bad_combiners(combiner, message):
    X, y = waves(10)
    with pytest.raises(InputError, match=message):
        make(combiner, learners(2)).fit(X, y)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (kb.GradientDescent(features=None), "needs learners on features, which"),
        ([kb.GradientDescent()] * 2, "needs 3 learners, got"),
    ],
)
def test_what_its_levels_need(learner, message):
    model = plain.regressor([kb.Gaussian(sigma=1)], learner, kb.AdaRaker(levels=3))
    with pytest.raises(InputError, match=message):
        model.fit([[0.0], [1.0]], [0.0, 1.0])
