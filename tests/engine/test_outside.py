"""Models of other libraries, and forecasts that come with the rows, as experts."""

from fractions import Fraction

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from covering import pairwise
from driving import learn
from hard_streams import clouds_of
from naive.weights import relative
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.estimators.outside import online

LOGISTIC = SGDClassifier("log_loss", random_state=0)
KERNELS = [kb.Gaussian(gamma=0.1)]
# name -> (model, every, window, classes or None for numbers)
OUTSIDE = {
    "each label": (LOGISTIC, 1, None, 2),
    "each label, 3 classes": (LOGISTIC, 1, None, 3),
    "without probabilities": (SGDClassifier(random_state=0), 7, None, 2),
    "without probabilities, 3 classes": (SGDClassifier(random_state=0), 7, None, 3),
    "numbers": (SGDRegressor(random_state=0), 5, None, None),
    "window": (DecisionTreeClassifier(random_state=0), 20, 50, 2),
    "window, 3 classes": (DecisionTreeClassifier(random_state=0), 20, 50, 3),
    "short window": (DecisionTreeClassifier(random_state=0), 30, 12, 2),
    "window, numbers": (DecisionTreeRegressor(random_state=0), 20, 50, None),
}
N = 100


def make(learner, C, **choices):
    kind = plain.regressor if C is None else plain.classifier
    return kind(KERNELS, learner, random_state=0, **choices)


def scores_by_loop(model, every, window, C, X, y, asked):
    """(n,) or (n, C): what the model says of each row before its label, one row at a time."""
    out, met, new, current = [], [], 0, None
    for t in range(len(y)):
        row = X[t : t + 1]
        if current is None:
            said = np.zeros(1 if C in (None, 2) else C)
        elif C is None:
            said = current.predict(row)
        elif hasattr(current, "predict_proba"):
            chances = np.zeros(C)
            chances[current.classes_] = current.predict_proba(row)[0]
            said = 2 * chances[1:] - 1 if C == 2 else chances
        else:
            named = np.eye(C)[current.predict(row)[0]]
            said = 2 * named[1:] - 1 if C == 2 else named
        out.append(said)
        if not asked[t]:
            continue
        met.append(t)
        new += 1
        if new < every:
            continue
        if window is None:
            of = {} if C is None else {"classes": np.arange(C)}
            current = clone(model) if current is None else current
            current.partial_fit(X[met[-every:]], y[met[-every:]], **of)
        elif C is None or len(np.unique(y[met[-window:]])) > 1:
            current = clone(model).fit(X[met[-window:]], y[met[-window:]])
        new = 0
    return np.array(out)


@pytest.mark.parametrize(
    ("name", "labels", "storage"),
    pairwise(OUTSIDE, ["all", kb.RandomLabels(0.4)], [np.asarray, sp.csr_matrix]),
    ids=str,
)
def test_against_a_plain_loop(name, labels, storage):
    """In CSR rows models of scikit-learn learn something else than in dense ones."""
    model, every, window, C = OUTSIDE[name]
    X, y = clouds_of(C)
    X = storage(X)
    own = make(kb.External(model, every, window), C, labels=labels)
    said, asked = learn(own, X, y, C)
    assert (labels == "all") == asked.all()
    scores = scores_by_loop(model, every, window, C, X, y, asked)
    if C is None:
        np.testing.assert_allclose(said, scores[:, 0], rtol=1e-12)
    elif C == 2:
        np.testing.assert_array_equal(said, (scores[:, 0] >= 0).astype(int))
    else:
        np.testing.assert_array_equal(said, scores.argmax(axis=1))
    assert (scores[every:] != 0).any()


def test_weights_are_handed_on():
    """Over their mean so far."""
    X, y = clouds_of(2)
    weights = np.random.default_rng(0).uniform(0.5, 4, N)
    model = make(kb.External(LogisticRegression(), every=N, window=N), 2)
    model.learn(X, y, classes=[0, 1], sample_weight=weights)
    alone = LogisticRegression().fit(X, y, relative(weights, N))
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_allclose(
        model.decision_function(X), 2 * alone.predict_proba(X)[:, 1] - 1, rtol=1e-12
    )


class Failing(SGDClassifier):
    """It raises once it has met so many rows."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if getattr(self, "t_", 0) > 100:
            raise RuntimeError("no more")
        return super().partial_fit(X, y, classes, sample_weight)


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(0.9)], ids=str)
def test_a_model_that_raises_leaves_everything_as_it_was(labels):
    X, y = clouds_of(2, 150)
    pool = [kb.Perceptron(), kb.External(Failing(random_state=0), every=10)]
    model, usual = make(pool, 2, labels=labels), make(pool, 2, labels=labels)
    learn(model, X[:40], y[:40], 2)
    learn(usual, X[:40], y[:40], 2)
    with pytest.raises(RuntimeError, match="no more"):
        learn(model, X[40:], y[40:], 2)
    done = model.n_rounds_ - 40
    assert done == 0 or labels != "all"  # one block, or whole rows
    learn(usual, X[40 : 40 + done], y[40 : 40 + done], 2)
    assert model.n_rounds_ == usual.n_rounds_
    np.testing.assert_array_equal(model.decision_function(X), usual.decision_function(X))
    np.testing.assert_array_equal(model.expert_weights_, usual.expert_weights_)
    np.testing.assert_array_equal(model.dual_coef_, usual.dual_coef_)


def test_no_file_can_hold_one(tmp_path):
    X, y = clouds_of(2)
    model = make([kb.Perceptron(), kb.External(LOGISTIC)], 2).fit(X, y)
    with pytest.raises(InputError, match="SGDClassifier"):
        kb.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", [LOGISTIC, SGDRegressor(random_state=0)], ids=str)
def test_a_model_is_a_learner_as_it_is(model):
    C = 2 if isinstance(model, SGDClassifier) else None
    X, y = clouds_of(C)
    said = [learn(make(one, C), X, y, C)[0] for one in (model, kb.External(model))]
    np.testing.assert_array_equal(*said)
    assert not hasattr(model, "coef_")  # what learns is a copy


class Infinite(SGDRegressor):
    def predict(self, X):
        return np.full(len(X), np.inf)


def test_predictions_that_are_not_finite():
    X, y = clouds_of(None)
    model = make(kb.External(Infinite()), None)
    with pytest.raises(NonFiniteError, match=r"Infinite.* predicted NaN or infinity"):
        learn(model, X, y, None)
    assert not hasattr(model, "_model")


WRONG = [
    (kb.External(DecisionTreeClassifier()), 2, "must have partial_fit or learn_one, or a window"),
    (kb.External(SGDClassifier), 2, "model must be an object, got the class"),
    (kb.External(LOGISTIC), None, "is for classes, not for numbers"),
    (kb.External(SGDRegressor()), 2, "is for numbers, not for classes"),
    (kb.Advice([]), None, r"Advice: columns must be a list of numbers, got \[\]"),
    (kb.Advice([-1]), None, "Advice: columns must be from 0, got -1"),
    (kb.Advice([0, 4]), None, "Advice: columns from 0 to 3 are there, got 4"),
    (kb.Advice([0]), 3, "Advice is for numbers and for two classes"),
]


@pytest.mark.parametrize(("learner", "C", "message"), WRONG, ids=[text for _, _, text in WRONG])
def test_what_is_refused(learner, C, message):
    X, y = clouds_of(C, 20)
    with pytest.raises(InputError, match=message):
        learn(make(learner, C), X, y, C)


# -- advice ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("C", "labels"), [(2, "all"), (None, kb.RandomLabels(0.5))], ids=str)
def test_advice_is_what_the_columns_say(C, labels):
    """Under equal weights the decision is their mean; scaling changes nothing about them."""
    X, y = clouds_of(C)
    combiner = kb.Hedge(1.0, "squared" if C is None else "hinge")
    model = make(kb.Advice([2, 0]), C, combiner=combiner, labels=labels)
    model.set_params(scaling="moments")
    said, _ = learn(model, X, y, C, 100)
    mean = X[:, [2, 0]].mean(axis=1)
    if C is None:
        np.testing.assert_allclose(said, mean, rtol=1e-12)
        np.testing.assert_allclose(model.predict(sp.csr_matrix(X)), mean, rtol=1e-12)
    else:
        np.testing.assert_array_equal(said, mean >= 0)
        np.testing.assert_allclose(model.decision_function(X), mean, rtol=1e-12)


# -- River -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [2, 3, None])
def test_models_of_river(C):
    linear_model = pytest.importorskip("river.linear_model")
    naive_bayes = pytest.importorskip("river.naive_bayes")
    X, y = clouds_of(C)
    fresh = linear_model.LinearRegression if C is None else naive_bayes.GaussianNB
    said, _ = learn(make(kb.External(fresh()), C), X, y, C, 100)
    alone, expected = fresh(), []
    for t, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        row = dict(enumerate(x))
        if C is None:
            expected.append(alone.predict_one(row) if t else 0.0)
        else:
            chances = alone.predict_proba_one(row) if t else {}
            found = np.array([chances.get(c, 0.0) for c in range(C)])
            decided = found.argmax() if C > 2 else 2 * found[1] - 1 >= 0
            expected.append(int(decided) if t else int(C == 2))
        alone.learn_one(row, label)
    if C is None:
        np.testing.assert_allclose(said, expected, rtol=1e-12)
    else:
        np.testing.assert_array_equal(said, expected)


# -- models that write on what they are given, or answer oddly -----------------------------------

ROWS = np.random.default_rng(0).normal(size=(60, 3))
SIDES = (ROWS[:, 0] > 0).astype(int)


def fit(model, X=ROWS, y=SIDES, **options):
    learner = kb.External(model, **{"every": 10, **options})
    return plain.classifier([kb.Gaussian(sigma=1)], learner, random_state=0).fit(X, y)


class Writing(SGDClassifier):
    """It writes on every array that it gets; `partial_fit` and `fit` return nothing."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        super().partial_fit(X, y, classes, sample_weight)
        self._written(X, y, sample_weight)

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self._written(X, y, sample_weight)

    def predict(self, X):
        found = super().predict(X)
        self._written(X)
        return found

    def _written(self, X, *others):
        (X.data if sp.issparse(X) else X)[:] = 7.0
        for array in others:
            if array is not None:
                array[:] = 1


@pytest.mark.parametrize(
    ("window", "form", "alone"), pairwise([None, 25], [np.array, sp.csr_matrix], [True, False])
)
def test_what_a_model_writes_on_is_its_own(window, form, alone):
    found = []
    for kind in (Writing, SGDClassifier):
        given, labels, weights = form(ROWS), SIDES.copy(), np.linspace(0.5, 2.0, 60)
        learner = kb.External(kind(random_state=0), every=10, window=window)
        if alone:
            said = online(learner).learn(given, labels, classes=[0, 1])[0]
        else:
            model = plain.classifier([kb.Gaussian(sigma=1)], learner, random_state=0)
            said = model.learn(given, labels, classes=[0, 1], sample_weight=weights)[0]
        np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, ROWS)
        np.testing.assert_array_equal(labels, SIDES)
        np.testing.assert_array_equal(weights, np.linspace(0.5, 2.0, 60))
        found.append(said)
    np.testing.assert_array_equal(*found)


def answering(what, answer, base=SGDClassifier):
    """A model whose method answers so: a value, or of the rows."""

    class Odd(base):
        pass

    setattr(Odd, what, lambda self, X: answer(X) if callable(answer) else answer)
    return Odd()


PROBABILITIES = {
    "shape": (lambda X: np.full(3, 0.5), r"predict_proba must give an array of shape"),
    "None": (None, "predict_proba must give numbers, got None"),
    "negative": (lambda X: np.tile([-0.5, 1.5], (len(X), 1)), "expected probabilities from 0 to 1"),
    "infinite": (lambda X: np.full((len(X), 2), np.inf), "expected probabilities from 0 to 1"),
    "ragged": ([[0.5], [0.5, 0.5]], "predict_proba must give numbers"),
    "masked": (lambda X: np.ma.masked_less(np.full((len(X), 2), 0.5), 0.6), "masked"),
}
PREDICTIONS = {
    "shape": (lambda X: np.zeros((len(X), 2)), r"predict gave an array of shape"),
    "texts": (lambda X: np.full(len(X), "yes"), "predict must give numbers"),
    "another class": (lambda X: np.full(len(X), 2), "predict gave 2, which is none of the classes"),
    "NaN": (lambda X: np.full(len(X), np.nan), "predict gave nan, which is none of the classes"),
}


@pytest.mark.parametrize("odd", PROBABILITIES)
def test_odd_probabilities(odd):
    answer, message = PROBABILITIES[odd]
    with pytest.raises(InputError, match=rf"External\(Odd\(\)\): .*{message}"):
        fit(answering("predict_proba", answer, GaussianNB))


@pytest.mark.parametrize("odd", PREDICTIONS)
def test_odd_predictions(odd):
    answer, message = PREDICTIONS[odd]
    said = rf"External\(Odd\(\)\): .*{message}"
    with pytest.raises(InputError, match=said):
        fit(answering("predict", answer))
    with pytest.raises(InputError, match=said):
        online(answering("predict", answer)).learn(ROWS, SIDES, classes=[0, 1])
    if odd in ("shape", "texts"):
        model = kb.External(answering("predict", answer, SGDRegressor))
        with pytest.raises(InputError, match=said):
            plain.regressor([kb.Gaussian(sigma=1)], model).fit(ROWS, ROWS[:, 0])


@pytest.mark.parametrize("answer", [[Fraction(1)] * 60, np.ones((60, 1)), [1] * 60, [True] * 60])
def test_numbers_in_other_forms_are_numbers(answer):
    model = answering("predict", lambda X: answer[: len(X)], SGDRegressor)
    said = plain.regressor([kb.Gaussian(sigma=1)], kb.External(model), center=False)
    assert (said.fit(ROWS, ROWS[:, 0]).predict(ROWS) == 1.0).all()


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
    ],
    ids=str,
)
def test_odd_probabilities_row_by_row(chances, message):
    with pytest.raises(InputError, match=rf"External\(.*OneByOne.*\): {message}"):
        fit(OneByOne(chances))


def test_a_later_class_is_told_to_name_all_of_them():
    model = fit(GaussianNB())
    with pytest.raises(InputError, match=r"External\(GaussianNB\(\)\).*name all classes") as caught:
        model.partial_fit(ROWS[:1], [2])
    assert "save" not in str(caught.value)
    assert "file" not in str(caught.value)


def test_the_rows_that_wait_count_as_memory():
    rows = np.random.default_rng(0).normal(size=(200, 50))
    model = fit(SGDClassifier(random_state=0), rows, (rows[:, 0] > 0).astype(int), window=150)
    assert model.memory_bytes_ >= 150 * 50 * 8


@pytest.mark.parametrize("form", [np.array, sp.csr_matrix])
def test_a_model_of_ours_is_one_like_others(form):
    """It has `learn_one` as models of River do, and takes arrays."""
    model = kb.OnlineMKClassifier([kb.Gaussian(sigma=1)], kb.BPAS(10), random_state=0)
    alone = clone(model).partial_fit(form(ROWS), SIDES, classes=[0, 1])
    found = fit(model, form(ROWS), every=1)
    np.testing.assert_array_equal(found.predict(form(ROWS)), alone.predict(form(ROWS)))
