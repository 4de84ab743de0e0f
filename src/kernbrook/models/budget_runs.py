"""Runs of experts that hold a fixed number of support vectors each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kernbrook._jit.asking import ALL
from kernbrook._jit.budget import Parts, Slots, budget_rounds, learn_alone, slot_values, uses
from kernbrook._jit.learning import PEGASOS
from kernbrook._jit.pegasos import PROJECT
from kernbrook._jit.plan import POLYNOMIAL
from kernbrook._jit.rounds import UPDATE_DRAWN, Machine
from kernbrook._jit.storage import renumber, spread_coefficients
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout, lay_out
from kernbrook.models.committee import Committee
from kernbrook.models.engine import share
from kernbrook.models.points import Block, DenseRows, Flags, Floats, Labels, Rows, SupportVectors
from kernbrook.models.runs import ExpertRun, Setting, by_blocks

BUDGET_BLOCK = 128  # examples processed together: later ones see more of the block's own changes


class BudgetRun(ExpertRun):
    """One expert a kernel, each within the learner's budget; see `ExpertRun`.

    The stored points are those that some expert holds; `support.coefficients` follows from the
    slots after every block.
    """

    def __init__(self, committee: Committee, setting: Setting):
        kernels, learners = committee.kernels, committee.learners
        if len(learners) > 1:
            raise InputError(f"learner: one with a budget does not go into a pool, got {learners}")
        (learner,) = learners
        own = "points" in learner.keeps(kernels)  # merged points are no rows of the data
        super().__init__(committee, setting._replace(sparse=setting.sparse and not own))
        m, budget = len(kernels), learner.slots()
        self.grows = budget is None
        budget = 0 if budget is None else budget
        self.torn = False  # true where an interruption left a block half learned
        self.parts = one_by_one(kernels, self.engine.layout)
        self.uses = uses(self.machine)
        keeps = learner.keeps(kernels)
        grams = budget if "gram" in keeps else 0
        factors = budget if "factor" in keeps else 0
        self.owns = own
        self.slots = Slots(
            alpha=np.zeros((m, setting.scores, budget)),
            diagonal=np.zeros((m, budget)),
            born=np.zeros((m, budget), dtype=np.int64),
            place=np.zeros((m, budget), dtype=np.int64),
            filled=np.zeros(m, dtype=np.int64),
            gram=np.zeros((m, grams, grams)),
            factor=np.zeros((m, factors, factors)),
            order=np.zeros((m, factors), dtype=np.int64),
            memory=np.zeros((m, 3)),
            scale=np.ones(m),
            points=np.zeros((m, budget, setting.width) if own else (m, 0, 0)),
            norms=np.zeros((m, budget if own else 0)),
        )

    def learn(
        self, rows: Rows, labels: Labels, importance: Floats, given: bool = False
    ) -> tuple[Floats, Flags]:
        if self.torn:
            raise InputError(
                "the model was interrupted in the middle of a block and cannot go on; load its "
                "last saved state, or fit again"
            )
        block = partial(self._block, self.machine_that(given))
        try:
            return by_blocks(BUDGET_BLOCK, self.scores, block, rows, labels, importance)
        finally:
            if not self.torn:
                self._write_support()

    def _block(
        self,
        machine: Machine,
        rows: Rows,
        labels: Labels,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> None:
        stored = self._points()
        self._check_polynomials(rows, stored)
        if self.grows:
            self.make_room(int(self.slots.filled.max()) + len(rows))
        slots, b = self.slots, len(rows)
        n = len(stored)
        m, c, budget = slots.alpha.shape
        threads = self.engine.threads(2 * b * int(slots.filled.sum()))
        values = np.empty((m, b, budget))
        scores, sizes = np.empty((m, b, c)), np.empty((m, b, c))
        block = Block(rows, self.engine.layout)
        own = block.own_pairs()
        nothing = np.zeros((0, 0))
        features = (nothing, rows.norms, nothing, np.inf)
        if self.owns:
            points = np.array(rows.dense())  # a read-only one would be compiled for anew
            features = (points, rows.norms, block.columns, self.engine.layout.plan.reach)

        def meet(lo: int) -> None:
            """The slots' kernel values with a thread's share of the examples."""
            part = rows.part(lo, min(lo + lanes, b))
            pairs = np.empty((len(own), n, len(part)))
            Block(part, self.engine.layout).pairs(stored, pairs)
            slot_values(self.parts, slots, pairs, lo, values)

        lanes = -(-b // (8 * threads)) * 8
        share(threads, meet, range(0, b, lanes))
        self.torn = True
        alone = machine.policy == ALL and not machine.selection & UPDATE_DRAWN
        alone = alone and bool((labels >= 0).all())
        if alone:
            counters = self.progress.counters.copy()

            def learn(first: int) -> None:
                learn_alone(
                    machine, self.uses, self.parts, slots, (first, min(first + each, m)), (0, b), n,
                    features, own, values, labels, importance, counters, scores, sizes,
                )  # fmt: skip

            each = -(-m // threads)
            share(threads, learn, range(0, m, each))
        uses, held = (None, None) if alone else (self.uses, slots)
        budget_rounds(
            machine, self.progress, uses, self.parts, held, n, features, own, values, labels,
            importance, scores, sizes, decisions, asked,
        )  # fmt: skip
        if not self.owns:
            self._keep_what_is_used(rows, n)
        self.torn = False

    def _points(self) -> Rows:
        """The points that `slots.place` counts from 0."""
        if not self.owns:
            return self.support.rows
        points = self.slots.points
        return DenseRows(points.reshape(-1, points.shape[2]), self.slots.norms.reshape(-1))

    def make_room(self, needed: int) -> None:
        """Room for so many slots, at least half as many again as before."""
        room = self.slots.alpha.shape[2]
        if needed <= room:
            return
        more = max(needed, room * 3 // 2) - room

        def grown(array: Any) -> Any:
            return np.concatenate([array, np.zeros((*array.shape[:-1], more), array.dtype)], -1)

        names = ("alpha", "diagonal", "born", "place")
        self.slots = self.slots._replace(**{k: grown(getattr(self.slots, k)) for k in names})

    def _write_support(self) -> None:
        """`support`, for prediction and for looking at, from the slots."""
        slots = self.slots
        if self.owns:
            held = np.flatnonzero(np.arange(slots.alpha.shape[2]) < slots.filled[:, None])
            columns = self.support.coefficients.shape[1]
            self.engine.support = SupportVectors(columns, self.support.width, False)
            self.support.append(self._points(), held, np.zeros((len(held), columns)))
            e = np.repeat(np.arange(len(slots.filled)), slots.filled)
            s = held % slots.alpha.shape[2]
            own = slots.scale[e][:, None] * slots.alpha[e, :, s]
            self.coefficients[np.arange(len(held)), e] = own
        else:
            out = self.support.coefficients
            spread_coefficients(slots.alpha, slots.scale, slots.place, slots.filled, out)

    @property
    def nbytes(self) -> int:
        return super().nbytes + sum(array.nbytes for array in self.slots)

    def check_state(self) -> None:
        """Raise InputError where slots point outside what is stored: compiled code trusts them."""
        filled, budget = self.slots.filled, self.slots.alpha.shape[2]
        if ((filled < 0) | (filled > budget)).any():
            raise InputError(f"slots.filled: expected 0 to {budget}")
        places = self.slots.place[np.arange(budget) < filled[:, None]]
        stored = len(self._points())
        if ((places < 0) | (places >= stored)).any():
            raise InputError(f"slots.place: expected 0 to {stored - 1}")
        projects = self.machine.learner_parameters[:, 1] == PROJECT
        projects |= self.machine.learner != PEGASOS
        for order, n in zip(self.slots.order[projects], filled[projects], strict=True):
            if len(order) and not np.array_equal(np.sort(order[:n]), np.arange(n)):
                raise InputError(f"slots.order: expected the slots 0 to {n - 1}")

    def _check_polynomials(self, rows: Rows, stored: Rows) -> None:
        """Refuse a block, before anything is learned from it, on which a polynomial overflows."""
        largest = rows.norms.max(initial=0.0)
        largest = np.sqrt(largest) * np.sqrt(max(stored.norms.max(initial=0.0), largest))
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
