"""Models of other libraries in the form of ours: `learn` tests, then trains."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from kernbrook.checks import check, shown
from kernbrook.engine.progress import empty_board
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.estimators.base import in_words
from kernbrook.estimators.labels import (
    as_labels,
    as_numbers,
    distinct,
    known_numbers,
    present,
)
from kernbrook.estimators.tasks import Outputs, Task
from kernbrook.gram.arrays import Flags, as_rows
from kernbrook.learners import External
from kernbrook.learners.external import kind_of
from kernbrook.turns import changes


def online(model: Any) -> Any:
    """A model that has `learn`: itself, or one of another library in that form.

    An `External` takes a model that has nothing but `fit`, too.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> online(SGDClassifier()).learn([[0.0], [9.0], [8.0]], ["a", "b", "b"])[0]
    array(['a', 'a', 'b'], dtype='<U1')
    """
    name = type(model).__name__
    if isinstance(model, type):
        raise InputError(f"expected a model, got the class {model.__name__}; make an object of it")
    if isinstance(model, External):
        return OutsideMachine(model)
    if hasattr(model, "learn"):
        return model
    if hasattr(model, "learn_one") or hasattr(model, "partial_fit"):
        return OutsideMachine(External(model))
    if not hasattr(model, "fit"):
        raise InputError(
            "expected a model with learn, partial_fit (scikit-learn) or learn_one (River), "
            f"got {shown(model)}"
        )
    afresh = f"or kb.External({name}(...), every=500, window=2000), which fits it again and again"
    is_ours = type(model).__module__.startswith("kernbrook.")
    raise InputError(
        f"{name} learns from all data at once, not from a stream: use its fit(X, y)"
        + ("" if is_ours else f", {afresh}")
    )


class OutsideMachine(BaseEstimator):
    """A model of another library that learns from a stream, as `External` does: test, then train.

    It sees the rows as they are given, and the numbers of the classes as labels. The
    model given is copied and never changed.
    """

    classes_: NDArray[Any]
    n_rounds_: int
    labels_asked_: int
    _store: Any
    _state: Any
    _predicted: list[NDArray[np.intp]]
    _aside: float

    n_support_stored_ = 0
    n_support_active_ = 0
    kernels_ = ()
    kernel_weights_ = property(lambda self: np.empty(0))

    def __init__(self, external: External):
        self.external = external

    def learn(self, X: Any, y: Any, classes: Any = None) -> tuple[NDArray[Any], Flags]:
        """Test, then train; None and NaN are labels that cannot be had."""
        return self._learn_scored(X, y, classes)[:2]

    @changes
    def _learn_scored(self, X: Any, y: Any, classes: Any = None) -> Outputs:
        with in_words(X):
            X = as_rows(X) if sp.issparse(X) else np.asarray(as_rows(X), dtype=np.float64)
        y = as_labels(y)
        if X.ndim != 2 or len(y) != X.shape[0]:
            raise InputError(
                f"expected X of shape (n, d) and y of shape (n,), got {X.shape} and {y.shape}"
            )
        if not hasattr(self, "_store"):
            self._start(X, y, classes)
        targets = self._targets(y)
        numbers = self._task == "regression"
        scores = self._store.setting.scores
        board = empty_board(len(y), 1, scores, targets, np.ones(len(y)), numbers)
        self._predicted, self._aside = [], 0.0
        learning = self._store.prepare(self._state, None, None, X)
        learning.go(board)
        asked = ~np.isnan(targets)
        self._state = learning.finish(board, np.zeros(len(y), dtype=bool))
        self.n_rounds_ += len(y)
        self.labels_asked_ += int(asked.sum())
        predicted = board.scores[:, 0]
        if numbers:
            return Outputs(predicted[:, 0].copy(), asked, predicted)
        chances = self._store.chances_of(predicted)
        best = np.concatenate(self._predicted) if self._predicted else np.zeros(0, dtype=np.intp)
        return Outputs(self.classes_[best], asked, predicted, chances, self._aside)

    def predict(self, X: Any) -> NDArray[Any]:
        return self._predict_outputs(X).predictions

    def _predict_outputs(self, X: Any) -> Outputs:
        if not hasattr(self, "_store"):
            raise NotFittedError("the model has not learned anything yet")
        n, numbers = X.shape[0], self._task == "regression"
        nothing = np.full(n, np.nan)
        board = empty_board(n, 1, self._store.setting.scores, nothing, np.ones(n), numbers)
        self._store.reading(self._state, None, X).look(board)
        predicted, none = board.scores[:, 0], np.zeros(n, dtype=bool)
        if numbers:
            return Outputs(predicted[:, 0].copy(), none, predicted)
        model, best = self._state.model, np.zeros(n, dtype=np.intp)
        if model is not None:
            best = np.asarray(self._store.predicted(model, X)).astype(np.intp)
        return Outputs(self.classes_[best], none, predicted, self._store.chances_of(predicted))

    def _note(self, model: Any, X: Any) -> None:
        """Its own predictions: where chances are equal it alone knows which class it takes."""
        start = time.process_time()
        none = np.zeros(X.shape[0])
        predicted = none if model is None or not len(none) else self._store.predicted(model, X)
        self._predicted.append(np.asarray(predicted).astype(np.intp))
        self._aside += time.process_time() - start

    @property
    def _task(self) -> Task:
        return "regression" if kind_of(self.external.model) == "regressor" else "classification"

    def _start(self, X: Any, y: NDArray[Any], classes: Any) -> None:
        check(self.external)
        scores = 1
        if self._task == "classification":
            found = distinct(y[present(y)] if classes is None else as_labels(classes))
            if len(found) < 2:
                raise InputError(
                    "y: expected two classes or more, found one class; name all of them with "
                    "classes="
                )
            self.classes_ = found
            scores = 1 if len(found) == 2 else len(found)
        setting = Setting(X.shape[1], sp.issparse(X), scores, 0, self._task == "regression")
        store: Any = self.external.make_store(0, setting)
        store.keeps_old = False
        if self._task == "classification":
            store.watch = self._note
        self._store, self._state = store, store.begin()
        self.n_rounds_ = self.labels_asked_ = 0

    def _targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Labels as the store takes them: numbers, of classes theirs; NaN where there is none."""
        labelled = present(y)
        targets = np.full(len(y), np.nan)
        known, numbers = y[labelled], self._task == "regression"
        targets[labelled] = as_numbers(known) if numbers else known_numbers(self.classes_, known)
        return targets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self._task == "regression" else "classifier"
        return tags
