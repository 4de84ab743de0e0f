"""A share of the labels, where they are worth most."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, NamedTuple

from kernbrook.checks import NON_NEGATIVE, Number, Whole, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.progress import ASKED, ROUND, SKIPPED
from kernbrook.engine.verbs import note_error, note_round, wants
from kernbrook.labels.base import Policy, Wanted, wait_text
from kernbrook.labels.opinions import measure_spread, views, weights_in_use


@parameters
class LabelBudget(Policy):
    """At most a share of the labels, where recent errors and the experts' disagreement are large.

    What the label is worth after t rounds is v = t/2 (e / sum e + d / sum d), about 1 on average,
    with sums over the rounds so far and this one. e is a running mean of the squared error on the
    labels seen, for classes of the mistakes. d is the variance of the experts' opinions under
    their weights; for opinions see `Disagreement`. With n labels asked, the label is asked for
    where v > exp(gain (n - rate t)), or where `window` in a row were not, but never so that more
    than rate t are asked in t rounds, but for the first.

    Parameters
    ----------
    rate : float in (0, 1], the share of labels
    window : int, 1 or more
        At least one label in window + 1 is asked for, if the rate lets it.
    memory : float in [0, 1), weight of the past in the running mean of errors at each label
    gain : non-negative float, how hard the threshold steers towards the rate

    Notes
    -----
    Ours, not from a paper. On streams that drift a label is worth most just after large errors,
    on others where the experts disagree; each part counts relative to its own mean, so that the
    unit of the labels does not matter. Without a window the rule can stop asking for ever. On
    shuffled data it asks no better than at random.

    Examples
    --------
    >>> LabelBudget(0.1, window=50)
    LabelBudget(rate=0.1, window=50)
    """

    needs: ClassVar = frozenset({"several experts"})
    rate: Annotated[float, Number(0, 1, "(]")] = 0.5
    window: Annotated[int, Whole()] = 3
    memory: Annotated[float, Number(0, 1, "[)")] = 0.5
    gain: Annotated[float, NON_NEGATIVE] = 0.02

    def why(self, row: Wanted) -> str:
        if row.passed >= self.window:
            return wait_text(row.passed)
        return "its experts differ about it, or it was wrong of late"

    def rule(self) -> LabelBudgetRule:
        return LabelBudgetRule(self.rate, self.window, self.memory, self.gain)


class LabelBudgetRule(NamedTuple):
    """rate, window, memory, gain : as for `LabelBudget`.

    `progress.asking` holds a running mean of squared errors; sums so far of it, and of the variance
    """

    rate: float
    window: int
    memory: float
    gain: float


@njit(cache=True, nogil=True)
def worth(state, variance, rounds):
    """The worth of a label to `LabelBudget`, about 1 on average: recent error, disagreement.

    state : (3,) running mean of squared errors; sums so far of it, and of the variance
    """
    errors, variances = state[1] + state[0], state[2] + variance
    value = state[0] / errors if errors > 0.0 else 0.0
    value += variance / variances if variances > 0.0 else 0.0
    return 0.5 * rounds * value


@wants.of(LabelBudgetRule)
def _wants_within(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    variance, _ = measure_spread(weights, total, progress.used, views(opinions))
    counters = progress.counters
    rounds, asked = counters[ROUND], counters[ASKED]
    if asked == 0:
        return True, variance
    if asked + 1 > policy.rate * (rounds + 1):
        return False, variance
    threshold = math.exp(min(policy.gain * (asked - policy.rate * rounds), 700.0))
    due = counters[SKIPPED] >= policy.window
    return due or worth(progress.asking, variance, rounds) > threshold, variance


@note_round.of(LabelBudgetRule)
def _note_round(policy, progress, variance):
    progress.asking[1] += progress.asking[0]
    progress.asking[2] += variance


@note_error.of(LabelBudgetRule)
def _note_error(policy, progress, error):
    if progress.counters[ASKED] > 0:
        asking = progress.asking
        asking[0] = policy.memory * asking[0] + (1.0 - policy.memory) * error
