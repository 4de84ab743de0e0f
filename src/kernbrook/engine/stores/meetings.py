"""A block of examples as points meet it: window by window, as the block is gone through.

A window's pair values with the points that are held when it begins are computed together; an
example that joins these points meets the rest of its window by itself. So a block may be long, and
what is computed does not depend on its length.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import Option, Verb, njit
from kernbrook.compiler.links import Cube, Numbers, family
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.gram.rows import WIDEST, DenseRows, Rows, SparseRows, numbers_among
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.lanes import dense_inner, lay_across, sum_products
from kernbrook.numerics.pairs import (
    dense_manhattan,
    dense_squared,
    feature_major,
    sparse_inner_row,
    sparse_manhattan_row,
    sparse_squared_row,
)
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, MANHATTAN, SQUARED
from kernbrook.numerics.storage import aligned

TILE = 256  # points that meet a window together: what a second-level cache holds


class Common(NamedTuple):
    """The fields that both forms of a meeting have.

    codes : (channels,) int; reach : as in `Plan`
    given : (kernels, points, b) values of kernels that are called; the block's rows are the last
    """

    codes: Ints
    reach: float
    given: Floats


class DenseMeeting(NamedTuple):
    """Dense points and examples.

    points, norms : (n, d) and (n,) squared norms
    rows, row_norms : the same of the block, (b, d) and (b,)
    columns : (b d,) the rows of each window transposed
    """

    common: Common
    points: Floats
    norms: Floats
    rows: Floats
    row_norms: Floats
    columns: Floats


class SparseMeeting(NamedTuple):
    """Points and examples in CSR; the block's rows are the last.

    data, indices, indptr, norms : of all
    first : the block's first row
    numbers : (entries,) int, the features' numbers among those that have a place
    place : (groups, features) int, of each the row of `columns`; -1: none
    columns : (groups, size) the window's rows, feature-major
    entries : (groups, 3) int, the window's first, its last, and how many features are in it
    where, value : (groups, size) scratch
    """

    common: Common
    data: Floats
    indices: Ints
    indptr: Ints
    norms: Floats
    first: int
    numbers: Ints
    place: Ints
    columns: Floats
    entries: Ints
    where: NDArray[np.uintp]
    value: Floats


@Option
def turn_to(meeting: Any, group: int, lo: int, hi: int) -> None:
    """Begin with the window of the rows lo..hi-1, for one of several groups; nothing by default."""


@Verb
def meet_points(meeting: Any, group: int, which: Numbers, lo: int, hi: int, out: Cube) -> None:
    """out = (channels, n, hi - lo) pair values of the points `which`, (n,), and the window."""
    raise NotImplementedError


@Verb
def meet_row(meeting: Any, group: int, t: int, lo: int, hi: int, out: Cube) -> None:
    """out[:, 0, t + 1 - lo : hi - lo] = pair values of row t and later rows of the window.

    out : (channels, 1, hi - lo or more); values of earlier rows are written, too
    """
    raise NotImplementedError


family(turn_to, meet_points, meet_row)


@njit(cache=True, nogil=True)
def window_columns(columns, lo, hi, d):
    """(d, hi - lo) the rows of a window, transposed."""
    return columns[lo * d : hi * d].reshape((d, hi - lo))


@njit(cache=True, nogil=True)
def transpose(rows, window, out):
    """out = (b d,) the rows, (b, d), of each window transposed."""
    b, d = rows.shape
    for lo in range(0, b, window):
        hi = min(lo + window, b)
        lay_across(rows, lo, hi - lo, window_columns(out, lo, hi, d), 0)


@meet_points.of(DenseMeeting)
def _meet_dense_points(meeting, group, which, lo, hi, out):
    common, points, norms = meeting.common, meeting.points, meeting.norms
    columns = window_columns(meeting.columns, lo, hi, points.shape[1])
    for i in range(common.codes.shape[0]):
        code = common.codes[i]
        if code == INNER:
            dense_inner(points, which, columns, out[i])
        elif code == SQUARED:
            rows, row_norms = meeting.rows[lo:hi], meeting.row_norms[lo:hi]
            dense_squared(points, norms, which, rows, row_norms, out[0], common.reach, out[i])
        elif code == MANHATTAN:
            dense_manhattan(points, which, columns, out[i])
        else:
            for s in range(which.shape[0]):
                copy_given(common, code, which[s], lo, hi, out[i, s])


@njit(cache=True, nogil=True)
def copy_given(common, code, point, start, end, out):
    """The values of a kernel that is called, of a point and the rows start..end-1."""
    for j in range(end - start):
        out[j] = common.given[code - FIRST_GIVEN, point, start + j]


@meet_row.of(DenseMeeting)
def _meet_dense_row(meeting, group, t, lo, hi, out):
    common, d, first = meeting.common, meeting.rows.shape[1], t + 1 - lo
    columns = window_columns(meeting.columns, lo, hi, d)
    for i in range(common.codes.shape[0]):
        code = common.codes[i]
        if code == INNER:
            sum_products(meeting.rows[t], None, d, columns, first, out[i], 0)
        elif code == SQUARED:
            row, norm = meeting.rows[t : t + 1], meeting.row_norms[t : t + 1]
            rows, norms = meeting.rows[t + 1 : hi], meeting.row_norms[t + 1 : hi]
            later = hi - t - 1
            inner = out[0, 0, first : hi - lo].reshape((1, later))
            square = out[i, 0, first : hi - lo].reshape((1, later))
            dense_squared(row, norm, None, rows, norms, inner, common.reach, square)
        elif code == MANHATTAN:
            dense_manhattan(meeting.rows[t : t + 1], None, columns, out[i])
        else:
            place = common.given.shape[1] - common.given.shape[2] + t
            copy_given(common, code, place, t + 1, hi, out[i, 0, first : hi - lo])


@turn_to.of(SparseMeeting)
def _turn_to(meeting, group, lo, hi):
    place, numbers, entries = meeting.place[group], meeting.numbers, meeting.entries[group]
    for k in range(entries[0], entries[1]):
        place[numbers[k]] = -1
    entries[0], entries[1] = meeting.indptr[meeting.first + lo], meeting.indptr[meeting.first + hi]
    present = 0
    for k in range(entries[0], entries[1]):
        if place[numbers[k]] < 0:
            place[numbers[k]] = present
            present += 1
    entries[2] = present
    rows = meeting.indptr[meeting.first + lo : meeting.first + hi + 1]
    feature_major(meeting.data, numbers, rows, place, sparse_columns(meeting, group, lo, hi))


@njit(cache=True, nogil=True)
def sparse_columns(meeting, group, lo, hi):
    """(present, hi - lo) the rows of a window, feature-major."""
    present = meeting.entries[group, 2]
    return meeting.columns[group, : present * (hi - lo)].reshape((present, hi - lo))


@meet_points.of(SparseMeeting)
def _meet_sparse_points(meeting, group, which, lo, hi, out):
    for s in range(which.shape[0]):
        meet_sparse(meeting, group, which[s], lo, hi, lo, s, out)


@meet_row.of(SparseMeeting)
def _meet_sparse_row(meeting, group, t, lo, hi, out):
    meet_sparse(meeting, group, meeting.first + t, lo, hi, t + 1, 0, out)


@njit(cache=True, nogil=True)
def meet_sparse(meeting, group, point, lo, hi, start, s, out):
    """out[:, s, start - lo:] = pair values of a point and the rows start..hi-1."""
    common, columns = meeting.common, sparse_columns(meeting, group, lo, hi)
    data, indices, indptr, first = meeting.data, meeting.indices, meeting.indptr, meeting.first
    here, end = indptr[point], indptr[point + 1]
    entries, all_entries = (data, indices, here, end, meeting.norms[point]), (data, indices, indptr)
    skip, w = start - lo, hi - lo
    for i in range(common.codes.shape[0]):
        code, later = common.codes[i], out[i, s, skip:w]
        if code == INNER:
            sparse_inner_row(
                data[here:end], meeting.numbers[here:end], columns, meeting.place[group],
                meeting.where[group], meeting.value[group], s, skip, out[i],
            )  # fmt: skip
        elif code == SQUARED:
            norms = meeting.norms[first + start : first + hi]
            inner = out[0, s, skip:w]
            sparse_squared_row(
                entries, all_entries, first + start, norms, inner, common.reach, later
            )
        elif code == MANHATTAN:
            sparse_manhattan_row(entries, all_entries, first + start, later)
        else:
            copy_given(common, code, point, start, hi, later)


def meeting_of(
    points: Rows, rows: Rows, layout: Layout, given: Floats, window: int, groups: int
) -> DenseMeeting | SparseMeeting:
    """How points, which block rows may follow, and a block of rows meet.

    given : see `Common`; groups : of experts, which go through the block apart from each other
    """
    plan = layout.plan
    common = Common(np.array(layout.channels), plan.reach, given)
    if isinstance(points, DenseRows):
        assert isinstance(rows, DenseRows)
        columns = aligned((rows.X.size,))
        transpose(rows.X, window, columns)
        return DenseMeeting(common, points.X, points.norms, rows.X, rows.norms, columns)
    assert isinstance(rows, SparseRows)
    data, indices, indptr = points.csr()
    first, width, numbers = len(points) - len(rows), points.width, indices
    if width > WIDEST:  # a number for each feature of the block, and one for all others
        features = np.unique(indices[indptr[first] :])
        width = len(features) + 1
        numbers = numbers_among(features, indices)
    ends = indptr[first:][::window]
    most = min(int(np.diff(np.append(ends, indptr[-1])).max(initial=0)), width)
    return SparseMeeting(
        common, data, indices, indptr, points.norms, first, numbers,
        np.full((groups, width), -1), aligned((groups, most * min(window, len(rows)))),
        np.zeros((groups, 3), dtype=np.int64), np.empty((groups, most + 1), dtype=np.uintp),
        np.empty((groups, most + 1)),
    )  # fmt: skip


def join_rows(points: Rows, rows: Rows) -> Rows:
    """The points, then the rows: one after the other in memory."""
    norms = np.concatenate([points.norms, rows.norms])
    keys = np.concatenate([points.keys, rows.keys])
    if isinstance(points, DenseRows) and isinstance(rows, DenseRows):
        return DenseRows(np.concatenate([points.X, rows.X]), norms, keys)
    assert isinstance(points, SparseRows)
    assert isinstance(rows, SparseRows)
    first, second = points.csr(), rows.csr()
    data, indices = (np.concatenate(both) for both in zip(first[:2], second[:2], strict=True))
    indptr = np.concatenate([first[2], first[2][-1] + second[2][1:]])
    return SparseRows(data, indices, indptr, 0, norms, keys, rows.width)
