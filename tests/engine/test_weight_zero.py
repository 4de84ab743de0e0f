"""A row of weight 0 is a row without a label, for all that learns."""

import numpy as np
import pytest
from every_combiner import COMBINERS
from sklearn.base import is_regressor

import kernbrook as kb

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
NUMBERS = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=120)
TWO, THREE = (NUMBERS > 0).astype(int), np.digitize(NUMBERS, [-0.3, 0.3])
NOTHING = np.arange(120) % 3 == 1
WEIGHTS = np.where(NOTHING, 0.0, 1.0)
KERNELS = [kb.Gaussian(sigma=1.0), kb.Gaussian(sigma=3.0)]
WAVES = kb.RandomFeatures(8)
STEPS = [
    kb.GradientDescent(0.5, "root", features=None),
    kb.GradientDescent(0.5, "root", features=WAVES),
    kb.GradientDescent(0.5, restart=7, features=WAVES),
    kb.GradientDescent(0.5, features=None, budget=10),
    kb.Ridge(forgetting=0.95, features=WAVES),
    kb.LastLabel(),
    None,
]
OF_CLASSES = [kb.Perceptron(), kb.SparsePA(), kb.BPAS(9), kb.RBP(9), kb.Forgetron(9), kb.Pegasos()]
DRAWN = kb.Selection(update="drawn", vote="drawn")
SELECTIONS = [DRAWN, kb.AdaptiveSelection(), kb.BestOfPrefix(30)]


def held(model, labels, weights=None):
    """All that is learned of the rows, but how many labels were looked at."""
    if weights is None:
        labels = np.where(NOTHING, None, labels)
    named = {} if is_regressor(model) else {"classes": np.unique(labels[~NOTHING].astype(int))}
    model.learn(X, labels, sample_weight=weights, **named)
    found = dict(model.state())
    found["progress.counters"] = found["progress.counters"][[0, 1, 2, 5]]
    return found


def assert_left_out(make, labels):
    without, weightless = held(make(), labels), held(make(), labels, WEIGHTS)
    assert without.keys() == weightless.keys()
    for name, array in without.items():
        assert np.array_equal(array, weightless[name], equal_nan=True), name


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("learner", [*STEPS, *OF_CLASSES], ids=str)
def test_learners_of_classes(learner, labels):
    assert_left_out(
        lambda: kb.OnlineMKClassifier(KERNELS, learner, scaling=None, random_state=0), labels
    )


@pytest.mark.parametrize("learner", STEPS, ids=str)
def test_learners_of_numbers(learner):
    assert_left_out(
        lambda: kb.OnlineMKRegressor(KERNELS, learner, scaling=None, random_state=0), NUMBERS
    )


@pytest.mark.parametrize("name", COMBINERS)
def test_combiners(name):
    combiner, ridge = COMBINERS[name][0], kb.Ridge(features=WAVES)
    learner = [ridge] * getattr(combiner, "levels", 1)
    if isinstance(combiner, kb.GroupNorm):
        learner = None
    of_numbers = "numbers" in name or getattr(combiner, "loss", "") in ("squared", "absolute")
    of_numbers |= getattr(combiner, "loss", "") == "linearized" or name in ("EXP", "AdaRaker")
    kind, labels = (kb.OnlineMKRegressor, NUMBERS) if of_numbers else (kb.OnlineMKClassifier, TWO)
    assert_left_out(lambda: kind(KERNELS, learner, combiner, random_state=0), labels)


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_selections(selection):
    assert_left_out(
        lambda: kb.OnlineMKClassifier(KERNELS, kb.BPAS(9), selection=selection, random_state=0), TWO
    )


def test_row_by_row():
    both = [kb.OnlineMKClassifier(KERNELS, kb.BPAS(9), random_state=0) for _ in "ab"]
    for model in both:
        model.partial_fit(X[:2], [0, 1])
    for x, label, weight in zip(X[2:], TWO[2:], WEIGHTS[2:], strict=True):
        both[0].learn_one(x, label, sample_weight=weight)
        both[1].learn_one(x, label if weight else None)
    np.testing.assert_array_equal(both[0].predict_proba(X), both[1].predict_proba(X))


def test_a_class_of_weight_0_is_never_said_and_is_probable_as_it_is():
    weighed = kb.OnlineMKClassifier(
        KERNELS, kb.BPAS(9), random_state=0, class_weight={0: 0, 1: 1, 2: 1}
    )
    said = weighed.learn(X, THREE, classes=[0, 1, 2])[0]
    assert 0 not in said[1:]
    assert 0 not in weighed.predict(X)
    assert weighed.predict_proba(X)[:, 0].mean() > 0.2
