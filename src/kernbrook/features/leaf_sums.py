"""Sums that leaves of grown partitions collect, and the cuts that are found in them.

By bin of some features, a leaf adds up the gradients of the loss by the scores, and its curvature.
A feature takes as many bins as it has, so that many features of few values have room in a slot. The
children of a cut begin with what the last rows of their parent have taught it, on its features.
"""

import math

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.features.grown_partitions import (
    AT_ONCE,
    LATEST,
    MEMBERS,
    MOST_SUM,
    NOBODY,
    WRAP,
    give_back,
    set_free,
)
from kernbrook.numerics.draws import DRAW_COPIES, DRAW_INPUTS, PURPOSE, uniform
from kernbrook.numerics.vectors import copy, fill_with

LEAST = 150.0  # rows that a leaf has collected before it may be cut
LATER = 1.3  # times as many, before it is looked at again
SURE = 450.0  # rows, from which on the best cut need not be far better than the second
PATIENCE = 1000.0  # rows, after which a leaf stops collecting
BETTER = 1.3  # the gain of the best input, beside that of the second
GAIN = 2.0  # of a cut; where nothing can be found it is about 1, of however many scores
SMOOTH = 1.0  # added to sums of curvatures
WAITS = 5.0  # curvature that a leaf has met before it collects
SHARE = 0.05  # of the squared gradients of a leaf that its children begin with


@njit(cache=True, nogil=True)
def grow(trees, bins, row, leaves, slopes, seed, number, room):
    """Collect what a label has taught the leaves, and cut those that are worth it.

    slopes : (c + 1,) gradients of the loss by the scores, before the step, and the curvature
    """
    c, free = slopes.shape[0] - 1, trees.free
    if trees.latest.shape[0] > 0:  # for the leaves that begin to collect later
        for q in range(c + 1):
            trees.latest[number % LATEST, q] = slopes[q]
        for j in range(row.bins.shape[0]):
            trees.latest_bins[number % LATEST, j] = row.bins[j]
    for g in range(leaves.shape[0]):
        leaf = leaves[g]
        slot = np.int64(trees.links[leaf])
        if slot == NOBODY:
            trees.waits[leaf] += slopes[c]
            if not trees.waits[leaf] > WAITS or free[0] == 0 or free[1] == 0:
                continue
            free[1] -= 1
            slot = np.int64(trees.slots[free[1]])
            choose_features(trees, bins, slot, seed, number, g, room.order)
            begin_to_collect(trees, leaf, slot)
        copies = copies_of(uniform(seed, number, DRAW_COPIES * PURPOSE + g))
        if copies == 0.0:
            continue
        collect(trees, slot, row.bins, slopes, copies, number)
        if trees.rows[slot, 0] >= trees.rows[slot, 1]:
            look_for_a_cut(trees, bins, leaf, slot, number, room)


@njit(cache=True, nogil=True)
def collect(trees, slot, bins, slopes, copies, number):
    """Add what a row has taught to the sums of a slot.

    bins : (d,) of the row; copies : how often the row counts
    """
    trees.rows[slot, 0] += copies
    features, begins = trees.features[slot], trees.begins[slot]
    for i in range(features.shape[0]):
        if begins[i + 1] == begins[i]:
            break
        bin_sums = trees.sums[slot, begins[i] + np.int64(bins[features[i]])]
        for q in range(slopes.shape[0]):
            bin_sums[q] += copies * slopes[q]
    for _ in range(np.int64(copies)):
        if trees.held[slot] < MEMBERS:
            trees.members[slot, trees.held[slot]] = number % WRAP
            trees.held[slot] += 1


@njit(cache=True, nogil=True)
def copies_of(draw):
    """How often a row counts: by Poisson's law of mean 1, of 3 at most; draw : from 0 to 1."""
    copies, chance, below = 0.0, math.exp(-1.0), 0.0
    while copies < 3.0:
        below += chance
        if draw < below:
            break
        copies += 1.0
        chance /= copies
    return copies


@njit(cache=True, nogil=True)
def choose_features(trees, bins, slot, seed, number, tree, order):
    """Draw the features of a slot: those that still fit in."""
    d, features, begins = order.shape[0], trees.features[slot], trees.begins[slot]
    for j in range(d):
        order[j] = j
    taken, end = 0, np.int32(0)
    fill_with(begins, 0)
    for i in range(d):
        draw = uniform(seed, number, DRAW_INPUTS * PURPOSE + tree * d + i)
        j = i + np.int64(draw * (d - i))
        order[i], order[j] = order[j], order[i]
        inner = bins.inner[order[i]]
        if inner < 1 or end + inner + 1 > trees.sums.shape[1]:
            continue
        features[taken], begins[taken] = order[i], end
        taken, end = taken + 1, end + inner + 1
        if taken == features.shape[0]:
            break
    fill_with(begins[taken:], end)


@njit(cache=True, nogil=True)
def begin_to_collect(trees, leaf, slot):
    """A leaf takes a slot, whose features are chosen."""
    fill_with(trees.sums[slot].reshape(-1), 0.0)
    trees.held[slot] = 0
    trees.rows[slot, 0], trees.rows[slot, 1] = 0.0, LEAST
    trees.links[leaf], trees.waits[leaf] = slot, 0.0


@njit(cache=True, nogil=True)
def look_for_a_cut(trees, bins, leaf, slot, number, room):
    """Cut a leaf where the gain is greatest, if it is enough."""
    sums, features, begins = trees.sums[slot], trees.features[slot], trees.begins[slot]
    every = room.every
    fill_with(every, 0.0)
    for b in range(begins[1]):
        for q in range(every.shape[0]):
            every[q] += sums[b, q]
    whole = part_of_gain(every)
    most, second, where, at = 0.0, 0.0, NOBODY, 0
    for i in range(features.shape[0]):
        ends = begins[i], begins[i + 1]
        best, place = best_cut_of(sums, ends, every, whole, room.left, 1.0, (0.0, 1.0))
        if best > most:
            second, most, where, at = most, best, i, place
        elif best > second:
            second = best
    rows = trees.rows[slot, 0]
    trees.rows[slot, 1] = min(rows * LATER, MOST_SUM)
    sure = most > BETTER * second or rows >= SURE
    if where != NOBODY and most > GAIN and sure and trees.free[0] > 0:
        feature = features[where]
        cut_leaf(trees, leaf, feature, bins.edges[feature, at + 1])
        if trees.free[1] > 0:
            hand_on(trees, slot, np.int64(trees.links[leaf]), feature, at, number)
        else:
            give_back(trees, slot)
    elif rows >= PATIENCE:
        set_free(trees, leaf)


@njit(cache=True, nogil=True, forceinline=True)
def part_of_gain(sums):
    """G^2 / (H + SMOOTH) of the sums of gradients, G, and of curvatures, H, (c + 1,) together."""
    square = 0.0
    for q in range(sums.shape[0] - 1):
        square += sums[q] * sums[q]
    return square / (sums[sums.shape[0] - 1] + SMOOTH)


@njit(cache=True, nogil=True, forceinline=True)
def best_cut_of(sums, ends, every, whole, left, least, best):
    """The gain of the best cut between the bins of a feature, and after which: -1, of none.

    The gain is `part_of_gain` of the bins on the left and of those on the right, less that of all.

    sums, ends : (any, c + 1) by bin; the first of the feature, and the one after its last
    every, whole : (c + 1,) of all, and `part_of_gain` of these; left : (c + 1,) scratch
    least : curvature of a side; best : the gain so far, and times as great is a greater one
    """
    (gain, better), place, c = best, -1, every.shape[0] - 1
    fill_with(left, 0.0)
    for b in range(ends[0], ends[1] - 1):
        for q in range(c + 1):
            left[q] += sums[b, q]
        right = every[c] - left[c]
        if left[c] < least or right < least:
            continue
        on_right = 0.0
        for q in range(c):
            on_right += (every[q] - left[q]) * (every[q] - left[q])
        now = part_of_gain(left) + on_right / (right + SMOOTH) - whole
        if now > better * gain:
            gain, place = now, b - ends[0]
    return gain, place


@njit(cache=True, nogil=True)
def cut_leaf(trees, leaf, feature, value):
    """A leaf becomes a cut; its children begin with its weights."""
    trees.free[0] -= 1
    child = np.int64(trees.pairs[trees.free[0]])
    for node in range(child, child + 2):
        copy(trees.weights[leaf], trees.weights[node])
        trees.squares[node] = trees.squares[leaf] * np.float32(SHARE)
        trees.inputs[node], trees.links[node] = NOBODY, NOBODY
        trees.waits[node] = AT_ONCE
    trees.inputs[leaf], trees.cuts[leaf], trees.links[leaf] = feature, value, child


@njit(cache=True, nogil=True)
def hand_on(trees, slot, child, feature, place, number):
    """The children of a cut collect from now on, and begin with the rows of their parent.

    slot : of the parent, which the first child keeps; the second takes one that is free
    feature, place : of the cut, and the last bin on the first side; number : of the last row
    """
    trees.free[1] -= 1
    other = np.int64(trees.slots[trees.free[1]])
    copy(trees.features[slot], trees.features[other])
    copy(trees.begins[slot], trees.begins[other])
    members = trees.held[slot]
    begin_to_collect(trees, child, slot)
    begin_to_collect(trees, child + 1, other)
    for k in range(members):  # the first child writes no further than here
        member = np.int64(trees.members[slot, k])
        if (number - member) % WRAP >= LATEST:
            continue
        bins, slopes = trees.latest_bins[member % LATEST], trees.latest[member % LATEST]
        side = slot if bins[feature] <= place else other
        collect(trees, side, bins, slopes, 1.0, member)
    for side in (slot, other):
        trees.rows[side, 1] = min(max(LEAST, trees.rows[side, 0] * LATER), MOST_SUM)


@njit(cache=True, nogil=True)
def collect_anew(trees):
    """Bins have moved: what leaves have collected is forgotten, and they begin when a row comes."""
    fill_with(trees.latest_bins.reshape(-1), 0)
    for node in range(trees.links.shape[0]):
        if trees.inputs[node] == NOBODY and trees.links[node] != NOBODY:
            set_free(trees, node)
            trees.waits[node] = AT_ONCE
