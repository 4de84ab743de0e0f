"""Columns by name: in any order, with gaps, appearing and vanishing."""

import math

import hard_streams
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

import kernbrook as kb
from kernbrook.errors import InputError

X, Y = hard_streams.gaussian_clouds(90, 5)
UP = np.where(Y > 0, "up", "down")
POOL = [kb.Gaussian(sigma=2), kb.Linear()]
CLASSES = ["down", "up"]


def classifier():
    return kb.OnlineMKClassifier(POOL, kb.BPAS(20), random_state=0)


def stream(seed=0):
    """Records of which any key can be missing; "d" begins late, "e" and "f" later."""
    rng = np.random.default_rng(seed)
    records = [{"a": X[0, 0], "b": X[0, 1], "c": X[0, 2]}]
    for t, row in enumerate(X[1:], 1):
        keys = ["a", "b", "c", *(["d"] if t > 20 else []), *(["e", "f", 7] if t > 40 else [])]
        record = dict(zip(rng.permutation(keys).tolist(), rng.permutation(row), strict=False))
        records.append({7 if k == "7" else k: v for k, v in record.items()})
        if rng.random() < 0.3:
            records[-1]["b"] = rng.choice([None, math.nan, np.float32("nan")])
    return records


class Naive:
    """`NamedColumns` one record at a time: dicts of columns, sums and counts."""

    def __init__(self, model, names, spare):
        self.model, self.spare, self.ignored = model, spare, 0
        self.columns = {name: [0.0, 0] for name in names}

    def row(self, record):
        filled = []
        for name, (total, count) in self.columns.items():
            value = record.get(name)
            there = value is not None and value == value
            filled.append(float(value) if there else total / count if count else 0.0)
        return np.array([filled + [0.0] * self.spare])

    def predict(self, record):
        return self.model.predict(self.row(record))[0]

    def learn(self, record, label):
        for name in record:
            if name not in self.columns and self.spare:
                self.columns[name], self.spare = [0.0, 0], self.spare - 1
            elif name not in self.columns:
                self.ignored += 1
        row = self.row(record)
        for name, column in self.columns.items():
            value = record.get(name)
            if value is not None and value == value:
                column[0] += float(value)
                column[1] += 1
        return self.model.learn(row, [label], classes=CLASSES)[0][0]


@pytest.mark.parametrize(("spare", "size"), [(2, 1), (0, 7), (9, 89)])
def test_chunks_and_the_naive_twin(spare, size, tmp_path):
    records = stream()
    model, twin = kb.NamedColumns(classifier(), spare), Naive(classifier(), "abc", spare)
    model.learn(records[:1], UP[:1], classes=CLASSES)
    expected = [twin.learn(records[0], UP[0])]
    for start in range(1, 90, size):
        chunk = records[start : start + size]
        held = model.filled(chunk), model.n_ignored_
        assert model.predict(chunk).tolist() == [twin.predict(record) for record in chunk]
        np.testing.assert_array_equal(model.filled(chunk), held[0])
        assert model.n_ignored_ == held[1]
        said = model.learn(chunk, UP[start : start + size], classes=CLASSES)[0]
        expected = [twin.learn(*pair) for pair in zip(chunk, UP[start:], strict=False)]
        assert said.tolist() == expected
        if start % 4 == 1:
            kb.save(model, tmp_path / "model")
            model = kb.load(tmp_path / "model")
    assert model.names_ == list(twin.columns)
    assert model.n_ignored_ == twin.ignored
    assert model.n_ignored_ > 0 or spare == 9
    means = [total / count for total, count in twin.columns.values()]
    assert model.means_.tolist() == means + [0.0] * twin.spare
    rows = np.vstack([twin.row(record) for record in records])
    np.testing.assert_array_equal(model.filled(records), rows)
    for verb in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(
            getattr(model, verb)(records), getattr(twin.model, verb)(rows)
        )
    np.testing.assert_array_equal(model.classes_, CLASSES)


def test_frames_with_gaps_columns_that_come_and_go():
    model = kb.NamedColumns(kb.OnlineMKRegressor(POOL, random_state=0), spare=1)
    model.learn(pd.DataFrame({"a": [1, 3], "b": [True, False]}), [0.0, 1.0])
    whole = pd.DataFrame({"n": pd.array([None, 4], dtype="Int64"), "a": [5.0, None], "m": [1, 1]})
    model.learn(whole, [0.0, 1.0])
    assert model.names_ == ["a", "b", "n"]
    np.testing.assert_array_equal(model.means_, [3, 0.5, 4])
    assert model.n_ignored_ == 2
    np.testing.assert_array_equal(
        model.filled(pd.DataFrame({"other": [1.0], "n": [None]})), [[3, 0.5, 4]]
    )
    assert model.predict([{"a": 1}], return_std=True)[1].shape == (1,)
    assert model.learn(whole[:0], [])[0].shape == (0,)
    assert model.names_ == ["a", "b", "n"]


def test_an_interrupted_call_keeps_what_was_learned(monkeypatch):
    records, models = stream(), [kb.NamedColumns(classifier(), spare=2) for _ in range(2)]
    for model in models:
        model.learn(records[:1], UP[:1], classes=CLASSES)
    whole = models[0].model.learn

    def stopped(rows, y):
        whole(rows[:50], y[:50])
        raise KeyboardInterrupt

    monkeypatch.setattr(models[0].model, "learn", stopped)
    with pytest.raises(KeyboardInterrupt):
        models[0].learn(records[1:], UP[1:])
    monkeypatch.undo()
    models[0].learn(records[51:], UP[51:])
    models[1].learn(records[1:], UP[1:])
    assert models[0].n_ignored_ == models[1].n_ignored_
    for name in ("filled", "predict_proba"):
        one, other = (getattr(model, name)(records) for model in models)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("verb", ["learn", "partial_fit", "late"])
def test_rows_that_are_skipped_shift_nothing(monkeypatch, verb):
    """Of a call that ends early, too: what was skipped before its end was met."""
    machine = kb.OnlineMKClassifier(POOL, scaling=None, on_bad_rows="skip")
    much = 9.9e153  # twice of which, squared, is infinite
    rows = [{"a": value, "b": value} for value in (1.0, 2.0, much, 4.0, much, 6.0, 7.0)]
    model, labels, whole = kb.NamedColumns(machine), [1, 2, 1, 2, 1, 6, 2], type(machine)._learn

    def stopped(self, X, y, sample_weight=None, given=False):
        if 6 not in y:
            return whole(self, X, y, sample_weight, given)
        if end := int((y == 6).argmax()):
            whole(self, X[:end], y[:end], given=given)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(machine), "_learn", stopped)
    late = kb.LateLabels(model)
    late.predict(rows, range(7))
    with pytest.raises(KeyboardInterrupt):
        late.learn(range(7), labels) if verb == "late" else getattr(model, verb)(rows, labels)
    assert (model.n_rounds_, model.n_rows_skipped_, model.counts_.tolist()) == (3, 2, [5, 5])
    assert list(late.waiting_) == ([5, 6] if verb == "late" else list(range(7)))


ROWS = [{"a": 1.0}, {"a": 2.0}]
WRONG = {
    "column 'a', row 1 of the chunk: .* got 'red'": [{"a": 1}, {"a": "red"}],
    "column 'b', row 0 of the chunk: .* got '3'": pd.DataFrame({"b": ["3", "4"]}),
    "column 'b', row 1 of the chunk: .* got inf": pd.DataFrame({"b": [3, math.inf]}),
    "column 'b', row 0 of the chunk: .* got .*delta": pd.DataFrame(
        {"b": np.array([5, 6], dtype="m8[ns]")}
    ),
    r"column 'b', row 0 of the chunk: .* got \[1\]": [{"b": [1]}, {}],
    "named by text or whole numbers, got 1.5": [{1.5: 2}, {}],
    "there are 2 columns 'a'": pd.DataFrame(np.eye(2), columns=["a", "a"]),
    "expected a frame, or records such as": np.eye(2),
    "the first rows have no columns": [{}, {}],
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_refused_changes_nothing(message):
    model = kb.NamedColumns(classifier())
    with pytest.raises(InputError, match=message):
        model.learn(WRONG[message], CLASSES)
    with pytest.raises(InputError, match="X has 2 rows but y has 1 labels"):
        model.learn(ROWS, ["up"])
    assert not hasattr(model, "names_")
    with pytest.raises(NotFittedError, match="nothing was learned yet"):
        model.predict(ROWS)
    model.learn(ROWS, CLASSES)
    if "first rows" not in message:
        with pytest.raises(InputError, match=message):
            model.learn(WRONG[message], CLASSES)
    assert model.names_ == ["a"]
    assert (model.means_.tolist(), model.n_rounds_) == ([1.5], 2)


def test_parameters_and_verbs():
    for spare in (-1, 1.5, True, None):
        with pytest.raises(InputError, match="spare must be an integer from 0"):
            kb.NamedColumns(classifier(), spare).learn(ROWS, CLASSES)
    model = kb.NamedColumns(classifier(), spare=2).partial_fit(ROWS, CLASSES)
    again = clone(model).set_params(model__random_state=5)
    assert (again.spare, again.model.random_state) == (2, 5)
    assert not hasattr(again, "names_")
    numbers = kb.NamedColumns(kb.OnlineMKRegressor())
    assert is_classifier(model)
    assert is_regressor(numbers)
    assert not hasattr(numbers, "predict_proba")
    assert not hasattr(numbers, "decision_function")
    assert not hasattr(kb.NamedColumns(kb.recipes.make("majority")), "learn_one")
