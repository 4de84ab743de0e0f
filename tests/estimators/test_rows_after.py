"""A single row is a chunk of one, probabilities too: after a merge, from a file, under weights."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import kernbrook as kb

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
    "merged, classes apart": lambda _: (twice(merged(THREE, ([0, 1], [1, 2]))), THREE),
    "merged, in another order": lambda _: (twice(merged(THREE, ([1, 2], [0, 2]))), THREE),
    "of a file, three classes": lambda folder: (of_a_file(THREE, folder), THREE),
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

    monkeypatch.setattr(np, "empty", ones)
    (by_row, by_chunk), y = WAYS[way](tmp_path)
    for i in LATER:
        assert by_row.learn_one(X[i], y[i].item()) == by_chunk.predict(X[i : i + 1])[0]
        by_chunk.partial_fit(X[i : i + 1], y[i : i + 1])
    states = by_row.state(), by_chunk.state()
    for name, array in states[1].items():
        np.testing.assert_array_equal(states[0][name], array, err_msg=name)
    np.testing.assert_array_equal(by_row.predict_proba(X), by_chunk.predict_proba(X))
