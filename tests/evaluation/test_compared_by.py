"""Comparisons by another measure than mistakes: the numbers, the stars, what is shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reports.synthetic import make_comparison, make_numbers
from sklearn import metrics as theirs

import kernbrook as kb
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.trivial import TrivialRegressor
from kernbrook.evaluation.ranks import best_rows
from kernbrook.evaluation.record import Row
from kernbrook.reports import comparison_json, comparison_table
from kernbrook.reports.comparison import verdict

LINEAR = {"kernels": [kb.Linear()], "random_state": 0}


def of_classes(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-2 * X[:, 0])), "yes", "no")


def of_numbers(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


# -- records -----------------------------------------------------------------------------------


def test_a_record_has_measures():
    X, y = of_classes()
    record = kb.prequential(kb.OnlineMKClassifier(learner=kb.BPAS(20), **LINEAR), X, y)
    assert record.measures["error"] == record.error
    assert record.measures["log_loss"] == pytest.approx(
        theirs.log_loss(y, record.probabilities, labels=record.classes)
    )
    auc = theirs.roc_auc_score(y, record.probabilities[:, 1])
    assert record.measures["auc"] == pytest.approx(auc, abs=5e-4)
    history = record.history
    assert all(len(own) == len(history.rounds) for own in history.measures.values())
    np.testing.assert_allclose(history.measures["error"], history.error)
    half = history.rounds[len(history.rounds) // 2]
    assert history.measures["log_loss"][len(history.rounds) // 2] == pytest.approx(
        theirs.log_loss(y[:half], record.probabilities[:half], labels=record.classes)
    )
    assert record.intervals is record.coverage is None


def model(**more):
    return kb.OnlineMKRegressor(learner=kb.Ridge(), **LINEAR, **more)


@pytest.mark.parametrize(
    ("made", "chunked"), [(model, True), (lambda: TrivialRegressor("mean"), False)]
)
def test_intervals_before_each_label(made, chunked):
    """As `predict_interval` would have said, row by row; and what they cover."""
    X, y = of_numbers()
    data = (kb.open_stream((X, y)),) if chunked else (X, y)
    record = kb.prequential(made(), *data, intervals=0.8)
    apart = made()
    expected = [(-np.inf, np.inf)]
    for t in range(1, 300):
        apart.learn(X[t - 1 : t], y[t - 1 : t])
        expected.append(apart.predict_interval(X[t : t + 1], 0.8)[0])
    np.testing.assert_allclose(record.intervals, expected, rtol=1e-9)
    low, high = record.intervals.T
    assert record.measures["coverage"] == np.mean((low <= y) & (y <= high))
    finite = np.isfinite(high - low)
    assert record.measures["width"] == pytest.approx((high - low)[finite].mean())
    assert 0.74 < record.measures["coverage"] < 0.88
    assert record.coverage == 0.8


def test_learners_without_intervals_and_probabilities():
    from sklearn.linear_model import Perceptron, SGDRegressor

    X, y = of_numbers(60)
    record = kb.prequential(SGDRegressor(), X, y, intervals=0.9)
    assert record.intervals is None
    assert record.measures.keys() == {"mse", "rmse", "mae"}
    assert kb.prequential(kb.recipes.make("last-value"), X, y, every=9).intervals is None
    X, y = of_classes(60)
    record = kb.prequential(Perceptron(), X, y)
    assert record.measures.keys() <= {"error", "auc"}
    with pytest.raises(InputError, match="intervals: OnlineMKClassifier predicts classes"):
        kb.prequential(kb.OnlineMKClassifier(), X, y, intervals=0.9)
    for wrong in (0, 1.0, "0.9", np.nan, True):
        with pytest.raises(InputError, match="intervals: expected a number in"):
            kb.prequential(model(), *of_numbers(60), intervals=wrong)


# -- comparisons ---------------------------------------------------------------------------------


def row_of(name, measure, values, numbers=False):
    runs = []
    for value in values:
        run = make_numbers(["mean"], permutations=1).rows[0].runs[0] if numbers else BASE
        runs.append(replace(run, measures={} if value is None else {measure: value}))
    return Row(name, name.upper(), tuple(runs))


BASE = make_comparison(["omkc-dd"], permutations=1).rows[0].runs[0]


@pytest.mark.parametrize(
    ("measure", "numbers", "values", "best"),
    [
        ("log_loss", False, {"a": [0.5, 0.51], "b": [0.9, 0.91], "c": [0.505, 0.5]}, {"a", "c"}),
        ("auc", False, {"a": [0.5, 0.51], "b": [0.9, 0.91], "c": [0.905, 0.9]}, {"b", "c"}),
        ("mae", True, {"a": [1e3, 1.1e3], "b": [2.0, 2.1], "c": [np.inf, 1.0]}, {"b"}),
        ("coverage", True, {"a": [0.98, 0.98], "b": [0.9, 0.905], "c": [0.5, 0.52]}, {"b"}),
        ("log_loss", False, {"a": [0.5, 0.6], "b": [None, None]}, {"a"}),
        ("log_loss", False, {"a": [None, None], "b": [None, None]}, set()),
        ("auc", False, {"a": [0.5], "b": [0.6], "c": [None]}, {"b"}),
    ],
)
def test_stars(measure, numbers, values, best):
    rows = [row_of(name, measure, own, numbers) for name, own in values.items()]
    assert set(best_rows(rows, measure)) == best
    if measure == "mae":
        assert set(best_rows([*rows[:1], row_of("d", "mae", [1.0, 1e9], True)], "mae")) != set()


def test_the_measure_decides():
    """A trivial rule errs about as seldom, and knows less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(rng.uniform(size=600) < 0.05 + 0.4 * (X[:, 0] > 0), "yes", "no")
    recipes = {"ours": kb.OnlineMKClassifier(learner=kb.BPAS(20), **LINEAR), "rule": "majority"}
    found = {}
    for measure in ("error", "logloss", "auc"):
        result = kb.compare(X, y, recipes, permutations=3, jobs=1, measure=measure)
        found[measure] = result
        ours = result.rows[0]
        assert result.by == {"logloss": "log_loss"}.get(measure, measure)
        np.testing.assert_array_equal(
            ours.measured("log_loss"), [run.measures["log_loss"] for run in ours.runs]
        )
    assert found["logloss"].best == found["auc"].best == ("ours",)
    assert found["logloss"].manifest["measure"] == "log_loss"
    assert "has the least log loss" in verdict(found["logloss"])
    assert "has the greatest AUC" in verdict(found["auc"])
    assert "AUC" in comparison_table(found["auc"]).headers()
    written = comparison_json(found["auc"])
    assert (written["measure"], written["rows"][0]["measures"]["auc"]["mean"]) == (
        "auc", pytest.approx(found["auc"].rows[0].measured("auc").mean()),
    )  # fmt: skip
    assert "measure" not in kb.compare(X, y, recipes, permutations=1, jobs=1).manifest
    for other in ("logloss", "auc"):  # the runs are the same
        for a, b in zip(found["error"].rows, found[other].rows, strict=True):
            np.testing.assert_array_equal(a.errors, b.errors)


def test_coverage_is_compared():
    X, y = of_numbers()
    recipes = {"ridge": model(), "mean": "mean", "last": "last-value"}
    result = kb.compare(X, y, recipes, permutations=2, jobs=1, measure="coverage")
    ridge, mean, last = result.rows
    assert (abs(ridge.measured("coverage") - 0.9) < 0.05).all()
    assert ridge.measured("width").mean() < mean.measured("width").mean()
    assert np.isnan(last.measured("coverage")).all()
    assert "last" not in result.best
    assert result.rows[0].runs[0].intervals is None  # of many runs they are too much
    text = "\n".join(map(" ".join, comparison_table(result).lines()[0]))
    assert "nan" not in text
    late = kb.compare(X, y, recipes, permutations=1, jobs=1, every=30, measure="mae")
    assert late.rows[0].measures == ("mse", "rmse", "mae", "coverage", "width")


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("acuracy", "unknown measure 'acuracy'"),
        ("mae", "measure: mae is for labels that are numbers; for these there are error, log_loss"),
        ("", "unknown measure ''"),
    ],
)
def test_what_is_no_measure(measure, said):
    with pytest.raises((InputError, UnknownNameError), match=said):
        kb.compare(*of_classes(30), ["majority"], jobs=1, measure=measure)
    with pytest.raises(InputError, match=r"log_loss is for labels that are classes; .* mse, rmse"):
        kb.compare(*of_numbers(30), ["mean"], jobs=1, measure="log_loss")
