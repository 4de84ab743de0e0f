"""Weights of examples are relative importance, and no step goes past what it aims at."""

import numpy as np
import pytest
from sklearn.base import is_regressor

import kernbrook as kb

rng = np.random.default_rng(2)
X = rng.normal(size=(1600, 3))
Y = 2 * X[:, 0] + 0.1 * X[:, 1]
SIDES = (X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1600) > 0).astype(int)
WIDE = kb.Gaussian(sigma=2.0)
STEPS = kb.GradientDescent(0.5, "normalized")
ON_KERNEL = kb.GradientDescent(0.5, "root", features=None, budget=200)
WEIGHTS = {
    "a twentieth of 12": np.where(np.arange(1600) % 20 == 0, 12.0, 1.0),
    "half of 9": np.where(np.arange(1600) % 2, 9.0, 1.0),
    "lognormal": rng.lognormal(np.log(20.0), 1.0, 1600),
    "one over chances": 1 / rng.uniform(0.05, 1.0, 1600),
    "growing": np.linspace(1.0, 5.0, 1600),
    "gamma": rng.gamma(1.0, 1.0, 1600),
}
REGRESSORS = {
    "default": lambda: kb.OnlineMKRegressor(random_state=0),
    "steps": lambda: kb.OnlineMKRegressor([WIDE], STEPS, random_state=0),
    "steps on a kernel": lambda: kb.OnlineMKRegressor([WIDE], ON_KERNEL, random_state=0),
    "steps, EXP": lambda: kb.OnlineMKRegressor([WIDE] * 2, STEPS, kb.EXP(), random_state=0),
}


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        *((("steps", "steps, EXP")[i % 2], weights) for i, weights in enumerate(WEIGHTS)),
        *(("default", "lognormal"), ("steps on a kernel", "half of 9")),
    ],
)
def test_mixed_weights(name, weights):
    """Nothing diverges, and it is nearly as good as without weights, at each horizon."""
    usual, weighed = (REGRESSORS[name]() for _ in "ab")
    usual.fit(X[:1200], Y[:1200])
    weighed.fit(X[:1200], Y[:1200], sample_weight=WEIGHTS[weights][:1200])
    for delay in (0, None):
        usual.delay = weighed.delay = delay
        error, before = (1 - model.score(X[1200:], Y[1200:]) for model in (weighed, usual))
        assert error < 1.25 * before + 0.02


@pytest.mark.parametrize("size", [1e-3, 3.0, 1e3])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_equal_weights_are_none(kind, size):
    """Bit by bit, in chunks and row by row."""
    if kind == "numbers":
        usual, weighed, rows = (REGRESSORS["steps"]() for _ in "abc")
        labels, named = Y, {}
    else:
        usual, weighed, rows = (kb.OnlineMKClassifier([WIDE], random_state=0) for _ in "abc")
        labels, named = SIDES, {"classes": [0, 1]}
    usual.partial_fit(X[:300], labels[:300], **named)
    weighed.partial_fit(X[:300], labels[:300], sample_weight=np.full(300, size), **named)
    rows.partial_fit(X[:2], labels[:2], sample_weight=[size] * 2, **named)
    for x, label in zip(X[2:300], labels[2:300], strict=True):
        rows.learn_one(x, label, sample_weight=size)
    for one in (weighed, rows):
        found, expected = one.state(), usual.state()
        assert found.pop("usual") == size
        for own in found:
            np.testing.assert_array_equal(found[own], expected[own], err_msg=own)


def test_weights_in_chunks_rows_files_and_merged(tmp_path):
    """The mean weight goes along."""
    weights = WEIGHTS["lognormal"]
    whole = REGRESSORS["steps"]().partial_fit(X[:400], Y[:400], sample_weight=weights[:400])
    parts = REGRESSORS["steps"]()
    for i in range(0, 200, 7):
        own = slice(i, min(i + 7, 200))
        parts.partial_fit(X[own], Y[own], sample_weight=weights[own])
    kb.save(parts, tmp_path / "model")
    parts = kb.load(tmp_path / "model")
    for i in range(200, 400):
        parts.learn_one(X[i], Y[i], sample_weight=weights[i])
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    assert parts.state()["usual"] == whole.state()["usual"]
    merged = kb.load(tmp_path / "model").merge(whole)
    assert merged._model.usual != 1.0


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize("schedule", ["normalized", "root", "constant"])
def test_a_great_weight_goes_all_the_way_and_not_past_it(schedule, loss):
    """The step of a heavy row is at least that of weight 1, and not past the least loss."""
    steps = kb.GradientDescent(0.2, schedule, loss=loss)
    said = []
    for weight in (1.0, 3.0, 900.0):
        model = kb.OnlineMKClassifier([WIDE], steps, kb.Uniform(), random_state=0, scaling=None)
        model.partial_fit(X[:5], SIDES[:5], classes=[0, 1])
        model.partial_fit(X[:1] + 0.5, [1], sample_weight=[weight])
        said.append(model.decision_function(X[:1] + 0.5)[0])
    assert said[0] <= said[1] <= said[2]
    assert said[2] <= {"squared": 1.0, "hinge": 1.5, "logistic": 8.0}[loss]


# -- a row of weight 0 is a row without a label --------------------------------------------------

FEW = slice(120)
THREE = np.digitize(Y[FEW], [-1.0, 1.0])
NOTHING = np.arange(120) % 3 == 1


def held(model, labels, weights=None):
    """All that is learned of the rows, but how many labels were looked at."""
    if weights is None:
        labels = np.where(NOTHING, None, labels)
    named = {} if is_regressor(model) else {"classes": np.unique(labels[~NOTHING].astype(int))}
    model.learn(X[FEW], labels, sample_weight=weights, **named)
    found = dict(model.state())
    found["progress.counters"] = found["progress.counters"][[0, 1, 2, 5]]
    return found


def classifier(learner, **choices):
    return lambda: kb.OnlineMKClassifier([WIDE], learner, random_state=0, **choices)


@pytest.mark.parametrize(
    ("make", "labels"),
    [
        (classifier(kb.SparsePA(), scaling=None), SIDES[FEW]),
        (classifier(kb.GradientDescent(0.5, features=None)), THREE),
        (classifier(kb.Pegasos(), selection=kb.Selection("drawn", "drawn")), THREE),
        (classifier([kb.BPAS(9), kb.LastLabel()], combiner=kb.Stack()), SIDES[FEW]),
        (classifier(None), THREE),
        (REGRESSORS["default"], Y[FEW]),
    ],
)
def test_a_row_of_weight_0_is_left_out(make, labels):
    """Here and there in a chunk, whatever its label says."""
    without, weightless = held(make(), labels), held(make(), labels, np.where(NOTHING, 0.0, 1.0))
    assert without.keys() == weightless.keys()
    for name, array in without.items():
        assert np.array_equal(array, weightless[name], equal_nan=True), name


def test_a_class_of_weight_0_is_never_said_and_is_probable_as_it_is():
    weighed = classifier(kb.BPAS(9), class_weight={0: 0, 1: 1, 2: 1})()
    assert 0 not in weighed.learn(X[FEW], THREE, classes=[0, 1, 2])[0][1:]
    assert 0 not in weighed.predict(X)
    assert weighed.predict_proba(X)[:, 0].mean() > 0.1
