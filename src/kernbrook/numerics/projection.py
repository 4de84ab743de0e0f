"""Projections on the span of support vectors, from kernel values alone.

The Gram matrix of n support vectors is kept as R'R, R upper triangular with the reciprocals of its
diagonal in their place. Support vectors come in any order: `order[i]` is the slot of the i-th.
To add one is a column more, to remove one is plane rotations of the rows below it, O(n^2) each.
Nothing is subtracted from R, and every column is rounded beside its own norm only: errors do not
build up, and kernel values of 1 and of 1e18 go together.
"""

import math

import numpy as np

from kernbrook.compiler.compiling import njit

# A squared distance to the span below this share of k(x, x) is within the rounding: x is in it.
SMALLEST_PIVOT = 1e-8


@njit(cache=True, nogil=True)
def reduce(factor, order, n, row, reduced):
    """reduced = R'^-1 of a point's kernel values with the slots, `row`.

    Returns the squared norm of the point's projection on the span of the n support vectors.
    """
    for i in range(n):
        reduced[i] = row[order[i]]
    whole, stop = n & ~3, np.uintp(n)
    for i in range(0, whole, 4):  # four rows at a time: the others are read and written once
        first, second, third, fourth = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        a = reduced[i] * first[i]
        b = (reduced[i + 1] - a * first[i + 1]) * second[i + 1]
        c = (reduced[i + 2] - a * first[i + 2] - b * second[i + 2]) * third[i + 2]
        d = reduced[i + 3] - a * first[i + 3] - b * second[i + 3] - c * third[i + 3]
        d *= fourth[i + 3]
        reduced[i], reduced[i + 1], reduced[i + 2], reduced[i + 3] = a, b, c, d
        for j in range(np.uintp(i + 4), stop):
            rest = reduced[j] - a * first[j] - b * second[j]
            reduced[j] = rest - c * third[j] - d * fourth[j]
    for i in range(whole, n):
        reduced[i] *= factor[i, i]
        for j in range(np.uintp(i + 1), stop):
            reduced[j] -= reduced[i] * factor[i, j]
    square = 0.0
    for i in range(n):
        square += reduced[i] * reduced[i]
    return square


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _dots(factor, i, values, start, stop):
    """Products of the rows i..i+3 with the values from `start` on."""
    first, second, third, fourth = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for j in range(start, stop):
        value = values[j]
        a += first[j] * value
        b += second[j] * value
        c += third[j] * value
        d += fourth[j] * value
    return a, b, c, d


@njit(cache=True, nogil=True)
def project(factor, order, n, reduced, out):
    """out[slot] = the projection's coefficients; `reduced`, from `reduce`, is overwritten."""
    whole, stop = n & ~3, np.uintp(n)
    for i in range(n - 1, whole - 1, -1):
        for j in range(i + 1, n):
            reduced[i] -= factor[i, j] * reduced[j]
        reduced[i] *= factor[i, i]
    for i in range(whole - 4, -1, -4):  # four rows at a time
        first, second, third = factor[i], factor[i + 1], factor[i + 2]
        a, b, c, d = _dots(factor, i, reduced, np.uintp(i + 4), stop)
        d = (reduced[i + 3] - d) * factor[i + 3, i + 3]
        c = (reduced[i + 2] - c - third[i + 3] * d) * third[i + 2]
        b = (reduced[i + 1] - b - second[i + 3] * d - second[i + 2] * c) * second[i + 1]
        a = reduced[i] - a - first[i + 3] * d - first[i + 2] * c - first[i + 1] * b
        a *= first[i]
        reduced[i], reduced[i + 1], reduced[i + 2], reduced[i + 3] = a, b, c, d
    for i in range(n):
        out[order[i]] = reduced[i]


@njit(cache=True, nogil=True)
def append(factor, order, n, slot, reduced, square):
    """A slot joins as the last; `square` > 0 is its squared distance to the span of the others."""
    for i in range(n):
        factor[i, n] = reduced[i]
    factor[n, n] = 1.0 / math.sqrt(square)
    order[n] = slot


@njit(cache=True, nogil=True)
def gather(factor, order, gram, slots, ridge):
    """The factor of some slots, of K + ridge diag K for their kernel values; how many joined.

    Those within the rounding of the span of those before do not join.

    factor, order : out; gram : (B, B) kernel values of slots
    """
    n, reduced = 0, np.empty(len(slots))
    for s in slots:
        square = (1.0 + ridge) * gram[s, s] - reduce(factor, order, n, gram[s], reduced)
        if square > SMALLEST_PIVOT * gram[s, s]:
            append(factor, order, n, s, reduced, square)
            n += 1
    return n


@njit(cache=True, nogil=True)
def remove(factor, order, n, slot):
    """A slot leaves; the others keep their order."""
    gone = 0
    while order[gone] != slot:
        gone += 1
    for i in range(gone):
        for j in range(gone + 1, n):
            factor[i, j - 1] = factor[i, j]
    # Rows below: R'R + r r' for the removed row r, one rotation a row.
    rest = factor[gone, :n].copy()
    stop = np.uintp(n)
    for i in range(gone + 1, n):
        source, target = factor[i], factor[i - 1]
        old = 1.0 / source[i]
        new = math.hypot(old, rest[i])
        cosine, sine = old / new, rest[i] / new
        target[i - 1] = 1.0 / new
        for j in range(np.uintp(i + 1), stop):
            kept = source[j]
            target[j - np.uintp(1)] = cosine * kept + sine * rest[j]
            rest[j] = cosine * rest[j] - sine * kept
        order[i - 1] = order[i]
