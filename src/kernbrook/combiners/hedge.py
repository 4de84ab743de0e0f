"""Hedge: weights that fall by a factor with every loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import rounds
from kernbrook.errors import InputError


def theoretical_discount(horizon: int, n_experts: int) -> float:
    """The discount that theorem 1 of Hoi et al. (2013) suggests for `horizon` rounds.

    sqrt(T) / (sqrt(T) + sqrt(ln m)), with T rounds and m experts.

    Examples
    --------
    >>> round(theoretical_discount(10_000, 16), 4)
    0.9836
    """
    if horizon < 1 or n_experts < 1:
        raise InputError(
            f"theoretical_discount: horizon and n_experts must be 1 or more, "
            f"got {horizon} and {n_experts}"
        )
    return math.sqrt(horizon) / (math.sqrt(horizon) + math.sqrt(math.log(n_experts)))


class Hedge(BaseEstimator):
    """w_i <- w_i * discount for each mistake of expert i; experts vote with their signs.

    Weights live in the log domain, so they never underflow.

    Parameters
    ----------
    discount : float in (0, 1]
        beta of Hoi et al. (2013). 1 leaves the weights equal.

    References
    ----------
    Freund and Schapire (1997); Hoi, Jin, Zhao, Yang (2013), Online multiple kernel
    classification, algorithm 1.

    Examples
    --------
    >>> Hedge(discount=0.9)
    Hedge(discount=0.9)
    """

    choice = "combiner"
    code = rounds.HEDGE_MISTAKES

    def __init__(self, discount: float = 0.8):
        self.discount = discount

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        if not isinstance(self.discount, (int, float, np.number)) or not 0 < self.discount <= 1:
            raise InputError(f"Hedge: discount must lie in (0, 1], got {self.discount!r}")
        return np.array([math.log(self.discount)])
