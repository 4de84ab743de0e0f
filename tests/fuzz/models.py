"""Model files: bytes changed at random, and contents changed with a checksum that is right."""

from __future__ import annotations

import copy
import json
import math
import time
import tracemalloc
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import every_combiner
import every_learner
import every_policy
import hard_streams
import numpy as np
import plain
from estimators.test_model_files import rewrite
from fuzz.cases import ACCEPTED, ODD_NUMBERS, REFUSED, changed, one_of, said_in_a_line

import kernbrook as kb

D = 3
X, Y = hard_streams.gaussian_clouds(90, D)
NUMBERS = X[:, 0] * X[:, 1] + 0.1 * Y
CLASSES = np.arange(90) % 3
MEMORY = 30_000_000  # bytes that loading a small file may take
SECONDS = 20.0  # that loading a small file may take, of the processor: something may be compiled
ODD_JSON = [None, True, False, "", "x", [], {}, [1], ["a"], {"float": "inf"}, {"array": "x"}]
IN_JSON = [*ODD_JSON, *(value for value in ODD_NUMBERS if math.isfinite(value))]
KINDS = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_]


@cache
def zoo() -> dict[str, Any]:
    """Each learner, combiner, selection and policy; recipes; models around a model. Not fitted."""
    kernels = every_learner.SHIFTING[:2]
    models: dict[str, Any] = {}
    for name, (learner, _) in every_learner.LEARNERS.items():
        if isinstance(learner, kb.External):  # no file can hold it
            continue
        of_numbers = getattr(learner, "of_numbers", False) and not learner.only_classes
        make = plain.regressor if of_numbers else plain.classifier
        models[f"learner {name}"] = make(kernels, learner, random_state=0)
    for name, (combiner, _) in every_combiner.COMBINERS.items():
        loss = getattr(combiner, "loss", None)
        numbers = "numbers" in name or loss in ("squared", "absolute", "linearized")
        make = plain.regressor if numbers else plain.classifier
        learner: Any = None
        if isinstance(combiner, kb.AdaRaker):
            steps = (0.1, 0.2, 0.4)[: combiner.levels]
            learner = [kb.GradientDescent(step, loss=loss) for step in steps]
        models[f"combiner {name}"] = make(kernels, learner, combiner, random_state=0)
    for name, (selection, _) in every_combiner.SELECTIONS.items():
        models[f"selection {name}"] = plain.classifier(kernels, selection=selection, random_state=0)
    for name, (policy, _) in every_policy.POLICIES.items():
        learner = kb.Ridge(features=kb.RandomFeatures(4))
        models[f"labels {name}"] = plain.classifier(kernels, learner, labels=policy, random_state=0)
    own = kb.OnlineMKClassifier(kernels, kb.BPAS(9), random_state=0)
    models |= {
        "default": kb.OnlineMKClassifier(random_state=0),
        "default of numbers": kb.OnlineMKRegressor(random_state=0),
        "scaled": plain.classifier(kernels, kb.BPAS(9), scaling="maximum", random_state=0),
        "ranks": plain.classifier(kernels, kb.BPAS(9), scaling="ranks", random_state=0),
        "majority": kb.recipes.make("majority"),
        "mean": kb.recipes.make("mean"),
        "voted": kb.VotedKernelClassifier(kernels),
        "late": kb.LateLabels(own, 50, classes=[-1, 1]),
        "named": kb.NamedColumns(own, 2),
    }
    return models


@cache
def kept(name: str) -> bytes:
    """The file of a model of the zoo after some rows."""
    model = copy.deepcopy(zoo()[name])
    if isinstance(model, kb.LateLabels):
        model.model.partial_fit(X, Y, classes=[-1, 1])
        model.predict(X[:20], keys=range(20))
    else:
        go_on(model, X[:60])
    with TemporaryDirectory() as folder:
        kb.save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def go_on(model: Any, rows: Any) -> Any:
    """Learn rows, one of them alone, and predict all; the decisions, None where there are none."""
    n = len(rows)
    if isinstance(model, kb.NamedColumns):
        records = [dict(zip("abc", row, strict=True)) for row in rows.tolist()]
        model.partial_fit(records, Y[:n], classes=[-1, 1])
        model.predict(records)
        return None
    if isinstance(model, kb.LateLabels):
        keys = list(model._waiting)[:5]
        model.learn(keys, Y[: len(keys)])
        model.predict(rows, keys=range(1000, 1000 + n))
        return None
    if isinstance(model, kb.VotedKernelClassifier):
        if not hasattr(model, "classes_"):
            model.fit(rows, Y[:n])
        model.predict(rows)
        return model.decision_function(rows)
    if hasattr(model, "decision_function"):
        model.partial_fit(rows, CLASSES[:n], classes=[0, 1, 2])
        if hasattr(model, "learn_one"):
            model.learn_one(rows[0], 1)
            model.predict_one(rows[0])
        model.predict(rows)
        return model.decision_function(rows)
    model.partial_fit(rows, NUMBERS[:n] if hasattr(model, "predict_interval") else CLASSES[:n])
    return model.predict(rows)


def flipped(rng: np.random.Generator, folder: Path) -> str:
    """Bytes of a file changed: refused, and never another model."""
    whole = kept(one_of(rng, list(zoo())))
    data = changed(rng, whole, [b"\0", b"{}", b"1e999", b"[[[["], int(rng.integers(1, 4)))
    path = folder / "model"
    path.write_bytes(data)
    with said_in_a_line() as refused:
        model = kb.load(path)
    if refused:
        return REFUSED
    kb.save(model, path)  # a changed digit may stand for the same number
    assert path.read_bytes() == whole
    return ACCEPTED


def crafted(rng: np.random.Generator, folder: Path) -> str:
    """Contents changed: refused soon, with little memory, or a model that goes on in words."""
    name = one_of(rng, list(zoo()))
    path = folder / "model"
    path.write_bytes(kept(name))
    told: list[str] = []

    def change(model: Any, tensors: dict[str, Any], header: Any) -> None:
        for _ in range(int(rng.integers(1, 3))):
            if tensors and rng.random() < 0.6:
                told.append(change_tensors(rng, tensors))
            else:
                told.append(change_json(rng, model))

    rewrite(path, change)
    begin = time.process_time()
    tracemalloc.start()
    try:
        with said_in_a_line() as refused:
            model = kb.load(path)
        memory = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert memory < MEMORY, (name, told, memory)
    assert time.process_time() - begin < SECONDS, (name, told)
    if refused:
        assert "Error(" not in refused[0], (name, told, refused)  # Python's own, not a sentence
        return REFUSED
    try:
        with said_in_a_line() as refused, np.errstate(all="ignore"):
            decisions = go_on(model, X[60:])
            assert decisions is None or np.isfinite(decisions).all(), "decisions are not finite"
    except Exception as error:
        raise AssertionError(f"{name}: {told} is loaded, and then: {error!r}") from error
    return ACCEPTED


def change_tensors(rng: np.random.Generator, tensors: dict[str, Any]) -> str:
    name = one_of(rng, sorted(tensors))
    array = np.array(tensors[name])
    with np.errstate(all="ignore"):
        match int(rng.integers(8)):
            case 0 | 1 | 2 if array.size:
                value = one_of(rng, ODD_NUMBERS)
                where = tuple(int(rng.integers(n)) for n in array.shape)
                try:
                    array[where] = value
                except (OverflowError, ValueError):
                    return "nothing"
                said = f"{name}{list(where)} = {value!r}"
            case 3 if array.size:
                value = one_of(rng, [0, 1, -1, 100, 1e308, np.nan])
                if array.dtype.kind != "f" and value != value:
                    return "nothing"
                array[...] = np.clip(value, -100, 100) if array.dtype.kind != "f" else value
                said = f"{name}[...] = {value!r}"
            case 4:
                array = rng.permuted(array.reshape(-1)).reshape(array.shape)
                said = f"{name} shuffled"
            case 5:
                array = array[: int(rng.integers(len(array) + 1))] if array.ndim else array
                said = f"{name} cut to {array.shape}"
            case 6:
                kind = one_of(rng, KINDS)
                array = array.astype(kind)
                said = f"{name} as {np.dtype(kind)}"
            case _:
                if rng.random() < 0.5:
                    del tensors[name]
                    return f"{name} is gone"
                array = array[None] if rng.random() < 0.5 else np.concatenate([array.ravel()] * 2)
                said = f"{name} of shape {array.shape}"
    tensors[name] = np.ascontiguousarray(array)
    return said


def change_json(rng: np.random.Generator, model: Any) -> str:
    """Some value, anywhere in it, becomes another one, or goes, or is that of another place."""
    places = list(leaves(model))
    holder, key = one_of(rng, places)
    if rng.random() < 0.15:
        was = holder[key]
        del holder[key]
        return f"{key}: {json.dumps(was)[:60]} is gone"
    if rng.random() < 0.3:
        source, name = one_of(rng, places)
        value = copy.deepcopy(source[name])
    else:
        value = copy.deepcopy(one_of(rng, IN_JSON))
    said = f"{key}: {json.dumps(holder[key])[:60]} -> {json.dumps(value)[:60]}"
    holder[key] = value
    return said


def leaves(value: Any) -> Any:
    """(holder, key) of everything within."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from leaves(inner)
