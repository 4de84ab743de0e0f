"""Models of every kind, each as its file has it after some rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import every_combiner
import every_learner
import every_policy
import numpy as np
import plain
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.evaluation import train
from kernbrook.voted import edit_similarity

D = 3
ROWS = 60  # that a model has learned where nothing else is said
MANY = 1100  # more than a scaler of ranks, and what errors are kept in, hold
ALONE = 15  # rows that are learned one by one
KERNELS = every_learner.SHIFTING[:2]
FEATURES = kb.RandomFeatures(4)
CELLS, TREES = (every_learner.LEARNERS[name][0] for name in ("cells", "boosted trees"))


@cache
def rows(n: int, sparse: bool = False) -> Any:
    X = np.random.default_rng(n).normal(size=(n, D))
    return sp.csr_matrix(np.where(X > 0.3, X, 0.0)) if sparse else X


def labels(n: int, classes: int) -> Any:
    """Of the rows: so many classes, or numbers where there are none."""
    X = rows(n)
    numbers = X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    return numbers if classes == 0 else np.digitize(numbers, [-0.4, 0.4, 0.8][: classes - 1])


def fitted(model: Any, classes: int = 3, n: int = ROWS, sparse: bool = False) -> Any:
    """A copy of the model that has learned n rows, and then some by themselves."""
    model, X, y = copy.deepcopy(model), rows(n, sparse), labels(n, classes)
    model.fit(X, y)
    for x, label in zip(rows(ALONE), labels(ALONE, classes), strict=True):
        if hasattr(model, "learn_one") and not sparse:
            model.learn_one(x, label)
    return model


@cache
def zoo() -> dict[str, Callable[[], Any]]:
    """By name what makes the model anew: each part of a machine, our recipes, all the others."""
    return {**parts(), **machines(), **others()}


def choices() -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Of each learner, combiner and selection that a file can hold: name, of numbers, arguments."""
    for name, (learner, _) in every_learner.LEARNERS.items():
        if not isinstance(learner, kb.External):
            numbers = getattr(learner, "of_numbers", False) and not learner.only_classes
            yield f"learner {name}", numbers, {"learner": learner}
    for name, (combiner, _) in every_combiner.COMBINERS.items():
        loss = getattr(combiner, "loss", None)
        numbers = "numbers" in name or loss in ("squared", "absolute", "linearized")
        learner: Any = kb.Ridge(features=FEATURES) if numbers else None
        if isinstance(combiner, kb.AdaRaker):
            steps = (0.1, 0.2, 0.4)[: combiner.levels]
            learner = [kb.GradientDescent(step, loss=loss) for step in steps]
        yield f"combiner {name}", numbers, {"learner": learner, "combiner": combiner}
    for name, (selection, _) in every_combiner.SELECTIONS.items():
        yield f"selection {name}", False, {"selection": selection}


def parts() -> dict[str, Callable[[], Any]]:
    """Each learner, dense of three classes and sparse of two, each combiner, selection, policy."""
    made: dict[str, Callable[[], Any]] = {}
    for name, numbers, own in choices():
        model = (plain.regressor if numbers else plain.classifier)(KERNELS, random_state=0, **own)
        made[name] = partial(fitted, model, 0 if numbers else 3)
        if name.startswith("learner"):
            made[f"{name}, sparse"] = partial(fitted, model, 0 if numbers else 2, sparse=True)
    for name, (policy, _) in every_policy.POLICIES.items():
        learner = kb.Ridge(features=FEATURES)
        model = plain.classifier(KERNELS, learner, labels=policy, random_state=0)
        made[f"labels {name}"] = partial(asked, model)
    return made


def machines() -> dict[str, Callable[[], Any]]:
    """Our defaults, scalings, precisions, budgets, feature maps; models that learned much."""
    bpas, pegasos = kb.BPAS(9), partial(kb.Pegasos, 9, 0.01)
    ridge = kb.Ridge(features=FEATURES)
    window = kb.GradientDescent(features=None, budget=20, loss="hinge")
    kinds: dict[str, tuple[Any, ...]] = {
        "default": (kb.OnlineMKClassifier(random_state=0), 3),
        "default, long": (kb.OnlineMKClassifier(random_state=0), 2, MANY),
        "default of numbers": (kb.OnlineMKRegressor(random_state=0), 0),
        "default of numbers, long": (kb.OnlineMKRegressor(random_state=0), 0, MANY),
        "active": (kb.recipes.make("kernbrook-active", random_state=0), 2),
        "small": (kb.recipes.make("kernbrook-small", random_state=0), 2),
        "ranks": (own(bpas, scaling="ranks"), 2),
        "ranks, full": (own(bpas, scaling="ranks"), 2, MANY),
        "moments": (own(bpas, scaling="moments"), 2),
        "maximum, sparse": (own(bpas, scaling="maximum"), 2, ROWS, True),
        "window": (own(window), 2),
        "mixed pool": (own([bpas, ridge, kb.Perceptron()]), 2),
        "stacked": (own([bpas, ridge], combiner=kb.Stack()), 2),
        "GroupNorm of two classes": (own(None, combiner=kb.GroupNorm(), scaling=None), 2),
        "Nystroem": (own(kb.Ridge(features=kb.Nystroem(landmarks=rows(6)))), 2),
        "monomials": (own(kb.Ridge(), kernels=[kb.Polynomial(2, 1.0), kb.Linear()]), 2),
        "rows skipped": (own(bpas, on_bad_rows="skip", missing_label=-1), 2),
        "weights of classes": (own(bpas, class_weight={0: 2.0, 1: 0.5}), 2),
        "balanced": (own(bpas, class_weight="balanced"), 2),
        **{f"Pegasos, {how}": (own(pegasos(upkeep=how)), 2) for how in ("merge", "project")},
        **{f"Pegasos, {how}": (own(pegasos(upkeep=how)), 3) for how in ("random", "smallest")},
        "BPAS, long": (own(bpas), 2, MANY),
        "Pegasos, long": (own(kb.Pegasos(40, 0.01)), 2, MANY),
        "growing, long": (own(kb.Perceptron()), 2, MANY),
        "cells, long": (own([CELLS, TREES, kb.LastLabel()]), 2, MANY),
        "cells of numbers, long": (kb.OnlineMKRegressor(KERNELS, CELLS, random_state=0), 0, MANY),
        "trees of numbers": (kb.OnlineMKRegressor(KERNELS, TREES, random_state=0), 0),
    }
    made = {name: partial(fitted, *kind) for name, kind in kinds.items()}
    for name in ("default", "BPAS, long", "ranks, full", "default of numbers", "Pegasos, merge"):
        made[f"{name}, merged"] = partial(merged, *kinds[name][:2])
    made["text labels"] = partial(_named_labels, np.array(["no", "yes"]))
    made["long whole numbers"] = partial(_named_labels, np.array([2**60, 2**60 + 1]))
    return made


def own(learner: Any, kernels: Any = KERNELS, **others: Any) -> Any:
    return kb.OnlineMKClassifier(kernels, learner, random_state=0, **others)


def asked(model: Any) -> Any:
    """A policy decides whose labels are looked at."""
    model = copy.deepcopy(model)
    model.learn(rows(ROWS), labels(ROWS, 3))
    return model


def merged(model: Any, classes: int) -> Any:
    """Two that went on apart from what a third had learned."""
    base = fitted(model, classes)
    parts = [copy.deepcopy(base) for _ in range(2)]
    for i, part in enumerate(parts):
        part.partial_fit(rows(99)[i::2], labels(99, classes)[i::2])
    return parts[0].merge(parts[1], since=base)


def _named_labels(names: Any) -> Any:
    return copy.deepcopy(own(kb.BPAS(9))).fit(rows(ROWS), names[labels(ROWS, 2)])


def others() -> dict[str, Callable[[], Any]]:
    """Baselines, voted models and grids, models around a model, and files of trainings."""
    made: dict[str, Callable[[], Any]] = {}
    for name in ("majority", "last-label", "mean"):
        model = kb.recipes.make(name)
        made[f"baseline {name}"] = partial(fitted, model, 0 if name == "mean" else 3)
    voted, grid = kb.VotedKernelClassifier, kb.VotedKernelClassifierCV
    ridge = kb.Ridge(features=FEATURES)
    few = {"lams": [0.1, 0.01], "betas": [0.01], "cv": 3}
    made |= {
        "voted": partial(fitted, voted(KERNELS), 2),
        "voted, three classes": partial(fitted, voted(KERNELS), 3),
        "voted, sparse": partial(fitted, voted(unit_length=True), 2, ROWS, True),
        "voted, objects": _voted_objects,
        "voted grid": partial(fitted, grid(KERNELS, **few), 2),
        "voted grid, one kernel": partial(fitted, grid(KERNELS, one_kernel=True, **few), 3),
        "named": _named,
        "named, numbers": partial(_named, kb.OnlineMKRegressor(KERNELS, ridge, random_state=0)),
        "late": _late,
        "late, sparse": partial(_late, sparse=True),
        "late, new": partial(_late, learned=0),
        "late, numbers": partial(_late, kb.OnlineMKRegressor(KERNELS, ridge, random_state=0)),
        "late, named": partial(_late, kb.NamedColumns(own(kb.BPAS(9)), 2)),
        "late, baseline": lambda: _late(fitted(kb.recipes.make("majority"), 2)),
        "not fitted": partial(own, kb.BPAS(9)),
    }
    return made


def _voted_objects() -> Any:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return kb.VotedKernelClassifier([edit_similarity]).fit(words, np.arange(10) % 2)


def _named(model: Any = None) -> Any:
    model = kb.NamedColumns(own(kb.BPAS(9)) if model is None else model, 2)
    numbers = isinstance(model.model, kb.OnlineMKRegressor)
    named = {} if numbers else {"classes": [0, 1]}
    for names in ("abc", "abd", "bcef"):  # the last has no column
        model.learn(records(20, names), labels(20, 0 if numbers else 2), **named)
    return model


def records(n: int, names: str = "abc") -> list[dict[str, float]]:
    X = np.random.default_rng(n).normal(size=(n, len(names)))
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def _late(model: Any = None, sparse: bool = False, learned: int = 20) -> Any:
    model = own(kb.BPAS(9)) if model is None else copy.deepcopy(model)
    numbers = isinstance(model, kb.OnlineMKRegressor)
    late = kb.LateLabels(model, 35, classes=None if numbers else [0, 1])
    X = records(40) if isinstance(model, kb.NamedColumns) else rows(40, sparse)
    late.predict(X, keys=[*range(30), *(f"key {i}" for i in range(10))])
    late.learn(range(5, 5 + learned), labels(learned, 0 if numbers else 2)) if learned else None
    return late


@cache
def kept(name: str) -> bytes:
    """The file of a model of the zoo."""
    with TemporaryDirectory() as folder:
        kb.save(zoo()[name](), Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


# -- files of trainings -------------------------------------------------------------------------

MISSING = ["mean", "last", "indicator", None]


def table(folder: Path, n: int = 90) -> Path:
    """A CSV file with numbers, levels, dates and gaps."""
    lines = ["size,kind,when,label"]
    for i, row in enumerate(rows(n)[:, 0]):
        size = "" if i % 7 == 3 else f"{row:.4f}"
        lines.append(f"{size},{'xyz'[i % 3]},2024-0{1 + i % 9}-11,{'no' if row < 0 else 'yes'}")
    path = folder / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def encoder(missing: str) -> Any:
    return kb.TableEncoder({"kind": ["x", "y"]}, {"when": ["days", "hour"]}, missing=missing)


def stream_of(folder: Path, missing: str | None) -> Any:
    """The table, or where no encoder is asked for a file of numbers."""
    if missing is not None:
        return kb.open_stream(table(folder), encoder=encoder(missing), label="label")
    X, y = rows(90, True), labels(90, 2)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in zip(x.indices, x.data, strict=True))
        for x, label in zip(X, y, strict=True)
    ]
    (folder / "data.svm").write_text("\n".join(lines) + "\n")
    return kb.open_stream(folder / "data.svm", n_features=D)


@cache
def trained(missing: str | None) -> bytes:
    """The file of a training."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        train(stream_of(folder, missing), own(kb.BPAS(9)), folder / "model")
        return (folder / "model").read_bytes()
