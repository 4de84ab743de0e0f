"""Online multiple kernel classification, Hoi et al. (2013), and its comparison rows."""

from __future__ import annotations

from typing import Any

from kernbrook.combiners import GroupNorm, Hedge, Uniform
from kernbrook.errors import InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.kernels import Linear, Mean, resolve
from kernbrook.learners import Perceptron
from kernbrook.recipes.building import recipe
from kernbrook.recipes.catalogue import Recipe
from kernbrook.selection import BestOfPrefix, Selection


def _omkc(update: str, vote: str) -> Recipe:
    parts = Perceptron("label"), Hedge(), Selection(update, vote)
    model = OnlineMKClassifier("omkc16", *parts)
    return recipe(model, "discount", "smoothing", "tie", "weighted", tie="margin")


def _perceptron(
    kernels: Any = None, random_state: Any = None, tie: str = "label"
) -> OnlineMKClassifier:
    chosen = resolve([Linear()] if kernels is None else kernels)
    if len(chosen) != 1:
        raise InputError(
            f"perceptron: kernels must be one kernel, got {len(chosen)}; "
            "perceptron-u takes the mean of several"
        )
    return OnlineMKClassifier(chosen, Perceptron(tie=tie), Uniform(), random_state=random_state)


def _perceptron_u(
    kernels: Any = "omkc16", random_state: Any = None, tie: str = "label"
) -> OnlineMKClassifier:
    mean = Mean(resolve(kernels))
    return OnlineMKClassifier([mean], Perceptron(tie=tie), Uniform(), random_state=random_state)


_ALL = OnlineMKClassifier("omkc16", Perceptron("label"), Uniform())
_BEST = OnlineMKClassifier("omkc16", Perceptron("label"), Uniform(), BestOfPrefix(100, 0.1))

RECIPES: dict[str, Recipe] = {
    "omkc-dd": _omkc("all", "all"),
    "omkc-ds": _omkc("all", "drawn"),
    "omkc-sd": _omkc("drawn", "all"),
    "omkc-ss": _omkc("drawn", "drawn"),
    "omkc-u": recipe(_ALL, "tie", tie="margin"),
    "perceptron": (_perceptron, {"tie": "margin"}),
    "perceptron-u": (_perceptron_u, {"tie": "margin"}),
    "perceptron-best": recipe(_BEST, "tie", "fraction", "rounds", tie="margin", fraction=None),
    "om2": recipe(OnlineMKClassifier("omkc16", combiner=GroupNorm(q=1000.0)), "q", q=None),
}
