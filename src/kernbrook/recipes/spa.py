"""Sparse online multiple kernel classification."""

from __future__ import annotations

from typing import Any

from kernbrook.combiners import Hedge
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.learners import SparsePA
from kernbrook.recipes.catalogue import Recipe
from kernbrook.selection import Selection


def _spa(
    kernels: Any = "omkc16",
    random_state: Any = None,
    step: float = 0.1,
    cap: float = 1.0,
    divisor: float = 3.0,
    discount: float = 0.99,
    smoothing: float = 0.001,
    unit_diagonal: bool = True,
    budget: int | None = None,
) -> OnlineMKClassifier:
    return OnlineMKClassifier(
        kernels,
        SparsePA(step=step, cap=cap, divisor=divisor, unit_diagonal=unit_diagonal, budget=budget),
        Hedge(discount=discount, loss="hinge"),
        Selection(update="drawn", smoothing=smoothing, spread=False),
        random_state=random_state,
    )


RECIPES: dict[str, Recipe] = {
    "spa": (_spa, {"unit_diagonal": False}),
}
