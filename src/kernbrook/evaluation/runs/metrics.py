"""What is read off a run: confusion, errors by horizon, when errors change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.estimators.tasks import Learned
from kernbrook.evaluation.history.changes import Change, Changes
from kernbrook.evaluation.measuring.measures import Measures
from kernbrook.evaluation.runs.lateness import HORIZONS

if TYPE_CHECKING:
    from kernbrook.evaluation.runs.record import Record


def river(module: str, what: str) -> Any:
    """A module of River, such as "drift"; InputError where River is not there."""
    try:
        return import_module(f"river.{module}")
    except ModuleNotFoundError as error:
        raise InputError(f"{what} needs the package river: pip install river") from error


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
            own = measures.values()["model"]
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


def _labels(record: Record) -> NDArray[Any]:
    if record.labels is None:
        raise InputError("the record holds no labels")
    return record.labels
