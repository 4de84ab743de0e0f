"""Uniform: every expert weighs the same, for ever."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from kernbrook.combiners.loss_combiner import DiscountRule
from kernbrook.engine.loss_codes import MISTAKES, NO_CAP


class Uniform(BaseEstimator):
    """Equal weights; experts vote with their signs.

    Examples
    --------
    >>> Uniform()
    Uniform()
    """

    choice = "combiner"
    loss_code = MISTAKES
    of_any_loss = True

    def rule(self) -> DiscountRule:
        """The parameters as compiled code reads them: a discount of 1."""
        return DiscountRule(NO_CAP, 0.0, False, 0.0, False)

    def state_size(self, n_experts: int) -> int:
        return 0
