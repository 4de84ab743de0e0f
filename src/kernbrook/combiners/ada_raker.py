"""AdaRaker: an instance of Raker for each length of interval, for streams that change."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from kernbrook.checks import POSITIVE, Flag, OneOf, Whole, parameters
from kernbrook.combiners.loss_combiner import LossCombiner
from kernbrook.engine.loss_codes import loss_of
from kernbrook.engine.verbs import update

MOST_LEVELS = 40
_LOSSES = ("squared", "absolute", "hinge", "logistic")


@parameters
class AdaRaker(LossCombiner):
    """Instances of EXP on intervals of 1, 2, 4, ... labels, and weights of the instances above.

    The experts are split into `levels` instances of equal size, in their order: give as many
    learners, and the experts of the first are level 0, those of the last level levels - 1. Level
    j has the intervals of labels [k 2^j, (k + 1) 2^j - 1], k = 1, 2, ..., and the rate
    eta_j = min(1/2, step / sqrt(2^j)). Within it experts have the weights
    w_i = exp(-eta_j sum of i's losses), which give its function f_j. With h_j the weight of the
    instance, the combination is f = sum_j h_j f_j / sum_j h_j over the levels that have begun.
    At the start of an interval h_j = eta_j, then after each label
    h_j <- h_j exp(-eta_j (loss of f_j - loss of f)).

    Parameters
    ----------
    levels : int from 1 to 40
        The longest interval has 2^(levels - 1) labels. It follows from no horizon: after a change
        the longest instance is what remembers most, and levels cost memory and time.
    step : positive float, eta_0 of the paper
    restart : bool
        Whether the weights w within an instance are equal again at the start of an interval.
    loss : "squared" or "absolute", for numbers; "hinge" or "logistic", for classes
    cap : as for `Hedge`; of the losses of experts, instances and combination

    Notes
    -----
    An instance as printed begins with f_j = 0: give the learner of level j a restart of 2^j as
    well, as in the example. The authors' published program begins only h_j afresh, and goes on
    with coefficients and w; that is far better on their data, and what `restart=False` with
    learners without a restart does.

    From the paper are the intervals, the rates, and both weights. Ours: time counts the labels
    seen, the first being number 0, so that an example without a label changes nothing; level 0,
    of one label each, is there from that one on, and all weights are equal until it; the number
    of levels does not grow; f is what was predicted, also where a selection leaves experts out
    of the vote; and losses other than the squared one for numbers, the logistic one for classes.

    Learners need features of fixed size: not those that learn in kernel expansions.

    References
    ----------
    Shen, Chen, Giannakis (2019), Random feature-based online multi-kernel learning in environments
    with unknown dynamics, algorithm 2. Intervals: Daniely, Gonen, Shalev-Shwartz (2015), Strongly
    adaptive online learning.

    Examples
    --------
    >>> import kernbrook as kb
    >>> steps = [0.5, 0.35, 0.25]
    >>> levels = [
    ...     kb.GradientDescent(step, "constant", restart=2**j) for j, step in enumerate(steps)
    ... ]
    >>> model = kb.OnlineMKRegressor([kb.Gaussian(sigma=2)], levels, kb.AdaRaker(3, step=0.5))
    >>> model.fit([[0.0], [1.0], [0.0], [1.0], [0.0]], [0.0, 1.0, 0.0, 1.0, 0.0]).expert_weights_
    array([0.45308184, 0.32037724, 0.22654092])
    """

    needs: ClassVar = frozenset({"features"})
    levels: Annotated[int, Whole(1, MOST_LEVELS)] = 12
    step: Annotated[float, POSITIVE] = 1.0
    restart: Annotated[bool, Flag()] = True
    loss: Annotated[str, OneOf(_LOSSES)] = "squared"
    cap: float | None = None

    @property
    def n_learners(self) -> int:
        """The number of learners, one for each level."""
        return self.levels

    def state_size(self, n_experts: int) -> int:
        return n_experts + self.levels

    def rule(self) -> AdaRakerRule:
        return AdaRakerRule(self._cap(), self.step, self.levels, self.restart)


class AdaRakerRule(NamedTuple):
    """cap : of a loss; step, levels, restart : as for `AdaRaker`."""

    cap: float
    step: float
    levels: int
    restart: bool


@update.of(AdaRakerRule)
def _update(combiner, told, progress):
    """Algorithm 2.

    progress.log_weights : (m,) out, of an expert in the whole; -inf where its instance has not
        begun
    progress.state : (m + levels,) log of each expert's weight in its instance, the greatest 0; log
        of each instance's weight beside its rate, which it begins with
    """
    cap, step, levels = combiner.cap, combiner.step, combiner.levels
    log_weights, state, losses = progress.log_weights, progress.state, told.losses
    scores, decision, label, loss = told.scores, told.decision, told.target, told.loss
    seen = told.number - 1
    m, c = losses.shape[0], decision.shape[0]
    each = m // levels
    summed, sizes = np.empty(c), np.zeros(c)
    combined = min(told.weight * loss_of(loss, decision, sizes, decision, label)[0], cap)
    greatest = -math.inf
    for j in range(levels):
        length = 1 << j
        rate = min(0.5, step / math.sqrt(length))
        first, last = j * each, (j + 1) * each
        for k in range(c):
            summed[k] = 0.0
        total = 0.0
        for e in range(first, last):
            share = math.exp(state[e])
            total += share
            for k in range(c):
                summed[k] += share * scores[e, k]
        for k in range(c):
            summed[k] /= total
        if j == 0 or seen >= length:
            lost = told.weight * loss_of(loss, summed, sizes, decision, label)[0]
            state[m + j] -= rate * (min(lost, cap) - combined)
        top = -math.inf
        for e in range(first, last):
            losses[e] = min(losses[e], cap)
            state[e] -= rate * losses[e]
            top = max(top, state[e])
        ends = (seen + 1) % length == 0
        if ends:
            state[m + j] = 0.0
        total = 0.0
        for e in range(first, last):
            state[e] = 0.0 if ends and combiner.restart else state[e] - top
            total += math.exp(state[e])
        log_instance = -math.inf
        if j == 0 or seen + 1 >= length:
            log_instance = math.log(rate) + state[m + j] - math.log(total)
        for e in range(first, last):
            log_weights[e] = log_instance + state[e]
            greatest = max(greatest, log_weights[e])
    for e in range(m):
        log_weights[e] -= greatest
