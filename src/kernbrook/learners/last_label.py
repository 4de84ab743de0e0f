"""The last label, as an expert."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernbrook.engine.stores.base import Setting, Spread, Store
from kernbrook.engine.stores.in_place import Content, InPlace, follow, say
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats
from kernbrook.learners.without_kernel import WithoutKernel


class LastLabel(WithoutKernel):
    """One expert that says the last label again: a forecast that is hard to beat on some streams.

    Of two classes its score is 1 or -1, of more 1 for the class and 0 for others, of numbers the
    label itself; before the first label 0. It has no kernel.

    Examples
    --------
    >>> import kernbrook as kb
    >>> model = kb.OnlineMKRegressor(learner=kb.LastLabel(), center=False)
    >>> model.learn([[0.0], [0.0], [0.0]], [5.0, 6.0, 7.0])[0]
    array([0., 5., 6.])
    """

    n_experts = 1

    def make_store(self, first: int, setting: Setting) -> Store:
        return InPlace(self, LastLabelContent(setting), first, setting)


class LabelArray(NamedTuple):
    """label : (1,) the last, a number or that of the class; NaN before the first."""

    label: Floats


class LastLabelForm(NamedTuple):
    """The compiled form: what is learned, and whether labels are numbers."""

    held: LabelArray
    numbers: bool


@say.of(LastLabelForm)
def _say(form, x, out):
    label, classes = form.held.label[0], out.shape[0]
    for c in range(classes):
        value = 0.0
        if label == label:
            if form.numbers:
                value = label
            elif classes == 1:
                value = 1.0 if label == 1.0 else -1.0
            elif label == c:
                value = 1.0
        out[c] = value


@follow.of(LastLabelForm)
def _follow(form, x, scores, label, target, weight, number, seed):
    form.held.label[0] = target


class LastLabelContent(Content):
    """The content of `LastLabel` in a store: one label."""

    looks = False

    def __init__(self, setting: Setting):
        self.setting = setting

    @property
    def first(self) -> LabelArray:
        return LabelArray(np.full(1, np.nan))

    def form(self, held: LabelArray) -> LastLabelForm:
        return LastLabelForm(held, self.setting.regression)

    def check(self, held: LabelArray) -> None:
        label, classes = held.label[0], max(self.setting.scores, 2)
        known = abs(label) < 1e150 if self.setting.regression else label in range(classes)
        if not (np.isnan(label) or known):
            raise InputError(f"label: expected one that there is, got {label:g}")

    def with_classes(self, before: LabelArray, spread: Spread) -> LabelArray:
        label = before.label[0]
        if np.isnan(label):
            return before
        if len(spread.coefficients) == 1:
            place = int(np.argmax(spread.coefficients[0] * (1.0 if label == 1.0 else -1.0)))
        else:
            place = int(np.argmax(spread.origin == label))
        return LabelArray(np.array([float(place)]))

    def with_features(self, before: LabelArray) -> LabelArray:
        return before
