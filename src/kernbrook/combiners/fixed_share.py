"""Fixed-Share: Hedge for streams on which the best expert changes."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from kernbrook.checks import Number, parameters
from kernbrook.combiners.hedge import discount_losses
from kernbrook.combiners.loss_combiner import DISCOUNT, LossCombiner, cut
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import (
    Apart,
    Weighing,
    added_weights,
    averaged_weights,
    weigh_together,
)
from kernbrook.engine.verbs import update
from kernbrook.numerics.vectors import fill_with


@parameters
class FixedShare(LossCombiner):
    """Hedge that never gives up an expert: each weight gives a share to the others every round.

    The default combiner: of nine, its mistakes were the fewest on average over 24 data sets.

    After Hedge's discount v_i = w_i * discount^loss_i, the weights of m experts become
    w_i = (1 - share) v_i + share / (m - 1) * sum_{j != i} v_j. An expert that becomes the best
    late, as under drift, has its weight back after about log(m / share) / log(1 / discount)
    losses of the others.

    Parameters
    ----------
    discount : float in (0, 1], exp(-eta) of the paper
    share : float in [0, 1), alpha of the paper
        About the fraction of rounds at which the best expert changes. 0 gives Hedge.
    loss, cap : as for `Hedge`
        But the losses of all experts count, also under a drawn selection.

    Notes
    -----
    For losses in [0, 1], the combination loses at most
    (ln(1/discount) L + ln m + k ln((m - 1)/share) + (T - 1 - k) ln(1/(1 - share))) / (1 - discount)
    in expectation over T rounds, where L is the loss of any sequence of experts that changes
    k times.

    No weight falls below about share / m. On "hinge", where scores are added, a kernel whose
    scores are of size 1e6 on raw features therefore decides every vote: take "mistakes" there.

    References
    ----------
    Herbster and Warmuth (1998), Tracking the best expert, the Fixed-Share algorithm. Their share
    update, on the weights of Freund and Schapire (1997).

    Examples
    --------
    >>> FixedShare(share=0.05)
    FixedShare(share=0.05)
    """

    discount: Annotated[float, DISCOUNT] = 0.9
    share: Annotated[float, Number(0, 1, "[)")] = 0.003
    loss: str = "mistakes"
    cap: float | None = None

    def rule(self) -> FixedShareRule:
        """The parameters as compiled code reads them."""
        return FixedShareRule(self._cap(), math.log(self.discount), self.share)


class FixedShareRule(NamedTuple):
    """cap : of a loss; log_discount : below 0; share : that each weight gives to the others."""

    cap: float
    log_discount: float
    share: float


@njit(cache=True, nogil=True)
def share_weights(share, log_weights):
    """Every weight gives a share, in equal parts to the others: Herbster and Warmuth (1998)."""
    m = log_weights.shape[0]
    if share == 0.0 or m == 1:
        return
    total = 0.0
    weights = np.empty(m)
    for e in range(m):
        weights[e] = math.exp(log_weights[e])
        total += weights[e]
    greatest = -math.inf
    for e in range(m):
        shared = (1.0 - share) * weights[e] + share * (total - weights[e]) / (m - 1)
        log_weights[e] = math.log(shared)
        greatest = max(greatest, log_weights[e])
    for e in range(m):
        log_weights[e] -= greatest


@update.of(FixedShareRule)
def _update(combiner, told, progress):
    cut(told.losses, combiner.cap)
    everybody = np.empty(told.losses.shape[0], np.bool_)
    fill_with(everybody, True)
    discount_losses(combiner.log_discount, progress.log_weights, told.losses, everybody)
    share_weights(combiner.share, progress.log_weights)


@weigh_together.register(FixedShareRule)
def _together(combiner: FixedShareRule, apart: Apart) -> Weighing:
    """Without a share losses add up; with one the weights tell of the last rounds."""
    return added_weights(apart) if combiner.share == 0.0 else averaged_weights(apart)
