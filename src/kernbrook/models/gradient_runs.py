"""Runs of gradient descent on kernel expansions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.gradient_rounds import SMALL, gradient_rounds
from kernbrook._jit.rounds import Machine
from kernbrook.errors import InputError
from kernbrook.models.committee import Committee
from kernbrook.models.engine import undone_on_overflow
from kernbrook.models.points import Block, Flags, Floats, Rows
from kernbrook.models.runs import ExpertRun, Setting, as_targets, by_blocks

WINDOW_BLOCK = 128  # examples processed together under a budget


class GradientRun(ExpertRun):
    """Experts whose coefficients all shrink at every step; see `gradient_rounds`.

    Under a budget each sums over the last examples with labels: what is older has shrunk most.
    """

    def __init__(self, committee: Committee, setting: Setting):
        super().__init__(committee, setting)
        steps, regularization = self.machine.learner_parameters[:, [2, 4]].T
        if (2 * steps * regularization >= 1).any():
            raise InputError(
                "GradientDescent: 2 * step * regularization must be below 1, got "
                f"{(2 * steps * regularization).max():g}"
            )
        self.scale = np.ones(len(committee.kernels))
        budgets = {learner.budget for learner in committee.learners}
        if len(budgets) > 1:
            raise InputError(f"learner: one budget for all of a pool, got {committee.learners}")
        self.budget = budgets.pop()

    @property
    def coefficients(self) -> Floats:
        return super().coefficients * self.scale[:, None]

    def learn(
        self, rows: Rows, labels: Any, importance: Floats, given: bool = False
    ) -> tuple[Floats, Flags]:
        targets = as_targets(labels)
        if self.budget is None:
            return super().learn(rows, targets, importance, given)
        block = partial(self._window, self.machine_that(given))
        return by_blocks(WINDOW_BLOCK, self.scores, block, rows, targets, importance)

    def _window(
        self,
        machine: Machine,
        rows: Rows,
        targets: Floats,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> None:
        """A block under a budget: the sums are over the last labelled examples, afresh."""
        n, b, support, layout = self.support.n, len(rows), self.support, self.engine.layout
        block = Block(rows, layout)
        pairs = np.empty((len(layout.channels), n + b, b))
        if n:
            stored = np.empty((len(layout.channels), n, b))
            block.pairs(support.rows, stored)
            pairs[:, :n] = stored
        pairs[:, n:] = block.own_pairs()
        scores = np.zeros((self.engine.outputs, b))
        sizes = np.zeros_like(scores)
        coefficients = np.zeros((n + b, scores.shape[0]))
        coefficients[:n] = support.coefficients
        shifts = np.zeros(len(self.scale), dtype=np.int64)
        with undone_on_overflow(self._state()):
            gradient_rounds(
                machine, self.progress, self.scale, shifts, self.budget, layout.plan, pairs,
                scores, sizes, targets, importance, decisions, asked, coefficients,
            )  # fmt: skip
            if not (np.isfinite(coefficients).all() and np.isfinite(self.scale).all()):
                sizes[:] = np.inf
            self.engine.check_finite(sizes)
        held = np.concatenate([np.arange(n), n + np.flatnonzero(asked)])[-self.budget :]
        kept, new = held[held < n], held[held >= n]
        support.keep(kept)
        support.coefficients[:] = coefficients[kept]
        support.append(rows, new - n, coefficients[new])

    def _rounds(self, given: bool, *arguments: Any) -> None:
        progress, plan, pairs, scores, sizes, *others = arguments
        shifts = np.zeros(len(self.scale), dtype=np.int64)
        machine = self.machine_that(given)
        sums = plan, pairs, scores, sizes
        gradient_rounds(machine, progress, self.scale, shifts, 0, *sums, *others)
        coefficients = others[-1]
        if not (np.isfinite(coefficients).all() and np.isfinite(self.scale).all()):
            sizes[:] = np.inf  # for the engine to find, and to undo the block
        elif shifts.any():
            self.support.coefficients[:] *= np.repeat(SMALL**shifts, self.scores)

    def check_state(self) -> None:
        """Raise InputError where learning could not have led here, or could not go on."""
        if not ((self.scale > 0) & (self.scale <= 1)).all():
            raise InputError("scale: expected numbers above 0, at most 1")
        if self.budget is not None and self.budget >= 2**63:
            raise InputError(f"GradientDescent: budget: {self.budget} is too large")

    def _state(self) -> Sequence[NDArray[Any]]:
        return (*self.progress, self.scale)

    def scored(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        scores, sizes, variances = super().scored(rows)
        scale = self.scale[:, None, None]
        return scale * scores, scale * sizes, variances
