"""Parts of models as somebody else would write them: copies of ours."""

import math
from typing import ClassVar, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.checks import POSITIVE, Whole
from kernbrook.combiners.loss_combiner import lift
from kernbrook.engine.loss_codes import MISTAKES
from kernbrook.engine.progress import ASKED, ROUND, SEED
from kernbrook.engine.verbs import Change, descend, expand, fit_in, predict, update, wants
from kernbrook.errors import InputError
from kernbrook.labels.opinions import lead, views, weights_in_use
from kernbrook.learners.steps import product
from kernbrook.numerics.draws import DRAW_LABEL, PURPOSE, uniform
from kernbrook.numerics.scores_of_classes import add_step
from kernbrook.numerics.upkeep import random_slot


def from_0_to_1(owner, name):
    """A check of one's own, where a class does not say its ranges."""
    value = getattr(owner, name)
    if not isinstance(value, float) or not 0 < value <= 1:
        raise InputError(f"{name}: {value!r} does not lie in (0, 1]")
    return value


# -- a learner under a budget: RBP -----------------------------------------------------------------


class Forgetful(BaseEstimator):
    """`RBP`, once more."""

    choice = "learner"
    store = "slots"
    strict = True
    spare = 0
    remembers = False
    parameter_ranges: ClassVar = {"budget": Whole()}

    def __init__(self, budget=100):
        self.budget = budget

    def slots(self):
        return self.budget

    def keeps(self, rule):
        return set()

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


# -- a learner in expansions: Perceptron -----------------------------------------------------------


class Growing(BaseEstimator):
    """`Perceptron`, once more."""

    choice = "learner"
    store = "expansion"
    needs_diagonal = False
    strict = True

    def rule(self):
        return GrowingRule()


class GrowingRule(NamedTuple):
    pass


@expand.of(GrowingRule)
def _expand(rule, seen, scores, sizes, change):
    if seen.margin <= 0.0:
        add_step(change, seen.label, seen.rival, seen.weight)
    return 1.0


# -- a learner on features: GradientDescent of numbers, with a constant step -----------------------


class Descending(BaseEstimator):
    """`GradientDescent(step, "constant")`, once more."""

    choice = "learner"
    store = "features"
    of_numbers = True
    of_classes = False
    only_classes = False
    parameter_ranges: ClassVar = {"step": POSITIVE}

    def __init__(self, step=0.1, features="auto"):
        self.step = step
        self.features = features

    def extra_rows(self, dim, scores):
        return 0

    def fill_extra(self, extra):
        pass

    def rule(self):
        return DescendingRule(self.step)


class DescendingRule(NamedTuple):
    step: float


@predict.of(DescendingRule)
def _predict(rule, held, z, t, out):
    out[0] = product(held.theta, 0, z, t)
    return 0.0


@descend.of(DescendingRule)
def _descend(rule, held, z, t, seen, scores, variance):
    slope = rule.step * seen.weight * (2.0 * (scores[0] - seen.target))
    for j in range(z.shape[1]):
        held.theta[0, j] -= slope * z[t, j]


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
