"""Bounded online gradient descent."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from kernbrook.checks import NON_NEGATIVE, POSITIVE
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.errors import InputError
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.steps import hinge_loss
from kernbrook.numerics.upkeep import random_slot, scale


class BOGD(Budgeted):
    """Bounded online gradient descent on the hinge loss.

    Step: f <- (1 - step * regularization) f + step y k(x, .). Admission: positive hinge loss.
    Upkeep: drop one uniformly and multiply the others by B / (B - 1).

    Parameters
    ----------
    budget : int, support vectors of each kernel
    step : positive float, eta of the paper
    regularization : non-negative float, lambda of the paper

    References
    ----------
    Zhao, Wang, Wu, Jin, Hoi (2012), Fast bounded online gradient descent algorithms for scalable
    kernel-based online learning.

    Examples
    --------
    >>> BOGD(budget=50)
    BOGD(budget=50)
    """

    parameter_ranges: ClassVar = {"step": POSITIVE, "regularization": NON_NEGATIVE}

    def __init__(self, budget: int = 100, step: float = 0.1, regularization: float = 0.01):
        self.budget = budget
        self.step = step
        self.regularization = regularization

    def rule(self) -> BOGDRule:
        """The parameters as compiled code reads them."""
        if self.step * self.regularization >= 1:
            raise InputError(
                "BOGD: step * regularization must be below 1, got "
                f"{self.step} * {self.regularization}"
            )
        return BOGDRule(self.step, self.regularization)


class BOGDRule(NamedTuple):
    """step, regularization : as for `BOGD`."""

    step: float
    regularization: float


@fit_in.of(BOGDRule)
def _fit_in(rule, slots, seen, rows):
    """Uniform removal."""
    if hinge_loss(seen) == 0.0:
        return Change(-1, 0.0, 0.0)
    filled, budget = slots.filled[0], slots.alpha.shape[1]
    scale(slots.alpha, filled, 1.0 - rule.step * rule.regularization)
    slot = filled
    if filled == budget:
        slot = random_slot(filled, seen.expert, seen.clock)
        scale(slots.alpha, filled, budget / (budget - 1.0) if budget > 1 else 1.0)
    return Change(slot, 0.0, seen.weight * rule.step)
