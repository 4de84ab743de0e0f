"""What combiners that learn from losses have in common: which loss, and its cap."""

from __future__ import annotations

import math
from typing import ClassVar

from sklearn.base import BaseEstimator

from kernbrook.checks import POSITIVE, Number, OneOf, or_none
from kernbrook.compiler.compiling import njit
from kernbrook.engine import loss_codes as losses
from kernbrook.engine.loss_codes import NO_CAP

LOSSES = {
    "mistakes": losses.MISTAKES,
    "hinge": losses.HINGE,
    "logistic": losses.LOGISTIC,
    "squared": losses.SQUARED,
    "absolute": losses.ABSOLUTE,
    "linearized": losses.LINEARIZED,
}
DISCOUNT = Number(0, 1, "(]")


class LossCombiner(BaseEstimator):
    """A combiner with the parameters `loss` and `cap`, as `Hedge` explains them."""

    choice = "combiner"
    parameter_ranges: ClassVar = {"loss": OneOf(tuple(LOSSES)), "cap": or_none(POSITIVE)}
    loss: str
    cap: float | None

    @property
    def loss_code(self) -> int:
        """What the compiled pass takes as the loss."""
        return LOSSES[self.loss]

    def state_size(self, n_experts: int) -> int:
        """How many numbers it keeps besides the weights."""
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
