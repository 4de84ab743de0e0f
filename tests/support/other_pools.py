"""Pools of kernels as no recipe has them: the suite compiles them once, as it does the recipes."""

from functools import partial

import numpy as np

import kernbrook as kb
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


def compile_pools():
    """With a learner of each store of support vectors; and points that kernels share."""
    models = {
        name: [
            kb.OnlineMKClassifier(kernels, learner, kb.Hedge(), scaling=None, random_state=0)
            for learner in LEARNERS
        ]
        for name, kernels in POOLS.items()
    } | {"shared": [SHARED]}
    trials = {frozenset({name}): partial(_learn, own) for name, own in models.items()}
    with crew_of(None, len(trials)) as crew:
        for _ in run_all(trials, [], crew, None):
            pass


def _learn(models):
    X = np.random.default_rng(0).normal(size=(12, 3))
    y = np.arange(12) % 2
    for model in models:
        model.partial_fit(X, y, classes=[0, 1]).partial_fit(X, y).predict(X)
