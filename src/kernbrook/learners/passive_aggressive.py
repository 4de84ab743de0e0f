"""Online passive-aggressive learning with a kernel."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.checks import POSITIVE, OneOf, parameters
from kernbrook.engine.verbs import expand
from kernbrook.learners.steps import SMALLEST_DIAGONAL, hinge_loss, weigh_step
from kernbrook.numerics.scores_of_classes import add_step, copies


@parameters
class PassiveAggressive(BaseEstimator):
    """The smallest change of f that meets the margin, where the hinge loss is positive.

    Step: tau = loss / k(x, x) for PA, min(C, loss / k(x, x)) for PA-I, loss / (k(x, x) + 1/(2C))
    for PA-II. Admission: the hinge loss max(0, 1 - y f(x)) is positive. Upkeep: none, the
    support set grows.

    Parameters
    ----------
    variant : "PA", "PA-I" or "PA-II"
    aggressiveness : positive float
        C of the paper; PA does not use it.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), Online passive-aggressive algorithms,
    figure 1.

    Examples
    --------
    >>> PassiveAggressive("PA-II", aggressiveness=0.1)
    PassiveAggressive(aggressiveness=0.1, variant='PA-II')
    """

    choice = "learner"
    store = "expansion"
    variant: Annotated[str, OneOf(("PA", "PA-I", "PA-II"))] = "PA-I"
    aggressiveness: Annotated[float, POSITIVE] = 1.0

    def rule(self) -> PassiveAggressiveRule:
        softness = 0.5 / float(self.aggressiveness) if self.variant == "PA-II" else 0.0
        limit = self.aggressiveness if self.variant == "PA-I" else math.inf
        return PassiveAggressiveRule(limit, softness)


class PassiveAggressiveRule(NamedTuple):
    """limit : of a step; softness : added to k(x, x)."""

    limit: float
    softness: float


@expand.of(PassiveAggressiveRule)
def _expand(rule, seen, scores, sizes, change):
    """Crammer et al. (2006), figure 1."""
    loss = hinge_loss(seen)
    square = copies(len(change)) * seen.diagonal
    if loss > 0.0 and square > SMALLEST_DIAGONAL:
        step = min(rule.limit, loss / (square + rule.softness))
        add_step(change, seen.label, seen.rival, weigh_step(seen.weight, step, loss, square))
    return 1.0
