"""Loops over vectors: NumPy's own functions take ten times as long to compile."""

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.arithmetic import bits_float, float_bits

GREATEST = np.iinfo(np.int64).max


@njit(cache=True, nogil=True, forceinline=True)
def copy(source, target):
    """target[:] = source, of equal lengths."""
    for i in range(np.uintp(target.shape[0])):
        target[i] = source[i]


@njit(cache=True, nogil=True)
def fill_with(numbers, value):
    """numbers[:] = value."""
    for i in range(np.uintp(numbers.shape[0])):
        numbers[i] = value


@njit(cache=True, nogil=True)
def put_in_order(numbers):
    """Sort numbers, none of them NaN, in place. Shell (1959), A high-speed sorting procedure."""
    n, gap = numbers.shape[0], 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            number, k = numbers[i], i
            while k >= gap and numbers[k - gap] > number:
                numbers[k] = numbers[k - gap]
                k -= gap
            numbers[k] = number
        gap //= 3


@njit(cache=True, nogil=True)
def count_below(ordered, number, up_to):
    """How many of a rising vector are below a number; up_to : or equal to it."""
    low, high = 0, ordered.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < number or (up_to and ordered[middle] == number):
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def places_of(marks):
    """The places of those that are not 0, rising."""
    count = 0
    for i in range(marks.shape[0]):
        count += 1 if marks[i] else 0
    places = np.empty(count, dtype=np.int64)
    count = 0
    for i in range(marks.shape[0]):
        if marks[i]:
            places[count] = i
            count += 1
    return places


@njit(cache=True, nogil=True)
def greatest_of(numbers):
    """The greatest of a vector's; NaN where one is."""
    greatest = -np.inf
    for i in range(numbers.shape[0]):
        if numbers[i] != numbers[i]:
            return np.nan
        greatest = max(greatest, numbers[i])
    return greatest


@njit(cache=True, nogil=True)
def least(numbers):
    """The least of a vector's, none of which is NaN.

    By their bits, as integers in the same order, of which LLVM makes vector instructions.
    """
    found = np.int64(GREATEST)
    for i in range(len(numbers)):
        bits = float_bits(numbers[i])
        found = min(found, bits ^ ((bits >> 63) & GREATEST))
    return bits_float(found ^ ((found >> 63) & GREATEST))


@njit(cache=True, nogil=True)
def any_of(marks):
    """Whether one of a vector's is True."""
    found = False
    for i in range(marks.shape[0]):
        found |= marks[i]
    return found
