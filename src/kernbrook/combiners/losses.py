"""What combiners that learn from losses have in common: which loss, and its cap."""

from __future__ import annotations

import math

from sklearn.base import BaseEstimator

from kernbrook._jit import combining
from kernbrook.checks import one_of, positive, share

LOSSES = {
    "mistakes": combining.MISTAKES,
    "hinge": combining.HINGE,
    "logistic": combining.LOGISTIC,
    "squared": combining.SQUARED,
    "absolute": combining.ABSOLUTE,
    "linearized": combining.LINEARIZED,
}


class LossCombiner(BaseEstimator):
    """A combiner with the parameters `loss` and `cap`, as `Hedge` explains them."""

    choice = "combiner"
    loss: str
    cap: float | None

    @property
    def loss_code(self) -> int:
        """What the compiled pass takes as the loss."""
        return LOSSES[one_of(self, "loss", LOSSES)]

    def state_size(self, n_experts: int) -> int:
        """How many numbers it keeps besides the weights."""
        return 0

    def _cap(self) -> float:
        if self.cap is None:
            return combining.NO_CAP
        return min(positive(self, "cap", "None or a positive number"), combining.NO_CAP)

    def _log_discount(self) -> float:
        return math.log(share(self, "discount", "(0, 1]"))
