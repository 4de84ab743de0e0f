"""Models of other libraries in the form of ours."""

import hard_streams
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.outside import online

NAMES = np.array(["a", "b", "c"])


def stream(C, n=200):
    X, y = hard_streams.gaussian_clouds(n)
    if C == 0:
        return X, np.sin(X[:, 0])
    return X, NAMES[(y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)]


@pytest.mark.parametrize(("C", "storage"), [(2, np.asarray), (3, sp.csr_array), (0, sp.csr_array)])
def test_a_model_of_scikit_learn_is_tested_then_trained(C, storage):
    X, y = stream(C, 80)
    X = storage(X)
    given = SGDClassifier("log_loss", random_state=0) if C else SGDRegressor(random_state=0)
    record = kb.prequential(given, X, y)
    assert not hasattr(given, "coef_")
    alone, expected = clone(given), []
    for i in range(len(y)):
        row = X[i : i + 1]
        expected.append(alone.predict(row)[0] if i else "a" if C else 0.0)
        alone.partial_fit(row, y[i : i + 1], *([NAMES[:C]] if C else []))
    if C:
        assert record.predictions.tolist() == expected
    else:
        np.testing.assert_allclose(record.predictions, expected)
    assert record.labels_asked == len(y)
    assert record.n_support_stored == 0


@pytest.mark.parametrize("C", [3, 0])
def test_a_model_of_river_is_tested_then_trained(C):
    pytest.importorskip("river")
    from river import linear_model, preprocessing, tree

    X, y = stream(C)
    linear = preprocessing.StandardScaler() | linear_model.LinearRegression()
    given = tree.HoeffdingTreeClassifier(grace_period=20) if C else linear
    record = kb.prequential(given, X, y)
    alone, expected = given.clone(), []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        named = dict(enumerate(row))
        said = alone.predict_one(named)
        expected.append("a" if said is None else said)
        alone.learn_one(named, label)
    if C:
        assert record.predictions.tolist() == expected
        np.testing.assert_allclose(record.probabilities.sum(axis=1), 1)
    else:
        np.testing.assert_allclose(record.predictions, expected)
        assert record.mistakes is None


@pytest.mark.parametrize("model", [GaussianNB(), kb.External(GaussianNB(), every=9)], ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_chunks_and_labels_that_are_missing(model):
    X, y = stream(2)
    told = np.where(np.arange(200) % 3 > 0, y, None)
    runs = []
    for size in (1, 7, 200):
        machine = online(model)
        said = [
            machine.learn(X[a : a + size], told[a : a + size], classes=["a", "b"])
            for a in range(0, 200, size)
        ]
        runs.append([np.concatenate(column).tolist() for column in zip(*said, strict=True)])
        assert machine.labels_asked_ == (told != None).sum()  # noqa: E711
        assert machine.n_rounds_ == 200
    assert runs[0] == runs[1] == runs[2]
    assert np.mean(np.array(runs[0][0]) == y) > 0.6


def test_regression_is_not_taken_for_classification():
    """A pipeline of River has the methods of all kinds."""
    pytest.importorskip("river")
    from river import linear_model, preprocessing

    pipeline = preprocessing.StandardScaler() | linear_model.LinearRegression()
    X, y = stream(0)
    pool = [kb.External(pipeline), kb.Ridge(features=kb.RandomFeatures(5))]
    model = kb.OnlineMKRegressor(learner=pool, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(InputError, match="is for numbers, not for classes"):
        kb.OnlineMKClassifier(learner=pool[:1]).fit(X, y > 0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DecisionTreeClassifier(), r"or kb.External\(DecisionTreeClassifier\(\.\.\.\), every=500"),
        (DecisionTreeClassifier, "expected a model, got the class DecisionTreeClassifier"),
        (kb.External(DecisionTreeClassifier()), "must have partial_fit or learn_one, or a window"),
        (3, r"with learn, partial_fit \(scikit-learn\) or learn_one \(River\), got 3"),
        ("spa", "got 'spa'"),
    ],
    ids=str,
)
def test_what_is_refused(model, message):
    with pytest.raises(InputError, match=message):
        kb.prequential(model, *stream(2))
    X, y = stream(2)
    machine = online(GaussianNB())
    with pytest.raises(InputError, match="expected two classes or more, found one class; name all"):
        machine.learn(X[:1], y[:1])
    with pytest.raises(InputError, match="label 'c' is not one of the classes 'a', 'b'"):
        machine.learn(X[:1], ["c"], classes=["a", "b"])
    with pytest.raises(InputError, match="y: expected numbers"):
        online(SGDRegressor()).learn(X, y)
    with pytest.raises(InputError, match=r"got \(200, 4\) and \(3,\)"):
        machine.learn(X, y[:3])
