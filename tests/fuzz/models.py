"""Model files: bytes changed at random, and contents changed with a checksum that is right."""

from __future__ import annotations

import copy
import json
import time
import tracemalloc
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from estimators.test_model_files import rewrite
from fuzz import mutations
from fuzz.cases import ACCEPTED, REFUSED, in_child, one_of, said_in_a_line
from fuzz.programs import run_here
from fuzz.zoo import MISSING, kept, own, records, rows, stream_of, trained, zoo

import kernbrook as kb
from kernbrook.evaluation import train
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.reports.model import model_json

FILES = 8  # of one kind of model in a case: what it calls is compiled, or loaded, once
MEMORY = 100_000_000  # bytes that loading may take; the default of three classes takes 64 million
SECONDS = 20.0  # that loading a small file may take, of the processor: something may be compiled
TRAINED = {f"training, {missing or 'svmlight'}": missing for missing in MISSING}


def flipped(rng: np.random.Generator, folder: Path) -> str:
    """Bytes of a file changed: refused, and never another model."""
    whole = kept(one_of(rng, list(zoo())))
    data, path = bytearray(whole), folder / "model"
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(data)))
        odd = one_of(rng, [b"\0", b"{}", b"1e999", b"[[[[", bytes([data[at] ^ 1 << at % 8])])
        data[at : at + one_of(rng, [0, 1, 1, 9, len(data)])] = odd
    path.write_bytes(data)
    with said_in_a_line() as refused:
        model = kb.load(path)
    if refused:
        return REFUSED
    kb.save(model, path)  # a changed digit may stand for the same number
    assert path.read_bytes() == whole
    return ACCEPTED


def crafted(rng: np.random.Generator, folder: Path) -> str:
    """Contents of some files of one kind changed: each is refused soon, with little memory, or
    a model that goes on in words and numbers, and is saved and loaded again."""
    name = one_of(rng, [*zoo(), *TRAINED])
    warm_up(name)
    ends = [attacked(rng, name, folder / f"{i}") for i in range(FILES)]
    return " ".join(dict.fromkeys(ends))


def attacked(rng: np.random.Generator, name: str, path: Path) -> str:
    """How one file of a kind ends."""
    told: list[str] = []
    path.write_bytes(whole(name))

    def change(model: Any, tensors: dict[str, Any], header: Any) -> None:
        for _ in range(one_of(rng, [1, 1, 2])):
            told.append(mutations.changed(rng, model, tensors, header.get("training")))

    rewrite(path, change)
    try:
        return str(in_child(partial(_in_child, name, path)))
    except AssertionError as error:
        raise AssertionError(f"{name}: {'; '.join(told)}: {str(error)[-1500:]}") from None


def whole(name: str) -> bytes:
    return trained(TRAINED[name]) if name in TRAINED else kept(name)


@cache
def warm_up(name: str) -> None:
    """The file as it is goes through all that a changed one does, and nothing is found."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(whole(name))
        assert _in_child(name, path) == ACCEPTED, name


def _in_child(name: str, path: Path) -> str:
    begin, read = time.process_time(), load_checkpoint if name in TRAINED else kb.load
    tracemalloc.start()
    try:
        with said_in_a_line() as refused:
            model = read(path)
        memory = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert memory < MEMORY, f"loading takes {memory:,} bytes"
    assert (seconds := time.process_time() - begin) < SECONDS, f"loading takes {seconds:.0f} s"
    if refused:  # by a sentence, and not by an error of Python's
        assert "Error(" not in refused[0], refused[0]
        return REFUSED
    if name in TRAINED:
        programs(model[0], TRAINED[name], path)
        return ACCEPTED
    drive(model, path.with_name("again"))
    if hasattr(model, "merge"):
        path.write_bytes(whole(name))
        merging(model, kb.load(path))
    return ACCEPTED


# -- what a model does after it was loaded ---------------------------------------------------------

ALONE = 10  # rows that are learned one by one
SAYING = "predict", "decision_function", "predict_proba"
LEARNED = (
    *("weights_", "expert_weights_", "kernel_weights_", "n_support_stored_", "n_support_active_"),
    *("n_rounds_", "labels_asked_", "memory_bytes_", "support_vectors_", "dual_coef_", "waiting_"),
    *("expert_errors_", "expert_mistakes_", "means_", "n_terms_", "support_", "experts_"),
)


def step(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a call gives, in finite numbers; None where it is refused in words."""
    with said_in_a_line(), np.errstate(all="ignore"):
        said = work(*given, **named)
        numbers = isinstance(said, np.ndarray) and said.dtype.kind == "f"
        assert not numbers or np.isfinite(said).all(), f"{work} {given}: NaN or infinity"
        return said
    return None


def drive(model: Any, path: Path) -> None:
    """It shows itself, predicts, learns, and is saved and loaded."""
    look(model, path)
    named, inner = isinstance(model, kb.NamedColumns), model
    while isinstance(inner, (kb.LateLabels, kb.NamedColumns)):
        inner = inner.model
    classes = list(vars(inner).get("classes_", [0, 1])) or [0]
    y: Any = [classes[i % len(classes)] for i in range(150)]
    if getattr(inner, "_of_numbers", False):
        y = rows(150)[:, 0] * rows(150)[:, 1]
    if isinstance(model, kb.LateLabels):
        late(model, y)
    else:
        width = vars(model).get("n_features_in_", 3)
        usual = type(width) is int and width == 3
        sparse = getattr(vars(model).get("_model"), "sparse", False)
        wide = rows(150, sparse) if usual else np.ones((150, min(width, 99)))
        learning(model, records(150) if named else wide, y)
    look(model, path)


def look(model: Any, path: Path) -> None:
    """Attributes are finite; written and read, it says the same."""
    for one in (model, getattr(model, "model", model)):
        for name in LEARNED:
            step(getattr, one, name, None)
    step(repr, model)
    json.dumps(step(model_json, model, None), allow_nan=False)
    kb.save(model, path)
    twin = kb.load(path)
    if not isinstance(model, (kb.LateLabels, kb.NamedColumns)):
        X = rows(20, getattr(vars(model).get("_model"), "sparse", False))
        was, now = step(model.predict, X), step(twin.predict, X)
        assert (was is now is None) or np.array_equal(was, now), "loaded, it says something else"


def say(model: Any, X: Any) -> None:
    for verb in SAYING:
        if (call := step(getattr, model, verb, None)) is not None:
            said = step(call, X)
            if verb == "predict_proba" and said is not None:
                assert (said >= 0).all(), said.min()
                np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-6)
    if hasattr(model, "predict_one") and isinstance(X, np.ndarray):
        step(model.predict_one, X[0])
    if hasattr(model, "should_ask"):
        step(model.should_ask, X)
    if hasattr(model, "predict_interval"):
        ends = step(lambda: np.isnan(model.predict_interval(X)))
        assert ends is None or not ends.any(), "NaN"


def learning(model: Any, X: Any, y: Any) -> None:
    say(model, X)
    for verb, some in (("partial_fit", slice(0, 100)), ("learn", slice(100, 130))):
        if hasattr(model, verb):
            step(getattr(model, verb), X[some], y[some])
    if hasattr(model, "learn_one") and isinstance(X, (np.ndarray, list)):
        for i in range(ALONE):
            step(model.learn_one, X[i], y[i])
    if hasattr(model, "learn"):
        step(model.learn, X[130:], [None] * 20)
    say(model, X)


def late(model: Any, y: Any) -> None:
    X = records(50) if isinstance(model.model, kb.NamedColumns) else rows(50)
    waiting, new = list(model.waiting_), [f"new {i}" for i in range(50)]
    step(model.predict, X, keys=new)
    for verb, some in (("learn", waiting[:9]), ("learn_scored", new[:30] + waiting[9:])):
        keys = [key for key in some if key in model.waiting_]
        step(getattr(model, verb), keys, y[: len(keys)])
    say(model.model, X)


def merging(model: Any, good: Any) -> None:
    step(copy.deepcopy(model).merge, copy.deepcopy(good))
    if step(good.merge, model) is not None:
        verb = "decision_function" if hasattr(good, "decision_function") else "predict"
        step(getattr(good, verb), rows(20, good._model.sparse))


def programs(model: Any, missing: str | None, path: Path) -> None:
    """What the programs make of the file of a training."""
    stream = stream_of(path.parent, missing)
    data = "data.svm" if missing is None else "data.csv"
    for words in (["show"], ["show", "--json", "-"], ["predict", data]):
        run_here(path.parent, words[0], path.name, *words[1:])
    step(train, stream, own(kb.BPAS(9)), path, resume=True)
    load_checkpoint(path)
