"""kernbrook: learning with many kernels on a stream."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. Imported on first use: `import kernbrook` stays light.
_HOMES = {
    "BestOfPrefix": "kernbrook.combiners",
    "Callable": "kernbrook.kernels",
    "Cauchy": "kernbrook.kernels",
    "Gaussian": "kernbrook.kernels",
    "GroupNorm": "kernbrook.combiners",
    "Hedge": "kernbrook.combiners",
    "Laplacian": "kernbrook.kernels",
    "Linear": "kernbrook.kernels",
    "Mean": "kernbrook.kernels",
    "OnlineMKClassifier": "kernbrook.models.classifier",
    "Perceptron": "kernbrook.learners",
    "Polynomial": "kernbrook.kernels",
    "Precomputed": "kernbrook.kernels",
    "Selection": "kernbrook.combiners",
    "Sigmoid": "kernbrook.kernels",
    "Uniform": "kernbrook.combiners",
    "compare": "kernbrook.evaluation.comparing",
    "open_stream": "kernbrook.streams",
    "prequential": "kernbrook.evaluation.prequential",
}
_MODULES = ("combiners", "errors", "evaluation", "kernels", "learners", "recipes", "streams")

__all__ = [
    "BestOfPrefix",
    "Callable",
    "Cauchy",
    "Gaussian",
    "GroupNorm",
    "Hedge",
    "Laplacian",
    "Linear",
    "Mean",
    "OnlineMKClassifier",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "Selection",
    "Sigmoid",
    "Uniform",
    "__version__",
    "combiners",
    "compare",
    "errors",
    "evaluation",
    "kernels",
    "learners",
    "open_stream",
    "prequential",
    "recipes",
    "streams",
]

if TYPE_CHECKING:
    from kernbrook import combiners, errors, evaluation, kernels, learners, streams
    from kernbrook.combiners import BestOfPrefix, GroupNorm, Hedge, Selection, Uniform
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
    from kernbrook.learners import Perceptron
    from kernbrook.models import recipes
    from kernbrook.models.classifier import OnlineMKClassifier
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
