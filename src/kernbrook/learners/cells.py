"""Steps on the cells of partitions: one sum of weights, whose room grows with the stream."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import Number, Other, ask_for, check, each_of, parameters, refusal, shown
from kernbrook.compiler.compiling import njit
from kernbrook.engine.state import drop_rows
from kernbrook.engine.stores.base import Setting, Spread, Store
from kernbrook.engine.stores.in_place import Content, InPlace, follow, say
from kernbrook.errors import InputError
from kernbrook.features import binning, grown_partitions, random_binning
from kernbrook.features.binning import Bins, Placed, check_ranges, keep_row, no_bins, place, placed
from kernbrook.features.grown_partitions import (
    ANY_WEIGHT,
    FORGETS,
    LARGEST_WEIGHT,
    MOST_SUM,
    CutRoom,
    GrownPartitions,
    Trees,
    begin_anew,
    fell_tree,
    find_leaf,
    room_of,
)
from kernbrook.features.hashed_inputs import HashedInputs
from kernbrook.features.leaf_sums import collect_anew, grow
from kernbrook.features.random_binning import DRAWN, Grids, RandomBinning, draw_inputs, find_cells
from kernbrook.gram.arrays import Floats, within
from kernbrook.learners.cell_steps import (
    ERROR,
    MOST_WEIGHT,
    check_levels,
    follow_error,
    implicit_part,
    in_labels,
    measure_anew,
    no_levels,
    slope_of_class,
    slope_of_number,
)
from kernbrook.learners.linear_cells import LinearContent
from kernbrook.learners.without_kernel import WithoutKernel
from kernbrook.numerics.vectors import fill_with

MAPS = "'auto', HashedInputs(), RandomBinning(), GrownPartitions(), or a list with one of each"
MOST_FEATURES = 512  # of a row
CELLS, TABLE = 2**19, 2**25  # most cells, and bytes of their weights, where no number is said
BEGIN_GRIDS, BEGIN_TREES = 0.1, 0.3  # what sums of squared gradients begin with
LEAST_NOISE, NOISE = 0.2, 4.0  # of the size of an implicit step, beside the mean error
MOST_ADDED = 1e15  # to the loss, by a tree
NODES = "inputs", "cuts", "links", "weights", "done"
LEARNING = {"bins.sample"} | {f"trees.{name}" for name in Trees._fields if name not in NODES}
Pair = tuple[RandomBinning | None, GrownPartitions | None]


class CellArrays(NamedTuple):
    """The arrays that `Cells` learns.

    grids : as they were drawn
    bins : of the features
    table : (cells, c + 1) weights of the cells of grids, and sums of their squared gradients
    trees : the other cells
    levels : (9,) see `cell_steps`
    """

    grids: Grids
    bins: Bins
    table: NDArray[np.float32]
    trees: Trees
    levels: Floats


class Sum(NamedTuple):
    """The compiled form.

    held : changed in place
    step, numbers : as of `Cells`; whether labels are numbers
    row, cells, leaves : where the row lies
    rates : (grids + trees,) scratch; slopes : (c + 1,) scratch; keys : (d,) scratch
    room : scratch of the trees
    """

    held: CellArrays
    step: float
    numbers: bool
    row: Placed
    cells: NDArray[np.int64]
    leaves: NDArray[np.int64]
    rates: Floats
    slopes: Floats
    keys: Floats
    room: CutRoom


@parameters
class Cells(WithoutKernel):
    """One expert: a sum of weights of the cells in which a row lies, for streams of any length.

    Kernels with a budget are full after some ten thousand rows, and learn no more. Partitions have
    room that grows: more rows fill more cells of a table of fixed size. The score is the sum of the
    weights of a row's cells, of all maps together; each weight follows the residual of the whole
    sum by AdaGrad, on the logistic loss of classes (softmax of many) and the squared loss of
    numbers. Steps are implicit: no step goes beyond what the loss after the step asks for; less so
    where labels are noisy. Rows are seen as they are given: no scaling changes bins.

    On `HashedInputs` the sum is linear in the features of a row, at the cost of those that are not
    0, with plain steps of five times the length.

    Parameters
    ----------
    features : "auto", `HashedInputs()`, `RandomBinning()`, `GrownPartitions()`, or a list
        "auto": one of each. In a list, hashed inputs are for rows of more than 512 features, and
        the other two for rows of fewer.
    step : float from 0 to 100, of AdaGrad

    Notes
    -----
    Residuals of numbers are cut at 4 times their mean size. Models that learned apart are not
    averaged, as their cells differ: what learned from most labels stays.

    References
    ----------
    The maps: see `RandomBinning` and `GrownPartitions`. Duchi, Hazan, Singer (2011), Adaptive
    subgradient methods; Kulis and Bartlett (2010), Implicit online learning.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:4000").read()
    >>> model = kb.OnlineMKClassifier(learner=kb.Cells(), random_state=0)
    >>> kb.prequential(model, X, y).error < 0.2
    True
    """

    n_experts = 1
    features: Annotated[Any, Other(MAPS)] = "auto"
    step: Annotated[float, Number(0, 100, "(]")] = 0.2

    def make_store(self, first: int, setting: Setting) -> Store:
        maps = self.maps(setting.width)
        if isinstance(maps, HashedInputs):
            return InPlace(clone(self), LinearContent(self, maps, setting), first, setting)
        return InPlace(clone(self), CellsContent(self, maps, first, setting), first, setting)

    def sizes(self, setting: Setting) -> dict[str, tuple[int, ...]]:
        """Sizes of what takes memory, by name: a file is compared with them before it is read."""
        maps, d, c = self.maps(setting.width), setting.width, setting.scores
        if isinstance(maps, HashedInputs):
            return {"table": (maps.size(d) + 1, c + 1)}
        grids, trees = maps
        found: dict[str, tuple[int, ...]] = {"table": (cells_of(grids, c), c + 1)}
        if trees is not None:
            slots, _, bins = trees.collecting(d, c)
            found["trees.inputs"] = (trees.n + trees.nodes,)
            found["trees.sums"] = (slots, bins, c + 1)
        return found

    def maps(self, width: int) -> HashedInputs | Pair:
        """Hashed inputs, or one of each other kind, or None, for rows of so many features.

        InputError where there is none, two are of a kind, or one is no such map, or one with a
        parameter that it may not have.
        """
        given = each_of(self.features)
        if isinstance(self.features, str) and self.features == "auto":
            given = [HashedInputs(), RandomBinning(), GrownPartitions()]
        found = {type(recipe): recipe for recipe in given}
        known = found.keys() <= {HashedInputs, RandomBinning, GrownPartitions}
        if not found or len(found) < len(given) or not known:
            raise refusal(self, "features", f"be {MAPS}")
        for recipe in given:
            check(recipe)
        hashed = found.get(HashedInputs)
        if hashed is not None and (width > MOST_FEATURES or len(found) == 1):
            return hashed
        if width > MOST_FEATURES:
            raise InputError(
                f"Cells: {given[0]!r} is for rows of {MOST_FEATURES} features at most, got "
                f"{width:,}; take HashedInputs()"
            )
        return found.get(RandomBinning), found.get(GrownPartitions)


def most_cells(c: int) -> int:
    """A power of 2, so that there are fewer where there are more scores; many classes need more."""
    most = CELLS if c == 1 else 2 * CELLS
    return min(most, int(2 ** math.floor(math.log2(TABLE // (4 * (c + 1))))))


def cells_of(grids: RandomBinning | None, c: int) -> int:
    """How many the table has."""
    return 0 if grids is None else grids.cells or most_cells(c)


class CellsContent(Content):
    """The content of `Cells` in a store: arrays before the first row, and forms on arrays."""

    def __init__(self, learner: Cells, maps: Any, first: int, setting: Setting):
        d, c = setting.width, setting.scores
        self.setting, self.step = setting, float(learner.step)
        grids, trees = maps
        self._number, self._cells = first, cells_of(grids, c)
        self._grids = RandomBinning(0) if grids is None else grids
        self._trees = GrownPartitions(0, 0, slots=0) if trees is None else trees
        numbers = self._cells * (c + 1) + self._trees.numbers(d, c)
        ask_for(numbers, shown(learner))  # of twice the size: there is a copy of it all

    @property
    def first(self) -> CellArrays:
        d, c = self.setting.width, self.setting.scores
        grids = self._grids.draw(d, np.random.default_rng([self.setting.seed, self._number]))
        table = np.zeros((self._cells, c + 1), np.float32)
        return CellArrays(grids, no_bins(d), table, self._trees.begin(d, c), no_levels())

    def form(self, held: CellArrays) -> Sum:
        d, c = self.setting.width, self.setting.scores
        n, trees = len(held.grids.salt), len(held.trees.done)
        cells, leaves = np.zeros(n, np.int64), np.zeros(trees, np.int64)
        return Sum(
            held, self.step, self.setting.regression, placed(d), cells, leaves,
            np.zeros(n + trees), np.zeros(c + 1), np.zeros(d), room_of(d, c),
        )  # fmt: skip

    def check(self, held: CellArrays) -> None:
        self.check_what_says(held)
        with within("trees."):
            grown_partitions.check(held.trees, held.bins.inner)
        check_ranges(held._replace(table=held.table[:, -1]), table=(0, MOST_SUM))

    def what_says(self, held: CellArrays) -> CellArrays:
        """The weights, and where a row lies among them."""
        forest, c = held.trees, self.setting.scores
        nodes = slice(grown_partitions.end_of(forest))
        trees = forest._replace(
            inputs=forest.inputs[nodes], cuts=forest.cuts[nodes], links=forest.links[nodes],
            weights=forest.weights[nodes],
        )  # fmt: skip
        return drop_rows(held._replace(table=held.table[:, :c], trees=trees), LEARNING)

    def check_what_says(self, held: CellArrays) -> None:
        with within("grids."):
            random_binning.check(held.grids, self.setting.width)
        with within("bins."):
            binning.check(held.bins)
        with within("trees."):
            grown_partitions.check_nodes(held.trees, self.setting.width)
        weights = held.table[:, : self.setting.scores]
        check_ranges(held._replace(table=weights), table=ANY_WEIGHT)
        check_levels(held.levels)

    def with_classes(self, before: CellArrays, spread: Spread) -> CellArrays:
        """The arrays of fewer classes as these: weights go over; leaves begin to collect anew."""
        d, c = self.setting.width, self.setting.scores
        n = self._cells
        old, table = fold_table(before.table, n), np.zeros((n, c + 1), np.float32)
        table[:, :-1], table[:, -1] = spread.along(old[:, :-1], 1), old[:, -1]
        trees, fresh = before.trees, self._trees.begin(d, c)
        weights = spread.along(trees.weights, 1)
        return before._replace(table=table, trees=grown_partitions.spread(trees, fresh, weights))


def fold_table(table: NDArray[np.float32], cells: int) -> NDArray[np.float32]:
    """The table of so many cells: those that become one share its weights, by what they have met.

    A cell that becomes several has its weights in each.
    """
    if not cells:
        return table
    if cells >= len(table):
        return np.repeat(table, cells // len(table), axis=0)
    parts = table.reshape(cells, len(table) // cells, -1)
    squares = parts[:, :, -1:]
    total = squares.sum(axis=1)
    weights = (parts[:, :, :-1] * squares).sum(axis=1) / np.maximum(total, 1e-30)
    return np.concatenate([weights, total], axis=1)


@say.of(Sum)
def _say(form, x, out):
    held = form.held
    place(held.bins, x, form.row)
    find_cells(held.grids, form.row.ranks, held.table.shape[0], form.cells)
    trees, values = held.trees, form.row.values
    for g in range(form.leaves.shape[0]):
        form.leaves[g] = find_leaf(trees.inputs, trees.cuts, trees.links, values, np.int64(g))
    for c in range(out.shape[0]):
        total = 0.0
        for g in range(form.cells.shape[0]):
            total += held.table[form.cells[g], c]
        for g in range(form.leaves.shape[0]):
            total += trees.weights[form.leaves[g], c]
        out[c] = total
    if form.numbers:
        out[0] = in_labels(held.levels, out[0])


@follow.of(Sum)
def _follow(form, x, scores, label, target, weight, number, seed):
    held, slopes = form.held, form.slopes
    trees, levels, c, alarm = held.trees, held.levels, scores.shape[0], False
    weight = min(weight, MOST_WEIGHT)
    if form.numbers:
        ratio = slope_of_number(levels, scores[0], target, slopes)
        if ratio != 1.0:
            for weights in (held.table, trees.weights):
                measure_anew(weights, np.float32(ratio), LARGEST_WEIGHT)
    else:
        slope_of_class(scores, label, slopes)
        alarm = follow_error(levels, abs(slopes[label if c > 1 else 0]))
    squared = 0.0
    for q in range(c + 1):
        slopes[q] *= weight
        if q < c:
            squared += slopes[q] * slopes[q]
    whole = adapt(form, squared)
    noise = 1.0 if form.numbers else min(1.0, LEAST_NOISE + NOISE * levels[ERROR])
    part = implicit_part(
        form.numbers, scores, label, whole * noise, weight, slopes, squared, form.room.left
    )
    grids = form.cells.shape[0]
    for g in range(grids):
        for q in range(c):
            held.table[form.cells[g], q] -= part * form.rates[g] * slopes[q]
    for g in range(form.leaves.shape[0]):
        leaf, added = form.leaves[g], 0.0
        for q in range(c):
            added += slopes[q] * trees.weights[leaf, q]
            trees.weights[leaf, q] -= part * form.rates[grids + g] * slopes[q]
        added = min(max(added, -MOST_ADDED), MOST_ADDED)
        trees.done[g, 0] += (added - trees.done[g, 0]) * FORGETS
        trees.done[g, 1] += (added * added - trees.done[g, 1]) * FORGETS
    grow(trees, held.bins, form.row, form.leaves, slopes, seed, number, form.room)
    begin_anew(trees, number)
    if keep_row(held.bins, form.row, seed, number):
        collect_anew(trees)
        if held.bins.met[0] == DRAWN and draw_inputs(
            held.grids, held.bins, form.keys, seed, number
        ):
            fill_with(held.table.reshape(-1), 0.0)
    if alarm:
        fill_with(held.table.reshape(-1), 0.0)
        for g in range(form.leaves.shape[0]):
            fell_tree(trees, g)


@njit(cache=True, nogil=True)
def adapt(form, squared):
    """Add to the sums of squared gradients; the rates of AdaGrad, out. Returns their sum."""
    table, squares, rates = form.held.table, form.held.trees.squares, form.rates
    grids, c, whole = form.cells.shape[0], table.shape[1] - 1, 0.0
    for g in range(grids):
        cell = form.cells[g]
        table[cell, c] += squared
        rates[g] = form.step / math.sqrt(table[cell, c] + BEGIN_GRIDS)
        whole += rates[g]
    for g in range(form.leaves.shape[0]):
        leaf = form.leaves[g]
        squares[leaf] += squared
        rates[grids + g] = form.step / math.sqrt(squares[leaf] + BEGIN_TREES)
        whole += rates[grids + g]
    return whole
