"""The papers' algorithms by name: points of the product kernels x learner x combiner x selection.

A recipe named after a paper's algorithm is in table mode by default: its settings are those that
the paper's tables were made with. `mode="library"` takes the constructors' defaults instead. In
both it scales nothing unless told, by `scaling=`. "kernbrook-..." are our own.

Those of `vkr` are batch: they have `fit` and `predict`, and run on no stream.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernbrook.recipes.making import batch, make, names, parameters, task, title

__all__ = ["batch", "make", "names", "parameters", "task", "title"]


def __getattr__(name: str) -> Any:
    """Imported on first use: names and titles are listed without any machine."""
    if name not in __all__:
        raise AttributeError(f"module 'kernbrook.recipes' has no attribute {name!r}")
    return getattr(import_module("kernbrook.recipes.making"), name)
