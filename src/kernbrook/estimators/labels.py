"""Labels as they are given, of any type, and some rows without one; and which class is said."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from kernbrook.checks import is_number, real, row_of_chunk, shown
from kernbrook.errors import InputError, printable
from kernbrook.gram.arrays import Flags, Floats, Ints
from kernbrook.numerics.calibration_steps import agreeing_of_two

LARGEST_EXACT = 2**53  # whole numbers beyond it are not all floats
TINY = 1e-200
BETTER = 1.1  # or probabilities that are nearly constant would make all rows of one class
_WANTED = "threshold: expected None, a number from 0 to 1, 'f1' or a matrix of costs"


def is_empty(X: Any) -> bool:
    """Whether a chunk of examples has no rows, as lists, arrays, frames and matrices tell it."""
    if isinstance(X, (list, tuple)):
        return len(X) == 0
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return len(shape) > 0 and shape[0] == 0


def number_of_rows(X: Any) -> int:
    """How many rows a chunk of examples has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_as_many(rows: int, labels: NDArray[Any]) -> None:
    """InputError unless each row has one label."""
    if len(labels) != rows:
        raise InputError(f"X has {rows} rows but y has {len(labels)} labels")


def as_labels(y: Any, warn: bool = False) -> NDArray[Any]:
    """(n,) the labels given: whole numbers never by way of floats; see `present` for missing ones.

    warn : whether to warn of a column, (n, 1)
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
        return np.array([_is_present(label) for label in labels], dtype=bool)
    return np.ones(len(labels), dtype=bool)


def without(labels: NDArray[Any], missing: Any) -> NDArray[Any]:
    """The labels, with None or NaN instead of what stands for a missing one."""
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
    labelled = present(labels)
    if not labelled.all():
        raise InputError(f"y: row {labelled.argmin()} has no label; {hint}")


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
    """(c,) the labels, each once and sorted."""
    try:
        return np.unique(plain(labels))
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(
            f"{name}: expected labels of one kind, numbers or text, found {kinds}"
        ) from None


def named(labels: NDArray[Any]) -> str:
    """The first labels, for a message; text in quotes, so that "0" is told from 0."""
    plain = labels[:10].tolist()
    words = [shown(str(label)) if isinstance(label, str) else str(label) for label in plain]
    return printable(", ".join(words)) + (", ..." if len(labels) > 10 else "")


def class_numbers(classes: NDArray[Any], labels: NDArray[Any]) -> Ints:
    """(n,) the number of each label among the sorted classes; -1 for what is none of them."""
    if classes.dtype.kind == labels.dtype.kind != "O":
        numbers = np.minimum(classes.searchsorted(labels), len(classes) - 1)
        return np.where(classes[numbers] == labels, numbers, -1)
    # Python compares numbers of two types as they are; NumPy would make floats of both.
    number = {label: i for i, label in enumerate(classes.tolist())}
    try:
        return np.array([number.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    except TypeError:
        raise InputError("y: expected numbers or text, found what cannot be a label") from None


def known_numbers(classes: NDArray[Any], labels: NDArray[Any], places: Any = None) -> Ints:
    """As `class_numbers`; InputError where a label is none of the classes.

    places : (n,) rows of the chunk that the labels are of, for the message
    """
    numbers = class_numbers(classes, labels)
    if (numbers < 0).any():
        first = int((numbers < 0).argmax())
        row = "" if places is None else f" ({row_of_chunk(places[first])})"
        label = f"label {named(labels[first : first + 1])}{row}"
        raise InputError(f"y: {label} is not one of the classes {named(classes)}")
    return numbers


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


def _is_present(label: Any) -> bool:
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


def chosen(decisions: Floats) -> Ints:
    """(n,) numbers of the classes that decisions are for: (n, c), (n, 1) for the second of two."""
    if decisions.shape[1] == 1:
        return (decisions[:, 0] >= 0).astype(np.int64)
    return decisions.argmax(axis=1)


# -- what is said by request: by probabilities, not by the greatest decision ----------------------


def agreeing(probabilities: Floats, numbers: Ints, scores: Floats) -> Floats:
    """(n, k) probabilities by which the classes of these numbers, (n,), are the most probable.

    Where one is not, it and all that are more probable get the mean of theirs; of two classes a
    half, but for a millionth of the score, (n, 1), so that their order stays.
    """
    if probabilities.shape[1] == 2:
        return agreeing_of_two(probabilities, numbers, np.ascontiguousarray(scores[:, 0]))
    rows = np.arange(len(numbers))
    chances = probabilities[rows, numbers]
    above = probabilities >= chances[:, None]
    agreed = probabilities.copy()
    for i in np.flatnonzero(probabilities.argmax(axis=1) != numbers):
        mean = probabilities[i, above[i]].mean()
        agreed[i, above[i]] = np.nextafter(mean, 0.0)
        agreed[i, numbers[i]] = mean
    return agreed


def check_threshold(threshold: Any, classes: int) -> Any:
    """The threshold for so many classes: None, a number, "f1", or costs, (k, k)."""
    if threshold is None:
        return None
    if isinstance(threshold, str) or is_number(threshold):
        if threshold != "f1" and not (is_number(threshold) and 0 <= threshold <= 1):
            raise InputError(f"{_WANTED}, got {shown(threshold)}")
        if classes != 2:
            raise InputError(
                f"threshold: {shown(threshold)} is for two classes, found {classes}; give a "
                f"matrix of costs, ({classes}, {classes})"
            )
        return threshold
    try:
        costs = np.array(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{_WANTED}, got {shown(threshold)}") from None
    if costs.shape != (classes, classes) or not np.isfinite(costs).all():
        raise InputError(
            f"threshold: expected finite costs, ({classes}, {classes}), a row for each class that "
            f"is there and a column for each that is said, got {shown(threshold)}"
        )
    return costs


def apply_threshold(threshold: Any, probabilities: Floats, cuts: Floats) -> Ints:
    """(n,) numbers of classes.

    threshold : as `check_threshold` gives it, not None
    cuts : (n,) before each row, from which "f1" says the second class; see `Calibration.cut`
    """
    if isinstance(threshold, np.ndarray):
        return (probabilities @ threshold).argmin(axis=1)
    bounds = cuts if isinstance(threshold, str) else threshold
    return (probabilities[:, 1] >= bounds).astype(np.int64)


# -- weights of classes: what experts learn more from, and what is said ---------------------------


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
                f"class_weight: expected a finite number from 0 for {shown(label)}, got "
                f"{shown(weight)}"
            )


def check_keys(class_weight: Any, classes: NDArray[Any]) -> None:
    """InputError where weights are named for other labels than those that there are.

    A label that is not named has weight 1, and a name may wait for its label. But not both: a name
    is then most likely a label of another type, such as "0" for 0.
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
    class_weight: Any, classes: NDArray[Any], counts: Ints, numbers: Ints, weights: Floats
) -> Floats:
    """(n,) how much more the experts learn from labels: roots of the weights of their classes.

    Weights are relative to the mean weight of the labels up to each one. The roots find more of a
    rare class than weights of 1, and than the weights themselves, whose few rows outvote all else.

    classes : (k,) labels; counts : (k,) of each before; numbers : (n,) of the classes of the
    labels, negative where there is none; weights : (n,) of the rows: of 0, labels do not count
    """
    out, counted = np.ones(len(numbers)), (numbers >= 0) & (weights > 0)
    one_hot = np.zeros((int(counted.sum()), len(classes)))
    one_hot[np.arange(len(one_hot)), numbers[counted]] = 1.0
    so_far = counts + np.cumsum(one_hot, axis=0)
    by_name = isinstance(class_weight, dict)
    each = _named(class_weight, classes) if by_name else 1.0 / np.maximum(so_far, 1.0)
    means = (so_far * each).sum(axis=1) / so_far.sum(axis=1)
    weights_of = (one_hot * each).sum(axis=1)
    out[counted] = np.sqrt(weights_of / np.maximum(means, TINY))
    return out


def leading(class_weight: Any, classes: NDArray[Any], probabilities: Floats, usual: Floats) -> Ints:
    """(n,) numbers of the classes of the greatest weight times probability.

    So the rows that are said wrong weigh least in all, where the probabilities are right. The
    weights of "balanced" are one over the usual probability, (n, k), as if all classes were as
    frequent; the most probable class gives way to one that is better by a tenth.
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
