"""What is read off a run: metrics, confusion, drift."""

import sys
from functools import cache

import hard_streams
import numpy as np
import pytest

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.evaluation.baselines import river as needed


def run(C=2, n=300, model=None, names=None):
    return _run(C, n, model, None if names is None else tuple(names))


@cache
def _run(C, n, model, names):
    X, y = hard_streams.gaussian_clouds(n)
    if C == 0:
        return kb.prequential(kb.recipes.make("kernbrook-regression", random_state=0), X, X[:, 0])
    y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
    y = y if names is None else np.array(names)[y]
    return kb.prequential(kb.recipes.make("omkc-dd") if model is None else model, X, y)


def test_scores_are_decisions_before_the_labels():
    for C in (2, 3):
        X, y = hard_streams.gaussian_clouds(150)
        y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
        record = kb.prequential(kb.recipes.make("bpas", budget=9), X, y)
        assert record.classes.tolist() == list(range(C))
        np.testing.assert_array_equal(record.labels, y)
        one = kb.recipes.make("bpas", budget=9)
        one.learn(X[:1], y[:1], classes=range(C))
        expected = []
        for i in range(1, 150):
            expected.append(one.decision_function(X[i : i + 1])[0])
            one.learn(X[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(record.scores[1:], expected, rtol=1e-9, atol=1e-12)
        best = record.scores >= 0 if C == 2 else record.scores.argmax(axis=1)
        np.testing.assert_array_equal(record.predictions, best)


def test_confusion():
    record = run(3, names=["c", "a", "b"])
    expected = [
        [np.sum((record.labels == i) & (record.predictions == j)) for j in "abc"] for i in "abc"
    ]
    assert record.confusion().tolist() == expected
    X, y = hard_streams.gaussian_clouds(20)
    record = kb.prequential(kb.recipes.make("majority"), X, np.abs(y), classes=[-1, 1])
    assert record.confusion().tolist() == [[0, 0], [0, 20]]  # classes that never came, too


def test_drift():
    X = np.zeros((2000, 1))
    y = np.where(np.arange(2000) % 5 > 0, 1, -1)
    turned = np.where(np.arange(2000) < 1000, y, -y)
    still, record = (kb.prequential(kb.recipes.make("majority"), X, one) for one in (y, turned))
    assert still.drift().tolist() == []
    signals = record.drift()
    assert 1000 < signals[0] < 1200
    assert (signals % 32 == 31).all()
    numbers = kb.prequential(kb.recipes.make("mean"), X, np.arange(2000) // 1000 * 1.0)
    assert 1000 < numbers.drift()[0] < 1100


def test_bad_input():
    with pytest.raises(InputError, match="expected a record of classes, found one of"):
        run(0).confusion()
    with pytest.raises(InputError, match=r"detector: expected one of river.drift, got 3"):
        run(n=40).drift(3)


def test_without_river(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.setitem(sys.modules, "river.metrics.base", None)  # imported by others, perhaps
    assert run(n=40).drift().tolist() == []
    with pytest.raises(InputError, match=r"a metric needs the package river: pip install river"):
        needed("metrics.base", "a metric")
