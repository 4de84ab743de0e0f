"""Half widths of intervals that cover a share of what comes, from the errors of late."""

import math

import numpy as np

from kernbrook.compiler.compiling import njit

STEP = 0.2  # of the logarithm of a half width, at an error outside of it


@njit(cache=True, nogil=True)
def follow(errors, width, coverage, beside):
    """The logarithm of the half width to take next for a coverage in (0, 1), from `width` above 0.

    It follows the errors, (n,), sizes in the order of their coming: each outside makes it wider,
    each inside narrower, so that the share outside is right in the long run, whatever comes.

    beside : (n,) becomes the logarithm of each error over the half width before it
    """
    at = math.log(width)
    for t in range(errors.shape[0]):
        beside[t] = math.log(errors[t]) - at if errors[t] > 0.0 else -np.inf
        at += STEP * (coverage if beside[t] > 0.0 else coverage - 1.0)
    return at


@njit(cache=True, nogil=True)
def deviation(errors, kept):
    """The root of the mean of the squares of errors, (n,), each later one weighing 1 / kept more.

    Infinite where there is none.
    """
    squares, weights, largest = 0.0, 0.0, 0.0
    for t in range(errors.shape[0]):
        largest = max(largest, abs(errors[t]))
    if errors.shape[0] == 0:
        return np.inf
    if largest == 0.0:
        return 0.0
    for t in range(errors.shape[0]):
        part = errors[t] / largest  # squares cannot overflow
        squares, weights = kept * squares + part * part, kept * weights + 1.0
    return largest * math.sqrt(squares / weights)
