"""A run of the composed machine: the five choices made, the state so far, and what follows.

Two kinds: experts that each learn from their own score, and kernels that share their support
vectors. Both number the classes from 0; labels and scikit-learn's customs are the estimator's.
Two classes have one score, positive for class 1; more have one each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.combining import MISTAKES
from kernbrook._jit.group_norm import group_norm_rounds, group_norm_weights
from kernbrook._jit.learning import N_PARAMETERS, PEGASOS
from kernbrook._jit.rounds import Machine, Progress, expert_rounds
from kernbrook._jit.zero import ZERO
from kernbrook.combiners import BestOfPrefix, FixedShare, GroupNorm, Selection
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout, lay_out
from kernbrook.learners import Perceptron
from kernbrook.models.engine import BLOCK, Engine
from kernbrook.models.points import Floats, Labels, Rows, SupportVectors


class Setting(NamedTuple):
    """What every run is told beside its choices.

    width, sparse : of the features
    scores : of each kernel: 1 for two classes, else the number of classes
    seed : of the draws
    """

    width: int
    sparse: bool
    scores: int
    seed: int


class Run:
    """What the two kinds share: the engine, the progress, and decisions on new rows.

    Parameters
    ----------
    kernels : m kernels
    layout : their plan
    columns : coefficients of a support vector
    state_size : numbers that the combiner keeps
    """

    def __init__(
        self,
        kernels: tuple[Kernel, ...],
        layout: Layout,
        columns: int,
        state_size: int,
        setting: Setting,
    ):
        m = len(kernels)
        self.scores = setting.scores
        support = SupportVectors(columns, setting.width, setting.sparse)
        self.engine = Engine(kernels, layout, support)
        self.progress = Progress(
            log_weights=np.zeros(m),
            losses=np.zeros(m),
            used=np.ones(m, dtype=bool),
            state=np.zeros(state_size),
            counters=np.array([setting.seed, 0, -1]),
        )

    @property
    def support(self) -> SupportVectors:
        return self.engine.support

    @property
    def coefficients(self) -> Floats:
        """(n, kernels, scores) of the support vectors; one kernel's where kernels share them."""
        coefficients = self.support.coefficients
        n, columns = coefficients.shape
        return coefficients.reshape(n, columns // self.scores, self.scores)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Support vectors of each kernel; (1,) where kernels share them."""
        return np.count_nonzero(self.coefficients.any(axis=2), axis=0)

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

    def learn(self, rows: Rows, labels: Labels, importance: Floats) -> Floats:
        """Decide on each row in turn, then learn from its class; (n, scores) decisions."""
        decisions = np.zeros((len(rows), self.scores))

        def block(
            pairs: Floats, scores: Floats, sizes: Floats, coefficients: Floats, where: slice
        ) -> None:
            self._rounds(
                self.progress, self.engine.layout.plan, pairs, scores, sizes,
                labels[where], importance[where], decisions[where], coefficients,
            )  # fmt: skip

        self.engine.learn(rows, block, self.progress)
        return decisions

    def _rounds(self, *arguments: Any) -> None:
        """The compiled pass over one block."""
        raise NotImplementedError

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        """Decisions from kernel sums and their sizes, (m, scores, n), as (n, scores).

        Draws count by their expectation.
        """
        raise NotImplementedError

    def decide(self, rows: Rows) -> Floats:
        """(n, scores) decisions on rows, without learning and without using up a draw."""
        decisions = np.empty((len(rows), self.scores))
        for start in range(0, len(rows), BLOCK):
            stop = min(start + BLOCK, len(rows))
            scores, sizes = self.engine.sums(rows.part(start, stop))
            self.engine.check_finite(sizes)
            shape = -1, self.scores, stop - start
            decisions[start:stop] = self.combine(scores.reshape(shape), sizes.reshape(shape))
        return decisions


class ExpertRun(Run):
    """One expert a kernel, each learning from its own score; see `Run`."""

    def __init__(
        self,
        kernels: tuple[Kernel, ...],
        learner: Any,
        combiner: Any,
        selection: Any,
        setting: Setting,
    ):
        m = len(kernels)
        flags, smoothing, prefix = selection.codes()
        self.machine = Machine(
            learner=np.full(m, learner.code),
            learner_parameters=learner.rows(kernels)
            if hasattr(learner, "rows")
            else np.tile(np.resize(learner.row(), N_PARAMETERS), (m, 1)),
            combiner=combiner.code,
            combiner_parameters=combiner.row(),
            loss=combiner.loss_code,
            selection=flags,
            smoothing=smoothing,
            prefix=prefix,
        )
        self.selection = selection
        layout, columns = lay_out(kernels, setting.scores), m * setting.scores
        super().__init__(kernels, layout, columns, combiner.state_size(m), setting)

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
        self.support.keep_columns(range(kernel * self.scores, (kernel + 1) * self.scores))

    def _relative_weights(self) -> Floats:
        """(m,) weights, the greatest 1: q of the papers."""
        if isinstance(self.selection, BestOfPrefix):
            best = self.chosen if self.chosen >= 0 else int(np.argmin(self.progress.losses))
            return np.eye(len(self.progress.losses))[best]
        return np.exp(self.progress.log_weights)

    def weights(self) -> Floats:
        weights = self._relative_weights()
        return weights / weights.sum()

    def learn(self, rows: Rows, labels: Labels, importance: Floats) -> Floats:
        undecided = self.chosen < 0
        try:
            return super().learn(rows, labels, importance)
        finally:
            if undecided and self.chosen >= 0:
                self.choose(self.chosen)

    def _rounds(self, *arguments: Any) -> None:
        expert_rounds(self.machine, *arguments)

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        weights = self.selection.expected_votes(self._relative_weights())
        current = np.where(np.abs(scores) <= ZERO * sizes, 0.0, scores)
        if self.machine.loss == MISTAKES:
            if self.scores == 1:
                current = np.where(current >= 0, 1.0, -1.0)
                sizes = np.ones_like(sizes)
            else:
                won = winners(current, sizes, axis=1)
                current = sizes = (won[:, None] == np.arange(self.scores)[:, None]).astype(float)
        total, behind = np.tensordot(weights, (current, sizes), axes=(0, 1))
        return _settled(total, behind).T / weights.sum()


def winners(scores: Floats, sizes: Floats, axis: int) -> Labels:
    """The first of the classes whose score is the greatest to rounding, along an axis."""
    best = np.expand_dims(scores.argmax(axis), axis)
    top, size = (np.take_along_axis(values, best, axis) for values in (scores, sizes))
    return np.asarray((top - scores <= ZERO * (size + sizes)).argmax(axis))


def _settled(total: Floats, behind: Floats) -> Floats:
    """Votes (scores, n) and what is behind them: exact ties where rounding would decide."""
    if len(total) == 1:
        return np.where(np.abs(total) <= ZERO * behind, 0.0, total)
    won = winners(total, behind, axis=0)
    total[won, np.arange(total.shape[1])] = total.max(axis=0)
    return total


class GroupNormRun(Run):
    """Kernels that share their support vectors, combined by their norms; see `Run`."""

    def __init__(self, kernels: tuple[Kernel, ...], combiner: GroupNorm, setting: Setting):
        m = len(kernels)
        self.q = combiner.exponent(m)
        layout = lay_out(kernels, setting.scores, shared=True)
        super().__init__(kernels, layout, setting.scores, combiner.state_size(m), setting)

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
        total, behind = np.tensordot(weights, (scores, sizes), axes=(0, 1))
        return _settled(np.where(np.abs(total) <= ZERO * behind, 0.0, total), behind).T


def make_run(
    kernels: tuple[Kernel, ...],
    learner: Any,
    combiner: Any,
    selection: Any,
    setting: Setting,
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
        return GroupNormRun(kernels, combiner, setting)
    learner = _choice("learner", learner, Perceptron())
    kind: type[ExpertRun] = ExpertRun
    if hasattr(learner, "slots") and (learner.slots() is not None or learner.code == PEGASOS):
        from kernbrook.models.budget_runs import BudgetRun

        if isinstance(selection, BestOfPrefix):
            raise InputError("selection: BestOfPrefix does not go with a budget")
        kind = BudgetRun
    return kind(kernels, learner, combiner, selection, setting)


def _choice(name: str, given: Any, default: Any) -> Any:
    choice = default if given is None else given
    if isinstance(choice, type) or getattr(choice, "choice", None) != name:
        raise InputError(f"{name}: expected an object such as {default!r}, got {given!r}")
    return choice
