"""Pair values: inner products, squared and Manhattan distances of points and examples.

The only code that touches features. Sparse is one function for each quantity; what follows is
shared with dense. CSR matrices arrive as (data, indices, indptr).
"""

import numpy as np
from numba import njit

from kernbrook._jit.arithmetic import fma

NEAR = 1e-6  # below this share of the norms a squared distance is taken from the difference


@njit(cache=True, nogil=True)
def sparse_norms(data, indptr):
    """(n,) squared norms of the rows of a CSR matrix."""
    n = indptr.shape[0] - 1
    norms = np.zeros(n)
    for i in range(n):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total = fma(data[k], data[k], total)
        norms[i] = total
    return norms


@njit(cache=True, nogil=True)
def dense_norms(rows):
    """(n,) squared norms of the rows, summed in the order of the features."""
    n, d = rows.shape
    norms = np.zeros(n)
    for i in range(n):
        total = 0.0
        for k in range(d):
            total = fma(rows[i, k], rows[i, k], total)
        norms[i] = total
    return norms


@njit(cache=True, nogil=True)
def feature_major(data, indices, indptr, place, n_places):
    """The rows of a CSR block as the columns of a dense (n_places, b) array.

    place : (d,) int, where each feature goes; every feature of the block has a place
    """
    b = indptr.shape[0] - 1
    columns = np.zeros((n_places, b))
    for i in range(b):
        for k in range(indptr[i], indptr[i + 1]):
            columns[place[indices[k]], i] = data[k]
    return columns


@njit(cache=True, nogil=True)
def sparse_inner(data, indices, indptr, first, columns, place, out):
    """out[s, :] = inner products of point first + s with the examples of the block.

    columns, place : the block as `feature_major` gives it; place is -1 where the block is 0
    """
    b = np.uintp(columns.shape[1])
    for s in range(np.uintp(out.shape[0])):
        for j in range(b):
            out[s, j] = 0.0
        for k in range(indptr[first + s], indptr[first + s + 1]):
            if place[indices[k]] >= 0:
                where = np.uintp(place[indices[k]])
                value = data[k]
                for j in range(b):
                    out[s, j] = fma(value, columns[where, j], out[s, j])


@njit(cache=True, nogil=True)
def _sparse_difference(data_a, indices_a, a, end_a, data_b, indices_b, b, end_b, manhattan):
    """Distance of two sparse rows: squared, or the sum of absolute differences."""
    total = 0.0
    while a < end_a or b < end_b:
        if b == end_b or (a < end_a and indices_a[a] < indices_b[b]):
            difference = data_a[a]
            a += 1
        elif a == end_a or indices_b[b] < indices_a[a]:
            difference = data_b[b]
            b += 1
        else:
            difference = data_a[a] - data_b[b]
            a += 1
            b += 1
        if manhattan:
            total += abs(difference)
        else:
            total = fma(difference, difference, total)
    return total


@njit(cache=True, nogil=True)
def _squared_row(inner, norm, norms, reach, out):
    """out = norm + norms - 2 inner; True if some of them are too close to be trusted."""
    close = 0
    for j in range(np.uintp(out.shape[0])):
        both = norm + norms[j]
        value = max(fma(-2.0, inner[j], both), 0.0)
        out[j] = value
        close += (value < NEAR * both) & (value <= reach + 1e-9 * both)
    return close > 0


@njit(cache=True, nogil=True)
def dense_squared(points, norms_points, block, norms_block, inner, reach, out):
    """out = squared distances; those of near-equal pairs from the difference.

    ||x||^2 + ||z||^2 - 2 x.z loses its digits where the distance is small beside the norms.
    """
    n, d = points.shape
    for s in range(n):
        if _squared_row(inner[s], norms_points[s], norms_block, reach, out[s]):
            for j in range(out.shape[1]):
                both = norms_points[s] + norms_block[j]
                if out[s, j] < NEAR * both and out[s, j] <= reach + 1e-9 * both:
                    total = 0.0
                    for k in range(d):
                        difference = points[s, k] - block[j, k]
                        total = fma(difference, difference, total)
                    out[s, j] = total


@njit(cache=True, nogil=True)
def sparse_squared(
    data, indices, indptr, first, norms_points, block, norms_block, inner, reach, out
):
    """As `dense_squared`, the points first.. and the block (data, indices, indptr) in CSR."""
    data_b, indices_b, indptr_b = block
    for s in range(out.shape[0]):
        if _squared_row(inner[s], norms_points[s], norms_block, reach, out[s]):
            for j in range(out.shape[1]):
                both = norms_points[s] + norms_block[j]
                if out[s, j] < NEAR * both and out[s, j] <= reach + 1e-9 * both:
                    out[s, j] = _sparse_difference(
                        data, indices, indptr[first + s], indptr[first + s + 1],
                        data_b, indices_b, indptr_b[j], indptr_b[j + 1], False,
                    )  # fmt: skip


@njit(cache=True, nogil=True)
def dense_manhattan(points, columns, out):
    """out[s, j] = sum over k of |points[s, k] - columns[k, j]|."""
    b = np.uintp(columns.shape[1])
    for s in range(points.shape[0]):
        for j in range(b):
            out[s, j] = 0.0
        for k in range(points.shape[1]):
            value = points[s, k]
            for j in range(b):
                out[s, j] += abs(value - columns[k, j])


@njit(cache=True, nogil=True)
def sparse_manhattan(data, indices, indptr, first, block, out):
    """As `dense_manhattan`, both in CSR."""
    data_b, indices_b, indptr_b = block
    for s in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[s, j] = _sparse_difference(
                data, indices, indptr[first + s], indptr[first + s + 1],
                data_b, indices_b, indptr_b[j], indptr_b[j + 1], True,
            )  # fmt: skip
