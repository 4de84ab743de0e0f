"""AdaHedge: Hedge that finds its own discount."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.combiners.loss_combiner import LossCombiner, cut
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, Weighing, added_weights, weigh_together
from kernbrook.engine.verbs import update
from kernbrook.errors import InputError
from kernbrook.numerics.vectors import least_of


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

    def __init__(self, loss: str = "mistakes", cap: float | None = None):
        self.loss = loss
        self.cap = cap

    def check_state(self, state: NDArray[np.float64], n_experts: int) -> None:
        """Raise InputError where numbers are beyond their ranges."""
        if not state[-1] >= 0:
            raise InputError("progress.state: expected numbers from 0")

    def rule(self) -> AdaHedgeRule:
        """The parameters as compiled code reads them."""
        return AdaHedgeRule(self._cap())

    def state_size(self, n_experts: int) -> int:
        return n_experts + 1


class AdaHedgeRule(NamedTuple):
    """cap : of a loss."""

    cap: float


@njit(cache=True, nogil=True)
def ada_hedge(log_weights, state, losses):
    """De Rooij, van Erven, Grunwald, Koolen (2014), section 2: eta = ln m / Delta.

    state : (m + 1,) the experts' losses so far less the least of them, then Delta, the sum of
        the mixability gaps. It is 0, and eta infinite, until losses differ for the first time.
    """
    m = losses.shape[0]
    gap = state[m]
    least = least_of(losses)
    before, loss = 0.0, 0.0  # the combination's loss, like all others here, above the least
    for e in range(m):
        weight = math.exp(log_weights[e])
        before += weight
        loss += weight * (losses[e] - least)
        state[e] += losses[e] - least
    loss /= before
    rise = least_of(state[:m])
    after = 0.0
    for e in range(m):
        state[e] -= rise
        if gap > 0.0:
            after += math.exp(-state[e] / gap * math.log(m))
    mix_loss = rise
    if gap > 0.0:
        mix_loss -= (math.log(after) - math.log(before)) * gap / math.log(m)
    state[m] = gap + max(loss - mix_loss, 0.0)
    weigh_losses(log_weights, state)


@njit(cache=True, nogil=True)
def weigh_losses(log_weights, state):
    """The weights for losses and gaps so far; see `ada_hedge`."""
    m = log_weights.shape[0]
    if state[m] > 0.0:
        for e in range(m):
            log_weights[e] = -state[e] / state[m] * math.log(m)


@update.of(AdaHedgeRule)
def _update(combiner, told, progress):
    cut(told.losses, combiner.cap)
    ada_hedge(progress.log_weights, progress.state, told.losses)


@weigh_together.register(AdaHedgeRule)
def _together(combiner: AdaHedgeRule, apart: Apart) -> Weighing:
    """Losses add up, and so do the gaps."""
    log_weights, state = added_weights(apart)
    state[:-1] -= state[:-1].min()
    weigh_losses(log_weights, state)
    return Weighing(log_weights, state)
