"""What the experts of a machine decide together: their codes, their weights, their vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kernbrook._jit.combining import MISTAKES, SQUARED
from kernbrook._jit.learning import N_PARAMETERS
from kernbrook._jit.rounds import Machine, Progress, would_ask
from kernbrook._jit.zero import ZERO
from kernbrook.combiners import AdaptiveSelection, BestOfPrefix, Uniform
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.models.points import Flags, Floats, Labels


class Committee(NamedTuple):
    """Experts, one for each pair of a learner and a kernel: all kernels of the first learner first.

    machine : their codes, for the compiled pass
    learners, selection : the choices that the codes come from
    kernels : of each expert
    state_size : numbers that the combiner keeps
    """

    machine: Machine
    learners: tuple[Any, ...]
    selection: Any
    kernels: tuple[Kernel, ...]
    state_size: int

    @classmethod
    def of(
        cls,
        kernels: tuple[Kernel, ...],
        learners: Sequence[Any],
        combiner: Any,
        selection: Any,
        policy: Any,
        regression: bool,
    ) -> Committee:
        """The experts that the choices ask for.

        Raises
        ------
        InputError
            A combiner's loss is not for this task.
        """
        loss = combiner.loss_code
        if regression and isinstance(combiner, Uniform):
            loss = SQUARED
        if regression != (loss >= SQUARED):
            wanted = "'squared' or 'absolute'" if regression else "'mistakes', 'hinge', 'logistic'"
            task = "numbers" if regression else "classes"
            raise InputError(f"combiner: for {task} expected a loss {wanted}, got {combiner!r}")
        m = len(kernels)
        rows = [
            learner.rows(kernels) if hasattr(learner, "rows") else np.tile(learner.row(), (m, 1))
            for learner in learners
        ]
        width = max(N_PARAMETERS, *(row.shape[1] for row in rows))
        flags, smoothing, prefix = selection.codes()
        machine = Machine(
            learner=np.repeat([learner.code for learner in learners], m),
            learner_parameters=np.concatenate(
                [np.pad(row, ((0, 0), (0, width - row.shape[1]))) for row in rows]
            ),
            combiner=combiner.code,
            combiner_parameters=combiner.row(),
            loss=loss,
            selection=flags,
            smoothing=smoothing,
            prefix=prefix,
            policy=policy.code,
            policy_parameters=policy.row(),
            given=False,
        )
        experts = kernels * len(learners)
        state_size = combiner.state_size(len(experts))
        return cls(machine, tuple(learners), selection, experts, state_size)

    def relative_weights(self, progress: Progress) -> Floats:
        """(e,) weights, the greatest 1: q of the papers."""
        if isinstance(self.selection, BestOfPrefix):
            chosen = int(progress.counters[2])
            best = chosen if chosen >= 0 else int(np.argmin(progress.losses))
            return np.eye(len(progress.losses))[best]
        return np.exp(progress.log_weights)

    def weights(self, progress: Progress) -> Floats:
        """(e,) weights, summing to 1."""
        weights = self.relative_weights(progress)
        return weights / weights.sum()

    def votes(self, progress: Progress) -> Floats:
        """(e,) weight of each expert in a vote; draws count by their expectation."""
        if isinstance(self.selection, AdaptiveSelection):
            return self.relative_weights(progress) * progress.used
        return np.asarray(self.selection.expected_votes(self.relative_weights(progress)))

    def combine(self, progress: Progress, scores: Floats, sizes: Floats) -> Floats:
        """Decisions from the experts' scores and their sizes, (e, c, n), as (n, c).

        Where experts vote for classes, one that votes alone decides by its score: the same class,
        and how sure it is.
        """
        votes = self.votes(progress)
        current = np.where(np.abs(scores) <= ZERO * sizes, 0.0, scores)
        alone = len(votes) == 1 or isinstance(self.selection, BestOfPrefix)
        if self.machine.loss == MISTAKES and not alone:
            if scores.shape[1] == 1:
                current = np.where(current >= 0, 1.0, -1.0)
                sizes = np.ones_like(sizes)
            else:
                won = winners(current, sizes, axis=1)
                classes = np.arange(scores.shape[1])
                current = sizes = (won[:, None] == classes[:, None]).astype(float)
        total, behind = np.tensordot(votes, (current, sizes), axes=(0, 1))
        return settled(total, behind).T / votes.sum()

    def wanted(self, progress: Progress, scores: Floats, sizes: Floats, variances: Floats) -> Flags:
        """(n,) bool, whose labels are wanted; scores and sizes (e, c, n), variances (e, n)."""
        wanted = np.empty(scores.shape[2], dtype=bool)
        scores = np.where(np.abs(scores) <= ZERO * sizes, 0.0, scores)
        by_row = np.ascontiguousarray(scores.transpose(2, 0, 1))
        behind = np.ascontiguousarray(sizes.transpose(2, 0, 1))
        copy = progress._replace(used=progress.used.copy())
        would_ask(self.machine, copy, by_row, behind, np.ascontiguousarray(variances.T), wanted)
        return wanted


def winners(scores: Floats, sizes: Floats, axis: int) -> Labels:
    """The first of the classes whose score is the greatest to rounding, along an axis."""
    best = np.expand_dims(scores.argmax(axis), axis)
    top, size = (np.take_along_axis(values, best, axis) for values in (scores, sizes))
    return np.asarray((top - scores <= ZERO * (size + sizes)).argmax(axis))


def settled(total: Floats, behind: Floats) -> Floats:
    """Votes (c, n) and what is behind them: exact ties where rounding would decide."""
    if len(total) == 1:
        return np.where(np.abs(total) <= ZERO * behind, 0.0, total)
    won = winners(total, behind, axis=0)
    total[won, np.arange(total.shape[1])] = total.max(axis=0)
    return total
