"""The recipes for numbers: active learning with multiple kernels, and its comparison rows."""

from __future__ import annotations

from typing import Any

from kernbrook.checks import check
from kernbrook.combiners import EXP, AdaRaker, Uniform
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Kernel, Linear, Polynomial
from kernbrook.labels import Disagreement
from kernbrook.learners import GradientDescent
from kernbrook.recipes.building import recipe
from kernbrook.recipes.catalogue import Recipe
from kernbrook.selection import AdaptiveSelection

_STEPS = "step", "regularization"
_OMKL = *_STEPS, "weight_step", "horizon"
_RAKER = *_OMKL, "n_components", "normalize"


def _on_sums(budget: int | None = None) -> GradientDescent:
    return GradientDescent(regularization=0.01, features=None, budget=budget)


def _kl(kernel: Kernel) -> Recipe:
    model = OnlineMKRegressor([kernel], _on_sums(), Uniform())
    return recipe(model, *_STEPS, "horizon")


def _on_features(*names: str, selection: Any = None, labels: Any = "all") -> Recipe:
    learner = GradientDescent(regularization=0.01, features=RandomFeatures(normalize=False))
    model = OnlineMKRegressor("amkl17", learner, EXP(), selection, labels)
    return recipe(model, *_RAKER, *names, normalize=True)


def _ada_raker(
    kernels: Any = "amkl17",
    random_state: Any = None,
    step: float = 0.5,
    regularization: float = 0.01,
    levels: int = 12,
    restart: bool = False,
    n_components: int = 50,
    normalize: bool = False,
    labels: Any = "all",
) -> OnlineMKRegressor:
    features = RandomFeatures(n_components, normalize=normalize)
    combiner = AdaRaker(levels, step, restart)
    for part in (features, combiner):  # before the learners are made from them
        check(part)
    parts = 1 if normalize else n_components
    learners = [
        GradientDescent(
            min(0.5, step / 2 ** (j / 2)) / parts,  # over |z|^2
            "constant",
            regularization=regularization,
            features=features,
            restart=2**j if restart else None,
        )
        for j in range(levels)
    ]
    return OnlineMKRegressor(kernels, learners, combiner, None, labels, random_state)


RECIPES: dict[str, Recipe] = {
    "kl-rbf": _kl(Gaussian(sigma=1.0)),
    "kl-poly": _kl(Polynomial(2)),
    "kl-linear": _kl(Linear()),
    "omkl": recipe(OnlineMKRegressor("amkl17", _on_sums(), EXP()), *_OMKL),
    "omkl-b": recipe(OnlineMKRegressor("amkl17", _on_sums(100), EXP()), *_OMKL, "budget"),
    "raker": _on_features("labels"),
    "ada-raker": (_ada_raker, {"normalize": True}),
    "omkl-aks": _on_features("labels", "ratio", selection=AdaptiveSelection(0.8)),
    "amkl": _on_features("threshold", "window", labels=Disagreement(0.0005, 1)),
    "amkl-aks": _on_features(
        *("threshold", "window", "weights", "compared", "ratio"),
        selection=AdaptiveSelection(0.8),
        labels=Disagreement(0.0005, 1),
    ),
}
