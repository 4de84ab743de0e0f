"""Tests of numbers: zero up to rounding, and finite."""

import numpy as np

from kernbrook.compiler.compiling import njit

ZERO = 1e-12  # a sum within this share of the sum of its terms' sizes is zero: exact cancellation


@njit(cache=True, nogil=True)
def zero_or(total, size):
    """The sum, or 0 where it is no more than the rounding of its terms."""
    return 0.0 if abs(total) <= ZERO * size else total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def finite(numbers):
    """Whether all of a vector's are: what is not, is not 0 times 0."""
    total = 0.0
    for i in range(np.uintp(numbers.shape[0])):
        total += 0.0 * numbers[i]
    return total == 0.0
