"""Prequential evaluation: test, then ask, then train, one pass over a stream."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import check
from kernbrook.errors import InputError
from kernbrook.estimators.labelled import as_labels, check_present, distinct
from kernbrook.estimators.outside import online
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.records import History, Record
from kernbrook.evaluation.tasks import added, classes_of, losses
from kernbrook.evaluation.warming import few_rows, warm_up
from kernbrook.sparse import as_csr
from kernbrook.streams import Stream

SAMPLES = 100  # points of a history, about
LARGEST_CHUNK = 4096


def prequential(
    estimator: Any,
    X: Any,
    y: Any = None,
    order: Any = None,
    *,
    classes: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Record:
    """Run a learner once over a stream: each label is predicted before it is learned from.

    Parameters
    ----------
    estimator : anything with `learn(X, y, classes=) -> (predictions, asked)`; changed in place
        A scikit-learn regressor is not given `classes`. Its label policy decides whose label it
        sees; its error counts every round. A model of scikit-learn with `partial_fit`, or of River,
        learns a copy row by row; one with nothing but `fit` goes by way of `External`.
    X : (T, d) array or sparse matrix, or a `Stream` (then y and order stay None)
    y : (T,) labels, one for each row
    order : (T,) int or None, the order in which to take the rows, from 0
    classes : all labels of a classifier; found in y where X is an array, and by one reading of a
        stream
    progress : called with the number of rounds done since its last call

    Returns
    -------
    Record

    Raises
    ------
    InputError
        The estimator has no `learn`, shapes or labels do not fit, or an order is not a
        permutation of row numbers.

    Notes
    -----
    `BestOfPrefix(fraction=)` looks ahead in arrays alone. On a stream, which may be too long to
    hold a part of it, the kernel is chosen in the first `rounds` of the pass.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:400").read()
    >>> record = kb.prequential(kb.recipes.make("omkc-dd"), X, y)
    >>> record.predictions.shape, record.labels_asked
    ((400,), 400)
    """
    estimator = online(estimator)
    task = task_of(estimator)
    if task == "regression" and classes is not None:
        raise InputError(f"classes: {type(estimator).__name__} predicts numbers; give none")
    if isinstance(X, Stream):
        if y is not None or order is not None:
            raise InputError("prequential: a stream has its own labels and order; give neither")
        stream = X
        if task == "classification" and classes is None:
            classes = classes_of(stream)
        size = _chunk(stream.n_rows)
        chunks: Iterator[tuple[Any, Any]] = stream.chunks(size)
    else:
        X, y = _arrays(X, y)
        rows = len(y)
        size = _chunk(rows)
        order = np.arange(rows) if order is None else _order(order, rows)
        chunks = _in_order(X, y, order, size)
        if task == "classification":
            classes = distinct(y) if classes is None else classes
            _look_ahead(estimator, X, y, order, classes)
        few = few_rows(y)
        warm_up(estimator, X[few], y[few], classes)

    labels = {"classes": classes} if task == "classification" else {}
    parts: list[tuple[Any, ...]] = []
    samples = []
    learn = _learning(estimator) if task == "classification" else estimator.learn
    seconds, seen, loss = 0.0, 0, 0.0
    for X_chunk, y_chunk in chunks:
        if seen == 0 and isinstance(X, Stream):
            few = few_rows(y_chunk)
            warm_up(estimator, X_chunk[few], y_chunk[few], classes)
        start = _clocks()
        learned = learn(X_chunk, y_chunk, **labels)
        seconds += min(now - then for now, then in zip(_clocks(), start, strict=True))
        seconds -= sum(learned[4:])
        lost = losses(learned[0], y_chunk, task)
        parts.append((learned[0], lost, y_chunk, *learned[2:4]))
        seen += len(y_chunk)
        loss = added(loss, lost)
        samples.append(
            (
                seen,
                loss / seen,
                estimator.n_support_stored_,
                estimator.n_support_active_,
                estimator.labels_asked_,
                estimator.kernel_weights_,
            )
        )
        if progress is not None:
            progress(len(y_chunk))
    if seen == 0:
        raise InputError("prequential: the stream has no rows")
    columns = list(zip(*samples, strict=True))
    history = History(
        rounds=np.array(columns[0]),
        error=np.array(columns[1]),
        n_support_stored=np.array(columns[2]),
        n_support_active=np.array(columns[3]),
        labels_asked=np.array(columns[4]),
        kernel_weights=np.array(columns[5]),
        kernels=tuple(str(kernel) for kernel in getattr(estimator, "kernels_", ())),
    )
    joined: list[Any] = [
        None if column[0] is None else np.concatenate(column) for column in zip(*parts, strict=True)
    ]
    predictions, mistakes, y_all, scores, probabilities = [*joined, None, None][:5]
    known = getattr(estimator, "classes_", classes)
    return Record(
        predictions=predictions,
        mistakes=mistakes if task == "classification" else None,
        error=loss / seen,
        labels_asked=int(history.labels_asked[-1]),
        n_support_stored=int(history.n_support_stored[-1]),
        n_support_active=int(history.n_support_active[-1]),
        seconds=seconds,
        history=history,
        labels=y_all,
        classes=None if task == "regression" else np.asarray(known),
        scores=scores[:, 0] if scores is not None and scores.shape[1] == 1 else scores,
        probabilities=probabilities,
    )


def _learning(estimator: Any) -> Any:
    """`learn`, with scores where the same class gives them; a subclass may have its own `learn`."""
    names = ("learn", "_learn_scored")
    for kind in type(estimator).__mro__:
        if "learn" in vars(kind):
            return getattr(estimator, names["_learn_scored" in vars(kind)])
    return estimator.learn


def _clocks() -> tuple[float, float]:
    """Of the wall, and of the processors.

    The time between is the less of the two: the first goes on while other processes work, the
    second counts each thread.
    """
    return time.perf_counter(), time.process_time()


def _chunk(rows: int | None) -> int:
    """Rows between two samples of the history; they do not change the result."""
    return LARGEST_CHUNK if rows is None else min(max(1, -(-rows // SAMPLES)), LARGEST_CHUNK)


def _arrays(X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    if y is None:
        raise InputError("prequential: y is missing")
    X = as_csr(X) if sp.issparse(X) else np.asarray(X)
    y = as_labels(y)
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != y.shape[0]:
        raise InputError(
            f"prequential: expected X of shape (T, d) and y of shape (T,), "
            f"got {X.shape} and {y.shape}"
        )
    check_present(y, "`prequential` counts the errors of all rows; leave it out, or use `learn`")
    return X, y


def _order(order: Any, rows: int) -> NDArray[np.int64]:
    order = np.asarray(order)
    if order.shape != (rows,) or not np.array_equal(np.sort(order), np.arange(rows)):
        raise InputError(
            f"order: expected a permutation of 0..{rows - 1}, got an array of shape {order.shape}"
        )
    return order.astype(np.int64)


def _in_order(
    X: Any, y: NDArray[Any], order: NDArray[np.int64], size: int
) -> Iterator[tuple[Any, NDArray[Any]]]:
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        yield X[rows], y[rows]


def _look_ahead(
    estimator: Any, X: Any, y: NDArray[Any], order: NDArray[np.int64], classes: Any
) -> None:
    """Perceptron(*) as in its paper: the kernel is chosen before the pass begins."""
    fraction = getattr(getattr(estimator, "selection", None), "fraction", None)
    if fraction is not None and hasattr(estimator, "choose_kernel"):
        check(estimator.selection)
        prefix = order[: max(1, math.floor(fraction * len(order) + 0.5))]
        estimator.choose_kernel(X[prefix], y[prefix], classes=classes)
