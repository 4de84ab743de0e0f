"""kernbrook: learning with many kernels on a stream."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. Imported on first use: `import kernbrook` stays light.
_HOMES = {
    "AdaHedge": "kernbrook.combiners",
    "AdaRaker": "kernbrook.combiners",
    "AdaptiveSelection": "kernbrook.combiners",
    "Ahpatron": "kernbrook.learners",
    "External": "kernbrook.learners",
    "Advice": "kernbrook.learners",
    "BOGD": "kernbrook.learners",
    "BPAS": "kernbrook.learners",
    "BestOfPrefix": "kernbrook.combiners",
    "Callable": "kernbrook.kernels",
    "Cauchy": "kernbrook.kernels",
    "Disagreement": "kernbrook.labels",
    "EXP": "kernbrook.combiners",
    "FixedShare": "kernbrook.combiners",
    "Forgetron": "kernbrook.learners",
    "Gaussian": "kernbrook.kernels",
    "GradientDescent": "kernbrook.learners",
    "GroupNorm": "kernbrook.combiners",
    "Hedge": "kernbrook.combiners",
    "JSONLines": "kernbrook.labels",
    "KernelFeatures": "kernbrook.models.transformer",
    "LabelBudget": "kernbrook.labels",
    "Laplacian": "kernbrook.kernels",
    "Linear": "kernbrook.kernels",
    "MLPoly": "kernbrook.combiners",
    "MarginSampling": "kernbrook.labels",
    "Matern": "kernbrook.kernels",
    "Mean": "kernbrook.kernels",
    "Monomials": "kernbrook.kernels",
    "Nystroem": "kernbrook.kernels",
    "OnlineMKClassifier": "kernbrook.models.classifier",
    "OnlineMKRegressor": "kernbrook.models.regressor",
    "PassiveAggressive": "kernbrook.learners",
    "Pegasos": "kernbrook.learners",
    "Perceptron": "kernbrook.learners",
    "Polynomial": "kernbrook.kernels",
    "Precomputed": "kernbrook.kernels",
    "Projectron": "kernbrook.learners",
    "ProjectronPlusPlus": "kernbrook.learners",
    "RBP": "kernbrook.learners",
    "RandomFeatures": "kernbrook.kernels",
    "RandomLabels": "kernbrook.labels",
    "Ridge": "kernbrook.learners",
    "Selection": "kernbrook.combiners",
    "Sigmoid": "kernbrook.kernels",
    "SparsePA": "kernbrook.learners",
    "TensorSketch": "kernbrook.kernels",
    "Uniform": "kernbrook.combiners",
    "VarianceSampling": "kernbrook.labels",
    "VotedKernelClassifier": "kernbrook.models.voted",
    "VotedKernelClassifierCV": "kernbrook.models.voted_grid",
    "compare": "kernbrook.evaluation.comparing",
    "load": "kernbrook.models.saving",
    "open_stream": "kernbrook.streams",
    "prequential": "kernbrook.evaluation.prequential",
    "save": "kernbrook.models.saving",
}
_MODULES = (
    "combiners",
    "errors",
    "evaluation",
    "kernels",
    "labels",
    "learners",
    "recipes",
    "streams",
    "testing",
)

__all__ = [
    "AdaHedge",
    "AdaRaker",
    "AdaptiveSelection",
    "Ahpatron",
    "External",
    "Advice",
    "BOGD",
    "BPAS",
    "BestOfPrefix",
    "Callable",
    "Cauchy",
    "Disagreement",
    "EXP",
    "FixedShare",
    "Forgetron",
    "Gaussian",
    "GradientDescent",
    "GroupNorm",
    "Hedge",
    "JSONLines",
    "KernelFeatures",
    "LabelBudget",
    "Laplacian",
    "Linear",
    "MLPoly",
    "MarginSampling",
    "Matern",
    "Mean",
    "Monomials",
    "Nystroem",
    "OnlineMKClassifier",
    "OnlineMKRegressor",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "Projectron",
    "ProjectronPlusPlus",
    "RBP",
    "RandomFeatures",
    "RandomLabels",
    "Ridge",
    "Selection",
    "Sigmoid",
    "SparsePA",
    "TensorSketch",
    "Uniform",
    "VarianceSampling",
    "VotedKernelClassifier",
    "VotedKernelClassifierCV",
    "__version__",
    "combiners",
    "compare",
    "errors",
    "evaluation",
    "kernels",
    "labels",
    "learners",
    "load",
    "open_stream",
    "prequential",
    "recipes",
    "save",
    "streams",
    "testing",
]

if TYPE_CHECKING:
    from kernbrook import combiners, errors, evaluation, kernels, labels, learners, streams, testing
    from kernbrook.combiners import (
        EXP,
        AdaHedge,
        AdaptiveSelection,
        AdaRaker,
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
        Matern,
        Mean,
        Monomials,
        Nystroem,
        Polynomial,
        Precomputed,
        RandomFeatures,
        Sigmoid,
        TensorSketch,
    )
    from kernbrook.labels import (
        Disagreement,
        JSONLines,
        LabelBudget,
        MarginSampling,
        RandomLabels,
        VarianceSampling,
    )
    from kernbrook.learners import (
        BOGD,
        BPAS,
        RBP,
        Advice,
        Ahpatron,
        External,
        Forgetron,
        GradientDescent,
        PassiveAggressive,
        Pegasos,
        Perceptron,
        Projectron,
        ProjectronPlusPlus,
        Ridge,
        SparsePA,
    )
    from kernbrook.models import recipes
    from kernbrook.models.classifier import OnlineMKClassifier
    from kernbrook.models.regressor import OnlineMKRegressor
    from kernbrook.models.saving import load, save
    from kernbrook.models.transformer import KernelFeatures
    from kernbrook.models.voted import VotedKernelClassifier
    from kernbrook.models.voted_grid import VotedKernelClassifierCV
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
