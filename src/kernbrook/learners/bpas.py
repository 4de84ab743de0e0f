"""Budgeted passive-aggressive learning."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from kernbrook.checks import POSITIVE, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.steps import SMALLEST_DIAGONAL, hinge_loss
from kernbrook.numerics.scores_of_classes import copies
from kernbrook.numerics.upkeep import cheapest


@parameters
class BPAS(Budgeted):
    """Budgeted passive-aggressive learning, the simple variant.

    Step: min(C, loss / k(x, x)), plus what the removed support vector leaves on x. Admission:
    positive hinge loss. Upkeep: drop the one whose removal, made good on x as far as possible,
    changes f least.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    aggressiveness : positive float, C of the paper

    References
    ----------
    Wang and Vucetic (2010), Online passive-aggressive algorithms on a budget, BPA-S.

    Examples
    --------
    >>> BPAS(budget=50)
    BPAS(budget=50)
    """

    budget: int = 100
    aggressiveness: Annotated[float, POSITIVE] = 0.1

    def rule(self) -> BPASRule:
        return BPASRule(self.aggressiveness)


class BPASRule(NamedTuple):
    """limit : of a step, C of the paper."""

    limit: float


@njit(cache=True, nogil=True)
def bpas_slot(alpha, self_value, born, filled, row, diagonal):
    """The slot whose removal costs least: the least |alpha_r|^2 (k_rr - k_rt^2 / k_tt).

    Wang and Vucetic (2010), simple variant; the rest of its objective is the same for every r.
    Equal costs: the oldest, or narrow kernels would replace one slot for ever.

    self_value : (B,) k_rr; row, diagonal : k_rt, and k_tt of the example
    """
    costs = np.empty(filled)
    for s in range(filled):
        costs[s] = alpha[0, s] * alpha[0, s]
    for c in range(1, alpha.shape[0]):
        for s in range(filled):
            costs[s] += alpha[c, s] * alpha[c, s]
    if diagonal == 1.0:  # as for Gaussians: the same without a division
        for s in range(filled):
            costs[s] *= self_value[s] - row[s] * row[s]
    else:
        for s in range(filled):
            costs[s] *= self_value[s] - row[s] / diagonal * row[s]
    return cheapest(costs, born)


@njit(cache=True, nogil=True)
def replace_cheapest(slots, seen, row, step):
    """The example is added by `step`, where the slots are full instead of the one missed least."""
    filled = slots.filled[0]
    if filled < slots.alpha.shape[1]:
        return Change(filled, 0.0, step)
    gone = bpas_slot(slots.alpha, slots.diagonal, slots.born, filled, row, seen.diagonal)
    return Change(gone, row[gone] / seen.diagonal, step)


@fit_in.of(BPASRule)
def _fit_in(rule, slots, seen, rows):
    loss = hinge_loss(seen)
    if loss == 0.0 or seen.diagonal <= SMALLEST_DIAGONAL:
        return Change(-1, 0.0, 0.0)
    step = min(seen.weight * rule.limit, loss / (copies(slots.alpha.shape[0]) * seen.diagonal))
    return replace_cheapest(slots, seen, rows[0], step)
