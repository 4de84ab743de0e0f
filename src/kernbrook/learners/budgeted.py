"""The base of learners under a budget."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from sklearn.base import BaseEstimator

from kernbrook.checks import OneOf, Whole, parameters
from kernbrook.learners.perceptron import TIES, Perceptron


class Budgeted(BaseEstimator):
    """A learner with `budget` slots for each kernel.

    spare : slots beyond the budget, for an example that joins before there is room
    remembers : whether the first number of a slots' memory is one from 0
    """

    choice = "learner"
    parameter_ranges: ClassVar[dict[str, Any]] = {"budget": Whole()}
    budget: Any
    store: Any = "slots"
    spare = 0
    remembers = False

    def slots(self) -> int | None:
        return None if self.budget is None else int(self.budget)

    def keeps(self, rule: Any) -> set[str]:
        """Fields that slots of experts with a rule hold beside coefficients and points."""
        return set()


@parameters
class BudgetPerceptron(Budgeted):
    """A learner that adds an example where the score errs."""

    budget: int = 100
    tie: Annotated[str, OneOf(TIES)] = "margin"

    strict = Perceptron.strict
