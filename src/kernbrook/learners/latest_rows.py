"""The last rows, of which `BoostedTrees` fits its trees.

The rows lie in a ring. Of each row the window has the codes of its features: the number of the bin,
counted through all features. The most frequent bin of a feature has no code, so a row costs what it
has beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.binning import HUGE, LAST, Bins, check_bounded
from kernbrook.features.grown_partitions import MOST_SUM
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.learners.cell_steps import MOST_LABEL


class Window(NamedTuple):
    """The last m rows: row t of all is at t % m.

    values : (m, d) of the first rows, as long as bins may move; none once they stay
    bins : (m, d) numbers of bins
    codes, counts : (m, d) of each row the codes, (m,) how many
    labels, weights : (m,) numbers, or numbers of classes; of the rows
    sums : (m, c) of the weights of the leaves
    leaves : (n, m) where the row lies in each tree
    usual, begins : (d,) the bin of each feature that has no code; (d + 1,) where its codes begin
    total : (1,) int, of all counts
    """

    values: NDArray[np.float32]
    bins: NDArray[np.uint8]
    codes: NDArray[np.uint16]
    counts: NDArray[np.int32]
    labels: Floats
    weights: NDArray[np.float32]
    sums: Floats
    leaves: NDArray[np.uint8]
    usual: NDArray[np.int32]
    begins: NDArray[np.int32]
    total: Ints


def no_window(m: int, d: int, c: int, n: int) -> Window:
    """Before the first row."""
    f4, i4 = np.float32, np.int32
    return Window(
        np.zeros((min(m, LAST), d), f4), np.zeros((m, d), np.uint8), np.zeros((m, d), np.uint16),
        np.zeros(m, i4), np.zeros(m), np.zeros(m, f4), np.zeros((m, c)),
        np.zeros((n, m), np.uint8), np.zeros(d, i4), np.arange(d + 1, dtype=i4),
        np.zeros(1, np.int64),
    )  # fmt: skip


def check_window(window: Window, bins: Bins, nodes: int, classes: int | None) -> None:
    """Raise InputError where numbers are beyond their ranges.

    nodes : of a tree; classes : None for numbers
    """
    d = len(bins.inner)
    for name, most in (("values", HUGE), ("labels", MOST_LABEL), ("sums", MOST_SUM)):
        check_bounded(name, getattr(window, name), most)
    check_bounded("weights", window.weights, HUGE)
    if (window.weights < 0).any():
        raise InputError("weights: expected no number below 0")
    if classes is not None and not np.isin(window.labels, np.arange(classes)).all():
        raise InputError(f"labels: expected classes, 0 to {classes - 1}")
    inner = np.maximum(bins.inner, 0)
    if not np.array_equal(window.begins, np.concatenate([[0], np.cumsum(inner + 1)])):
        raise InputError("begins: expected where the bins of each feature begin")
    if not ((window.usual >= 0) & (window.usual <= inner)).all():
        raise InputError("usual: expected a bin of each feature")
    if not ((window.counts >= 0) & (window.counts <= d)).all():
        raise InputError(f"counts: expected 0 to {d}")
    codes = bins.edges.size - d
    if (window.codes >= codes).any():
        raise InputError(f"codes: expected less than {codes}")
    if (window.leaves >= nodes).any():
        raise InputError("leaves: expected nodes that there are")


@njit(cache=True, nogil=True)
def number_bins(window, bins):
    """Bins have moved: their numbers through all features, and which are the most frequent."""
    for j in range(window.usual.shape[0]):
        inner, most = max(bins.inner[j], 0), np.float32(-1.0)
        window.begins[j + 1] = window.begins[j] + inner + 1
        for b in range(inner + 1):
            share = bins.levels[j, b + 1] - bins.levels[j, b]
            if share > most:
                most, window.usual[j] = share, b


@njit(cache=True, nogil=True)
def encode(window, row, at):
    """Write bins and codes of a row, which is placed."""
    count = 0
    for j in range(row.bins.shape[0]):
        window.bins[at, j] = row.bins[j]
        if row.bins[j] != window.usual[j]:
            window.codes[at, count] = window.begins[j] + row.bins[j]
            count += 1
    window.total[0] += count - window.counts[at]
    window.counts[at] = count
