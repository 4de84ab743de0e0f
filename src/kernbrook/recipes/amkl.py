"""The recipes for numbers: active learning with multiple kernels, its comparison rows, our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Signature, signature
from typing import Any

from kernbrook.checks import check
from kernbrook.combiners import EXP, AdaRaker, Uniform
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Linear, Polynomial
from kernbrook.labels import Disagreement
from kernbrook.learners import GradientDescent
from kernbrook.recipes.catalogue import Recipe
from kernbrook.selection import AdaptiveSelection


def _one_kernel(
    default: Any,
    kernels: Any = None,
    random_state: Any = None,
    step: float = 1.0,
    regularization: float = 0.01,
    horizon: int | None = None,
) -> OnlineMKRegressor:
    learner = GradientDescent(step, horizon=horizon, regularization=regularization, features=None)
    chosen = [default] if kernels is None else kernels
    return OnlineMKRegressor(chosen, learner, Uniform(), random_state=random_state)


def _omkl(
    kernels: Any = "amkl17",
    random_state: Any = None,
    step: float = 1.0,
    regularization: float = 0.01,
    weight_step: float = 1.0,
    horizon: int | None = None,
) -> OnlineMKRegressor:
    learner = GradientDescent(step, horizon=horizon, regularization=regularization, features=None)
    combiner = EXP(weight_step, horizon)
    return OnlineMKRegressor(kernels, learner, combiner, random_state=random_state)


def _omkl_b(budget: int | None = 100, **others: Any) -> OnlineMKRegressor:
    model: OnlineMKRegressor = _omkl(**others)
    return model.set_params(learner__budget=budget)


def _raker(
    kernels: Any = "amkl17",
    random_state: Any = None,
    step: float = 1.0,
    regularization: float = 0.01,
    weight_step: float = 1.0,
    horizon: int | None = None,
    n_components: int = 50,
    normalize: bool = False,
    labels: Any = "all",
) -> OnlineMKRegressor:
    features = RandomFeatures(n_components, normalize=normalize)
    learner = GradientDescent(
        step, horizon=horizon, regularization=regularization, features=features
    )
    combiner = EXP(weight_step, horizon)
    return OnlineMKRegressor(kernels, learner, combiner, None, labels, random_state)


def _omkl_aks(ratio: float = 0.8, **rakers: Any) -> OnlineMKRegressor:
    model: OnlineMKRegressor = _raker(**rakers).set_params(selection=AdaptiveSelection(ratio))
    return model


def _amkl(threshold: float = 0.0005, window: int = 1, **rakers: Any) -> OnlineMKRegressor:
    model: OnlineMKRegressor = _raker(**rakers)
    return model.set_params(labels=Disagreement(threshold, window))


def _amkl_aks(
    threshold: float = 0.0005,
    window: int = 1,
    weights: str = "used",
    compared: str = "used",
    ratio: float = 0.8,
    **rakers: Any,
) -> OnlineMKRegressor:
    labels = Disagreement(threshold, window, weights, compared)
    model: OnlineMKRegressor = _omkl_aks(ratio, **rakers)
    return model.set_params(labels=labels)


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


def join_parameters(build: Callable[..., Any], base: Callable[..., Any]) -> Callable[..., Any]:
    """`build`, whose ** are the parameters of `base`, with all of them in its signature."""

    def builder(**parameters: Any) -> Any:
        return build(**parameters)

    parameters = list(signature(build).parameters.values())[:-1]
    # A recipe that makes its own label policy takes no other.
    asks = any(parameter.name == "window" for parameter in parameters)
    rest = [p for p in signature(base).parameters.values() if not (asks and p.name == "labels")]
    builder.__signature__ = Signature([*rest, *parameters])  # type: ignore[attr-defined]
    return builder


RECIPES: dict[str, Recipe] = {
    "kl-rbf": (partial(_one_kernel, Gaussian(sigma=1.0)), {}),
    "kl-poly": (partial(_one_kernel, Polynomial(2)), {}),
    "kl-linear": (partial(_one_kernel, Linear()), {}),
    "omkl": (_omkl, {}),
    "omkl-b": (join_parameters(_omkl_b, _omkl), {}),
    "raker": (_raker, {"normalize": True}),
    "ada-raker": (_ada_raker, {"normalize": True}),
    "omkl-aks": (join_parameters(_omkl_aks, _raker), {"normalize": True}),
    "amkl": (join_parameters(_amkl, _raker), {"normalize": True}),
    "amkl-aks": (join_parameters(_amkl_aks, _raker), {"normalize": True}),
}
