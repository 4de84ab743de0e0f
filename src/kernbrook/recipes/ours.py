"""Our own recipes: what we take where nothing is said."""

from __future__ import annotations

from typing import Any

from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.pool import LINE, gaussian
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import GrownPartitions, HashedInputs, RandomBinning, RandomFeatures
from kernbrook.kernels import Gaussian, Polynomial
from kernbrook.labels import LabelBudget
from kernbrook.learners import BPAS, BoostedTrees, Cells, GradientDescent, Group, LastLabel, Ridge
from kernbrook.recipes.amkl import join_parameters
from kernbrook.recipes.catalogue import Recipe


def _of_classes(
    kernels: Any = "auto", random_state: Any = None, scaling: str | None = "auto"
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, random_state=random_state, scaling=scaling)


def _few_cells() -> Cells:
    """In less than a megabyte, and 4 microseconds a row."""
    trees = GrownPartitions(20, 5_000, inputs=10, slots=60)
    return Cells([HashedInputs(2**16), RandomBinning(30, cells=2**15), trees])


def _few_trees() -> BoostedTrees:
    """In half a megabyte on 10 features, and 4 microseconds a row."""
    return BoostedTrees(16, 24, 2048, 0.4, 512)


def _small(
    kernels: Any = None, random_state: Any = None, scaling: str | None = "auto"
) -> OnlineMKClassifier:
    """The same idea with few experts."""
    several = RandomFeatures(50, "orthogonal", inputs=4)
    pool = [
        Group(GradientDescent(0.5, "adagrad", loss="logistic"), LINE),
        Group(Ridge(forgetting=0.998), [LINE, gaussian(10.0)]),
        Group(Ridge(forgetting=0.98), gaussian(1.0)),
        Group(Ridge(features=several), gaussian(4.0)),
        BPAS(200, 0.5),
        _few_cells(),
        _few_trees(),
        LastLabel(),
    ]
    if kernels is None:
        kernels = [Polynomial(1), Polynomial(3), Gaussian(sigma=0.25)]
    return OnlineMKClassifier(kernels, pool, random_state=random_state, scaling=scaling)


def _small_of_numbers(
    kernels: Any = None,
    random_state: Any = None,
    scaling: str | None = "auto",
    center: bool = True,
) -> OnlineMKRegressor:
    smooth = [gaussian(square) for square in (3.16, 31.6)]
    steps = GradientDescent(0.5, "normalized")
    many = GradientDescent(0.5, "normalized", features=RandomFeatures(250, "orthogonal"))
    pool = [
        steps,
        Group(Ridge(), [LINE, *smooth]),
        Group(Ridge(forgetting=0.98), [LINE, gaussian(0.316)]),
        Group(Ridge(features=RandomFeatures(50, "orthogonal", inputs=2)), gaussian(2.0)),
        Group(many, gaussian(10.0)),
        _few_cells(),
        _few_trees(),
        LastLabel(),
    ]
    if kernels is None:
        kernels = [LINE, *smooth, gaussian(0.316)]
    return OnlineMKRegressor(
        kernels, pool, random_state=random_state, scaling=scaling, center=center
    )


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
    "kernbrook-small-regression": (_small_of_numbers, {}),
    "kernbrook-active": (join_parameters(_active, _of_numbers), {}),
}
