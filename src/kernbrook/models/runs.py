"""A run of the composed machine: the five choices made, the state so far, and what follows.

Two kinds: experts that each learn from their own score, and kernels that share their support
vectors. Both work in signs, +1 and -1; labels and scikit-learn's customs are the estimator's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.combining import MISTAKES
from kernbrook._jit.group_norm import group_norm_rounds, group_norm_weights
from kernbrook._jit.learning import N_PARAMETERS
from kernbrook._jit.rounds import Machine, Progress, expert_rounds
from kernbrook._jit.zero import ZERO
from kernbrook.combiners import BestOfPrefix, FixedShare, GroupNorm, Selection
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout, lay_out
from kernbrook.learners import Perceptron
from kernbrook.models.engine import BLOCK, Engine
from kernbrook.models.points import Floats, Rows, SupportVectors


class Run:
    """What the two kinds share: the engine, the progress, and decisions on new rows.

    Parameters
    ----------
    kernels : m kernels
    layout : their plan
    columns : coefficients of a support vector
    width, sparse : of the features
    seed : of the draws
    state_size : numbers that the combiner keeps
    """

    def __init__(
        self,
        kernels: tuple[Kernel, ...],
        layout: Layout,
        columns: int,
        width: int,
        sparse: bool,
        seed: int,
        state_size: int,
    ):
        m = len(kernels)
        self.engine = Engine(kernels, layout, SupportVectors(columns, width, sparse))
        self.progress = Progress(
            log_weights=np.zeros(m),
            losses=np.zeros(m),
            used=np.ones(m, dtype=bool),
            state=np.zeros(state_size),
            counters=np.array([seed, 0, -1]),
        )

    @property
    def support(self) -> SupportVectors:
        return self.engine.support

    @property
    def counts(self) -> NDArray[np.int64]:
        """(columns,) support vectors with a coefficient in each column."""
        return np.count_nonzero(self.support.coefficients, axis=0)

    @property
    def nbytes(self) -> int:
        """Bytes that the support vectors take."""
        return self.support.nbytes

    @property
    def rounds(self) -> int:
        """Examples learned from so far."""
        return int(self.progress.counters[1])

    @property
    def n_active(self) -> int:
        """Support vectors of the kernels in the last vote."""
        return int(self.counts.sum())

    def weights(self) -> Floats:
        """(m,) weights of the kernels, summing to 1."""
        raise NotImplementedError

    def learn(self, rows: Rows, signs: Floats, importance: Floats) -> Floats:
        """Decide on each row in turn, then learn from its sign; (n,) decisions."""
        decisions = np.zeros(len(rows))

        def block(
            pairs: Floats, scores: Floats, sizes: Floats, coefficients: Floats, where: slice
        ) -> None:
            self._rounds(
                self.progress, self.engine.layout.plan, pairs, scores, sizes,
                signs[where], importance[where], decisions[where], coefficients,
            )  # fmt: skip

        self.engine.learn(rows, block, self.progress)
        return decisions

    def _rounds(self, *arguments: Any) -> None:
        """The compiled pass over one block."""
        raise NotImplementedError

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        """Decisions from kernel sums and their sizes, (m, n); draws by their expectation."""
        raise NotImplementedError

    def decide(self, rows: Rows) -> Floats:
        """(n,) decisions on rows, without learning and without using up a draw."""
        decisions = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            stop = min(start + BLOCK, len(rows))
            scores, sizes = self.engine.sums(rows.part(start, stop))
            self.engine.check_finite(sizes)
            decisions[start:stop] = self.combine(scores, sizes)
        return decisions


class ExpertRun(Run):
    """One expert a kernel, each learning from its own score; see `Run`."""

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
        m = len(kernels)
        flags, smoothing, prefix = selection.codes()
        self.machine = Machine(
            learner=np.full(m, learner.code),
            learner_parameters=np.tile(np.resize(learner.row(), N_PARAMETERS), (m, 1)),
            combiner=combiner.code,
            combiner_parameters=combiner.row(),
            loss=combiner.loss_code,
            selection=flags,
            smoothing=smoothing,
            prefix=prefix,
        )
        self.selection = selection
        state_size = combiner.state_size(m)
        super().__init__(kernels, lay_out(kernels), m, width, sparse, seed, state_size)

    @property
    def n_active(self) -> int:
        return int(self.counts[self.progress.used].sum())

    @property
    def chosen(self) -> int:
        """The kernel that BestOfPrefix has chosen; -1 where it has not, or is not in use."""
        return int(self.progress.counters[2])

    def choose(self, kernel: int) -> None:
        """From now on this kernel alone; the others' support vectors are dropped."""
        self.progress.counters[2] = kernel
        self.support.keep_columns([kernel])

    def _relative_weights(self) -> Floats:
        """(m,) weights, the greatest 1: q of the papers."""
        if isinstance(self.selection, BestOfPrefix):
            best = self.chosen if self.chosen >= 0 else int(np.argmin(self.progress.losses))
            return np.eye(len(self.progress.losses))[best]
        return np.exp(self.progress.log_weights)

    def weights(self) -> Floats:
        weights = self._relative_weights()
        return weights / weights.sum()

    def learn(self, rows: Rows, signs: Floats, importance: Floats) -> Floats:
        undecided = self.chosen < 0
        try:
            return super().learn(rows, signs, importance)
        finally:
            if undecided and self.chosen >= 0:
                self.choose(self.chosen)

    def _rounds(self, *arguments: Any) -> None:
        expert_rounds(self.machine, *arguments)

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        weights = self.selection.expected_votes(self._relative_weights())
        current = np.where(np.abs(scores) <= ZERO * sizes, 0.0, scores)
        if self.machine.loss == MISTAKES:
            current = np.where(current >= 0, 1.0, -1.0)
            sizes = np.ones_like(sizes)
        votes = weights @ current
        votes[np.abs(votes) <= ZERO * (weights @ sizes)] = 0.0
        return votes / weights.sum()


class GroupNormRun(Run):
    """Kernels that share their support vectors, combined by their norms; see `Run`."""

    def __init__(
        self, kernels: tuple[Kernel, ...], combiner: GroupNorm, width: int, sparse: bool, seed: int
    ):
        self.q = combiner.exponent(len(kernels))
        layout = lay_out(kernels, columns=[0] * len(kernels))
        state_size = combiner.state_size(len(kernels))
        super().__init__(kernels, layout, 1, width, sparse, seed, state_size)

    def _group_weights(self) -> Floats:
        weights = np.empty(len(self.progress.state))
        group_norm_weights(self.progress.state, self.q, weights)
        return weights

    def weights(self) -> Floats:
        weights = self._group_weights()
        return weights / weights.sum()

    def _rounds(self, *arguments: Any) -> None:
        group_norm_rounds(self.q, *arguments)

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        weights = self._group_weights()
        total = weights @ scores
        total[np.abs(total) <= ZERO * (weights @ sizes)] = 0.0
        return total


def make_run(
    kernels: tuple[Kernel, ...],
    learner: Any,
    combiner: Any,
    selection: Any,
    width: int,
    sparse: bool,
    seed: int,
) -> Run:
    """The run that the choices ask for; None is the default of each.

    Raises
    ------
    InputError
        A choice is not of its kind, or choices that do not go together.
    """
    combiner = _choice("combiner", combiner, FixedShare())
    selection = _choice("selection", selection, Selection())
    if isinstance(combiner, GroupNorm):
        if learner is not None:
            raise InputError("learner: GroupNorm is its own learner; leave learner=None")
        if selection.codes()[0] != 0:
            raise InputError(f"selection: GroupNorm uses all kernels, got {selection!r}")
        return GroupNormRun(kernels, combiner, width, sparse, seed)
    learner = _choice("learner", learner, Perceptron())
    arguments = (kernels, learner, combiner, selection, width, sparse, seed)
    if hasattr(learner, "slots") and learner.slots() is not None:
        from kernbrook.models.budget_runs import BudgetRun

        if isinstance(selection, BestOfPrefix):
            raise InputError("selection: BestOfPrefix does not go with a budget")
        return BudgetRun(*arguments)
    return ExpertRun(*arguments)


def _choice(name: str, given: Any, default: Any) -> Any:
    choice = default if given is None else given
    if isinstance(choice, type) or getattr(choice, "choice", None) != name:
        raise InputError(f"{name}: expected an object such as {default!r}, got {given!r}")
    return choice
