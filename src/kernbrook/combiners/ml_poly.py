"""ML-Poly: weights in proportion to the regret, each expert with its own rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit import combining
from kernbrook.checks import flag
from kernbrook.combiners.losses import LossCombiner


class MLPoly(LossCombiner):
    """w_i = eta_i max(R_i, 0): the weight of those that have done better than the combination.

    r_i = sum_j w_j loss_j / sum_j w_j - loss_i is a round's regret to expert i, R_i its sum so
    far, and eta_i = 1 / (1 + sum r_i^2). An expert that is behind the combination has weight 0,
    and comes back when it has caught up. The weights are equal until the losses differ for the
    first time. There is nothing to tune, but the 1 in eta_i takes losses to be of about that size.

    Parameters
    ----------
    loss, cap : as for `Hedge`
        But the losses of all experts count, also under a drawn selection: a regret compares all
        of them.
    scale_free : bool
        Leave the 1 out of eta_i. The weights are then the same for losses of any unit.

    Notes
    -----
    For losses in [0, 1] and m experts over T rounds, the paper shows
    R_i <= sqrt(m (1 + ln(1 + T)) (1 + sum r_i^2)). For losses of any size the same proof gives
    R_i^2 <= (1 + sum r_i^2) sum_j sum_t r_{j,t}^2 / (1 + sum_{s<t} r_{j,s}^2).

    For kernels of unbounded size on raw features take "mistakes", for the reasons that `AdaHedge`
    gives.

    References
    ----------
    Gaillard, Stoltz, van Erven (2014), A second-order bound with excess losses, the algorithm
    with polynomial potentials and multiple learning rates (ML-Poly).

    Examples
    --------
    >>> MLPoly()
    MLPoly()
    """

    code = combining.ML_POLY

    def __init__(self, loss: str = "mistakes", cap: float | None = None, scale_free: bool = False):
        self.loss = loss
        self.cap = cap
        self.scale_free = scale_free

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([self._cap(), 0.0 if flag(self, "scale_free") else 1.0])

    def state_size(self, n_experts: int) -> int:
        return 2 * n_experts
