"""The base of learners without a kernel, which bring a store of their own."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class WithoutKernel(BaseEstimator):
    """Experts that `make_store(first, setting)` makes room for; `n_experts` says how many.

    first : the number of the first one
    """

    choice = "learner"
    store = "outside"
    of_numbers: Any = True
    of_classes: Any = True
    only_classes = False

    def rule(self) -> tuple[()]:
        """None: verbs are those of the store."""
        return ()
