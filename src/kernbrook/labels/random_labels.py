"""Labels drawn at random."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from kernbrook.checks import Number, parameters
from kernbrook.engine.progress import ASKED, ROUND, SEED
from kernbrook.engine.verbs import wants
from kernbrook.labels.base import Policy, Wanted
from kernbrook.numerics.draws import DRAW_LABEL, PURPOSE, uniform


@parameters
class RandomLabels(Policy):
    """Labels drawn at a rate, whatever the example: what any other policy must beat.

    Parameters
    ----------
    rate : float in [0, 1], the share of labels asked for

    Examples
    --------
    >>> RandomLabels(0.25)
    RandomLabels(rate=0.25)
    """

    rate: Annotated[float, Number(0, 1)] = 0.5

    def why(self, row: Wanted) -> str:
        return f"by chance: of all rows it asks about {100 * self.rate:.3g} %"

    def rule(self) -> RandomLabelsRule:
        return RandomLabelsRule(self.rate)


class RandomLabelsRule(NamedTuple):
    """rate : share of the labels."""

    rate: float


@wants.of(RandomLabelsRule)
def _wants_at_random(policy, progress, opinions):
    counters = progress.counters
    draw = uniform(counters[SEED], counters[ROUND], DRAW_LABEL * PURPOSE)
    return counters[ASKED] == 0 or draw < policy.rate, 0.0
