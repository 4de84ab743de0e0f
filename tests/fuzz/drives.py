"""What a model does after it was loaded: it predicts, learns, is saved, loaded, and merged."""

from __future__ import annotations

import copy
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.cases import said_in_a_line
from fuzz.zoo import records, rows

import kernbrook as kb
from kernbrook.reports.model import model_json

ALONE = 10  # rows that are learned one by one
LEARNED = (
    *("weights_", "expert_weights_", "kernel_weights_", "n_support_stored_", "n_support_active_"),
    *("n_rounds_", "labels_asked_", "memory_bytes_", "support_vectors_", "dual_coef_", "waiting_"),
    *("expert_errors_", "expert_mistakes_", "means_", "n_terms_", "support_", "experts_"),
)


class Drive:
    """A loaded model goes on; in `found` is what must not happen: every error that is not ours,
    NaN or infinity in what it says, and a file that was written and cannot be read.

    Parameters
    ----------
    model : the loaded one
    good : the one whose file was changed, to merge with; None where it cannot be
    path : a file to write
    """

    def __init__(self, model: Any, good: Any, path: Path):
        self.model, self.good, self.path = model, good, path
        self.found: list[str] = []
        inner = model
        while isinstance(inner, (kb.LateLabels, kb.NamedColumns)):
            inner = inner.model
        self.inner = inner

    def run(self) -> list[str]:
        model = self.model
        self.attributes()
        self.again("save")
        if isinstance(model, kb.LateLabels):
            self.late()
        elif isinstance(model, kb.NamedColumns):
            self.learning(records(150), model)
        else:
            width = vars(model).get("n_features_in_", 3)
            plain = type(width) is int and width == 3
            X = rows(150) if plain else np.random.default_rng(0).normal(size=(150, min(width, 99)))
            sparse = getattr(vars(model).get("_model"), "sparse", False)
            self.learning(rows(150, True) if sparse and plain else X, model)
        self.attributes()
        self.again("save after learning")
        if self.good is not None and hasattr(model, "merge"):
            self.merging()
        return self.found

    # -- steps ------------------------------------------------------------------------------------

    def step(self, what: str, work: Callable[[], Any]) -> Any:
        """What a call gives; None where it is refused in words."""
        try:
            with said_in_a_line(), np.errstate(all="ignore"):
                return work()
        except Exception as error:
            own = [
                f for f in traceback.extract_tb(error.__traceback__) if "kernbrook" in f.filename
            ]
            where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
            self.found.append(f"{what}: {type(error).__name__}: {str(error)[:150]} ({where})")
        return None

    def numbers(self, what: str, work: Callable[[], Any], chances: bool = False) -> None:
        """A call that gives numbers."""
        given = self.step(what, work)
        if isinstance(given, np.ndarray) and given.dtype.kind == "f":
            if not np.isfinite(given).all():
                self.found.append(f"{what}: NaN or infinity")
            elif chances and not (
                (given >= 0).all() and np.abs(given.sum(axis=1) - 1).max(initial=0) < 1e-6
            ):
                self.found.append(f"{what}: no probabilities")

    def said(self, what: str, X: Any, model: Any) -> None:
        for verb in ("predict", "decision_function", "predict_proba"):
            if (
                call := self.step(f"{verb}{what}", lambda v=verb: getattr(model, v, None))
            ) is not None:
                self.numbers(f"{verb}{what}", lambda c=call: c(X), verb == "predict_proba")
        if hasattr(model, "predict_one") and isinstance(X, np.ndarray):
            self.step(f"predict_one{what}", lambda: model.predict_one(X[0]))
        if hasattr(model, "should_ask"):
            self.step(f"should_ask{what}", lambda: model.should_ask(X))
        if hasattr(model, "predict_interval"):
            ends = self.step(f"predict_interval{what}", lambda: model.predict_interval(X))
            if ends is not None and np.isnan(ends).any():
                self.found.append(f"predict_interval{what}: NaN")

    def labels(self, n: int) -> Any:
        classes = vars(self.inner).get("classes_", [0, 1])
        if getattr(self.inner, "_of_numbers", False):
            return rows(n)[:, 0] * rows(n)[:, 1]
        return [list(classes)[i % len(classes)] for i in range(n)] if len(classes) else [0] * n

    def learning(self, X: Any, model: Any) -> None:
        y = self.labels(150)
        self.said("", X, model)
        for verb, some in (("partial_fit", slice(0, 100)), ("learn", slice(100, 130))):
            if hasattr(model, verb):
                self.step(verb, lambda v=verb, s=some: getattr(model, v)(X[s], y[s]))
        if hasattr(model, "learn_one") and isinstance(X, (np.ndarray, list)):
            for i in range(ALONE):
                self.step("learn_one", lambda i=i: model.learn_one(X[i], y[i]))
        if hasattr(model, "learn"):
            self.step("learn without labels", lambda: model.learn(X[130:], [None] * 20))
        self.said(", later", X, model)

    def late(self) -> None:
        model = self.model
        X = records(50) if isinstance(model.model, kb.NamedColumns) else rows(50)
        waiting = list(model.waiting_)
        self.step("late predict", lambda: model.predict(X, keys=[f"new {i}" for i in range(50)]))
        y = self.labels(50)
        for keys in (waiting[:9], [f"new {i}" for i in range(30)], waiting[9:]):
            verb = "learn" if keys == waiting[:9] else "learn_scored"
            keys = [key for key in keys if key in model.waiting_]
            self.step(f"late {verb}", lambda v=verb, k=keys: getattr(model, v)(k, y[: len(k)]))
        self.said(" inside", X, model.model)

    def attributes(self) -> None:
        for name in LEARNED:
            for model in {id(one): one for one in (self.model, self.inner)}.values():
                self.numbers(name, lambda n=name, m=model: getattr(m, n, None))
        self.step("repr", lambda: repr(self.model))
        self.step("shown", lambda: json.dumps(model_json(self.model, None), allow_nan=False))

    def again(self, what: str) -> None:
        """Written and read, it says the same; a loaded model that cannot be written is lost."""
        try:
            kb.save(self.model, self.path)
            twin = kb.load(self.path)
        except Exception as error:
            self.found.append(f"{what}: {type(error).__name__}: {str(error)[-200:]}")
            return
        if isinstance(self.model, (kb.LateLabels, kb.NamedColumns)):
            return
        X = rows(20, getattr(vars(self.model).get("_model"), "sparse", False))
        was = self.step(f"{what}, predict", lambda: self.model.predict(X))
        now = self.step(f"{what}, predict", lambda: twin.predict(X))
        if was is not None and (now is None or not np.array_equal(was, now)):
            self.found.append(f"{what}: loaded, it says something else")

    def merging(self) -> None:
        self.step("merge", lambda: copy.deepcopy(self.model).merge(copy.deepcopy(self.good)))
        both = copy.deepcopy(self.good)
        if self.step("merge into", lambda: both.merge(self.model)) is not None:
            X = rows(20, both._model.sparse)
            verb = "decision_function" if hasattr(both, "decision_function") else "predict"
            self.numbers("merged", lambda: getattr(both, verb)(X))
