"""Runs of experts that hold a fixed number of support vectors each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.asking import ALL
from kernbrook._jit.budget import Slots, budget_rounds, learn_alone, slot_values, uses
from kernbrook._jit.learning import AHPATRON, PEGASOS
from kernbrook._jit.pegasos import PROJECT
from kernbrook._jit.rounds import UPDATE_DRAWN, Machine
from kernbrook._jit.storage import renumber, spread_coefficients
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.kernels.planning import POLYNOMIAL, one_by_one
from kernbrook.models.committee import Committee
from kernbrook.models.engine import share
from kernbrook.models.points import Block, DenseRows, Flags, Floats, Labels, Rows, SupportVectors
from kernbrook.models.runs import ExpertRun, Setting, copied

BUDGET_BLOCK = 128  # examples processed together: later ones see more of the block's own changes


class BudgetRun(ExpertRun):
    """One expert a kernel, each within the learner's budget; see `ExpertRun`.

    The stored points, `held`, are those that some expert holds, without coefficients: these, and
    so `support`, follow from the slots where they are asked for.
    """

    learned_together = BUDGET_BLOCK

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
        self.parts = one_by_one(kernels, self.engine.layout)
        self.uses = uses(self.machine)
        keeps = learner.keeps(kernels)
        grams = budget if "gram" in keeps else 0
        factors = budget if "factor" in keeps else 0
        self.owns = own
        self.judges_stored |= own
        self.held = SupportVectors(0, self.width, self.sparse)
        self._written: tuple[Slots, SupportVectors] | None = None
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

    def _after(
        self,
        machine: Machine,
        rows: Rows,
        labels: Labels,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> dict[str, Any]:
        stored = self._points()
        self._check_polynomials(rows, stored)
        progress, slots, b = copied(self.progress), copied(self.slots), len(rows)
        if self.grows:
            slots = with_room(slots, int(slots.filled.max()) + b)
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
            slot_values(self.parts, slots, part.pairs(self.engine.layout, stored), lo, values)

        lanes = -(-b // (8 * threads)) * 8
        share(threads, meet, range(0, b, lanes))
        keys, known = self.known(rows, stored.keys, inside=True)
        keys, known = np.concatenate([stored.keys, keys]), np.tile(known, (m, 1))
        alone = machine.policy == ALL and not machine.selection & UPDATE_DRAWN
        alone = alone and bool((labels >= 0).all())
        if alone:
            counters = progress.counters.copy()

            def learn(first: int) -> None:
                learn_alone(
                    machine, self.uses, self.parts, slots, (first, min(first + each, m)), (0, b),
                    keys, known, features, own, values, labels, importance, counters, scores, sizes,
                )  # fmt: skip

            each = -(-m // threads)
            share(threads, learn, range(0, m, each))
        uses, held = (None, None) if alone else (self.uses, slots)
        budget_rounds(
            machine, progress, uses, self.parts, held, keys, known,
            features, own, values, labels, importance, scores, sizes, decisions, asked,
        )  # fmt: skip
        self._check_sizes(sizes, slots)
        changed = {"progress": progress, "slots": slots}
        return changed if self.owns else changed | {"held": self._used(slots, rows, n)}

    def _check_sizes(self, sizes: Floats, slots: Slots) -> None:
        """Raise NonFiniteError where scores of an expert, or its coefficients, have overflowed."""
        finite = np.isfinite(sizes).all(axis=(1, 2)) & np.isfinite(slots.alpha).all(axis=(1, 2))
        if not finite.all():
            raise NonFiniteError(
                f"kernel {self.engine.kernels[int(finite.argmin())]}: its sums overflowed; scale "
                "the features"
            )

    def _points(self) -> Rows:
        """The points that `slots.place` counts from 0."""
        if not self.owns:
            return self.held.rows
        points, norms = self.slots.points, self.slots.norms.reshape(-1)
        return DenseRows(points.reshape(-1, points.shape[2]), norms, np.zeros(len(norms), np.int64))

    def make_room(self, needed: int) -> None:
        """Room for so many slots."""
        self.slots = with_room(self.slots, needed)

    @property
    def support(self) -> SupportVectors:
        if self._written is None or self._written[0] is not self.slots:
            self._written = self.slots, self._with_coefficients()
        return self._written[1]

    def _with_coefficients(self) -> SupportVectors:
        slots, columns = self.slots, len(self.engine.kernels) * self.scores
        if not self.owns:
            out = np.empty((self.held.n, columns))
            spread_coefficients(slots.alpha, slots.scale, slots.place, slots.filled, out)
            return self.held.with_coefficients(out)
        held = np.flatnonzero(np.arange(slots.alpha.shape[2]) < slots.filled[:, None])
        coefficients = np.zeros((len(held), len(slots.filled), self.scores))
        e = np.repeat(np.arange(len(slots.filled)), slots.filled)
        s = held % slots.alpha.shape[2]
        coefficients[np.arange(len(held)), e] = slots.scale[e][:, None] * slots.alpha[e, :, s]
        empty = SupportVectors(columns, self.width, False)
        return empty.appended(self._points(), held, coefficients.reshape(-1, columns))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {} if self.owns else self.held.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if not self.owns:
            self.held.restore(arrays)

    @property
    def nbytes(self) -> int:
        return self.held.nbytes + sum(array.nbytes for array in self.slots)

    def check_state(self) -> None:
        """Raise InputError where slots point outside what is stored: compiled code trusts them."""
        slots, learners = self.slots, self.machine.learner
        filled, budget = slots.filled, slots.alpha.shape[2]
        # An example of Pegasos joins before room is made for it: in a slot that is free.
        most = budget - 1 if (learners == PEGASOS).any() and not self.grows else budget
        if ((filled < 0) | (filled > most)).any():
            raise InputError(f"slots.filled: expected 0 to {most}")
        places = self.slots.place[np.arange(budget) < filled[:, None]]
        stored = len(self._points())
        if ((places < 0) | (places >= stored)).any():
            raise InputError(f"slots.place: expected 0 to {stored - 1}")
        if not (slots.scale > 0).all():
            raise InputError("slots.scale: expected numbers above 0")
        if (slots.memory[np.isin(learners, (PEGASOS, AHPATRON)), 0] < 0).any():
            raise InputError("slots.memory: expected numbers from 0 in the first column")
        projects = self.machine.learner_parameters[:, 1] == PROJECT
        projects |= learners != PEGASOS
        projects &= slots.order.shape[1] > 0
        for e in np.flatnonzero(projects):
            n = filled[e]
            if not np.array_equal(np.sort(slots.order[e, :n]), np.arange(n)):
                raise InputError(f"slots.order: expected the slots 0 to {n - 1}")
            for name, numbers in (
                ("diagonal", slots.diagonal[e, :n]),
                ("factor", np.diagonal(slots.factor[e])[:n]),
            ):
                if not (numbers > 0).all():
                    raise InputError(f"slots.{name}: expected numbers above 0")

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

    def _used(self, slots: Slots, rows: Rows, n: int) -> SupportVectors:
        """The stored points and rows of the block that some slot holds; changes `slots.place`."""
        used = renumber(slots.place, slots.filled, n + len(rows))
        kept = np.searchsorted(used, n)
        added = used[kept:] - n
        return self.held.kept(used[:kept]).appended(rows, added, np.zeros((len(added), 0)))


def with_room(slots: Slots, needed: int) -> Slots:
    """Slots with room for so many, at least half as many again as before."""
    room = slots.alpha.shape[2]
    if needed <= room:
        return slots
    more = max(needed, room * 3 // 2) - room

    def grown(array: Any) -> Any:
        return np.concatenate([array, np.zeros((*array.shape[:-1], more), array.dtype)], -1)

    names = ("alpha", "diagonal", "born", "place")
    return slots._replace(**{name: grown(getattr(slots, name)) for name in names})
