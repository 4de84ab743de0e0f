"""Runs of gradient descent on kernel expansions."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook._jit.gradient_rounds import SMALL, gradient_rounds
from kernbrook._jit.rounds import Machine
from kernbrook.errors import InputError
from kernbrook.models.committee import Committee
from kernbrook.models.engine import BLOCK
from kernbrook.models.points import Block, Flags, Floats, Rows
from kernbrook.models.runs import ExpertRun, Setting, as_targets, copied

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
        self.grows = self.budget is None
        self.learned_together = BLOCK if self.budget is None else WINDOW_BLOCK

    @property
    def coefficients(self) -> Floats:
        return super().coefficients * self.scale[:, None]

    def _after(
        self,
        machine: Machine,
        rows: Rows,
        labels: Any,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> dict[str, Any]:
        block = rows, as_targets(labels), importance, decisions, asked
        return (super()._after if self.budget is None else self._window)(machine, *block)

    def _window(
        self,
        machine: Machine,
        rows: Rows,
        targets: Floats,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> dict[str, Any]:
        """A block under a budget: the sums are over the last labelled examples, afresh."""
        n, b, held, layout = self.held.n, len(rows), self.held, self.engine.layout
        block = Block(rows, layout)
        pairs = np.empty((len(layout.channels), n + b, b))
        if n:
            pairs[:, :n] = block.pairs_with(held.rows)
        pairs[:, n:] = block.own_pairs()
        scores = np.zeros((self.engine.outputs, b))
        sizes = np.zeros_like(scores)
        coefficients = np.zeros((n + b, scores.shape[0]))
        coefficients[:n] = held.coefficients
        changed = self._descend(
            machine, rows, True, layout.plan, pairs, scores, sizes, targets, importance, decisions,
            asked, coefficients,
        )  # fmt: skip
        self.engine.check_finite(sizes)
        last = np.concatenate([np.arange(n), n + np.flatnonzero(asked)])[-(self.budget or 0) :]
        kept, new = last[last < n], last[last >= n]
        held = held.kept(kept).with_coefficients(coefficients[kept])
        return changed | {"held": held.appended(rows, new - n, coefficients[new])}

    def _rounds(self, machine: Machine, rows: Rows, *arguments: Any) -> dict[str, Any]:
        return self._descend(machine, rows, False, *arguments)

    def _descend(
        self, machine: Machine, rows: Rows, inside: bool, *arguments: Any
    ) -> dict[str, Any]:
        """The compiled pass; sums that have overflowed are infinite afterwards.

        inside : whether `arguments` have the stored examples before the block's
        """
        progress, scale = copied(self.progress), self.scale.copy()
        shifts = np.zeros(len(scale), dtype=np.int64)
        stored = self.held.rows.keys
        keys, known = self.known(rows, stored, inside)
        if inside:
            keys = np.concatenate([stored, keys])
        gradient_rounds(machine, progress, keys, known, scale, shifts, self.budget or 0, *arguments)
        sizes, coefficients = arguments[3], arguments[-1]
        if not (np.isfinite(coefficients).all() and np.isfinite(scale).all()):
            sizes[:] = np.inf  # for the caller to find
        changed: dict[str, Any] = {"progress": progress, "scale": scale}
        if shifts.any() and not inside:
            shrunk = self.held.coefficients * np.repeat(SMALL**shifts, self.scores)
            changed["held"] = self.held.with_coefficients(shrunk)
        return changed

    def check_state(self) -> None:
        """Raise InputError where learning could not have led here, or could not go on."""
        if not ((self.scale > 0) & (self.scale <= 1)).all():
            raise InputError("scale: expected numbers above 0, at most 1")
        if self.budget is not None and self.budget >= 2**63:
            raise InputError(f"GradientDescent: budget: {self.budget} is too large")

    def scored(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        scores, sizes, variances = super().scored(rows)
        scale = self.scale[:, None, None]
        return scale * scores, scale * sizes, variances
