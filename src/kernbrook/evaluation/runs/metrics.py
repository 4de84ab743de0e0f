"""What is read off a run: metrics of scikit-learn and River, confusion, signals of drift."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from inspect import Parameter, isfunction, signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.exceptions import UndefinedMetricWarning

from kernbrook.checks import is_number, is_whole, shown
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.tasks import Learned
from kernbrook.evaluation.history.changes import Change, Changes
from kernbrook.evaluation.measuring.measures import Measures
from kernbrook.evaluation.runs.lateness import HORIZONS

if TYPE_CHECKING:
    from kernbrook.evaluation.runs.record import Record

FORGOTTEN = 60  # half-lives after which a row no longer counts: 2^-60 is lost in a sum


def river(module: str, what: str) -> Any:
    """A module of River, such as "drift"; InputError where River is not there."""
    try:
        return import_module(f"river.{module}")
    except ModuleNotFoundError as error:
        raise InputError(f"{what} needs the package river: pip install river") from error


def over_rounds(
    record: Record,
    metric: Any,
    rounds: Sequence[int] | NDArray[np.int64],
    window: int | None = None,
    decay: float | None = None,
) -> list[Any]:
    """A metric after each of some rounds, which rise; see `Record.metric`."""
    if window is not None and decay is not None:
        raise InputError("give a window or a decay, not both")
    if window is not None and (not is_whole(window) or isinstance(window, bool) or window < 1):
        raise InputError(f"window: expected a number of rows from 1, got {shown(window)}")
    if decay is not None and not (is_number(decay) and 0 < decay < math.inf):
        raise InputError(f"decay: expected a positive number of rows, got {shown(decay)}")
    if isinstance(metric, type):
        raise InputError(f"metric: expected a function or an object, got the class {shown(metric)}")
    if hasattr(metric, "update") and hasattr(metric, "get"):
        return _of_river(record, metric, rounds, window, decay)
    return _of_function(record, _named(metric), rounds, window, decay)


def confusion(record: Record) -> NDArray[np.int64]:
    """See `Record.confusion`."""
    if record.classes is None:
        raise InputError("confusion: expected a record of classes, found one of numbers")
    from sklearn.metrics import confusion_matrix

    found = confusion_matrix(record.labels, record.predictions, labels=record.classes)
    return np.asarray(found)


def by_horizon(record: Record) -> list[dict[str, Any]]:
    """What a record with places is worth; see `Record.by_horizon`."""
    assert record.places is not None
    labels, found, first = _labels(record), list[dict[str, Any]](), 1
    half = None if record.intervals is None else np.diff(record.intervals)[:, 0] / 2
    said = Learned(
        record.predictions, record.places > 0, None, record.probabilities, half_widths=half
    )
    for last in (*HORIZONS, int(record.places.max())):
        which = (record.places >= first) & (record.places <= last)
        if which.any():
            measures = Measures(record.classes, rules=())
            measures.add(labels[which], said.of(which))
            own = measures.model.values()
            part = {"first": first, "last": min(last, int(record.places.max()))}
            error = own["mse"] if record.classes is None else own["error"]
            found.append({**part, "rows": int(which.sum()), "error": error, **own})
        first = last + 1
    return found


def changes_of(record: Record, dates: NDArray[np.int64] | None = None) -> list[Change]:
    """All changes of the error of a record; dates : (T,) of its rows, as `Changes.add` has them."""
    changes, lost = Changes(record.mistakes is None, None), _lost(record)
    changes.add(lost, np.arange(len(lost)) + 1, dates)
    return changes.found


def _lost(record: Record) -> NDArray[Any]:
    """(T,) mistakes, or squared errors."""
    if record.mistakes is not None:
        return record.mistakes
    return np.asarray((record.predictions - _labels(record)) ** 2)


def drift(record: Record, detector: Any = None) -> NDArray[np.int64]:
    """See `Record.drift`."""
    if detector is None:
        return np.array([one.noticed - 1 for one in changes_of(record)], dtype=np.int64)
    if isinstance(detector, type) or not hasattr(detector, "drift_detected"):
        raise InputError(f"detector: expected one of river.drift, got {shown(detector)}")
    detector, signals = detector.clone(), []
    for row, error in enumerate(_lost(record).tolist()):
        detector.update(error)
        if detector.drift_detected:
            signals.append(row)
    return np.array(signals, dtype=np.int64)


# -- what a metric is told ---------------------------------------------------------------------


def _labels(record: Record) -> NDArray[Any]:
    if record.labels is None:
        raise InputError("the record holds no labels")
    return record.labels


def _scores(record: Record, name: str) -> NDArray[Any]:
    if record.classes is None:
        raise InputError(f"{name} is for classes, and the record is of numbers")
    if record.scores is None:
        raise InputError(
            f"{name} needs scores, and the record holds none: a comparison keeps none, and a "
            "trivial rule gives none; kb.prequential keeps those of a learner"
        )
    return record.scores


def _probabilities(record: Record, name: str) -> NDArray[Any]:
    """(T, c) of the learner, else the logistic function of its scores."""
    scores = _scores(record, name)
    if record.probabilities is not None:
        return record.probabilities
    if scores.ndim == 2:
        return np.asarray(softmax(scores, axis=1))
    return np.column_stack([expit(-scores), expit(scores)])


# -- functions ---------------------------------------------------------------------------------


def _named(metric: Any) -> Callable[..., Any]:
    """The function itself, or scikit-learn's of that name."""
    if callable(metric):
        return metric
    from sklearn import metrics as theirs  # which loads much that a run has no need of

    functions = {
        name: getattr(theirs, name)
        for name in theirs.__all__
        if isfunction(getattr(theirs, name)) and name.endswith(("_score", "_loss", "_error"))
    }
    functions = {
        name: function
        for name, function in functions.items()
        if next(iter(signature(function).parameters)) in ("y_true", "y1")
    }
    if not isinstance(metric, str):
        raise InputError(
            "metric: expected a function, a name such as 'accuracy', or a metric of River, "
            f"got {shown(metric)}"
        )
    for name in (metric, *(f"{metric}_{end}" for end in ("score", "loss", "error"))):
        if name in functions:
            return functions[name]
    raise UnknownNameError("metric", metric, functions)


def _of_function(
    record: Record,
    function: Callable[..., Any],
    rounds: Sequence[int] | NDArray[np.int64],
    window: int | None,
    decay: float | None,
) -> list[Any]:
    y = _labels(record)
    function, told, name = _fitted(record, function)
    if decay is not None and "sample_weight" not in _parameters(function):
        raise InputError(f"decay: {name} takes no sample_weight, so no row can count less")
    found = []
    for end in map(int, rounds):
        kept = window or (end if decay is None else math.ceil(FORGOTTEN * decay))
        rows = slice(max(0, end - kept), end)
        weights = {}
        if decay is not None:
            weights["sample_weight"] = 0.5 ** (np.arange(rows.stop - rows.start)[::-1] / decay)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            try:
                found.append(function(y[rows], told[rows], **weights))
            except ValueError as error:
                if record.classes is None or len(np.unique(y[rows])) == len(record.classes):
                    raise InputError(f"metric {name}: {error}") from error
                found.append(math.nan)  # a class is missing
    return found


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    try:
        return dict(signature(function).parameters)
    except ValueError:  # some compiled functions have none
        return {}


def _fitted(
    record: Record, function: Callable[..., Any]
) -> tuple[Callable[..., Any], NDArray[Any], str]:
    """The function with what it has to know of the classes, what it is told, and its name."""
    own = _parameters(function)
    name = getattr(getattr(function, "func", function), "__name__", shown(function))
    second = list(own)[1] if len(own) > 1 else ""
    chances = second in ("y_proba", "y_prob") or name in ("log_loss", "d2_log_loss_score")
    if not chances and second not in ("y_score", "pred_decision"):
        classes = record.classes
        if classes is not None and _default(own, "pos_label") == 1 and 1 not in classes.tolist():
            function = partial(function, pos_label=classes[-1])
        return function, record.predictions, name
    told = _scores(record, name)
    assert record.classes is not None
    two = len(record.classes) == 2
    if chances or (second == "y_score" and not two):
        told = _probabilities(record, name)
        told = told[:, 1] if two else told
    more: dict[str, Any] = {}
    if _default(own, "labels", 0) is None:
        more["labels"] = record.classes
    if not two and _default(own, "multi_class") == "raise":
        more["multi_class"] = "ovr"
    return partial(function, **more), told, name


def _default(parameters: dict[str, Parameter], name: str, otherwise: Any = None) -> Any:
    return parameters[name].default if name in parameters else otherwise


# -- River -------------------------------------------------------------------------------------


def _of_river(
    record: Record,
    metric: Any,
    rounds: Sequence[int] | NDArray[np.int64],
    window: int | None,
    decay: float | None,
) -> list[Any]:
    name = type(metric).__name__
    if decay is not None and "w" not in _parameters(metric.update):
        raise InputError(f"decay: {name} takes no weights, so no row can count less")
    metric, pairs = _with_pairs(record, metric)
    begun, done, found = 0, 0, []
    for end in map(int, rounds):
        for row in range(done, end):
            if decay is None:
                metric.update(*pairs[row])
                if window is not None and row >= window:
                    metric.revert(*pairs[row - window])
                continue
            first = row
            if row - begun > 8 * FORGOTTEN * decay:  # weights grow, so it begins anew now and then
                metric, begun = metric.clone(), row - math.ceil(FORGOTTEN * decay)
                first = begun
            for i in range(first, row + 1):
                metric.update(*pairs[i], w=2.0 ** ((i - begun) / decay))
        done = end
        found.append(metric.get())
    return found


def _with_pairs(record: Record, metric: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """A copy of the metric, and what it is told of each row.

    Label and prediction, or the probabilities by class where it wants them; of a metric for one
    class against the other both are True and False.
    """
    base, name = river("metrics.base", "a metric of River"), type(metric).__name__
    of = base.RegressionMetric if record.classes is None else base.ClassificationMetric
    others = base.ClassificationMetric if record.classes is None else base.RegressionMetric
    if isinstance(metric, others) and not isinstance(metric, of):
        kind = "regression" if record.classes is None else "classification"
        raise InputError(f"metric: {name} does not go with a record of {kind}")
    labels, said = _labels(record).tolist(), record.predictions.tolist()
    told: dict[str, Any] = {}
    names = None if record.classes is None else record.classes.tolist()
    if isinstance(metric, base.BinaryMetric) and names is not None:
        if len(names) != 2:
            raise InputError(f"metric: {name} is for two classes, the record has {len(names)}")
        positive = getattr(metric, "pos_val", True)
        if positive is True:
            positive = names[1]
        elif positive not in names:
            raise InputError(f"metric: pos_val is {positive!r}, the classes are {names}")
        else:
            told["pos_val"] = True
        labels, said, names = ([one == positive for one in many] for many in (labels, said, names))
    if not getattr(metric, "requires_labels", True) and names is not None:
        chances = _probabilities(record, name).tolist()
        said = [dict(zip(names, row, strict=True)) for row in chances]
    return metric.clone(told), list(zip(labels, said, strict=True))
