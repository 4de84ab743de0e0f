"""A block that is gone through in windows: the same bits as one row after the other."""

from __future__ import annotations

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from inside import state_of
from numpy.testing import assert_array_equal

import kernbrook as kb
from kernbrook.engine.stores import slots

POOL = [kb.Gaussian(gamma=0.3), kb.Laplacian(gamma=0.2), kb.Polynomial(2, offset=1)]
CALLED = kb.Callable(lambda X, Y: 1.0 / (1.0 + np.abs(X[:, :1] - Y[:, 0])))  # X @ Y.T: by shapes
LEARNERS = {
    "rbp": (kb.RBP(20), POOL),
    "bpas": (kb.BPAS(20), POOL),
    "projectron++": (kb.ProjectronPlusPlus(20), POOL),
    "many slots": (kb.BPAS(300), [kb.Gaussian(gamma=2.0), kb.Gaussian(gamma=4.0)]),
    "merging": (kb.Pegasos(budget=20, upkeep="merge"), [kb.Gaussian(gamma=0.3)]),
    "without a budget": (kb.Pegasos(budget=None), [kb.Gaussian(gamma=0.3)]),
    "called": (kb.BPAS(20), [CALLED, kb.Gaussian(gamma=0.3)]),
}


def drawn(n=700, d=6, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[n // 2] = X[n // 3]  # a row that comes again
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2, np.linspace(0, 1.5, classes - 1))


def learned(name, X, y, selection=None):
    learner, kernels = LEARNERS[name]
    choices = kb.Hedge(loss="hinge"), selection or kb.Selection()
    model = plain.classifier(kernels, learner, *choices, random_state=0, judge_stored=False)
    return model.learn(X, y)[0], state_of(model)


@pytest.mark.thinned
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", LEARNERS)
def test_windows_of_any_size(name, form, classes, monkeypatch):
    # More rows than slots, and than the windows of today.
    X, y = drawn(450 if name == "many slots" else 280, classes=classes)
    X = form(X)
    expected = learned(name, X, y)
    for window, block in ((7, 50), (1, 1), (1000, 1000)):
        monkeypatch.setattr(slots, "WINDOW", window)
        monkeypatch.setattr(slots, "BUDGET_BLOCK", block)
        found = learned(name, X, y)
        assert_array_equal(found[0], expected[0])
        assert found[1] == expected[1]


@pytest.mark.parametrize("name", ["rbp", "merging"])
def test_drawn_updates(name, monkeypatch):
    """Experts of one store and the committee take turns, row by row."""
    X, y = drawn()
    drawn_ones = kb.Selection(update="drawn", vote="drawn", smoothing=0.2)
    expected = learned(name, X, y, drawn_ones)
    monkeypatch.setattr(slots, "WINDOW", 7)
    monkeypatch.setattr(slots, "BUDGET_BLOCK", 50)
    assert learned(name, X, y, drawn_ones)[1] == expected[1]


@pytest.mark.parametrize("update", ["all", "drawn"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_threads(form, update, monkeypatch):
    """Groups of experts, each by its own thread, or all in turn."""
    X, y = drawn()
    X, selection = form(X), kb.Selection(update=update)
    expected = learned("rbp", X, y, selection)
    monkeypatch.setattr(kb.gram.sums, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(slots, "WINDOW", 40)
    monkeypatch.setattr(slots, "BUDGET_BLOCK", 200)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert learned("rbp", X, y, selection)[1] == expected[1]
