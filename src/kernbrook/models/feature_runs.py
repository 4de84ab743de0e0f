"""Runs of experts that learn in spaces of explicit features, of fixed size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.asking import ALL, ASKED
from kernbrook._jit.feature_learning import RIDGE
from kernbrook._jit.feature_rounds import (
    LEARN,
    PREDICT,
    Memory,
    Table,
    expert_steps,
    feature_rounds,
)
from kernbrook._jit.rounds import UPDATE_DRAWN, Machine
from kernbrook.checks import refusal
from kernbrook.errors import NonFiniteError
from kernbrook.kernels import Kernel, Monomials, RandomFeatures
from kernbrook.kernels.features import Features
from kernbrook.kernels.spectra import ShiftInvariant
from kernbrook.models.committee import Committee
from kernbrook.models.encoding import same
from kernbrook.models.engine import share, threads_for
from kernbrook.models.feature_maps import PoolMap, draw, restore
from kernbrook.models.points import Flags, Floats, Rows
from kernbrook.models.runs import Run, Seated, Setting, as_targets, copied

FEATURE_BLOCK = 256  # examples processed together: their features stay in the caches


class FeatureRun(Seated, Run):
    """Experts on the features of their kernels; those of one kernel share its features."""

    block = learned_together = FEATURE_BLOCK
    stored = "maps"

    def __init__(self, committee: Committee, setting: Setting):
        super().__init__(len(committee.kernels), committee.state_size, setting)
        self.committee = committee
        learners = committee.learners
        each = len(committee.kernels) // len(learners)
        wanted = [
            (kernel, recipe_of(learners[e // each], kernel))
            for e, kernel in enumerate(committee.kernels)
        ]
        # The first expert with the same features.
        self._of = [next(j for j, other in enumerate(wanted) if same(one, other)) for one in wanted]
        distinct = sorted(set(self._of))
        maps = [draw(*wanted[e], setting.width, setting.seed, i) for i, e in enumerate(distinct)]
        self.pool = PoolMap(maps)
        which = np.array([distinct.index(e) for e in self._of])
        dims, c = self.pool.dims[which], setting.scores
        rows = np.array(
            [
                learner.extra_rows(int(dim), c)
                for learner, own in zip(learners, dims.reshape(len(learners), -1), strict=True)
                for dim in own
            ]
        )
        theta, extra = (
            np.concatenate([[0], np.cumsum(sizes)]) for sizes in (c * dims, rows * dims)
        )
        self.table = Table(self.pool.offsets[which], dims, theta[:-1], extra[:-1], rows)
        self.memory = Memory(np.zeros(theta[-1]), np.zeros(extra[-1]))
        for e in np.flatnonzero(self.machine.learner == RIDGE):
            inverse = self.memory.extra[extra[e] : extra[e + 1]].reshape(dims[e], dims[e])
            np.fill_diagonal(inverse, 1.0 / self.machine.learner_parameters[e, 0])

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.zeros(len(self.table.dim), dtype=np.int64)

    @property
    def nbytes(self) -> int:
        maps = (array for one in self.pool.maps for array in one.arrays().values())
        return sum(array.nbytes for array in (*self.memory, *maps))

    def _after(
        self,
        machine: Machine,
        rows: Rows,
        labels: Any,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> dict[str, Any]:
        targets = as_targets(labels)
        alone = machine.policy == ALL and not machine.selection & UPDATE_DRAWN
        alone = alone and not np.isnan(targets).any()
        features = self._features(rows)
        arrays = self._empty(len(rows))
        progress, memory = copied(self.progress), copied(self.memory)
        with np.errstate(all="ignore"):
            if alone:
                self._steps(PREDICT | LEARN, machine, memory, features, targets, importance, arrays)
            feature_rounds(
                machine, progress, self.table, memory, features, targets, importance, alone,
                *arrays, decisions, asked,
            )  # fmt: skip
        self._check_finite(arrays[0], *memory)
        return {"progress": progress, "memory": memory}

    def _check_finite(self, scores: Floats, *others: Floats) -> None:
        """Raise NonFiniteError where scores (e, ...), or other numbers, have overflowed."""
        finite = np.isfinite(scores).all(axis=(1, 2))
        if not (finite.all() and all(np.isfinite(array).all() for array in others)):
            where = "" if finite.all() else f"kernel {self.committee.kernels[finite.argmin()]}: "
            raise NonFiniteError(
                f"{where}a learner diverged, or its features overflowed; lower its step, or scale "
                "the features"
            )

    def _features(self, rows: Rows) -> Floats:
        """The pool's features of a block."""
        b = len(rows)
        out = self.pool.empty(b)
        threads = threads_for(b * int(self.pool.offsets[-1]))
        lanes = -(-b // threads)

        def fill(lo: int) -> None:
            self.pool.fill(rows.part(lo, min(lo + lanes, b)), out, lo)

        share(threads, fill, range(0, b, lanes))
        return out

    def _empty(self, b: int) -> tuple[Floats, Floats, Floats]:
        """Room for outputs, variances and gains; see `expert_steps`."""
        experts = len(self.table.dim)
        return (
            np.empty((experts, b, self.scores)),
            np.zeros((experts, b)),
            np.zeros((experts, int(self.table.dim.max()))),
        )

    def _steps(
        self,
        what: int,
        machine: Machine,
        memory: Memory,
        features: Floats,
        targets: Floats,
        importance: Floats,
        arrays: tuple[Floats, Floats, Floats],
    ) -> None:
        """All experts, each through the whole block, by several threads."""
        b, experts = len(targets), len(self.table.dim)
        threads = threads_for(b * int((self.table.dim * (self.table.rows + 1)).sum()))
        each = max(1, experts // (4 * threads)) if threads > 1 else experts
        learned = int(self.progress.counters[ASKED])

        def steps(first: int) -> None:
            expert_steps(
                what, machine, self.table, memory, features,
                (first, min(first + each, experts)), (0, b), targets, importance, learned, *arrays,
            )  # fmt: skip

        share(threads, steps, range(0, experts, each))

    def scored(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        nothing = np.zeros(len(rows))
        arrays = self._empty(len(rows))
        # Read-only where a model was mapped into memory; prediction does not write to it.
        memory = Memory(*(np.require(array, requirements="W") for array in self.memory))
        features = self._features(rows)
        self._steps(PREDICT, self.machine, memory, features, nothing, nothing, arrays)
        scores = arrays[0].transpose(0, 2, 1)
        self._check_finite(scores)
        return scores, np.zeros_like(scores), arrays[1]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            f"{i}.{name}": array
            for i, one in enumerate(self.pool.maps)
            for name, array in one.arrays().items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        maps = []
        for i, one in enumerate(self.pool.maps):
            own = {k.partition(".")[2]: v for k, v in arrays.items() if k.startswith(f"{i}.")}
            maps.append(restore(one.kernel, one.features, self.width, own))
        self.pool = PoolMap(maps)


def recipe_of(learner: Any, kernel: Kernel) -> Features:
    """The recipe for the features in which a learner learns with a kernel."""
    if isinstance(learner.features, str) and learner.features == "auto":
        return RandomFeatures() if isinstance(kernel, ShiftInvariant) else Monomials()
    if not isinstance(learner.features, Features):
        raise refusal(learner, "features", "be 'auto' or a map such as RandomFeatures()")
    return learner.features
