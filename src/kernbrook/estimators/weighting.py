"""Weights of classes: what experts learn more from, and what is said."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import is_number, shown
from kernbrook.errors import InputError
from kernbrook.estimators.labelled import as_labels, named
from kernbrook.gram.arrays import Floats, Labels

TINY = 1e-200
BETTER = 1.1  # or probabilities that are nearly constant would make all rows of one class


def check_class_weight(class_weight: Any) -> None:
    """InputError unless it is None, "balanced", or {label: weight from 0}."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise InputError(
            "class_weight: expected None, 'balanced' or weights {label: weight}, got "
            f"{shown(class_weight)}"
        )
    for label, weight in class_weight.items():
        if not (is_number(weight) and 0 <= weight <= sys.float_info.max):
            raise InputError(
                f"class_weight: expected a finite number from 0 for {label!r}, got {shown(weight)}"
            )


def check_keys(class_weight: Any, classes: NDArray[Any]) -> None:
    """InputError where weights are named for other labels than those that there are.

    A label that is not named has weight 1, and a name may wait for its label. But not both: a name
    is then most likely a label of another type, such as "0" for 0.

    Examples
    --------
    >>> check_keys({"spam": 5.0}, np.array(["ham", "spam"]))
    """
    if not isinstance(class_weight, dict):
        return
    known = set(classes.tolist())
    waiting = [key for key in class_weight if key not in known]
    unnamed = [label for label in classes.tolist() if label not in class_weight]
    if waiting and unnamed:
        raise InputError(
            f"class_weight: label {named(as_labels(waiting[:1]))} has a weight but has not come, "
            f"and label {named(as_labels(unnamed[:1]))} has come but has none; name all labels, or "
            "some of those that there are"
        )


def lifts(
    class_weight: Any, classes: NDArray[Any], counts: Labels, numbers: Labels, weights: Floats
) -> Floats:
    """(n,) how much more the experts learn from labels: roots of the weights of their classes.

    Weights are relative to the mean weight of the labels up to each one. The roots find more of a
    rare class than weights of 1, and than the weights themselves, whose few rows outvote all else.

    Parameters
    ----------
    class_weight : {label: weight}, 1 for what is not in it, or "balanced"
    classes : (k,) labels
    counts : (k,) labels of each class before
    numbers : (n,) of the classes of the labels; negative where there is none
    weights : (n,) sample weights: labels of weight 0 are not counted
    """
    out, there = np.ones(len(numbers)), (numbers >= 0) & (weights > 0)
    met = np.zeros((int(there.sum()), len(classes)))
    met[np.arange(len(met)), numbers[there]] = 1.0
    so_far = counts + np.cumsum(met, axis=0)
    named = isinstance(class_weight, dict)
    each = _named(class_weight, classes) if named else 1.0 / np.maximum(so_far, 1.0)
    means = (so_far * each).sum(axis=1) / so_far.sum(axis=1)
    own = (met * each).sum(axis=1)
    out[there] = np.sqrt(own / np.maximum(means, TINY))
    return out


def leading(
    class_weight: Any, classes: NDArray[Any], probabilities: Floats, usual: Floats
) -> Labels:
    """(n,) numbers of the classes of the greatest weight times probability.

    So the rows that are said wrong weigh least in all, where the probabilities are right.

    Parameters
    ----------
    class_weight : {label: weight}, 1 for what is not in it; or "balanced": one over the usual
        probability, as if all classes were as frequent; the most probable class gives way to one
        that is better by a tenth
    classes : (k,) labels
    probabilities, usual : (n, k), of the classes; see `numerics.calibration_steps`
    """
    if isinstance(class_weight, dict):
        return (probabilities * _named(class_weight, classes)).argmax(axis=1)
    lifts = probabilities / np.maximum(usual, TINY)
    lifts[np.arange(len(lifts)), probabilities.argmax(axis=1)] *= BETTER
    return lifts.argmax(axis=1)


def _named(class_weight: dict[Any, float], classes: NDArray[Any]) -> Floats:
    """(k,) the weights by label, 1 for those that are not named, over the greatest."""
    each = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    return np.asarray(each / max(each.max(), TINY))
