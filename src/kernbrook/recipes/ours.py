"""Our own recipes: what we take where nothing is said."""

from __future__ import annotations

from typing import Any

from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.labels import LabelBudget
from kernbrook.recipes.amkl import also
from kernbrook.recipes.catalogue import Recipe


def _of_classes(
    kernels: Any = "auto", random_state: Any = None, scaling: str | None = "auto"
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, random_state=random_state, scaling=scaling)


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
}
OF_NUMBERS: dict[str, Recipe] = {
    "kernbrook-regression": (_of_numbers, {}),
    "kernbrook-active": (also(_active, _of_numbers), {}),
}
