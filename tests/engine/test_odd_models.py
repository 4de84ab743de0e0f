"""Models of other libraries that write on what they are given, or answer oddly."""

from fractions import Fraction

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.outside import online

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def fit(model, X=X, y=Y, **options):
    learner = kb.External(model, **{"every": 10, **options})
    return plain.classifier([kb.Gaussian(sigma=1)], learner, random_state=0).fit(X, y)


class Writing(SGDClassifier):
    """It writes on every array that it gets."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        super().partial_fit(X, y, classes, sample_weight)
        return self._written(X, y, sample_weight)

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        return self._written(X, y, sample_weight)

    def predict(self, X):
        found = super().predict(X)
        self._written(X)
        return found

    def _written(self, X, *others):
        (X.data if sp.issparse(X) else X)[:] = 7.0
        for array in others:
            if array is not None:
                array[:] = 1
        return self


@pytest.mark.parametrize("window", [None, 25])
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
@pytest.mark.parametrize("alone", [True, False])
def test_what_a_model_writes_on_is_its_own(window, form, alone):
    found = []
    for kind in (Writing, SGDClassifier):
        given, labels, weights = form(X), Y.copy(), np.linspace(0.5, 2.0, len(Y))
        learner = kb.External(kind(random_state=0), every=10, window=window)
        if alone:
            said = online(learner).learn(given, labels, classes=[0, 1])[0]
        else:
            model = plain.classifier([kb.Gaussian(sigma=1)], learner, random_state=0)
            said = model.learn(given, labels, classes=[0, 1], sample_weight=weights)[0]
        np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, X)
        np.testing.assert_array_equal(labels, Y)
        np.testing.assert_array_equal(weights, np.linspace(0.5, 2.0, len(Y)))
        found.append(said)
    np.testing.assert_array_equal(*found)


class Silent(SGDClassifier):
    """Its `partial_fit` and `fit` return nothing."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        super().partial_fit(X, y, classes, sample_weight)

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("window", [None, 25])
def test_a_model_that_returns_nothing_has_learned(window):
    usual = fit(SGDClassifier(random_state=0), window=window)
    model = fit(Silent(random_state=0), window=window)
    np.testing.assert_array_equal(model.decision_function(X), usual.decision_function(X))


def answering(what, answer, base=SGDClassifier):
    """A model whose method answers so: a value, or of the rows."""

    class Odd(base):
        pass

    setattr(Odd, what, lambda self, X: answer(X) if callable(answer) else answer)
    return Odd()


NAIVE = {
    "shape": (lambda X: np.full(3, 0.5), r"predict_proba must give an array of shape"),
    "columns": (lambda X: np.full((len(X), 3), 0.3), r"of shape \(\d+, 2\).*got \(\d+, 3\)"),
    "None": (None, "predict_proba must give numbers, got None"),
    "texts": (lambda X: np.full((len(X), 2), "x"), "predict_proba must give numbers"),
    "negative": (lambda X: np.tile([-0.5, 1.5], (len(X), 1)), "expected probabilities from 0 to 1"),
    "infinite": (lambda X: np.full((len(X), 2), np.inf), "expected probabilities from 0 to 1"),
    "complex": (lambda X: np.full((len(X), 2), 0.5j), "predict_proba must give numbers"),
    "ragged": ([[0.5], [0.5, 0.5]], "predict_proba must give numbers"),
    "masked": (lambda X: np.ma.masked_less(np.full((len(X), 2), 0.5), 0.6), "masked"),
}


@pytest.mark.parametrize("odd", NAIVE)
def test_odd_probabilities(odd):
    answer, message = NAIVE[odd]
    with pytest.raises(InputError, match=rf"External\(Odd\(\)\): .*{message}"):
        fit(answering("predict_proba", answer, GaussianNB))


PREDICTED = {
    "shape": (lambda X: np.zeros((len(X), 2)), r"predict gave an array of shape"),
    "None": (None, "predict must give numbers, got None"),
    "texts": (lambda X: np.full(len(X), "yes"), "predict must give numbers"),
    "another class": (lambda X: np.full(len(X), 2), "predict gave 2, which is none of the classes"),
    "below 0": (lambda X: np.full(len(X), -1), "predict gave -1, which is none of the classes"),
    "half a class": (lambda X: np.full(len(X), 0.5), "predict gave 0.5, which is none"),
    "NaN": (lambda X: np.full(len(X), np.nan), "predict gave nan, which is none of the classes"),
    "complex": (lambda X: np.zeros(len(X), complex), "predict must give numbers"),
}


@pytest.mark.parametrize("odd", PREDICTED)
@pytest.mark.parametrize("alone", [True, False])
def test_odd_predictions(odd, alone):
    answer, message = PREDICTED[odd]
    model = answering("predict", answer)
    with pytest.raises(InputError, match=rf"External\(Odd\(\)\): .*{message}"):
        online(model).learn(X, Y, classes=[0, 1]) if alone else fit(model)


@pytest.mark.parametrize("odd", ["shape", "None", "texts", "complex"])
def test_odd_numbers(odd):
    answer, message = PREDICTED[odd]
    model = answering("predict", answer, SGDRegressor)
    with pytest.raises(InputError, match=rf"External\(Odd\(\)\): .*{message}"):
        plain.regressor([kb.Gaussian(sigma=1)], kb.External(model)).fit(X, X[:, 0])


@pytest.mark.parametrize("answer", [[Fraction(1)] * 60, np.ones((60, 1)), [1] * 60, [True] * 60])
def test_numbers_in_other_forms_are_numbers(answer):
    model = answering("predict", lambda X: answer[: len(X)], SGDRegressor)
    said = plain.regressor([kb.Gaussian(sigma=1)], kb.External(model), center=False)
    assert (said.fit(X, X[:, 0]).predict(X) == 1.0).all()


class OneByOne:
    """As models of River are."""

    def __init__(self, chances):
        self.chances = chances

    def learn_one(self, x, y):
        return None

    def predict_proba_one(self, x):
        return self.chances


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        (0.5, "predict_proba_one must give a dict"),
        ({"a": 1.0}, "predict_proba_one must give numbers"),
        ({5: 1.0}, "it gave 5, which is none of the classes 0 to 1"),
        ({0: -0.5, 1: 1.5}, "expected probabilities from 0 to 1, got"),
        ({0: None}, "predict_proba_one must give numbers"),
        ({0: 1j}, "predict_proba_one must give numbers"),
    ],
    ids=str,
)
def test_odd_probabilities_row_by_row(chances, message):
    with pytest.raises(InputError, match=rf"External\(.*OneByOne.*\): {message}"):
        fit(OneByOne(chances))


def test_a_later_class_is_told_to_name_all_of_them():
    model = fit(GaussianNB())
    with pytest.raises(InputError, match=r"External\(GaussianNB\(\)\).*name all classes") as caught:
        model.partial_fit(X[:1], [2])
    assert "save" not in str(caught.value)
    assert "file" not in str(caught.value)


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
def test_the_rows_that_wait_count_as_memory(form):
    rows = np.random.default_rng(0).normal(size=(200, 50))
    model = fit(SGDClassifier(random_state=0), form(rows), (rows[:, 0] > 0).astype(int), window=150)
    assert model.memory_bytes_ >= 150 * 50 * 8


OURS = [
    kb.OnlineMKClassifier([kb.Gaussian(sigma=1)], kb.BPAS(10), random_state=0),
    kb.OnlineMKClassifier([kb.Gaussian(sigma=1)], kb.Perceptron(), random_state=0),
]


@pytest.mark.parametrize("model", OURS, ids=str)
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
def test_a_model_of_ours_is_one_like_others(model, form):
    alone = clone(model).partial_fit(form(X), Y, classes=[0, 1])
    found = fit(model, form(X), every=1)
    np.testing.assert_array_equal(found.predict(form(X)), alone.predict(form(X)))
