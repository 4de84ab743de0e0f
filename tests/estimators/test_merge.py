"""Models that learned apart, brought together: what is exact is exact, the rest as it is said."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from inside import progress_of, store_of

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.learners.ridge import matrix_of

ONE = [kb.Gaussian(sigma=0.5)]
X, Y = kb.open_stream("checkerboard:900").read()
NEW, _ = kb.open_stream("checkerboard:200", seed=7).read()


def machine(learner, combiner=None, kernels=ONE, **others):
    combiner = kb.Uniform() if combiner is None else combiner
    others = {"scaling": None, "random_state": 0, **others}
    return kb.OnlineMKClassifier(kernels, learner, combiner, **others)


def shards(model, since=0, count=3, rows=900):
    """A model after some rows, copies that go on from there apart, and one that meets all rows."""
    before = model.fit(X[:since], Y[:since]) if since else None
    parts = []
    for i in range(count):
        own = slice(since + i, rows, count)
        one = deepcopy(before) if since else deepcopy(model)
        parts.append(one.partial_fit(X[own], Y[own], classes=[-1, 1]))
    return before, parts


def merged(before, parts):
    first = deepcopy(parts[0])
    assert first.merge(*parts[1:], since=before) is first
    return first


@pytest.mark.parametrize("since", [0, 100])
def test_ridge_is_that_of_one_machine(since):
    before, parts = shards(machine(kb.Ridge(features=kb.RandomFeatures(20))), since)
    both = merged(before, parts)
    whole = machine(kb.Ridge(features=kb.RandomFeatures(20))).fit(X, Y)
    for name, array in whole.state().items():
        if name.startswith("stores"):
            found = both.state()[name]
            if name.endswith("extra"):  # steps that wait are in the matrix of one, not of the other
                found, array = (matrix_of(one.reshape(-1, 40)) for one in (found, array))
            np.testing.assert_allclose(found, array, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        both.decision_function(NEW), whole.decision_function(NEW), rtol=1e-9, atol=1e-9
    )
    assert both.n_rounds_ == both.labels_asked_ == 900
    losses = [one.expert_mistakes_ for one in parts]
    common = 0 if before is None else 2 * before.expert_mistakes_
    assert (both.expert_mistakes_ == sum(losses) - common).all()


@pytest.mark.parametrize(("scaling", "since"), [("moments", 100), ("maximum", 0)])
def test_what_is_known_of_features_adds_up(scaling, since):
    model = machine(kb.Perceptron(), scaling=scaling)
    before, parts = shards(model, since)
    both = merged(before, parts)
    whole = machine(kb.Perceptron(), scaling=scaling).fit(X, Y)
    names = [name for name in whole.state() if name.startswith("scaler")]
    assert len(names) == 3
    for name in names:
        np.testing.assert_allclose(both.state()[name], whole.state()[name], rtol=1e-12)


@pytest.mark.parametrize(
    ("combiner", "since"), [(kb.Hedge(0.9, "squared"), 0), (kb.EXP(loss="squared"), 30)]
)
def test_losses_of_fixed_experts_add_up(combiner, since):
    rng = np.random.default_rng(0)
    forecasts, y = rng.normal(size=(300, 4)), rng.normal(size=300)

    def fresh():
        return kb.OnlineMKRegressor(
            learner=kb.Advice(columns=[0, 1, 2, 3]), combiner=combiner, scaling=None, center=False
        )

    before = fresh().fit(forecasts[:since], y[:since]) if since else None
    parts = []
    for i in range(3):
        one = fresh() if before is None else deepcopy(before)
        parts.append(one.partial_fit(forecasts[since + i :: 3], y[since + i :: 3]))
    whole = fresh().fit(forecasts, y)
    both = merged(before, parts)
    np.testing.assert_allclose(both.expert_weights_, whole.expert_weights_, rtol=1e-9)
    np.testing.assert_allclose(both.predict(forecasts), whole.predict(forecasts), rtol=1e-9)


@pytest.mark.parametrize("combiner", [kb.MLPoly(), kb.FixedShare(), kb.Stack()])
def test_weights_of_other_combiners(combiner):
    """Of equal models, the weights come out as they went in; of others, between them."""
    kernels = [kb.Gaussian(sigma=0.25), kb.Gaussian(sigma=2)]
    before, parts = shards(machine(kb.Perceptron(), combiner, kernels))
    both = merged(before, parts)
    assert both.expert_weights_[0] > 0.5
    assert both.score(X, Y) > max(one.score(X, Y) for one in parts)
    twin = deepcopy(parts[0]).merge(deepcopy(parts[0]), since=parts[0])
    np.testing.assert_allclose(twin.expert_weights_, parts[0].expert_weights_, rtol=1e-9)
    np.testing.assert_allclose(
        twin.decision_function(NEW), parts[0].decision_function(NEW), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(
    ("learner", "since", "sparse"),
    [(kb.Perceptron(), 0, True), (kb.BPAS(1000), 100, False), (kb.Pegasos(None), 100, True)],
)
def test_expansions_are_averaged_by_labels(learner, since, sparse, monkeypatch):
    monkeypatch.setitem(globals(), "X", sp.csr_matrix(X) if sparse else X)
    before, parts = shards(machine(learner), since, 2, 700)
    parts[0].partial_fit(X[700:], Y[700:])
    both = merged(before, parts)
    counts = np.array([one.labels_asked_ - since for one in parts])
    assert counts[0] > counts[1]
    shares = counts / counts.sum()
    expected = sum(s * one.decision_function(NEW) for s, one in zip(shares, parts, strict=True))
    np.testing.assert_allclose(both.decision_function(NEW), expected, rtol=1e-9, atol=1e-9)
    points = np.concatenate([one.support_vectors_ for one in parts])
    assert both.n_support_stored_ <= len(np.unique(points, axis=0))


@pytest.mark.parametrize("learner", [kb.BPAS(40), kb.Ahpatron(40)])
def test_the_rest_is_projected_on_the_greatest_coefficients(learner):
    before, parts = shards(machine(learner))
    both = merged(before, parts)
    points = np.concatenate([one.support_vectors_ for one in parts])
    a = np.concatenate([one.dual_coef_[:, 0] / 3 for one in parts])
    order = np.argsort(-np.abs(a), kind="stable")
    kept, gone = order[:40], order[40:]
    K = ONE[0](points, points)
    a[kept] += np.linalg.solve(
        K[np.ix_(kept, kept)] + 5e-4 * np.eye(40), K[np.ix_(kept, gone)] @ a[gone]
    )
    assert both.n_support_stored_ == 40
    expected = ONE[0](NEW, points[kept]) @ a[kept]
    np.testing.assert_allclose(both.decision_function(NEW), expected, rtol=1e-6, atol=1e-9)


def test_the_default_of_classes_and_of_numbers():
    model = kb.OnlineMKClassifier(random_state=0)
    before, parts = shards(model, 90, 2)
    both = merged(before, parts)
    assert both.score(NEW, kb.open_stream("checkerboard:200", seed=7).read()[1]) > 0.9
    assert np.abs(both.predict_proba(NEW).sum(axis=1) - 1).max() < 1e-9
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 3))
    z = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2]
    numbers = [kb.OnlineMKRegressor(random_state=0).fit(Z[i:400:2], z[i:400:2]) for i in (0, 1)]
    both = merged(None, numbers)
    assert both.score(Z[400:], z[400:]) > max(one.score(Z[400:], z[400:]) for one in numbers)
    width = both.predict(Z[400:], return_std=True)[1]
    assert np.isfinite(width).all()
    assert both.n_rounds_ == 400


def test_classes_that_only_one_model_has_met():
    rng = np.random.default_rng(0)
    X3, y3 = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    X3 += 4 * np.eye(3)[y3][:, :2]
    ours, theirs = (machine(kb.BPAS(50)) for _ in "ab")
    two = y3 < 2
    ours.fit(X3[two], y3[two])
    theirs.fit(X3, y3)
    both = merged(None, [ours, theirs])
    assert both.classes_.tolist() == [0, 1, 2]
    assert both.score(X3, y3) > 0.8
    assert ours.classes_.tolist() == [0, 1]
    assert both.learn_one(X3[0], 2) in (0, 1, 2)


def test_rows_that_were_skipped_are_counted():
    bad = X[:60].copy()
    bad[3] = np.nan
    models = [machine(kb.BPAS(20), on_bad_rows="skip").fit(bad, Y[:60]) for _ in "ab"]
    models[1].partial_fit(bad[3:4], Y[3:4])
    assert merged(None, models).n_rows_skipped_ == 3
    assert merged(models[0], models).n_rows_skipped_ == 2


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: kb.OnlineMKRegressor([kb.Linear()]).fit(X, Y), "expected OnlineMKClassifier"),
        (lambda: machine(kb.BPAS(10)), "has not learned anything"),
        (lambda: machine(kb.BPAS(11)).fit(X, Y), "other parameters"),
        (lambda: machine(kb.BPAS(10)).fit(X[:, :1], Y), "a model of 2 features, got one of 1"),
        (lambda: machine(kb.BPAS(10)).fit(sp.csr_matrix(X), Y), "dense rows"),
    ],
)
def test_what_cannot_be_merged(other, message):
    model = machine(kb.BPAS(10)).fit(X, Y)
    before = model.decision_function(NEW)
    with pytest.raises(InputError, match=f"merge: .*{message}"):
        model.merge(other())
    np.testing.assert_array_equal(model.decision_function(NEW), before)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"learner": None, "combiner": kb.GroupNorm()}, "this combiner belong to one stream"),
        ({"learner": kb.Perceptron(), "selection": kb.BestOfPrefix(50)}, "different experts"),
    ],
)
def test_what_belongs_to_one_stream(parts, message):
    kernels = [kb.Gaussian(sigma=0.25), kb.Gaussian(sigma=2)]
    models = [
        kb.OnlineMKClassifier(kernels, random_state=0, **parts).fit(X[own], Y[own])
        for own in (slice(0, 100), slice(100, 200))
    ]
    if "selection" in parts:
        progress_of(models[0]).counters[2] = 1 - progress_of(models[1]).counters[2]
    with pytest.raises(InputError, match=message):
        models[0].merge(models[1])


def test_random_features_have_to_be_the_same():
    models = [machine(kb.Ridge(), random_state=seed).fit(X, Y) for seed in (0, 1)]
    with pytest.raises(InputError, match="give all the same random_state"):
        models[0].merge(models[1])
    with pytest.raises(InputError, match="since has learned more"):
        machine(kb.BPAS(10)).fit(X[:9], Y[:9]).merge(since=machine(kb.BPAS(10)).fit(X, Y))


def two_parts(combiner):
    kernels = [kb.Linear(), kb.Gaussian(sigma=1)]
    return [machine(kb.BPAS(9), combiner, kernels).fit(X[i:90:2], Y[i:90:2]) for i in (0, 1)]


def test_a_regression_of_stack_that_is_singular(tmp_path):
    """No state is refused: weights beyond rounding lead to such a one."""
    one, other = two_parts(kb.Stack())
    progress_of(other).state[-9:] = 1e-4  # of rank 1
    assert np.isfinite(one.merge(other).decision_function(NEW)).all()
    kb.save(one, tmp_path / "model")
    kb.load(tmp_path / "model")


@pytest.mark.parametrize("scale_free", [False, True])
def test_regrets_that_are_next_to_nothing(scale_free):
    one, other = two_parts(kb.MLPoly("logistic", scale_free=scale_free))
    progress_of(other).state[:] = 1e-320
    for model in (deepcopy(one).merge(other), deepcopy(other).merge(one)):
        assert np.isfinite(model.decision_function(NEW)).all()


def test_the_kernel_values_that_slots_keep():
    """As the learners would have found them."""
    for learner in (kb.Projectron(30), kb.Pegasos(30, upkeep="project")):
        _, parts = shards(machine(learner))
        both = merged(None, parts)
        slots = store_of(both)[1].slots
        f, order = slots.filled[0, 0], slots.order[0]
        R = np.triu(slots.factor[0, :f, :f], 1)
        R[np.diag_indices(f)] = 1 / np.diagonal(slots.factor[0])[:f]
        points = both.support_vectors_[slots.place[0, order[:f]]]
        np.testing.assert_allclose(R.T @ R, ONE[0](points, points), atol=1e-9)
