"""Uniform: every expert weighs the same, for ever."""

from __future__ import annotations

from typing import NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.engine.loss_codes import MISTAKES
from kernbrook.engine.uniting import Apart, Weighing, averaged_weights, weigh_together
from kernbrook.engine.verbs import update


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

    def rule(self) -> UniformRule:
        """The parameters as compiled code reads them."""
        return UniformRule()

    def state_size(self, n_experts: int) -> int:
        """How many numbers it keeps besides the weights."""
        return 0


class UniformRule(NamedTuple):
    """Nothing to know."""


@update.of(UniformRule)
def _update(combiner, told, progress):
    pass


@weigh_together.register(UniformRule)
def _together(combiner: UniformRule, apart: Apart) -> Weighing:
    return averaged_weights(apart)
