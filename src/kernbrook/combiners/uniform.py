"""Uniform: every expert weighs the same, for ever."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import combining


class Uniform(BaseEstimator):
    """Equal weights; experts vote with their signs.

    Examples
    --------
    >>> Uniform()
    Uniform()
    """

    choice = "combiner"
    code = combining.UNIFORM
    loss_code = combining.MISTAKES

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.zeros(1)

    def state_size(self, n_experts: int) -> int:
        """How many numbers it keeps besides the weights."""
        return 0
