"""One pass: test, ask, train."""

import itertools
import sys
import time

import hard_streams
import numpy as np
import pytest
import scipy.sparse as sp
from driving import waves
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import trivial as naive

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.streams.arrays import ArrayStream

few_samples = pytest.mark.usefixtures("few_samples")


def assert_same_records(one, other):
    np.testing.assert_array_equal(one.predictions, other.predictions)
    assert (one.mistakes is None) == (other.mistakes is None)
    if one.mistakes is not None:
        np.testing.assert_array_equal(one.mistakes, other.mistakes)
    np.testing.assert_array_equal(one.scores, other.scores)
    for name in ("error", "labels_asked", "n_support_stored", "n_support_active"):
        assert getattr(one, name) == getattr(other, name), name


SOME = ["omkc-ss", "perceptron-best", "bpas", "ahpatron", "kernbrook-small", "majority"]
OF_NUMBERS = ["kernbrook-small-regression", "omkl", "amkl-aks", "mean"]


@pytest.mark.parametrize(
    ("name", "n"),
    [
        *((name, 120) for name in (*SOME, *OF_NUMBERS)),
        *(("omkc-dd", n) for n in (1, 350)),
        ("raker", 1),
    ],
)
def test_a_record_is_consistent(name, n):
    numbers = kb.recipes.task(name) == "regression"
    X, y = waves(n) if numbers else hard_streams.gaussian_clouds(n)
    estimator = kb.recipes.make(name, random_state=1)
    named, began = {} if numbers else {"classes": [-1, 1]}, time.perf_counter()
    record = kb.prequential(estimator, X, y, **named)
    assert 0 < record.seconds <= time.perf_counter() - began
    predicted, asked = kb.recipes.make(name, random_state=1).learn(X, y, **named)
    if name != "perceptron-best":  # which looks ahead in arrays
        np.testing.assert_array_equal(record.predictions, predicted)
    lost = (record.predictions - y) ** 2 if numbers else record.predictions != y
    if numbers:
        assert record.mistakes is None
    else:
        np.testing.assert_array_equal(record.mistakes, lost)
        assert record.mistakes.dtype == bool
    assert record.error == pytest.approx(lost.mean(), rel=1e-12)
    assert record.labels_asked == estimator.labels_asked_ == asked.sum() <= n
    assert record.n_support_stored == estimator.n_support_stored_
    assert record.n_support_active == estimator.n_support_active_
    assert 0 <= record.n_support_active <= record.n_support_stored
    history = record.history
    assert history.rounds[-1] == n
    assert (np.diff(history.rounds, prepend=0) > 0).all()
    so_far = np.cumsum(lost)[history.rounds - 1] / history.rounds
    np.testing.assert_allclose(history.error, so_far, rtol=1e-12)
    assert history.labels_asked[-1] == record.labels_asked
    assert (np.diff(history.labels_asked, prepend=0) <= np.diff(history.rounds, prepend=0)).all()
    if name not in ("perceptron-best", "ahpatron"):  # they drop kernels not chosen, and half a set
        assert (np.diff(history.n_support_stored) >= 0).all()
    assert history.n_support_stored[-1] == record.n_support_stored
    assert history.kernel_weights.shape == (len(history.rounds), len(history.kernels))
    if history.kernels:
        pairs = zip(estimator.experts_, estimator.expert_weights_, strict=True)
        without = sum(weight for one, weight in pairs if one.kernel is None)
        assert (without > 0) == name.startswith("kernbrook-small")
        total = history.kernel_weights.sum(axis=1)
        assert ((total > 0) & (total < 1 + 1e-9)).all()
        assert total[-1] == pytest.approx(1 - without)
        np.testing.assert_array_equal(history.kernel_weights[-1], estimator.kernel_weights_)
        assert history.kernels == tuple(str(kernel) for kernel in estimator.kernels_)


@few_samples
@pytest.mark.parametrize("name", SOME)
def test_an_order_is_the_rows_in_that_order(name):
    X, y = hard_streams.wdbc(200)
    order = np.random.default_rng(2).permutation(len(y))
    ordered = kb.prequential(kb.recipes.make(name, random_state=0), X, y, order)
    plain = kb.prequential(kb.recipes.make(name, random_state=0), X[order], y[order])
    assert_same_records(ordered, plain)
    sparse, listed = sp.csr_matrix(X), order.tolist()
    sparse = kb.prequential(kb.recipes.make(name, random_state=0), sparse, y, listed)
    assert_same_records(ordered, sparse)
    if name != "perceptron-best":  # which looks ahead in arrays
        made = kb.recipes.make(name, random_state=0)
        assert_same_records(plain, kb.prequential(made, ArrayStream(X[order], y[order])))


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.sampled_from("abc"), min_size=1, max_size=60),
    numbers=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    size=st.integers(1, 60),
)
def test_trivial_baselines(labels, numbers, size):
    known = {"classes": list("abc")}
    for name, values, told, expected in (
        ("majority", labels, known, naive.majority(labels, list("abc"))),
        ("last-label", labels, known, naive.last_label(labels, list("abc"))),
        ("mean", numbers, {}, naive.mean(numbers)),
        ("last-value", numbers, {}, naive.last_value(numbers)),
    ):
        y, X = np.array(values), np.zeros((len(values), 1))
        estimator, predicted = kb.recipes.make(name), []
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            foreseen = estimator.predict(X[:1]) if start else None
            predicted += list(estimator.learn(X[part], y[part], **told)[0])
            assert foreseen is None or foreseen[0] == predicted[start]
        assert predicted == expected
        assert estimator.labels_asked_ == estimator.n_rounds_ == len(y)


BAD = [
    (lambda e, X, y: kb.prequential(e, X), "y is missing"),
    (lambda e, X, y: kb.prequential(e, X, y[:-1]), r"got \(50, 4\) and \(49,\)"),
    (lambda e, X, y: kb.prequential(e, X[0], y), r"expected X of shape \(T, d\)"),
    (
        lambda e, X, y: kb.prequential(e, X, y, np.arange(49)),
        r"0..49, got an array of shape \(49,\)",
    ),
    (lambda e, X, y: kb.prequential(e, X, y, np.arange(50) + 0.5), "a permutation of 0..49"),
    (lambda e, X, y: kb.prequential(e, ArrayStream(X, y), y), "a stream has its own labels"),
    (
        lambda e, X, y: kb.prequential(e, ArrayStream(X, y), order=np.arange(50)),
        "a stream has its own labels",
    ),
    (lambda e, X, y: kb.prequential(e, X, y, classes=[0, 1]), "is not one of the classes"),
    (lambda e, X, y: kb.prequential(e, X, np.ones(50)), "expected two classes or more, found one"),
    (lambda e, X, y: kb.prequential(kb.VotedKernelClassifier(), X, y), "learns from all data at"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), BAD, ids=lambda part: part if isinstance(part, str) else ""
)
def test_bad_input(wrong, message):
    X, y = hard_streams.gaussian_clouds(50)
    with pytest.raises(InputError, match=message):
        wrong(kb.recipes.make("omkc-dd"), X, y)


def test_bad_input_of_numbers():
    X, y = hard_streams.gaussian_clouds(50)
    named = np.where(y > 0, "yes", "no")
    for name in ("mean", "kernbrook-regression"):
        for data in ((X, named), (ArrayStream(X, named), None)):
            with pytest.raises(InputError, match="y: expected numbers, got <U3"):
                kb.prequential(kb.recipes.make(name), *data)
        with pytest.raises(InputError, match=r"classes: .*Regressor predicts numbers; give none"):
            kb.prequential(kb.recipes.make(name), X, y, classes=[-1, 1])
    with pytest.raises(InputError, match=r"labels of classes, found the number -0\.5; recipes"):
        kb.prequential(kb.recipes.make("spa"), ArrayStream(X, y / 2))


@pytest.mark.parametrize(("wall", "processors", "seconds"), [(1.0, 3.0, 1.0), (4.0, 0.5, 0.5)])
def test_seconds_are_those_of_learning_alone(monkeypatch, wall, processors, seconds):
    """What other processes take of the wall clock is left out; threads count once."""
    X, y = hard_streams.gaussian_clouds(100)
    readings = itertools.count()

    def clocks():
        number = next(readings)
        return wall * number, processors * number

    monkeypatch.setattr(sys.modules["kernbrook.evaluation.run"], "_clocks", clocks)
    record = kb.prequential(kb.recipes.make("majority"), X, y)
    assert record.seconds == pytest.approx(seconds * len(record.history.rounds))


@few_samples
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["omkc-ss", "om2", "bpegasos-merge", "kernbrook-small"])
def test_the_most_probable_class_is_the_one_that_is_said(name, classes):
    X, y = hard_streams.gaussian_clouds(300)
    y = y if classes == 2 else hard_streams.classes_of(X, 3)
    record = kb.prequential(kb.recipes.make(name, random_state=0), X, y)
    likely = record.classes[record.probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(likely, record.predictions)
    np.testing.assert_allclose(record.probabilities.sum(axis=1), 1)


def test_probabilities_of_a_record_are_those_of_predict_proba():
    X, y = hard_streams.gaussian_clouds(120)
    for labels in (y, hard_streams.classes_of(X, 3)):
        model = kb.OnlineMKClassifier([kb.Gaussian(sigma=1.0)], random_state=0)
        model.partial_fit(X[:60], labels[:60])
        said = []
        for x, label in zip(X[60:], labels[60:], strict=True):
            said.append(model.predict_proba_one(x))
            model.learn_one(x, label)
        model = kb.OnlineMKClassifier([kb.Gaussian(sigma=1.0)], random_state=0)
        model.partial_fit(X[:60], labels[:60])
        record = kb.prequential(model, X[60:], labels[60:], classes=model.classes_)
        np.testing.assert_allclose(record.probabilities, said, rtol=1e-9)
