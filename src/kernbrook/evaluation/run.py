"""Prequential evaluation: test, then ask, then train, one pass over a stream."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import check
from kernbrook.errors import InputError
from kernbrook.estimators.confidence import check_coverage, intervals_of
from kernbrook.estimators.labels import as_labels, check_present, distinct
from kernbrook.estimators.outside import online
from kernbrook.estimators.tasks import Outputs, Task, joined, scored_learn, task_of
from kernbrook.evaluation.late import Lateness, LatePass
from kernbrook.evaluation.measures import COVERAGE, added, losses, measures_over, summed
from kernbrook.evaluation.recipes_wanted import classes_of
from kernbrook.evaluation.record import History, Record, by_horizon
from kernbrook.evaluation.warming import few_rows, warm_up
from kernbrook.gram.arrays import as_rows
from kernbrook.streams import Stream
from kernbrook.streams.stream import LabelledRows

SAMPLES = 100  # points of a history, about
LARGEST_CHUNK = 4096


def prequential(
    estimator: Any,
    X: Any,
    y: Any = None,
    order: Any = None,
    *,
    classes: Any = None,
    delay: int = 0,
    every: int = 1,
    intervals: float | None = None,
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
    delay : rows that come between a row and its label
    every : labels come in batches: after each so many rows, all that there are by then
    intervals : of numbers, the share of the labels that intervals are to cover, in (0, 1): then
        they are recorded. None: where labels come late those of 0.9, else none
    progress : called with the number of rounds done since its last call

    Returns
    -------
    Record

    Raises
    ------
    InputError
        The estimator has no `learn`, shapes or labels do not fit, an order is not a permutation
        of row numbers, or intervals are asked for that there cannot be.

    Notes
    -----
    Where labels come late, rows are predicted by what was learned from the labels known by then:
    how far each row is from the last of them stands in `Record.places`, and what that costs in
    `Record.by_horizon`. Labels that would come after the last row are never learned.

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
    lateness = Lateness(delay, every)
    lateness.check()
    if intervals is not None:
        check_coverage("intervals", intervals)
    estimator = online(estimator)
    task = task_of(estimator)
    if task == "classification" and intervals is not None:
        raise InputError(f"intervals: {type(estimator).__name__} predicts classes; give none")
    if task == "regression" and intervals is None and not lateness.at_once:
        intervals = COVERAGE
    if task == "regression" and classes is not None:
        raise InputError(f"classes: {type(estimator).__name__} predicts numbers; give none")
    if isinstance(X, Stream):
        if y is not None or order is not None:
            raise InputError("prequential: a stream has its own labels and order; give neither")
        X = LabelledRows.of(X)
        if task == "classification" and classes is None:
            classes = classes_of(X)
        chunks = X.chunks(_chunk(X.n_rows))
    else:
        X, y = _arrays(X, y)
        if task == "classification" and classes is None:
            classes = distinct(y)
        order = np.arange(len(y)) if order is None else _order(order, len(y))
        if classes is not None:
            _look_ahead(estimator, X, y, order, classes)
        size = _chunk(len(y))
        parts = (order[start : start + size] for start in range(0, len(order), size))
        chunks = ((X[rows], y[rows]) for rows in parts)
    run = _Pass(estimator, task, classes, lateness)
    with intervals_of(intervals):
        for X_chunk, y_chunk in chunks:
            if run.seen == 0:  # compiles what the estimator runs on
                some = (X_chunk, y_chunk) if isinstance(X, Stream) else (X, y)
                _warm(estimator, not lateness.at_once, intervals, *some, classes)
            run.take(X_chunk, y_chunk)
            if progress is not None:
                progress(len(y_chunk))
    return run.record(intervals)


class _Pass:
    """One pass of an estimator: what it said, and a sample of its state after each chunk."""

    def __init__(self, estimator: Any, task: Task, classes: Any, lateness: Lateness):
        self.estimator, self.task, self.classes = estimator, task, classes
        known = {"classes": classes} if task == "classification" else {}
        self.learn = partial(scored_learn(estimator), **known)
        self.late = None
        if not lateness.at_once:
            self.late = LatePass(estimator, self.learn, classes, lateness)
        self.outputs: list[Outputs] = []
        self.labels: list[NDArray[Any]] = []
        self.places: list[NDArray[np.int64]] = []
        self.samples: list[tuple[Any, ...]] = []
        self.seconds, self.seen = 0.0, 0

    def take(self, X: Any, y: NDArray[Any]) -> None:
        """Predict a chunk, then learn it."""
        start = _clocks()
        if self.late is None:
            outputs = self.learn(X, y)
        else:
            outputs, places = self.late(X, y)
            self.places.append(places)
        self.seconds += min(now - then for now, then in zip(_clocks(), start, strict=True))
        self.seconds -= outputs.aside
        kept = outputs if self.task == "classification" else outputs._replace(scores=None)
        self.outputs.append(kept)
        self.labels.append(y)
        self.seen += len(y)
        if self.late is None or self.late.n_learned:  # else there is no state yet
            model = self.estimator
            counts = model.n_support_stored_, model.n_support_active_, model.labels_asked_
            self.samples.append((self.seen, *counts, model.kernel_weights_))

    def record(self, coverage: float | None) -> Record:
        """What came of it; coverage : of intervals, where there are some."""
        if self.seen == 0:
            raise InputError("prequential: the stream has no rows")
        if not self.samples:
            raise InputError(f"prequential: none of {self.seen} labels came before the last row")
        kernels = tuple(str(kernel) for kernel in getattr(self.estimator, "kernels_", ()))
        rounds, stored, active, asked, weights = map(np.array, zip(*self.samples, strict=True))
        outputs, labels = joined(self.outputs), np.concatenate(self.labels)
        of_classes = self.task == "classification"
        known = distinct(as_labels(self.classes)) if of_classes else None
        lost = losses(outputs.predictions, labels, self.task)
        error = summed(0, lost)[rounds] / rounds
        over_time = measures_over(known, labels, outputs, rounds)
        history = History(rounds, error, stored, active, asked, weights, kernels, over_time)
        classes = getattr(self.estimator, "classes_", self.classes) if of_classes else None
        scores, intervals = outputs.scores, outputs.intervals
        places = np.concatenate(self.places) if self.places else None
        return Record(
            predictions=outputs.predictions,
            mistakes=lost if of_classes else None,
            error=added(0, lost) / self.seen,
            labels_asked=int(asked[-1]),
            n_support_stored=int(stored[-1]),
            n_support_active=int(active[-1]),
            seconds=self.seconds,
            history=history,
            labels=labels,
            classes=None if classes is None else np.asarray(classes),
            scores=scores[:, 0] if scores is not None and scores.shape[1] == 1 else scores,
            probabilities=outputs.probabilities,
            places=places,
            intervals=intervals,
            coverage=None if intervals is None else coverage,
            measures={name: float(values[-1]) for name, values in over_time.items()},
            horizons=None if places is None else by_horizon(known, labels, outputs, places),
        )


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
    X = as_rows(X) if sp.issparse(X) else np.asarray(as_rows(X))
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


_warmed: set[tuple[Any, ...]] = set()  # what has run in this process


def _warm(
    estimator: Any, late: bool, coverage: float | None, X: Any, y: NDArray[Any], classes: Any
) -> None:
    """`warm_up` on a few rows, once in a process for the same settings and form of data."""
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    form = sp.issparse(X), X.shape[1], None if classes is None else len(classes)
    settings = (repr(value) for name, value in parameters.items() if name != "random_state")
    key = type(estimator), late, coverage, *form, *settings
    if key not in _warmed:
        few = few_rows(y)
        warm_up(estimator, X[few], y[few], classes, late, coverage)
        _warmed.add(key)


def _look_ahead(
    estimator: Any, X: Any, y: NDArray[Any], order: NDArray[np.int64], classes: Any
) -> None:
    """Perceptron(*) as in its paper: the kernel is chosen before the pass begins."""
    fraction = getattr(getattr(estimator, "selection", None), "fraction", None)
    if fraction is not None and hasattr(estimator, "choose_kernel"):
        check(estimator.selection)
        prefix = order[: max(1, math.floor(fraction * len(order) + 0.5))]
        estimator.choose_kernel(X[prefix], y[prefix], classes=classes)
