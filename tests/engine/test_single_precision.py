"""Kernels in single precision, on request: what it changes, and what it must not."""

from __future__ import annotations

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from inside import state_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

import kernbrook as kb
from kernbrook.engine.stores import slots
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.rows import Block, DenseRows, SparseRows
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.values import add_points

POOL = [kb.Gaussian(gamma=0.3), kb.Polynomial(2, offset=1), kb.Cauchy(gamma=0.3)]
LEARNERS = {
    "rbp": (kb.RBP(20), POOL),
    "bpas": (kb.BPAS(20), POOL),
    "projectron++": (kb.ProjectronPlusPlus(20), POOL),
    "many slots": (kb.BPAS(300), [kb.Gaussian(gamma=0.1)]),
    "without a budget": (kb.PassiveAggressive(), POOL),
    "the last few": (kb.RBP(20), [kb.Gaussian(gamma=0.02), kb.Gaussian(gamma=0.06)]),
}
FORMS = {"dense": np.asarray, "sparse": sp.csr_matrix}


def drawn(n=500, d=9, classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[n // 2] = X[n // 3]  # a row that comes again
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2, np.linspace(0, 1.5, classes - 1))


def model_of(name, dtype="float32", **named):
    learner, kernels = LEARNERS[name]
    named = {"judge_stored": False, **named}
    combiner = kb.Hedge(loss="hinge")
    return plain.classifier(kernels, learner, combiner, random_state=0, dtype=dtype, **named)


@pytest.mark.sampled
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_chunks_of_any_size(name, form, classes, monkeypatch):
    # More rows than slots, and than a chunk.
    X, y = drawn(500 if name == "many slots" else 200, classes=classes)
    model = model_of(name)
    expected = model.learn(form(X), y)[0], state_of(model)
    for chunk in (1, 37):
        again, found = model_of(name), []
        for lo in range(0, len(y), chunk):
            some = slice(lo, lo + chunk)
            found.append(again.learn(form(X[some]), y[some], classes=np.unique(y))[0])
        assert_array_equal(np.concatenate(found), expected[0])
        assert state_of(again) == expected[1]
    monkeypatch.setattr(slots, "WINDOW", 7)
    again = model_of(name)
    assert_array_equal(again.learn(form(X), y)[0], expected[0])
    assert state_of(again) == expected[1]


@pytest.mark.parametrize("name", LEARNERS)
def test_dense_and_sparse_rows(name):
    X, y = drawn()
    dense, sparse = model_of(name), model_of(name)
    assert_array_equal(dense.learn(X, y)[0], sparse.learn(sp.csr_matrix(X), y)[0])
    assert_array_equal(dense.decision_function(X), sparse.decision_function(sp.csr_matrix(X)))


@pytest.mark.thinned
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("name", LEARNERS)
def test_decisions_are_equal_but_where_the_margin_is_rounding(name, load):
    X, y = load(return_X_y=True)
    y = y % 2
    exact, near = (model_of(name, dtype, scaling="moments") for dtype in ("float64", "float32"))
    rows, differences = 0, []
    for lo in range(0, len(y), 20):
        some = slice(lo, lo + 20)
        if lo:
            wanted, found = exact.decision_function(X[some]), near.decision_function(X[some])
            size = np.abs(wanted).max()
            differences.append(np.abs(wanted - found).max() / size)
            assert_allclose(found, wanted, atol=1e-3 * size)
            clear = np.abs(wanted) > 1e-3 * size
            assert_array_equal((found > 0)[clear], (wanted > 0)[clear])
        said = [model.learn(X[some], y[some], classes=[0, 1])[0] for model in (exact, near)]
        if not np.array_equal(*said):  # from here on they learn from other mistakes
            break
        rows += len(y[some])
    assert rows > 300
    assert max(differences) > 0.0  # or nothing was asked for


@pytest.mark.parametrize("form", [DenseRows.of, lambda X: SparseRows.of(sp.csr_matrix(X))])
def test_squared_distances(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30)) + 5.0
    X[1] = X[0]
    X[2:20] = X[0] + rng.normal(size=(18, 30)) * np.logspace(-9, 0, 18)[:, None]
    exact = ((X[:, None] - X) ** 2).sum(axis=2)
    rows = form(X)
    layout = Layout([kb.Gaussian(gamma=0.01)], dtype="float32")
    pairs = Block(rows, layout).own_pairs()
    found = pairs[layout.channels.index(1)]
    assert found[0, 1] == 0.0
    assert_array_equal(np.diagonal(found), 0.0)
    assert_allclose(found, exact, rtol=2e-3)
    far = exact > 1e-3 * 2 * (X**2).sum(axis=1).max()
    assert np.any(found[far] != Block(rows, Layout([kb.Gaussian(gamma=0.01)])).own_pairs()[1][far])


def test_equal_rows_have_equal_kernels():
    X, _ = drawn()
    for kernel in (kb.Laplacian(gamma=0.2), kb.Gaussian(gamma=3.0)):
        layout = Layout([kernel], dtype="float32")
        assert Block(DenseRows.of(X), layout).own_pairs()[-1].diagonal().max() == 0.0


def test_ladders_are_short():
    """A power multiplies the relative error, and an exponential has one of 1e-7 already."""
    X, _ = drawn()
    widths = [0.001 * 4**i for i in range(5)]
    layout = Layout([kb.Gaussian(gamma=gamma) for gamma in widths], dtype="float32")
    assert layout.plan.power.tolist() == [1, 4, 4, 1, 4]
    rows = DenseRows.of(X)
    pairs = Block(rows, layout).own_pairs()
    scores = np.zeros((5, len(X)))
    scratch = np.empty((2, len(X)), np.float32)
    add_points(layout.plan, pairs, 0, 1, 0, len(X), np.ones((1, 5)), scores, scores.copy(), scratch)
    exact = [kb.Gaussian(gamma=gamma)(X[:1], X)[0] for gamma in widths]
    assert_allclose(scores, exact, rtol=1e-4)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("size", [1e19, 1e30, 1e150])
def test_rows_beyond_the_range_of_32_bits_are_refused(size, form):
    X, y = drawn()
    model = model_of("without a budget").fit(form(X), y)
    before, huge = state_of(model), form(X * size)
    for call in (lambda: model.learn(huge, y), lambda: model.predict(huge)):
        with pytest.raises(NonFiniteError, match=r"values of size below 1e18.*row 0 of the chunk"):
            call()
    with pytest.raises(NonFiniteError, match="values of size below 1e18"):
        model.learn_one(X[0] * size, y[0])
    assert state_of(model) == before
    exact = model_of("bpas", dtype="float64", scaling="moments").learn(huge, y)[0]
    scaled = model_of("bpas", scaling="moments").learn(huge, y)[0]
    assert np.mean(exact == scaled) > 0.99


def test_merging_learners_stay_in_double_precision():
    X, y = drawn()
    learner = kb.Pegasos(budget=20, upkeep="merge")
    models = [
        plain.classifier([kb.Gaussian(gamma=0.3)], learner, random_state=0, dtype=dtype)
        for dtype in ("float64", "float32")
    ]
    found = [model.learn(X, y)[0] for model in models]
    assert_array_equal(*found)
    assert state_of(models[0]) == state_of(models[1])


def test_it_is_kept_in_files_and_copies(tmp_path):
    X, y = drawn()
    model = model_of("bpas").fit(X, y)
    kb.save(model, tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    assert loaded.dtype == clone(model).dtype == "float32"
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_array_equal(loaded.learn(X, y)[0], model.learn(X, y)[0])


def test_other_types_are_refused():
    X, y = drawn()
    with pytest.raises(InputError, match="dtype must be 'float64' or 'float32'"):
        model_of("bpas", dtype="float16").fit(X, y)


@pytest.mark.parametrize(("features", "equal"), [(None, False), ("auto", True)])
def test_numbers_as_labels_and_random_features(features, equal):
    X, _ = drawn()
    y, found = X[:, 0] + X[:, 1] ** 2, []
    learner = kb.GradientDescent(0.5, features=features)
    for dtype in ("float64", "float32"):
        model = kb.OnlineMKRegressor([kb.Gaussian(gamma=0.3)], learner, random_state=0, dtype=dtype)
        found.append(model.fit(X, y).predict(X))
    assert np.array_equal(*found) == equal
    assert_allclose(*found, atol=1e-5)
