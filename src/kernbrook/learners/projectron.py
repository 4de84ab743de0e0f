"""Projectron and Projectron++."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from kernbrook.checks import Number, OneOf, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.perceptron import TIES, Perceptron
from kernbrook.learners.steps import SMALLEST_DIAGONAL, errs, hinge_loss, mistaken_step
from kernbrook.numerics.projection import SMALLEST_PIVOT, append, project, reduce
from kernbrook.numerics.scores_of_classes import add_step, copies
from kernbrook.numerics.zero import zero_or


@parameters
class _Projecting(Budgeted):
    """A learner that adds an example, or its projection on the support vectors."""

    budget: int = 100
    threshold: Annotated[float, Number(0, 1, "[)")] = 0.3
    tie: Annotated[str, OneOf(TIES)] = "margin"

    strict = Perceptron.strict

    def keeps(self, rule: Any) -> set[str]:
        return {"factor"}


class Projectron(_Projecting):
    """Perceptron that adds what its support vectors cannot express, and else a projection.

    Step: 1. Admission: the score errs. Upkeep: where k(x, .) is no farther than
    threshold sqrt(k(x, x)) from the span of the support vectors, or the budget is full, its
    projection on that span is added: all coefficients change, and no support vector is ever
    removed. The paper has no budget: the threshold alone bounds its support set.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    threshold : float from 0 to below 1, eta of the paper, where k(x, x) = 1. What is within
        1e-4 sqrt(k(x, x)) of the span always counts as in it
    tie : "margin" or "label", as for `Perceptron`

    Notes
    -----
    O(budget^2) for each example that is learned from. With a kernel that is not positive
    semi-definite only examples with k(x, x) > 0 are learned from.

    References
    ----------
    Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning, algorithm 2.

    Examples
    --------
    >>> Projectron(budget=50)
    Projectron(budget=50)
    """

    def rule(self) -> ProjectronRule:
        return ProjectronRule(self.threshold, self.strict, False)


class ProjectronPlusPlus(_Projecting):
    """Projectron that learns from margin errors too, where a projection is good enough.

    Step and admission of a mistake: as for `Projectron`. An example that is right by a margin
    below 1, of hinge loss l and at distance delta sqrt(k(x, x)) of the span, adds tau times its
    projection P where l > delta / threshold: tau = min(1, l / |P|^2,
    2 (l - delta / threshold) / |P|^2).

    Parameters
    ----------
    budget, threshold, tie : as for `Projectron`

    References
    ----------
    Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning, algorithm 3.

    Examples
    --------
    >>> ProjectronPlusPlus(budget=50)
    ProjectronPlusPlus(budget=50)
    """

    def rule(self) -> ProjectronRule:
        return ProjectronRule(self.threshold, self.strict, True)


class ProjectronRule(NamedTuple):
    """threshold : eta; strict : whether a margin of 0 is a mistake.

    margins : whether it learns from margin errors too
    """

    threshold: float
    strict: bool
    margins: bool


@njit(cache=True, nogil=True)
def add_shares(alpha, change, shares, diagonal, diagonals):
    """alpha += change shares; what is rounding beside |alpha| + |change| |x| / |x_s| becomes 0."""
    for s in range(np.uintp(len(shares))):
        old = alpha[s]
        rounding = abs(change) * math.sqrt(diagonal / diagonals[s])
        alpha[s] = zero_or(old + change * shares[s], abs(old) + rounding)


@fit_in.of(ProjectronRule)
def _fit_in(rule, slots, seen, rows):
    """Orabona, Keshet, Caputo (2009), algorithms 2 and 3.

    With P the projection of k(x, .) on the span and delta sqrt(k(x, x)) its distance to it, a
    mistake adds y k(x, .), projected where delta <= threshold or no slot is free. A margin error
    of loss l adds tau y P, where l > delta / threshold, with
    tau = min(1, l / |P|^2, 2 (l - delta / threshold) / |P|^2).
    """
    threshold, diagonal, alphas = rule.threshold, seen.diagonal, slots.alpha
    mistake, loss = errs(rule.strict, seen), hinge_loss(seen)
    margin_error = rule.margins and loss > 0.0
    if diagonal <= SMALLEST_DIAGONAL or not (mistake or margin_error):
        return Change(-1, 0.0, 0.0)
    filled, budget = slots.filled[0], alphas.shape[1]
    factor, order = slots.factor, slots.order
    reduced, shares = np.empty(filled), np.empty(filled)
    inside = reduce(factor, order, filled, rows[0], reduced)
    square = diagonal - inside
    step = mistaken_step(seen, alphas.shape[0])
    if mistake:
        far = square > max(threshold * threshold, SMALLEST_PIVOT) * diagonal
        if far and filled < budget:
            append(factor, order, filled, filled, reduced, square)
            return Change(filled, 0.0, step)
    else:
        room = threshold * loss - math.sqrt(max(square, 0.0) / diagonal)
        if room <= 0.0 or inside <= 0.0:
            return Change(-1, 0.0, 0.0)
        inside *= copies(alphas.shape[0])
        step = min(seen.weight, min(loss, 2.0 * room / threshold) / inside)
    project(factor, order, filled, reduced, shares)
    change = np.zeros(alphas.shape[0])
    add_step(change, seen.label, seen.rival, step)
    for c in range(len(change)):
        add_shares(alphas[c], change[c], shares, diagonal, slots.diagonal)
    return Change(-1, 0.0, 0.0)
