"""Labels where the experts differ: Hong and Chae (2020)."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, NamedTuple

from kernbrook.checks import NON_NEGATIVE, OneOf, Whole, parameters
from kernbrook.engine.progress import ASKED, SKIPPED
from kernbrook.engine.verbs import wants
from kernbrook.labels.base import Policy, Wanted, wait_text
from kernbrook.labels.opinions import measure_spread, views, weights_in_use


@parameters
class Disagreement(Policy):
    """A policy that asks for a label where the experts disagree: the criterion of AMKL.

    With experts f_i of weights p_i that sum to 1, the label of x is not asked for if one of the
    last `window` labels was, and max_j sum_i p_i |f_i(x) - f_j(x)|^2 <= threshold.

    Experts that vote with signs count as 1 or -1, or 1 for their class and 0 for the others;
    scores under the hinge loss are cut at -1 and 1.

    Parameters
    ----------
    threshold : non-negative float, eta_c of the paper; in the unit of the squared label
    window : int, 1 or more; M of the paper. At least one label in window + 1 is asked for.
    weights : "used" or "all"
        p over the experts that form the prediction, or over all of them, as printed.
    compared : "used" or "all"
        j over the experts that form the prediction, or over all of them, as printed.

    References
    ----------
    Hong and Chae (2020), Active learning with multiple kernels, algorithm 2.

    Examples
    --------
    >>> Disagreement(window=2)
    Disagreement(window=2)
    """

    needs: ClassVar = frozenset({"several experts"})
    threshold: Annotated[float, NON_NEGATIVE] = 0.0005
    window: Annotated[int, Whole()] = 1
    weights: Annotated[str, OneOf(("used", "all"))] = "used"
    compared: Annotated[str, OneOf(("used", "all"))] = "used"

    def why(self, row: Wanted) -> str:
        return wait_text(row.passed) if row.passed >= self.window else "its experts differ about it"

    def rule(self) -> DisagreementRule:
        weigh_all, compare_all = self.weights == "all", self.compared == "all"
        return DisagreementRule(self.threshold, self.window, weigh_all, compare_all)


class DisagreementRule(NamedTuple):
    """threshold, window : as for `Disagreement`; weigh_all, compare_all : not only those in use."""

    threshold: float
    window: int
    weigh_all: bool
    compare_all: bool


@wants.of(DisagreementRule)
def _wants_where_spread(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    compared = progress.used.copy()
    if policy.weigh_all:
        total = 0.0
        for e in range(weights.shape[0]):
            weights[e] = math.exp(progress.log_weights[e])
            total += weights[e]
    if policy.compare_all:
        for e in range(weights.shape[0]):
            compared[e] = True
    variance, farthest = measure_spread(weights, total, compared, views(opinions))
    counters = progress.counters
    due = counters[ASKED] == 0 or counters[SKIPPED] >= policy.window
    return due or variance + farthest > policy.threshold, variance
