"""Grown partitions: trees that are cut where the loss of a sum can fall, in fixed memory."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import Whole, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.binning import BINS, check_ranges
from kernbrook.numerics.vectors import fill_with

TOGETHER = 128  # bins, of all features on which a leaf collects
AT_ONCE = 1e9  # as if a leaf had met so much
FORGETS = 0.005  # of what a tree has done, with each label
HARM = 0.2  # of the deviation: a tree that has done more begins anew
EVERY = 16  # labels between two looks for such a tree
LATEST = 2048  # rows that are kept, for leaves to begin with
MEMBERS = 256  # of these, one leaf
WRAP = 1 << 31  # numbers of rows begin again
MOST_TREES = 1000
LARGEST_WEIGHT, MOST_SUM = 1e20, 1e30  # learning leads to nothing greater
ANY_WEIGHT, ANY_SUM = (-LARGEST_WEIGHT, LARGEST_WEIGHT), (-MOST_SUM, MOST_SUM)
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
    sums : (slots, bins, c + 1) by bin of some features, the gradients and curvatures of rows
    features : (slots, m) which these are
    begins : (slots, m + 1) where the bins of each begin; the last ones may have none
    rows : (slots, 2) collected, and before the next look
    members, held : (slots, MEMBERS) numbers of rows that were collected, the first of them, as
        often as they counted; (slots,) how many these are
    latest, latest_bins : (LATEST, c + 1) and (LATEST, d) gradients, curvature and bins of the last
        rows, by their numbers
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
    begins: NDArray[np.int32]
    rows: NDArray[np.float32]
    members: NDArray[np.int32]
    held: NDArray[np.int32]
    latest: NDArray[np.float32]
    latest_bins: NDArray[np.uint8]
    slots: NDArray[np.int32]
    free: NDArray[np.int64]
    done: NDArray[np.float32]


class CutRoom(NamedTuple):
    """(c + 1,) sums on one side of a cut, and of all; (d,) features, which are shuffled."""

    left: NDArray[np.float64]
    every: NDArray[np.float64]
    order: NDArray[np.int64]


@parameters
class GrownPartitions(BaseEstimator):
    """A map for `Cells`: n trees, and a row has a cell, the leaf in which it lies, in each.

    The kernel of this map is the share of the trees in which two rows lie in one leaf. A leaf
    collects the gradients of the loss of the whole sum, by bins of some features, and is cut where
    the loss can fall most. Its children begin with those of its rows that are among the last 2,048.
    Rows count 0, 1, 2 or 3 times for a tree, so trees differ. A tree whose weights have of late
    added to the loss begins anew, one at a time.

    Parameters
    ----------
    n : int
        Trees.
    nodes : int
        Of all trees together, beside the first of each.
    inputs : int
        Features, drawn at random, on which a leaf collects: so many at most, and no more than have
        128 bins together. A feature has as many bins as values, but 32 at most.
    slots : int or None
        Leaves that collect at one time. None: as many as take 4 MB, but from 32 to 1,000.

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
    n: Annotated[int, Whole(most=MOST_TREES)] = 50
    nodes: Annotated[int, Whole(2)] = 40_000
    inputs: Annotated[int, Whole()] = 16
    slots: Annotated[int | None, or_none(Whole())] = None

    def collecting(self, d: int, c: int) -> tuple[int, int, int]:
        """How many leaves collect at one time, on how many features, and how many bins."""
        m, bins = min(self.inputs, d), min(TOGETHER, d * BINS)
        most = min(max(2**20 // (bins * (c + 1)), 32), 1000)  # 4 MB, but for the two ends
        return most if self.slots is None else self.slots, m, bins

    def numbers(self, d: int, c: int) -> int:
        """About how many numbers trees hold."""
        slots, m, bins = self.collecting(d, c)
        collected = slots * (bins * (c + 1) + 2 * m + MEMBERS)
        return (self.n + self.nodes) * (c + 6) + collected + LATEST * (c + 1 + d // 4)

    def begin(self, d: int, c: int) -> Trees:
        """Trees of one leaf each."""
        f4, i4, n = np.float32, np.int32, self.n
        nodes, (slots, m, bins) = n + self.nodes, self.collecting(d, c)
        latest = LATEST if slots else 0
        waits = np.zeros(nodes, f4)
        waits[:n] = AT_ONCE
        pairs = np.arange(n, nodes - 1, 2)[::-1].astype(i4)
        return Trees(
            np.full(nodes, NOBODY, i4), np.zeros(nodes, f4), np.full(nodes, NOBODY, i4),
            np.zeros((nodes, c), f4), np.zeros(nodes, f4), waits, pairs,
            np.zeros((slots, bins, c + 1), f4), np.zeros((slots, m), i4),
            np.zeros((slots, m + 1), i4), np.zeros((slots, 2), f4),
            np.zeros((slots, MEMBERS), i4), np.zeros(slots, i4),
            np.zeros((latest, c + 1), f4), np.zeros((latest, d), np.uint8),
            np.arange(slots, dtype=i4)[::-1].copy(), np.array([len(pairs), slots]),
            np.zeros((n, 2), f4),
        )  # fmt: skip


def room_of(d: int, c: int) -> CutRoom:
    """For rows of d features and c scores."""
    return CutRoom(np.zeros(c + 1), np.zeros(c + 1), np.zeros(d, np.int64))


def spread(trees: Trees, fresh: Trees, weights: NDArray[np.float32]) -> Trees:
    """The trees with weights of more scores, (nodes, k); leaves begin to collect anew.

    fresh : trees of so many scores
    """
    leaves = trees.inputs == NOBODY
    return fresh._replace(
        inputs=trees.inputs, cuts=trees.cuts, squares=trees.squares, pairs=trees.pairs,
        done=trees.done, weights=weights, free=np.array([trees.free[0], fresh.free[1]]),
        links=np.where(leaves, NOBODY, trees.links).astype(np.int32),
        waits=np.where(leaves, AT_ONCE, 0.0).astype(np.float32),
    )  # fmt: skip


def end_of(trees: Trees) -> int:
    """How many nodes there are up to the last that is in use."""
    cuts = trees.inputs != NOBODY
    return max(len(trees.done), 2 + int(trees.links[cuts].max(initial=NOBODY)))


def check_nodes(trees: Trees, d: int) -> list[NDArray[np.int32]]:
    """The first node of each pair that is in use: roots are, and none is.

    Raises InputError where the nodes are no trees on d features.
    """
    inputs, links, nodes = trees.inputs, trees.links, len(trees.inputs)
    if not nodes == len(links) == len(trees.cuts) == len(trees.weights):
        raise InputError("inputs, cuts, links, weights: expected those of the same nodes")
    check_ranges(trees, cuts=ANY_SUM, weights=ANY_WEIGHT, inputs=(NOBODY, d - 1))
    cuts, at = inputs != NOBODY, np.arange(len(trees.done))
    pairs: list[NDArray[np.int32]] = []
    while len(at):  # from the roots down: no more nodes than there are
        at = links[at[cuts[at]]]
        pairs.append(at)
        if 2 * sum(map(len, pairs)) > nodes or not ((at >= 0) & (at < nodes - 1)).all():
            raise InputError("links: expected trees")
        at = np.concatenate([at, at + 1])
    return pairs


def check(trees: Trees, inner: NDArray[np.int32]) -> None:
    """Raise InputError where these are no trees, or numbers are beyond their ranges.

    inner : (d,) see `binning.Bins`
    """
    d = len(inner)
    roots, (nodes, _), slots = len(trees.done), trees.weights.shape, len(trees.slots)
    children = check_nodes(trees, d)
    check_ranges(
        trees, squares=(0, MOST_SUM), waits=ANY_SUM, sums=ANY_SUM, rows=(0, MOST_SUM),
        latest=ANY_WEIGHT, done=ANY_SUM, features=(0, d - 1), held=(0, MEMBERS),
        members=(0, WRAP - 1),
    )  # fmt: skip
    cuts, links, (pairs, held) = trees.inputs != NOBODY, trees.links, trees.free
    if (trees.latest_bins > np.maximum(inner, 0)).any():
        raise InputError("latest_bins: expected numbers of bins that there are")
    if not (0 <= pairs <= len(trees.pairs) and 0 <= held <= slots):
        raise InputError("free: more are free than there are")
    every = np.sort(np.concatenate([trees.pairs[:pairs], *children]))
    if not np.array_equal(every, np.arange(roots, nodes - 1, 2)[: len(trees.pairs)]):
        raise InputError("links: expected trees, and each other node to be free")
    taken = links[~cuts & (links != NOBODY)]
    every = np.concatenate([taken, trees.slots[:held]])
    if not np.array_equal(np.sort(every), np.arange(slots)):
        raise InputError("links, slots: expected each slot to be free, or of one leaf")
    begins = trees.begins[taken]
    bins = np.diff(begins, axis=1)
    fits = (bins == 0) | (bins == inner[trees.features[taken]] + 1)
    if not (fits.all() and (begins[:, 0] == 0).all() and (begins <= trees.sums.shape[1]).all()):
        raise InputError("begins: expected features with all of their bins")


@njit(cache=True, nogil=True)
def find_leaf(inputs, cuts, links, values, node):
    """The leaf below a node in which a row of these values, (d,), lies."""
    while inputs[node] != NOBODY:
        node = np.int64(links[node]) + (1 if values[inputs[node]] > cuts[node] else 0)
    return node


@njit(cache=True, nogil=True)
def set_free(trees, leaf):
    """A leaf gives up its slot."""
    give_back(trees, trees.links[leaf])
    trees.links[leaf], trees.waits[leaf] = NOBODY, 0.0


@njit(cache=True, nogil=True)
def give_back(trees, slot):
    """A slot is free."""
    trees.slots[trees.free[1]] = slot
    trees.free[1] += 1


@njit(cache=True, nogil=True)
def begin_anew(trees, number):
    """Begin the worst tree anew, of those whose weights have of late added to the loss."""
    if number % EVERY != 0:
        return
    done, worst = trees.done, 0
    for g in range(done.shape[0]):
        if done[g, 0] > done[worst, 0]:
            worst = g
    if done.shape[0] > 0 and done[worst, 0] > HARM * math.sqrt(done[worst, 1]):
        fell_tree(trees, worst)


@njit(cache=True, nogil=True)
def fell_tree(trees, tree):
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
    fill_with(trees.weights[tree], 0.0)
    trees.squares[tree], trees.waits[tree] = 0.0, AT_ONCE
    trees.done[tree] = 0.0


@njit(cache=True, nogil=True)
def release(trees, node):
    """The children of a cut, or the slot of a leaf, are free again."""
    if trees.inputs[node] != NOBODY:
        trees.pairs[trees.free[0]] = trees.links[node]
        trees.free[0] += 1
    elif trees.links[node] != NOBODY:
        set_free(trees, node)
