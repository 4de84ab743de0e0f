"""Labels as they are given: of any type, and some rows without one."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernbrook.checks import is_number, real, shown
from kernbrook.errors import InputError, printable
from kernbrook.gram.arrays import Flags, Labels

LARGEST_EXACT = 2**53  # whole numbers beyond it are not all floats


def is_empty(X: Any) -> bool:
    """Whether a chunk of examples has no rows, as lists, arrays, frames and matrices tell it."""
    if isinstance(X, (list, tuple)):
        return len(X) == 0
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return len(shape) > 0 and shape[0] == 0


def as_labels(y: Any, warn: bool = False) -> NDArray[Any]:
    """(n,) the labels given: whole numbers never by way of floats; see `present` for missing ones.

    Parameters
    ----------
    y : array, list, series of pandas, or what else scikit-learn takes
    warn : whether to warn of a column, (n, 1)

    Examples
    --------
    >>> as_labels([1, None, 2**60 + 1])
    array([1, None, 1152921504606846977], dtype=object)
    """
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufUS":
        return y
    if isinstance(y, np.ma.MaskedArray):  # what is masked is not there
        lost, y = np.ma.getmaskarray(y), y.data
        if lost.any():
            y = y.astype(object)
            y[lost] = None
    if not hasattr(y, "columns"):
        real(y, "y")
    if isinstance(y, np.ndarray) and y.ndim == 1:
        return y
    if hasattr(y, "isna") and getattr(y, "ndim", 0) == 1:  # pandas makes floats where one is lost
        lost = np.asarray(y.isna())
        if not lost.any():
            return np.asarray(y)
        labels = np.full(len(lost), None, dtype=object)
        labels[~lost] = np.asarray(y[~lost])
        return labels
    if isinstance(y, (str, bytes)):  # which has a length too
        raise InputError(f"expected a list or an array of labels, got the text {y!r:.60}")
    if isinstance(y, (list, tuple)):
        y = _array_of(y)
    return np.asarray(column_or_1d(y, warn=warn))


def present(labels: NDArray[Any]) -> Flags:
    """(n,) bool: where there is a label, neither None nor NaN nor pandas' NA."""
    if labels.dtype.kind == "f":
        return ~np.isnan(labels)
    if labels.dtype.kind == "O":
        return np.array([_is_there(label) for label in labels], dtype=bool)
    return np.ones(len(labels), dtype=bool)


def without(labels: NDArray[Any], missing: Any) -> NDArray[Any]:
    """The labels, with None or NaN instead of what stands for a missing one.

    Raises
    ------
    InputError
        `missing` is neither None, nor a number, nor text.

    Examples
    --------
    >>> without(np.array([1, -1, 0]), -1)
    array([1, None, 0], dtype=object)
    """
    check_missing(missing)
    if missing is None:
        return labels
    if labels.dtype.kind in ("biuf" if isinstance(missing, str) else "U"):
        return labels
    if labels.dtype.kind == "O":
        lost = present(labels)
        lost[lost] = [bool(label == missing) for label in labels[lost]]
    else:
        lost = labels == missing
    if not lost.any():
        return labels
    kept = labels.copy() if labels.dtype.kind == "f" else labels.astype(object)
    kept[lost] = np.nan if labels.dtype.kind == "f" else None
    return kept


def check_missing(missing: Any) -> None:
    """InputError unless it can stand for a missing label: None, a number or text."""
    large = isinstance(missing, int) and abs(missing) > sys.float_info.max
    if large or not (missing is None or isinstance(missing, str) or is_number(missing)):
        raise InputError(f"missing_label: expected a number, text or None, got {shown(missing)}")


def check_present(labels: NDArray[Any], hint: str) -> None:
    """InputError where a row has no label."""
    there = present(labels)
    if not there.all():
        raise InputError(f"y: row {there.argmin()} has no label; {hint}")


def plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects as numbers, where NumPy has a type that holds them all; all others as they are."""
    if labels.dtype.kind != "O":
        return labels
    numbers = _array_of(labels.tolist())
    return numbers if numbers.dtype.kind in "biuf" and numbers.ndim == 1 else labels


def as_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels that are there, as numbers; InputError where they are none."""
    numbers = plain(labels)
    if numbers.dtype.kind not in "biuf":
        raise InputError(f"y: expected numbers, got {numbers.dtype}")
    return numbers


def distinct(labels: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """(c,) the labels, each once and sorted.

    Raises
    ------
    InputError
        They have no order, as numbers and text have none.
    """
    try:
        return np.unique(plain(labels))
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(
            f"{name}: expected labels of one kind, numbers or text, found {kinds}"
        ) from None


def named(labels: NDArray[Any]) -> str:
    """The first labels, for a message; text in quotes, so that "0" is told from 0.

    Examples
    --------
    >>> print(named(np.array(["0", "1"])), named(np.array([0, 1])), sep="; ")
    '0', '1'; 0, 1
    """
    plain = labels[:10].tolist()
    words = [repr(str(one)) if isinstance(one, str) else str(one) for one in plain]
    return printable(", ".join(words)) + (", ..." if len(labels) > 10 else "")


def class_numbers(classes: NDArray[Any], labels: NDArray[Any]) -> Labels:
    """(n,) the number of each label among the sorted classes; -1 for what is none of them."""
    if classes.dtype.kind == labels.dtype.kind != "O":
        numbers = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        return np.where(classes[numbers] == labels, numbers, -1)
    # Python compares numbers of two types as they are; NumPy would make floats of both.
    number = {label: i for i, label in enumerate(classes.tolist())}
    try:
        return np.array([number.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    except TypeError:
        raise InputError("y: expected numbers or text, found what cannot be a label") from None


def _array_of(items: Sequence[Any]) -> NDArray[Any]:
    """The array of a list; of objects, where NumPy would change a label's value or kind."""
    try:
        array = np.asarray(items)
    except ValueError:
        raise InputError("y: expected one label a row, found lists of them") from None
    if array.dtype.kind == "f":
        kept = not any(
            isinstance(i, (int, np.integer)) and abs(int(i)) > LARGEST_EXACT for i in items
        )
    else:
        kept = array.dtype.kind != "U" or all(isinstance(item, str) for item in items)
    if kept or array.ndim != 1:
        return array
    objects = np.empty(len(items), dtype=object)
    objects[:] = items
    return objects


def _is_there(label: Any) -> bool:
    try:
        return label is not None and bool(label == label)
    except TypeError:  # pandas' NA is neither equal to itself nor not
        return False
    except ValueError:  # arrays are so number by number
        raise InputError(f"y: expected numbers or text, found {shown(label)}") from None


def check_discrete(labels: NDArray[Any]) -> None:
    """Raise scikit-learn's ValueError where distinct labels are of numbers, not of classes."""
    if all(isinstance(label, int) for label in labels):  # also those that no type of NumPy holds
        return
    check_classification_targets(np.repeat(labels, 3))  # once each, many would look like numbers


def check_kept_classes(classes: Any, least: int = 2) -> None:
    """Raise InputError unless these are the labels of a classifier, as learning finds them."""
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) >= least):
        wanted = "two labels or more" if least == 2 else "labels"
        raise InputError(f"classes_: expected {wanted}, got {shown(classes)}")
    labels, problem = classes.tolist(), "expected labels of one kind, each once and sorted"
    for label in labels:
        if not (isinstance(label, str) or (is_number(label) and abs(label) < math.inf)):
            raise InputError(f"classes_: expected numbers or text, got {shown(label)}")
    try:
        found = distinct(classes, "classes_")
        if found.dtype != classes.dtype or found.tolist() != labels:
            raise InputError(f"got {shown(labels)}")
        check_discrete(classes)
    except ValueError as error:
        raise InputError(f"classes_: {problem}: {error}") from None
