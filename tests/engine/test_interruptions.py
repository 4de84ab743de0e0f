"""Ctrl-C, at any moment, leaves whole blocks learned; going on ends as if nothing had happened."""

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driving import named
from inside import arrays_of, assert_equal_arrays, small_blocks

import kernbrook as kb
from kernbrook.engine import session as sessions
from kernbrook.gram import sums

FEATURES = kb.RandomFeatures(8)
CELLS = kb.Cells([kb.RandomBinning(6, [2, None], cells=200), kb.GrownPartitions(3, 30, 2, 5)])
STORES: dict[str, Callable[[], Any]] = {
    "perceptron": lambda: kb.OnlineMKClassifier(learner=kb.Perceptron(), scaling=None),
    "default": lambda: kb.OnlineMKClassifier(),
    "drawn": lambda: kb.recipes.make("spa"),
    "prefix": lambda: kb.recipes.make("perceptron-best", rounds=70, fraction=None),
    "shared": lambda: kb.recipes.make("om2"),
    "forgetron": lambda: kb.recipes.make("forgetron", budget=8),
    "projection": lambda: kb.recipes.make("projectron++", budget=8),
    "pegasos": lambda: kb.recipes.make("pegasos"),
    "merging": lambda: kb.recipes.make("bpegasos-merge", budget=8),
    "asking": lambda: kb.OnlineMKClassifier(learner=kb.BPAS(8), labels=kb.MarginSampling(0.3)),
    "sums": lambda: kb.recipes.make("omkl"),
    "window": lambda: kb.recipes.make("omkl-b", budget=30),
    "features": lambda: kb.OnlineMKRegressor(
        "amkl17",
        [
            kb.GradientDescent(0.5, "normalized", features=FEATURES),
            kb.Ridge(features=FEATURES),
        ],
    ),
    "levels": lambda: kb.recipes.make("ada-raker", n_components=8, levels=3),
    "ridge": lambda: kb.OnlineMKClassifier(
        [kb.Gaussian(sigma=1)], kb.Ridge(features=FEATURES), scaling="maximum"
    ),
    "cells": lambda: kb.OnlineMKClassifier(learner=[CELLS, kb.LastLabel()]),
    "trees": lambda: kb.OnlineMKClassifier(learner=kb.BoostedTrees(3, 4, 40, work=90)),
    "majority": lambda: kb.recipes.make("majority"),
    "mean": lambda: kb.recipes.make("mean"),
}
OURS = str(Path(kb.__file__).parent)
ROWS, BLOCK = 160, 16
OF_NUMBERS = "sums", "window", "features", "levels", "mean"


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks in few rows."""
    small_blocks(monkeypatch, BLOCK)


def stream(store: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 3))
    X[100:110] = X[:10]  # rows that come again
    score = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=ROWS)
    return X, score if store in OF_NUMBERS else (score > 0).astype(int)


def fresh(store: str) -> Any:
    model = STORES[store]()
    return model.set_params(random_state=3) if "random_state" in model.get_params() else model


def learn(model: Any, X: Any, y: Any) -> None:
    model.learn(X, y, **named(None if y.dtype.kind == "f" else 2))


def learned(model: Any) -> int:
    """Rows learned; none where a first call was undone."""
    return int(model.n_rounds_) if hasattr(model, "_model") or hasattr(model, "last_") else 0


def everything(model: Any, X: Any) -> list[Any]:
    """All that was learned, and what follows from it."""
    if not hasattr(model, "_model"):
        return [{k: v for k, v in vars(model).items() if k.endswith("_")}, model.predict(X)]
    arrays = {**arrays_of(model), **model._model.scaler.arrays()}
    return [arrays, model.predict(X), model.n_support_stored_, getattr(model, "offset_", None)]


def assert_equal(found: list[Any], wanted: list[Any]) -> None:
    assert_equal_arrays(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
    assert found[2:] == wanted[2:]


@contextmanager
def interrupted_at(line: int, where: str = OURS) -> Iterator[list[tuple[str, int]]]:
    """KeyboardInterrupt before the given line that kernbrook's own code runs; the lines met.

    where : the folder or file whose lines count
    """
    met = []

    def each_line(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            met.append((frame.f_code.co_filename, frame.f_lineno))
            if len(met) == line:
                raise KeyboardInterrupt
        return each_line

    def each_call(frame: Any, event: str, _: Any) -> Any:
        return each_line if frame.f_code.co_filename.startswith(where) else None

    sys.settrace(each_call)
    try:
        yield met
    finally:
        sys.settrace(None)


def numbers_of(met: list[tuple[str, int]]) -> list[list[int]]:
    """Of each line that ran when it did: the numbers of all lines, from 1, that were it."""
    places: dict[tuple[str, int], list[int]] = {}
    for number, place in enumerate(met, 1):
        places.setdefault(place, []).append(number)
    return list(places.values())


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
def test_before_any_line(store):
    """Interrupted at lines of a first call and of a later one.

    At some of all the lines of source that they run, the first time that it runs or later.
    """
    X, y = stream(store)
    whole = fresh(store)
    learn(whole, X, y)
    wanted = everything(whole, X)
    rng = np.random.default_rng(list(STORES).index(store))
    for start in (0, 40):
        model = fresh(store)
        if start:
            learn(model, X[:start], y[:start])
        with interrupted_at(-1) as met:
            learn(model, X[start:], y[start:])
        assert_equal(everything(model, X), wanted)
        places = numbers_of(met)
        often = [numbers for numbers in places if len(numbers) > 4]  # with every block
        few = 2 if store == "default" else 1  # of so many experts that each takes its time
        lines = [
            rng.choice(numbers)
            for among, n in ((places, 4 // few), (often, 14 // few))
            for numbers in (among[i] for i in rng.permutation(len(among))[:n])
        ]
        partly = 0
        for line in lines:
            model = fresh(store)
            if start:
                learn(model, X[:start], y[:start])
            with pytest.raises(KeyboardInterrupt), interrupted_at(int(line)):
                learn(model, X[start:], y[start:])
            done = learned(model)
            assert done >= start
            partly += start < done < ROWS
            if done < ROWS:
                learn(model, X[done:], y[done:])
            assert_equal(everything(model, X), wanted)
        assert partly >= 3 // few or store in ("majority", "mean")


@pytest.mark.parametrize(("n", "threads"), [(1, 1), (3, 1), (3, 2)])
def test_before_any_line_of_few_rows(n, threads, monkeypatch):
    """One row, and chunks in arrays made once: before each line in turn of what learns them."""
    monkeypatch.setattr(sessions, "ALONE", 0)
    monkeypatch.setattr(sums, "_wished_threads", lambda: threads)
    monkeypatch.setattr(sums, "WORTH_A_THREAD", 0)
    X, y = stream("default")
    ranks = kb.Group(kb.Ridge(features=FEATURES), [kb.Gaussian(sigma=1)], "ranks")
    pool = [kb.BPAS(8), ranks, kb.LastLabel(), CELLS]
    kernels = [kb.Gaussian(sigma=1), kb.Gaussian(sigma=4)]
    models = [kb.OnlineMKClassifier(kernels, pool, random_state=3) for _ in "ab"]
    for model in models:
        learn(model, X[:40], y[:40])
    model, whole = models
    learn(whole, X[40:], y[40:])
    model.learn_one(X[40], int(y[40]))
    for done in (41, 44):
        model.partial_fit(X[done : done + 3], y[done : done + 3])
    done, line, interrupted, finished = 47, 1, 0, 0
    while done + n <= ROWS:
        where = OURS + ("/gram/sums.py" if finished % 2 and n > 1 else "/engine/session.py")
        try:
            with interrupted_at(line, where):
                if n == 1:
                    model.learn_one(X[done], int(y[done]))
                else:
                    model.partial_fit(X[done : done + n], y[done : done + n])
            line, finished = line % 40 + 1, finished + 1
        except KeyboardInterrupt:
            line, interrupted = line + 1, interrupted + 1
        assert learned(model) in (done, done + n) or learned(model) == 128  # where a lap ends
        done = learned(model)
    assert model._model.session.lengths[3].threads == threads
    assert interrupted > 60
    learn(model, X[done:], y[done:]) if done < ROWS else None
    assert_equal(everything(model, X), everything(whole, X))


@pytest.mark.parametrize(
    "where", ["engine/learning.py", "engine/model.py", "estimators/classifier.py"]
)
def test_before_every_line_that_keeps_what_was_learned(where):
    """The lines of the file, over three blocks, the second of which has a new class.

    Each the first time that it runs, and the last.
    """
    X, y = stream("default")
    y[40:56:3] = 2
    kernels, seed = [kb.Gaussian(sigma=1)], {"random_state": 3}
    start = kb.OnlineMKClassifier(kernels, kb.BPAS(8), **seed).fit(X[:24], y[:24])
    whole = copy.deepcopy(start)
    with interrupted_at(-1, f"{OURS}/{where}") as met:
        whole.partial_fit(X[24:72], y[24:72])
    wanted = [*everything(whole, X), whole.predict_proba(X).tolist(), whole.classes_.tolist()]
    lines = sorted({line for numbers in numbers_of(met) for line in (numbers[0], numbers[-1])})
    partly = 0
    for line in lines:
        model = copy.deepcopy(start)
        with pytest.raises(KeyboardInterrupt), interrupted_at(line, f"{OURS}/{where}"):
            model.partial_fit(X[24:72], y[24:72])
        done = learned(model)
        partly += 24 < done < 72
        if done < 72:
            model.partial_fit(X[done:72], y[done:72])
        found = [*everything(model, X), model.predict_proba(X).tolist(), model.classes_.tolist()]
        assert_equal(found, wanted)
    assert len(lines) > 30
    assert partly > 10
