"""What is compiled with less than numba's own way computes the same."""

import gc
import sys

import numba
import numpy as np
import pytest
from covering import pairwise
from numba.core.runtime import _nrt_python, rtsys

from kernbrook.compiler.compiling import njit


def read(array, out, places):
    for t in range(len(places)):
        out[-1 - t] = array[places[t]]


def read_pairs(array, out, places):
    for t in range(len(places)):
        i, j = places[t], places[len(places) - 1 - t]
        out[t] += array[i, j] + array[i][j] + array[-1, j]
        array[i, j] = out[t] > 5
        array[j, 0] += t


LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2, ...],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize(
    ("kind", "layout", "dtype"),
    pairwise(
        [np.int8, np.uint8, np.int32, np.uint64, np.int64],
        LAYOUTS,
        [np.float32, np.float64, bool, np.int16],
    ),
)
def test_elements_of_arrays(kind, layout, dtype):
    """As of numba itself: negative and unsigned indices, elements that are cast, all layouts."""
    signed = np.issubdtype(kind, np.signedinteger)
    places = np.array([0, 3, -1, -4] if signed else [0, 3, 1, 2], dtype=kind)
    for function, shape in ((read, 4), (read_pairs, (4, 4))):
        found = []
        for compiled in (njit()(function), numba.njit(function)):
            array = LAYOUTS[layout](np.arange(np.prod(shape)).reshape(shape).astype(dtype))
            out = np.zeros(4)
            compiled(array, out, places)
            found.append((array, out))
        for mine, expected in zip(*found, strict=True):
            np.testing.assert_array_equal(mine, expected)


def ours(function):
    """Compiled as a function of the package."""
    function.__module__ = "kernbrook.compiler.lean"
    return njit()(function)


@ours
def part_of(array, i):
    return array[i:]


@ours
def made(array):
    fresh = np.empty(len(array))
    fresh[:] = array
    return fresh


@ours
def total(array, n):
    """Borrows, takes parts, and has what is made and what it hands on counted."""
    all_of = 0.0
    for i in range(n):
        one, own = part_of(array, i), made(array)
        row = own.reshape(1, len(array))[0]
        all_of += one[0] + row[-1]
    return all_of


@ours
def shape_and_sum(array):
    row = array[1]
    every = 0.0
    for j in range(array.shape[1]):
        every += row[j]
    return every


@ours
def moved_on(array):
    array[1:] = array[:-1]


def test_what_overlaps_is_copied_first():
    array = np.arange(5.0)
    moved_on(array)
    assert array.tolist() == [0, 0, 1, 2, 3]


def test_references_are_counted_where_arrays_are_made():
    array, table = np.arange(4.0), np.arange(8.0).reshape(2, 4)
    before = sys.getrefcount(array), sys.getrefcount(table)
    for _ in range(50):
        assert total(array, 4) == 6.0 + 4 * 3.0
        assert shape_and_sum(table) == 22.0
        kept = part_of(array, 1)
        assert sys.getrefcount(array) > before[0]
        del kept
    gc.collect()
    assert (sys.getrefcount(array), sys.getrefcount(table)) == before
    _nrt_python.memsys_enable_stats()
    stats = rtsys.get_allocation_stats()
    total(array, 4)
    after = rtsys.get_allocation_stats()
    assert after.alloc - stats.alloc == after.free - stats.free > 0
