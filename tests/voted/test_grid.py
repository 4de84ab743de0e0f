"""Grids: cross-validation, the paper's protocol, the recipes."""

from functools import partial

import hard_streams
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC
from voted_problems import POLYNOMIALS, clouds, columns_of, ionosphere, of_length_one

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.voted import settings_of, solve_grid
from kernbrook.evaluation.recipes_wanted import recipes_for
from kernbrook.papers.vkr import paper_folds
from kernbrook.recipes.vkr import RECIPES

GRID = [1.0, 0.1, 0.01, 0.001]


@pytest.fixture(scope="module")
def data():
    return ionosphere(160)


def one(lam, beta, kernels=POLYNOMIALS[:3]):
    return kb.VotedKernelClassifier(kernels, lam=lam, beta=beta, unit_length=True)


def grid(**parameters):
    return kb.VotedKernelClassifierCV(
        **{"kernels": POLYNOMIALS[:3], "lams": GRID, "betas": GRID, "unit_length": True}
        | parameters
    )


@pytest.mark.data
def test_the_choice_is_that_of_single_fits(data):
    X, y = data
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = grid(cv=cv).fit(X, y)
    assert model.errors_.shape == model.n_support_.shape == (16, 3)
    for i, at in enumerate(model.grid_):
        for fold, (train, test) in enumerate(cv.split(X, y)):
            alone = one(at["lam"], at["beta"]).fit(X[train], y[train])
            assert model.errors_[i, fold] == pytest.approx(1 - alone.score(X[test], y[test]))
            assert abs(model.n_support_[i, fold] - alone.n_support_stored_) <= 1
    means = model.errors_.mean(axis=1)
    least = [at for at, mean in zip(model.grid_, means, strict=True) if mean == means.min()]
    best = max(least, key=lambda at: (at["lam"], at["beta"]))
    assert (model.lam_, model.beta_) == (best["lam"], best["beta"])
    again = one(model.lam_, model.beta_).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    assert model.objective_ == again.objective_
    assert model.n_support_stored_ == model.best_estimator_.n_support_stored_


def test_settings_that_cannot_be_solved_are_left_out(tmp_path):
    X, y = clouds(40, 3)
    wild = kb.Polynomial(9, offset=1)
    parameters = {"lams": [0.0], "betas": [1e-3], "one_kernel": True, "cv": 2, "unit_length": False}
    model = grid(kernels=[POLYNOMIALS[0], wild], **parameters)
    message = r"1 of 2 settings are left out, such as lam=0, beta=0.001: kernel \(x.z \+ 1\)\^9: .*"
    with pytest.warns(FitFailedWarning, match=message):
        model.fit(300 * X, y)
    np.testing.assert_array_equal(np.isinf(model.errors_), [[False] * 2, [True] * 2])
    assert model.kernels_ == (POLYNOMIALS[0],)
    kb.save(model, tmp_path / "model.kb")
    loaded = kb.load(tmp_path / "model.kb")
    np.testing.assert_array_equal(loaded.errors_, model.errors_)
    with pytest.raises(InputError, match=r"lam=0, beta=0.001: kernel \(x.z \+ 1\)\^9"):
        grid(kernels=[wild], **parameters).fit(300 * X, y)


def test_ties_go_to_the_larger_lam_then_beta():
    settings = settings_of(2, [0.1, 1.0], [2.0, 3.0])
    assert [(at.lam, at.beta, at.pool) for at in settings] == [
        (1.0, 3.0, 0), (1.0, 3.0, 1), (1.0, 2.0, 0), (1.0, 2.0, 1),
        (0.1, 3.0, 0), (0.1, 3.0, 1), (0.1, 2.0, 0), (0.1, 2.0, 1),
    ]  # fmt: skip
    X, y = clouds()
    model = grid(lams=[9.0, 30.0], betas=[7.0, 5.0], cv=3).fit(X, y)  # all are 0
    assert (model.lam_, model.beta_) == (30.0, 7.0)


@pytest.mark.data
def test_one_kernel(data):
    X, y = data
    model = grid(lams=[0.0], one_kernel=True, complexity="max", cv=3).fit(X, y)
    assert len(model.grid_) == 3 * 4
    best = model.grid_[model.errors_.mean(axis=1).argmin()]
    assert model.kernels_ == (best["kernel"],)
    assert model.beta_ == best["beta"]
    alone = one(0.0, best["beta"], [best["kernel"]]).fit(X, y)
    assert model.objective_ == pytest.approx(alone.objective_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"betas": 0.1}, "betas: expected a sequence of numbers, got 0.1"),
        ({"lams": [0.0], "betas": [0.1, 0.0]}, "would cost nothing"),
        ({"betas": [-1.0]}, "beta: expected a finite number from 0"),
        ({"cv": [([0, 1], [2, 3])]}, "a training part of the cross-validation lacks"),
    ],
)
def test_bad_grids(parameters, words):
    X, y = clouds()
    y[:2] = 1
    with pytest.raises(InputError, match=words):
        grid(**parameters).fit(X, y)


# -- the paper's protocol ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 53])
def test_folds(n):
    runs = paper_folds(n, 3)
    tests = [test for _, _, test in runs]
    assert sorted(np.concatenate(tests)) == list(range(n))
    assert {len(test) for test in tests} <= {n // 5, n // 5 + 1}
    for i, (train, validation, test) in enumerate(runs):
        np.testing.assert_array_equal(validation, tests[(i + 1) % 5])
        assert sorted(np.concatenate([train, validation, test])) == list(range(n))
    np.testing.assert_array_equal(tests[0], paper_folds(n, 3)[0][2])
    with pytest.raises(InputError, match="five examples or more"):
        paper_folds(4)


# -- recipes ------------------------------------------------------------------------------------


def test_which_recipes_are_batch():
    batch = [name for name in kb.recipes.names() if kb.recipes.batch(name)]
    assert batch == list(RECIPES) == ["vkr-trace", "vkr-pdim", "vkr-local", "l1-svm", "l2-svm"]
    assert not {*recipes_for("classification"), *recipes_for("regression")} & set(batch)
    assert {kb.recipes.task(name) for name in batch} == {"classification"}


@pytest.mark.data
@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name, data):
    X, y = data
    model = clone(kb.recipes.make(name))
    build = partial(kb.recipes.make, name)
    if name == "l2-svm":
        assert len(model.param_grid["svc__kernel"]) == 10
        assert model.param_grid["svc__C"] == [10.0**i for i in range(-4, 8)]
        model = build(kernels=POLYNOMIALS[:2], costs=[0.1, 10.0]).fit(X, y)
        kernel = model.best_params_["svc__kernel"]
        machine = make_pipeline(Normalizer(), SVC(kernel=kernel, C=model.best_params_["svc__C"]))
        np.testing.assert_array_equal(machine.fit(X, y).predict(X), model.predict(X))
    else:
        assert len(model._pool()) == 10
        assert [float(beta) for beta in model.betas] == [10.0**-i for i in range(7)]
        assert model.unit_length
        assert set(model.lams) == ({0.0} if name == "l1-svm" else set(model.betas))
        model = build(kernels=POLYNOMIALS[:2], betas=[0.01, 0.001], cv=3).fit(X, y)
    assert model.score(X, y) > 0.9
    scaled = build("library", kernels=POLYNOMIALS[:2])
    assert not getattr(scaled, "unit_length", False)
    if name == "l2-svm":
        np.testing.assert_array_equal(scaled.estimator[0].transform(3 * X), 3 * X)


@pytest.mark.data
def test_gaussians_that_are_nearly_alike():
    """Rows differ by 1e-6 of their size, and the simplex method does not end at the first try."""
    X, y = hard_streams.real("german")
    X, y = of_length_one(X.toarray()), (y > 0).astype(int)
    some = np.random.default_rng(2).permutation(len(y))[:450]
    kernels = [kb.Gaussian(gamma=10.0**power) for power in range(-6, 1)]
    columns = columns_of(kernels, X[some])
    settings = settings_of(1, [1.0, 1e-2, 1e-4], [1.0, 0.1, 1e-2, 1e-4])
    found = dict(solve_grid(columns, y[some], settings, 0, "trace", 0.1, 1e-7))
    assert len(found) == 12
