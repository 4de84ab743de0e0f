"""Hedge: weights that fall by a factor with every loss."""

from __future__ import annotations

import math
from typing import Annotated

from kernbrook.checks import parameters
from kernbrook.combiners.loss_combiner import DISCOUNT, DiscountRule, LossCombiner


@parameters
class Hedge(LossCombiner):
    """w_i <- w_i * discount^loss_i: weights that fall with every loss of their expert.

    Weights live in the log domain, so they never underflow.

    Parameters
    ----------
    discount : float in (0, 1]
        beta of Hoi et al. (2013), gamma of Lu et al. (2015). 1 leaves the weights equal.
    loss : "mistakes", "hinge" or "logistic"; for numbers "squared", "absolute" or "linearized"
        What counts as a loss, and with it what a vote is. "mistakes": 0 or 1, of the experts
        that were updated; experts vote with their signs. "hinge": max(0, 1 - y f) of every
        expert, and all others too; experts vote with their scores. "logistic": log(1 + exp(-y f)).
        "linearized": 2 (F - y) f with the combination's F, the slope of its squared loss in each
        weight; what is small on it is the regret to the best mixture, not to the best expert.
    cap : None or positive float
        Losses above it count as it. Kernels of unbounded size, such as a raw cubic one, have
        losses of 1e6.

    References
    ----------
    Freund and Schapire (1997). Hoi, Jin, Zhao, Yang (2013), Online multiple kernel
    classification, algorithm 1. Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel
    learning, algorithm 1.

    Examples
    --------
    >>> Hedge(discount=0.9)
    Hedge(discount=0.9)
    """

    discount: Annotated[float, DISCOUNT] = 0.8
    loss: str = "mistakes"
    cap: float | None = None

    def rule(self) -> DiscountRule:
        return DiscountRule(self._cap(), math.log(self.discount), False, 0.0, False)
