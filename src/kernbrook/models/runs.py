"""A run of the composed machine: the choices made, the state so far, and what follows.

Experts that each learn from their own score, or kernels that share their support vectors. Classes
are numbered from 0; labels and scikit-learn's customs are the estimator's. Two classes have one
score, positive for class 1; more have one each; numbers have one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.asking import ALL, ASKED, CHOSEN, N_COUNTERS, N_POLICY_STATE, ROUND, SEED, wants
from kernbrook._jit.combining import LOGISTIC, UNIFORM
from kernbrook._jit.group_norm import group_norm_rounds, group_norm_weights
from kernbrook._jit.keys import met_before
from kernbrook._jit.learning import N_PARAMETERS
from kernbrook._jit.rounds import Machine, Progress, expert_rounds
from kernbrook._jit.zero import ZERO
from kernbrook.combiners import GroupNorm
from kernbrook.errors import KernbrookWarning
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout, lay_out
from kernbrook.models.committee import Committee, settled
from kernbrook.models.engine import BLOCK, Engine
from kernbrook.models.points import Block, Flags, Floats, Labels, Rows, SupportVectors
from kernbrook.streams.scaling import OnlineScaler

Arrays = TypeVar("Arrays", bound=NamedTuple)

LARGE = 50_000  # examples kept


class Setting(NamedTuple):
    """What every run is told beside its choices.

    width, sparse : of the features
    scores : of each kernel: 1 for numbers and for two classes, else the number of classes
    seed : of the draws
    regression : whether labels are numbers
    judges_stored : whether the combiner learns from a row that is stored like from others
    """

    width: int
    sparse: bool
    scores: int
    seed: int
    regression: bool = False
    judges_stored: bool = True


class Run:
    """What all runs share: the progress, and what follows from it.

    Parameters
    ----------
    n_experts, state_size : numbers of experts, and of what the combiner keeps
    """

    def __init__(self, n_experts: int, state_size: int, setting: Setting):
        self.scores = setting.scores
        self.sparse = setting.sparse  # whether it takes rows in CSR
        self.width = setting.width
        self.judges_stored = setting.judges_stored or n_experts == 1
        self.scaler: OnlineScaler | None = None
        counters = np.zeros(N_COUNTERS, dtype=np.int64)
        counters[SEED], counters[CHOSEN] = setting.seed, -1
        self.progress = Progress(
            log_weights=np.zeros(n_experts),
            losses=np.zeros(n_experts),
            used=np.ones(n_experts, dtype=bool),
            state=np.zeros(state_size),
            counters=counters,
            asking=np.zeros(N_POLICY_STATE),
        )

    block: int  # examples scored together
    learned_together: int  # examples of one call of `learn_block`
    stored: str  # what `arrays` are called in a file

    @property
    def machine(self) -> Machine:
        """What it does, as codes."""
        raise NotImplementedError

    def machine_that(self, given: bool) -> Machine:
        """The machine, or one that learns from every label that is there."""
        return self.machine._replace(given=given)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every array that the run has but for the tuples it changes in place, by name."""
        raise NotImplementedError

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set them; InputError where they can be none of this run."""
        raise NotImplementedError

    @property
    def rounds(self) -> int:
        """Examples met so far."""
        return int(self.progress.counters[ROUND])

    @property
    def asked(self) -> int:
        """Labels looked at so far."""
        return int(self.progress.counters[ASKED])

    @property
    def counts(self) -> NDArray[np.int64]:
        """Support vectors of each expert; (1,) where they share them."""
        raise NotImplementedError

    @property
    def n_active(self) -> int:
        """Support vectors of the experts in the last vote."""
        return int(self.counts.sum())

    @property
    def nbytes(self) -> int:
        """Bytes that what was learned takes."""
        raise NotImplementedError

    def weights(self) -> Floats:
        """(e,) weights of the experts, summing to 1."""
        raise NotImplementedError

    def known(self, rows: Rows, stored: Labels, inside: bool) -> tuple[Labels, Flags]:
        """Keys of rows, and (n,) bool: is a row like one of those stored?

        inside : or like one before it
        Where stored rows are judged like others, every key is another and none is known.
        """
        known = np.zeros(len(rows), dtype=bool)
        if self.judges_stored:
            return np.arange(len(rows)), known
        met_before(rows.keys, stored, inside, known)
        return rows.keys, known

    def learn(
        self, rows: Rows, labels: Any, importance: Floats, given: bool = False
    ) -> tuple[Floats, Flags]:
        """Decide on each row in turn, ask or not, then learn from the label.

        What ends it before the end, it has learned whole blocks: `rounds` says how many rows.

        Parameters
        ----------
        labels : (n,) numbers of the classes, or targets; negative or NaN: not to be had
        given : every label that is there is looked at, whatever the policy

        Returns
        -------
        decisions : (n, scores), each before its label was seen
        asked : (n,) bool, whose label was looked at
        """
        decisions, asked = np.zeros((len(rows), self.scores)), np.zeros(len(rows), dtype=bool)
        for where in slices(len(rows), self.learned_together):
            part = rows.part(where.start, where.stop)
            decisions[where], asked[where] = self.learn_block(
                part, labels[where], importance[where], given
            )
        return decisions, asked

    def learn_block(
        self, rows: Rows, labels: Any, importance: Floats, given: bool = False, **others: Any
    ) -> tuple[Floats, Flags]:
        """`learn` of at most `learned_together` rows: all of it, or nothing, whatever ends it.

        others : attributes that change with it
        """
        decisions, asked = np.zeros((len(rows), self.scores)), np.zeros(len(rows), dtype=bool)
        machine = self.machine_that(given)
        changed = self._after(machine, rows, labels, importance, decisions, asked)
        self.__dict__.update(changed, **others)  # one call: no interruption comes between
        return decisions, asked

    def _after(
        self,
        machine: Machine,
        rows: Rows,
        labels: Any,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> dict[str, Any]:
        """The attributes that a block changes, as they are after it; they are not changed here.

        decisions, asked : filled in
        """
        raise NotImplementedError

    def scored(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Scores of the experts and their sizes, (e, scores, n), and their variances (e, n).

        Raises
        ------
        NonFiniteError
            They have overflowed.
        """
        raise NotImplementedError

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        """Decisions from scores and their sizes, as (n, scores)."""
        raise NotImplementedError

    def wanted(self, scores: Floats, sizes: Floats, variances: Floats) -> Flags:
        """(n,) bool: is each label wanted?"""
        raise NotImplementedError

    def decide(self, rows: Rows) -> Floats:
        """(n, scores) decisions on rows, without learning and without using up a draw."""
        decisions = np.empty((len(rows), self.scores))
        for where in slices(len(rows), self.block):
            scores, sizes, _ = self.scored(rows.part(where.start, where.stop))
            decisions[where] = self.combine(scores, sizes)
        return decisions

    def would_ask(self, rows: Rows) -> Flags:
        """(n,) bool: is the label of each row wanted, if it came next?"""
        asked = np.ones(len(rows), dtype=bool)
        if self.machine.policy != ALL:
            for where in slices(len(rows), self.block):
                asked[where] = self.wanted(*self.scored(rows.part(where.start, where.stop)))
        return asked


def slices(rows: int, size: int) -> Iterator[slice]:
    """0 .. rows in blocks of a size."""
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def copied(arrays: Arrays) -> Arrays:
    """A named tuple of arrays, each a copy."""
    return type(arrays)(*(array.copy() for array in arrays))


def as_targets(labels: NDArray[Any]) -> Floats:
    """Labels as the passes by gradients take them: floats, NaN where one cannot be had."""
    targets = np.asarray(labels, dtype=np.float64)
    return np.where(labels < 0, np.nan, targets) if labels.dtype.kind == "i" else targets


def warn_of_growth(before: int, now: int) -> None:
    """Say once that what is kept has become large, of a run without a bound."""
    if before <= LARGE < now:
        warnings.warn(
            f"{now:,} examples are kept, and their number has no bound: each row takes longer "
            "than the one before. A learner with a budget, such as BPAS() (--recipe bpas), keeps "
            "a fixed number",
            KernbrookWarning,
            stacklevel=2,
        )


class Seated:
    """What runs of a committee have in common."""

    committee: Committee
    progress: Progress

    @property
    def machine(self) -> Machine:
        return self.committee.machine

    def weights(self) -> Floats:
        return self.committee.weights(self.progress)

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        return self.committee.combine(self.progress, scores, sizes)

    def wanted(self, scores: Floats, sizes: Floats, variances: Floats) -> Flags:
        return self.committee.wanted(self.progress, scores, sizes, variances)


class ExpansionRun(Run):
    """Kernel expansions: sums over support vectors, by blocks.

    Parameters
    ----------
    kernels : of the outputs, for the plan
    columns : coefficients of a support vector
    """

    block = learned_together = BLOCK
    stored = "support"
    grows = True  # whether nothing bounds what it holds

    def __init__(
        self,
        kernels: tuple[Kernel, ...],
        layout: Layout,
        columns: int,
        state_size: int,
        setting: Setting,
    ):
        super().__init__(len(kernels), state_size, setting)
        self.held = SupportVectors(columns, setting.width, setting.sparse)
        self.engine = Engine(kernels, layout)

    @property
    def support(self) -> SupportVectors:
        """The points with their coefficients, for prediction and for looking at."""
        return self.held

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self.held.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.held.restore(arrays)

    @property
    def coefficients(self) -> Floats:
        """(n, experts, scores) of the support vectors; one expert's where they share them."""
        coefficients = self.support.coefficients
        n, columns = coefficients.shape
        return coefficients.reshape(n, columns // self.scores, self.scores)

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.count_nonzero(self.coefficients.any(axis=2), axis=0)

    @property
    def nbytes(self) -> int:
        return self.held.nbytes

    def learn_block(
        self, rows: Rows, labels: Any, importance: Floats, given: bool = False, **others: Any
    ) -> tuple[Floats, Flags]:
        before = self.held.n
        told = super().learn_block(rows, labels, importance, given, **others)
        if self.grows:
            warn_of_growth(before, self.held.n)
        return told

    def _after(
        self,
        machine: Machine,
        rows: Rows,
        labels: Any,
        importance: Floats,
        decisions: Floats,
        asked: Flags,
    ) -> dict[str, Any]:
        scores, sizes = self.engine.sums(self.held, rows)
        pairs = Block(rows, self.engine.layout).own_pairs()
        self.engine.check_finite(sizes)
        coefficients = np.zeros((len(rows), self.held.coefficients.shape[1]))
        changed = self._rounds(
            machine, rows, self.engine.layout.plan, pairs, scores, sizes, labels, importance,
            decisions, asked, coefficients,
        )  # fmt: skip
        self.engine.check_finite(sizes)
        added = np.flatnonzero(coefficients.any(axis=1))
        if len(added):
            held = changed.get("held", self.held)
            changed["held"] = held.appended(rows, added, coefficients[added])
        return changed

    def _rounds(self, machine: Machine, rows: Rows, *arguments: Any) -> dict[str, Any]:
        """The compiled pass over one block: attributes that it changes, as they are after it."""
        raise NotImplementedError

    def scored(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        scores, sizes = self.engine.sums(self.support, rows)
        self.engine.check_finite(sizes)
        shape = -1, self.scores, len(rows)
        scores, sizes = scores.reshape(shape), sizes.reshape(shape)
        return scores, sizes, np.zeros((len(scores), len(rows)))


class ExpertRun(Seated, ExpansionRun):
    """Experts that each learn from their own score."""

    def __init__(self, committee: Committee, setting: Setting):
        self.committee = committee
        experts = committee.kernels
        layout, columns = lay_out(experts, setting.scores), len(experts) * setting.scores
        super().__init__(experts, layout, columns, committee.state_size, setting)

    @property
    def n_active(self) -> int:
        return int(self.counts[self.progress.used].sum())

    @property
    def chosen(self) -> int:
        """The expert that BestOfPrefix has chosen; -1 where it has not, or is not in use."""
        return int(self.progress.counters[CHOSEN])

    def choose(self, expert: int) -> None:
        """From now on this expert alone; the others' support vectors are dropped."""
        progress = copied(self.progress)
        progress.counters[CHOSEN] = expert
        self.__dict__.update(progress=progress, held=self._of_one(self.held, expert))

    def _of_one(self, support: SupportVectors, expert: int) -> SupportVectors:
        """The support vectors of one expert, without the others' coefficients."""
        return support.only_columns(range(expert * self.scores, (expert + 1) * self.scores))

    def _after(self, *block: Any) -> dict[str, Any]:
        changed = super()._after(*block)
        chosen = int(changed["progress"].counters[CHOSEN])
        if self.chosen < 0 <= chosen:
            changed["held"] = self._of_one(changed.get("held", self.held), chosen)
        return changed

    def _rounds(self, machine: Machine, rows: Rows, *arguments: Any) -> dict[str, Any]:
        progress = copied(self.progress)
        keys, known = self.known(rows, self.held.rows.keys, inside=False)
        expert_rounds(machine, progress, keys, known, *arguments)
        return {"progress": progress}


class GroupNormRun(ExpansionRun):
    """Kernels that share their support vectors, combined by their norms."""

    def __init__(
        self, kernels: tuple[Kernel, ...], combiner: GroupNorm, policy: Any, setting: Setting
    ):
        m = len(kernels)
        self.q = combiner.exponent(m)
        self.asking = policy.code, policy.row()
        layout = lay_out(kernels, setting.scores, shared=True)
        super().__init__(kernels, layout, setting.scores, combiner.state_size(m), setting)

    @property
    def machine(self) -> Machine:
        """Of a machine it has a label policy alone, which looks at the scores as they are."""
        policy, parameters = self.asking
        nobody = np.empty(0, dtype=np.int64), np.empty((0, N_PARAMETERS))
        return Machine(
            *nobody, combiner=UNIFORM, combiner_parameters=np.empty(0), loss=LOGISTIC, selection=0,
            smoothing=0.0, prefix=0, policy=policy, policy_parameters=parameters, given=False,
        )  # fmt: skip

    def _group_weights(self) -> Floats:
        weights = np.empty(len(self.progress.state))
        group_norm_weights(self.progress.state, self.q, weights)
        return weights

    def weights(self) -> Floats:
        weights = self._group_weights()
        return weights / weights.sum()

    def _rounds(self, machine: Machine, rows: Rows, *arguments: Any) -> dict[str, Any]:
        progress = copied(self.progress)
        group_norm_rounds(self.q, machine, progress, *arguments)
        return {"progress": progress}

    def combine(self, scores: Floats, sizes: Floats) -> Floats:
        weights = self._group_weights()
        total, behind = np.tensordot(weights, (scores, sizes), axes=(0, 1))
        return settled(np.where(np.abs(total) <= ZERO * behind, 0.0, total), behind).T

    def wanted(self, scores: Floats, sizes: Floats, variances: Floats) -> Flags:
        weights, progress, (policy, parameters) = self._group_weights(), self.progress, self.asking
        return np.array(
            [
                wants(
                    policy, parameters, progress.asking, LOGISTIC, progress.log_weights,
                    progress.used, progress.counters, weights,
                    np.ascontiguousarray(scores[:, :, i]), np.ascontiguousarray(sizes[:, :, i]),
                    np.ascontiguousarray(variances[:, i]),
                )[0]
                for i in range(scores.shape[2])
            ],
            dtype=bool,
        )  # fmt: skip
