"""Labels where two classes are close."""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from kernbrook.checks import POSITIVE, parameters
from kernbrook.engine.progress import ASKED, ROUND, SEED
from kernbrook.engine.verbs import wants
from kernbrook.labels.base import Policy, Wanted
from kernbrook.labels.opinions import lead, views, weights_in_use
from kernbrook.numerics.draws import DRAW_LABEL, PURPOSE, uniform

CLOSE = 1.5  # how many times as probable the first of two classes is that are called close


@parameters
class MarginSampling(Policy):
    """A policy that asks for labels where classes are close: with probability b / (b + margin).

    The margin is how far the first class is ahead of the second in the experts' mean opinion, by
    their weights; for opinions see `Disagreement`. Of two classes it is |f(x)| of the mean.

    Parameters
    ----------
    smoothing : positive float, b of the paper: the margin at which every second label is asked

    References
    ----------
    Cesa-Bianchi, Gentile, Zaniboni (2006), Worst-case analysis of selective sampling for linear
    classification, figure 1.

    Examples
    --------
    >>> MarginSampling(0.1)
    MarginSampling(smoothing=0.1)
    """

    needs: ClassVar = frozenset({"classes"})
    smoothing: Annotated[float, POSITIVE] = 0.2

    def why(self, row: Wanted) -> str:
        (first, chance), (second, less) = row.chances[:2]
        if chance <= CLOSE * less:
            return f"{first} and {second} are close"
        return "by chance: the surer it is, the seldomer it asks"

    def rule(self) -> MarginRule:
        return MarginRule(self.smoothing)


class MarginRule(NamedTuple):
    """smoothing : the margin at which every second label is asked."""

    smoothing: float


@wants.of(MarginRule)
def _wants_where_close(policy, progress, opinions):
    """Cesa-Bianchi, Gentile, Zaniboni (2006), figure 1."""
    weights, total = weights_in_use(progress, opinions)
    counters = progress.counters
    draw = uniform(counters[SEED], counters[ROUND], DRAW_LABEL * PURPOSE)
    chance = policy.smoothing / (policy.smoothing + lead(weights, total, views(opinions)))
    return counters[ASKED] == 0 or draw < chance, 0.0
