"""Fixed-Share: Hedge for streams on which the best expert changes."""

from __future__ import annotations

import math
from typing import Annotated

from kernbrook.checks import Flag, Number, parameters
from kernbrook.combiners.loss_combiner import DISCOUNT, DiscountRule, LossCombiner


@parameters
class FixedShare(LossCombiner):
    """Hedge that never gives up an expert: each weight gives a share to the others every round.

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
    variable : bool
        An expert gives the part 1 - (1 - share)^loss of its weight, so nothing where it has no
        loss: Variable-Share of the paper. Where the best expert seldom errs, the others get
        little. `Stack` builds on `FixedShare(share=0.015, variable=True)`.

    Notes
    -----
    For losses in [0, 1], the combination loses at most
    (ln(1/discount) L + ln m + k ln((m - 1)/share) + (T - 1 - k) ln(1/(1 - share))) / (1 - discount)
    in expectation over T rounds, where L is the loss of any sequence of experts that changes
    k times.

    Without `variable` no weight falls below about share / m. On "hinge", where scores are added, a
    kernel whose scores are of size 1e6 on raw features therefore decides every vote: take
    "mistakes" there.

    References
    ----------
    Herbster and Warmuth (1998), Tracking the best expert, the algorithms Fixed-Share and
    Variable-Share. Their share updates, on the weights of Freund and Schapire (1997).

    Examples
    --------
    >>> FixedShare(share=0.05)
    FixedShare(share=0.05)
    """

    discount: Annotated[float, DISCOUNT] = 0.9
    share: Annotated[float, Number(0, 1, "[)")] = 0.003
    loss: str = "mistakes"
    cap: float | None = None
    variable: Annotated[bool, Flag()] = False

    def rule(self) -> DiscountRule:
        return DiscountRule(self._cap(), math.log(self.discount), True, self.share, self.variable)
