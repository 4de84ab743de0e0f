"""The trivial baselines as estimators: verbs, files, what they refuse."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone, is_classifier, is_regressor

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.confidence import intervals_of
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor

X = np.zeros((4, 2))
KINDS = {
    "majority": (TrivialClassifier, [3, 5, 5, 3], 5),
    "last-label": (TrivialClassifier, [3, 5, 5, 3], 3),
    "mean": (TrivialRegressor, [1.0, 2.0, 4.5, 0.5], 2.0),
    "last-value": (TrivialRegressor, [1.0, 2.0, 4.5, 0.5], 0.5),
}
each = pytest.mark.parametrize("name", KINDS)


@each
def test_verbs(name):
    kind, y, expected = KINDS[name]
    model = kb.recipes.make(name)
    assert type(model) is kind
    assert is_regressor(model) == (kind is TrivialRegressor) != is_classifier(model)
    assert kb.recipes.task(name) == ("regression" if is_regressor(model) else "classification")
    assert not hasattr(model, "labels_asked_")
    assert model.partial_fit(X, y).predict(X[:3]).tolist() == [expected] * 3
    assert (model.labels_asked_, model.n_rounds_, model.n_support_stored_) == (4, 4, 0)
    assert model.kernel_weights_.shape == (0,)
    assert model.fit(X[:2], y[1:3]).labels_asked_ == 2
    again = clone(model)
    assert again.strategy == name
    assert not hasattr(again, "n_rounds_")
    assert np.isfinite(model.score(X, y))


@each
def test_rows_without_a_label(name, tmp_path):
    """They are rounds without one, wherever chunks are cut."""
    kind, y, _ = KINDS[name]
    told = {"classes": [3, 5]} if kind is TrivialClassifier else {}
    gap = None if told else np.nan
    some = [gap, y[0], gap, y[1], *y[2:], gap]
    whole, parts, full = kind(name), kind(name), kind(name)
    with intervals_of(0.9):
        said = whole._learn_scored(np.zeros((7, 2)), some, **told)
        others = [parts._learn_scored(X[:1], [label], **told) for label in some]
        without = full._learn_scored(X, y, **told)
    assert said.asked.tolist() == [False, True, False, True, True, True, False]
    assert said.predictions.tolist() == [one.predictions[0] for one in others]
    assert said.predictions[said.asked].tolist() == without.predictions.tolist()
    if said.half_widths is not None:
        assert said.half_widths[said.asked].tolist() == without.half_widths.tolist()
    assert (whole.n_rounds_, whole.labels_asked_) == (7, 4)
    kb.save(parts, tmp_path / "m")
    kb.save(whole, tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert kb.load(tmp_path / "m").n_rounds_ == 7
    assert whole.predict(X[:1]) == full.predict(X[:1])


def learned(model):
    """What a model has, but for whose turn it is to use it."""
    return {name: value for name, value in vars(model).items() if name != "_turn"}


@pytest.mark.parametrize(
    ("model", "y"), [(TrivialClassifier(), [0.5, 1.5] * 2), (TrivialRegressor(), [1e101] * 4)]
)
def test_a_first_fit_that_fails_leaves_no_trace(model, y, tmp_path):
    with pytest.raises(ValueError, match=r"y: expected|Unknown label type"):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")
    kb.save(model, tmp_path / "m")
    assert learned(kb.load(tmp_path / "m")) == learned(model)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (TrivialRegressor("median"), [1.0] * 4, "must be 'mean' or 'last-value', got 'median'"),
        (TrivialClassifier(), [None] * 4, "y: no row has a label: expected one, or classes"),
        (TrivialClassifier(), np.array([1, "a"] * 2, dtype=object), "one kind, .* int and str"),
        (TrivialRegressor(), ["a"] * 4, "y: expected numbers, got <U1"),
        (TrivialRegressor(), [1.0, np.inf, 1.0, 2.0], "size below 1e100, found inf"),
        (TrivialRegressor(), [1.0, 1e101, 1.0, 2.0], r"size below 1e100, found 1e\+101"),
    ],
)
def test_what_is_refused(model, y, message):
    with pytest.raises(InputError, match=message):
        model.learn(X, y)
    assert not hasattr(model, "labels_asked_")


@pytest.mark.parametrize("classes", [[3, 5], [3, 5, 9]])
def test_shares_of_labels(classes):
    """One label more of each class; what is said is the likeliest, by a hair where several are."""
    rng = np.random.default_rng(0)
    y = rng.choice(classes, 50)
    model = TrivialClassifier()
    chances = model._learn_scored(np.zeros((50, 1)), y, classes).probabilities
    for t in range(50):
        counts = np.array([1 + np.sum(y[:t] == one) for one in classes])
        np.testing.assert_allclose(chances[t], counts / counts.sum(), atol=1e-9)
    said = TrivialClassifier().learn(np.zeros((50, 1)), y, classes)[0]
    np.testing.assert_array_equal(np.array(classes)[chances.argmax(axis=1)], said)
    model.partial_fit(np.zeros((1, 1)), y[:1])
    assert model.predict_proba(np.zeros((2, 1))).shape == (2, len(classes))
    assert not hasattr(TrivialClassifier("last-label"), "predict_proba")


def test_intervals_of_the_mean():
    """Of normal labels as many as they are to; at few labels too, by Student's distribution."""
    rng = np.random.default_rng(0)
    inside = np.zeros((2000, 12), dtype=bool)
    for i in range(2000):
        y = 1e6 + rng.normal(size=12)
        with intervals_of(0.8):
            low, high = TrivialRegressor()._learn_scored(np.zeros((12, 1)), y).intervals.T
        inside[i] = (low <= y) & (y <= high)
    assert inside[:, :2].all()  # infinite before the second label
    assert (abs(inside[:, 2:].mean(axis=0) - 0.8) < 0.03).all()
    model = TrivialRegressor()
    for part in (y[:5], y[5:]):
        model.partial_fit(np.zeros((len(part), 1)), part)
    low, high = model.predict_interval(np.zeros((3, 1)), 0.8)[0]
    assert (low + high) / 2 == pytest.approx(y.mean())
    half = stats.t.ppf(0.9, 11) * y.std(ddof=1) * np.sqrt(1 + 1 / 12)
    assert high - low == pytest.approx(2 * half, rel=1e-6)
    assert not hasattr(TrivialRegressor("last-value"), "predict_interval")
    with pytest.raises(InputError, match="coverage: expected a number in"):
        model.predict_interval(np.zeros((1, 1)), 2)
