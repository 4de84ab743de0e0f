"""Our own recipes: what we take where nothing is said."""

from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.pool import LINE, gaussian
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import GrownPartitions, HashedInputs, RandomBinning, RandomFeatures
from kernbrook.kernels import Gaussian, Polynomial
from kernbrook.labels import LabelBudget
from kernbrook.learners import BPAS, BoostedTrees, Cells, GradientDescent, Group, LastLabel, Ridge
from kernbrook.recipes.building import recipe
from kernbrook.recipes.catalogue import Recipe


def _few_cells() -> Cells:
    """In less than a megabyte, and 4 microseconds a row."""
    trees = GrownPartitions(20, 5_000, inputs=10, slots=60)
    return Cells([HashedInputs(2**16), RandomBinning(30, cells=2**15), trees])


def _few_trees() -> BoostedTrees:
    """In half a megabyte on 10 features, and 4 microseconds a row."""
    return BoostedTrees(16, 24, 2048, 0.4, 512)


# The same idea with few experts.
_SMALL = OnlineMKClassifier(
    [Polynomial(1), Polynomial(3), Gaussian(sigma=0.25)],
    [
        Group(GradientDescent(0.5, "adagrad", loss="logistic"), LINE),
        Group(Ridge(forgetting=0.998), [LINE, gaussian(10.0)]),
        Group(Ridge(forgetting=0.98), gaussian(1.0)),
        Group(Ridge(features=RandomFeatures(50, "orthogonal", inputs=4)), gaussian(4.0)),
        BPAS(200, 0.5),
        _few_cells(),
        _few_trees(),
        LastLabel(),
    ],
)
_SMOOTH = [gaussian(square) for square in (3.16, 31.6)]
_MANY = RandomFeatures(250, "orthogonal")
_SMALL_OF_NUMBERS = OnlineMKRegressor(
    [LINE, *_SMOOTH, gaussian(0.316)],
    [
        GradientDescent(0.5, "normalized"),
        Group(Ridge(), [LINE, *_SMOOTH]),
        Group(Ridge(forgetting=0.98), [LINE, gaussian(0.316)]),
        Group(Ridge(features=RandomFeatures(50, "orthogonal", inputs=2)), gaussian(2.0)),
        Group(GradientDescent(0.5, "normalized", features=_MANY), gaussian(10.0)),
        _few_cells(),
        _few_trees(),
        LastLabel(),
    ],
)
_ACTIVE = OnlineMKRegressor("auto", labels=LabelBudget(0.5, 3))

OF_CLASSES: dict[str, Recipe] = {
    "kernbrook-classification": recipe(OnlineMKClassifier("auto"), "scaling"),
    "kernbrook-small": recipe(_SMALL, "scaling"),
}
OF_NUMBERS: dict[str, Recipe] = {
    "kernbrook-regression": recipe(OnlineMKRegressor("auto"), "scaling", "center"),
    "kernbrook-small-regression": recipe(_SMALL_OF_NUMBERS, "scaling", "center"),
    "kernbrook-active": recipe(_ACTIVE, "scaling", "center", "rate", "window"),
}
