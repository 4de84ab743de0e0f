"""The base of combiners that learn from losses: which loss, its cap, and discounts."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from kernbrook.checks import POSITIVE, Number, OneOf, or_none
from kernbrook.compiler.compiling import njit
from kernbrook.engine import loss_codes as losses
from kernbrook.engine.loss_codes import NO_CAP
from kernbrook.engine.uniting import (
    Apart,
    Weighing,
    added_weights,
    averaged_weights,
    weigh_together,
)
from kernbrook.engine.verbs import update

LOSSES = {
    "mistakes": losses.MISTAKES,
    "hinge": losses.HINGE,
    "logistic": losses.LOGISTIC,
    "squared": losses.SQUARED,
    "absolute": losses.ABSOLUTE,
    "linearized": losses.LINEARIZED,
}
DISCOUNT = Number(0, 1, "(]")
LEAST_WEIGHT = 1e-300  # beside the greatest, where weights are shared


class LossCombiner(BaseEstimator):
    """A combiner with the parameters `loss` and `cap`, as `Hedge` explains them."""

    choice = "combiner"
    parameter_ranges: ClassVar = {"loss": OneOf(tuple(LOSSES)), "cap": or_none(POSITIVE)}
    loss: str
    cap: float | None

    @property
    def loss_code(self) -> int:
        """The code of the loss for compiled passes."""
        return LOSSES[self.loss]

    def state_size(self, n_experts: int) -> int:
        return 0

    def _cap(self) -> float:
        return NO_CAP if self.cap is None else min(float(self.cap), NO_CAP)


@njit(cache=True, nogil=True)
def cut(losses, cap):
    """No loss above the cap, nor one whose square overflows; (m,) changed."""
    for e in range(losses.shape[0]):  # linearised ones may be below 0, without a bound
        losses[e] = max(min(losses[e], cap), -NO_CAP)


@njit(cache=True, nogil=True)
def lift(log_weights):
    """The greatest is 0 again; (m,) changed."""
    greatest = -math.inf
    for e in range(log_weights.shape[0]):
        greatest = max(greatest, log_weights[e])
    for e in range(log_weights.shape[0]):
        log_weights[e] -= greatest


class DiscountRule(NamedTuple):
    """cap : of a loss; log_discount : of a weight for a loss of 1, at most 0.

    everybody : whether losses count of experts without an update, too
    share : of each weight, which the others get in equal parts
    variable : whether a weight gives 1 - (1 - share)^loss instead
    """

    cap: float
    log_discount: float
    everybody: bool
    share: float
    variable: bool


@update.of(DiscountRule)
def _update(combiner, told, progress):
    """Hedge: Freund and Schapire (1997), figure 1."""
    losses, log_weights = told.losses, progress.log_weights
    cut(losses, combiner.cap)
    for e in range(losses.shape[0]):
        if combiner.everybody or told.counted[e]:
            log_weights[e] += combiner.log_discount * losses[e]
    lift(log_weights)
    if combiner.share > 0.0 and losses.shape[0] > 1:
        share_weights(combiner, losses, log_weights)


@njit(cache=True, nogil=True)
def share_weights(combiner, losses, log_weights):
    """Every weight gives a share to the others: Herbster and Warmuth (1998), figures 1 and 2."""
    m, pool, share = log_weights.shape[0], 0.0, combiner.share
    kept, given = np.empty(m), np.empty(m)
    for e in range(m):
        weight = math.exp(log_weights[e])
        part = 1.0 - (1.0 - share) ** max(losses[e], 0.0) if combiner.variable else share
        kept[e], given[e] = (1.0 - part) * weight, part * weight
        pool += given[e]
    for e in range(m):
        log_weights[e] = math.log(max(kept[e] + (pool - given[e]) / (m - 1), LEAST_WEIGHT))
    lift(log_weights)


@weigh_together.register(DiscountRule)
def _together(combiner: DiscountRule, apart: Apart) -> Weighing:
    """Add up losses without a share; with one the weights tell of the last rounds."""
    return added_weights(apart) if combiner.share == 0.0 else averaged_weights(apart)
