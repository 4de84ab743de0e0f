"""What is read off a run: metrics, confusion, drift."""

import sys
from dataclasses import replace
from functools import cache, partial

import hard_streams
import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import SGDClassifier

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation.runs.metrics import river as needed

LOGISTIC = SGDClassifier("log_loss", random_state=0)


def run(C=2, n=300, model=None, names=None):
    return _run(C, n, model, None if names is None else tuple(names))


@cache
def _run(C, n, model, names):
    X, y = hard_streams.gaussian_clouds(n)
    if C == 0:
        return kb.prequential(kb.recipes.make("kernbrook-regression", random_state=0), X, X[:, 0])
    y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
    y = y if names is None else np.array(names)[y]
    return kb.prequential(kb.recipes.make("omkc-dd") if model is None else model, X, y)


def probabilities(record):
    if record.probabilities is not None:
        return record.probabilities
    scores = record.scores
    if scores.ndim == 1:
        scores = np.column_stack([0 * scores, scores])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_scores_are_decisions_before_the_labels():
    for C in (2, 3):
        X, y = hard_streams.gaussian_clouds(150)
        y = (y > 0).astype(int) if C == 2 else hard_streams.classes_of(X, C)
        record = kb.prequential(kb.recipes.make("bpas", budget=9), X, y)
        assert record.classes.tolist() == list(range(C))
        np.testing.assert_array_equal(record.labels, y)
        one = kb.recipes.make("bpas", budget=9)
        one.learn(X[:1], y[:1], classes=range(C))
        expected = []
        for i in range(1, 150):
            expected.append(one.decision_function(X[i : i + 1])[0])
            one.learn(X[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(record.scores[1:], expected, rtol=1e-9, atol=1e-12)
        best = record.scores >= 0 if C == 2 else record.scores.argmax(axis=1)
        np.testing.assert_array_equal(record.predictions, best)


def test_a_subclass_with_a_learn_of_its_own():
    class Silent(kb.OnlineMKClassifier):
        def learn(self, X, y, **more):
            predictions, asked = super().learn(X, y, **more)
            return np.zeros_like(predictions), asked

    record = run(model=Silent(learner=kb.BPAS(5)))
    assert record.predictions.tolist() == [0] * 300
    assert record.scores is None


def test_scores_follow_an_order():
    X, y = hard_streams.gaussian_clouds(150)
    order = np.random.default_rng(0).permutation(150)
    one = kb.prequential(kb.recipes.make("spa", random_state=0), X, y, order)
    other = kb.prequential(kb.recipes.make("spa", random_state=0), X[order], y[order])
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.labels, y[order])


BY_NAME = {  # name -> the function, of what
    "accuracy": (metrics.accuracy_score, "predictions"),
    "f1": (metrics.f1_score, "predictions"),
    "cohen_kappa": (metrics.cohen_kappa_score, "predictions"),
    "roc_auc_score": (metrics.roc_auc_score, "scores"),
    "average_precision": (metrics.average_precision_score, "scores"),
    "log_loss": (metrics.log_loss, "probabilities"),
    "brier_score_loss": (metrics.brier_score_loss, "probabilities"),
}


@pytest.mark.thinned
@pytest.mark.usefixtures("few_samples")
@pytest.mark.parametrize("model", [None, LOGISTIC], ids=["ours", "outside"])
@pytest.mark.parametrize("name", BY_NAME)
def test_metrics_of_scikit_learn(name, model):
    """Since the start, over a window, and decaying, each from its definition."""
    record = run(n=320, model=model)
    function, of = BY_NAME[name]
    told = {
        "predictions": record.predictions,
        "scores": record.scores,
        "probabilities": probabilities(record)[:, 1],
    }[of]
    y = record.labels
    for metric in (name, function):
        assert record.metric(metric) == pytest.approx(function(y, told), rel=1e-12)
    windowed = record.metric_over_time(name, window=40)
    decaying = record.metric_over_time(name, decay=15)
    whole = record.metric_over_time(name)
    for i in (3, 6, 9):
        end = record.history.rounds[i]
        assert whole[i] == pytest.approx(function(y[:end], told[:end]), rel=1e-12)
        rows = slice(end - 40, end)
        assert windowed[i] == pytest.approx(function(y[rows], told[rows]), rel=1e-12)
        weights = 2.0 ** (-(end - 1 - np.arange(end)) / 15)
        expected = function(y[:end], told[:end], sample_weight=weights)
        assert decaying[i] == pytest.approx(expected, rel=1e-9)
    assert record.metric(name, window=40) == windowed[-1]
    assert record.metric(name, decay=15) == decaying[-1]
    assert whole.shape == windowed.shape == record.history.rounds.shape


def test_the_error_of_the_history_is_a_metric():
    record = run()
    np.testing.assert_allclose(
        record.metric_over_time(metrics.zero_one_loss), record.history.error, rtol=1e-12
    )
    numbers = run(0)
    np.testing.assert_allclose(
        numbers.metric_over_time("mean_squared_error"), numbers.history.error, rtol=1e-9
    )


def test_labels_of_any_kind():
    """The second class is the positive one, for scikit-learn and River."""
    plain, named = run(), run(names=["ham", "spam"])
    assert named.classes.tolist() == ["ham", "spam"]
    for metric in ("f1", "roc_auc", "log_loss", "balanced_accuracy"):
        assert named.metric(metric) == plain.metric(metric)
    own = partial(metrics.f1_score, pos_label="ham")
    assert named.metric(own) == metrics.f1_score(named.labels, named.predictions, pos_label="ham")
    river = pytest.importorskip("river.metrics")
    for metric in (river.F1(), river.LogLoss(), river.ROCAUC(), river.Accuracy()):
        assert named.metric(metric) == plain.metric(metric) == run(names=[1, 2]).metric(metric)
    assert named.metric(river.F1()) == pytest.approx(plain.metric("f1"))
    assert named.metric(river.F1(pos_val="ham")) == pytest.approx(named.metric(own))


@pytest.mark.parametrize("model", [None, LOGISTIC], ids=["ours", "outside"])
def test_more_than_two_classes(model):
    record = run(3, model=model)
    assert record.scores.shape == (300, 3)
    chances = probabilities(record)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    y = record.labels
    assert record.metric("log_loss") == pytest.approx(metrics.log_loss(y, chances), rel=1e-9)
    auc = metrics.roc_auc_score(y, chances, multi_class="ovr")
    assert record.metric("roc_auc") == pytest.approx(auc, rel=1e-9)
    macro = partial(metrics.f1_score, average="macro")
    assert record.metric(macro) == macro(y, record.predictions)
    short = record.metric_over_time("roc_auc", window=3)
    assert np.isnan(short).any()  # where a class is missing
    river = pytest.importorskip("river.metrics")
    right = chances[np.arange(300), y].clip(1e-15, 1 - 1e-15)
    assert record.metric(river.CrossEntropy()) == pytest.approx(-np.log(right).mean())
    assert record.metric(river.MacroF1()) == pytest.approx(record.metric(macro))


def test_metrics_of_river():
    river = pytest.importorskip("river.metrics")
    record, numbers = run(), run(0)
    pairs = [
        (record, river.Accuracy(), "accuracy"),
        (record, river.CohenKappa(), "cohen_kappa"),
        (record, river.LogLoss(), "log_loss"),
        (numbers, river.MAE(), "mean_absolute_error"),
        (numbers, river.R2(), "r2"),
    ]
    for found, metric, name in pairs:
        for how in ({}, {"window": 30}, {"decay": 0.4}, {"decay": 25.0}):
            np.testing.assert_allclose(
                found.metric_over_time(metric, **how)[30:],
                found.metric_over_time(name, **how)[30:],
                rtol=1e-6, atol=1e-9, err_msg=f"{name} {how}",
            )  # fmt: skip
        assert metric.get() == type(metric)().get()  # the one given stays as it is


def test_confusion():
    record = run(3, names=["c", "a", "b"])
    expected = [
        [np.sum((record.labels == i) & (record.predictions == j)) for j in "abc"] for i in "abc"
    ]
    assert record.confusion().tolist() == expected
    X, y = hard_streams.gaussian_clouds(20)
    record = kb.prequential(kb.recipes.make("majority"), X, np.abs(y), classes=[-1, 1])
    assert record.confusion().tolist() == [[0, 0], [0, 20]]  # classes that never came, too


def test_drift():
    X = np.zeros((2000, 1))
    y = np.where(np.arange(2000) % 5 > 0, 1, -1)
    turned = np.where(np.arange(2000) < 1000, y, -y)
    still, record = (kb.prequential(kb.recipes.make("majority"), X, one) for one in (y, turned))
    assert still.drift().tolist() == []
    signals = record.drift()
    assert 1000 < signals[0] < 1200
    assert (signals % 32 == 31).all()
    numbers = kb.prequential(kb.recipes.make("mean"), X, np.arange(2000) // 1000 * 1.0)
    assert 1000 < numbers.drift()[0] < 1100


def test_drift_as_river_has_it():
    river = pytest.importorskip("river.drift")
    X = np.zeros((2000, 1))
    y = np.where((np.arange(2000) % 5 > 0) == (np.arange(2000) < 1000), 1, -1)
    record = kb.prequential(kb.recipes.make("majority"), X, y)
    detector = river.ADWIN()
    signals = record.drift(detector)
    expected = []
    for row, wrong in enumerate(record.mistakes):
        detector.update(int(wrong))
        if detector.drift_detected:
            expected.append(row)
    assert signals.tolist() == expected
    assert abs(record.drift()[0] - expected[0]) <= 32  # ours finds it as soon
    other = river.PageHinkley(threshold=10)
    assert record.drift(other).tolist() == record.drift(other).tolist()
    assert not other.drift_detected


BAD = [
    (lambda r: r.metric("acuracy"), UnknownNameError, "unknown metric 'acuracy': did you mean acc"),
    (lambda r: r.metric(3), InputError, "metric: expected a function, a name such as 'accuracy'"),
    (lambda r: r.metric(SGDClassifier), InputError, "got the class"),
    (lambda r: r.metric("accuracy", window=0), InputError, "window: expected a number of row"),
    (lambda r: r.metric("accuracy", decay=-1), InputError, "decay: expected a positive num"),
    (lambda r: r.metric("accuracy", window=3, decay=3), InputError, "a window or a decay, "),
    (lambda r: r.metric(lambda y, p: 0.0, decay=3), InputError, "takes no sample_weight"),
    (lambda r: run(3).metric("f1"), InputError, "metric f1_score: Target is multiclass"),
    (lambda r: run(0).metric("roc_auc"), InputError, "roc_auc_score is for classes, and th"),
    (lambda r: run(0).confusion(), InputError, "expected a record of classes, found one of"),
    (lambda r: r.drift(3), InputError, "detector: expected one of river.drift, got 3"),
    (
        lambda r: run(model=kb.recipes.make("majority")).metric("log_loss"), InputError,
        "log_loss needs scores, and the record holds none",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "error", "message"), BAD, ids=[text for *_, text in BAD])
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(run(n=40))


def test_metrics_of_river_that_do_not_fit():
    river = pytest.importorskip("river.metrics")
    with pytest.raises(InputError, match="MAE does not go with a record of classification"):
        run().metric(river.MAE())
    with pytest.raises(InputError, match="Accuracy does not go with a record of regression"):
        run(0).metric(river.Accuracy())
    with pytest.raises(InputError, match="F1 is for two classes, the record has 3"):
        run(3).metric(river.F1())
    with pytest.raises(InputError, match="RollingROCAUC takes no weights"):
        run().metric(river.RollingROCAUC(), decay=3)
    with pytest.raises(InputError, match="LogLoss needs scores"):
        replace(run(), scores=None).metric(river.LogLoss())


def test_without_river(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.setitem(sys.modules, "river.metrics.base", None)  # imported by others, perhaps
    assert run(n=40).drift().tolist() == []
    with pytest.raises(InputError, match=r"a metric needs the package river: pip install river"):
        needed("metrics.base", "a metric")
