"""Online multiple kernel classification, Hoi et al. (2013), and its comparison rows."""

from __future__ import annotations

from functools import partial
from typing import Any

from kernbrook.combiners import GroupNorm, Hedge, Uniform
from kernbrook.errors import InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.kernels import Linear, Mean, resolve
from kernbrook.learners import Perceptron
from kernbrook.recipes.catalogue import Recipe
from kernbrook.selection import BestOfPrefix, Selection


def _omkc(
    update: str,
    vote: str,
    kernels: Any = "omkc16",
    random_state: Any = None,
    discount: float = 0.8,
    smoothing: float = 0.01,
    tie: str = "label",
    weighted: bool = True,
) -> OnlineMKClassifier:
    return OnlineMKClassifier(
        kernels,
        Perceptron(tie=tie),
        Hedge(discount=discount),
        Selection(update=update, vote=vote, smoothing=smoothing, weighted=weighted),
        random_state=random_state,
    )


def _omkc_u(
    kernels: Any = "omkc16", random_state: Any = None, tie: str = "label"
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, Perceptron(tie=tie), Uniform(), random_state=random_state)


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


def _perceptron_best(
    kernels: Any = "omkc16",
    random_state: Any = None,
    tie: str = "label",
    fraction: float | None = 0.1,
    rounds: int = 100,
) -> OnlineMKClassifier:
    selection = BestOfPrefix(rounds=rounds, fraction=fraction)
    return OnlineMKClassifier(
        kernels, Perceptron(tie=tie), Uniform(), selection, random_state=random_state
    )


def _om2(
    kernels: Any = "omkc16", random_state: Any = None, q: float | None = 1000.0
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, combiner=GroupNorm(q=q), random_state=random_state)


RECIPES: dict[str, Recipe] = {
    "omkc-dd": (partial(_omkc, "all", "all"), {"tie": "margin"}),
    "omkc-ds": (partial(_omkc, "all", "drawn"), {"tie": "margin"}),
    "omkc-sd": (partial(_omkc, "drawn", "all"), {"tie": "margin"}),
    "omkc-ss": (partial(_omkc, "drawn", "drawn"), {"tie": "margin"}),
    "omkc-u": (_omkc_u, {"tie": "margin"}),
    "perceptron": (_perceptron, {"tie": "margin"}),
    "perceptron-u": (_perceptron_u, {"tie": "margin"}),
    "perceptron-best": (_perceptron_best, {"tie": "margin", "fraction": None}),
    "om2": (_om2, {"q": None}),
}
