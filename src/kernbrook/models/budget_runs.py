"""Runs of experts that hold a fixed number of support vectors each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook._jit.budget import Parts, Slots, budget_rounds, learn_alone, slot_values
from kernbrook._jit.learning import AHPATRON, FORGETRON, PROJECTRON, PROJECTRON_PLUS
from kernbrook._jit.plan import POLYNOMIAL
from kernbrook._jit.rounds import UPDATE_DRAWN
from kernbrook._jit.storage import renumber, spread_coefficients
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout, lay_out
from kernbrook.models.engine import share
from kernbrook.models.points import Block, Floats, Rows
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
        self.torn = False  # true where an interruption left a block half learned
        self.parts = one_by_one(kernels, self.engine.layout)
        grams = budget if learner.code in (FORGETRON, AHPATRON) else 0
        factors = budget if learner.code in (PROJECTRON, PROJECTRON_PLUS) else 0
        self.slots = Slots(
            alpha=np.zeros((m, budget)),
            diagonal=np.zeros((m, budget)),
            born=np.zeros((m, budget), dtype=np.int64),
            place=np.zeros((m, budget), dtype=np.int64),
            filled=np.zeros(m, dtype=np.int64),
            gram=np.zeros((m, grams, grams)),
            factor=np.zeros((m, factors, factors)),
            order=np.zeros((m, factors), dtype=np.int64),
            memory=np.zeros((m, 2)),
        )

    def learn(self, rows: Rows, signs: Floats, importance: Floats) -> Floats:
        if self.torn:
            raise InputError(
                "the model was interrupted in the middle of a block and cannot go on; load its "
                "last saved state, or fit again"
            )
        decisions = np.zeros(len(rows))
        try:
            for start in range(0, len(rows), BUDGET_BLOCK):
                where = slice(start, min(start + BUDGET_BLOCK, len(rows)))
                part = rows.part(where.start, where.stop)
                self._block(part, signs[where], importance[where], decisions[where])
        finally:
            if not self.torn:
                slots, out = self.slots, self.support.coefficients
                spread_coefficients(slots.alpha, slots.place, slots.filled, out)
        return decisions

    def _block(self, rows: Rows, signs: Floats, importance: Floats, decisions: Floats) -> None:
        self._check_polynomials(rows)
        n, b = self.support.n, len(rows)
        m, budget = self.slots.alpha.shape
        threads = self.engine.threads(2 * b * int(self.slots.filled.sum()))
        values = np.empty((m, b, budget))
        scores, sizes = np.empty((m, b)), np.empty((m, b))
        own = Block(rows, self.engine.layout).own_pairs()

        def meet(lo: int) -> None:
            """The slots' kernel values with a thread's share of the examples."""
            part = rows.part(lo, min(lo + lanes, b))
            pairs = np.empty((len(own), n, len(part)))
            Block(part, self.engine.layout).pairs(self.support.rows, pairs)
            slot_values(self.parts, self.slots, pairs, lo, values)

        lanes = -(-b // (8 * threads)) * 8
        share(threads, meet, range(0, b, lanes))
        self.torn = True
        alone = not self.machine.selection & UPDATE_DRAWN
        if alone:
            counters = self.progress.counters.copy()

            def learn(first: int) -> None:
                learn_alone(
                    self.machine, self.parts, self.slots, (first, min(first + each, m)), (0, b), n,
                    own, values, signs, importance, counters, scores, sizes,
                )  # fmt: skip

            each = -(-m // threads)
            share(threads, learn, range(0, m, each))
        budget_rounds(
            self.machine, self.progress, self.parts, self.slots, n, own, values,
            signs, importance, alone, scores, sizes, decisions,
        )  # fmt: skip
        self._keep_what_is_used(rows, n)
        self.torn = False

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
        for order, n in zip(self.slots.order, filled, strict=True):
            if len(order) and not np.array_equal(np.sort(order[:n]), np.arange(n)):
                raise InputError(f"slots.order: expected the slots 0 to {n - 1}")

    def _check_polynomials(self, rows: Rows) -> None:
        """Refuse a block, before anything is learned from it, on which a polynomial overflows."""
        largest = rows.norms.max(initial=0.0)
        largest = np.sqrt(largest) * np.sqrt(max(self.support.rows.norms.max(initial=0.0), largest))
        parts = self.parts
        for e, kernel in enumerate(self.engine.kernels):
            for part in range(parts.first[e], parts.first[e + 1]):
                base = largest + abs(parts.parameter[part]) + 1
                if parts.code[part] == POLYNOMIAL and np.log10(base) * parts.power[part] > 300:
                    raise NonFiniteError(
                        f"kernel {kernel}: its values overflow; scale the features, or lower "
                        "its degree"
                    )

    def _keep_what_is_used(self, rows: Rows, n: int) -> None:
        """Store the block's rows that some slot holds, and drop the points that none holds."""
        slots, columns = self.slots, self.support.coefficients.shape[1]
        used = renumber(slots.place, slots.filled, n + len(rows))
        kept = np.searchsorted(used, n)
        self.support.keep(used[:kept])
        self.support.append(rows, used[kept:] - n, np.zeros((len(used) - kept, columns)))


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
