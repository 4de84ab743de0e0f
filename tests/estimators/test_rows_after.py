"""A single row is a chunk of one, probabilities too: after a merge, from a file, under weights."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.errors import KernbrookWarning, NonFiniteError

KERNELS = [kb.Gaussian(sigma=0.5), kb.Gaussian(sigma=2)]
RNG = np.random.default_rng(4)
X = RNG.normal(size=(260, 3))
SCORE = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=len(X))
TWO, THREE = (SCORE > 0.2).astype(int), np.digitize(SCORE, [-0.4, 0.4])
PARTS = slice(0, 90), slice(90, 180)
LATER = range(180, 260)


def machine(**parameters: Any) -> Any:
    return kb.OnlineMKClassifier(KERNELS, kb.BPAS(15), random_state=0, **parameters)


def merged(y: Any, kinds: Any = (None, None)) -> Any:
    """Two models that each learned a part, the first one by single rows too, brought together.

    kinds : labels of each part; rows of other labels are left out
    """
    models = []
    for part, own in zip(PARTS, kinds, strict=True):
        rows = np.arange(len(y))[part]
        rows = rows if own is None else rows[np.isin(y[rows], own)]
        model = machine().fit(X[rows[:-5]], y[rows[:-5]])
        for i in rows[-5:]:
            model.learn_one(X[i], y[i].item())
        models.append(model)
    return models[0].merge(models[1])


def of_a_file(y: Any, folder: Any) -> Any:
    """A model that was loaded, and the one that was saved."""
    model = machine().fit(X[:180], y[:180])
    kb.save(model, folder / "model")
    return kb.load(folder / "model"), model


def twice(model: Any) -> Any:
    return model, deepcopy(model)


WAYS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "merged": lambda _: (twice(merged(TWO)), TWO),
    "merged, three classes": lambda _: (twice(merged(THREE)), THREE),
    "merged, classes apart": lambda _: (twice(merged(THREE, ([0, 1], [1, 2]))), THREE),
    "merged, in another order": lambda _: (twice(merged(THREE, ([1, 2], [0, 2]))), THREE),
    "of a file": lambda folder: (of_a_file(TWO, folder), TWO),
    "of a file, three classes": lambda folder: (of_a_file(THREE, folder), THREE),
    "class weights": lambda _: (
        twice(machine(class_weight={0: 0.2, 1: 7.0}).fit(X[:180], TWO[:180])),
        TWO,
    ),
    "balanced": lambda _: (
        twice(machine(class_weight="balanced").fit(X[:180], THREE[:180])),
        THREE,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_row_is_a_chunk_of_one(way, tmp_path, monkeypatch):
    empty = np.empty

    def ones(*shape: Any, **named: Any) -> Any:
        """Memory that was never filled is not 0 by luck."""
        array = empty(*shape, **named)
        array.fill(1)
        return array

    monkeypatch.setattr("kernbrook.estimators.machine.MOST_TOGETHER", 0)  # chunks are blocks
    (by_row, by_chunk), y = WAYS[way](tmp_path)
    by_row.learn_one(X[0], y[0].item())  # compiled before
    by_chunk.partial_fit(X[:1], y[:1]).predict_proba(X)
    monkeypatch.setattr(np, "empty", ones)
    (by_row, by_chunk), y = WAYS[way](tmp_path)
    for i in LATER:
        assert by_row.learn_one(X[i], y[i].item()) == by_chunk.predict(X[i : i + 1])[0]
        by_chunk.partial_fit(X[i : i + 1], y[i : i + 1])
    states = by_row.state(), by_chunk.state()
    for name, array in states[1].items():
        np.testing.assert_array_equal(states[0][name], array, err_msg=name)
    np.testing.assert_array_equal(by_row.predict_proba(X), by_chunk.predict_proba(X))


def few(kind: str) -> tuple[Any, Any]:
    """A model that was fitted and has met few rows before, and labels."""
    numbers = kind == "numbers"
    y = SCORE if numbers else {"two": TWO, "three": THREE}.get(kind, TWO)
    if numbers:
        model: Any = kb.OnlineMKRegressor(random_state=0)
    elif kind in ("two", "three"):
        model = machine()
    elif kind == "threshold":
        model = machine(threshold="f1")
    else:
        model = kb.OnlineMKClassifier(random_state=0)
    return model.fit(X[:150], y[:150]), y


@pytest.mark.parametrize("kind", ["two", "three", "threshold", "default", "numbers"])
def test_few_rows_are_as_in_a_block(kind, monkeypatch):
    """Row by row where a block takes longer: the same predictions and states, to the bit."""
    models = []
    for most in (0, 64):
        monkeypatch.setattr("kernbrook.estimators.machine.MOST_TOGETHER", most)
        model, y = few(kind)
        said, at = [model.predict(X[:1])], 150
        for n in (1, 3, 4, 2, 1, 4):
            rows = slice(at, at + n)
            weights = np.array([1.0, 0.0, 2.0, 0.5])[:n]
            said.append(model.predict(X[rows]))
            if kind != "numbers":
                said += [model.predict_proba(X[rows]).ravel(), model.decision_function(X[rows])]
                learned = model._learn_scored(X[rows], y[rows])
                said += [learned.predictions, learned.scores, learned.probabilities, learned.asked]
            else:
                said.append(model.predict_interval(X[rows]).ravel())
                said += list(model.learn(X[rows], y[rows]))
            said.append(model.partial_fit(X[rows], y[rows], sample_weight=weights).predict(X[:2]))
            at += n
        models.append((model, said, "_quick" in vars(model) and model._quick is not None))
    assert [used for _, _, used in models] == [False, True]
    for one, other in zip(models[0][1], models[1][1], strict=True):
        np.testing.assert_array_equal(one, other)
    states = models[0][0].state(), models[1][0].state()
    for name, array in states[0].items():
        np.testing.assert_array_equal(array, states[1][name], err_msg=name)


def test_few_rows_are_learned_all_or_none():
    model, y = few("two")
    for i in range(150, 154):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    before = {name: array.copy() for name, array in model.state().items()}
    wrong = X[154:158].copy()
    wrong[2, 1] = 1e200
    for _ in range(3):
        with pytest.raises(NonFiniteError, match="row 2 of the chunk"):
            model.partial_fit(wrong, y[154:158])
        for name, array in model.state().items():
            np.testing.assert_array_equal(array, before[name], err_msg=name)
    twin, _ = few("two")
    for i in range(150, 154):
        twin.learn_one(X[i], y[i].item())
    for one in (model, twin):
        one.partial_fit(X[154:260], y[154:260])
    for name, array in model.state().items():
        np.testing.assert_array_equal(array, twin.state()[name], err_msg=name)


@pytest.mark.parametrize("way", ["block", "few", "one"])
def test_a_leap_of_a_deviation_is_said_once(way):
    model = kb.OnlineMKClassifier(KERNELS, kb.BPAS(15), scaling="moments", random_state=0)
    rows = X[:60].copy()
    rows[41, 2] = 1e9

    def learn() -> None:
        at = 0
        for n in {"block": [60], "few": [38, *[2] * 11], "one": [40, *[1] * 20]}[way]:
            if n > 1:
                model.partial_fit(rows[at : at + n], TWO[at : at + n])
            else:
                model.learn_one(rows[at], TWO[at].item())
            at += n

    told = {"block": "row 41 of the chunk: ", "few": "row 1 of the chunk: ", "one": ""}[way]
    with pytest.warns(KernbrookWarning, match=rf"^{told}feature 2 is 1e\+09") as said:
        learn()
    assert len(said) == 1
