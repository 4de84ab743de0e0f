"""Parts of models as somebody else would write them: copies of ours."""

import math
from typing import ClassVar, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.combiners.loss_combiner import lift
from kernbrook.engine.loss_codes import MISTAKES
from kernbrook.engine.progress import ASKED, ROUND, SEED
from kernbrook.engine.verbs import Change, fit_in, update, wants
from kernbrook.errors import InputError
from kernbrook.labels.opinions import lead, views, weights_in_use
from kernbrook.learners.budgeted import Budgeted
from kernbrook.numerics.draws import DRAW_LABEL, PURPOSE, uniform
from kernbrook.numerics.upkeep import random_slot


def from_0_to_1(owner, name):
    """A check of one's own, where a class does not say its ranges."""
    value = getattr(owner, name)
    if not isinstance(value, float) or not 0 < value <= 1:
        raise InputError(f"{name}: {value!r} does not lie in (0, 1]")
    return value


# -- a learner under a budget: RBP -----------------------------------------------------------------


class Forgetful(Budgeted):
    """`RBP`, once more."""

    strict = True

    def __init__(self, budget=100):
        self.budget = budget

    def rule(self):
        return ForgetfulRule()


class ForgetfulRule(NamedTuple):
    pass


@fit_in.of(ForgetfulRule)
def _fit_in(rule, slots, seen, rows):
    if seen.margin > 0.0:
        return Change(-1, 0.0, 0.0)
    slot = slots.filled[0]
    if slot == slots.alpha.shape[1]:
        slot = random_slot(slot, seen.expert, seen.clock)
    return Change(slot, 0.0, seen.weight)


# -- a combiner: Hedge on mistakes -----------------------------------------------------------------


class Discounting(BaseEstimator):
    """`Hedge` on mistakes, once more."""

    choice = "combiner"
    loss_code = MISTAKES

    def __init__(self, discount=0.8):
        self.discount = discount

    def state_size(self, n_experts):
        return 0

    def rule(self):
        return DiscountingRule(math.log(from_0_to_1(self, "discount")))


class DiscountingRule(NamedTuple):
    log_discount: float


@update.of(DiscountingRule)
def _update(combiner, told, progress):
    for e in range(told.losses.shape[0]):
        if told.counted[e]:
            progress.log_weights[e] += combiner.log_discount * told.losses[e]
    lift(progress.log_weights)


# -- a label policy: MarginSampling ----------------------------------------------------------------


class Doubting(BaseEstimator):
    """`MarginSampling`, once more."""

    choice = "labels"
    asks = True
    needs: ClassVar = frozenset({"classes"})

    def __init__(self, smoothing=0.2):
        self.smoothing = smoothing

    def rule(self):
        return DoubtingRule(from_0_to_1(self, "smoothing"))


class DoubtingRule(NamedTuple):
    smoothing: float


@wants.of(DoubtingRule)
def _wants(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    counters = progress.counters
    draw = uniform(counters[SEED], counters[ROUND], DRAW_LABEL * PURPOSE)
    chance = policy.smoothing / (policy.smoothing + lead(weights, total, views(opinions)))
    return counters[ASKED] == 0 or draw < chance, 0.0
