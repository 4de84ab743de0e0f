"""Learners that are sparse or under a budget, in pools of kernels and with one."""

from kernbrook.combiners import Hedge
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.kernels import Gaussian
from kernbrook.learners import (
    BOGD,
    BPAS,
    RBP,
    Ahpatron,
    Forgetron,
    Pegasos,
    Projectron,
    ProjectronPlusPlus,
    SparsePA,
)
from kernbrook.recipes.building import recipe
from kernbrook.recipes.catalogue import Recipe
from kernbrook.selection import Selection


def _hedged(learner: type, *names: str) -> Recipe:
    hedge = Hedge(discount=0.99)
    return recipe(OnlineMKClassifier("omkc16", learner(), hedge), "budget", "discount", *names)


def _projecting(learner: type) -> Recipe:
    model = OnlineMKClassifier([Gaussian(sigma=1.0)], learner(), Hedge(discount=0.99))
    return recipe(model, "budget", "discount", "threshold", "tie")


def _bpegasos(upkeep: str) -> Recipe:
    model = OnlineMKClassifier([Gaussian(sigma=1.0)], Pegasos(100, upkeep=upkeep))
    return recipe(model, "budget", "regularization", "ball", "merging")


_SPA = OnlineMKClassifier(
    "omkc16",
    SparsePA(unit_diagonal=True),
    Hedge(discount=0.99, loss="hinge"),
    Selection(update="drawn", smoothing=0.001, spread=False),
)
_BOGD = OnlineMKClassifier("omkc16", BOGD(upkeep="uniform"), Hedge(discount=0.99))
_BPAS = OnlineMKClassifier("omkc16", BPAS(), Hedge(discount=0.99, loss="hinge"))
_PEGASOS = OnlineMKClassifier([Gaussian(sigma=1.0)], Pegasos())

RECIPES: dict[str, Recipe] = {
    "spa": recipe(
        _SPA, "step", "cap", "divisor", "discount", "smoothing", "unit_diagonal", "budget",
        unit_diagonal=False,
    ),
    "rbp": _hedged(RBP, "tie"),
    "forgetron": _hedged(Forgetron, "tie"),
    "bogd": recipe(_BOGD, "budget", "discount", "step", "regularization"),
    "bpas": recipe(_BPAS, "budget", "discount", "aggressiveness"),
    "projectron": _projecting(Projectron),
    "projectron++": _projecting(ProjectronPlusPlus),
    "ahpatron": _hedged(Ahpatron, "margin", "radius", "ridge"),
    "pegasos": recipe(_PEGASOS, "regularization", "ball"),
    "bpegasos-random": _bpegasos("random"),
    "bpegasos-smallest": _bpegasos("smallest"),
    "bpegasos-project": _bpegasos("project"),
    "bpegasos-merge": _bpegasos("merge"),
}  # fmt: skip
