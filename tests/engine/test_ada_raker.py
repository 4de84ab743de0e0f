"""Learners that begin afresh, and AdaRaker on top of them, against their twins."""

import hard_streams
import numpy as np
import plain
import pytest
from driving import says, seed_of, waves
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import progress_of, state_of, theta_of
from naive import ada_raker as naive
from naive import features as naive_features
from naive import regression, rounds
from sklearn.datasets import load_diabetes

import kernbrook as kb
from kernbrook.checks import check
from kernbrook.errors import InputError
from kernbrook.features.pools import draw

SEED = 5
WAVES = kb.RandomFeatures(6)
POOL = [kb.Gaussian(sigma=1.5), kb.Laplacian(sigma=3), kb.Cauchy(sigma=1)]


# -- streams -----------------------------------------------------------------------------------


def drifting(n=150, d=3, seed=1):
    """The sign of the target changes half way."""
    X, y = waves(n, d, seed)
    return X, np.where(np.arange(n) < n // 2, y, -y)


def diabetes(n=150):
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(4).permutation(len(y))[:n]
    return 20 * X[order], (y[order] - y.mean()) / y.std()


STREAMS = {function.__name__: function for function in (waves, drifting, diabetes)}


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


def features_of(X, kernels=POOL, features=WAVES, seed=SEED):
    """Of each kernel (T, d), by the naive maps, from the frequencies that were drawn."""
    out = []
    for i, kernel in enumerate(kernels):
        V = draw(kernel, features, X.shape[1], seed_of(seed), i).arrays()["frequencies"]
        out.append(np.array([naive_features.random_features(V, x, features.normalize) for x in X]))
    return out


def twin(X, y, loss, levels, C=None, step=1.0, descent=None, **others):
    def learner(rate, d):
        return regression.Descent(d, C, step=rate, schedule="constant", **(descent or {}))

    return naive.run(
        y, features_of(X), learner, loss, levels, step, C=C, seed=seed_of(SEED), **others
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


# -- learners that begin afresh ----------------------------------------------------------------

RESTARTING = {
    "root": {"step": 0.4},
    "root, horizon": {"step": 3.0, "horizon": 50, "regularization": 0.05},
    "constant": {"step": 0.2, "schedule": "constant", "regularization": 0.1},
    "normalized": {"step": 0.3, "schedule": "normalized"},
    "adagrad": {"step": 0.3, "schedule": "adagrad", "regularization": 0.05},
}
SELECTIONS = {
    "all": (None, {}),
    "adaptive": (kb.AdaptiveSelection(0.9), {"ratio": 0.9}),
    "drawn update": (
        kb.Selection(update="drawn", smoothing=0.3),
        {"update": "drawn", "smoothing": 0.3},
    ),
}


def restarting_twin(
    X, y, restart, C=None, combined="squared", importance=None, selection=None, **parameters
):
    experts = [
        naive.Restarting(Z, lambda d=Z.shape[1]: regression.Descent(d, C, **parameters), restart)
        for Z in features_of(X)
    ]
    return rounds.run(
        y, experts, regression.EXP(len(experts)), combined, numbers=C is None, seed=seed_of(SEED),
        importance=importance, **(selection or {}),
    )  # fmt: skip


@pytest.mark.thinned
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("restart", [1, 7, 32, 1000])
@pytest.mark.parametrize("name", RESTARTING)
def test_restarts(name, restart, selection):
    """Labels of no weight, and those that an expert does not learn from, count as labels."""
    X, y = drifting(90)
    importance = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    chosen, own = SELECTIONS[selection]
    parameters = RESTARTING[name]
    expected = restarting_twin(X, y, restart, importance=importance, selection=own, **parameters)
    learner = kb.GradientDescent(features=WAVES, restart=restart, **parameters)
    model = make(kb.EXP(), learner, chosen)
    said = says(model, X, y, size=40, importance=importance)
    np.testing.assert_allclose(said, expected.predictions, rtol=0, atol=1e-9)
    theta = np.concatenate([expert.learner.theta.ravel() for expert in expected.experts])
    np.testing.assert_allclose(theta_of(model), theta, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=1e-9)


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_restarts_of_classes(loss, C):
    X, y = waves(100)
    y = hard_streams.classes_of(X, C)
    expected = restarting_twin(X, y, 9, C, "logistic", step=0.5, loss=loss)
    learner = kb.GradientDescent(0.5, loss=loss, features=WAVES, restart=9)
    model = make(kb.EXP(loss="logistic"), learner, numbers=False)
    np.testing.assert_array_equal(says(model, X, y, C, 41), expected.predictions)
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=1e-9)


# -- AdaRaker ----------------------------------------------------------------------------------

FRESH = {"as printed": (True, False), "as published": (False, True), "weights": (True, True)}


@pytest.mark.thinned
@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize("levels", [1, 3, 6])
@pytest.mark.parametrize("stream", STREAMS)
def test_numbers(stream, levels, fresh):
    X, y = STREAMS[stream]()
    restart, carried = FRESH[fresh]
    expected = twin(X, y, "squared", levels, restart=restart, carried=carried)
    model = make(kb.AdaRaker(levels, restart=restart), learners(levels, carried=carried))
    assert_same(model, says(model, X, y, size=64), expected, y)


@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
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


@pytest.mark.thinned
@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_classes(loss, C, fresh):
    X, y = waves(130)
    y = hard_streams.classes_of(X, C)
    restart, carried = FRESH[fresh]
    expected = twin(X, y, loss, 5, C, restart=restart, carried=carried, descent={"loss": loss})
    combiner = kb.AdaRaker(5, restart=restart, loss=loss)
    model = make(combiner, learners(5, carried=carried, loss=loss), numbers=False)
    assert_same(model, says(model, X, y, C, 50), expected, y, C)


@pytest.mark.parametrize("fresh", FRESH)
@pytest.mark.parametrize(
    ("selection", "own"),
    [
        (kb.AdaptiveSelection(0.9), {"ratio": 0.9}),
        (kb.Selection(update="drawn", smoothing=0.3), {"drawn": 0.3}),
    ],
    ids=["adaptive", "drawn update"],
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
    Zs = features_of(X, kernels, features, seed=0)

    def learner(rate, d):
        return regression.Descent(d, step=rate / 50, schedule="constant", regularization=0.01)

    expected = naive.run(
        y, Zs, learner, "squared", levels, 0.5, restart, not restart, seed=seed_of(0)
    )
    model = kb.recipes.make("ada-raker", kernels=kernels, restart=restart, random_state=0)
    assert_same(model, says(model, X, y, size=130), expected, y)


# -- blocks, labels, files ---------------------------------------------------------------------


@pytest.mark.thinned
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("C", [None, 3])
def test_chunks_change_nothing(C, selection):
    X, y = waves(600)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "squared" if C is None else "logistic"

    def fresh():
        return make(
            kb.AdaRaker(7, loss=loss), learners(7, loss=loss), SELECTIONS[selection][0], C is None
        )

    whole = fresh()
    said = says(whole, X, y, C)
    for size in (1, 7, 256):
        model = fresh()
        np.testing.assert_array_equal(says(model, X, y, C, size), said)
        assert state_of(model) == state_of(whole)
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))


def test_learning_alone_is_learning_together():
    """A policy that asks for all labels goes the other way through the pass."""
    X, y = waves(700)
    alone, together = (
        make(kb.AdaRaker(8), learners(8), labels=labels) for labels in ("all", kb.RandomLabels(1.0))
    )
    np.testing.assert_array_equal(says(alone, X, y), says(together, X, y))
    assert state_of(alone) == state_of(together)


@pytest.mark.parametrize("policy", [kb.Disagreement(0.5, 2), kb.LabelBudget(0.4)])
def test_examples_that_are_not_asked_about_change_nothing(policy):
    X, y = drifting(300)
    model = make(kb.AdaRaker(6), learners(6), labels=policy)
    asked = model.learn(X, y)[1]
    assert 20 < asked.sum() < 250
    of_those = make(kb.AdaRaker(6), learners(6)).partial_fit(X[asked], y[asked])
    for name in ("log_weights", "losses", "state"):
        np.testing.assert_array_equal(
            getattr(progress_of(model), name), getattr(progress_of(of_those), name)
        )
    np.testing.assert_array_equal(theta_of(model), theta_of(of_those))


def test_a_file_in_the_middle_of_an_interval(tmp_path):
    X, y = waves(100)
    model = make(kb.AdaRaker(5), learners(5)).partial_fit(X[:45], y[:45])
    kb.save(model, tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    np.testing.assert_array_equal(says(loaded, X[45:], y[45:]), says(model, X[45:], y[45:]))
    assert state_of(loaded) == state_of(model)


def test_losses_of_a_million():
    X, y = waves(200)
    y = 1e3 * y
    expected = twin(X, y, "squared", 6)
    model = make(kb.AdaRaker(6), learners(6))
    assert_same(model, says(model, X, y), expected, y, rtol=1e-8)
    assert not np.isnan(progress_of(model).log_weights).any()


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
        (kb.AdaRaker(0), "levels must be an integer from 1 to 40, got 0"),
        (kb.AdaRaker(2.0), "levels must be an integer from 1 to 40, got 2.0"),
        (kb.AdaRaker(2, step=0.0), "step must be a positive number, got 0.0"),
        (kb.AdaRaker(2, restart=1), "restart must be True or False, got 1"),
        (kb.AdaRaker(2, loss="linearized"), "one of squared, absolute, hinge, logistic, got 'lin"),
        (kb.AdaRaker(2, loss="hinge"), "for regression expected a loss"),
        (kb.AdaRaker(4), "needs 4 learners, got"),
    ],
)
def test_bad_combiners(combiner, message):
    X, y = waves(10)
    with pytest.raises(InputError, match=message):
        make(combiner, learners(2)).fit(X, y)


@pytest.mark.parametrize("restart", [0, 2.5, -3, "4", True, np.inf])
def test_bad_restarts(restart):
    with pytest.raises(InputError, match="restart must be"):
        check(kb.GradientDescent(restart=restart))


def test_restarts_need_features():
    with pytest.raises(InputError, match="a restart needs features"):
        kb.GradientDescent(features=None, restart=3).rule()


@pytest.mark.parametrize(
    "learner", [kb.GradientDescent(features=None), [kb.GradientDescent()] * 2, kb.Ridge()]
)
def test_what_its_levels_need(learner):
    model = plain.regressor([kb.Gaussian(sigma=1)], learner, kb.AdaRaker(levels=3))
    with pytest.raises(InputError, match=r"needs (learners on features, which|3 learners, got)"):
        model.fit([[0.0], [1.0]], [0.0, 1.0])
