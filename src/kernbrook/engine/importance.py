"""Sample weights as they count: relative to their mean so far."""

import numpy as np

from kernbrook.checks import HEAVIEST
from kernbrook.gram.arrays import Flags, Floats

LEAST = 1e-100  # of a relative weight


def rescale(weights: Floats, labelled: Flags, mean: float, count: int) -> tuple[Floats, float]:
    """(n,) weights over the mean of those so far, their own among them, and the mean after all.

    So weights that are all equal are as none; and none counts as more than `HEAVIEST` rows.

    Parameters
    ----------
    weights : (n,) from 0; weights of 0 stay, and do not count
    labelled : (n,) bool, which rows have a label; others do not count
    mean, count : of the weights before; the mean follows the last ones

    Examples
    --------
    >>> rescale(np.array([2.0, 2.0, 8.0]), np.ones(3, dtype=bool), 1.0, 0)
    (array([1., 1., 2.]), 4.0)
    """
    relative, counts = (weights > 0).astype(np.float64), labelled & (weights > 0)
    if (weights[counts] == mean).all():
        return relative, mean
    for i in np.flatnonzero(counts).tolist():
        count, weight = count + 1, float(weights[i])
        mean = weight if count == 1 else mean + (weight - mean) / min(count, HEAVIEST)
        relative[i] = max(weight / mean, LEAST)
    return relative, mean
