"""Our own recipes: what we take where nothing is said."""

from __future__ import annotations

import math
from typing import Any

from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Polynomial
from kernbrook.labels import LabelBudget
from kernbrook.learners import BPAS, GradientDescent, Group, LastLabel, Ridge
from kernbrook.recipes.amkl import also
from kernbrook.recipes.catalogue import Recipe


def _of_classes(
    kernels: Any = "auto", random_state: Any = None, scaling: str | None = "auto"
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, random_state=random_state, scaling=scaling)


def _small(
    kernels: Any = None, random_state: Any = None, scaling: str | None = "auto"
) -> OnlineMKClassifier:
    """The same idea in 200 kB and 20 microseconds a row, of 8 features."""
    steps = GradientDescent(0.5, "adagrad", loss="logistic")
    additive, pairs = (RandomFeatures(25, "orthogonal", inputs=inputs) for inputs in (1, 2))
    smooth = [Gaussian(sigma=math.sqrt(square)) for square in (3.16, 31.6)]
    pool = [
        Group([steps, Ridge(forgetting=0.998, features=RandomFeatures(25))], smooth),
        Group(steps, Polynomial(1, offset=1.0)),
        Group(Ridge(features=additive), Gaussian(sigma=1.0)),
        Group(Ridge(features=pairs), Gaussian(sigma=math.sqrt(2.0))),
        BPAS(150, 0.5),
        LastLabel(),
    ]
    if kernels is None:
        kernels = [Polynomial(2), Polynomial(3), Gaussian(sigma=1.0)]
    return OnlineMKClassifier(kernels, pool, random_state=random_state, scaling=scaling)


def _of_numbers(
    kernels: Any = "auto",
    random_state: Any = None,
    scaling: str | None = "auto",
    center: bool = True,
) -> OnlineMKRegressor:
    return OnlineMKRegressor(kernels, random_state=random_state, scaling=scaling, center=center)


def _active(rate: float = 0.5, window: int = 3, **others: Any) -> OnlineMKRegressor:
    model: OnlineMKRegressor = _of_numbers(**others)
    return model.set_params(labels=LabelBudget(rate, window))


OF_CLASSES: dict[str, Recipe] = {
    "kernbrook-classification": (_of_classes, {}),
    "kernbrook-small": (_small, {}),
}
OF_NUMBERS: dict[str, Recipe] = {
    "kernbrook-regression": (_of_numbers, {}),
    "kernbrook-active": (also(_active, _of_numbers), {}),
}
