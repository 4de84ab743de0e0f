"""Classes that appear later."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import kernbrook as kb
from kernbrook.engine.stores.base import spread_of
from kernbrook.errors import InputError
from kernbrook.estimators.confidence import Calibration

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


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("combiner", [None, kb.Hedge(loss="hinge")], ids=str)
def test_what_was_learned_of_the_others_stays(learner, combiner):
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
    assert held == {1000, 2500}
    assert np.mean(model.predict(X) == said) > 0.97
    model.learn(X[AT:], Y[AT:])
    assert model.score(X[AT:], Y[AT:]) > 0.9


def test_the_old_classes_keep_their_odds():
    model = machine(scaling=None)
    _, _, before = with_classes(model)
    now = model._model.certain().probabilities(model._lean(X)[1])
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


def test_an_oracle_may_name_it():
    answers = iter(Y[10:])
    model, plain = (machine().partial_fit(X[:10], Y[:10]) for _ in "ab")
    said, asked = model.learn(X[10:], lambda x: next(answers))
    assert asked.all()
    np.testing.assert_array_equal(said, plain.learn(X[10:], Y[10:])[0])
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    with pytest.raises(InputError, match="label 3 is not one of the classes 0, 1, 2"):
        model.learn(X, lambda x: 3, classes=[0, 1, 2])


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


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_label_moves_the_old_classes_as_before(inputs):
    """Beside a class that came later: odds of two old classes move by the same step."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, inputs))
    labels = (scores.sum(axis=1) + rng.normal(size=400) > 0).astype(float)
    weights, judged = np.ones(400), np.ones(400, dtype=bool)
    two = Calibration(1, inputs)
    two.learn(scores, labels, weights, judged)
    three = two.with_classes(np.array([0, 1]), 3)

    def halves(s):  # of each input in turn
        return np.hstack([np.stack([-one / 2, one / 2, 0 * one], axis=1) for one in s.T])

    def odds(calibration, s):
        p = calibration.probabilities(s)
        return np.log(p[:, 1] / p[:, 0])

    at = np.array([[2.0, 1.0], [-2.0, 1.0], [0.5, -3.0]])[:, :inputs]
    np.testing.assert_allclose(odds(three, halves(at)), odds(two, at), rtol=0.2)
    slopes = [one.arrays()["slope"][0] for one in (two, three)]
    for s, label in ((2.0, 0.0), (-2.0, 1.0)):  # both against what is known
        one, none = np.full((1, inputs), s), np.array([label])
        two.learn(one, none, weights[:1], judged[:1])
        three.learn(halves(one), none, weights[:1], judged[:1])
    moved = [
        (one.arrays()["slope"][0] - before) / before
        for one, before in zip((two, three), slopes, strict=True)
    ]
    assert moved[0] < -0.005
    assert moved[1] == pytest.approx(moved[0], rel=0.3)


@pytest.mark.parametrize("scores", [1, 3, 5])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
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
