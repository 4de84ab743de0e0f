"""Grown partitions: trees that are cut where the loss of a sum can fall, in fixed memory."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import Whole, or_none
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.binning import BINS, check_bounded
from kernbrook.numerics.draws import DRAW_COPIES, DRAW_INPUTS, PURPOSE, uniform

LEAST = 100.0  # rows that a leaf has collected before it may be cut
LATER = 1.3  # times as many, before it is looked at again
SURE = 3.0  # times LEAST: from then on the best cut need not be far better than the second
PATIENCE = 10.0  # times LEAST, after which a leaf stops collecting
BETTER = 1.3  # the gain of the best input, beside that of the second
GAIN = 2.0  # of a cut, for each score
SMOOTH = 1.0  # added to sums of curvatures
WAITS = 5.0  # curvature that a leaf has met before it collects
AT_ONCE = 1e9  # as if a leaf had met so much
SHARE = 0.25  # of the squared gradients of a leaf that its children begin with
FORGETS = 0.005  # of what a tree has done, with each label
HARM = 0.13  # of the deviation: a tree that has done more begins anew
EVERY = 16  # labels between two looks for such a tree
MOST_TREES = 1000
MOST_WEIGHT, MOST_SUM = 1e20, 1e30  # learning leads to nothing greater
NOBODY = -1


class Trees(NamedTuple):
    """Trees of nodes, which are cuts or leaves; tree g begins at node g.

    inputs : (nodes,) the feature of a cut; NOBODY: a leaf
    cuts : (nodes,) the greatest value that goes to the first child
    links : (nodes,) of a cut the first child, which the second follows; of a leaf its slot, or
        NOBODY
    weights, squares : (nodes, c) of leaves, and (nodes,) the sums of their squared gradients
    waits : (nodes,) curvature that a leaf without a slot has met
    pairs : (n,) of nodes that are free, the first of each
    sums : (slots, m, BINS, c + 1) by bin of m features, the gradients and curvatures of rows
    features : (slots, m) which these are
    rows : (slots, 2) collected, and before the next look
    slots : (slots,) that are free
    free : (2,) int, how many pairs and slots are
    done : (trees, 2) what the weights of a tree have added to the loss of late, and its square
    """

    inputs: NDArray[np.int32]
    cuts: NDArray[np.float32]
    links: NDArray[np.int32]
    weights: NDArray[np.float32]
    squares: NDArray[np.float32]
    waits: NDArray[np.float32]
    pairs: NDArray[np.int32]
    sums: NDArray[np.float32]
    features: NDArray[np.int32]
    rows: NDArray[np.float32]
    slots: NDArray[np.int32]
    free: NDArray[np.int64]
    done: NDArray[np.float32]


class Room(NamedTuple):
    """(c + 1,) sums on one side of a cut, and of all; (d,) features, which are shuffled."""

    left: NDArray[np.float64]
    every: NDArray[np.float64]
    order: NDArray[np.int64]


class GrownPartitions(BaseEstimator):
    """A map for `Cells`: n trees, and a row has a cell, the leaf in which it lies, in each.

    The kernel of this map is the share of the trees in which two rows lie in one leaf. A leaf
    collects the gradients of the loss of the whole sum, by bins of some features, and is cut where
    the loss can fall most. Rows count 0, 1, 2 or 3 times for a tree, so trees differ. A tree whose
    weights have of late added to the loss begins anew, one at a time.

    Parameters
    ----------
    n : int
        Trees.
    nodes : int
        Of all trees together, beside the first of each.
    inputs : int
        Features, drawn at random, on which a leaf collects.
    slots : int or None
        Leaves that collect at one time. None: as many as take 4 MB, but from 32 to 400.

    References
    ----------
    Breiman (2000), Some infinity theory for predictor ensembles; Scornet (2016), Random forests and
    kernel methods. Cuts by sums of gradients and curvatures: Chen and Guestrin (2016), XGBoost.
    Rows by Poisson draws: Oza and Russell (2001), Online bagging and boosting.

    Examples
    --------
    >>> GrownPartitions(20)
    GrownPartitions(n=20)
    """

    choice = "cells"
    parameter_ranges: ClassVar = {
        "n": Whole(most=MOST_TREES),
        "nodes": Whole(2),
        "inputs": Whole(),
        "slots": or_none(Whole()),
    }

    def __init__(
        self, n: int = 50, nodes: int = 40_000, inputs: int = 16, slots: int | None = None
    ):
        self.n = n
        self.nodes = nodes
        self.inputs = inputs
        self.slots = slots

    def collecting(self, d: int, c: int) -> tuple[int, int]:
        """How many leaves collect at one time, and on how many features."""
        m = min(self.inputs, d)
        return most_slots(m, c) if self.slots is None else self.slots, m

    def numbers(self, d: int, c: int) -> int:
        """About how many numbers trees hold."""
        slots, m = self.collecting(d, c)
        return (self.n + self.nodes) * (c + 6) + slots * m * BINS * (c + 1)

    def begin(self, d: int, c: int) -> Trees:
        """Trees of one leaf each."""
        f4, i4, n = np.float32, np.int32, self.n
        nodes, (slots, m) = n + self.nodes, self.collecting(d, c)
        waits = np.zeros(nodes, f4)
        waits[:n] = AT_ONCE
        pairs = np.arange(n, nodes - 1, 2)[::-1].astype(i4)
        return Trees(
            np.full(nodes, NOBODY, i4), np.zeros(nodes, f4), np.full(nodes, NOBODY, i4),
            np.zeros((nodes, c), f4), np.zeros(nodes, f4), waits, pairs,
            np.zeros((slots, m, BINS, c + 1), f4), np.zeros((slots, m), i4),
            np.zeros((slots, 2), f4), np.arange(slots, dtype=i4)[::-1].copy(),
            np.array([len(pairs), slots]), np.zeros((n, 2), f4),
        )  # fmt: skip


def most_slots(m: int, c: int) -> int:
    """As many as take 4 MB, on m features, but from 32 to 400."""
    return min(max(2**20 // (m * BINS * (c + 1)), 32), 400)


def room_of(d: int, c: int) -> Room:
    """For rows of d features and c scores."""
    return Room(np.zeros(c + 1), np.zeros(c + 1), np.zeros(d, np.int64))


def spread(trees: Trees, fresh: Trees, matrix: NDArray[np.float32]) -> Trees:
    """The same trees with weights of more scores; leaves begin to collect anew.

    fresh : trees of so many scores; matrix : (c, k) what each of the scores gives to each of these
    """
    leaves = trees.inputs == NOBODY
    return trees._replace(
        weights=trees.weights @ matrix,
        links=np.where(leaves, NOBODY, trees.links).astype(np.int32),
        waits=np.where(leaves, AT_ONCE, 0.0).astype(np.float32),
        sums=fresh.sums,
        features=fresh.features,
        rows=fresh.rows,
        slots=fresh.slots,
        free=np.array([trees.free[0], fresh.free[1]]),
    )


def check(trees: Trees, d: int) -> None:
    """Raise InputError where no rows of d features lead to these trees."""
    roots, (nodes, _), slots = len(trees.done), trees.weights.shape, len(trees.slots)
    sizes = [(name, getattr(trees, name)) for name in ("squares", "waits", "rows")]
    sizes.append(("done", trees.done[:, 1]))
    for name in ("cuts", "weights", "squares", "waits", "sums", "rows", "done"):
        check_bounded(name, getattr(trees, name), MOST_WEIGHT if name == "weights" else MOST_SUM)
    for name, some in sizes:
        if (some < 0).any():
            raise InputError(f"{name}: expected no number below 0")
    inputs, links, (pairs, held) = trees.inputs, trees.links, trees.free
    if not (inputs.min(initial=0) >= NOBODY and inputs.max(initial=0) < d):
        raise InputError(f"inputs: expected {NOBODY} to {d - 1}")
    if not ((trees.features >= 0) & (trees.features < d)).all():
        raise InputError(f"features: expected 0 to {d - 1}")
    if not (0 <= pairs <= len(trees.pairs) and 0 <= held <= slots):
        raise InputError("free: more are free than there are")
    cuts, at, children = inputs != NOBODY, np.arange(roots), [trees.pairs[:pairs]]
    while len(at):  # from the roots down: no more nodes than there are
        at = links[at[cuts[at]]]
        children.append(at)
        if sum(map(len, children)) > len(trees.pairs) or not ((at >= 0) & (at < nodes - 1)).all():
            raise InputError("links: expected trees")
        at = np.concatenate([at, at + 1])
    every = np.sort(np.concatenate(children))
    if not np.array_equal(every, np.arange(roots, nodes - 1, 2)[: len(trees.pairs)]):
        raise InputError("links: expected trees, and each other node to be free")
    mine = np.zeros(nodes, dtype=bool)
    mine[:roots] = True
    for node in children[1:]:
        mine[node] = mine[node + 1] = True
    taken = links[mine & ~cuts]
    taken = np.concatenate([taken[taken != NOBODY], trees.slots[:held]])
    if not np.array_equal(np.sort(taken), np.arange(slots)):
        raise InputError("links, slots: expected each slot to be free, or of one leaf")


@njit(cache=True, nogil=True)
def find_leaves(trees, values, leaves):
    """The leaf of each tree in which a row of these values, (d,), lies; leaves : (n,) out."""
    inputs, cuts, links = trees.inputs, trees.cuts, trees.links
    for g in range(leaves.shape[0]):
        node = np.int64(g)
        while inputs[node] != NOBODY:
            node = np.int64(links[node]) + (1 if values[inputs[node]] > cuts[node] else 0)
        leaves[g] = node


@njit(cache=True, nogil=True)
def grow(trees, bins, row, leaves, slopes, seed, number, room):
    """Collect what a label has taught the leaves, and cut those that are worth it.

    slopes : (c + 1,) gradients of the loss by the scores, before the step, and the curvature
    """
    c, free = slopes.shape[0] - 1, trees.free
    for g in range(leaves.shape[0]):
        leaf = leaves[g]
        slot = np.int64(trees.links[leaf])
        if slot == NOBODY:
            trees.waits[leaf] += slopes[c]
            if not trees.waits[leaf] > WAITS or free[0] == 0 or free[1] == 0:
                continue
            free[1] -= 1
            slot = np.int64(trees.slots[free[1]])
            begin_to_collect(trees, leaf, slot, seed, number, g, room.order)
        copies = copies_of(uniform(seed, number, DRAW_COPIES * PURPOSE + g))
        if copies == 0.0:
            continue
        trees.rows[slot, 0] += copies
        for i in range(trees.features.shape[1]):
            own = trees.sums[slot, i, row.bins[trees.features[slot, i]]]
            for q in range(c + 1):
                own[q] += copies * slopes[q]
        if trees.rows[slot, 0] >= trees.rows[slot, 1]:
            look_for_a_cut(trees, bins, leaf, slot, room)


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
def begin_to_collect(trees, leaf, slot, seed, number, tree, order):
    """A leaf takes a slot that is free, on features drawn at random."""
    d, m = order.shape[0], trees.features.shape[1]
    for j in range(d):
        order[j] = j
    for i in range(m):
        draw = uniform(seed, number, DRAW_INPUTS * PURPOSE + tree * m + i)
        j = i + np.int64(draw * (d - i))
        order[i], order[j] = order[j], order[i]
        trees.features[slot, i] = order[i]
    trees.sums[slot] = 0.0
    trees.rows[slot, 0], trees.rows[slot, 1] = 0.0, LEAST
    trees.links[leaf], trees.waits[leaf] = slot, 0.0


@njit(cache=True, nogil=True)
def set_free(trees, leaf):
    """A leaf gives up its slot."""
    trees.slots[trees.free[1]] = trees.links[leaf]
    trees.free[1] += 1
    trees.links[leaf], trees.waits[leaf] = NOBODY, 0.0


@njit(cache=True, nogil=True)
def look_for_a_cut(trees, bins, leaf, slot, room):
    """Cut a leaf where the gain is greatest, if it is enough.

    The gain is G_l^2 / (H_l + SMOOTH) + G_r^2 / (H_r + SMOOTH) - G^2 / (H + SMOOTH), for sums of
    gradients G and curvatures H on the left, on the right and of all.
    """
    sums, left, every = trees.sums[slot], room.left, room.every
    m, c = sums.shape[0], sums.shape[2] - 1
    every[:] = 0.0
    for b in range(BINS):
        for q in range(c + 1):
            every[q] += sums[0, b, q]
    whole = 0.0
    for q in range(c):
        whole += every[q] * every[q]
    whole /= every[c] + SMOOTH
    most, second, where, at = 0.0, 0.0, NOBODY, 0
    for i in range(m):
        left[:] = 0.0
        best, place = 0.0, 0
        for b in range(bins.inner[trees.features[slot, i]]):
            for q in range(c + 1):
                left[q] += sums[i, b, q]
            right = every[c] - left[c]
            if left[c] < 1.0 or right < 1.0:
                continue
            here, there = 0.0, 0.0
            for q in range(c):
                here += left[q] * left[q]
                there += (every[q] - left[q]) * (every[q] - left[q])
            gain = here / (left[c] + SMOOTH) + there / (right + SMOOTH) - whole
            if gain > best:
                best, place = gain, b
        if best > most:
            second, most, where, at = most, best, i, place
        elif best > second:
            second = best
    rows = trees.rows[slot, 0]
    trees.rows[slot, 1] = rows * LATER
    sure = most > BETTER * second or rows >= SURE * LEAST
    if where != NOBODY and most > GAIN * c and sure and trees.free[0] > 0:
        feature = trees.features[slot, where]
        cut(trees, leaf, feature, bins.edges[feature, at + 1])
    elif rows >= PATIENCE * LEAST:
        set_free(trees, leaf)


@njit(cache=True, nogil=True)
def cut(trees, leaf, feature, value):
    """A leaf becomes a cut; its children begin with its weights."""
    set_free(trees, leaf)
    trees.free[0] -= 1
    child = np.int64(trees.pairs[trees.free[0]])
    for node in range(child, child + 2):
        trees.weights[node] = trees.weights[leaf]
        trees.squares[node] = trees.squares[leaf] * np.float32(SHARE)
        trees.inputs[node], trees.links[node] = NOBODY, NOBODY
        trees.waits[node] = AT_ONCE
    trees.inputs[leaf], trees.cuts[leaf], trees.links[leaf] = feature, value, child


@njit(cache=True, nogil=True)
def collect_anew(trees):
    """Bins have moved: what leaves have collected is forgotten."""
    trees.sums[:] = 0.0
    trees.rows[:, 0] = 0.0
    trees.rows[:, 1] = LEAST


@njit(cache=True, nogil=True)
def begin_anew(trees, number):
    """Of the trees whose weights have of late added to the loss, the worst begins anew."""
    if number % EVERY != 0:
        return
    done, worst = trees.done, 0
    for g in range(done.shape[0]):
        if done[g, 0] > done[worst, 0]:
            worst = g
    if done.shape[0] > 0 and done[worst, 0] > HARM * math.sqrt(done[worst, 1]):
        fell(trees, worst)


@njit(cache=True, nogil=True)
def fell(trees, tree):
    """A tree becomes one leaf without weights."""
    free = trees.free
    first = free[0]  # pairs from here on were of this tree, and are looked through
    release(trees, tree)
    while first < free[0]:
        child = np.int64(trees.pairs[first])
        release(trees, child)
        release(trees, child + 1)
        first += 1
    trees.inputs[tree], trees.links[tree] = NOBODY, NOBODY
    trees.weights[tree], trees.squares[tree], trees.waits[tree] = 0.0, 0.0, AT_ONCE
    trees.done[tree] = 0.0


@njit(cache=True, nogil=True)
def release(trees, node):
    """The children of a cut, or the slot of a leaf, are free again."""
    if trees.inputs[node] != NOBODY:
        trees.pairs[trees.free[0]] = trees.links[node]
        trees.free[0] += 1
    elif trees.links[node] != NOBODY:
        set_free(trees, node)
