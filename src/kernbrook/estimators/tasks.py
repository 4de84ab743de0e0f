"""What a model predicts, classes or numbers, and whether it learns from a stream."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.base import is_regressor

Task = Literal["classes", "numbers"]


def task_of(estimator: Any) -> Task:
    """What an estimator predicts; one that does not say so predicts classes.

    Examples
    --------
    >>> import kernbrook as kb
    >>> task_of(kb.OnlineMKClassifier()), task_of(kb.OnlineMKRegressor())
    ('classes', 'numbers')
    """
    tagged = hasattr(estimator, "__sklearn_tags__")
    return "numbers" if tagged and is_regressor(estimator) else "classes"


def is_batch(estimator: Any) -> bool:
    """Whether an estimator needs all data at once: it has `fit`, and no `learn`.

    Examples
    --------
    >>> import kernbrook as kb
    >>> is_batch(kb.VotedKernelClassifier()), is_batch(kb.OnlineMKClassifier())
    (True, False)
    """
    return not hasattr(estimator, "learn")
