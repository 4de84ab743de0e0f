"""EXP: exponential weights of the losses so far, with a step that falls with the rounds."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from kernbrook.checks import POSITIVE, Number, or_none, parameters
from kernbrook.combiners.loss_combiner import DiscountRule, LossCombiner, cut
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, Weighing, added_weights, weigh_together
from kernbrook.engine.verbs import update


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

    def rule(self) -> EXPRule | DiscountRule:
        if self.horizon is None:
            return EXPRule(self._cap(), self.step)
        rate = -float(self.step) / math.sqrt(self.horizon)
        return DiscountRule(self._cap(), rate, True, 0.0, False)


class EXPRule(NamedTuple):
    """cap : of a loss; step : before it falls."""

    cap: float
    step: float


@update.of(EXPRule)
def _update(combiner, told, progress):
    """w_e = exp(-step / sqrt(t) sum of e's losses) after the t-th round.

    progress.state : (m + 1,) the experts' losses so far less the least of them, then t
    """
    losses, state = told.losses, progress.state
    cut(losses, combiner.cap)
    state[losses.shape[0]] += 1.0
    for e in range(losses.shape[0]):
        state[e] += losses[e]
    weigh_losses(combiner.step, progress.log_weights, state)


@njit(cache=True, nogil=True)
def weigh_losses(step, log_weights, state):
    """The weights for losses so far, which are brought to 0 for the least."""
    m = log_weights.shape[0]
    least = math.inf
    for e in range(m):
        least = min(least, state[e])
    for e in range(m):
        state[e] -= least
        log_weights[e] = -step / math.sqrt(state[m]) * state[e]


@weigh_together.register(EXPRule)
def _together(combiner: EXPRule, apart: Apart) -> Weighing:
    """Losses and rounds add up."""
    log_weights, state = added_weights(apart)
    if state[-1] > 0.0:
        weigh_losses(combiner.step, log_weights, state)
    return Weighing(log_weights, state)
