"""ML-Poly: weights in proportion to the regret, each expert with its own rate."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from kernbrook.checks import Flag, parameters
from kernbrook.combiners.loss_combiner import LossCombiner, cut
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, Weighing, added_weights, weigh_together
from kernbrook.engine.verbs import update
from kernbrook.numerics.vectors import least

ROUNDING = 1e-13  # regrets of this part of the combination's loss are 0 but for rounding


@parameters
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

    On raw features an unbounded kernel, such as a cubic one, has hinge losses of 1e6 and more, and
    what weight it keeps is multiplied by scores as large: take "mistakes" there.

    References
    ----------
    Gaillard, Stoltz, van Erven (2014), A second-order bound with excess losses, the algorithm
    with polynomial potentials and multiple learning rates (ML-Poly).

    Examples
    --------
    >>> MLPoly()
    MLPoly()
    """

    loss: str = "mistakes"
    cap: float | None = None
    scale_free: Annotated[bool, Flag()] = False

    def rule(self) -> MLPolyRule:
        return MLPolyRule(self._cap(), 0.0 if self.scale_free else 1.0)

    def state_size(self, n_experts: int) -> int:
        return 2 * n_experts


class MLPolyRule(NamedTuple):
    """cap : of a loss; offset : 1, or 0 where weights are free of the losses' unit."""

    cap: float
    offset: float


@update.of(MLPolyRule)
def _update(combiner, told, progress):
    """Gaillard, Stoltz, van Erven (2014): w_e = eta_e max(R_e, 0), 1 / eta_e = offset + sum r_e^2.

    r_e is the combination's loss less expert e's, R_e the sum of r_e. No R_e is positive only
    until losses differ for the first time; the weights are equal then. A regret that is rounding
    alone is 0: without the offset its eta_e would be the largest.

    progress.state : (2 m,) R_e, and the sums of r_e^2
    """
    losses, log_weights, state = told.losses, progress.log_weights, progress.state
    cut(losses, combiner.cap)
    m, lowest = losses.shape[0], least(losses)
    total, loss = 0.0, 0.0  # less the least: equal losses give regrets of 0 exactly
    for e in range(m):
        weight = math.exp(log_weights[e])
        total += weight
        loss += weight * (losses[e] - lowest)
    loss /= total
    for e in range(m):
        regret = loss - (losses[e] - lowest)
        if abs(regret) > ROUNDING * loss:
            state[e] += regret
            state[m + e] += regret * regret
    weigh_regrets(combiner.offset, log_weights, state)


@njit(cache=True, nogil=True, plain=True)
def weigh_regrets(offset, log_weights, state):
    """The weights for regrets so far."""
    m = log_weights.shape[0]
    greatest = -math.inf
    for e in range(m):
        log_weights[e] = -math.inf
        if state[e] > 0.0 and offset + state[m + e] > 0.0:  # squares may underflow
            log_weights[e] = math.log(state[e]) - math.log(offset + state[m + e])
        greatest = max(greatest, log_weights[e])
    for e in range(m):
        log_weights[e] = log_weights[e] - greatest if greatest > -math.inf else 0.0


@weigh_together.register(MLPolyRule)
def _together(combiner: MLPolyRule, apart: Apart) -> Weighing:
    """Regrets add up, and so do their squares."""
    log_weights, state = added_weights(apart)
    weigh_regrets(combiner.offset, log_weights, state)
    return Weighing(log_weights, state)
