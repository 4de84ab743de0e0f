"""Multi-class Pegasos, whole or on a budget that is kept by removal, projection or merging."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from kernbrook.checks import POSITIVE, Flag, OneOf, Whole, or_none, parameters
from kernbrook.compiler.compiling import Verb, njit
from kernbrook.engine.uniting import Apart, remember_together
from kernbrook.engine.verbs import Change, fit_in, keep_within
from kernbrook.gram.arrays import Floats
from kernbrook.kernels import Gaussian, Kernel
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.merged_slots import choose_partner, lightest_slot, merge_loss
from kernbrook.learners.steps import SMALLEST_DIAGONAL, weigh_step
from kernbrook.numerics.arithmetic import exp_negative, fma
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.pairs import dense_squared
from kernbrook.numerics.projection import SMALLEST_PIVOT, append, project, reduce, remove
from kernbrook.numerics.upkeep import random_slot, shrink_slots, square_of
from kernbrook.numerics.vectors import copy
from kernbrook.numerics.zero import ZERO, zero_or


@parameters
class Pegasos(Budgeted):
    """Stochastic gradient descent on the regularised multi-class hinge loss.

    At example t, with eta = 1 / (regularization t): w <- (1 - 1/t) w. Admission: the label's class
    was less than 1 ahead of the best other. Step: eta for the label's class, -eta for the other.
    Upkeep: see `upkeep`; then w is scaled into the ball of radius 1 / sqrt(regularization). Of two
    classes, each has half of the score.

    Parameters
    ----------
    budget : int or None
        Support vectors of each kernel; None keeps all.
    regularization : positive float, lambda of the paper
    upkeep : "merge", "project", "smallest" or "random"
        What happens to the support vector of the smallest norm when there is one too many. It is
        merged with the partner that loses least, projected on the others, or removed; "random"
        removes any. Only Gaussian kernels can merge: the others project.
    ball : bool, whether to scale into the ball
    merging : "exact" or "printed"
        Where the merged point lies: "exact" maximises what is kept; "printed" is equation 21 of
        the paper, which gives its table.

    Notes
    -----
    O(budget) for an example that is learned from, O(budget^2) under "project", beside the kernel
    values. With merging, support vectors are no rows of the data, and are kept dense.

    References
    ----------
    Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget, algorithm 1.

    Examples
    --------
    >>> Pegasos(budget=50)
    Pegasos(budget=50)
    """

    remembers = True
    budget: Annotated[int | None, or_none(Whole())] = None
    regularization: Annotated[float, POSITIVE] = 1e-4
    upkeep: Annotated[str, OneOf(("random", "smallest", "project", "merge"))] = "merge"
    ball: Annotated[bool, Flag()] = True
    merging: Annotated[str, OneOf(("exact", "printed"))] = "exact"

    def slots(self) -> int | None:
        return None if self.budget is None else int(self.budget) + 1

    @property
    def spare(self) -> int:  # type: ignore[override]
        """An example joins before room is made for it."""
        return 0 if self.budget is None else 1

    def rule(self) -> PegasosRule:
        upkeep: Any = {
            "random": Remove(True), "smallest": Remove(False), "project": ProjectSmallest(),
            "merge": MergeSmallest(self.merging == "printed"),
        }[self.upkeep]  # fmt: skip
        if self.budget is None:
            upkeep = KeepAll()
        return PegasosRule(self.regularization, self.ball, upkeep)

    def rules(self, kernels: Sequence[Kernel]) -> list[PegasosRule]:
        """(m,) the rule of each kernel: only Gaussians can merge."""
        rule = self.rule()
        other = rule
        if isinstance(rule.upkeep, MergeSmallest):
            other = rule._replace(upkeep=ProjectSmallest())
        return [rule if isinstance(kernel, Gaussian) else other for kernel in kernels]

    def keeps(self, rule: PegasosRule) -> set[str]:
        return {
            KeepAll: set(), ProjectSmallest: {"gram", "factor"}, MergeSmallest: {"gram", "points"}
        }.get(type(rule.upkeep), {"gram"})  # fmt: skip


# -- the step --------------------------------------------------------------------------------------

TINY = 2.0**-200  # a smaller scale is moved into the coefficients: by a power of two, exactly
AFRESH = 1024  # learned examples between two sums of |w|^2 from the Gram matrix


class PegasosRule(NamedTuple):
    """regularization, ball : as for `Pegasos`; upkeep : a rule of its own, see `make_room`.

    Coefficients are kept without the factor `slots.scale`, so that shrinking and the projection on
    the ball cost nothing. Two classes share one score, half the margin between them. `slots.memory`
    holds the examples so far, the squared length of w, and rounds since it was last summed afresh.
    """

    regularization: float
    ball: bool
    upkeep: Any


@fit_in.of(PegasosRule)
def _fit_in(rule, slots, seen, rows):
    """Shrink; the example is added in units of the scale."""
    margin, size = seen.margin, seen.size
    if slots.alpha.shape[0] == 1:
        margin, size = 2.0 * margin, 2.0 * size
    memory = slots.memory
    memory[0] += 1.0
    t = memory[0]
    shrink = 1.0 - 1.0 / t
    if slots.filled[0] > 0 and shrink > 0.0:
        slots.scale[0] *= shrink
        if slots.scale[0] < TINY:
            slots.scale[0] /= TINY
            shrink_slots(slots.alpha, slots.filled[0], TINY)
    memory[1] *= shrink * shrink
    if 1.0 - margin <= ZERO * (1.0 + size) or seen.diagonal <= SMALLEST_DIAGONAL:
        return Change(-1, 0.0, 0.0)
    first, lacks = 1.0 / (rule.regularization * t), 1.0 - shrink * margin
    step = weigh_step(seen.weight, first, lacks, 2.0 * seen.diagonal)
    if rule.ball:
        memory[1] += 2.0 * step * (shrink * margin + step * seen.diagonal)
    return Change(slots.filled[0], 0.0, step / slots.scale[0])


@keep_within.of(PegasosRule)
def _keep_within(rule, slots, seen, rows, points, t):
    """Room within the budget, and the ball."""
    memory = slots.memory
    classes = 2.0 if slots.alpha.shape[0] == 1 else 1.0  # one score stands for two classes
    square = classes * slots.scale[0] * slots.scale[0]
    memory[1] -= square * make_room(rule.upkeep, slots, seen, rows, points, t)
    if not rule.ball:
        return
    memory[2] += 1.0
    if memory[2] >= AFRESH and slots.gram.shape[0] > 0:
        memory[1] = squared_length(slots, classes)
        memory[2] = 0.0
    memory[1] = max(memory[1], 0.0)
    if rule.regularization * memory[1] > 1.0:
        slots.scale[0] /= math.sqrt(rule.regularization * memory[1])
        memory[1] = 1.0 / rule.regularization


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def dot(alpha, row, n):
    """The sum of alpha[s] * row[s] over s < n, in an order fixed by n."""
    total = 0.0
    for s in range(n):
        total += alpha[s] * row[s]
    return total


@njit(cache=True, nogil=True)
def product(slots, p, row):
    """<a_p k(z, .), w> over the scale squared, for coefficients of slot p and z's kernel row."""
    alpha, n, total = slots.alpha, slots.filled[0], 0.0
    for c in range(alpha.shape[0]):
        total += alpha[c, p] * dot(alpha[c], row, n)
    return total


@njit(cache=True, nogil=True)
def squared_length(slots, classes):
    """|w|^2 from the Gram matrix."""
    total = 0.0
    for s in range(slots.filled[0]):
        total += product(slots, s, slots.gram[s])
    return max(total, 0.0) * slots.scale[0] * slots.scale[0] * classes


@njit(cache=True, nogil=True)
def squares_of(slots):
    """(n,) squared lengths of the coefficients of the slots in use."""
    alpha = slots.alpha
    squares = np.zeros(slots.filled[0])
    for c in range(alpha.shape[0]):
        for s in range(len(squares)):
            squares[s] = fma(alpha[c, s], alpha[c, s], squares[s])
    return squares


@njit(cache=True, nogil=True)
def smallest_slot(slots):
    """The slot of the smallest norm; of equals the oldest."""
    return lightest_slot(squares_of(slots), slots.diagonal, slots.born, slots.filled[0])


@njit(cache=True, nogil=True)
def free_slot(slots, p, later):
    """Slot p is free: the last one moves there, with its kernel values of later examples."""
    last = slots.filled[0] - 1
    slots.filled[0] = last
    if p == last:
        return
    copy(slots.alpha[:, last], slots.alpha[:, p])
    slots.diagonal[p] = slots.diagonal[last]
    slots.born[p] = slots.born[last]
    if slots.points.shape[0] > 0:
        copy(slots.points[last], slots.points[p])
        slots.norms[p] = slots.norms[last]
    else:
        slots.place[p] = slots.place[last]
    gram = slots.gram
    for s in range(last):
        gram[p, s] = gram[last, s]
        gram[s, p] = gram[s, last]
    gram[p, p] = slots.diagonal[p]
    for i in range(slots.order.shape[0]):
        if slots.order[i] == last:
            slots.order[i] = p
    for j in range(later.shape[0]):
        later[j, p] = later[j, last]


# -- room within the budget ------------------------------------------------------------------------


@Verb
def make_room(upkeep, slots, seen, rows, points, t):
    """Room for the example that comes next; arguments as for `keep_within`.

    Returns what |w|^2 loses, over the scale squared.
    """
    return 0.0


class KeepAll(NamedTuple):
    """There is always room."""


class Remove(NamedTuple):
    """The slot of the smallest norm is removed, or any."""

    any: bool


class ProjectSmallest(NamedTuple):
    """The slot of the smallest norm gives way to its projection on the others."""


class MergeSmallest(NamedTuple):
    """The slot of the smallest norm is merged with another; printed : as the paper prints it."""

    printed: bool


@make_room.of(Remove)
def _remove(upkeep, slots, seen, rows, points, t):
    n = slots.filled[0]
    if n < slots.alpha.shape[1]:
        return 0.0
    gone = random_slot(n, seen.expert, seen.clock) if upkeep.any else smallest_slot(slots)
    square = square_of(slots.alpha, gone) * slots.diagonal[gone]
    loss = 2.0 * product(slots, gone, slots.gram[gone]) - square
    free_slot(slots, gone, rows)
    return loss


@make_room.of(ProjectSmallest)
def _project_smallest(upkeep, slots, seen, rows, points, t):
    """The newest is projected in any case, where it lies in the span of the others."""
    n = slots.filled[0]
    factor, order, gram, alpha = slots.factor, slots.order, slots.gram, slots.alpha
    newest = n - 1
    reduced, shares = np.empty(n), np.zeros(n)
    inside = reduce(factor, order, newest, gram[newest], reduced)
    far = slots.diagonal[newest] - inside
    gone = newest
    if far > SMALLEST_PIVOT * slots.diagonal[newest]:
        append(factor, order, newest, newest, reduced, far)
        if n < alpha.shape[1]:
            return 0.0
        gone = smallest_slot(slots)
        remove(factor, order, n, gone)
        far = slots.diagonal[gone] - reduce(factor, order, newest, gram[gone], reduced)
    project(factor, order, newest, reduced, shares)
    loss = square_of(alpha, gone) * max(far, 0.0)
    for c in range(alpha.shape[0]):
        weight = alpha[c, gone]
        for s in range(n):
            if s != gone:
                alpha[c, s] = fma(weight, shares[s], alpha[c, s])
    free_slot(slots, gone, rows)
    return loss


@make_room.of(MergeSmallest)
def _merge_smallest(upkeep, slots, seen, rows, points, t):
    """The smallest slot and its best partner become one.

    z = h x_m + (1 - h) x_n, alpha_z = u alpha_m + v alpha_n, u = kappa^((1-h)^2), v = kappa^(h^2).
    """
    n, gamma = slots.filled[0], points.gamma
    if n < slots.alpha.shape[1]:
        return 0.0
    alpha, gram, stored = slots.alpha, slots.gram, slots.points
    squares = squares_of(slots)
    m = lightest_slot(squares, slots.diagonal, slots.born, n)
    partner, h = choose_partner(alpha, n, m, squares, gram[m], slots.born, upkeep.printed)
    kappa = gram[m, partner]
    u, v = kappa ** ((1.0 - h) ** 2), kappa ** (h * h)
    before = product(slots, m, gram[m]) + product(slots, partner, gram[partner])
    g = 0.0
    for c in range(alpha.shape[0]):
        g += alpha[c, m] * alpha[c, partner]
    gone = merge_loss(squares[m], squares[partner], g, kappa, h)
    d = stored.shape[1]
    norm = 0.0
    for k in range(d):
        stored[partner, k] = h * stored[m, k] + (1.0 - h) * stored[partner, k]
        norm = fma(stored[partner, k], stored[partner, k], norm)
    slots.norms[partner] = norm
    row = np.empty(n)
    for s in range(n):
        row[s] = math.exp(-gamma * squared_distance(stored[partner], stored[s]))
    # <w, z k(z, .)> with w as it was: its own points m and n among the rest.
    row[m], row[partner] = u, v
    after = 0.0
    for c in range(alpha.shape[0]):
        after += (u * alpha[c, m] + v * alpha[c, partner]) * dot(alpha[c], row, n)
    for c in range(alpha.shape[0]):
        first, second = u * alpha[c, m], v * alpha[c, partner]
        alpha[c, partner] = zero_or(first + second, abs(first) + abs(second))
    slots.born[partner] = min(slots.born[m], slots.born[partner])
    for s in range(n):
        gram[partner, s] = row[s]
        gram[s, partner] = row[s]
    gram[partner, partner] = 1.0
    if rows.shape[0] > 0:
        inner = np.empty((1, points.columns.shape[1]))
        square = np.empty((1, points.columns.shape[1]))
        point = stored[partner : partner + 1]
        dense_inner(point, None, points.columns, inner)
        norm_of = slots.norms[partner : partner + 1]
        dense_squared(
            point, norm_of, None, points.features, points.norms, inner, points.reach, square
        )
        for j in range(rows.shape[0]):
            rows[j, partner] = exp_negative(-gamma * square[0, t + 1 + j])
    free_slot(slots, m, rows)
    return 2.0 * (before - after) - gone  # |w|^2 - |w - lost|^2


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def squared_distance(x, z):
    """||x - z||^2, from the differences."""
    total = 0.0
    for k in range(x.shape[0]):
        difference = x[k] - z[k]
        total += difference * difference
    return total


@remember_together.register(PegasosRule)
def _together(rule: PegasosRule, memory: Apart, square: Callable[[], float], scores: int) -> Floats:
    """Examples add up; one score stands for two classes."""
    twice = 2.0 if scores == 1 else 1.0
    return np.array([memory.added()[0], twice * max(square(), 0.0), 0.0])
