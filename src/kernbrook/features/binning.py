"""Features cut into bins, and their ranks, by a sample of the rows so far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import COUNTED
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.numerics.draws import DRAW_SAMPLE, PURPOSE, uniform
from kernbrook.numerics.vectors import put_in_order

BINS = 32  # of a feature
SAMPLE = 1024  # rows
FIRST, LAST = 16, 4096  # rows after which edges are set: 16, 32, ..., 4096
PART = 16  # one of so many bins lies at either end, half as wide as the one before it
HUGE = 1e30  # greater values count as this

Singles = NDArray[np.float32]
Ints = NDArray[np.int32]


class Bins(NamedTuple):
    """What is known of d features.

    sample : (SAMPLE, d) rows, each of those so far as likely as any other
    edges : (d, bins + 1) the least value, the edges between bins, and the greatest
    levels : (d, bins + 1) the share of the sample up to there
    inner : (d,) how many edges lie between bins; -1: none is known yet
    met : (1,) int, rows so far
    """

    sample: Singles
    edges: Singles
    levels: Singles
    inner: Ints
    met: NDArray[np.int64]


class Placed(NamedTuple):
    """A row of d features: values, ranks from 0 to 1, and numbers of bins."""

    values: Singles
    ranks: Singles
    bins: Ints


def no_bins(d: int, bins: int = BINS) -> Bins:
    """Before the first row, with room for so many bins of each feature."""
    f4 = np.float32
    edges, levels = np.zeros((d, bins + 1), f4), np.zeros((d, bins + 1), f4)
    sample, inner = np.zeros((SAMPLE, d), f4), np.full(d, -1, np.int32)
    return Bins(sample, edges, levels, inner, np.zeros(1, np.int64))


def placed(d: int) -> Placed:
    """Room for one row."""
    return Placed(np.zeros(d, np.float32), np.zeros(d, np.float32), np.zeros(d, np.int32))


def check_ranges(arrays: Any, **ranges: tuple[float, float]) -> None:
    """Raise InputError where numbers of a field are not finite, or beyond the least or the most."""
    for name, (least, most) in ranges.items():
        numbers = getattr(arrays, name)
        if not np.isfinite(numbers).all():
            raise InputError(f"{name}: NaN or infinity")
        room = 1.001 if numbers.dtype.kind == "f" else 1  # in single precision
        if ((numbers < room * least) | (numbers > room * most)).any():
            raise InputError(f"{name}: expected {least:g} to {most:g}")


def check(bins: Bins) -> None:
    """Raise InputError where numbers are beyond their ranges."""
    huge, inner = (-HUGE, HUGE), (-1, bins.edges.shape[1] - 2)
    check_ranges(bins, sample=huge, edges=huge, levels=huge, inner=inner, met=(0, COUNTED))


@njit(cache=True, nogil=True)
def place(bins, x, row):
    """Find where a row, (d,), lies; row : out."""
    for j in range(x.shape[0]):
        value = np.float32(min(max(x[j], -HUGE), HUGE) if x[j] == x[j] else 0.0)
        row.values[j] = value
        inner = bins.inner[j]
        if inner <= 0:
            row.ranks[j], row.bins[j] = 0.0, 0
            continue
        edges, levels = bins.edges[j], bins.levels[j]
        low, high = 0, inner  # how many of the edges between bins are below the value
        while low < high:
            middle = (low + high) >> 1
            if value > edges[middle + 1]:
                low = middle + 1
            else:
                high = middle
        row.bins[j] = low
        width = edges[low + 1] - edges[low]
        share = (value - edges[low]) / width if width > 0.0 else np.float32(0.0)
        share = min(max(share, np.float32(0.0)), np.float32(1.0))
        row.ranks[j] = levels[low] + share * (levels[low + 1] - levels[low])


@njit(cache=True, nogil=True)
def keep_row(bins, row, seed, number):
    """Take a row into the sample, or not. Returns whether the edges have moved.

    Vitter (1985), Random sampling with a reservoir.
    """
    size, at = bins.sample.shape[0], bins.met[0]
    met = min(at + 1, COUNTED)
    bins.met[0] = met
    if at >= size:
        at = np.int64(uniform(seed, number, DRAW_SAMPLE * PURPOSE) * met)
    if at < size:
        for j in range(row.values.shape[0]):
            bins.sample[at, j] = row.values[j]
    due = FIRST
    while due < met and due < LAST:
        due *= 2
    if due != met or met > LAST:
        return False
    for j in range(row.values.shape[0]):
        set_edges(bins, j, min(met, size))
    return True


@njit(cache=True, nogil=True)
def part_of(i, n, most):
    """The number, from 0, of the part of n values, of `most`, in which value i lies."""
    ends = most // PART
    even = most - 2 * ends
    part = i * even // n
    for k in range(1, ends + 1):
        part += 1 if (i * even) << k >= n else 0
        part += 1 if ((n - i) * even) << k <= n else 0
    return part


@njit(cache=True, nogil=True)
def set_edges(bins, j, n):
    """Set the edges of feature j by the first n rows of the sample.

    Between all values, where these are few; else so that bins have about equal counts, but for the
    ends, where a few great values may decide.
    """
    values, edges, levels = np.empty(n, np.float32), bins.edges[j], bins.levels[j]
    most = edges.shape[0] - 1
    for i in range(n):
        values[i] = bins.sample[i, j]
    put_in_order(values)
    different = 1
    for i in range(1, n):
        different += 1 if values[i] > values[i - 1] else 0
    inner, filled = 0, 0
    edges[0], levels[0] = values[0], 0.0
    for i in range(1, n):
        if not values[i] > values[i - 1]:
            continue
        part = part_of(i, n, most)
        if different <= most:
            middle = values[i - 1] + (values[i] - values[i - 1]) * np.float32(0.5)
            edge = min(middle, values[i])
        elif part > filled:
            edge = values[i - 1]
        else:
            continue
        inner, filled = inner + 1, part
        edges[inner], levels[inner] = edge, i / n
    edges[inner + 1], levels[inner + 1] = values[n - 1], 1.0
    bins.inner[j] = inner
