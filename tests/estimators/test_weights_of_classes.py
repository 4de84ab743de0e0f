"""Rare classes: their weights, and what is said by probabilities instead of decisions."""

import numpy as np
import pytest
from naive import calibration as naive
from naive import weights as naive_weights
from sklearn.base import clone
from sklearn.metrics import f1_score

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.labels import agreeing

POOL = [kb.Gaussian(sigma=s) for s in (1, 4)]


def rare(n=4000, share=0.01, seed=0):
    """One row in a hundred is of the second class, which lies in a corner of the first."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 3)) + 1.7 * y[:, None], y


X, y = rare(400, 0.2)


def machine(**parameters):
    return kb.OnlineMKClassifier(POOL, random_state=0, **parameters)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.5, 1: 20.0}])
def test_the_greatest_weight_times_probability(class_weight, classes, tmp_path):
    """Whatever the chunks; and the experts learn with the roots of the weights."""
    labels = y if classes == 2 else np.digitize(X[:, 0], [0, 1.5])
    named, model = {"classes": range(classes)}, machine(class_weight=class_weight)

    def leading(p, usual):
        if class_weight == "balanced":
            return int(np.argmax(p / usual * np.where(np.arange(classes) == p.argmax(), 1.1, 1)))
        return int(np.argmax(p * [0.5, 20.0, 1.0][:classes]))

    answers, met = [], model._predicted_labels
    model._predicted_labels = lambda answer: answers.append(answer) or met(answer)
    learned = model._learn_scored(X, labels, **named)
    del model._predicted_labels
    pairs = [own for answer in answers for own in zip(*answer.certainty[::2], strict=True)]
    np.testing.assert_array_equal(learned.predictions, [leading(*own) for own in pairs])
    expected = learned.predictions
    twin, roots = machine(), naive_weights.lifts(class_weight, labels.tolist(), classes)
    twin._lifts = lambda y, w: roots[getattr(twin, "n_rounds_", 0) :][: len(y)]
    np.testing.assert_allclose(learned.scores, twin._learn_scored(X, labels, **named).scores)
    rows = machine(class_weight=class_weight)
    said = list(rows.learn(X[:7], labels[:7], **named)[0])
    said += [rows.learn_one(X[i], labels[i]) for i in range(7, len(X))]
    np.testing.assert_array_equal(said, expected)
    kb.save(model, tmp_path / "model")
    for one in (model, kb.load(tmp_path / "model")):
        p = one.predict_proba(X)
        expected = [leading(own, one._model.certain().usual) for own in p]
        np.testing.assert_array_equal(one.predict(X), expected)
        assert one.predict_one(X[3]) == expected[3]


@pytest.mark.parametrize(
    ("row", "choices"),
    [
        (["1", "a", "2"], {}),
        ({"a": 1.0}, {"threshold": 0.2}),
        ([np.nan] * 3, {}),
        ([1.0, 2.0], {"class_weight": "balanced"}),
    ],
)
def test_a_row_that_is_none_is_refused_in_words(row, choices):
    with pytest.raises(InputError, match=r"^[xX]\b"):
        machine(**choices).fit(X, y).predict_one(row)


@pytest.mark.parametrize(
    ("threshold", "class_weight"),
    [(0.2, None), ("f1", "balanced"), ([[0, 1], [10, 0]], "balanced")],
)
def test_what_is_said_by_probabilities(threshold, class_weight, tmp_path):
    """Also beside weights of classes."""
    whole = machine(threshold=threshold, class_weight=class_weight)
    said, _ = whole.learn(X, y, classes=[0, 1])
    rows, kept = clone(whole), []
    for i in range(len(X)):
        if i < 2:
            kept.append(rows.learn(X[i : i + 1], y[i : i + 1], classes=[0, 1])[0][0])
            continue
        expected = rows.predict(X[i : i + 1])[0]
        assert rows.predict_one(X[i]) == expected
        kept.append(rows.learn_one(X[i], y[i]))
        assert kept[-1] == expected
    np.testing.assert_array_equal(kept, said)
    p = whole.predict_proba(X)[:, 1]
    if threshold == "f1":
        cut = whole._model.certain().cut
        assert cut == pytest.approx(f1_score(y, said) / 2, abs=0.1)
    else:
        cut = 1 / 11 if isinstance(threshold, list) else threshold
    np.testing.assert_array_equal(whole.predict(X), p >= cut)
    kb.save(whole, tmp_path / "model")
    np.testing.assert_array_equal(kb.load(tmp_path / "model").predict(X), whole.predict(X))
    assert clone(whole).threshold == threshold


def test_costs_of_three_classes():
    three = np.digitize(X[:, 0], [0, 1.5])
    costs = np.array([[0, 1, 5], [1, 0, 1], [50, 5, 0.0]])
    model = machine(threshold=costs).fit(X, three)
    expected = (model.predict_proba(X) @ costs).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert np.mean(model.predict(X) == 2) > np.mean(machine().fit(X, three).predict(X) == 2)


def test_balanced_finds_more_at_each_horizon():
    """And never says the rare class of all rows. Probabilities are of the stream as it is."""
    delays, found = (0, None, float("inf")), []
    for draw in range(3):  # each has some 25 rare rows to find
        rng = np.random.default_rng(draw)
        X = rng.normal(size=(4000, 3))
        y = rng.random(4000) < 0.006 + 0.2 * (X[:, 0] > 1.5)
        usual, weighed = (
            kb.OnlineMKClassifier(random_state=0, class_weight=weights).fit(X[:2500], y[:2500])
            for weights in (None, "balanced")
        )
        there = y[2500:]
        for delay in delays:
            weighed.delay = usual.delay = delay
            before, said = (model.predict(X[2500:]) for model in (usual, weighed))
            assert said[there].mean() > before[there].mean()
            found.append(said[there].mean())
            assert said[~there].mean() < 0.25
            p = weighed.predict_proba(X[2500:])[:, 1]
            assert np.mean(np.isclose(p, 0.5, atol=1e-5)) < 0.01
            assert abs(p.mean() - there.mean()) < 0.02
    assert (np.reshape(found, (3, len(delays))).mean(axis=0) > 0.5).all()


def test_of_two_classes_they_are_as_in_the_twin():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(2), size=300)
    numbers = rng.integers(0, 2, 300)
    scores = rng.normal(size=(300, 2)) * 10.0 ** rng.integers(-9, 9, size=(300, 1))
    twin = [naive.agreeing(p[i], numbers[i], scores[i, 0]) for i in range(300)]
    np.testing.assert_array_equal(agreeing(p, numbers, scores), twin)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"class_weight": "even"}, "class_weight: expected None, 'balanced' or weights"),
        ({"class_weight": {0: -1}}, "class_weight: expected a finite number from 0 for 0, got -1"),
        (
            {"class_weight": {"0": 1, "1": 9}},
            "class_weight: label '0' has a weight but has not come",
        ),
        ({"class_weight": {2: 3.0}}, "label 2 has a weight but has not come, and label 0 has come"),
        ({"threshold": 2}, "threshold: expected None, a number from 0 to 1, 'f1' or a matrix"),
        ({"threshold": [[0, 1]]}, r"threshold: expected finite costs, \(2, 2\)"),
        ({"threshold": [[0, np.nan], [1, 0]]}, "threshold: expected finite costs"),
    ],
    ids=str,
)
def test_what_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        machine(**parameters).fit(X, y)
    with pytest.raises(InputError, match="threshold: 'f1' is for two classes, found 3"):
        machine(threshold="f1").fit(X, np.arange(400) % 3)


def test_a_weight_may_wait_for_its_class():
    """And a class may do without a weight; but not both at once, as in scikit-learn."""
    waiting = machine(class_weight={0: 1, 1: 2.0, 2: 3.0}).fit(X, y)
    plain = machine(class_weight={1: 2.0}).fit(X, y)
    np.testing.assert_array_equal(waiting.predict(X), plain.predict(X))
    waiting.partial_fit(X[:2], [2, 2])
    assert waiting.classes_.tolist() == [0, 1, 2]
    waiting = machine(class_weight={0: 1, 1: 2.0, 2: 3.0}).fit(X, y)
    before = waiting.decision_function(X)
    for late in (
        lambda: waiting.partial_fit(X[:1], [7]),
        lambda: waiting.learn_one(X[0], 7),
        lambda: waiting.learn(X[:1], lambda x: 7),
    ):
        with pytest.raises(InputError, match="class_weight: label 2 has a weight but has not come"):
            late()
    np.testing.assert_array_equal(waiting.decision_function(X), before)
    for labels in (np.array(["a", "b"])[y], y.astype(float), y.astype(bool), y.astype(object)):
        keys = {labels[y == k][0]: 1 + k for k in (0, 1)}
        machine(class_weight=keys).fit(X, labels)
