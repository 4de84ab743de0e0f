"""What a model predicts, classes or numbers, and whether it learns from a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

Task = Literal["classification", "regression"]


class Learned(NamedTuple):
    """What `_learn_scored` of a classifier gives, all of it from before the labels.

    predictions, asked : (n,) as `learn` has them
    scores : (n, 1) positive for the second of two classes, or (n, c); None where there are none,
        or classes that appeared later
    probabilities : (n, c) where the estimator gives some
    aside : seconds spent on what neither learning nor predicting takes
    """

    predictions: NDArray[Any]
    asked: NDArray[np.bool_]
    scores: NDArray[np.float64] | None
    probabilities: NDArray[np.float64] | None = None
    aside: float = 0.0


def task_of(estimator: Any) -> Task:
    """What an estimator predicts; one that does not say so predicts classes.

    Examples
    --------
    >>> import kernbrook as kb
    >>> task_of(kb.OnlineMKClassifier()), task_of(kb.OnlineMKRegressor())
    ('classification', 'regression')
    """
    tagged = hasattr(estimator, "__sklearn_tags__")
    return "regression" if tagged and is_regressor(estimator) else "classification"


def is_batch(estimator: Any) -> bool:
    """Whether an estimator needs all data at once: it has `fit`, and no `learn`.

    Examples
    --------
    >>> import kernbrook as kb
    >>> is_batch(kb.VotedKernelClassifier()), is_batch(kb.OnlineMKClassifier())
    (True, False)
    """
    return not hasattr(estimator, "learn")


def joined(parts: Sequence[Learned]) -> Learned:
    """What some chunks gave, one after the other."""
    predictions, asked, scores, probabilities, _ = zip(*parts, strict=True)
    return Learned(
        np.concatenate(predictions), np.concatenate(asked), stacked(scores), stacked(probabilities)
    )


def stacked(arrays: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """The arrays as one; None where one is missing, or has other columns."""
    found = [array for array in arrays if array is not None]
    if len(found) < len(arrays) or len({array.shape[1:] for array in found}) > 1:
        return None
    return np.concatenate(found)
