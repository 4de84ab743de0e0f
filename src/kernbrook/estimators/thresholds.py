"""What a classifier says by request: by probabilities, instead of by the greatest decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook.checks import is_number, shown
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Labels

_WANTED = "threshold: expected None, a number from 0 to 1, 'f1' or a matrix of costs"


def agreeing(probabilities: Floats, numbers: Labels, scores: Floats) -> Floats:
    """(n, k) probabilities by which the classes of these numbers, (n,), are the most probable.

    Where one is not, it and all that are more probable get the mean of theirs; of two classes a
    half, but for a millionth of the score, (n, 1), so that their order stays.
    """
    if probabilities.shape[1] == 2:
        return _agreeing_of_two(probabilities, numbers, np.ascontiguousarray(scores[:, 0]))
    rows = np.arange(len(numbers))
    own = probabilities[rows, numbers]
    above = probabilities >= own[:, None]
    agreed = probabilities.copy()
    for i in np.flatnonzero(probabilities.argmax(axis=1) != numbers):
        mean = probabilities[i, above[i]].mean()
        agreed[i, above[i]] = np.nextafter(mean, 0.0)
        agreed[i, numbers[i]] = mean
    return agreed


@njit(cache=True)
def _agreeing_of_two(probabilities: Floats, numbers: Labels, scores: Floats) -> Floats:
    agreed = np.empty(probabilities.shape)
    for i in range(len(numbers)):
        size = abs(scores[i])
        least = 0.5 + 1e-6 * (size + 1e-9) / (size + 1.0)
        own = max(probabilities[i, numbers[i]], least)
        agreed[i, 1] = own if numbers[i] == 1 else 1.0 - own
        agreed[i, 0] = 1.0 - agreed[i, 1]
    return agreed


def checked(threshold: Any, classes: int) -> Any:
    """The threshold for so many classes: None, a number, "f1", or costs, (k, k).

    Raises
    ------
    InputError
        It is nothing of these, or made for another number of classes.
    """
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


def said(threshold: Any, probabilities: Floats, cuts: Floats) -> Labels:
    """(n,) numbers of classes.

    threshold : as `checked` gives it, not None
    cuts : (n,) before each row, from which "f1" says the second class; see `Calibration.cut`
    """
    if isinstance(threshold, np.ndarray):
        return (probabilities @ threshold).argmin(axis=1)
    bounds = cuts if isinstance(threshold, str) else threshold
    return (probabilities[:, 1] >= bounds).astype(np.int64)
