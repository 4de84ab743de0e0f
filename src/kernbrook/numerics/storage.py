"""Storage: numbers of points, rows that hold something, arrays that begin with a cache line."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.vectors import places_of

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
