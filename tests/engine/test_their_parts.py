"""Learners of other people, in the stores that the page about a learner does not show."""

from typing import ClassVar, NamedTuple

import hard_streams
import numpy as np
import plain
import pytest
from driving import learn
from sklearn.base import BaseEstimator

import kernbrook as kb
from kernbrook.checks import POSITIVE
from kernbrook.engine.verbs import descend, expand, predict
from kernbrook.learners.steps import product
from kernbrook.numerics.scores_of_classes import add_step

KERNELS = [kb.Gaussian(gamma=0.05), kb.Gaussian(gamma=0.4)]
WAVES = kb.RandomFeatures(5)


class Growing(BaseEstimator):
    """`Perceptron`, once more."""

    choice = "learner"
    store = "expansion"
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


BESIDE = [kb.BPAS(9), kb.Ridge(features=WAVES), kb.GradientDescent(features=None, budget=20)]
OURS = kb.GradientDescent(0.2, "constant", features=WAVES)


@pytest.mark.parametrize("labels", ["all", kb.RandomLabels(0.5)], ids=str)
@pytest.mark.parametrize(
    ("C", "theirs", "ours"),
    [
        (None, Descending(0.2, WAVES), OURS),
        (2, [Growing(), *BESIDE], [kb.Perceptron(), *BESIDE]),
        (4, [Growing(), *BESIDE], [kb.Perceptron(), *BESIDE]),
    ],
)
def test_theirs_are_as_ours(C, theirs, ours, labels):
    """Alone, or in a pool with learners in every store."""
    X, y = hard_streams.clouds_of(C)
    kind, found = plain.regressor if C is None else plain.classifier, []
    for learner in (theirs, ours):
        model = kind(KERNELS, learner, random_state=3, labels=labels)
        said = *learn(model, X, y, C, 30), model.predict(X), model.should_ask(X)
        found.append((*said, model.expert_weights_))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("learner", [Growing(), Descending(0.2, WAVES)], ids=str)
def test_they_have_all_properties(learner):
    kb.testing.check_learner(learner)
