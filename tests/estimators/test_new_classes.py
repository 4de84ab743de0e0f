"""Classes that appear later."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import kernbrook as kb
from kernbrook.engine.stores.base import spread_of
from kernbrook.errors import InputError

X, Y = load_iris(return_X_y=True)
order = np.random.default_rng(0).permutation(150)
X, Y = X[order], Y[order]
FIRST = np.flatnonzero(Y != 1)[:60]
LATE = np.concatenate([FIRST, np.setdiff1d(np.arange(150), FIRST)])
X, Y = X[LATE], Y[LATE]  # the second of three comes after 60 rows
AT = int(np.argmax(Y == 1))
POOL = [kb.Gaussian(sigma=s) for s in (0.5, 2)]
LEARNERS = [
    kb.BPAS(30), kb.Perceptron(), kb.PassiveAggressive(), kb.Forgetron(30), kb.Projectron(30),
    kb.GradientDescent(), kb.GradientDescent(schedule="adagrad"),
    [kb.BPAS(20), kb.GradientDescent()],
    kb.Cells([kb.RandomBinning(9, [1, None], cells=512), kb.GrownPartitions(5, 60, 2, 10)]),
    kb.BoostedTrees(3, 4, 40, work=90),
    [kb.GradientDescent(schedule="adagrad"), kb.Ridge()],
]  # fmt: skip


def machine(learner=None, combiner=None, **parameters):
    return kb.OnlineMKClassifier(POOL, learner, combiner, random_state=0, **parameters)


def with_classes(model, kinds=Y):
    """Before the new class, and the same once it has been learned of with weight 0."""
    model.learn(X[:AT], kinds[:AT])
    model._model.certain().arrays()["errors"][:] = 0.0  # of two classes: they are left behind
    before = model.decision_function(X), model.predict(X), model.predict_proba(X)
    model.learn(X[AT : AT + 1], kinds[AT : AT + 1], sample_weight=np.zeros(1))
    return before


@pytest.mark.parametrize("number", range(len(LEARNERS)))
def test_what_was_learned_of_the_others_stays(number):
    learner, combiner = LEARNERS[number], (None, kb.Hedge(loss="hinge"))[number % 2]
    model = machine(learner, combiner, scaling=None)
    decisions, said, _ = with_classes(model)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.mean(model.predict(X) == said) > 0.97  # a score of 0 was for the second class
    now = model.decision_function(X)
    assert now.shape == (len(X), 3)
    if combiner is not None:
        np.testing.assert_allclose(now[:, 2] - now[:, 0], decisions, atol=1e-12)
        np.testing.assert_allclose(now[:, 1], 0, atol=1e-12)


def test_the_default_goes_on_with_more_slots():
    model = kb.OnlineMKClassifier(random_state=0, scaling=None)
    _, said, _ = with_classes(model)
    held = {one.learner.budget for one in model.experts_ if isinstance(one.learner, kb.BPAS)}
    assert held == {1000, 2500, 4000}
    assert np.mean(model.predict(X) == said) > 0.97
    model.learn(X[AT:], Y[AT:])
    assert model.score(X[AT:], Y[AT:]) > 0.9


def test_the_old_classes_keep_their_odds():
    model = machine(scaling=None)
    _, _, before = with_classes(model)
    now = model._model.certain().probabilities(model._decide(X)[1])
    assert now[:, 1].max() < 0.05
    np.testing.assert_allclose(now[:, 2] / now[:, 0], before[:, 1] / before[:, 0], rtol=0.3)


def test_only_labels_that_are_looked_at_are_known():
    model = machine(labels=kb.LabelBudget(0.2))
    model.learn(X[:60], Y[:60])
    _, asked = model.learn(X[60:], Y[60:])
    first = 60 + np.flatnonzero(asked & (Y[60:] == 1))[0]
    other = machine(labels=kb.LabelBudget(0.2))
    other.learn(X[:60], Y[:60])
    other.learn(X[60:first], np.full(first - 60, None))
    assert other.classes_.tolist() == [0, 2]
    assert model.classes_.tolist() == [0, 1, 2]


def test_who_cannot_learn_of_it():
    cases = {
        "Pegasos": {"learner": kb.Pegasos(20)},
        "GroupNorm": {"combiner": kb.GroupNorm()},
        "AHPatron": {"learner": kb.Ahpatron(20)},
    }
    for parameters in cases.values():
        model = machine(**parameters)
        model.learn(X[:60], Y[:60])
        before = model.decision_function(X)
        with pytest.raises(InputError, match=r"label 1 .* of the classes 0, 2, and cannot"):
            model.learn(X[60:], Y[60:])
        np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(InputError, match="threshold: 'f1' is for two classes"):
        machine(threshold="f1").partial_fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])
    model = machine().partial_fit(X[:60], Y[:60])
    with pytest.raises(InputError, match=r"label 1 \(row 0 of the chunk\) is not one of the"):
        model.partial_fit(X[60:], Y[60:], classes=[0, 2])


@pytest.mark.parametrize("wrong", ["label", "row", "threshold"])
def test_refused_before_anything_is_learned(wrong):
    """Rows before the new class are not learned either, where a later one is refused."""
    model = machine(kb.BPAS(30), threshold=0.5 if wrong == "threshold" else None)
    model.partial_fit(X[:AT], Y[:AT])
    before = model.n_rounds_, model.decision_function(X)
    rows, kinds = X[: AT + 3].copy(), Y[: AT + 3].astype(object)
    if wrong == "label":
        kinds[AT + 1] = 0.5
    elif wrong == "row":
        rows[AT + 2] = 1e160
    with pytest.raises(ValueError, match=r"continuous|below 1e154|threshold"):
        model.partial_fit(rows, kinds)
    assert model.n_rounds_ == before[0]
    assert len(model.classes_) == 2
    np.testing.assert_array_equal(model.decision_function(X), before[1])


@pytest.mark.parametrize(
    ("scores", "axis", "kind"), [(1, 0, np.float64), (3, 1, np.float32), (5, -1, np.float64)]
)
def test_scores_are_moved_as_by_a_product(scores, axis, kind):
    positions = np.array([0, 2]) if scores == 1 else np.delete(np.arange(scores + 2), [1, 4])
    spread = spread_of(scores, positions, len(positions) + 2 - (scores == 1))
    array = np.random.default_rng(0).normal(size=(300, 4, 3)).astype(kind)
    array = np.resize(array, [scores if i == axis % 3 else n for i, n in enumerate((600, 4, 3))])
    array[310:] = 0.0
    found = spread.along(array, axis)
    product = np.tensordot(array, spread.coefficients.astype(kind), axes=(axis, 0))
    np.testing.assert_array_equal(found, np.moveaxis(product, -1, axis))
    assert found.dtype == kind
    assert found.flags.c_contiguous
