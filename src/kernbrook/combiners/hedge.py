"""Hedge: weights that fall by a factor with every loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import combining
from kernbrook.errors import InputError

LOSSES = {"mistakes": combining.MISTAKES, "hinge": combining.HINGE}


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
    """w_i <- w_i * discount^loss_i: weights that fall with every loss of their expert.

    Weights live in the log domain, so they never underflow.

    Parameters
    ----------
    discount : float in (0, 1]
        beta of Hoi et al. (2013), gamma of Lu et al. (2015). 1 leaves the weights equal.
    loss : "mistakes" or "hinge"
        What counts as a loss, and with it what a vote is. "mistakes": 0 or 1, of the experts
        that were updated; experts vote with their signs. "hinge": max(0, 1 - y f) of every
        expert; experts vote with their scores.
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

    choice = "combiner"
    code = combining.HEDGE

    def __init__(self, discount: float = 0.8, loss: str = "mistakes", cap: float | None = None):
        self.discount = discount
        self.loss = loss
        self.cap = cap

    @property
    def loss_code(self) -> int:
        """What the compiled pass takes as the loss."""
        if self.loss not in LOSSES:
            raise InputError(f"Hedge: loss must be 'mistakes' or 'hinge', got {self.loss!r}")
        return LOSSES[self.loss]

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        if not isinstance(self.discount, (int, float, np.number)) or not 0 < self.discount <= 1:
            raise InputError(f"Hedge: discount must lie in (0, 1], got {self.discount!r}")
        if self.cap is not None and not (
            isinstance(self.cap, (int, float, np.number)) and 0 < self.cap < math.inf
        ):
            raise InputError(f"Hedge: cap must be None or a positive number, got {self.cap!r}")
        return np.array([math.log(self.discount), self.cap or 0.0])
