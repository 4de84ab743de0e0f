"""Steps on the cells of hashed inputs: a linear model on rows of any width."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import ask_for
from kernbrook.compiler.compiling import njit
from kernbrook.engine.stores.base import Setting, Spread
from kernbrook.engine.stores.in_place import Content, follow, say
from kernbrook.features.binning import check_ranges
from kernbrook.features.hashed_inputs import HashedInputs, cell_of
from kernbrook.gram.arrays import Floats
from kernbrook.learners.cell_steps import (
    MOST_WEIGHT,
    check_levels,
    in_labels,
    measure_anew,
    no_levels,
    slope_of_class,
    slope_of_number,
)

BEGIN = 1e-3  # what sums of squared gradients begin with
LARGEST = 1e12  # greater values of features count as this
MOST_SQUARES = 1e37
STEPS = 5.0  # times the step of `Cells`: one cell has the whole score, not a part of it


class LinearArrays(NamedTuple):
    """The arrays that `Cells` learns on hashed inputs.

    table : (cells + 1, c + 1) weights, and sums of squared gradients; last, those of the constant 1
    levels : (9,) see `cell_steps`
    """

    table: NDArray[np.float32]
    levels: Floats


class LinearSum(NamedTuple):
    """The compiled form: what is learned, the step, whether labels are numbers, the features.

    slopes : (c + 1,) scratch
    """

    held: LinearArrays
    step: float
    numbers: bool
    d: int
    slopes: Floats


class LinearContent(Content):
    """The content of `Cells` in a store, on hashed inputs."""

    sparse = True

    def __init__(self, learner: Any, inputs: HashedInputs, setting: Setting):
        self.setting, self.step = setting, STEPS * float(learner.step)
        cells, c = inputs.size(setting.width), setting.scores
        ask_for((cells + 1) * (c + 1), f"Cells, {cells:,} cells")
        self._shape = cells + 1, c + 1

    @property
    def first(self) -> LinearArrays:
        return LinearArrays(np.zeros(self._shape, np.float32), no_levels())

    def form(self, held: LinearArrays) -> LinearSum:
        slopes, setting = np.zeros(self.setting.scores + 1), self.setting
        return LinearSum(held, self.step, setting.regression, setting.width, slopes)

    def check(self, held: LinearArrays) -> None:
        self.check_what_says(held)
        check_ranges(held._replace(table=held.table[:, -1]), table=(0, MOST_SQUARES))

    def what_says(self, held: LinearArrays) -> LinearArrays:
        return held._replace(table=held.table[:, : self.setting.scores])

    def check_what_says(self, held: LinearArrays) -> None:
        check_ranges(held, table=(-MOST_SQUARES, MOST_SQUARES))
        check_levels(held.levels)

    def with_classes(self, before: LinearArrays, spread: Spread) -> LinearArrays:
        weights = spread.along(before.table[:, :-1], 1)
        return before._replace(table=np.concatenate([weights, before.table[:, -1:]], axis=1))


@say.of(LinearSum)
def _say(form, x, out):
    table, values = form.held.table, x.values
    cells, c = table.shape[0] - 1, out.shape[0]
    for q in range(c):
        out[q] = table[cells, q]
    for k in range(values.shape[0]):
        cell = cell_of(x.features[k], form.d, cells)
        value = min(max(values[k], -LARGEST), LARGEST)
        for q in range(c):
            out[q] += value * table[cell, q]
    if form.numbers:
        out[0] = in_labels(form.held.levels, out[0])


@follow.of(LinearSum)
def _follow(form, x, scores, label, target, weight, number, seed):
    table, levels, slopes, values = form.held.table, form.held.levels, form.slopes, x.values
    cells, c = table.shape[0] - 1, scores.shape[0]
    if form.numbers:
        ratio = np.float32(slope_of_number(levels, scores[0], target, slopes))
        if ratio != 1.0:
            measure_anew(table, ratio, MOST_SQUARES)
    else:
        slope_of_class(scores, label, slopes)
    squared = 0.0
    for q in range(c):
        slopes[q] *= min(weight, MOST_WEIGHT)
        squared += slopes[q] * slopes[q]
    for k in range(values.shape[0]):
        value = min(max(values[k], -LARGEST), LARGEST)
        descend(table, cell_of(x.features[k], form.d, cells), value, form.step, slopes, squared)
    descend(table, cells, 1.0, form.step, slopes, squared)


@njit(cache=True, nogil=True, forceinline=True)
def descend(table, cell, value, step, slopes, squared):
    """One step of AdaGrad for the weights of a cell."""
    c = table.shape[1] - 1
    table[cell, c] = min(table[cell, c] + squared * value * value, MOST_SQUARES)
    rate = step * value / math.sqrt(table[cell, c] + BEGIN)
    for q in range(c):
        table[cell, q] -= rate * slopes[q]
