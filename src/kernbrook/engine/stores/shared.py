"""Kernels that share their support vectors and coefficients, combined as one score: OM-2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.links import ROOM, linked, pin, through
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.store_verbs import learn, score
from kernbrook.engine.stores.base import Prepared, Setting, Store, summed
from kernbrook.engine.verbs import update, weigh_all
from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Flags, Floats, Labels
from kernbrook.gram.rows import Block, Rows
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.gram.sums import BLOCK, KernelSums
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout
from kernbrook.numerics.plan import Plan
from kernbrook.numerics.scores_of_classes import add_step, margin_of
from kernbrook.numerics.values import add_points
from kernbrook.numerics.zero import zero_or


class Shared(NamedTuple):
    """The compiled form, of m kernels.

    combiner, progress : by whose weights the kernels are combined, a link to it; `progress.state`
        has the squared norms of the m dual vectors
    weights, stale : (m,) these weights; (1,) bool, whether the norms have changed since
    plan, pairs, totals, sizes : as for `Sums`
    coefficients : (b, c) out, zeros on entry: what each example was added with
    diagonal, spare : (m c, b) zeros; values : (2, b) scratch; ones : (b, c), the first column 1
    room : (ROOM,) for what is pinned
    """

    combiner: Any
    progress: Progress
    weights: Floats
    stale: Flags
    plan: Plan
    pairs: Floats
    totals: Floats
    sizes: Floats
    coefficients: Floats
    diagonal: Floats
    spare: Floats
    values: Floats
    ones: Floats
    room: Labels


@score.of(Shared)
def _score(part, t, board):
    classes = board.scores.shape[2]
    for j in range(board.scores.shape[1]):
        for c in range(classes):
            size = part.sizes[j * classes + c, t]
            board.scores[t, j, c] = zero_or(part.totals[j * classes + c, t], size)
            board.sizes[t, j, c] = size


@learn.of(Shared)
def _learn(part, t, updates, clock, board):
    """Where the two-class margin is at most 1, the example is added with step 1."""
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
    change, norms, b = part.coefficients[t], part.progress.state, part.totals.shape[1]
    add_step(change, label, rival, board.importance[t])
    add_points(
        part.plan, part.pairs, t, t + 1, t, t + 1, part.ones, part.diagonal, part.spare,
        part.values,
    )  # fmt: skip
    for j in range(m):
        own, grown = part.diagonal[j * classes, t], 0.0
        for c in range(classes):
            raw = part.totals[j * classes + c, t]
            grown += 2.0 * change[c] * raw + change[c] ** 2 * own
        norms[j] = max(norms[j] + grown, 0.0)
    part.stale[0] = True
    add_points(
        part.plan, part.pairs, t, t + 1, t + 1, b, part.coefficients, part.totals, part.sizes,
        part.values,
    )  # fmt: skip


class SharedExpansion(Store):
    """Kernels that sum over the same examples, each added where the combination errs.

    Parameters
    ----------
    kernels : the m kernels
    combiner : rule of the combiner
    """

    grows = True
    stands_alone = False
    by_block = "support vectors that kernels share"

    def __init__(self, kernels: tuple[Kernel, ...], combiner: Any, setting: Setting):
        self.setting, self.combiner, self.block_rows = setting, combiner, BLOCK
        self.experts = np.arange(len(kernels))
        self.sums = KernelSums(kernels, Layout(kernels, setting.scores, shared=True))

    def begin(self) -> StoredPoints:
        return StoredPoints(self.setting.scores, self.setting.width, self.setting.sparse)

    def prepare(self, state: StoredPoints, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        pairs = Block(rows, self.sums.layout).own_pairs()
        totals, sizes = self.sums.sums(state, rows)
        self.sums.check_finite(sizes)
        b, c = len(rows), self.setting.scores
        ones = np.zeros((b, c))
        ones[:, 0] = 1.0
        member = Shared(
            linked(update, (self.combiner,), self.compiled)[0],
            progress, np.empty(len(self.experts)), np.ones(1, dtype=bool), self.sums.layout.plan,
            pairs, totals, sizes, np.zeros((b, c)), np.zeros_like(totals), np.zeros_like(totals),
            np.empty((2, b), pairs.dtype), ones, np.empty(ROOM, dtype=np.int64),
        )  # fmt: skip

        def finish(board: Board, asked: Flags) -> StoredPoints:
            added = np.flatnonzero(member.coefficients.any(axis=1))
            if not len(added):
                return state
            return state.appended(rows, added, member.coefficients[added])

        return Prepared((member,), 1, finish)

    def reading(self, state: StoredPoints, rows: Rows, raw: Any) -> Prepared:
        totals, sizes = self.sums.sums(state, rows)
        return summed(self.experts, totals, sizes, state)

    def arrays(self, state: StoredPoints) -> dict[str, NDArray[Any]]:
        return state.arrays()

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> StoredPoints:
        support = self.begin()
        support.restore(arrays)
        return support

    def expansion(self, state: StoredPoints) -> tuple[Rows, Floats]:
        return state.rows, state.coefficients.reshape(state.n, 1, self.setting.scores)

    def overflow(self, expert: int) -> NonFiniteError:
        return NonFiniteError(
            f"kernel {self.sums.kernels[expert]}: its sums overflowed; scale the features, or "
            "lower its degree"
        )

    def held(self, state: StoredPoints) -> int:
        return state.n

    def counts(self, state: StoredPoints) -> Labels:
        return np.array([np.count_nonzero(state.coefficients.any(axis=1))])

    def nbytes(self, state: StoredPoints) -> int:
        return state.nbytes
