"""Lives: rows, labels and weights of every kind, in any order, and a model that is never lost.

A life begins with a model and a stream. It learns chunks of any size and single rows, with labels
and without, with weights, with classes that come; it is merged, saved, loaded, pickled and copied
at any row, used by threads and in forked processes. After each of these it goes on to the same
bits. It may refuse rows on which it diverges, and then it is as it was before.
"""

from __future__ import annotations

import copy
import os
import pickle
import threading
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import every_learner
import hard_streams
import numpy as np
import plain
import scipy.sparse as sp
from fuzz import zoo
from fuzz.cases import ACCEPTED, REFUSED, in_child, one_of

import kernbrook as kb
from kernbrook.errors import InputError, NonFiniteError

Rng = np.random.Generator
KERNELS = every_learner.SHIFTING[:2]
SIZES = [1, 2, 7, 40, 200, 600]  # of chunks
BEGIN = 30  # rows of the first chunk
SHOWN = 40  # rows that models are compared on
APART = "belong", "chosen different experts", "another library", "not all parts"  # no merging


@cache
def kinds() -> dict[str, Callable[[Rng], Any]]:
    """By name what makes a model; the parameters are drawn where that compiles nothing."""
    recipe = kb.recipes.make
    made: dict[str, Callable[[Rng], Any]] = {
        "default": lambda rng: kb.OnlineMKClassifier(**options(rng, True)),
        "default of numbers": lambda rng: kb.OnlineMKRegressor(**options(rng)),
        "small": lambda rng: recipe("kernbrook-small", random_state=1).set_params(
            **options(rng, True)
        ),
        "small of numbers": lambda rng: recipe(
            "kernbrook-small-regression", random_state=1
        ).set_params(**options(rng)),
        "cells": lambda rng: kb.OnlineMKClassifier(KERNELS, cells(rng), **options(rng, True)),
        "trees": lambda rng: kb.OnlineMKClassifier(KERNELS, trees(rng), **options(rng, True)),
        "trees of numbers": lambda rng: kb.OnlineMKRegressor(KERNELS, trees(rng), **options(rng)),
    }
    for name, numbers, own in zoo.choices():
        made[name] = partial(of_part, numbers, own)
    return made


def of_part(numbers: bool, parts: dict[str, Any], rng: Rng) -> Any:
    learner, make = parts.get("learner"), plain.regressor if numbers else plain.classifier
    own = numbers or learner is None or isinstance(learner, (kb.Group, list))
    kernels = KERNELS if own or rng.random() < 0.5 else every_learner.kernels_of(learner)[0]
    scaling = one_of(rng, ["moments", "ranks", "maximum"])  # without, much diverges
    return make(kernels, scaling=scaling, random_state=0, **parts)


def options(rng: Rng, of_classes: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"random_state": int(rng.integers(99))}
    if rng.random() < 0.2:
        found["delay"] = one_of(rng, [0, 5, np.inf])
    if rng.random() < 0.2:
        found["scaling"] = one_of(rng, ["moments", "maximum", "ranks"])
    if of_classes and rng.random() < 0.2:
        found |= one_of(rng, [{"threshold": None}, {"class_weight": "balanced"}])
    return found


def cells(rng: Rng) -> Any:
    whole = partial(lambda a, b: int(rng.integers(a, b)))
    maps = [
        kb.RandomBinning(whole(1, 20), cells=whole(1, 300)),
        kb.GrownPartitions(whole(1, 6), whole(2, 60), whole(1, 5), whole(1, 9)),
    ]
    return kb.Cells(maps, step=one_of(rng, [0.01, 0.2, 5.0, 100.0]))


def trees(rng: Rng) -> Any:
    whole = partial(lambda a, b: int(rng.integers(a, b)))
    step, work = one_of(rng, [0.05, 0.3, 1.0]), one_of(rng, [1, 100, 20_000, 10**9])
    return kb.BoostedTrees(whole(1, 9), whole(2, 129), whole(16, 600), step, work=work)


# -- streams --------------------------------------------------------------------------------------


def column(rng: Rng, n: int) -> Any:
    """A feature: ties and mostly zeros, of any size, steady or not."""
    normal = rng.normal(size=n)
    match int(rng.integers(16)):
        case 0:
            return normal * 10.0 ** int(rng.integers(-6, 7))
        case 1:
            return rng.integers(0, int(rng.integers(2, 60)), n).astype(float)
        case 2:
            return np.where(rng.random(n) < rng.random(), 0.0, rng.exponential(size=n))
        case 3:
            return np.where(rng.random(n) < 0.95, 0.0, normal)
        case 4:
            return np.full(n, normal[0])
        case 5:
            return (rng.random(n) < rng.random()).astype(float)
        case 6:
            return np.tan(np.pi * (rng.random(n) - 0.5))
        case 7:
            return 1.7e9 + np.arange(n) * rng.exponential() * 100
        case 8:
            return np.cumsum(normal)
        case 9:
            return rng.zipf(1.5, n).clip(max=1000) * 1.0
        case 10:
            return np.where(np.arange(n) < n // 2, 0.0, normal)
        case 11:
            return normal * np.where(np.arange(n) > n // 2, 1000, 1)
        case 12:
            return np.where(rng.random(n) < 0.1, 1e-170, 0.0)
        case 13:
            return normal * one_of(rng, [1e30, 1e-170, 1e-300])
        case 14:  # gaps, filled by the mean of what came before
            held = np.where(rng.random(n) < 0.15, np.nan, one_of(rng, [-1.0, 0, 0, 0, 0, 1]))
            held[::3] = rng.choice([-1.0, 0, 1], len(held[::3]), p=[0.1, 0.8, 0.1])
            there = ~np.isnan(held)
            mean = np.cumsum(np.where(there, held, 0)) / np.maximum(np.cumsum(there), 1)
            return np.where(there, held, mean)
        case _:
            return rng.poisson(3, n).astype(float)


def stream(rng: Rng, n: int, d: int, numbers: bool) -> tuple[Any, Any]:
    """Rows, and labels that have to do with them: numbers, or up to seven classes."""
    X = np.column_stack([column(rng, n) for _ in range(d)])
    with np.errstate(all="ignore"):
        Z = np.nan_to_num((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-300))
    s = Z[:, 0] * Z[:, -1] + Z[:, d // 2] + 0.3 * rng.normal(size=n)
    if numbers:
        return X, s.clip(-1e6, 1e6) * 10.0 ** int(rng.integers(-8, 9))
    C = one_of(rng, [2, 2, 3, 7])
    y = np.digitize(s, np.quantile(s, np.arange(1, C) / C))
    if rng.random() < 0.2:  # a class is rare, or comes late
        y = np.where((y == C - 1) & (rng.random(n) < 0.9), 0, y)
    y[:C] = np.arange(C)
    return X, np.array([f"c{i}" for i in range(C)])[y] if rng.random() < 0.3 else y


def weights_of(rng: Rng, n: int) -> Any:
    """Of the rows; None where all are alike."""
    return one_of(
        rng,
        [
            *[None] * 5, rng.choice([0, 0.1, 0.5, 1.0], n), rng.lognormal(3, 1, n),
            np.full(n, one_of(rng, [1e-3, 1e6])), 10.0 ** rng.uniform(-6, 6, n),
        ],
    )  # fmt: skip


# -- a life ---------------------------------------------------------------------------------------


class Life:
    """A model that lives on a stream; AssertionError where it is lost.

    Parameters
    ----------
    rng : all that is drawn comes from it
    folder : of the model's file
    model : it has learned nothing
    """

    def __init__(self, rng: Rng, folder: Path, model: Any, most: int = 1500):
        self.rng, self.model, self.path = rng, model, folder / "model"
        n, d = int(rng.integers(60, most)), int(rng.integers(3, 9))
        self.numbers = isinstance(model, kb.OnlineMKRegressor)
        self.X, self.y = stream(rng, n, d, self.numbers)
        self.w = weights_of(rng, n)
        self.sparse = rng.random() < 0.1 and not isinstance(getattr(model, "learner", 0), kb.Advice)
        if self.sparse:
            self.X = sp.csr_matrix(np.where(np.abs(self.X) > 0.8, self.X, 0.0))
        self.at, self.refused = 0, 0

    def run(self) -> str:
        self.learn(self.model, slice(0, BEGIN), self._first_classes())
        self.at = BEGIN
        while self.at < len(self.y):
            some = slice(self.at, min(self.at + one_of(self.rng, SIZES), len(self.y)))
            self.at = some.stop
            happens = one_of(
                self.rng,
                [self.rows_one_by_one, self.without_labels, self.saved, self.merged, self.used,
                 *[lambda some: self.learn(self.model, some)] * 5],
            )  # fmt: skip
            happens(some)
        self.saved(slice(0, 20))
        return REFUSED if self.refused else ACCEPTED

    def _first_classes(self) -> Any:
        """All classes at first, or those of the first rows: others come."""
        if self.numbers:
            return None
        return np.unique(self.y if self.rng.random() < 0.5 else self.y[:BEGIN])

    def learn(self, model: Any, some: slice, classes: Any = None) -> None:
        """Rows are learned, or all refused because the model diverges: then it is as before."""
        named = {} if classes is None else {"classes": classes}
        weights = None if self.w is None else self.w[some]
        self._or_as_before(
            model,
            lambda: model.partial_fit(self.X[some], self.y[some], sample_weight=weights, **named),
        )

    def rows_one_by_one(self, some: slice) -> None:
        if self.sparse:
            return self.learn(self.model, some)
        for i in range(some.start, min(some.stop, some.start + 20)):
            weight = 1.0 if self.w is None else float(self.w[i])
            self._or_as_before(
                self.model,
                lambda i=i, w=weight: self.model.learn_one(self.X[i], self.y[i], sample_weight=w),
            )

    def without_labels(self, some: slice) -> None:
        """Of some rows, or of all, nobody says the label."""
        few = self.rng.random() < 0.5
        labels = [label if few and self.rng.random() < 0.7 else None for label in self.y[some]]
        self._or_as_before(self.model, lambda: self.model.learn(self.X[some], labels))

    def saved(self, some: slice) -> None:
        """Saved and loaded, pickled or copied, it says the same and goes on to the same bits."""
        twin = one_of(
            self.rng,
            [self._loaded, self._loaded, lambda: pickle.loads(pickle.dumps(self.model)),
             lambda: copy.deepcopy(self.model)],
        )()  # fmt: skip
        self._same(twin)
        for one in (self.model, twin):
            self.learn(one, some)
        self._same(twin)
        if self.rng.random() < 0.5:
            self.model = twin

    def used(self, some: slice) -> None:
        """It learns beside a thread that predicts, or in a process that is forked."""
        if not self._learned():
            return
        if self.rng.random() < 0.5 or not hasattr(os, "fork"):
            twin = copy.deepcopy(self.model)
            said = partial(self._said, self.model, "predict")
            reader = threading.Thread(target=lambda: [said() for _ in range(3)])
            reader.start()
            self.learn(self.model, some)
            reader.join()
            self.learn(twin, some)
            return self._same(twin)

        def there() -> str:
            self.learn(self.model, some)
            return self._bytes(self.model).hex()[-64:]

        found = in_child(there)
        self.learn(self.model, some)
        assert found == self._bytes(self.model).hex()[-64:], "a forked process learns otherwise"

    def merged(self, some: slice) -> None:
        """Two copies learn apart, a few rows or many, and are one again."""
        if not self._learned():
            return
        since, one, other = (copy.deepcopy(self.model) for _ in range(3))
        middle = (some.start + some.stop) // 2
        self.learn(one, slice(some.start, middle))
        self.learn(other, slice(middle, some.stop))
        try:
            self.model = one.merge(other, since=since)
        except InputError as error:
            if not any(words in str(error) for words in APART):
                raise
            self.model = since
        self._loaded()

    # -- what must hold -----------------------------------------------------------------------

    def _learned(self) -> bool:
        return hasattr(self.model, "_model")

    def _or_as_before(self, model: Any, work: Callable[[], Any]) -> None:
        learned, rounds = self._state(model), getattr(model, "n_rounds_", 0)
        try:
            work()
        except NonFiniteError:
            self.refused += 1
            if getattr(model, "n_rounds_", 0) == rounds:  # no block before that
                assert self._state(model) == learned, "a refused chunk leaves a trace"

    def _state(self, model: Any) -> Any:
        if not hasattr(model, "_model"):
            return None
        return {name: array.tobytes() for name, array in model.state().items()}

    def _bytes(self, model: Any) -> bytes:
        kb.save(model, self.path)
        return self.path.read_bytes()

    def _loaded(self) -> Any:
        kb.save(self.model, self.path)
        return kb.load(self.path)

    def _said(self, model: Any, verb: str) -> Any:
        """Finite numbers, or text that refuses them: rows may lie where the experts overflow."""
        try:
            said = np.asarray(getattr(model, verb)(self.X[:SHOWN]))
        except NonFiniteError as error:
            self.refused += 1
            return str(error)
        assert said.dtype.kind != "f" or np.isfinite(said).all(), f"{verb}: NaN or infinity"
        return said

    def _same(self, twin: Any) -> None:
        for verb in ("predict", "decision_function", "predict_proba"):
            if self._learned() and hasattr(self.model, verb):
                was, now = (self._said(one, verb) for one in (self.model, twin))
                np.testing.assert_array_equal(now, was, err_msg=verb)
        assert self._bytes(twin) == self._bytes(self.model), "the twin is another model"


class LateLife(Life):
    """Labels come late, of some rows never, in any order; rows wait in the file, too."""

    def run(self) -> str:
        named = {} if self.numbers else {"classes": sorted(set(self.y.tolist()))}
        late = kb.LateLabels(self.model, limit=int(self.rng.integers(5, 400)), **named)
        while self.at < len(self.y):
            some = range(self.at, min(self.at + one_of(self.rng, SIZES[:-1]), len(self.y)))
            self.at = some.stop
            late.predict(self.X[some], keys=some)
            keys = [*late.waiting_]
            keys = [int(k) for k in self.rng.permutation(keys)[: self.rng.integers(len(keys) + 1)]]
            labels = [self.y[key] if self.rng.random() < 0.9 else None for key in keys]
            twin = None
            if self.rng.random() < 0.2:
                kb.save(late, self.path)
                twin = kb.load(self.path)
            for one in (late, twin) if twin is not None else (late,):
                try:
                    one.learn(keys, labels)
                except NonFiniteError:
                    self.refused += 1
            if twin is not None:
                assert self._bytes(twin) == self._bytes(late), "the twin is another model"
                late = twin
        self.model = late.model
        if self._learned():
            self._same(self._loaded())
        return REFUSED if self.refused else ACCEPTED


def live(rng: Rng, folder: Path, name: str, most: int = 1500) -> str:
    """A life of a model of this kind, on so many rows at most."""
    model = kinds()[name](rng)
    late = name != "learner advice" and rng.random() < 0.15
    kind = LateLife if late else Life
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return kind(rng, folder, model, most).run()


def lives(rng: Rng, folder: Path) -> str:
    """A life of any kind: half of them of the defaults, the small recipes, cells and trees."""
    names = list(kinds())
    return live(rng, folder, one_of(rng, names[:7] if rng.random() < 0.5 else names[7:]))


# -- real sets ------------------------------------------------------------------------------------

EACH = 100  # rows, after which a model is saved and loaded


def saved_on(name: str, rows: int, folder: Path, rng: Rng | None = None) -> None:
    """The default on a set, saved and loaded every 100 rows: in the end as if it had never been.

    rng : of another order; None: as the rows come
    """
    X, y = hard_streams.real(name, None if rng else rows)
    if rng is not None:
        order = rng.permutation(len(y))[:rows]
        X, y = X[order], y[order]
    X = X.toarray() if X.shape[1] < 600 else X
    numbers = len(np.unique(y)) > 30 or (y % 1 != 0).any()
    make = kb.OnlineMKRegressor if numbers else kb.OnlineMKClassifier
    named = {} if numbers else {"classes": np.unique(y)}
    model, whole, path = make(random_state=0), make(random_state=0), folder / "model"
    for start in range(0, len(y), EACH):
        some = slice(start, start + EACH)
        for one in (model, whole):
            one.partial_fit(X[some], y[some], **named)
        kb.save(model, path)
        model = kb.load(path)
    saved = path.read_bytes()
    kb.save(whole, path)
    assert path.read_bytes() == saved, "what was saved and loaded is another model"


def real_sets(rng: Rng, folder: Path) -> str:
    """A set of the folder of data, in some order."""
    hard_streams.READS_DATA = True
    sets = sorted(hard_streams.data_folder().glob("*.libsvm.xz"))
    name = one_of(rng, sets).name.removesuffix(".libsvm.xz")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        saved_on(name, 5000, folder, rng)
    return ACCEPTED
