"""Kernel expansions: experts that sum over all support vectors that they add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import linked, through
from kernbrook.engine.pool import Part
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.rules import typed
from kernbrook.engine.state import Field
from kernbrook.engine.store_verbs import learn, score
from kernbrook.engine.stores.base import Prepared, Setting, Spread, Store, look, met, summed
from kernbrook.engine.uniting import Apart, union
from kernbrook.engine.verbs import expand
from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Flags, Floats, Labels, check_array
from kernbrook.gram.rows import Block, Rows
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.gram.sums import BLOCK, KernelSums
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.plan import Plan
from kernbrook.numerics.values import add_points
from kernbrook.numerics.zero import zero_or

SMALL = 2.0**-64  # a smaller scale moves into the coefficients: a power of 2, so exactly


SCALE = Field(("expert",), start=1.0, above=0.0, most=1.0)


class ExpansionState(NamedTuple):
    """The state: support vectors with (n, m c) coefficients, and (m,) common factors of these."""

    support: StoredPoints
    scale: Floats


class Sums(NamedTuple):
    """A block of b examples, as m experts meet it. An expert's coefficients, and so its sums, are
    `scale` times those that are stored: shrinking them all is one product.

    firsts : (r + 1,) int, the first expert of each of r rules
    experts : (m,) int, their numbers in the pool
    plan, pairs : the kernels, and (channels, b, b) pair values of the block with itself
    totals, sizes : (m c, b) kernel sums, the c scores of an expert one after the other
    keys, known : (b,) int, equal for equal rows; (b,) bool, whether a row is equal to one that the
        experts sum over
    diagonal : (m, b) k(x, x), where a rule looks at it
    coefficients : (b, m c), zeros on entry: what each example was added with
    scale : (m,) the common factor of each expert's coefficients
    shifts : (m,) how often that factor was multiplied by 1 / SMALL during the block. The
        coefficients of points stored before have still to be multiplied by SMALL as often
    values, change : (2, b) and (c,) scratch
    """

    firsts: Labels
    experts: Labels
    plan: Plan
    pairs: Floats
    totals: Floats
    sizes: Floats
    keys: Labels
    known: NDArray[np.bool_]
    diagonal: Floats
    coefficients: Floats
    scale: Floats
    shifts: Labels
    values: Floats
    change: Floats


class Growing(NamedTuple):
    """The compiled form of experts that hold every example that they add.

    rules : links to the learners' rules; sums : of the experts
    """

    rules: Any
    sums: Sums


@score.of(Growing)
def _score(part, t, board):
    sums, classes = part.sums, board.scores.shape[2]
    for e in range(sums.experts.shape[0]):
        expert, scale = sums.experts[e], sums.scale[e]
        for c in range(classes):
            size = sums.sizes[e * classes + c, t]
            board.scores[t, expert, c] = scale * zero_or(sums.totals[e * classes + c, t], size)
            board.sizes[t, expert, c] = scale * size
        board.known[t, expert] = sums.known[t]


@learn.of(Growing)
def _learn(part, t, updates, clock, board):
    if board.importance[t] <= 0.0:
        return
    rules, sums, added, change = part.rules, part.sums, False, part.sums.change
    classes = board.scores.shape[2]
    for r in range(len(rules)):
        for e in range(sums.firsts[r], sums.firsts[r + 1]):
            expert = sums.experts[e]
            if not updates[expert]:
                continue
            for c in range(classes):
                change[c] = 0.0
            seen = look(board, t, expert, sums.diagonal[e, t], clock)
            scores, sizes = board.scores[t, expert], board.sizes[t, expert]
            shrink = through(expand, rules[r], seen, scores, sizes, change)
            if shrink != 1.0:
                shrink_expert(sums, e, classes, shrink, t)
            for c in range(classes):
                if change[c] != 0.0:
                    sums.coefficients[t, e * classes + c] = change[c] / sums.scale[e]
                    added = True
    if added:
        add_example(sums, t)


@njit(cache=True, nogil=True, forceinline=True)
def shrink_expert(sums, e, classes, factor, t):
    """All coefficients of an expert times a factor, before it learns from example t."""
    scale = sums.scale
    scale[e] *= factor
    if scale[e] < SMALL:
        scale[e] /= SMALL
        sums.shifts[e] += 1
        for k in range(e * classes, (e + 1) * classes):
            for later in range(t + 1, sums.totals.shape[1]):
                sums.totals[k, later] *= SMALL
                sums.sizes[k, later] *= SMALL
            for s in range(t):
                sums.coefficients[s, k] *= SMALL


@njit(cache=True, nogil=True, forceinline=True)
def add_example(sums, t):
    """Example t, with its coefficients, counts from now on in the sums of those to come."""
    b = sums.known.shape[0]
    for later in range(t + 1, b):
        sums.known[later] |= sums.keys[later] == sums.keys[t]
    add_points(
        sums.plan, sums.pairs, t, t + 1, t + 1, b, sums.coefficients, sums.totals, sums.sizes,
        sums.values,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def diagonals(plan, pairs, classes, out):
    """out[e, t] = k_e(x_t, x_t), (e, b); pairs (channels, b, b) of the block."""
    n_experts, b = out.shape
    ones = np.zeros((b, n_experts * classes))
    for s in range(b):
        for e in range(n_experts):
            ones[s, e * classes] = 1.0
    sums = np.zeros((n_experts * classes, b))
    spare = np.zeros_like(sums)
    values = np.empty((2, b), pairs.dtype)
    for t in range(b):
        add_points(plan, pairs, t, t + 1, t, t + 1, ones, sums, spare, values)
    for e in range(n_experts):
        for t in range(b):
            out[e, t] = sums[e * classes, t]


class Expansion(Store):
    """Experts that sum over examples; all of them hold the same points, each with coefficients.

    Parameters
    ----------
    parts : of the pool, with the same kernels; each learner has a `rule`, and `needs_diagonal`:
        whether it looks at k(x, x)
    """

    grows = True
    by_block = "support vectors without a bound"

    def __init__(self, parts: Sequence[Part], setting: Setting):
        self.setting, self.block_rows = setting, BLOCK
        self.rules = tuple(typed(part.learner.rule()) for part in parts)
        kernels = parts[0].kernels * len(parts)
        self.firsts = np.arange(0, len(kernels) + 1, len(parts[0].kernels))
        self.experts = np.concatenate([part.experts for part in parts])
        self.needs_diagonal = any(part.learner.needs_diagonal for part in parts)
        self.sums = KernelSums(kernels, Layout(kernels, setting.scores))

    def begin(self) -> ExpansionState:
        m, columns = len(self.experts), len(self.experts) * self.setting.scores
        return ExpansionState(
            StoredPoints(columns, self.setting.width, self.setting.sparse), np.ones(m)
        )

    def prepare(self, state: ExpansionState, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        support, layout = state.support, self.sums.layout
        totals, sizes = self.sums.sums(support, rows)
        pairs = Block(rows, layout).own_pairs()
        self.sums.check_finite(sizes)
        keys, known = met(self.setting.judges_stored, rows, support.rows.keys, inside=False)
        own = np.zeros((len(rows), support.coefficients.shape[1]))
        sums = self._block(state, pairs, totals, sizes, keys, known, own)
        member = Growing(self._links(), sums)

        def finish(board: Board, asked: Flags) -> ExpansionState:
            self._check(sums)
            held = support
            if sums.shifts.any():
                shrunk = held.coefficients * np.repeat(SMALL**sums.shifts, self.setting.scores)
                held = held.with_coefficients(shrunk)
            added = np.flatnonzero(own.any(axis=1))
            if len(added):
                held = held.appended(rows, added, own[added])
            return ExpansionState(held, sums.scale)

        return Prepared((member,), 1, finish)

    def _block(
        self,
        state: ExpansionState,
        pairs: Floats,
        totals: Floats,
        sizes: Floats,
        keys: Labels,
        known: NDArray[np.bool_],
        coefficients: Floats,
    ) -> Sums:
        m, b, c = len(self.experts), totals.shape[1], self.setting.scores
        plan = self.sums.layout.plan
        diagonal = np.zeros((m, b))
        if self.needs_diagonal:
            diagonals(plan, pairs, c, diagonal)
        return Sums(
            self.firsts, self.experts, plan, pairs, totals, sizes, keys, known,
            diagonal, coefficients, state.scale.copy(), np.zeros(m, dtype=np.int64),
            np.empty((2, b), pairs.dtype), np.zeros(c),
        )  # fmt: skip

    def _links(self) -> Any:
        return linked(expand, self.rules, self.compiled)

    def _check(self, sums: Sums) -> None:
        """Raise NonFiniteError where scores or coefficients have overflowed."""
        sound = (sums.scale > 0) & np.isfinite(sums.scale)
        if not (np.isfinite(sums.coefficients).all() and sound.all()):
            raise self.overflow(int(sound.argmin()))

    def overflow(self, expert: int) -> NonFiniteError:
        return NonFiniteError(
            f"kernel {self.sums.kernels[expert]}: its sums overflowed; scale the features, or "
            "lower its degree"
        )

    def reading(self, state: ExpansionState, rows: Rows, raw: Any) -> Prepared:
        totals, sizes = self.sums.sums(state.support, rows)
        scale = np.repeat(state.scale, self.setting.scores)[:, None]
        return summed(self.experts, scale * totals, scale * sizes, state)

    def arrays(self, state: ExpansionState) -> dict[str, NDArray[Any]]:
        return {**state.support.arrays(), "scale": state.scale}

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> ExpansionState:
        support, scale = self.begin()
        support.restore(arrays)
        check_array("scale", arrays.get("scale"), scale.shape, scale.dtype)
        return ExpansionState(support, arrays["scale"])

    def check(self, state: ExpansionState, progress: Progress) -> None:
        SCALE.check("scale", state.scale)

    def expansion(self, state: ExpansionState) -> tuple[Rows, Floats]:
        stored = state.support.coefficients
        coefficients = stored.reshape(len(stored), len(self.experts), self.setting.scores)
        return state.support.rows, coefficients * state.scale[:, None]

    def held(self, state: ExpansionState) -> int:
        return state.support.n

    def with_classes(
        self, arrays: Mapping[str, NDArray[Any]], spread: Spread
    ) -> dict[str, NDArray[Any]]:
        stored = arrays["coefficients"]
        n, m, (c, k) = len(stored), len(self.experts), spread.coefficients.shape
        each = spread.along(stored.reshape(n, m, c), 2)
        return {**arrays, "coefficients": each.reshape(n, m * k)}

    def merged(self, apart: Apart) -> ExpansionState:
        points, _, averaged = union(
            self.setting.width, self.setting.sparse, apart.over(self.expansion)
        )
        support = points.with_coefficients(averaged.reshape(len(averaged), -1))
        used = np.flatnonzero(support.coefficients.any(axis=1))
        return ExpansionState(support.kept(used), np.ones(len(self.experts)))

    def counts(self, state: ExpansionState) -> Labels:
        return np.count_nonzero(self.expansion(state)[1].any(axis=2), axis=0)

    def nbytes(self, state: ExpansionState) -> int:
        return state.support.nbytes

    def only(self, state: ExpansionState, expert: int) -> ExpansionState:
        columns = np.flatnonzero(np.repeat(self.experts == expert, self.setting.scores))
        return state._replace(support=state.support.only_columns(columns.tolist()))
