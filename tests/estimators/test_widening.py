"""Rows of more features than before: those so far had 0 there."""

import numpy as np
import pytest
from covering import pairwise
from sklearn.linear_model import SGDRegressor

import kernbrook as kb
from kernbrook.engine.deciding import read_boards
from kernbrook.estimators.pool import pool_of

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 5))
X[:70, 3:] = 0.0
X[60:66] = X[:6]  # rows come again
SCORE = X[:, 0] * X[:, 1] + X[:, 3] + 0.2 * rng.normal(size=150)
TWO, THREE = (SCORE > 0).astype(int), np.digitize(SCORE, [-0.5, 0.5])
KERNELS = [kb.Gaussian(sigma=1.0), kb.Laplacian(sigma=4.0), kb.Polynomial(2, 1.0)]
GAUSSIANS = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=3.0)]
LEARNERS = {
    "slots": kb.BPAS(8),
    "gram": kb.Projectron(8),
    "points": kb.Pegasos(8, upkeep="merge"),
    "expansion": kb.Perceptron(),
    "window": kb.GradientDescent(features=None, budget=6, loss="hinge"),
    "mixed": [kb.BPAS(8), kb.LastLabel(), kb.Forgetron(5)],
}


def halves(model, y, quick):
    """It learns rows of three features, then of five."""
    model.partial_fit(X[:70, :3], y[:70], classes=np.unique(y))
    if quick:
        model.learn_one(X[0, :3], y[0])
    model._widen(5)
    if quick:
        for row, label in zip(X[70:], y[70:], strict=True):
            model.learn_one(row, label)
    else:
        model.partial_fit(X[70:], y[70:])
    return model


@pytest.mark.parametrize(
    ("name", "scaling", "quick"),
    pairwise(LEARNERS, [None, "moments", "maximum", "ranks"], [True, False]),
)
def test_it_is_as_if_they_had_always_been_there(name, scaling, quick):
    kernels, y = (GAUSSIANS, TWO) if name == "points" else (KERNELS, THREE)
    if name == "window":
        y = TWO
    model = kb.OnlineMKClassifier(kernels, LEARNERS[name], scaling=scaling, random_state=0)
    full = kb.OnlineMKClassifier(kernels, LEARNERS[name], scaling=scaling, random_state=0)
    full.partial_fit(X[:70], y[:70], classes=np.unique(y))
    if quick:
        full.learn_one(X[0], y[0])
    full.partial_fit(X[70:], y[70:])
    halves(model, y, quick)
    assert model.n_features_in_ == 5
    assert model.n_rounds_ == full.n_rounds_
    assert model.n_support_stored_ == full.n_support_stored_
    np.testing.assert_allclose(model.decision_function(X), full.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), full.predict_proba(X), atol=1e-9)


def test_kernels_that_share_their_support():
    y, pool = TWO, [kb.Linear(), kb.Cauchy(sigma=1)]
    model = kb.OnlineMKClassifier(pool, combiner=kb.GroupNorm(), scaling=None)
    full = kb.OnlineMKClassifier(pool, combiner=kb.GroupNorm(), scaling=None).fit(X, y)
    found = halves(model, y, False).decision_function(X)
    np.testing.assert_allclose(found, full.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    "learner",
    [
        kb.Ridge(forgetting=0.99, features=kb.RandomFeatures(20)),
        kb.GradientDescent(features=kb.RandomFeatures(20, "orthogonal")),
    ],
    ids=str,
)
def test_random_features_go_on(learner):
    model = kb.OnlineMKRegressor(GAUSSIANS, learner, scaling=None, random_state=0)
    model.partial_fit(X[:70, :3], SCORE[:70])
    before, wide = model.predict(X[:70, :3]), np.pad(X[:70, :3], [(0, 0), (0, 2)])
    model._widen(5)
    np.testing.assert_allclose(model.predict(wide), before, atol=1e-12)
    late = np.mean((model.predict(X[70:]) - SCORE[70:]) ** 2)
    model.partial_fit(X[70:], SCORE[70:])
    assert np.mean((model.predict(X[70:]) - SCORE[70:]) ** 2) < late


@pytest.mark.parametrize(
    "learner",
    [
        kb.Ridge(features=kb.RandomFeatures(20, inputs=2)),
        kb.Ridge(features=kb.Monomials()),
        kb.External(SGDRegressor(random_state=0), every=1),
        kb.Cells([kb.RandomBinning(9, [1, None], cells=500), kb.GrownPartitions(5, 60, 2, 10)]),
        kb.BoostedTrees(3, 4, 40, work=90),
    ],
    ids=str,
)
def test_others_begin_anew_beside_what_goes_on(learner):
    """At first they say 0, and later they know."""
    kernel = kb.Polynomial(1) if "Monomials" in str(learner) else kb.Gaussian(sigma=2)
    model = kb.OnlineMKRegressor(kernel, [kb.LastLabel(), learner], scaling=None, random_state=0)
    model.partial_fit(X[:70, :3], SCORE[:70])
    model._widen(5)
    views, raw = model._seen(X[70:])
    board = next(read_boards(model._model, views, raw))[1]
    assert (board.scores[:, 1:] == 0).all()
    assert (board.scores[:, 0] == SCORE[69] - model.offset_).all()
    model.partial_fit(X[70:], SCORE[70:])
    assert np.isfinite(model.predict(X)).all()
    assert next(read_boards(model._model, views, raw))[1].scores[:, 1:].any()


@pytest.mark.parametrize("kind", [kb.OnlineMKClassifier, kb.OnlineMKRegressor])
def test_the_default_goes_on_with_more_features(kind):
    """Its trees keep fewer rows from 33 features on, and begin anew; the others go on."""
    y = TWO if kind is kb.OnlineMKClassifier else SCORE
    rows = [np.pad(X, [(0, 0), (0, width - 5)]) for width in (30, 50, 120)]
    model = kind(random_state=0).partial_fit(rows[0], y)
    for wider in rows[1:]:
        model._widen(wider.shape[1])
        assert model.n_rounds_ == 150
        assert model.score(wider, y) > 0.7


def test_all_begins_anew_where_the_default_has_other_parts():
    narrow, wide = (pool_of("auto", None, None, False, width, "moments") for width in (512, 513))
    assert len(narrow.members) != len(wide.members)
    model = kb.OnlineMKClassifier(random_state=0).fit(X, TWO)
    model._widen(520)
    assert model.n_rounds_ == 0
    assert model.classes_.tolist() == [0, 1]
    model.partial_fit(np.pad(X, [(0, 0), (0, 515)]), TWO)
    assert model.score(np.pad(X, [(0, 0), (0, 515)]), TWO) > 0.65  # of classes of equal size


@pytest.mark.parametrize("learner", [kb.Projectron(8), kb.Ahpatron(8), kb.BPAS(8)], ids=str)
def test_kept_values_of_a_function_as_kernel(learner):
    """Whether a function sees further features nobody knows: values that are kept begin anew."""

    def features(A, B):
        return np.tanh(A @ B.T + A.shape[1])

    model = kb.OnlineMKClassifier([kb.Callable(features)], learner, scaling=None, random_state=0)
    model.partial_fit(X[:70, :3], TWO[:70], classes=[0, 1])
    before = model.n_support_stored_
    model._widen(5)
    kept = isinstance(learner, kb.BPAS)  # which keeps no kernel values
    assert model.n_support_stored_ == (before if kept else 0)
    assert model.partial_fit(X[70:], TWO[70:]).n_support_stored_ > 0
