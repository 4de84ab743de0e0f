"""Ahpatron, the aggressive perceptron in a ball."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from kernbrook.checks import NON_NEGATIVE, POSITIVE, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, remember_together
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.gram.arrays import Floats
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.steps import SMALLEST_DIAGONAL, weigh_step
from kernbrook.numerics.projection import gather, project, reduce
from kernbrook.numerics.scores_of_classes import add_step, copies
from kernbrook.numerics.upkeep import keep_slots, shrink_slots, square_of
from kernbrook.numerics.vectors import places_of


@parameters
class Ahpatron(Budgeted):
    """Aggressive perceptron in a ball; when full, one half of its support vectors takes on all.

    Step: radius / (2 sqrt(budget)), then f is scaled back to |f| <= radius. Admission: a margin
    y f(x) below `margin`. Upkeep: the half with the smaller |coefficient| is projected on the
    other half by ridge regression and removed, and f is scaled to the norm it had.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    margin : positive float, 1 - epsilon of the paper
    radius : positive float, U of the paper; None is sqrt(budget) / 2
    ridge : non-negative float, eta of the paper, as a share of each k(x, x)

    Notes
    -----
    The defaults and the choice of the half are those of the authors' program, whose kernel has
    k(x, x) = 1. O(budget^2) on average for each example that is learned from.

    References
    ----------
    Liao, Li, Liao, Hu, Dang (2024), Ahpatron: a new budgeted online kernel learning machine with
    tighter mistake bound, algorithm 2.

    Examples
    --------
    >>> Ahpatron(budget=50)
    Ahpatron(budget=50)
    """

    budget: int = 100
    margin: Annotated[float, POSITIVE] = 0.5
    radius: Annotated[float | None, or_none(POSITIVE)] = None
    ridge: Annotated[float, NON_NEGATIVE] = 0.0005
    remembers = True

    def keeps(self, rule: Any) -> set[str]:
        return {"gram"}

    def rule(self) -> AhpatronRule:
        root = math.sqrt(self.budget)
        radius = root / 2 if self.radius is None else float(self.radius)
        return AhpatronRule(self.margin, radius / (2 * root), radius, self.ridge)


class AhpatronRule(NamedTuple):
    """margin, radius, ridge : as for `Ahpatron`; step : of an update."""

    margin: float
    step: float
    radius: float
    ridge: float


@fit_in.of(AhpatronRule)
def _fit_in(rule, slots, seen, rows):
    """Liao et al. (2024), algorithm 2; memory[0] = |f|^2."""
    if seen.margin >= rule.margin or seen.diagonal <= SMALLEST_DIAGONAL:
        return Change(-1, 0.0, 0.0)
    alpha = slots.alpha
    change = np.zeros(alpha.shape[0])
    reach = copies(len(change)) * seen.diagonal
    new = weigh_step(seen.weight, rule.step, rule.margin - seen.margin, reach)
    add_step(change, seen.label, seen.rival, new)
    if slots.filled[0] == alpha.shape[1]:
        halve(slots, rule.ridge, rows)
    square = slots.memory[0] + copies(len(change)) * new * new * seen.diagonal
    for c in range(len(change)):
        score = 0.0
        for s in range(slots.filled[0]):
            score += alpha[c, s] * rows[0, s]
        square += 2.0 * change[c] * score
    square = max(square, 0.0)
    if square > rule.radius * rule.radius:
        factor = rule.radius / math.sqrt(square)
        shrink_slots(alpha, slots.filled[0], factor)
        new *= factor
        square = rule.radius * rule.radius
    slots.memory[0] = square
    return Change(slots.filled[0], 0.0, new)


@njit(cache=True, nogil=True)
def halve(slots, ridge, later):
    """The slots of the greater |coefficient|, half of them, take on the rest; of equals the older.

    Their share of the rest is theta = (K + ridge diag K)^-1 K' a, K the Gram matrix of the half,
    K' that with the rest and a the coefficients of the rest; then f is scaled to its old norm.
    The paper's K + ridge I is the same where k(x, x) = 1.

    later : (n, B) the slots' kernel values with examples to come; moved with the slots
    """
    filled = slots.filled[0]
    alpha, gram = slots.alpha, slots.gram
    squares = np.empty(filled)
    for s in range(filled):
        squares[s] = square_of(alpha, s)
    stays = np.empty(filled, dtype=np.bool_)
    for s in range(filled):
        before = 0
        for other in range(filled):
            larger = squares[other] > squares[s]
            before += larger or (other < s and squares[other] == squares[s])
        stays[s] = before < filled // 2
    kept = places_of(stays)
    half = len(kept)
    factor, order = np.empty((half, half)), np.empty(half, dtype=np.int64)
    reduced, shares, rest = np.empty(half), np.zeros(filled), np.zeros(filled)
    n = gather(factor, order, gram, kept, ridge)
    square = 0.0
    for c in range(alpha.shape[0]):
        for s in kept:
            rest[s] = 0.0
            for other in range(filled):
                if not stays[other]:
                    rest[s] += gram[s, other] * alpha[c, other]
        reduce(factor, order, n, rest, reduced)
        project(factor, order, n, reduced, shares)
        for s in kept:
            alpha[c, s] += shares[s]
        for s in kept:
            value = 0.0
            for other in kept:
                value += gram[s, other] * alpha[c, other]
            square += alpha[c, s] * value
    keep_slots(slots, kept, later)
    if square > 0.0:
        shrink_slots(alpha, half, math.sqrt(slots.memory[0] / square))
    else:
        slots.memory[0] = 0.0


@remember_together.register(AhpatronRule)
def _together(
    rule: AhpatronRule, memory: Apart, square: Callable[[], float], scores: int
) -> Floats:
    return np.array([max(square(), 0.0), 0.0, 0.0])
