"""kernbrook: learning with many kernels on a stream."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. Imported on first use: `import kernbrook` stays light.
_HOMES = {
    "AdaHedge": "kernbrook.combiners",
    "Ahpatron": "kernbrook.learners",
    "BOGD": "kernbrook.learners",
    "BPAS": "kernbrook.learners",
    "BestOfPrefix": "kernbrook.combiners",
    "Callable": "kernbrook.kernels",
    "Cauchy": "kernbrook.kernels",
    "FixedShare": "kernbrook.combiners",
    "Forgetron": "kernbrook.learners",
    "Gaussian": "kernbrook.kernels",
    "GroupNorm": "kernbrook.combiners",
    "Hedge": "kernbrook.combiners",
    "Laplacian": "kernbrook.kernels",
    "Linear": "kernbrook.kernels",
    "MLPoly": "kernbrook.combiners",
    "Mean": "kernbrook.kernels",
    "OnlineMKClassifier": "kernbrook.models.classifier",
    "PassiveAggressive": "kernbrook.learners",
    "Pegasos": "kernbrook.learners",
    "Perceptron": "kernbrook.learners",
    "Polynomial": "kernbrook.kernels",
    "Precomputed": "kernbrook.kernels",
    "Projectron": "kernbrook.learners",
    "ProjectronPlusPlus": "kernbrook.learners",
    "RBP": "kernbrook.learners",
    "Selection": "kernbrook.combiners",
    "Sigmoid": "kernbrook.kernels",
    "SparsePA": "kernbrook.learners",
    "Uniform": "kernbrook.combiners",
    "compare": "kernbrook.evaluation.comparing",
    "load": "kernbrook.models.saving",
    "open_stream": "kernbrook.streams",
    "prequential": "kernbrook.evaluation.prequential",
    "save": "kernbrook.models.saving",
}
_MODULES = ("combiners", "errors", "evaluation", "kernels", "learners", "recipes", "streams")

__all__ = [
    "AdaHedge",
    "Ahpatron",
    "BOGD",
    "BPAS",
    "BestOfPrefix",
    "Callable",
    "Cauchy",
    "FixedShare",
    "Forgetron",
    "Gaussian",
    "GroupNorm",
    "Hedge",
    "Laplacian",
    "Linear",
    "MLPoly",
    "Mean",
    "OnlineMKClassifier",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "Projectron",
    "ProjectronPlusPlus",
    "RBP",
    "Selection",
    "Sigmoid",
    "SparsePA",
    "Uniform",
    "__version__",
    "combiners",
    "compare",
    "errors",
    "evaluation",
    "kernels",
    "learners",
    "load",
    "open_stream",
    "prequential",
    "recipes",
    "save",
    "streams",
]

if TYPE_CHECKING:
    from kernbrook import combiners, errors, evaluation, kernels, learners, streams
    from kernbrook.combiners import (
        AdaHedge,
        BestOfPrefix,
        FixedShare,
        GroupNorm,
        Hedge,
        MLPoly,
        Selection,
        Uniform,
    )
    from kernbrook.evaluation.comparing import compare
    from kernbrook.evaluation.prequential import prequential
    from kernbrook.kernels import (
        Callable,
        Cauchy,
        Gaussian,
        Laplacian,
        Linear,
        Mean,
        Polynomial,
        Precomputed,
        Sigmoid,
    )
    from kernbrook.learners import (
        BOGD,
        BPAS,
        RBP,
        Ahpatron,
        Forgetron,
        PassiveAggressive,
        Pegasos,
        Perceptron,
        Projectron,
        ProjectronPlusPlus,
        SparsePA,
    )
    from kernbrook.models import recipes
    from kernbrook.models.classifier import OnlineMKClassifier
    from kernbrook.models.saving import load, save
    from kernbrook.streams import open_stream


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name == "recipes":
        value = import_module("kernbrook.models.recipes")
    elif name in _MODULES:
        value = import_module(f"kernbrook.{name}")
    else:
        raise AttributeError(f"module 'kernbrook' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
