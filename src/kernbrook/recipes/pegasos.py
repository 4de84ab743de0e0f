"""Pegasos for many classes, with and without a budget."""

from __future__ import annotations

from functools import partial
from typing import Any

from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.learners import Pegasos
from kernbrook.recipes.budgets import one_gaussian
from kernbrook.recipes.catalogue import Recipe


def _pegasos(
    kernels: Any = None, random_state: Any = None, regularization: float = 1e-4, ball: bool = True
) -> OnlineMKClassifier:
    learner = Pegasos(None, regularization, ball=ball)
    return OnlineMKClassifier(one_gaussian(kernels), learner, random_state=random_state)


def _bpegasos(
    upkeep: str,
    kernels: Any = None,
    random_state: Any = None,
    budget: int = 100,
    regularization: float = 1e-4,
    ball: bool = True,
    merging: str = "exact",
) -> OnlineMKClassifier:
    learner = Pegasos(budget, regularization, upkeep, ball, merging)
    return OnlineMKClassifier(one_gaussian(kernels), learner, random_state=random_state)


RECIPES: dict[str, Recipe] = {
    "pegasos": (_pegasos, {}),
    "bpegasos-random": (partial(_bpegasos, "random"), {}),
    "bpegasos-smallest": (partial(_bpegasos, "smallest"), {}),
    "bpegasos-project": (partial(_bpegasos, "project"), {}),
    "bpegasos-merge": (partial(_bpegasos, "merge"), {}),
}
