"""Runs of experts that hold a fixed number of support vectors each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook._jit.budget import Parts, Slots, budget_rounds, slot_values
from kernbrook._jit.learning import FORGETRON
from kernbrook._jit.plan import POLYNOMIAL
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout, lay_out
from kernbrook.models.points import Block, Floats, Rows, SupportVectors
from kernbrook.models.runs import ExpertRun

BUDGET_BLOCK = 128  # examples processed together: later ones see more of the block's own changes


class BudgetRun(ExpertRun):
    """One expert a kernel, each within the learner's budget; see `ExpertRun`.

    The stored points are those that some expert holds; `support.coefficients` follows from the
    slots after every block.
    """

    def __init__(
        self,
        kernels: tuple[Kernel, ...],
        learner: Any,
        combiner: Any,
        selection: Any,
        width: int,
        sparse: bool,
        seed: int,
    ):
        super().__init__(kernels, learner, combiner, selection, width, sparse, seed)
        m, budget = len(kernels), learner.slots()
        self.parts = one_by_one(kernels, self.engine.layout)
        grams = budget if learner.code == FORGETRON else 0
        self.slots = Slots(
            alpha=np.zeros((m, budget)),
            diagonal=np.zeros((m, budget)),
            born=np.zeros((m, budget), dtype=np.int64),
            place=np.zeros((m, budget), dtype=np.int64),
            filled=np.zeros(m, dtype=np.int64),
            gram=np.zeros((m, grams, grams)),
            memory=np.zeros((m, 2)),
        )

    def learn(self, rows: Rows, signs: Floats, importance: Floats) -> Floats:
        decisions = np.zeros(len(rows))
        for start in range(0, len(rows), BUDGET_BLOCK):
            where = slice(start, min(start + BUDGET_BLOCK, len(rows)))
            part = rows.part(where.start, where.stop)
            self._block(part, signs[where], importance[where], decisions[where])
        return decisions

    def _block(self, rows: Rows, signs: Floats, importance: Floats, decisions: Floats) -> None:
        block = Block(rows, self.engine.layout)
        n, b = self.support.n, len(rows)
        m, budget = self.slots.alpha.shape
        stored = np.empty((len(self.engine.layout.channels), n, b))
        block.pairs(self.support.rows, stored)
        own = block.own_pairs()
        self._check_polynomials(stored, own)
        values = np.zeros((m, b, budget))
        slot_values(self.parts, self.slots, stored, values)
        budget_rounds(
            self.machine, self.progress, self.parts, self.slots, n, own, values,
            signs, importance, decisions,
        )  # fmt: skip
        self._keep_what_is_used(rows, n)

    @property
    def nbytes(self) -> int:
        return super().nbytes + sum(array.nbytes for array in self.slots)

    def check_state(self) -> None:
        """Raise InputError where slots point outside what is stored: compiled code trusts them."""
        filled, budget = self.slots.filled, self.slots.alpha.shape[1]
        if ((filled < 0) | (filled > budget)).any():
            raise InputError(f"slots.filled: expected 0 to {budget}")
        places = self.slots.place[np.arange(budget) < filled[:, None]]
        if ((places < 0) | (places >= self.support.n)).any():
            raise InputError(f"slots.place: expected 0 to {self.support.n - 1}")

    def _check_polynomials(self, *pairs: Floats) -> None:
        """Refuse a block, before anything is learned from it, on which a polynomial overflows."""
        parts = self.parts
        for e, kernel in enumerate(self.engine.kernels):
            for part in range(parts.first[e], parts.first[e + 1]):
                if parts.code[part] != POLYNOMIAL:
                    continue
                largest = max(
                    np.abs(values[parts.channel[part]]).max(initial=0.0) for values in pairs
                )
                if np.log10(largest + abs(parts.parameter[part]) + 1) * parts.power[part] > 300:
                    raise NonFiniteError(
                        f"kernel {kernel}: its values overflow; scale the features, or lower "
                        "its degree"
                    )

    def _keep_what_is_used(self, rows: Rows, n: int) -> None:
        """Store the block's rows that some slot holds, and drop the points that none holds."""
        in_use = np.arange(self.slots.alpha.shape[1]) < self.slots.filled[:, None]
        places = self.slots.place
        used = np.unique(places[in_use])
        if (len(used) and used[-1] >= n) or len(used) < n:
            columns = len(self.slots.filled)
            kept = SupportVectors(columns, self.support.width, self.support.sparse)
            old, new = used[used < n], used[used >= n] - n
            kept.append(self.support.rows, old, np.zeros((len(old), columns)))
            kept.append(rows, new, np.zeros((len(new), columns)))
            self.engine.support = kept
            places[in_use] = np.searchsorted(used, places[in_use])
        self.support.coefficients[:] = 0.0
        experts, slots = np.nonzero(in_use)
        self.support.coefficients[places[experts, slots], experts] = self.slots.alpha[in_use]


def one_by_one(kernels: tuple[Kernel, ...], layout: Layout) -> Parts:
    """Each kernel by itself, without ladders, in the channels of the layout."""
    rows = []
    first = [0]
    plans: dict[Kernel, Any] = {}
    for kernel in kernels:
        for factor, part in kernel.parts():
            if part not in plans:
                plans[part] = _alone(part, layout)
            rows.append((*plans[part], factor))
        first.append(len(rows))
    columns = (np.array(column) for column in zip(*rows, strict=True))
    code, channel, power, parameter, offset, factors = columns
    return Parts(code, channel, power, parameter, offset, factors, np.array(first))


def _alone(kernel: Kernel, layout: Layout) -> tuple[int, int, int, float, float]:
    plan = lay_out([kernel])
    step = plan.plan
    if plan.given:
        channel = len(layout.channels) - len(layout.given) + layout.given.index(plan.given[0])
    else:
        channel = layout.channels.index(plan.channels[int(step.channel[0])])
    assert len(step.code) == 1  # one kernel, so no ladder
    return (
        int(step.code[0]), channel, int(step.power[0]), float(step.parameter[0]),
        float(step.offset[0]),
    )  # fmt: skip
