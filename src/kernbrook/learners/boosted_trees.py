"""Boosted trees on the last rows, one of which is fitted anew at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import Number, Whole, ask_for, parameters, shown
from kernbrook.compiler.compiling import njit
from kernbrook.engine.state import drop_rows
from kernbrook.engine.stores.base import Setting, Spread, Store
from kernbrook.engine.stores.in_place import Content, InPlace, follow, say
from kernbrook.errors import InputError
from kernbrook.features import binning
from kernbrook.features.binning import Bins, Placed, keep_row, no_bins, place, placed
from kernbrook.features.grown_partitions import LARGEST_WEIGHT, MOST_SUM, find_leaf
from kernbrook.gram.arrays import Floats, Ints, pad, within
from kernbrook.learners.cell_steps import (
    MOST_LABEL,
    MOST_WEIGHT,
    check_levels,
    follow_error,
    in_labels,
    measure_anew,
    no_levels,
    slope_of_class,
    slope_of_number,
)
from kernbrook.learners.cells import MOST_FEATURES
from kernbrook.learners.tree_fitting import (
    BINS,
    PER_ROW,
    Fitted,
    Room,
    Window,
    check_trees,
    check_window,
    encode,
    fit,
    forget_trees,
    no_trees,
    no_window,
    number_bins,
    room_of,
)
from kernbrook.learners.without_kernel import WithoutKernel
from kernbrook.numerics.vectors import copy, fill_with

MOST_TREES, MOST_LEAVES, MOST_ROWS = 1000, 128, 2**16
FIRST_TREE = 16  # rows, when the first bins are there
BINS_BEFORE = 32  # of a feature, in older files
FEW_ROWS, MOST_AHEAD = 4096, 8  # up to half as many rows a label pays for more, at most times 8
STAYS = 300  # rows, of a window when errors have leapt
CREDIT, TURN, GONE = range(3)  # what `work` holds
LEARNING = {"bins.sample", "work"} | {f"window.{name}" for name in Window._fields}


class Held(NamedTuple):
    """What is learned.

    bins : of the features
    window : the last rows
    trees : a row's score is the sum of the weights of its leaves
    work : (3,) int, what may be spent on the next tree; the number of this tree; rows that are
        forgotten, of those so far
    levels : (9,) see `cell_steps`
    """

    bins: Bins
    window: Window
    trees: Fitted
    work: Ints
    levels: Floats


class Boosted(NamedTuple):
    """The compiled form.

    held : changed in place
    step, work, numbers : as of `BoostedTrees`; whether labels are numbers
    row, leaves : where the row lies; sums : (c,) of the weights of the leaves
    slopes : (c + 1,) scratch; room : scratch of a fit
    """

    held: Held
    step: float
    work: int
    numbers: bool
    row: Placed
    leaves: Ints
    sums: Floats
    slopes: Floats
    room: Room


@parameters
class BoostedTrees(WithoutKernel):
    """One expert: boosted trees on the last rows, for concepts of thresholds that change.

    The score of a row is a sum of weights, of one leaf in each of n trees. Trees are fitted to the
    last rows, one at a time: the oldest tree goes, and a new one follows the gradients that the
    other trees leave. Leaves are cut where the loss can fall most, until there are enough of them.
    Each label pays for the same work, so a tree on many rows comes more seldom; each of the first
    2,048 labels pays for more, up to 8 times as much. Where the errors of classes have leapt, all
    trees go, and all rows but the last 300.

    Parameters
    ----------
    n : int
        Trees.
    leaves : int
        Of a tree, at most.
    window : int
        Rows that are kept.
    step : float from 0 to 1
        The part of the best weights that a new tree has.
    work : int
        What a label pays for: a row costs a new tree 8, and 1 for each of its features that is not
        in its most frequent bin, of two classes; of c classes (c + 1) / 2 times as much.

    Notes
    -----
    A feature has 64 bins at most, set by a sample of the rows as for `Cells`; nothing else is drawn
    at random. Models that learned apart are not averaged: what learned from most labels stays.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine; Chen and Guestrin
    (2016), XGBoost, equation 7; Ke et al. (2017), LightGBM, for leaf-wise growth on histograms;
    one tree at a time, given the others: Chipman, George, McCulloch (2010), BART.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("waveform:4000").read()
    >>> model = kb.OnlineMKClassifier(learner=kb.BoostedTrees(), random_state=0)
    >>> kb.prequential(model, X, y).error < 0.2
    True
    """

    n_experts = 1
    adds_ahead = True  # far committees of numbers take it nearly as it is, beside their vote
    n: Annotated[int, Whole(most=MOST_TREES)] = 32
    leaves: Annotated[int, Whole(2, most=MOST_LEAVES)] = 32
    window: Annotated[int, Whole(FIRST_TREE, most=MOST_ROWS)] = 16384
    step: Annotated[float, Number(0, 1, "(]")] = 0.3
    work: Annotated[int, Whole(most=10**9)] = 2048

    def make_store(self, first: int, setting: Setting) -> Store:
        if setting.width > MOST_FEATURES:
            raise InputError(
                f"BoostedTrees: rows of {MOST_FEATURES} features at most, got {setting.width:,}; "
                "take Cells(HashedInputs())"
            )
        return InPlace(clone(self), Latest(self, setting), first, setting)

    def sizes(self, setting: Setting) -> dict[str, tuple[int, ...]]:
        return {
            "window.bins": (self.window, setting.width),
            "trees.weights": (self.n, 2 * self.leaves - 1, setting.scores),
        }


class Latest(Content):
    """What `BoostedTrees` keeps in a store: arrays before the first row, and forms on arrays."""

    passing = ("window.values",)

    def __init__(self, learner: BoostedTrees, setting: Setting):
        self.learner, self.setting = learner, setting
        d, c, n, rows = setting.width, setting.scores, learner.n, learner.window
        own = n * (2 * learner.leaves * (c + 3) + rows // 4) + rows * (2 * d + 2 * c + 4)
        ask_for(own + learner.leaves * d * BINS * (c + 1), shown(learner))

    @property
    def first(self) -> Held:
        own, d, c = self.learner, self.setting.width, self.setting.scores
        return Held(
            no_bins(d, BINS), no_window(own.window, d, c, own.n), no_trees(own.n, own.leaves, c),
            np.zeros(3, np.int64), no_levels(),
        )  # fmt: skip

    def form(self, held: Held) -> Boosted:
        own, d, c = self.learner, self.setting.width, self.setting.scores
        return Boosted(
            held, float(own.step), int(own.work), self.setting.regression, placed(d),
            np.zeros(own.n, np.int64), np.zeros(c), np.zeros(c + 1),
            room_of(own.window, d, c, own.leaves),
        )  # fmt: skip

    def what_says(self, held: Held) -> Held:
        """The trees, and what places a row."""
        return drop_rows(held, LEARNING)

    def as_today(self, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """With room for as many bins as there are today."""
        names = ("bins.edges", "bins.levels")
        older = [name for name in names if np.shape(arrays.get(name, ()))[1:] == (BINS_BEFORE + 1,)]
        return {**arrays, **{name: pad(arrays[name], -1, BINS + 1) for name in older}}

    def check_what_says(self, held: Held) -> None:
        with within("bins."):
            binning.check(held.bins)
        with within("trees."):
            check_trees(held.trees, self.setting.width)
        check_levels(held.levels)

    def has_passed(self, held: Held) -> bool:
        """Whether the bins stay, by which rows are known from then on."""
        return bool(held.bins.met[0] >= binning.LAST)

    def check(self, held: Held) -> None:
        self.check_what_says(held)
        c, regression = self.setting.scores, self.setting.regression
        with within("window."):
            if len(held.window.values) == 0 and not self.has_passed(held):
                raise InputError("values: expected those of the first rows: bins may still move")
            classes = None if regression else max(2, c)
            nodes = held.trees.inputs.shape[1]
            check_window(held.window, held.bins, nodes, classes)
        (credit, turn, gone), met = held.work, held.bins.met[0]
        most = self.learner.window * (self.setting.width + PER_ROW) * (c + 1) // 2
        if not (0 <= credit <= most and 0 <= turn < self.learner.n and 0 <= gone <= met):
            raise InputError("work: expected what is left, a tree, and rows so far")

    def with_classes(self, before: Held, spread: Spread) -> Held:
        """What was learned of fewer classes: trees go over, rows do not."""
        weights = spread.along(before.trees.weights, 2)
        work = np.array([0, before.work[TURN], before.bins.met[0]])
        trees, old = before.trees._replace(weights=weights), before.window
        window = self.first.window._replace(usual=old.usual, begins=old.begins)
        return before._replace(window=window, trees=trees, work=work)


@say.of(Boosted)
def _say(form, x, out):
    held, sums, trees = form.held, form.sums, form.held.trees
    place(held.bins, x, form.row)
    for g in range(form.leaves.shape[0]):
        inputs, cuts, links = trees.inputs[g], trees.cuts[g], trees.links[g]
        form.leaves[g] = find_leaf(inputs, cuts, links, form.row.values, np.int64(0))
    for q in range(out.shape[0]):
        sums[q] = 0.0
        for g in range(form.leaves.shape[0]):
            sums[q] += trees.weights[g, form.leaves[g], q]
        out[q] = sums[q]
    if form.numbers:
        out[0] = in_labels(held.levels, sums[0])


@follow.of(Boosted)
def _follow(form, x, scores, label, target, weight, number, seed):
    held, slopes = form.held, form.slopes
    bins, window, trees, levels, work = held.bins, held.window, held.trees, held.levels, held.work
    at = bins.met[0] % window.labels.shape[0]
    if form.numbers:
        ratio = np.float32(slope_of_number(levels, scores[0], target, slopes))
        if ratio != 1.0:
            for g in range(trees.weights.shape[0]):
                measure_anew(trees.weights[g], ratio, LARGEST_WEIGHT)
            measure_anew(window.sums, ratio, MOST_SUM)
            form.sums[0] *= ratio
    else:
        slope_of_class(scores, label, slopes)
        if follow_error(levels, abs(slopes[label if scores.shape[0] > 1 else 0])):
            forget_trees(trees, window)
            work[CREDIT], work[GONE] = 0, max(work[GONE], bins.met[0] - STAYS)
            fill_with(form.leaves, 0)
            fill_with(form.sums, 0.0)
    window.labels[at] = min(max(target, -MOST_LABEL), MOST_LABEL)
    window.weights[at] = min(weight, MOST_WEIGHT)
    copy(form.sums, window.sums[at])
    for g in range(form.leaves.shape[0]):
        window.leaves[g, at] = form.leaves[g]
    if at < window.values.shape[0]:
        copy(form.row.values, window.values[at])
    encode(window, form.row, at)
    if keep_row(bins, form.row, seed, number):
        place_anew(form)
    pay(form)


@njit(cache=True, nogil=True)
def place_anew(form):
    """Bins have moved: the rows have other codes."""
    bins, window = form.held.bins, form.held.window
    number_bins(window, bins)
    for i in range(min(bins.met[0], window.labels.shape[0])):
        place(bins, window.values[i], form.row)
        encode(window, form.row, i)


@njit(cache=True, nogil=True)
def pay(form):
    """A label pays for its part of the next tree, which is fitted as soon as all is paid for."""
    met, window, work = form.held.bins.met[0], form.held.window, form.held.work
    m = window.labels.shape[0]
    rows = min(met - work[GONE], m)
    there = window.total[0] // min(met, m) + PER_ROW
    if met < FIRST_TREE:
        return
    work[CREDIT] += form.work * min(max(FEW_ROWS // met, 1), MOST_AHEAD)
    if work[CREDIT] < rows * there * form.slopes.shape[0] // 2:
        return
    work[CREDIT] = 0
    fit(form, work[TURN], ((met - 1) % m, rows))
    work[TURN] = (work[TURN] + 1) % form.leaves.shape[0]
