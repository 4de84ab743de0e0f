"""What combiners that learn from losses have in common: which loss, and its cap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernbrook._jit import combining
from kernbrook.errors import InputError

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
        if not isinstance(self.loss, str) or self.loss not in LOSSES:
            raise InputError(
                f"{type(self).__name__}: loss must be one of {', '.join(LOSSES)}, got {self.loss!r}"
            )
        return LOSSES[self.loss]

    def state_size(self, n_experts: int) -> int:
        """How many numbers it keeps besides the weights."""
        return 0

    def _cap(self) -> float:
        if self.cap is None:
            return combining.NO_CAP
        if not is_number(self.cap) or not 0 < self.cap < math.inf:
            raise InputError(
                f"{type(self).__name__}: cap must be None or a positive number, got {self.cap!r}"
            )
        return min(float(self.cap), combining.NO_CAP)

    def _log_discount(self, discount: Any) -> float:
        if not is_number(discount) or not 0 < discount <= 1:
            raise InputError(
                f"{type(self).__name__}: discount must lie in (0, 1], got {discount!r}"
            )
        return math.log(discount)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number))
