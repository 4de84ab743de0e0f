"""Storage: points that come and go, and arrays that begin with a cache line."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.vectors import fill_with, places_of

LINE = 64  # bytes


def aligned(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """An array, not filled in, that begins with a cache line.

    So do its rows, if their length allows it. A vector that lies in two lines takes twice the time.
    """
    size = 8 * math.prod(shape)
    room = np.empty(size + LINE, dtype=np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(np.float64).reshape(shape)


@njit(cache=True, nogil=True)
def renumber(place, filled, points):
    """Number the points that some slot holds from 0 on, in their order; (u,) the points in use.

    place : (e, B) number of the point that a slot holds, changed; filled : (e,) slots in use
    points : number of points
    """
    number = np.zeros(points, dtype=np.int64)
    for e in range(place.shape[0]):
        for s in range(filled[e]):
            number[place[e, s]] = 1
    used = places_of(number)
    for i in range(len(used)):
        number[used[i]] = i
    for e in range(place.shape[0]):
        for s in range(filled[e]):
            place[e, s] = number[place[e, s]]
    return used


@njit(cache=True, nogil=True)
def spread_coefficients(alpha, scale, place, filled, out):
    """out[p, e c + k] = expert e's coefficient of point p for score k; alpha : (e, c, B)."""
    fill_with(out.reshape(-1), 0.0)
    classes = alpha.shape[1]
    for e in range(place.shape[0]):
        for c in range(classes):
            for s in range(filled[e]):
                out[place[e, s], e * classes + c] = scale[e] * alpha[e, c, s]


@njit(cache=True, nogil=True)
def move_dense(rows, which, out, start):
    """out[start + i] = rows[which[i]]; `rows` may be `out` where `which` rises."""
    for i in range(len(which)):
        for k in range(rows.shape[1]):
            out[start + i, k] = rows[which[i], k]


@njit(cache=True, nogil=True)
def count_entries(indptr, first, which):
    """Entries of the CSR rows first + which."""
    total = 0
    for row in which:
        total += indptr[first + row + 1] - indptr[first + row]
    return total


@njit(cache=True, nogil=True)
def move_sparse(data, indices, indptr, first, which, data_out, indices_out, indptr_out, start):
    """CSR rows first + which, after the first `start` rows of the outputs.

    The inputs may be the outputs where `which` rises and start is 0.
    """
    filled = indptr_out[start]
    for i in range(len(which)):
        lo, hi = indptr[first + which[i]], indptr[first + which[i] + 1]
        for k in range(lo, hi):
            data_out[filled] = data[k]
            indices_out[filled] = indices[k]
            filled += 1
        indptr_out[start + i + 1] = filled


@njit(cache=True, nogil=True)
def find_rows(bits, holds):
    """How many rows, (n, d) as whole numbers, hold something; holds : (n,) bool, out, which."""
    count = 0
    for i in range(bits.shape[0]):
        any_there = False
        for j in range(bits.shape[1]):
            any_there |= bits[i, j] != 0
        holds[i] = any_there
        count += any_there
    return count


@njit(cache=True, nogil=True)
def spread_rows(rows, holds, out):
    """The rows one after the other at the places that are there; out : (n, d)."""
    k = 0
    for i in range(holds.shape[0]):
        if holds[i]:
            for j in range(out.shape[1]):
                out[i, j] = rows[k, j]
            k += 1
