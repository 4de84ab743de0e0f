"""Deviations and intervals of regressors, with their coverage measured as the stream goes."""

import numpy as np
import pytest
from naive import calibration as naive
from sklearn.datasets import make_friedman1

import kernbrook as kb
from kernbrook.estimators.confidence import WINDOW, Residuals

rng = np.random.default_rng(0)
X = rng.uniform(0, 6, size=(300, 1))
y = 5 + np.sin(X[:, 0]) + rng.normal(0, 0.1, size=300)


def told(errors, far=False):
    """Residuals that have met these errors."""
    residuals = Residuals().begun_far() if far else Residuals()
    n = len(errors)
    residuals.learn(np.zeros((n, 1)), errors, np.ones(n), np.ones(n, dtype=bool))
    return residuals


@pytest.mark.parametrize(
    ("n", "far"), [(0, True), (8, False), (9, True), (2500, False), (2500, True)]
)
def test_the_same_as_the_definition(n, far):
    errors = np.random.default_rng(n).standard_cauchy(n)
    residuals = told(errors, far)
    for coverage in (0.5, 0.9, 0.99):
        expected = naive.half_width(errors[-WINDOW:], coverage, far)
        assert residuals.half_width(coverage) == pytest.approx(expected, rel=1e-9)
    assert residuals.deviation() == pytest.approx(naive.deviation(errors[-WINDOW:]))
    chunks = Residuals()
    for i in range(0, n, 7):
        part = errors[i : i + 7]
        chunks.learn(np.zeros((len(part), 1)), part, np.ones(len(part)), np.ones(len(part)) > 0)
    for name, array in residuals.arrays().items():
        np.testing.assert_array_equal(chunks.arrays()[name], array)


def test_errors_of_no_size():
    assert told(np.zeros(50)).half_width(0.9) == told(np.zeros(50)).deviation() == 0
    assert told(np.full(50, 1e300)).deviation() == pytest.approx(1e300)


def test_what_comes_back():
    model = kb.OnlineMKRegressor(random_state=0).fit(X, y)
    mean, deviation = model.predict(X[:5], return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X[:5]))
    assert deviation.shape == (5,)
    assert 0.08 < deviation[0] < 0.15
    low, high = model.predict_interval(X[:5], coverage=0.5).T
    np.testing.assert_allclose((low + high) / 2, mean)
    assert (high - low < np.diff(model.predict_interval(X[:5])).ravel()).all()
    few = kb.OnlineMKRegressor(random_state=0).fit(X[:8], y[:8])
    assert np.isinf(few.predict_interval(X[:5])).all()


@pytest.mark.parametrize("stream", ["still", "growing", "heavy"])
def test_coverage_of_intervals(stream):
    """Of each window of 1,000 labels 88 to 92 % lie within; each row before its own label."""
    X, y = make_friedman1(3000, noise=1.0, random_state=0)
    noise = np.random.default_rng(1)
    if stream == "growing":
        y = y + noise.normal(size=3000) * np.linspace(0, 10, 3000)
    if stream == "heavy":
        y = y + noise.standard_t(2, size=3000)
    said, _ = kb.OnlineMKRegressor(random_state=0).learn(X, y)
    errors, residuals, inside = y - said, Residuals(), np.zeros(3000, dtype=bool)
    one = np.ones(1)
    for t in range(3000):
        inside[t] = abs(errors[t]) <= residuals.half_width(0.9)
        residuals.learn(np.zeros((1, 1)), errors[t : t + 1], one, one > 0)
    shares = inside.reshape(3, 1000).mean(axis=1)
    assert ((shares >= 0.88) & (shares <= 0.92)).all(), shares


def test_rows_known_by_heart_say_nothing_of_new_ones():
    """A second pass over the same rows does not make the intervals narrower."""
    model = kb.OnlineMKRegressor(
        [kb.Gaussian(sigma=0.01)], kb.GradientDescent(features=None), scaling=None, center=False
    )
    rows = np.arange(300.0)[:, None]  # each far from all others: known by heart, or not at all
    noise = np.random.default_rng(1).normal(size=300)
    model.fit(rows, noise)
    before = np.diff(model.predict_interval(rows[:1]))
    model.partial_fit(rows, noise)
    np.testing.assert_array_equal(np.diff(model.predict_interval(rows[:1])), before)
