"""Pair values: inner products, squared and Manhattan distances of points and examples.

The only code that touches features. Sparse is one function for each quantity; what follows is
shared with dense. CSR matrices arrive as (data, indices, indptr).
"""

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.lanes import sum_products

NEAR = 1e-6  # below this share of the norms a squared distance is taken from the difference
SLACK = 1e-9  # of the norms: by so much a distance beyond the reach may be wrong


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
    """(n,) squared norms of the rows, summed in the order of the features.

    Four rows at a time: a sum waits for its last term.
    """
    n, d = rows.shape
    norms = np.zeros(n)
    for i in range(0, n - 3, 4):
        a, b, c, e = 0.0, 0.0, 0.0, 0.0
        for k in range(d):
            a = fma(rows[i, k], rows[i, k], a)
            b = fma(rows[i + 1, k], rows[i + 1, k], b)
            c = fma(rows[i + 2, k], rows[i + 2, k], c)
            e = fma(rows[i + 3, k], rows[i + 3, k], e)
        norms[i], norms[i + 1], norms[i + 2], norms[i + 3] = a, b, c, e
    for i in range(n - n % 4, n):
        total = 0.0
        for k in range(d):
            total = fma(rows[i, k], rows[i, k], total)
        norms[i] = total
    return norms


@njit(cache=True, nogil=True)
def feature_major(data, indices, indptr, place, columns):
    """The rows of a CSR block as the columns of a dense array, (places, b) out.

    place : (d,) int, where each feature goes; every feature of the block has a place
    """
    b = indptr.shape[0] - 1
    for feature in range(columns.shape[0]):
        for i in range(b):
            columns[feature, i] = 0.0
    for i in range(b):
        for k in range(indptr[i], indptr[i + 1]):
            columns[place[indices[k]], i] = data[k]


@njit(cache=True, nogil=True)
def sparse_inner(data, indices, indptr, first, columns, place, out):
    """out[s, :] = inner products of point first + s with the examples of the block.

    Summed in the order of the features, as `dense_inner` does: the same bits.

    columns, place : the block as `feature_major` gives it; place is -1 where the block is 0
    """
    room = columns.shape[0] + 1
    where, value = np.empty(room, dtype=np.uintp), np.empty(room)
    for s in range(np.uintp(out.shape[0])):
        here, end = indptr[first + s], indptr[first + s + 1]
        values, features = data[here:end], indices[here:end]
        sparse_inner_row(values, features, columns, place, where, value, s, 0, out)


@njit(cache=True, nogil=True)
def sparse_inner_row(data, indices, columns, place, where, value, s, lo, out):
    """out[s, lo:] = inner products of one point, these entries, with the examples from `lo` on.

    Some before `lo` are written, too.

    where, value : (present + 1,) scratch
    """
    n = np.uintp(0)
    for k in range(data.shape[0]):
        at = place[indices[k]]
        where[n] = np.uintp(at)
        value[n] = data[k]
        n += np.uintp(at >= 0)
    sum_products(value, where, n, columns, lo, out, s)


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


@njit(inline="always")
def _is_close(square, both, reach):
    """Whether a squared distance is too small, beside the sum of both norms, to be trusted."""
    return (square < NEAR * both) & (square <= reach + SLACK * both)


@njit(cache=True, nogil=True)
def _squared_row(inner, norm, norms, reach, out):
    """out = norm + norms - 2 inner; True if some of them are too close to be trusted."""
    close = False
    for j in range(np.uintp(out.shape[0])):
        both = norm + norms[j]
        value = max(fma(-2.0, inner[j], both), 0.0)
        out[j] = value
        close |= _is_close(value, both, reach)
    return close


@njit(cache=True, nogil=True)
def dense_squared(points, norms_points, which, block, norms_block, inner, reach, out):
    """out = squared distances; those of near-equal pairs from the difference.

    ||x||^2 + ||z||^2 - 2 x.z loses its digits where the distance is small beside the norms.

    which : as for `dense_inner`
    """
    d = points.shape[1]
    for s in range(out.shape[0]):
        p = s if which is None else which[s]
        if _squared_row(inner[s], norms_points[p], norms_block, reach, out[s]):
            for j in range(out.shape[1]):
                both = norms_points[p] + norms_block[j]
                if _is_close(out[s, j], both, reach):
                    total = 0.0
                    for k in range(d):
                        difference = points[p, k] - block[j, k]
                        total = fma(difference, difference, total)
                    out[s, j] = total


@njit(cache=True, nogil=True)
def sparse_squared(
    data, indices, indptr, first, norms_points, block, norms_block, inner, reach, out
):
    """`dense_squared` of the points first.. and the block (data, indices, indptr) in CSR."""
    for s in range(out.shape[0]):
        point = data, indices, indptr[first + s], indptr[first + s + 1], norms_points[s]
        sparse_squared_row(point, block, 0, norms_block, inner[s], reach, out[s])


@njit(cache=True, nogil=True)
def sparse_squared_row(point, block, begin, norms_block, inner, reach, out):
    """out = squared distances of one point from the rows from `begin` on of a CSR matrix.

    point : data, indices, the ends of the point's entries, and its squared norm
    """
    data, indices, here, end, norm = point
    data_b, indices_b, indptr_b = block
    if _squared_row(inner, norm, norms_block, reach, out):
        for j in range(out.shape[0]):
            both = norm + norms_block[j]
            if _is_close(out[j], both, reach):
                out[j] = _sparse_difference(
                    data, indices, here, end,
                    data_b, indices_b, indptr_b[begin + j], indptr_b[begin + j + 1], False,
                )  # fmt: skip


@njit(cache=True, nogil=True)
def dense_manhattan(points, which, columns, out):
    """out[s, j] = sum over k of |points[which[s], k] - columns[k, j]|; which as `dense_inner`."""
    b = np.uintp(columns.shape[1])
    for s in range(out.shape[0]):
        p = s if which is None else which[s]
        for j in range(b):
            out[s, j] = 0.0
        for k in range(points.shape[1]):
            value = points[p, k]
            for j in range(b):
                out[s, j] += abs(value - columns[k, j])


@njit(cache=True, nogil=True)
def sparse_manhattan(data, indices, indptr, first, block, out):
    """`dense_manhattan` of points and rows in CSR."""
    for s in range(out.shape[0]):
        point = data, indices, indptr[first + s], indptr[first + s + 1], 0.0
        sparse_manhattan_row(point, block, 0, out[s])


@njit(cache=True, nogil=True)
def sparse_manhattan_row(point, block, begin, out):
    """out = sums of absolute differences; as `sparse_squared_row`."""
    data, indices, here, end, _ = point
    data_b, indices_b, indptr_b = block
    for j in range(out.shape[0]):
        out[j] = _sparse_difference(
            data, indices, here, end,
            data_b, indices_b, indptr_b[begin + j], indptr_b[begin + j + 1], True,
        )  # fmt: skip
