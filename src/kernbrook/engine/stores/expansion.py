"""Kernel expansions: experts that sum over all support vectors that they add.

Each has coefficients of its own, or, in OM-2, all have the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import ROOM, links_to, pin, through
from kernbrook.engine.pool import PoolPart
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.state import Field
from kernbrook.engine.store_verbs import learn, score
from kernbrook.engine.stores.base import Prepared, Setting, Spread, Store, find_known, overflow, see
from kernbrook.engine.uniting import Apart, unite_points
from kernbrook.engine.verbs import expand, update, weigh_all
from kernbrook.gram.arrays import Flags, Floats, Ints, check_array
from kernbrook.gram.rows import Rows
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.gram.sums import BLOCK, KernelSums
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.plan import Plan
from kernbrook.numerics.scores_of_classes import add_step, margin_of
from kernbrook.numerics.values import add_points
from kernbrook.numerics.zero import zero_or

SMALL = 2.0**-64  # a smaller scale moves into the coefficients: a power of 2, so exactly


SCALE = Field(("expert",), start=1.0, above=0.0, most=1.0)


class ExpansionState(NamedTuple):
    """The state: support vectors with (n, m c) coefficients, and (m,) common factors of these."""

    points: StoredPoints
    scale: Floats


class Summed(NamedTuple):
    """The scores of m experts on b examples.

    Coefficients, and so sums, are `scale` times those that are stored: one product shrinks all.

    experts : (m,) int, their numbers in the pool
    totals, sizes : (m c, b) kernel sums, the c scores of an expert one after the other
    scale : (m,) the common factor of each expert's coefficients
    known : (b,) bool, whether a row is equal to one that the experts sum over
    """

    experts: Ints
    totals: Floats
    sizes: Floats
    scale: Floats
    known: Flags


class Sums(NamedTuple):
    """A block of b examples, as m experts learn it.

    summed : what they say
    firsts : (r + 1,) int, the first expert of each of r rules
    plan, pairs : the kernels, and (channels, b, b) pair values of the block with itself
    keys : (b,) int, equal for equal rows
    diagonal : (m, b) k(x, x)
    coefficients : (b, m c), or (b, c) where all have the same, zeros on entry: what each example
        was added with
    shifts : (m,) how often the scale of each was multiplied by 1 / SMALL during the block. The
        coefficients of points stored before have still to be multiplied by SMALL as often
    values, change : (2, b) and (c,) scratch
    """

    summed: Summed
    firsts: Ints
    plan: Plan
    pairs: Floats
    keys: Ints
    diagonal: Floats
    coefficients: Floats
    shifts: Ints
    values: Floats
    change: Floats


class Growing(NamedTuple):
    """The compiled form of experts that hold every example that they add.

    rules : links to the learners' rules; sums : of the experts
    """

    rules: Any
    sums: Sums


class Shared(NamedTuple):
    """The compiled form of kernels with the same coefficients.

    combiner, progress : by whose weights the kernels are combined, a link to it; `progress.state`
        has the squared norms of the m dual vectors
    weights, stale : (m,) these weights; (1,) bool, whether the norms have changed since
    room : (ROOM,) for what is pinned; sums : of the kernels
    """

    combiner: Any
    progress: Progress
    weights: Floats
    stale: Flags
    room: Ints
    sums: Sums


@score.of(Summed)
def _score(part, t, board):
    classes = board.scores.shape[2]
    for e in range(part.experts.shape[0]):
        expert, scale = part.experts[e], part.scale[e]
        for c in range(classes):
            size = part.sizes[e * classes + c, t]
            board.scores[t, expert, c] = scale * zero_or(part.totals[e * classes + c, t], size)
            board.sizes[t, expert, c] = scale * size
        board.known[t, expert] = part.known[t]


@score.of(Growing)
@score.of(Shared)
def _score_growing(part, t, board):
    score(part.sums.summed, t, board)


@learn.of(Growing)
def _learn(part, t, updates, clock, board):
    if board.importance[t] <= 0.0:
        return
    rules, sums, added, change = part.rules, part.sums, False, part.sums.change
    classes = board.scores.shape[2]
    for r in range(len(rules)):
        for e in range(sums.firsts[r], sums.firsts[r + 1]):
            expert = sums.summed.experts[e]
            if not updates[expert]:
                continue
            for c in range(classes):
                change[c] = 0.0
            seen = see(board, t, expert, sums.diagonal[e, t], clock)
            scores, sizes = board.scores[t, expert], board.sizes[t, expert]
            shrink = through(expand, rules[r], seen, scores, sizes, change)
            if shrink != 1.0:
                shrink_expert(sums, e, classes, shrink, t)
            for c in range(classes):
                if change[c] != 0.0:
                    sums.coefficients[t, e * classes + c] = change[c] / sums.summed.scale[e]
                    added = True
    if added:
        add_example(sums, t)


@learn.of(Shared)
def _learn_together(part, t, updates, clock, board):
    """Add the example with step 1 if the two-class margin is at most 1."""
    scores, sizes, label = board.scores[t], board.sizes[t], int(board.labels[t])
    m, classes = scores.shape
    if board.importance[t] <= 0.0:
        return
    weights, total, size = part.weights, np.zeros(classes), np.zeros(classes)
    if part.stale[0]:
        through(weigh_all, part.combiner, pin(part.progress, part.room), weights)
        part.stale[0] = False
    for j in range(m):
        for c in range(classes):
            total[c] += weights[j] * scores[j, c]
            size[c] += weights[j] * sizes[j, c]
    for c in range(classes):
        total[c] = zero_or(total[c], size[c])
    margin, _, rival, _ = margin_of(total, size, label)
    if classes == 1:
        margin *= 2.0  # two classes, each with half of the score
    if margin > 1.0:
        return
    sums, norms = part.sums, part.progress.state
    change = sums.coefficients[t]
    add_step(change, label, rival, board.importance[t])
    for j in range(m):
        square, grown = sums.diagonal[j, t], 0.0
        for c in range(classes):
            raw = sums.summed.totals[j * classes + c, t]
            grown += 2.0 * change[c] * raw + change[c] ** 2 * square
        norms[j] = max(norms[j] + grown, 0.0)
    part.stale[0] = True
    add_example(sums, t)


@njit(cache=True, nogil=True, forceinline=True)
def shrink_expert(sums, e, classes, factor, t):
    """All coefficients of an expert times a factor, before it learns from example t."""
    scale, totals, sizes = sums.summed.scale, sums.summed.totals, sums.summed.sizes
    scale[e] *= factor
    if scale[e] < SMALL:
        scale[e] /= SMALL
        sums.shifts[e] += 1
        for k in range(e * classes, (e + 1) * classes):
            for later in range(t + 1, totals.shape[1]):
                totals[k, later] *= SMALL
                sizes[k, later] *= SMALL
            for s in range(t):
                sums.coefficients[s, k] *= SMALL


@njit(cache=True, nogil=True, forceinline=True)
def add_example(sums, t):
    """Example t, with its coefficients, counts from now on in the sums of those to come."""
    totals, sizes, known = sums.summed.totals, sums.summed.sizes, sums.summed.known
    b = known.shape[0]
    for later in range(t + 1, b):
        known[later] |= sums.keys[later] == sums.keys[t]
    add_points(
        sums.plan, sums.pairs, t, t + 1, t + 1, b, sums.coefficients, totals, sizes, sums.values
    )


@njit(cache=True, nogil=True)
def diagonals(plan, pairs, ones, classes, out):
    """out[e, t] = k_e(x_t, x_t), (e, b).

    pairs : (channels, b, b) of the block; ones : (b, columns) coefficients, of the first scores
    """
    n_experts, b = out.shape
    sums = np.zeros((n_experts * classes, b))
    spare = np.zeros_like(sums)
    values = np.empty((2, b))
    for t in range(b):
        add_points(plan, pairs, t, t + 1, t, t + 1, ones, sums, spare, values)
    for e in range(n_experts):
        for t in range(b):
            out[e, t] = sums[e * classes, t]


class Expansion(Store):
    """Experts that sum over examples; all of them hold the same points, each with coefficients.

    Parameters
    ----------
    parts : of the pool, with the same kernels; each learner has a `rule`
    """

    by_block, grows = "support vectors without a bound", True
    overflows = "its sums overflowed; scale the features, or lower its degree"

    def __init__(self, parts: Sequence[PoolPart], setting: Setting):
        self.setting, self.block_rows = setting, BLOCK
        self.rules = tuple(cast_rule(part.learner.rule()) for part in parts)
        kernels = parts[0].kernels * len(parts)
        self.firsts = np.arange(0, len(kernels) + 1, len(parts[0].kernels))
        self.experts = np.concatenate([part.experts for part in parts])
        self.judges_stored = setting.judges_stored
        self.kernels, self.sums = kernels, KernelSums(kernels, Layout(kernels, setting.scores))
        self.columns = len(kernels) * setting.scores

    def begin(self) -> ExpansionState:
        support = StoredPoints(self.columns, self.setting.width, self.setting.sparse)
        return ExpansionState(support, np.ones(len(self.experts)))

    def prepare(self, state: ExpansionState, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        support, plan, c = state.points, self.sums.layout.plan, self.setting.scores
        totals, sizes = self.sums.sums(support, rows)
        pairs = rows.pairs(self.sums.layout, rows)
        self.sums.check_finite(sizes)
        keys, known = find_known(self.judges_stored, rows, support.rows.keys, inside=False)
        m, b = len(self.experts), len(rows)
        learned, diagonal = np.zeros((b, support.coefficients.shape[1])), np.zeros((m, b))
        ones = np.zeros_like(learned)
        ones[:, ::c] = 1.0
        diagonals(plan, pairs, ones, c, diagonal)
        summed = Summed(self.experts, totals, sizes, state.scale.copy(), known)
        shifts, values = np.zeros(m, dtype=np.int64), np.empty((2, b))
        sums = Sums(
            summed, self.firsts, plan, pairs, keys, diagonal, learned, shifts, values, np.zeros(c)
        )

        def finish(board: Board, asked: Flags) -> ExpansionState:
            sound = (summed.scale > 0) & np.isfinite(summed.scale)
            if not (np.isfinite(learned).all() and sound.all()):
                raise overflow(self, int(sound.argmin()))
            held = support
            if sums.shifts.any():
                held = held.with_coefficients(held.coefficients * np.repeat(SMALL**sums.shifts, c))
            added = np.flatnonzero(learned.any(axis=1))
            if len(added):
                held = held.appended(rows, added, learned[added])
            return ExpansionState(held, summed.scale)

        return Prepared((self.member(sums, progress),), 1, finish)

    def member(self, sums: Sums, progress: Progress) -> Any:
        """The compiled form."""
        return Growing(links_to(expand, self.rules), sums)

    def reading(self, state: ExpansionState, rows: Rows, raw: Any) -> Prepared:
        totals, sizes = self.sums.sums(state.points, rows)
        member = Summed(self.experts, totals, sizes, state.scale, np.zeros(len(rows), dtype=bool))
        return Prepared((member,), 1, lambda *_: state)

    def arrays(self, state: ExpansionState) -> dict[str, NDArray[Any]]:
        return {**state.points.arrays(), "scale": state.scale}

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> ExpansionState:
        support, scale = self.begin()
        support.restore(arrays)
        check_array("scale", arrays.get("scale"), scale.shape, scale.dtype)
        SCALE.check("scale", arrays["scale"])
        return ExpansionState(support, arrays["scale"])

    def expansion(self, state: ExpansionState) -> tuple[Rows, Floats]:
        stored = state.points.coefficients
        coefficients = stored.reshape(len(stored), len(self.experts), self.setting.scores)
        return state.points.rows, coefficients * state.scale[:, None]

    def with_classes(self, before: Self, state: ExpansionState, spread: Spread) -> ExpansionState:
        stored = state.points.coefficients
        n, m, (c, k) = len(stored), len(self.experts), spread.coefficients.shape
        each = spread.along(stored.reshape(n, m, c), 2)
        return self.restored({**before.arrays(state), "coefficients": each.reshape(n, m * k)})

    def merged(self, apart: Apart) -> ExpansionState:
        points, _, averaged = unite_points(
            self.setting.width, self.setting.sparse, apart.over(self.expansion)
        )
        support = points.with_coefficients(averaged.reshape(len(averaged), -1))
        used = np.flatnonzero(support.coefficients.any(axis=1))
        return ExpansionState(support.kept(used), np.ones(len(self.experts)))

    def nbytes(self, state: ExpansionState) -> int:
        return state.points.nbytes

    def only(self, state: ExpansionState, expert: int) -> ExpansionState:
        columns = np.flatnonzero(np.repeat(self.experts == expert, self.setting.scores))
        return state._replace(points=state.points.only_columns(columns.tolist()))


class SharedExpansion(Expansion):
    """Kernels that sum over the same examples, each added where the combination errs: OM-2.

    Parameters
    ----------
    kernels : the m kernels
    combiner : rule of the combiner
    """

    stands_alone = False
    by_block = "support vectors that kernels share"
    judges_stored = True
    merged, with_classes = Store.merged, Store.with_classes  # these refuse

    def __init__(self, kernels: tuple[Kernel, ...], combiner: Any, setting: Setting):
        self.setting, self.combiner, self.block_rows = setting, combiner, BLOCK
        self.experts, self.firsts = np.arange(len(kernels)), np.array([0, len(kernels)])
        self.kernels = kernels
        self.sums = KernelSums(kernels, Layout(kernels, setting.scores, shared=True))
        self.columns = setting.scores

    def member(self, sums: Sums, progress: Progress) -> Shared:
        link = links_to(update, (self.combiner,))[0]
        weights, stale = np.empty(len(self.experts)), np.ones(1, dtype=bool)
        return Shared(link, progress, weights, stale, np.empty(ROOM, dtype=np.int64), sums)

    def arrays(self, state: ExpansionState) -> dict[str, NDArray[Any]]:
        return state.points.arrays()

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> ExpansionState:
        return super().restored({**arrays, "scale": np.ones(len(self.experts))})

    def expansion(self, state: ExpansionState) -> tuple[Rows, Floats]:
        return state.points.rows, state.points.coefficients[:, None]
