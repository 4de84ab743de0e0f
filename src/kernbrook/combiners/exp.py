"""EXP: exponential weights of the losses so far, with a step that falls with the rounds."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import POSITIVE, Number, or_none, parameters
from kernbrook.combiners.fixed_share import FixedShareRule
from kernbrook.combiners.loss_combiner import LossCombiner, cut
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, Weighing, added_weights, weigh_together
from kernbrook.engine.verbs import update
from kernbrook.errors import InputError


@parameters
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

    step: Annotated[float, POSITIVE] = 1.0
    horizon: Annotated[int | None, or_none(Number(1))] = None
    loss: str = "squared"
    cap: float | None = None

    def state_size(self, n_experts: int) -> int:
        return n_experts + 1 if self.horizon is None else 0

    def check_state(self, state: NDArray[np.float64], n_experts: int) -> None:
        """Raise InputError where numbers are beyond their ranges."""
        if len(state) and state[-1] < 0:
            raise InputError("progress.state: expected a number of rounds from 0")

    def rule(self) -> EXPRule | FixedShareRule:
        """The parameters as compiled code reads them."""
        if self.horizon is None:
            return EXPRule(self._cap(), self.step)
        rate = -float(self.step) / math.sqrt(self.horizon)
        return FixedShareRule(self._cap(), rate, 0.0)  # no share


class EXPRule(NamedTuple):
    """cap : of a loss; step : before it falls."""

    cap: float
    step: float


@njit(cache=True, nogil=True)
def exp_weights(step, log_weights, state, losses):
    """w_e = exp(-step / sqrt(t) sum of e's losses) after the t-th round.

    state : (m + 1,) the experts' losses so far less the least of them, then t
    """
    m = losses.shape[0]
    state[m] += 1.0
    for e in range(m):
        state[e] += losses[e]
    weigh_losses(step, log_weights, state)


@njit(cache=True, nogil=True)
def weigh_losses(step, log_weights, state):
    """The weights for losses so far, which are brought to 0 for the least; see `exp_weights`."""
    m = log_weights.shape[0]
    least = math.inf
    for e in range(m):
        least = min(least, state[e])
    for e in range(m):
        state[e] -= least
        log_weights[e] = -step / math.sqrt(state[m]) * state[e]


@update.of(EXPRule)
def _update(combiner, told, progress):
    cut(told.losses, combiner.cap)
    exp_weights(combiner.step, progress.log_weights, progress.state, told.losses)


@weigh_together.register(EXPRule)
def _together(combiner: EXPRule, apart: Apart) -> Weighing:
    """Losses and rounds add up."""
    log_weights, state = added_weights(apart)
    if state[-1] > 0.0:
        weigh_losses(combiner.step, log_weights, state)
    return Weighing(log_weights, state)
