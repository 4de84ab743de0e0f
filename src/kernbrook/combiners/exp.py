"""EXP: exponential weights of the losses so far, with a step that falls with the rounds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit import combining
from kernbrook.checks import number, positive
from kernbrook.combiners.losses import LossCombiner


class EXP(LossCombiner):
    """w_i = exp(-eta sum of i's losses), with eta = step / sqrt(T).

    Parameters
    ----------
    step : positive float; eta_g of Raker is 1 / sqrt(T)
    horizon : int or None
        T, the number of labels to come. None: eta = step / sqrt(t) after the t-th label, on the
        sum of all losses so far.
    loss, cap : as for `Hedge`

    Notes
    -----
    With a horizon it is `Hedge(discount=exp(-step / sqrt(T)))`, but that the losses of all experts
    count, whether they are updated or not. Weights live in the log domain:
    losses of 1e6 are no danger to them.

    References
    ----------
    Shen, Chen, Giannakis (2019), Random feature-based online multi-kernel learning in environments
    with unknown dynamics, algorithm 1 (Raker). Hong and Chae (2020), equation 22. Without a
    horizon: Auer, Cesa-Bianchi, Gentile (2002), Adaptive and self-confident on-line learning
    algorithms.

    Examples
    --------
    >>> EXP(horizon=10_000)
    EXP(horizon=10000)
    """

    def __init__(
        self,
        step: float = 1.0,
        horizon: int | None = None,
        loss: str = "squared",
        cap: float | None = None,
    ):
        self.step = step
        self.horizon = horizon
        self.loss = loss
        self.cap = cap

    @property
    def code(self) -> int:
        """Of the compiled pass."""
        return combining.EXP if self.horizon is None else combining.FIXED_SHARE

    def state_size(self, n_experts: int) -> int:
        return n_experts + 1 if self.horizon is None else 0

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        step = positive(self, "step")
        if self.horizon is None:
            return np.array([self._cap(), step])
        rate = step / math.sqrt(number(self, "horizon", 1, kind="None or a number"))
        return np.array([self._cap(), -rate, 0.0])  # no share
