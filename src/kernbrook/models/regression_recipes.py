"""The recipes for numbers: active learning with multiple kernels, its comparison rows, our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernbrook.combiners import EXP, AdaptiveSelection, AdaRaker, MLPoly, Selection, Uniform
from kernbrook.kernels import Gaussian, Linear, Polynomial, RandomFeatures
from kernbrook.labels import Disagreement, LabelBudget
from kernbrook.learners import GradientDescent, Ridge
from kernbrook.models.regressor import OnlineMKRegressor


def _one_kernel(default: Any) -> Callable[..., OnlineMKRegressor]:
    def build(
        kernels: Any = None,
        random_state: Any = None,
        step: float = 1.0,
        regularization: float = 0.01,
        horizon: int | None = None,
        scaling: str | None = None,
    ) -> OnlineMKRegressor:
        learner = GradientDescent(
            step, horizon=horizon, regularization=regularization, features=None
        )
        chosen = [default] if kernels is None else kernels
        return OnlineMKRegressor(
            chosen, learner, Uniform(), random_state=random_state, scaling=scaling
        )

    return build


def _omkl(
    kernels: Any = "amkl17",
    random_state: Any = None,
    step: float = 1.0,
    regularization: float = 0.01,
    weight_step: float = 1.0,
    horizon: int | None = None,
    scaling: str | None = None,
) -> OnlineMKRegressor:
    return _omkl_b(kernels, random_state, None, step, regularization, weight_step, horizon, scaling)


def _omkl_b(
    kernels: Any = "amkl17",
    random_state: Any = None,
    budget: int | None = 100,
    step: float = 1.0,
    regularization: float = 0.01,
    weight_step: float = 1.0,
    horizon: int | None = None,
    scaling: str | None = None,
) -> OnlineMKRegressor:
    learner = GradientDescent(
        step, horizon=horizon, regularization=regularization, features=None, budget=budget
    )
    combiner = EXP(weight_step, horizon)
    return OnlineMKRegressor(kernels, learner, combiner, random_state=random_state, scaling=scaling)


def _on_random_features(adaptive: bool, active: bool) -> Callable[..., OnlineMKRegressor]:
    def passive(
        kernels: Any = "amkl17",
        random_state: Any = None,
        step: float = 1.0,
        regularization: float = 0.01,
        weight_step: float = 1.0,
        horizon: int | None = None,
        n_components: int = 50,
        normalize: bool = False,
        ratio: float = 0.8,
        labels: Any = "all",
        scaling: str | None = None,
    ) -> OnlineMKRegressor:
        features = RandomFeatures(n_components, normalize=normalize)
        learner = GradientDescent(
            step, horizon=horizon, regularization=regularization, features=features
        )
        combiner = EXP(weight_step, horizon)
        selection = AdaptiveSelection(ratio) if adaptive else Selection()
        return OnlineMKRegressor(
            kernels, learner, combiner, selection, labels, random_state, scaling
        )

    def asking(
        kernels: Any = "amkl17",
        random_state: Any = None,
        step: float = 1.0,
        regularization: float = 0.01,
        weight_step: float = 1.0,
        horizon: int | None = None,
        n_components: int = 50,
        normalize: bool = False,
        ratio: float = 0.8,
        threshold: float = 0.0005,
        window: int = 1,
        weights: str = "used",
        compared: str = "used",
        scaling: str | None = None,
    ) -> OnlineMKRegressor:
        labels = Disagreement(threshold, window, weights, compared)
        return passive(
            kernels, random_state, step, regularization, weight_step, horizon, n_components,
            normalize, ratio, labels, scaling,
        )  # fmt: skip

    return asking if active else passive


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
    scaling: str | None = None,
) -> OnlineMKRegressor:
    features = RandomFeatures(n_components, normalize=normalize)
    combiner = AdaRaker(levels, step, restart)
    combiner.row()  # checked before the learners are made from them
    learners = [
        GradientDescent(
            min(0.5, step / 2 ** (j / 2)) / (1 if normalize else n_components),  # over |z|^2
            "constant",
            regularization=regularization,
            features=features,
            restart=2**j if restart else None,
        )
        for j in range(levels)
    ]
    return OnlineMKRegressor(kernels, learners, combiner, None, labels, random_state, scaling)


def _kernbrook(active: bool) -> Callable[..., OnlineMKRegressor]:
    def passive(
        kernels: Any = "amkl17",
        random_state: Any = None,
        step: float = 0.5,
        regularization: float = 0.1,
        n_components: int = 50,
        labels: Any = "all",
        scaling: str | None = "moments",
        center: bool = True,
    ) -> OnlineMKRegressor:
        features = RandomFeatures(n_components)
        learners = [
            GradientDescent(step, "normalized", features=features),
            Ridge(regularization, features=features),
        ]
        combiner = MLPoly("linearized", scale_free=True)
        return OnlineMKRegressor(
            kernels, learners, combiner, None, labels, random_state, scaling, center
        )

    def asking(
        kernels: Any = "amkl17",
        random_state: Any = None,
        step: float = 0.5,
        regularization: float = 0.1,
        n_components: int = 50,
        rate: float = 0.5,
        window: int = 3,
        scaling: str | None = "moments",
        center: bool = True,
    ) -> OnlineMKRegressor:
        labels = LabelBudget(rate, window)
        return passive(
            kernels, random_state, step, regularization, n_components, labels, scaling, center
        )

    return asking if active else passive


# name -> (title, builder, settings of mode="library")
RECIPES: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "kl-rbf": ("KL-RBF", _one_kernel(Gaussian(sigma=1.0)), {}),
    "kl-poly": ("POLY2", _one_kernel(Polynomial(2)), {}),
    "kl-linear": ("LINEAR", _one_kernel(Linear()), {}),
    "omkl": ("OMKL", _omkl, {}),
    "omkl-b": ("OMKL-B", _omkl_b, {}),
    "raker": ("Raker", _on_random_features(False, False), {"normalize": True}),
    "ada-raker": ("AdaRaker", _ada_raker, {"normalize": True}),
    "omkl-aks": ("OMKL-AKS", _on_random_features(True, False), {"normalize": True}),
    "amkl": ("AMKL", _on_random_features(False, True), {"normalize": True}),
    "amkl-aks": ("AMKL-AKS", _on_random_features(True, True), {"normalize": True}),
    "kernbrook-regression": ("kernbrook", _kernbrook(False), {}),
    "kernbrook-active": ("kernbrook (active)", _kernbrook(True), {}),
}
