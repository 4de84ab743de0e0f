"""Gradient descent on kernel expansions, whose coefficients all shrink, against its twin."""

import hard_streams
import numpy as np
import plain
import pytest
import scipy.sparse as sp
from driving import says, seed_of, waves
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import counts_of, progress_of, scale_of, state_of
from naive import combiners as naive_combiners
from naive import kernels as naive_kernels
from naive import policies, regression, rounds
from sklearn.datasets import load_diabetes

import kernbrook as kb
from kernbrook.engine.stores.expansion import SMALL
from kernbrook.errors import InputError, NonFiniteError

SEED = 5
POOL = [kb.Linear(), kb.Gaussian(gamma=0.1), kb.Gaussian(gamma=0.4), kb.Cauchy(gamma=0.3)]
TWINS = [
    *(naive_kernels.linear(), naive_kernels.gaussian(0.1), naive_kernels.gaussian(0.4)),
    naive_kernels.cauchy(0.3),
]
NUMBERS = {
    "root": {"step": 0.2},
    "root, horizon": {"step": 2.0, "horizon": 100, "regularization": 0.1},
    "constant": {"step": 0.1, "schedule": "constant", "regularization": 0.5},
    "epsilon": {"step": 0.3, "loss": "epsilon-insensitive", "regularization": 0.05},
    "epsilon, constant": {
        "step": 0.1,
        "schedule": "constant",
        "loss": "epsilon-insensitive",
        "epsilon": 0.5,
    },
}
CLASSES = {
    "squared": {"step": 0.2, "regularization": 0.1},
    **{
        f"{loss}, {schedule}": {
            "step": 0.3,
            "loss": loss,
            "schedule": schedule,
            "regularization": 0.1,
        }
        for loss in ("logistic", "hinge")
        for schedule in ("root", "constant")
    },
    "hinge, never shrinks": {"step": 0.3, "loss": "hinge", "schedule": "constant"},
}


def make(learners, combiner, numbers=True, selection=None, kernels=POOL, **others):
    kind = plain.regressor if numbers else plain.classifier
    pool = [kb.GradientDescent(features=None, **parameters) for parameters in learners]
    return kind(kernels, pool, combiner, selection, random_state=SEED, **others)


def twin(X, y, learners, combiner, loss, C=None, twins=TWINS, **others):
    experts = [
        regression.Expansion(X, kernel, C, **parameters)
        for parameters in learners
        for kernel in twins
    ]
    return rounds.run(
        y, experts, combiner(len(experts)), loss, numbers=C is None, seed=seed_of(SEED), **others
    )


def coefficients_of(expected, T):
    """(T, e, c), 0 where an example is no support vector."""
    scores = expected.experts[0].alphas.shape[1]
    out = np.zeros((T, len(expected.experts), scores))
    for e, expert in enumerate(expected.experts):
        out[expert.rows, e] = expert.alphas
    return out


def assert_same(model, predictions, expected, X, y, C=None, rtol=1e-9):
    """Coefficients to `rtol` of themselves: those of old examples are as good as the newest."""
    if C is None:
        size = np.abs(y).max()
        np.testing.assert_allclose(predictions, expected.predictions, rtol=0, atol=rtol * size)
    else:
        np.testing.assert_array_equal(predictions, expected.predictions)
    coefficients = coefficients_of(expected, len(y))
    kept = coefficients.any(axis=(1, 2))
    np.testing.assert_array_equal(model.support_vectors_, X[kept])
    found = model.dual_coef_ if C not in (None, 2) else model.dual_coef_[:, :, None]
    largest = np.abs(coefficients).max(axis=(0, 2), keepdims=True)[0]
    for mine, theirs in zip(found, coefficients[kept], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=0.01 * rtol * largest.min())
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=10 * rtol)
    losses = progress_of(model).losses
    np.testing.assert_allclose(losses, expected.losses, rtol=100 * rtol)
    counts = np.count_nonzero(coefficients.any(axis=2), axis=0)
    np.testing.assert_array_equal(counts_of(model), counts)
    assert model.n_support_stored_ == counts.sum()
    assert model.n_support_active_ == counts[expected.used].sum()


# -- against the twin --------------------------------------------------------------------------


@pytest.mark.parametrize("combiner", ["EXP", "MLPoly"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, combiner):
    X, y = waves(140)
    of_twin = {"EXP": regression.EXP, "MLPoly": naive_combiners.MLPoly}[combiner]
    expected = twin(X, y, [NUMBERS[name]], of_twin, "squared")
    model = make([NUMBERS[name]], getattr(kb, combiner)(loss="squared"))
    assert_same(model, says(model, X, y, size=60), expected, X, y)


@pytest.mark.parametrize("C", [2, 4])
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, C):
    X, y = waves(140)
    y = hard_streams.classes_of(X, C)
    expected = twin(X, y, [CLASSES[name]], lambda m: naive_combiners.Hedge(m, 0.9), "hinge", C)
    model = make([CLASSES[name]], kb.Hedge(0.9, "hinge"), numbers=False)
    assert_same(model, says(model, X, y, C, 60), expected, X, y, C)


@pytest.mark.thinned
@pytest.mark.parametrize("name", [name for name in CLASSES if not name.startswith("logistic")])
@pytest.mark.parametrize("C", [2, 5])
@pytest.mark.parametrize("stream", [*hard_streams.DRAWN, "wdbc"])
def test_hard_streams(stream, C, name):
    """Duplicates with several labels, scores that cancel: what is within rounding is 0."""
    X, y = hard_streams.many_classes(stream, 110, C)
    X = X / np.abs(X).max()
    kernels, twins = POOL[:2], TWINS[:2]
    expected = twin(X, y, [CLASSES[name]], regression.Uniform, "mistakes", C, twins)
    model = make([CLASSES[name]], kb.Uniform(), numbers=False, kernels=kernels)
    assert_same(model, says(model, X, y, C, 50), expected, X, y, C, 1e-8)


def test_real_numbers():
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[:200], (y[:200] - y.mean()) / y.std()
    chosen = [NUMBERS["root, horizon"], NUMBERS["epsilon"]]
    expected = twin(X, y, chosen, naive_combiners.MLPoly, "absolute")
    model = make(chosen, kb.MLPoly("absolute"))
    assert_same(model, says(model, X, y, size=77), expected, X, y)


@pytest.mark.data
@pytest.mark.parametrize("name", ["energy", "tomshardware"])
def test_files(name):
    X, y = hard_streams.real(name, 150)
    X = X.toarray()
    chosen = [NUMBERS["constant"], {"step": 0.05, "schedule": "constant"}]
    expected = twin(X, y, chosen, naive_combiners.MLPoly, "squared")
    model = make(chosen, kb.MLPoly("squared"))
    assert_same(model, says(model, X, y, size=77), expected, X, y)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from([*NUMBERS, *CLASSES]),
    C=st.integers(2, 5),
    update=st.sampled_from(["all", "drawn"]),
    n=st.integers(1, 50),
    size=st.integers(1, 50),
    seed=st.integers(0, 2**31 - 1),
)
def test_random_streams(name, C, update, n, size, seed):
    """Sample weights, 0 among them; experts that are not updated do not shrink."""
    rng = np.random.default_rng(seed)
    C = None if name in NUMBERS else C
    X = rng.normal(size=(n, 3))
    y = rng.normal(size=n) if C is None else rng.integers(C, size=n)
    importance = rng.choice([0.0, 0.25, 1.0, 3.0], size=n)
    chosen, loss = [(NUMBERS | CLASSES)[name]], "squared" if C is None else "mistakes"
    expected = twin(
        *(X, y, chosen, naive_combiners.MLPoly, loss, C),
        importance=importance, update=update, smoothing=0.3,
    )  # fmt: skip
    selection = kb.Selection(update=update, smoothing=0.3)
    model = make(chosen, kb.MLPoly(loss), C is None, selection)
    said = says(model, X, y, C, size, importance)
    assert_same(model, said, expected, X, y, C, 1e-7)


def test_an_example_whose_margin_is_met_is_not_added_again():
    """Ten steps of 0.1 add up to 1 but for rounding: no loss is left."""
    assert np.cumsum([0.1] * 10)[-1] < 1
    X = np.ones((30, 2))
    parameters = {"step": 0.1, "schedule": "constant", "loss": "hinge"}
    model = make([parameters], kb.Uniform(), numbers=False, kernels=[kb.Gaussian(sigma=1)])
    says(model, X, np.ones(30, dtype=int), 2)
    assert model.n_support_stored_ == 10


# -- the scale ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("shrink", "C"), [(0.9, None), (0.5, 2), (0.03, 3)])
def test_a_scale_that_shrinks_for_ever(shrink, C):
    """It passes 2^-64 up to 40 times; blocks begin in between, and old coefficients vanish."""
    X, y = waves(530)
    y = y if C is None else hard_streams.classes_of(X, C)
    # One expert shrinks slowly: each has a scale of its own.
    chosen = [
        {"step": 0.05, "schedule": "constant", "regularization": (1 - shrink) / 2 / 0.05},
        {"step": 0.05, "schedule": "constant", "regularization": 0.01},
    ]
    kernels, twins = POOL[1:3], TWINS[1:3]
    loss = "squared" if C is None else "hinge"
    expected = twin(X, y, chosen, regression.EXP, loss, C, twins)
    coefficients = coefficients_of(expected, len(y))
    for size in (1, 530):
        model = make(chosen, kb.EXP(loss=loss), C is None, kernels=kernels)
        predictions = says(model, X, y, C, size)
        if C is None:
            np.testing.assert_allclose(predictions, expected.predictions, rtol=0, atol=1e-9)
        else:
            np.testing.assert_array_equal(predictions, expected.predictions)
        assert ((scale_of(model) >= SMALL) & (scale_of(model) <= 1)).all()
        found = model.dual_coef_ if C == 3 else model.dual_coef_[:, :, None]
        assert found.shape == coefficients.shape  # no example is without a slope
        there = np.abs(coefficients) > 1e-280  # below it, numbers lose digits
        np.testing.assert_allclose(found[there], coefficients[there], rtol=1e-9)
        assert (np.abs(found[~there]) < 1e-270).all()
        np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=1e-9)


@pytest.mark.parametrize(("C", "update"), [(None, "drawn"), (2, "drawn"), (4, "all")])
def test_chunks_change_nothing(C, update):
    """Of more rows than `check_learner` has: blocks end within them."""
    X, y = waves(600)
    y = y if C is None else hard_streams.classes_of(X, C)
    chosen = [{"step": 0.2, "regularization": 2.0}, {"step": 0.1, "schedule": "constant"}]
    chosen[1]["regularization"] = 1.0
    loss = "squared" if C is None else "logistic"

    def fresh():
        selection = kb.Selection(update=update, smoothing=0.3)
        return make(chosen, kb.MLPoly(loss), C is None, selection, POOL[:2])

    whole = fresh()
    said = says(whole, X, y, C)
    for size in (7, 256):
        model = fresh()
        np.testing.assert_array_equal(says(model, X, y, C, size), said)
        assert state_of(model) == state_of(whole)


@pytest.mark.parametrize("C", [None, 2, 4])
def test_predict_says_what_learn_says(C):
    """Also where scores cancel: a step of always 0.1 adds and takes away the same."""
    X, y = hard_streams.binary_features(200)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "epsilon-insensitive" if C is None else "hinge"
    chosen = [{"step": 0.1, "schedule": "constant", "loss": loss}]
    combiner = kb.EXP(loss="absolute" if C is None else "mistakes")
    model = make(chosen, combiner, C is None, kernels=POOL)
    named = {} if C is None else {"classes": np.arange(C)}
    model.learn(X[:1], y[:1], **named)
    for x, label in zip(X[1:, None], y[1:], strict=True):
        before = model.predict(x)
        np.testing.assert_allclose(model.learn(x, [label])[0], before, rtol=1e-12)


# -- under a budget: the last examples with labels ----------------------------------------------


def assert_same_window(model, predictions, expected, X, y, C, rtol=1e-9, importance=1.0):
    """Each learner holds the last labelled examples of some weight, also those of no slope."""
    if C is None:
        np.testing.assert_allclose(predictions, expected.predictions, rtol=0, atol=1e-8)
    else:
        np.testing.assert_array_equal(predictions, expected.predictions)
    labelled = expected.asked & (np.asarray(importance) > 0)
    held = np.flatnonzero(labelled)[-expected.experts[0].budget :]
    learners = len(model._model.stores)
    np.testing.assert_array_equal(model.support_vectors_, np.tile(X[held], (learners, 1)))
    coefficients = coefficients_of(expected, len(y))
    others = np.delete(coefficients, held, axis=0)
    assert not others.any()
    found = model.dual_coef_ if C not in (None, 2) else model.dual_coef_[:, :, None]
    largest = np.abs(coefficients).max(initial=0)
    found = found.reshape(learners, len(held), *found.shape[1:]).sum(axis=0)
    np.testing.assert_allclose(found, coefficients[held], rtol=rtol, atol=1e-12 * largest)
    np.testing.assert_allclose(model.expert_weights_, expected.weights, atol=1e-8)
    np.testing.assert_allclose(progress_of(model).losses, expected.losses, rtol=1e-6)


@pytest.mark.thinned
@pytest.mark.parametrize("policy", [None, "random"], ids=["all labels", "some labels"])
@pytest.mark.parametrize("C", [None, 2, 4])
@pytest.mark.parametrize("budget", [1, 12, 140])
def test_budgets(budget, C, policy):
    X, y = waves(190)
    y = y if C is None else hard_streams.classes_of(X, C)
    loss = "epsilon-insensitive" if C is None else "hinge"
    chosen = [
        {"step": 0.2, "regularization": 0.3, "budget": budget, "loss": loss},
        {"step": 0.1, "schedule": "constant", "regularization": 2.0, "budget": budget},
    ]
    learned = "absolute" if C is None else "mistakes"
    kernels, twins = POOL[1:3], TWINS[1:3]
    importance = np.random.default_rng(0).choice([0.0, 0.5, 1.0], len(y))
    own = policies.everything if policy is None else policies.at_random(0.6)
    expected = twin(
        *(X, y, chosen, naive_combiners.MLPoly, learned, C, twins),
        importance=importance, policy=own,
    )  # fmt: skip
    labels = "all" if policy is None else kb.RandomLabels(0.6)
    combiner = kb.MLPoly(learned)
    model = make(chosen, combiner, C is None, kernels=kernels, labels=labels)
    said = says(model, X, y, C, 150, importance)
    assert_same_window(model, said, expected, X, y, C, importance=importance)


@pytest.mark.parametrize("shrink", [0.9, 0.3])
def test_a_budget_whose_coefficients_shrink_for_ever(shrink):
    X, y = waves(300)
    regularization = (1 - shrink) / 2 / 0.05
    parameters = {"step": 0.05, "schedule": "constant", "regularization": regularization}
    chosen = [{**parameters, "budget": 60}]
    expected = twin(X, y, chosen, regression.EXP, "squared", None, TWINS[1:3])
    for size in (1, 300):
        model = make(chosen, kb.EXP(), kernels=POOL[1:3])
        assert_same_window(model, says(model, X, y, size=size), expected, X, y, None)


@pytest.mark.parametrize("C", [None, 2, 4])
def test_chunks_and_sparsity_change_nothing_under_a_budget(C):
    X, _ = hard_streams.sparse_counts(400)
    y = X[:, 0] - X[:, 1] if C is None else hard_streams.classes_of(X, C)
    chosen = [{"step": 0.05, "regularization": 2.0, "budget": 50}]

    def fresh():
        labels = kb.Disagreement(0.05, 4)
        combiner = kb.MLPoly("squared" if C is None else "logistic")
        return make(chosen, combiner, C is None, kernels=POOL, labels=labels)

    whole = fresh()
    said = says(whole, X, y, C)
    assert 50 < whole.labels_asked_ < 400
    for size, rows in ((1, X), (7, sp.csr_matrix(X)), (256, X)):
        model = fresh()
        np.testing.assert_array_equal(says(model, rows, y, C, size), said)
        assert model.dual_coef_.tobytes() == whole.dual_coef_.tobytes()
        assert model.support_vectors_.tobytes() == whole.support_vectors_.tobytes()
        np.testing.assert_array_equal(model.predict(rows), whole.predict(X))


def test_a_budget_bounds_the_memory():
    X, y = waves(3000)
    sizes = {}
    for budget in (50, None):
        model = make([{"step": 0.1, "budget": budget}], None)
        model.partial_fit(X[:1000], y[:1000])
        before = model.memory_bytes_
        model.partial_fit(X[1000:], y[1000:])
        sizes[budget] = before, model.memory_bytes_
        assert model.n_support_stored_ == 4 * (budget or 3000)
    assert sizes[50][0] == sizes[50][1]
    assert sizes[None][1] > 2 * sizes[None][0]


# -- what is refused ---------------------------------------------------------------------------

WRONG = [
    ({"schedule": "adagrad"}, "schedule 'adagrad' needs features, got features=None"),
    ({"schedule": "normalized"}, "schedule 'normalized' needs features, got features=None"),
    (
        {"step": 1.0, "regularization": 0.5, "schedule": "constant"},
        r"2 \* step \* regularization must be below 1, got 1",
    ),
    ({"step": 10.0, "regularization": 1.0}, "must be below 1, got 20"),
    ({"budget": 0}, "GradientDescent: budget must be"),
    ({"budget": 2.5}, "GradientDescent: budget must be"),
]


@pytest.mark.parametrize(("parameters", "message"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        make([parameters], None).fit(*waves(10))
    if "step" in parameters:  # a known horizon makes it small enough
        make([{**parameters, "schedule": "root", "horizon": 10_000}], None).fit(*waves(10))


@pytest.mark.parametrize("size", [1, 40])
@pytest.mark.parametrize("budget", [None, 30])
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
