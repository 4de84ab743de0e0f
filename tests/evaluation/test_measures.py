"""Measures beside trivial rules: against scikit-learn's, in any chunks, in files."""

import json

import numpy as np
import pytest
from naive import trivial as naive
from sklearn import metrics as theirs

import kernbrook as kb
from kernbrook.estimators.tasks import Outputs
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor, rule_of
from kernbrook.evaluation.measures import (
    BINS,
    Measures,
    area,
    areas,
    bins_of,
    measures_over,
    ranks_of,
)
from kernbrook.reports.model import left_out, no_better

CLASSES = np.array(["late", "none", "ontime"])


def what(predictions, probabilities=None, **more):
    return Outputs(predictions, np.zeros(len(predictions), bool), None, probabilities, **more)


def of_classes(n=700, c=3, seed=0):
    """Labels, and what somebody said of them."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(c), n)
    numbers = np.array([rng.choice(c, p=0.5 * p + 0.5 / c) for p in chances])
    return CLASSES[:c][numbers], what(CLASSES[:c][chances.argmax(axis=1)], chances)


def of_numbers(n=700, seed=0):
    rng = np.random.default_rng(seed)
    y = 1000 + rng.normal(size=n)
    said = y + rng.normal(size=n)
    return y, what(said, half_widths=np.ones(n))


def added(measures, y, said, size):
    for start in range(0, len(y), size):
        which = np.zeros(len(y), dtype=bool)
        which[start : start + size] = True
        measures.add(y[which], said.of(which))
    return measures


@pytest.mark.parametrize("c", [2, 3])
def test_classes_beside_scikit_learn(c):
    y, said = of_classes(c=c)
    found = added(Measures(CLASSES[:c]), y, said, 100).values()
    own, numbers = found["model"], np.searchsorted(CLASSES[:c], y)
    assert own["error"] == pytest.approx(1 - theirs.accuracy_score(y, said.predictions))
    assert own["log_loss"] == pytest.approx(theirs.log_loss(y, said.probabilities))
    assert ("auc" in own) == (c == 2)
    if c == 2:
        auc = theirs.roc_auc_score(y, said.probabilities[:, 1])
        assert own["auc"] == pytest.approx(auc, abs=5e-4)
        assert found["majority"]["auc"] == found["last-label"]["auc"] == 0.5
    names = CLASSES[:c].tolist()
    majority, last = naive.majority(y, names), naive.last_label(y, names)
    assert found["majority"]["error"] == np.mean(majority != y)
    assert found["last-label"]["error"] == np.mean(last != y)
    assert "log_loss" not in found["last-label"]
    so_far = np.cumsum(np.eye(c)[numbers], axis=0) - np.eye(c)[numbers] + 1
    shares = so_far / so_far.sum(axis=1, keepdims=True)
    assert found["majority"]["log_loss"] == pytest.approx(
        theirs.log_loss(y, shares), rel=1e-6
    )  # what ties are said to be is the likelier by a hair


def test_numbers_beside_scikit_learn():
    y, said = of_numbers()
    found = added(Measures(None, 0.9), y, said, 64).values()
    own = found["model"]
    assert own["mse"] == pytest.approx(theirs.mean_squared_error(y, said.predictions))
    assert own["rmse"] == pytest.approx(theirs.root_mean_squared_error(y, said.predictions))
    assert own["mae"] == pytest.approx(theirs.mean_absolute_error(y, said.predictions))
    assert own["coverage"] == np.mean(np.abs(y - said.predictions) <= 1)
    assert own["width"] == pytest.approx(2)
    for name, rule in (("mean", naive.mean), ("last-value", naive.last_value)):
        assert found[name]["mae"] == pytest.approx(theirs.mean_absolute_error(y, rule(y)))
        assert found[name]["rmse"] == pytest.approx(theirs.root_mean_squared_error(y, rule(y)))
    assert found["mean"]["coverage"] == pytest.approx(0.9, abs=0.04)
    assert found["mean"]["width"] == pytest.approx(2 * 1.645, abs=0.4)
    assert "coverage" not in found["last-value"]


@pytest.mark.parametrize("case", [of_classes(c=2), of_classes(c=3), of_numbers()])
def test_chunks_and_files(case):
    y, said = case
    classes = None if y.dtype.kind == "f" else np.unique(y)
    first, whole = np.arange(len(y)) < 300, Measures(classes, 0.9)
    whole.add(y, said)
    begun = added(Measures(classes, 0.9), y[first], said.of(first), 7)
    later = Measures(classes, 0.9)
    later.restore(json.loads(json.dumps(begun.described(), allow_nan=False)))
    later.add(y[~first], said.of(~first))
    assert later.described() == whole.described()


@pytest.mark.parametrize("case", [of_classes(c=2), of_classes(c=3), of_numbers()])
def test_over_time(case):
    """The same as by sums at each of the ends."""
    y, said = case
    classes, ends = None if y.dtype.kind == "f" else np.unique(y), np.array([1, 40, 41, 700])
    found, measures = measures_over(classes, y, said, ends), Measures(classes, 0.9, rules=())
    for i, part in enumerate(np.split(np.arange(700), ends[:-1])):
        measures.add(y[part], said.of(part))
        values = measures.values()["model"]
        np.testing.assert_equal({k: float(v[i]) for k, v in found.items()}, values)


def test_rows_that_are_not_counted():
    measures = Measures(CLASSES[:2])
    said = what(CLASSES[[0, 1, 0, 1]], np.full((4, 2), 0.5))
    costs = measures.add(["late", None, "never", "late"], said)
    assert costs["model"]["error"].tolist() == [False, True]
    assert (measures.model.rows, measures.unlabelled, measures.unknown) == (2, 1, 1)
    assert measures.add([None], what(CLASSES[:1])) == {}
    assert left_out(measures) == (
        "not counted: 2 rows without a label",
        "not counted: 1 row with a label that the model does not know",
    )
    numbers = Measures(None)
    numbers.add([1.0, np.nan, 1e200, 3.0], what(np.ones(4)))
    assert (numbers.model.rows, numbers.unlabelled, numbers.unknown) == (2, 1, 1)
    numbers.add(np.array(["a"]), what(np.ones(1)))
    assert numbers.unknown == 2


def test_costs_that_some_rows_have():
    """A mean of some rows would pass for one of all."""
    y, said = of_classes(c=2)
    measures = Measures(CLASSES[:2])
    measures.add(y, said)
    measures.add(y, what(said.predictions))
    assert measures.values()["model"].keys() == {"error"}
    lost = what(said.predictions, np.full((len(y), 2), np.nan))
    other = Measures(CLASSES[:2])
    other.add(y, lost)
    assert np.isnan(other.values()["model"]["log_loss"])
    assert "auc" not in other.values()["model"]
    assert no_better(other) == ""


# -- the area under the curve ------------------------------------------------------------------


def doubt(ranks):
    """How far the area may be from that of the scores themselves, at most: pairs in one bin."""
    return (ranks[0] @ ranks[1]) / 2 / (ranks[0].sum() * ranks[1].sum())


@pytest.mark.parametrize(("unit", "spread"), [(1e-6, 0.1), (1.0, 1.0), (1e4, 10.0)])
def test_area(unit, spread):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 5000)
    scores = unit * (spread * rng.normal(size=5000) + labels)
    scores[:50] = 0.0
    ranks = ranks_of(labels, bins_of(scores))
    exact = theirs.roc_auc_score(labels, scores)
    assert abs(area(ranks) - exact) <= min(doubt(ranks), 1e-4) + 1e-12
    assert doubt(ranks) < 2e-3
    along = [area(ranks_of(labels[:end], bins_of(scores[:end]))) for end in (1, 99, 5000)]
    np.testing.assert_array_equal(areas(labels, scores, [1, 99, 5000]), along)


def test_area_at_the_ends():
    """Scores of every size keep their order; no more than a bin is lost."""
    scores = np.array([-np.inf, -1e300, -3.0, -1e-300, 0.0, 1e-300, 1e-9, 2.0, 1e300, np.inf])
    for i in range(1, len(scores)):
        ranks = ranks_of(np.repeat([0, 1], [i, len(scores) - i]), bins_of(scores))
        assert 1.0 - area(ranks) <= doubt(ranks) + 1e-12 < 0.25
    ranks = ranks_of(np.array([0, 0, 1]), bins_of(np.array([-2.0, 0.5, 3.0])))
    assert (area(ranks), doubt(ranks)) == (1.0, 0.0)
    ranks = ranks_of(np.array([0, 1, 1]), bins_of(np.zeros(3)))
    assert (area(ranks), doubt(ranks)) == (0.5, 0.5)
    assert np.isnan(area(np.zeros((2, BINS), dtype=int)))


# -- trivial rules -------------------------------------------------------------------------------


def test_what_a_model_has_learned():
    X, y = kb.open_stream("checkerboard:300").read()
    labels = np.where(np.arange(300) % 4, "often", "seldom")
    for kind in (kb.OnlineMKClassifier(random_state=0), TrivialClassifier("last-label")):
        rule = rule_of(kind.fit(X, labels))
        assert rule.predict(X[:2]).tolist() == ["often", "often"]
        np.testing.assert_allclose(rule.predict_proba(X[:1]), [[226 / 302, 76 / 302]])
    numbers = 7 + np.arange(300.0) % 9
    machine = kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent(), random_state=0)
    for kind in (machine, machine.set_params(center=False), TrivialRegressor("last-value")):
        rule, mean = rule_of(kind.fit(X, numbers)), TrivialRegressor().fit(X, numbers)
        assert rule.predict(X[:1])[0] == pytest.approx(numbers.mean())
        np.testing.assert_allclose(
            rule.predict_interval(X[:1], 0.8), mean.predict_interval(X[:1], 0.8)
        )
    model = kb.OnlineMKRegressor([kb.Linear()], kb.GradientDescent(), random_state=0)
    model.learn(X, np.where(np.arange(300) % 3, np.nan, numbers))
    assert rule_of(model).predict(X[:1])[0] == pytest.approx(numbers[::3].mean())
    assert rule_of(kb.OnlineMKRegressor()) is rule_of(TrivialRegressor()) is None
    assert rule_of(kb.VotedKernelClassifier().fit(X[:40], y[:40])) is None


def test_labels_go_with_the_model(tmp_path):
    """Row by row, in a file, in parts that were learned apart."""
    X, _ = kb.open_stream("checkerboard:400").read()
    y = 100 + X[:, 0] + np.arange(400) % 5

    def model():
        return kb.OnlineMKRegressor([kb.Linear()], kb.Ridge(), random_state=0)

    rows = model()
    for i in range(400):
        rows.learn_one(X[i], float(y[i]))
        if i == 200:
            kb.save(rows, tmp_path / "model")
            rows = kb.load(tmp_path / "model")
    parts = [model().fit(X[i::2], y[i::2]) for i in (0, 1)]
    for known in (rows, parts[0].merge(parts[1])):
        rule = rule_of(known)
        assert rule.labels_asked_ == 400
        assert rule.predict(X[:1])[0] == pytest.approx(y.mean())
        whole = TrivialRegressor().fit(X, y).predict_interval(X[:1])
        np.testing.assert_allclose(rule.predict_interval(X[:1]), whole)


# -- in words ------------------------------------------------------------------------------------


def beside(y, said, learned=None):
    classes = None if np.asarray(y).dtype.kind == "f" else np.array(["a", "b"])
    measures = Measures(classes, None, learned, None if learned is None else ["majority"])
    measures.add(np.asarray(y), said)
    return measures


def test_words():
    y = np.array(["a"] * 8 + ["b"] * 2)
    chances = np.tile([0.4, 0.6], (10, 1))
    chances[8:] = [0.1, 0.9]
    mostly_a = TrivialClassifier().fit(np.zeros((4, 1)), ["a", "a", "a", "b"])
    mostly_b = TrivialClassifier().fit(np.zeros((4, 1)), ["b", "b", "b", "a"])
    wrong_once = np.array(["a"] * 7 + ["b"] * 3)
    assert no_better(beside(y, what(wrong_once, chances), mostly_b)) == ""
    assert no_better(beside(y, what(np.array(["b"] * 5 + ["a"] * 5), chances), mostly_b)) == (
        "No better than always saying the label seen most often so far in these rows: error 70.00 "
        "% against 30.00 % and log loss 0.7541 against 0.6205; better by AUC 1.000 against 0.500."
    )
    unsure = np.tile([0.001, 0.999], (10, 1))
    assert no_better(beside(y, what(y, unsure), mostly_a)) == (
        "Better than always saying 'a', the label learned most often by error, but no better by "
        "log loss 5.5264 against 0.5441 and AUC 0.500 against 0.500."
    )
    assert no_better(Measures(np.array(["a", "b"]))) == ""
    assert no_better(beside(np.arange(10.0), what(np.full(10, -9.0)))) == (
        "No better than repeating the last value: RMSE 13.8 against 0.9487 and MAE 13.5 against "
        "0.9."
    )


def test_measures_of_a_file_of_before():
    """Each cost had its number of rows; widths were those of the intervals that are finite."""
    y, said = of_numbers(100)
    said = said._replace(half_widths=np.where(np.arange(100) < 10, np.inf, 1.0))
    measures = Measures(None, 0.9)
    measures.add(y, said)
    found = json.loads(json.dumps(measures.described()))
    for own in (found["model"], *(own for own, _ in found["rules"].values())):
        own["counts"] = dict.fromkeys(own["sums"], own["rows"]) | {"squared": 99}
        if "finite" in own["sums"]:
            own["counts"]["width"] = own["sums"].pop("finite")
            del own["counts"]["finite"]
        del own["judged"], own["began"], own["ended"]
    later = Measures(None, 0.9)
    later.restore(found)
    expected = {k: v for k, v in measures.values()["model"].items() if k not in ("mse", "rmse")}
    assert later.values()["model"] == expected
    assert expected["width"] == 2
