"""Bounded online gradient descent."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from kernbrook.checks import NON_NEGATIVE, POSITIVE, OneOf, parameters
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.errors import InputError
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.steps import hinge_loss, weigh_step
from kernbrook.numerics.scores_of_classes import copies
from kernbrook.numerics.upkeep import oldest, random_slot, shrink_slots


@parameters
class BOGD(Budgeted):
    """Bounded online gradient descent on the hinge loss.

    Step: f <- (1 - step * regularization) f + step y k(x, .). Admission: positive hinge loss.
    Upkeep: drop the oldest one. The paper's, "uniform", drops one uniformly and multiplies the
    others by B / (B - 1), so that f keeps its size in expectation; in practice it errs more.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    step : positive float, eta of the paper
    regularization : non-negative float, lambda of the paper
    upkeep : "oldest" or "uniform"

    References
    ----------
    Zhao, Wang, Wu, Jin, Hoi (2012), Fast bounded online gradient descent algorithms for scalable
    kernel-based online learning.

    Examples
    --------
    >>> BOGD(budget=50)
    BOGD(budget=50)
    """

    budget: int = 100
    step: Annotated[float, POSITIVE] = 0.1
    regularization: Annotated[float, NON_NEGATIVE] = 0.01
    upkeep: Annotated[str, OneOf(("oldest", "uniform"))] = "oldest"

    def rule(self) -> BOGDRule:
        if self.step * self.regularization >= 1:
            raise InputError(
                "BOGD: step * regularization must be below 1, got "
                f"{self.step} * {self.regularization}"
            )
        return BOGDRule(self.step, self.regularization, self.upkeep == "uniform")


class BOGDRule(NamedTuple):
    """step, regularization : as for `BOGD`; uniform : which upkeep."""

    step: float
    regularization: float
    uniform: bool


@fit_in.of(BOGDRule)
def _fit_in(rule, slots, seen, rows):
    loss = hinge_loss(seen)
    if loss == 0.0:
        return Change(-1, 0.0, 0.0)
    filled, budget = slots.filled[0], slots.alpha.shape[1]
    shrink_slots(slots.alpha, filled, 1.0 - rule.step * rule.regularization)
    slot = filled
    if filled == budget and not rule.uniform:
        slot = oldest(slots.born, filled)
    elif filled == budget:
        slot = random_slot(filled, seen.expert, seen.clock)
        shrink_slots(slots.alpha, filled, budget / (budget - 1.0) if budget > 1 else 1.0)
    reach = copies(slots.alpha.shape[0]) * seen.diagonal
    return Change(slot, 0.0, weigh_step(seen.weight, rule.step, loss, reach))
