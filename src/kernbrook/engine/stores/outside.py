"""Experts from outside: models of other libraries, and forecasts that come with the rows."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from inspect import signature
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import shown
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.stores.base import Prepared, Setting, Spread, Store
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.arrays import Flags, Floats, pad
from kernbrook.gram.rows import Rows

ROUNDING = 1e-6  # by which a probability may lie outside of 0 to 1
OUTSIDE_BLOCK = 256  # examples of one transaction: a copy of the model is made for each


class Trained(NamedTuple):
    """The state: a model that is never changed but replaced, and the examples it still waits for.

    model : None before it has learned
    X, y, weights : the last examples with labels, as many as it will learn from, and no more
    new : how many of them it has not met
    """

    model: Any
    X: Any
    y: Floats
    weights: Floats
    new: int


class OutsideModel(Store):
    """One expert, a model with `partial_fit`, `learn_one`, or `fit` on a window.

    Parameters
    ----------
    model : it is copied, and never changed
    every : labels after which it learns
    window : None: it learns each label once; a number: it is fitted afresh on the last so many

    Attributes
    ----------
    keeps_old : whether a state stays as it is when another follows; False saves copies of the model
    watch : called with the model and rows before it learns from them, to ask it for more
    """

    keeps_old = True
    watch: Callable[[Any, Any], None] | None = None

    looks_outside = True
    by_block = "experts from outside"

    def __init__(self, model: Any, every: int, window: int | None, first: int, setting: Setting):
        self.model, self.every, self.window, self.setting = model, every, window, setting
        self.experts, self.block_rows = np.array([first]), OUTSIDE_BLOCK
        self.kept = every if window is None else window
        # Our own machines have both: their `learn_one` takes an array, not a dictionary.
        self.one_by_one = hasattr(model, "learn_one") and not hasattr(model, "partial_fit")
        fit = None if self.one_by_one else model.partial_fit if window is None else model.fit
        self.takes = () if fit is None else tuple(signature(fit).parameters)

    def begin(self) -> Trained:
        return Trained(None, np.empty((0, self.setting.width)), np.empty(0), np.empty(0), 0)

    def prepare(self, state: Trained, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        held = [state]

        def go(board: Board) -> None:
            labelled, n, start = ~np.isnan(board.labels), len(board.labels), 0
            while start < n:
                ahead = np.flatnonzero(labelled[start:])
                missing = self.every - held[0].new
                stop = n if len(ahead) < missing else start + int(ahead[missing - 1]) + 1
                part = slice(start, stop)
                self._look(held[0].model, raw[part], board.scores[part])
                if self.watch is not None:
                    self.watch(held[0].model, raw[part])
                which = start + np.flatnonzero(labelled[part])
                copied = not self.keeps_old or held[0].model is not state.model
                held[0] = self._after(held[0], raw, board, which, copied)
                start = stop

        def finish(board: Board, asked: Flags) -> Trained:
            if held[0] is state:  # the committee has decided who learns
                which = np.flatnonzero(asked & board.updates[:, self.experts[0]])
                return self._after(state, raw, board, which)
            return held[0]

        return self._pass(state, raw, finish, go)

    def reading(self, state: Trained, rows: Rows, raw: Any) -> Prepared:
        return self._pass(state, raw, lambda *_: state, None)

    def _pass(self, state: Trained, raw: Any, finish: Any, go: Any) -> Prepared:
        return Prepared((), 1, finish, lambda b: self._look(state.model, raw, b.scores), go)

    def _look(self, model: Any, X: Any, scores: Floats) -> None:
        """Fill in the (n, e, c) scores of some rows; 0 before it has learned."""
        if model is None or X.shape[0] == 0:
            return
        out = scores[:, self.experts[0]]
        if self.setting.regression:
            out[:, 0] = self.predicted(model, X)
            if not np.isfinite(out).all():
                raise NonFiniteError(f"{self.title}: it predicted NaN or infinity")
        elif hasattr(model, "predict_proba_one" if self.one_by_one else "predict_proba"):
            out[:] = as_scores(self._chances(model, X))
        else:
            out[:] = as_scores(np.eye(self.classes)[self.predicted(model, X)])

    @property
    def classes(self) -> int:
        """How many there are, where labels are none of numbers."""
        return max(self.setting.scores, 2)

    @property
    def title(self) -> str:
        """The model as errors name it."""
        return f"External({shown(self.model)})"

    def predicted(self, model: Any, X: Any) -> NDArray[Any]:
        """(n,) what a model predicts for each row: floats, or numbers of classes."""
        n = X.shape[0]
        if self.one_by_one:
            answers: Any = [model.predict_one(row) for row in as_dicts(X)]
            answers = [0.0 if answer is None else answer for answer in answers]  # no opinion yet
        else:
            answers = model.predict(X.copy())
        found = self._numbers(answers, "predict")
        if found.shape not in ((n,), (n, 1)):
            raise InputError(
                f"{self.title}: predict gave an array of shape {found.shape} for {n} rows"
            )
        return found.reshape(n) if self.setting.regression else self._of_classes(found, "predict")

    def _numbers(self, answer: Any, method: str) -> Floats:
        """The answer of a model as floats; InputError if it is none."""
        if isinstance(answer, np.ma.MaskedArray) and answer.mask.any():
            raise InputError(f"{self.title}: {method} gave masked numbers")
        try:
            found = np.asarray(answer)
            plain = found.dtype.kind in "biuf" or (
                found.dtype.kind == "O" and all(isinstance(value, Real) for value in found.flat)
            )
            if plain:
                return found.astype(np.float64)
        except (TypeError, ValueError):  # rows of several lengths, or nothing like an array
            pass
        raise InputError(f"{self.title}: {method} must give numbers, got {shown(answer)}")

    def _of_classes(self, found: Floats, source: str) -> NDArray[np.int64]:
        """Numbers of classes; InputError where there is no such class."""
        found = found.reshape(-1)
        known = (found >= 0) & (found < self.classes) & (found == np.floor(found))
        if not known.all():
            raise InputError(
                f"{self.title}: {source} gave {found[known.argmin()]:g}, which is none of the "
                f"classes 0 to {self.classes - 1} that it was told"
            )
        return found.astype(np.int64)

    def _chances(self, model: Any, X: Any) -> Floats:
        """(n, classes) probabilities; of classes that it has not met, 0.

        NaN is no opinion, as of Bayes' rule while a class has one example.
        """
        n = X.shape[0]
        chances = np.zeros((n, self.classes))
        if self.one_by_one:
            for i, row in enumerate(as_dicts(X)):
                answer = model.predict_proba_one(row)
                if not isinstance(answer, Mapping):
                    raise InputError(
                        f"{self.title}: predict_proba_one must give a dict of probabilities, got "
                        f"{shown(answer)}"
                    )
                columns = self._of_classes(self._numbers([*answer], "predict_proba_one"), "it")
                chances[i, columns] = self._numbers([*answer.values()], "predict_proba_one")
        else:
            found = self._numbers(model.predict_proba(X.copy()), "predict_proba")
            named = self._numbers(getattr(model, "classes_", range(self.classes)), "classes_")
            columns = self._of_classes(named, "classes_")
            if found.shape != (n, len(columns)):
                raise InputError(
                    f"{self.title}: predict_proba must give an array of shape {(n, len(columns))}, "
                    f"of rows and classes, got {found.shape}"
                )
            chances[:, columns] = found
        unknown = np.isnan(chances).any(axis=1)
        chances[unknown] = 1.0 / self.classes
        if not ((chances >= -ROUNDING) & (chances <= 1.0 + ROUNDING)).all():
            off = chances[(chances < -ROUNDING) | (chances > 1.0 + ROUNDING)][0]
            raise InputError(f"{self.title}: expected probabilities from 0 to 1, got {off:g}")
        return chances

    def _after(
        self, state: Trained, raw: Any, board: Board, which: NDArray[np.int64], copied: bool = False
    ) -> Trained:
        """The state once it has been told of some examples, no more than it will learn from.

        copied : whether the model is a copy already
        """
        which = which[board.importance[which] > 0.0]
        if not len(which):
            return state
        first, last = int(which[0]), int(which[-1]) + 1
        X = raw[first:last] if last - first == len(which) else raw[which]
        if len(state.y):
            X = sp.vstack([state.X, X], format="csr") if sp.issparse(X) else np.vstack([state.X, X])
        y = np.concatenate([state.y, board.labels[which]])
        weights = np.concatenate([state.weights, board.importance[which]])
        model, new = state.model, state.new + len(which)
        if new >= self.every:
            copies = X[-self.kept :].copy(), y[-self.kept :].copy()  # it may write on them
            model, new = self._learned(model, copied, *copies, weights), 0
            if self.window is None:
                X, y, weights = X[:0], y[:0], weights[:0]
        return Trained(model, X[-self.kept :], y[-self.kept :], weights[-self.kept :], new)

    def _learned(self, model: Any, copied: bool, X: Any, y: Floats, weights: Floats) -> Any:
        """The model, or where it is not our own a copy, once it has learned."""
        labels = y if self.setting.regression else y.astype(np.int64)
        given: dict[str, Any] = {}
        if "sample_weight" in self.takes and (weights != 1.0).any():
            given["sample_weight"] = weights[-len(y) :].copy()
        if self.one_by_one:
            if model is None or not copied:
                model = deepcopy(self.model if model is None else model)
            for row, label in zip(as_dicts(X), labels.tolist(), strict=True):
                model.learn_one(row, label)
            return model
        if self.window is not None:
            if not self.setting.regression and len(np.unique(labels)) < 2:
                return model  # there is nothing to tell apart yet
            model = clone(self.model, safe=False)
            model.fit(X, labels, **given)
            return model
        if "classes" in self.takes and not self.setting.regression:
            given["classes"] = np.arange(self.classes)
        if model is None:
            model = clone(self.model, safe=False)
        elif not copied:
            model = deepcopy(model)
        model.partial_fit(X, labels, **given)
        return model

    def chances_of(self, scores: Floats) -> Floats | None:
        """(n, classes) the probabilities that scores of classes were made from, if they were."""
        if not hasattr(self.model, "predict_proba_one" if self.one_by_one else "predict_proba"):
            return None
        if self.setting.scores == 1:
            return np.column_stack([1.0 - scores, 1.0 + scores]) / 2.0
        totals = scores.sum(axis=1, keepdims=True)
        equal = np.full_like(scores, 1.0 / self.setting.scores)  # before it has learned
        return np.divide(scores, totals, out=equal, where=totals > 0)

    def arrays(self, state: Trained) -> dict[str, NDArray[Any]]:
        raise InputError(
            f"save: {shown(self.model)} is a model of another library; no file can hold it"
        )

    def with_classes(self, before: Any, state: Trained, spread: Spread) -> Trained:
        raise InputError(
            f"{self.title} was told the classes at its first label; name all classes with classes= "
            "in the first call"
        )

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Trained:
        raise InputError("a model of another library cannot come from a file")

    def merged(self, apart: Apart) -> Trained:
        raise InputError(f"merge: {self.model!r} is a model of another library")

    def with_features(self, before: Any, state: Trained) -> Trained:
        """A model that takes rows of one width alone begins anew."""
        model, width = state.model if self.one_by_one else None, self.setting.width
        if not sp.issparse(state.X):
            return state._replace(model=model, X=pad(state.X, -1, width))
        X = state.X.copy()
        X.resize(len(state.y), width)
        return state._replace(model=model, X=X)

    def nbytes(self, state: Trained) -> int:
        """The bytes of the rows that the expert holds; those of its model are not known."""
        X = state.X
        rows = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
        return sum(array.nbytes for array in (*rows, state.y, state.weights))

    def nbytes_beside(self, snapshot: Trained, state: Trained) -> int:
        return 0 if snapshot is state else self.nbytes(snapshot)


class Forecasts(Store):
    """Experts whose scores are columns of the rows as they are given.

    Parameters
    ----------
    columns : (m,) their numbers
    """

    looks_outside = True
    by_block = "experts from outside"

    def __init__(self, columns: NDArray[np.int64], first: int, setting: Setting):
        self.columns, self.setting, self.block_rows = columns, setting, OUTSIDE_BLOCK
        self.experts = np.arange(first, first + len(columns))
        if setting.scores > 1:
            raise InputError("learner: Advice is for numbers and for two classes")
        if columns.max() >= setting.width:
            raise InputError(
                f"Advice: columns from 0 to {setting.width - 1} are there, got {columns.max()}"
            )

    def begin(self) -> tuple[()]:
        return ()

    def prepare(self, state: tuple[()], rows: Rows, progress: Progress, raw: Any) -> Prepared:
        return self.reading(state, rows, raw)

    def reading(self, state: tuple[()], rows: Rows, raw: Any) -> Prepared:
        def look(board: Board) -> None:
            given = raw[:, self.columns]
            board.scores[:, self.experts, 0] = given.toarray() if sp.issparse(given) else given

        return Prepared((), 1, lambda *_: (), look, look)

    def arrays(self, state: tuple[()]) -> dict[str, NDArray[Any]]:
        return {}

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> tuple[()]:
        return ()

    def merged(self, apart: Apart) -> tuple[()]:
        return ()


def as_scores(chances: Floats) -> Floats:
    """(n, c) scores of probabilities (n, classes): of two classes 2 p - 1, of more as they are."""
    return 2.0 * chances[:, 1:] - 1.0 if chances.shape[1] == 2 else chances


def as_dicts(X: Any) -> list[dict[int, float]]:
    """Rows as River takes them."""
    dense = X.toarray() if sp.issparse(X) else X
    return [dict(enumerate(row)) for row in dense.tolist()]
