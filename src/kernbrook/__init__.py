"""kernbrook: learning with many kernels on a stream."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Imported on first use: `import kernbrook` stays light. All that the factors export is public here.
_FACTORS = ("kernels", "features", "learners", "combiners", "selection", "labels")
_HOMES = {
    "KernelFeatures": "kernbrook.estimators.transformer",
    "LateLabels": "kernbrook.estimators.late",
    "NamedColumns": "kernbrook.estimators.named",
    "OnlineMKClassifier": "kernbrook.estimators.classifier",
    "OnlineMKRegressor": "kernbrook.estimators.regressor",
    "VotedKernelClassifier": "kernbrook.estimators.voted",
    "VotedKernelClassifierCV": "kernbrook.estimators.voted_grid",
    "compare": "kernbrook.evaluation.comparing",
    "load": "kernbrook.persistence.saving",
    "open_stream": "kernbrook.streams",
    "prequential": "kernbrook.evaluation.prequential",
    "save": "kernbrook.persistence.saving",
}
_MODULES = {
    **{name: f"kernbrook.{name}" for name in (*_FACTORS, "errors", "evaluation", "streams")},
    "recipes": "kernbrook.recipes",
    "testing": "kernbrook.testing",
}

if TYPE_CHECKING:
    from kernbrook import (
        combiners,
        errors,
        evaluation,
        features,
        kernels,
        labels,
        learners,
        recipes,
        selection,
        streams,
        testing,
    )
    from kernbrook.combiners import *
    from kernbrook.estimators.classifier import OnlineMKClassifier
    from kernbrook.estimators.late import LateLabels
    from kernbrook.estimators.named import NamedColumns
    from kernbrook.estimators.regressor import OnlineMKRegressor
    from kernbrook.estimators.transformer import KernelFeatures
    from kernbrook.estimators.voted import VotedKernelClassifier
    from kernbrook.estimators.voted_grid import VotedKernelClassifierCV
    from kernbrook.evaluation.comparing import compare
    from kernbrook.evaluation.prequential import prequential
    from kernbrook.features import *
    from kernbrook.kernels import *
    from kernbrook.labels import *
    from kernbrook.learners import *
    from kernbrook.persistence.saving import load, save
    from kernbrook.selection import *
    from kernbrook.streams import open_stream


def __getattr__(name: str) -> Any:
    if name == "__all__":
        value: Any = __dir__()
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        value = _of_a_factor(name)
    globals()[name] = value
    return value


def _of_a_factor(name: str) -> Any:
    """What a folder of kernels, learners, combiners or label policies exports."""
    for factor in _FACTORS if not name.startswith("_") else ():
        module = import_module(f"kernbrook.{factor}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'kernbrook' has no attribute {name!r}")


def __dir__() -> list[str]:
    exported = [name for factor in _FACTORS for name in _exports_of(factor)]
    return sorted({*_HOMES, *_MODULES, *exported, "__version__"})


def _exports_of(factor: str) -> list[str]:
    """The `__all__` of a folder, read and not imported."""
    import ast
    from pathlib import Path

    source = Path(__file__).with_name(factor) / "__init__.py"
    for line in ast.parse(source.read_text()).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__":
            return list(ast.literal_eval(line.value))
    return []
