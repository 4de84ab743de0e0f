"""Compiled once for the suite: the recipes, and pools of kernels as no recipe has them."""

from functools import partial

import numpy as np

import kernbrook as kb
from kernbrook.evaluation.ahead import compile_ahead
from kernbrook.evaluation.parallel import crew_of, run_all


def dot(X, Z):
    return X @ Z.T


# Each runs on compiled code of its own: kernels with a step, as functions of both rows, both kinds,
# and none that is compiled.
POOLS = {
    "steps": [kb.Linear(), kb.Sigmoid(gamma=0.3, offset=-0.3)],
    "both rows": [kb.Linear(), kb.ANOVA(2, sigma=2)],
    "both kinds": [kb.Sigmoid(gamma=0.3, offset=-0.3), kb.ANOVA(2, sigma=2)],
    "called": [dot],
}
LEARNERS = [
    kb.Perceptron(),
    kb.BPAS(4),
    kb.GradientDescent(features=None, budget=5, loss="hinge"),
]
SHARED = kb.OnlineMKClassifier(
    [kb.Linear(), kb.Cauchy(sigma=1)], combiner=kb.GroupNorm(), scaling=None
)


def compile_all():
    """By two processes, of whose parts each compiles little that the other one does."""
    classes, numbers = (
        [name for name in kb.recipes.names() if (kb.recipes.task(name) == "classification") is one]
        for one in (True, False)
    )
    trials = {
        frozenset({"classes"}): partial(compile_ahead, classes, 1),
        frozenset({"numbers"}): partial(_numbers_and_pools, numbers),
    }
    with crew_of(2, 2) as crew:
        for _ in run_all(trials, [], crew, None):
            pass


def _numbers_and_pools(numbers):
    compile_ahead(numbers, 1)
    for kernels in POOLS.values():  # with a learner of each store of support vectors
        for learner in LEARNERS:
            _learn(
                kb.OnlineMKClassifier(kernels, learner, kb.Hedge(), scaling=None, random_state=0)
            )
    _learn(SHARED)  # points that kernels share


def _learn(model):
    X = np.random.default_rng(0).normal(size=(12, 3))
    y = np.arange(12) % 2
    model.partial_fit(X, y, classes=[0, 1]).partial_fit(X, y).predict(X)
