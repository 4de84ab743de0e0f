"""Labels where ridge regressions are uncertain."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, NamedTuple

from kernbrook.checks import NON_NEGATIVE, Whole, parameters
from kernbrook.engine.progress import ASKED, SKIPPED
from kernbrook.engine.verbs import wants
from kernbrook.labels.base import Policy, Wanted, waited
from kernbrook.labels.opinions import weights_in_use


@parameters
class VarianceSampling(Policy):
    """A label is asked for where the experts' ridge regressions have seen little like it.

    That is where the mean of z(x)' P z(x) over the experts in use, by their weights, is above the
    threshold; P is the inverse of `Ridge`. In units of the noise's variance it is the variance of
    the prediction.

    Parameters
    ----------
    threshold : non-negative float
    window : int, 1 or more
        A label is asked for after so many in a row were not.

    Examples
    --------
    >>> VarianceSampling(0.05)
    VarianceSampling(threshold=0.05)
    """

    needs: ClassVar = frozenset({"variances"})
    threshold: Annotated[float, NON_NEGATIVE] = 0.1
    window: Annotated[int, Whole()] = 100

    def why(self, row: Wanted) -> str:
        """Why it wants the label of a row, in words."""
        return waited(row.passed) if row.passed >= self.window else "it has seen little like it"

    def rule(self) -> VarianceRule:
        """The parameters as compiled code reads them."""
        return VarianceRule(self.threshold, self.window)


class VarianceRule(NamedTuple):
    """threshold, window : as for `VarianceSampling`."""

    threshold: float
    window: int


@wants.of(VarianceRule)
def _wants_where_uncertain(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    variance = math.inf
    if total > 0.0:
        variance = 0.0
        for e in range(weights.shape[0]):
            variance += weights[e] * opinions.variances[e] / total
    counters = progress.counters
    due = counters[ASKED] == 0 or counters[SKIPPED] >= policy.window
    return due or variance > policy.threshold, variance
