"""Weights of classes, as scikit-learn has them, for labels that come one by one."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import is_number, shown
from kernbrook.errors import InputError
from kernbrook.estimators.labelled import as_labels, named
from kernbrook.gram.arrays import Floats, Labels


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


def factors(
    class_weight: Any, classes: NDArray[Any], counts: Labels, numbers: Labels, weights: Floats
) -> Floats:
    """(n,) what sample weights are multiplied by, each by the labels up to its own.

    Parameters
    ----------
    class_weight : "balanced", or {label: weight}, 1 for what is not in it
    classes : (k,) labels
    counts : (k,) labels of each class before
    numbers : (n,) of the classes of the labels; negative where there is none
    weights : (n,) sample weights: labels of weight 0 are not counted
    """
    there = numbers >= 0
    out = np.ones(len(numbers))
    if isinstance(class_weight, dict):
        each = np.array([class_weight.get(label, 1.0) for label in classes.tolist()])
        out[there] = each[numbers[there]]
        return out
    counted = there & (weights > 0)
    met = np.zeros((len(numbers), len(classes)), dtype=np.int64)
    met[counted, numbers[counted]] = 1
    so_far = counts + np.cumsum(met, axis=0)
    own = so_far[counted, numbers[counted]]
    out[counted] = so_far[counted].sum(axis=1) / (len(classes) * own)
    return out
