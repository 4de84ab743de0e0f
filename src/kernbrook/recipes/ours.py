"""Our own recipes: what we take where nothing is said."""

from __future__ import annotations

from typing import Any

from kernbrook.combiners import MLPoly
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import RandomFeatures
from kernbrook.labels import LabelBudget
from kernbrook.learners import BPAS, GradientDescent, Ridge
from kernbrook.recipes.amkl import also
from kernbrook.recipes.catalogue import Recipe


def _of_classes(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 2500,
    aggressiveness: float = 0.5,
    scaling: str | None = "auto",
) -> OnlineMKClassifier:
    learner = BPAS(budget, aggressiveness)
    return OnlineMKClassifier(kernels, learner, random_state=random_state, scaling=scaling)


def _of_numbers(
    kernels: Any = "amkl17",
    random_state: Any = None,
    step: float = 0.5,
    regularization: float = 0.1,
    n_components: int = 50,
    scaling: str | None = "auto",
    center: bool = True,
) -> OnlineMKRegressor:
    features = RandomFeatures(n_components)
    learners = [
        GradientDescent(step, "normalized", features=features),
        Ridge(regularization, features=features),
    ]
    combiner = MLPoly("linearized", scale_free=True)
    return OnlineMKRegressor(
        kernels, learners, combiner, None, "all", random_state, scaling, center
    )


def _active(rate: float = 0.5, window: int = 3, **others: Any) -> OnlineMKRegressor:
    model: OnlineMKRegressor = _of_numbers(**others)
    return model.set_params(labels=LabelBudget(rate, window))


OF_CLASSES: dict[str, Recipe] = {
    "kernbrook-classification": (_of_classes, {}),
}
OF_NUMBERS: dict[str, Recipe] = {
    "kernbrook-regression": (_of_numbers, {}),
    "kernbrook-active": (also(_active, _of_numbers), {}),
}
