"""Learners under a budget, in pools of kernels and with one."""

from __future__ import annotations

from functools import partial
from typing import Any

from kernbrook.combiners import Hedge
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.kernels import Gaussian
from kernbrook.learners import BOGD, BPAS, RBP, Ahpatron, Forgetron, Projectron, ProjectronPlusPlus
from kernbrook.recipes.catalogue import Recipe


def _budget_perceptron(
    learner: type,
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    tie: str = "margin",
) -> OnlineMKClassifier:
    chosen = learner(budget=budget, tie=tie)
    return OnlineMKClassifier(kernels, chosen, Hedge(discount=discount), random_state=random_state)


def _projectron(
    learner: type,
    kernels: Any = None,
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    threshold: float = 0.3,
    tie: str = "margin",
) -> OnlineMKClassifier:
    chosen, pool = learner(budget=budget, threshold=threshold, tie=tie), one_gaussian(kernels)
    return OnlineMKClassifier(pool, chosen, Hedge(discount=discount), random_state=random_state)


def _ahpatron(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    margin: float = 0.5,
    radius: float | None = None,
    ridge: float = 0.0005,
) -> OnlineMKClassifier:
    learner = Ahpatron(budget=budget, margin=margin, radius=radius, ridge=ridge)
    return OnlineMKClassifier(kernels, learner, Hedge(discount=discount), random_state=random_state)


def _bogd(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    step: float = 0.1,
    regularization: float = 0.01,
) -> OnlineMKClassifier:
    learner = BOGD(budget=budget, step=step, regularization=regularization, upkeep="uniform")
    return OnlineMKClassifier(kernels, learner, Hedge(discount=discount), random_state=random_state)


def _bpas(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    aggressiveness: float = 0.1,
) -> OnlineMKClassifier:
    learner = BPAS(budget=budget, aggressiveness=aggressiveness)
    combiner = Hedge(discount=discount, loss="hinge")
    return OnlineMKClassifier(kernels, learner, combiner, random_state=random_state)


def one_gaussian(kernels: Any) -> Any:
    """The kernels that are given; by default one Gaussian."""
    return [Gaussian(sigma=1.0)] if kernels is None else kernels


RECIPES: dict[str, Recipe] = {
    "rbp": (partial(_budget_perceptron, RBP), {}),
    "forgetron": (partial(_budget_perceptron, Forgetron), {}),
    "bogd": (_bogd, {}),
    "bpas": (_bpas, {}),
    "projectron": (partial(_projectron, Projectron), {}),
    "projectron++": (partial(_projectron, ProjectronPlusPlus), {}),
    "ahpatron": (_ahpatron, {}),
}
