"""Labels that come late: rows wait under keys, and what was said of them is that of then."""

from copy import deepcopy

import hard_streams
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.estimators.late import rows_waiting

X, Y = hard_streams.gaussian_clouds(80, 4)
UP = np.where(Y > 0, "up", "down")
IRIS, KINDS = load_iris(return_X_y=True)
ORDER = np.random.default_rng(1).permutation(150)[:80]
POOL = [kb.Gaussian(sigma=2), kb.Linear()]
KEYS = [f"row {i}" if i % 3 else i for i in range(80)]


def classifier(**parameters):
    return kb.OnlineMKClassifier(POOL, kb.BPAS(20), random_state=0, **parameters)


def records(rows):
    return [{f"x{j}": value for j, value in enumerate(row) if value > -1} for row in rows]


CASES = {
    "two": (classifier, X, UP, ["down", "up"], np.asarray),
    "sparse": (classifier, X, UP, ["down", "up"], sp.csr_matrix),
    "three": (classifier, IRIS[ORDER], KINDS[ORDER], [0, 1, 2], np.asarray),
    "numbers": (
        lambda: kb.OnlineMKRegressor(POOL, kb.Ridge(), random_state=0),
        X[:, :3], X[:, 3], None, np.asarray,
    ),
    "asking": (
        lambda: classifier(labels=kb.MarginSampling(0.1)), X, UP, ["down", "up"], np.asarray,
    ),
    "advice": (
        lambda: kb.OnlineMKRegressor(
            POOL, [kb.Ridge(), kb.Advice([0, 1])], center=False, random_state=0
        ),
        X[:, :3], X[:, 3], None, np.asarray,
    ),
    "named": (lambda: kb.NamedColumns(classifier(), spare=4), X, UP, ["down", "up"], records),
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


class Naive:
    """`LateLabels` as a list of rows, one row at a time."""

    def __init__(self, model, classes):
        self.model, self.waiting = model, {}
        self.classes = {} if classes is None else {"classes": classes}

    def predict(self, row, key):
        try:
            said = self.model.predict(row)[0]
        except ValueError:  # nothing is learned yet
            said = deepcopy(self.model).learn(row, [None], **self.classes)[0][0]
        self.waiting[key] = row, said
        return said

    def learn(self, key, label):
        row, said = self.waiting.pop(key)
        return said, self.model.learn(row, [label], **self.classes)[1][0]


def assert_same_state(one, other, rows):
    np.testing.assert_array_equal(one.predict(rows), other.predict(rows))
    if hasattr(one, "decision_function"):
        np.testing.assert_array_equal(one.decision_function(rows), other.decision_function(rows))
        np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))
    assert one.n_rounds_ == other.n_rounds_


def test_any_delay_and_any_order(case, tmp_path):
    """Against the naive twin: in chunks, some labels never come, and files between."""
    make, rows, labels, classes, form = case
    rows, rng = form(rows), np.random.default_rng(0)
    late, twin = kb.LateLabels(make(), classes=classes), Naive(make(), classes)
    at = 0
    while at < 80 or twin.waiting:
        if at < 80 and rng.random() < 0.5:
            new = range(at, min(80, at + int(rng.integers(1, 9))))
            said = late.predict(rows[new.start : new.stop], [KEYS[i] for i in new])
            assert said.tolist() == [twin.predict(rows[i : i + 1], KEYS[i]) for i in new]
            at = new.stop
        else:
            there = [i for i in range(80) if KEYS[i] in twin.waiting]
            known = rng.permutation(there)[: rng.integers(0, 12)].tolist()
            told = [None if rng.random() < 0.1 else labels[i] for i in known]
            said, asked = late.learn([KEYS[i] for i in known], told)
            expected = [twin.learn(KEYS[i], label) for i, label in zip(known, told, strict=True)]
            assert list(zip(said.tolist(), asked.tolist(), strict=True)) == expected
        assert list(late.waiting_) == list(twin.waiting)
        if rng.random() < 0.1:
            kb.save(late, tmp_path / "late")
            late = kb.load(tmp_path / "late")
    assert_same_state(late.model, twin.model, rows)


def test_a_class_that_comes_later():
    late = kb.LateLabels(classifier())
    late.predict(X[:20], range(20))
    late.learn(range(10), UP[:10])
    late.predict(X[20:30], range(20, 30))
    late.learn([20], ["new"])
    late.predict(X[30:40], range(30, 40))
    learned = late.learn_scored([10, 21, 30], ["new", "up", "new"])
    assert learned.predictions.tolist()[0] is None  # the classes were not known then
    assert learned.scores is None
    assert learned.probabilities is None
    assert late.learn_scored([31, 32], ["up", "new"]).probabilities.shape == (2, 3)
    held = kb.LateLabels(classifier(), classes=["down", "up"])
    held.predict(X[:2], ["a", "b"])
    with pytest.raises(InputError, match=r"label 'new' .row 0 of the chunk. is not one of"):
        held.learn(["b"], ["new"])
    assert len(held.waiting_) == 2


def test_before_the_first_label_nothing_is_learned():
    late = kb.LateLabels(classifier())
    assert late.predict(X[:3], [1, 2, 3]).tolist() == [None] * 3
    assert not hasattr(late.model, "classes_")
    with pytest.raises(NotFittedError, match="`classes` names none"):
        late.predict_proba(X[:1], ["a"])
    assert list(late.waiting_) == [1, 2, 3]
    assert not hasattr(kb.LateLabels(kb.OnlineMKRegressor()), "predict_proba")
    late = kb.LateLabels(classifier(), classes=["down", "up"])
    assert late.predict(X[:3], [1, 2, 3]).tolist() == ["up"] * 3
    np.testing.assert_allclose(late.learn_scored([3], ["down"]).probabilities, 0.5)
    assert late.model.n_rounds_ == 1
    assert late.predict(X[:0], []).shape == (0,)
    assert late.learn([], [])[0].shape == (0,)


def test_the_oldest_is_dropped(tmp_path):
    late = kb.LateLabels(classifier(), limit=5, classes=["down", "up"])
    assert len(late.predict(X[:7], range(7))) == 7
    assert (list(late.waiting_), late.n_dropped_) == ([2, 3, 4, 5, 6], 2)
    late.learn([4], ["up"])
    kb.save(late, tmp_path / "late")
    late = kb.load(tmp_path / "late")
    late.predict(X[7:9], [0, 8])
    assert (list(late.waiting_), late.n_dropped_) == ([3, 5, 6, 0, 8], 3)
    with pytest.raises(InputError, match="keys: 2 does not wait: it was never predicted"):
        late.learn([3, 2], ["up", "up"])
    assert list(late.waiting_) == [3, 5, 6, 0, 8]
    assert late.model.n_rounds_ == 1


def test_an_interrupted_call_frees_what_was_learned(monkeypatch):
    late, model = (kb.LateLabels(m, classes=["down", "up"]) for m in (classifier(), classifier()))
    late.predict(X, range(80))
    model.predict(X, range(80))
    whole = late.model.learn

    def stopped(rows, y, **named):
        whole(rows[:7], y[:7], **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(late.model, "learn", stopped)
    with pytest.raises(KeyboardInterrupt):
        late.learn(range(20), UP[:20])
    monkeypatch.undo()
    assert list(late.waiting_) == list(range(7, 80))
    late.learn(range(7, 20), UP[7:20])
    model.learn(range(20), UP[:20])
    assert_same_state(late.model, model.model, X)


def test_records_of_a_table_wait(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {"km": float(v) if v < 1 else None, "day": str(rng.choice(["mon", "sat"]))}
        for v in rng.normal(size=300)
    ]
    labels = np.where([row["day"] == "sat" for row in rows], "up", "down")
    table = [{**row, "way": label} for row, label in zip(rows, labels, strict=True)]
    encoder = kb.TableEncoder({"day": 4}, missing="mean")
    late, alone = (
        kb.LateLabels(kb.fit_table(table[:200], "way", model=classifier(), encoder=encoder))
        for _ in range(2)
    )
    said = late.predict_proba(rows[200:260], range(60))
    assert (
        alone.predict(rows[200], ["first"]).tolist()
        == late.model.classes_[said[:1].argmax(axis=1)].tolist()
    )
    with rows_waiting(60):  # as far from the last label as rows wait
        row = late.model.encoder_.transform(pa.Table.from_pylist(rows[260:261]))
        expected = late.model.model.predict_proba(row)
    np.testing.assert_array_equal(late.predict_proba(rows[260], ["one"]), expected)
    kb.save(late, tmp_path / "m")
    again = kb.load(tmp_path / "m")
    alone.predict_proba(rows[201:230], range(1, 30))
    alone.predict(rows[260], ["one"])
    for key, label in zip(["first", *range(1, 30), "one"], [*labels[200:230], None], strict=True):
        assert alone.learn([key], [label])[1].tolist() == [label is not None]
    for one in (late, again):
        then = one.learn_scored([*range(30), "one"], [*labels[200:230], None])
        np.testing.assert_array_equal(then.probabilities, [*said[:30], *expected])
        assert list(one.waiting_) == [*range(30, 60)]
    whole = kb.TableModel(classifier(), encoder, "way").partial_fit(table[:230])
    whole.learn_one(rows[260])
    for one in (late, again, deepcopy(alone)):
        assert one.model.encoder_.described() == whole.encoder_.described()
        np.testing.assert_array_equal(one.model.predict_proba(rows), whole.predict_proba(rows))
    with pytest.raises(InputError, match=r"is it 'up'"):
        late.learn([30], ["Up"])
    assert 30 in late.waiting_
    with pytest.raises(InputError, match=r"table: row 0.*column 'km': expected a number"):
        late.predict([{"km": "x"}], ["two"])
    lags = kb.TableEncoder(missing="mean", lags=[1])
    numbers = [{"km": row["km"], "at": float(place)} for place, row in enumerate(rows)]
    model = kb.OnlineMKRegressor(kb.Linear(), random_state=0)
    lagged = kb.LateLabels(kb.fit_table(numbers, "at", encoder=lags, model=model))
    with pytest.raises(InputError, match="lags: of rows that wait"):
        lagged.predict(numbers[0], ["a"])
    with pytest.raises(NotFittedError, match="nothing was learned yet"):
        kb.LateLabels(kb.TableModel(classifier())).predict(rows[0], ["a"])


WRONG = {
    "keys: 2 comes 2 times": lambda late: late.predict(X[:3], [1, 2, 2]),
    "keys: 'a' waits for its label already": lambda late: late.predict(X[:2], ["b", "a"]),
    "keys: expected numbers or text, got None": lambda late: late.predict(X[:1], [None]),
    "keys: expected a list with one for each row, got 'b'": lambda late: late.predict(X[:1], "b"),
    "X has 3 features, but the rows that wait have 4": lambda late: late.predict(X[:1, :3], ["b"]),
    "X: has names, for which there is": lambda late: late.predict([{"x": 1.0}], ["b"]),
    "keys: 'b' does not wait": lambda late: late.learn(["b"], ["up"]),
    "found one class, 'up'; name all of them": lambda late: late.learn(["a"], ["up"]),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_refused_changes_nothing(message):
    late = kb.LateLabels(classifier())
    late.predict(X[:1], ["a"])
    with pytest.raises(InputError, match=message):
        WRONG[message](late)
    assert list(late.waiting_) == ["a"]
    assert not hasattr(late.model, "n_rounds_")


def test_parameters():
    with pytest.raises(InputError, match="limit must be an integer from 1"):
        kb.LateLabels(classifier(), limit=0).predict(X, range(80))
    for model in (kb.VotedKernelClassifier(), kb.LateLabels(classifier())):
        with pytest.raises(InputError, match="model must be one of ours that learns from a stream"):
            kb.LateLabels(model).predict(X, range(80))
    with pytest.raises(InputError, match="classes must be None where the model predicts numbers"):
        kb.LateLabels(kb.OnlineMKRegressor(), classes=[0, 1]).predict(X, range(80))
    late = kb.LateLabels(classifier(), limit=7, classes=["down", "up"])
    late.predict(X, range(80))
    late.learn([77, 78], UP[77:79])
    again = clone(late).set_params(model__random_state=3)
    assert (again.limit, again.classes, again.model.random_state) == (7, ["down", "up"], 3)
    assert len(again.waiting_) == 0
    assert not hasattr(again.model, "n_rounds_")
