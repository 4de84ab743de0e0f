"""What a model predicts, classes or numbers, and all that it says of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from kernbrook.estimators.confidence import covering

Task = Literal["classification", "regression"]

# Rows that wait for their labels: said by who keeps them, while more are predicted.
waiting: ContextVar[int] = ContextVar("waiting", default=0)


class Outputs(NamedTuple):
    """What `_learn_scored` and `_predict_outputs` give, all of it from before the labels.

    predictions, asked : (n,) as `learn` has them
    scores : (n, 1) positive for the second of two classes, or (n, c); None where there are none,
        or classes that appeared later
    probabilities : (n, c) where the estimator gives some
    aside : seconds spent on what neither learning nor predicting takes
    half_widths : (n,) of intervals around the predictions, where `covering` asks for some
    """

    predictions: NDArray[Any]
    asked: NDArray[np.bool_]
    scores: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None
    aside: float = 0.0
    half_widths: NDArray[np.float64] | None = None

    @property
    def intervals(self) -> NDArray[np.float64] | None:
        """(n, 2) lower and upper ends, where there are half widths."""
        half = self.half_widths
        if half is None:
            return None
        return np.column_stack([self.predictions - half, self.predictions + half])

    def of(self, which: Any) -> Outputs:
        """The same of some of the rows: (n,) bool, numbers of rows, or a slice."""
        parts: list[Any] = [part[which] if isinstance(part, np.ndarray) else part for part in self]
        return Outputs(*parts)


def scored_learn(estimator: Any) -> Callable[..., Outputs]:
    """Its `learn`, with all that is said before the labels where the same class gives it.

    A subclass may have a `learn` of its own, which then says the predictions alone.
    """
    if _same_class(estimator, ("learn",), "_learn_scored"):
        learn: Callable[..., Outputs] = estimator._learn_scored
        return learn
    return lambda *given, **named: Outputs(*estimator.learn(*given, **named)[:2])


def predict_outputs(model: Any, X: Any) -> Outputs:
    """All that a model says now of rows, (n, d), of which no label is known; nothing is learned."""
    if _same_class(model, ("predict", "decision_function", "predict_proba"), "_predict_outputs"):
        outputs: Outputs = model._predict_outputs(X)
        return outputs
    predictions = model.predict(X)
    decide, chances, interval = (
        getattr(model, name, None)
        for name in ("decision_function", "predict_proba", "predict_interval")
    )
    scores = None if decide is None else decide(X).reshape(len(predictions), -1)
    probabilities, half = None if chances is None else chances(X), None
    if interval is not None and (coverage := covering.get()) is not None:
        half = np.diff(interval(X, coverage=coverage))[:, 0] / 2
    none = np.zeros(len(predictions), dtype=bool)
    return Outputs(predictions, none, scores, probabilities, half_widths=half)


def _same_class(estimator: Any, verbs: Sequence[str], inner: str) -> bool:
    """Whether the class that has one of the verbs also has what does more at once."""
    for kind in type(estimator).__mro__:
        if not vars(kind).keys().isdisjoint(verbs):
            return inner in vars(kind)
    return False


def task_of(estimator: Any) -> Task:
    """What an estimator predicts; one that does not say so predicts classes."""
    tagged = hasattr(estimator, "__sklearn_tags__")
    return "regression" if tagged and is_regressor(estimator) else "classification"


def joined(parts: Sequence[Outputs]) -> Outputs:
    """What some chunks gave, one after the other."""
    predictions, asked, scores, probabilities, _, half_widths = zip(*parts, strict=True)
    return Outputs(
        np.concatenate(predictions), np.concatenate(asked), stacked(scores),
        stacked(probabilities), half_widths=stacked(half_widths),
    )  # fmt: skip


def stacked(arrays: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """The arrays as one; None where one is missing, or has other columns."""
    found = [array for array in arrays if array is not None]
    if len(found) < len(arrays) or len({array.shape[1:] for array in found}) > 1:
        return None
    return np.concatenate(found)
