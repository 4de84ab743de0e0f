"""AdaHedge: Hedge that finds its own discount."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit import combining
from kernbrook.combiners.losses import LossCombiner


class AdaHedge(LossCombiner):
    """w_i = exp(-eta L_i), L_i the losses of expert i so far, with a rate eta that adapts.

    eta = ln m / Delta for m experts, Delta being the sum over the rounds so far of the
    mixability gaps: the combination's loss sum w_i loss_i less its mix loss
    -ln(sum w_i exp(-eta loss_i)) / eta. The weights are equal until the losses differ for the
    first time. There is nothing to tune: losses all multiplied by one number, or raised by one
    number, give the same weights.

    Parameters
    ----------
    loss, cap : as for `Hedge`
        But the losses of all experts count, also under a drawn selection: with the losses of the
        drawn ones alone there would be no bound.

    Notes
    -----
    Theorem 6 of the paper: over T rounds, the combination loses in expectation at most
    2 sqrt(V ln m) + S (4/3 ln m + 2) more than the best expert, where V is the sum of the
    variances of the losses under the weights and S the greatest range of losses in one round.
    V <= S^2 T / 4.

    On raw features an unbounded kernel, such as a cubic one, has hinge losses of 1e6 and more: S
    is of that size, so eta is small for long, and what weight the kernel keeps is multiplied by
    scores as large. Take "mistakes" there; a cap mends the first of the two only.

    References
    ----------
    de Rooij, van Erven, Grünwald, Koolen (2014), Follow the leader if you can, hedge if you must,
    section 2.

    Examples
    --------
    >>> AdaHedge(loss="hinge")
    AdaHedge(loss='hinge')
    """

    code = combining.ADA_HEDGE

    def __init__(self, loss: str = "mistakes", cap: float | None = None):
        self.loss = loss
        self.cap = cap

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([self._cap()])

    def state_size(self, n_experts: int) -> int:
        return n_experts + 1
