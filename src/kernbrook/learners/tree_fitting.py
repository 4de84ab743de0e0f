"""The last rows, and a tree of `BoostedTrees` that is grown on them.

The rows lie in a ring. Of each row the window has the codes of its features: the number of the bin,
counted through all features. The most frequent bin of a feature has no code, so a row costs what it
has beside it.

A leaf adds up the slopes of its rows by codes; the sums of the bin that has no code are what all
others leave. Of two children the sums of the smaller one are added up, and those of the other are
what is left of their parent's. The leaf whose best cut gains most is cut first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.binning import HUGE, LAST, Bins, check_ranges
from kernbrook.features.grown_partitions import (
    ANY_SUM,
    ANY_WEIGHT,
    LARGEST_WEIGHT,
    MOST_SUM,
    NOBODY,
)
from kernbrook.features.leaf_sums import SMOOTH, best_cut_of, part_of_gain
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.learners.cell_steps import MOST_LABEL, OFFSET, SCALE, SIZE, slope_of_class
from kernbrook.numerics.vectors import copy, fill_with

BINS = 64  # of a feature
LEAST, LEAST_ROWS = 1.5, 20.0  # curvature of a child; of numbers it is the weight of its rows
FAR = 20.0  # mean sizes of residuals, at which those of the rows and weights of leaves are cut
GAIN = 1e-3  # of a cut
BETTER = 1.0 + 1e-9  # times as great is a greater gain: of equal cuts the first one is taken
MOST_STEP = 4.0  # of a leaf, of classes, before it is shortened
PER_ROW = 8  # what a row costs beside its codes, as if it had so many more


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
    check_ranges(
        window, values=(-HUGE, HUGE), labels=(-MOST_LABEL, MOST_LABEL), sums=ANY_SUM,
        weights=(0, HUGE), counts=(0, d), codes=(0, bins.edges.size - d - 1), leaves=(0, nodes - 1),
    )  # fmt: skip
    if classes is not None and not np.isin(window.labels, np.arange(classes)).all():
        raise InputError(f"labels: expected classes, 0 to {classes - 1}")
    inner = np.maximum(bins.inner, 0)
    if not np.array_equal(window.begins, np.concatenate([[0], np.cumsum(inner + 1)])):
        raise InputError("begins: expected where the bins of each feature begin")
    if not ((window.usual >= 0) & (window.usual <= inner)).all():
        raise InputError("usual: expected a bin of each feature")


class Fitted(NamedTuple):
    """n trees of up to s nodes: node 0 is the root.

    inputs : (n, s) the feature of a cut; NOBODY: a leaf
    cuts : (n, s) the greatest value that goes to the first child
    links : (n, s) of a cut its first child, which the second follows
    weights : (n, s, c) of leaves
    """

    inputs: NDArray[np.int32]
    cuts: NDArray[np.float32]
    links: NDArray[np.int32]
    weights: NDArray[np.float32]


class Room(NamedTuple):
    """Scratch, for trees of s nodes and l leaves.

    slopes : (m, c + 1) gradients and curvature of the rows
    order, later : (m,) rows by nodes, and of one node
    sums : (l, bins, c + 1) of slopes
    at, first, last : (s,) of a node its sums; where its rows begin and end
    gains, features, places : (s,) of its best cut
    totals : (s, c + 1) of its slopes; left : (c + 1,)
    """

    slopes: Floats
    order: Ints
    later: Ints
    sums: Floats
    at: Ints
    first: Ints
    last: Ints
    gains: Floats
    features: Ints
    places: Ints
    totals: Floats
    left: Floats


def no_trees(n: int, leaves: int, c: int) -> Fitted:
    """Trees of one leaf each, without weights."""
    shape = n, 2 * leaves - 1
    return Fitted(
        np.full(shape, NOBODY, np.int32), np.zeros(shape, np.float32),
        np.zeros(shape, np.int32), np.zeros((*shape, c), np.float32),
    )  # fmt: skip


def room_of(m: int, d: int, c: int, leaves: int) -> Room:
    """For m rows of d features and c scores, and trees of so many leaves."""
    s, i8 = 2 * leaves - 1, np.int64
    return Room(
        np.empty((m, c + 1)), np.empty(m, i8), np.empty(m, i8),
        np.empty((leaves, d * BINS, c + 1)), np.empty(s, i8), np.empty(s, i8), np.empty(s, i8),
        np.empty(s), np.empty(s, i8), np.empty(s, i8), np.empty((s, c + 1)), np.empty(c + 1),
    )  # fmt: skip


def check_trees(trees: Fitted, d: int) -> None:
    """Raise InputError where these are no trees on d features."""
    check_ranges(trees, cuts=(-HUGE, HUGE), weights=ANY_WEIGHT, inputs=(NOBODY, d - 1))
    cuts = trees.inputs != NOBODY
    own = np.arange(cuts.shape[1])
    if (cuts & ((trees.links <= own) | (trees.links > cuts.shape[1] - 2))).any():
        raise InputError("links: expected trees")


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


@njit(cache=True, nogil=True)
def fit(form, tree, rows):
    """Fit a tree anew to the last rows; rows : the place of the last, and how many."""
    held, room = form.held, form.room
    window, trees = held.window, held.trees
    inputs, weights, leaves = trees.inputs[tree], trees.weights[tree], window.leaves[tree]
    take_away(window, weights, leaves, rows, room.order)
    slopes_of_rows(window, held.levels, form.numbers, rows[1], room)
    cuts, links = trees.cuts[tree], trees.links[tree]
    least = LEAST_ROWS if form.numbers else LEAST
    nodes = grow_tree(inputs, cuts, links, window, held.bins, rows[1], least, room)
    most = min(FAR * held.levels[SIZE], LARGEST_WEIGHT) if form.numbers else MOST_STEP
    put_weights(window, inputs, weights, leaves, nodes, (form.step, most), room)


@njit(cache=True, nogil=True)
def take_away(window, weights, leaves, rows, order):
    """The last rows without a tree, of which these are the leaves; order : out, their places.

    rows : (2,) the place of the last, and how many
    """
    m, (at, count) = window.labels.shape[0], rows
    for k in range(count):
        i = at - k if at >= k else at - k + m
        order[k] = i
        for q in range(weights.shape[1]):
            window.sums[i, q] -= weights[leaves[i], q]


@njit(cache=True, nogil=True)
def slopes_of_rows(window, levels, numbers, count, room):
    """Gradients and curvatures of the first rows in order, by what the other trees say."""
    c = window.sums.shape[1]
    for k in range(count):
        i = room.order[k]
        slopes, weight = room.slopes[i], np.float64(window.weights[i])
        if numbers:
            wanted = 0.0
            if levels[SCALE] > 0.0:
                wanted = (window.labels[i] - levels[OFFSET]) / levels[SCALE]
            most = FAR * levels[SIZE]
            slopes[0], slopes[1] = min(max(window.sums[i, 0] - wanted, -most), most), 1.0
        else:
            slope_of_class(window.sums[i], int(window.labels[i]), slopes)
        for q in range(c + 1):
            slopes[q] *= weight


@njit(cache=True, nogil=True)
def grow_tree(inputs, cuts, links, window, bins, count, least, room):
    """Cut the leaf whose best cut gains most, again and again. Returns how many nodes there are.

    inputs, cuts, links : (s,) out; count : of rows, the first in order
    least : curvature of a child
    """
    first, last, gains = room.first, room.last, room.gains
    inputs[0], first[0], last[0], room.at[0] = NOBODY, 0, count, 0
    add_up(window, room, 0)
    best_cut(window, room, 0, least)
    nodes, leaves = 1, room.sums.shape[0]
    for taken in range(1, leaves):
        node, most = NOBODY, GAIN
        for other in range(nodes):
            if inputs[other] == NOBODY and gains[other] > BETTER * most:
                node, most = other, gains[other]
        if node == NOBODY:
            break
        feature = room.features[node]
        place = room.places[node]
        middle = split_rows(window.bins, feature, place, room, node)
        inputs[node], cuts[node], links[node] = feature, bins.edges[feature, place + 1], nodes
        for child in range(nodes, nodes + 2):
            inputs[child] = NOBODY
        first[nodes], last[nodes] = first[node], middle
        first[nodes + 1], last[nodes + 1] = middle, last[node]
        small = nodes if middle - first[node] <= last[node] - middle else nodes + 1
        large = 2 * nodes + 1 - small
        room.at[small], room.at[large] = taken, room.at[node]
        add_up(window, room, small)
        leave(window, room, node, small, large)
        best_cut(window, room, nodes, least)
        best_cut(window, room, nodes + 1, least)
        nodes += 2
    return nodes


@njit(cache=True, nogil=True)
def split_rows(bins, feature, place, room, node):
    """The rows of a node by the sides of a cut, in their order. Returns where the second begin."""
    order, later, middle, others = room.order, room.later, room.first[node], 0
    for k in range(room.first[node], room.last[node]):
        i = order[k]
        above = 1 if bins[i, feature] > place else 0
        order[middle], later[others] = i, i
        middle += 1 - above
        others += above
    for k in range(others):
        order[middle + k] = later[k]
    return middle


@njit(cache=True, nogil=True)
def add_up(window, room, node):
    """The sums of slopes of a node, by bins, and of all."""
    sums, total = room.sums[room.at[node]], room.totals[node]
    begins, slopes, c = window.begins, room.slopes, total.shape[0] - 1
    fill_with(sums[: begins[-1]].reshape(-1), 0.0)
    fill_with(total, 0.0)
    for k in range(room.first[node], room.last[node]):
        i = room.order[k]
        codes = window.codes[i]
        if c == 1:
            slope, curvature = slopes[i, 0], slopes[i, 1]
            total[0] += slope
            total[1] += curvature
            for e in range(window.counts[i]):
                own = sums[codes[e]]
                own[0] += slope
                own[1] += curvature
            continue
        for q in range(c + 1):
            total[q] += slopes[i, q]
        for e in range(window.counts[i]):
            own = sums[codes[e]]
            for q in range(c + 1):
                own[q] += slopes[i, q]
    for j in range(window.usual.shape[0]):
        own = sums[begins[j] + window.usual[j]]
        copy(total, own)
        for b in range(begins[j], begins[j + 1]):
            if b != begins[j] + window.usual[j]:
                for q in range(c + 1):
                    own[q] -= sums[b, q]


@njit(cache=True, nogil=True)
def leave(window, room, node, small, large):
    """The sums of the larger child: what the smaller leaves of its parent's."""
    sums, less = room.sums[room.at[node]], room.sums[room.at[small]]
    for b in range(window.begins[-1]):
        for q in range(less.shape[1]):
            sums[b, q] -= less[b, q]
    for q in range(less.shape[1]):
        room.totals[large, q] = room.totals[node, q] - room.totals[small, q]


@njit(cache=True, nogil=True)
def best_cut(window, room, node, least):
    """Find the cut that gains most; see `best_cut_of`."""
    sums, total, c = room.sums[room.at[node]], room.totals[node], room.totals.shape[1] - 1
    room.gains[node] = 0.0
    if total[c] < 2.0 * least:
        return
    whole = part_of_gain(total)
    for j in range(window.usual.shape[0]):
        first, end = window.begins[j], window.begins[j + 1]
        if c == 1:  # the same with one division
            slope, curvature = 0.0, SMOOTH
            for b in range(first, end - 1):
                slope += sums[b, 0]
                curvature += sums[b, 1]
                right = total[1] + 2.0 * SMOOTH - curvature
                if curvature < least + SMOOTH or right < least + SMOOTH:
                    continue
                other = total[0] - slope
                both = slope * slope * right + other * other * curvature
                gain = both / (curvature * right) - whole
                if gain > BETTER * room.gains[node]:
                    room.gains[node], room.features[node], room.places[node] = gain, j, b - first
            continue
        best = room.gains[node], BETTER
        gain, place = best_cut_of(sums, (first, end), total, whole, room.left, least, best)
        if place >= 0:
            room.gains[node], room.features[node], room.places[node] = gain, j, place


@njit(cache=True, nogil=True)
def put_weights(window, inputs, weights, leaves, nodes, step, room):
    """Weights of the leaves of a tree that was grown, and what they add to the sums of its rows.

    step : a pair, the part of the best weights that is taken, and the most
    """
    c, (share, most) = weights.shape[1], step
    for node in range(nodes):
        if inputs[node] != NOBODY:
            continue
        totals = room.totals[node]
        for q in range(c):
            best = -totals[q] / (totals[c] + SMOOTH)
            weights[node, q] = share * min(max(best, -most), most)
        for k in range(room.first[node], room.last[node]):
            i = room.order[k]
            leaves[i] = node
            for q in range(c):
                total = window.sums[i, q] + weights[node, q]
                window.sums[i, q] = min(max(total, -MOST_SUM), MOST_SUM)


@njit(cache=True, nogil=True)
def forget_trees(trees, window):
    """All trees are leaves without weights."""
    for g in range(trees.inputs.shape[0]):
        trees.inputs[g, 0] = NOBODY
        fill_with(trees.weights[g, 0], 0.0)
    fill_with(window.sums.reshape(-1), 0.0)
    fill_with(window.leaves.reshape(-1), 0)
