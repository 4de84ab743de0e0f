"""Learners that hold a fixed number of support vectors: RBP, Forgetron, BOGD, BPAS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import learning
from kernbrook.checks import non_negative, one_of, positive, whole_number
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.learners.perceptron import TIES


class Budgeted(BaseEstimator):
    """A learner with `budget` slots for each kernel."""

    choice = "learner"
    budget: Any

    @property
    def store(self) -> str:
        """What it learns in."""
        return "slots"

    def slots(self) -> int | None:
        """The budget, checked."""
        return whole_number(self, "budget")

    def keeps(self, kernels: Sequence[Kernel]) -> set[str]:
        """What the slots hold beside coefficients and points."""
        return set()


class _BudgetPerceptron(Budgeted):
    """A learner that adds an example where the score errs."""

    def __init__(self, budget: int = 100, tie: str = "margin"):
        self.budget = budget
        self.tie = tie

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([TIES[one_of(self, "tie", TIES)]])


class RBP(_BudgetPerceptron):
    """Randomised budget perceptron: when full, a random support vector makes room.

    Step: 1. Admission: the score errs. Upkeep: drop one uniformly.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    tie : "margin" or "label", as for `Perceptron`

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile (2007), Tracking the best hyperplane with a simple budget
    perceptron.

    Examples
    --------
    >>> RBP(budget=50)
    RBP(budget=50)
    """

    code = learning.RBP


class Forgetron(_BudgetPerceptron):
    """The self-tuned Forgetron: old support vectors shrink, and the oldest makes room.

    Step: 1. Admission: the score errs. Upkeep: shrink all by the largest phi that keeps the
    damage within (15/32) of the mistakes, then drop the oldest.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    tie : "margin" or "label", as for `Perceptron`

    References
    ----------
    Dekel, Shalev-Shwartz, Singer (2008), The Forgetron: a kernel-based perceptron on a budget,
    section 6.

    Examples
    --------
    >>> Forgetron(budget=50)
    Forgetron(budget=50)
    """

    code = learning.FORGETRON

    def keeps(self, kernels: Sequence[Kernel]) -> set[str]:
        """The kernel values of the slots."""
        return {"gram"}


class BOGD(Budgeted):
    """Bounded online gradient descent on the hinge loss.

    Step: f <- (1 - step * regularization) f + step y k(x, .). Admission: positive hinge loss.
    Upkeep: drop one uniformly and multiply the others by B / (B - 1).

    Parameters
    ----------
    budget : int, support vectors of each kernel
    step : positive float, eta of the paper
    regularization : non-negative float, lambda of the paper

    References
    ----------
    Zhao, Wang, Wu, Jin, Hoi (2012), Fast bounded online gradient descent algorithms for scalable
    kernel-based online learning.

    Examples
    --------
    >>> BOGD(budget=50)
    BOGD(budget=50)
    """

    code = learning.BOGD

    def __init__(self, budget: int = 100, step: float = 0.1, regularization: float = 0.01):
        self.budget = budget
        self.step = step
        self.regularization = regularization

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        row = [positive(self, "step"), non_negative(self, "regularization")]
        if row[0] * row[1] >= 1:
            raise InputError(
                f"BOGD: step * regularization must be below 1, got {row[0]} * {row[1]}"
            )
        return np.array(row)


class BPAS(Budgeted):
    """Budgeted passive-aggressive learning, the simple variant.

    Step: min(C, loss / k(x, x)), plus what the removed support vector leaves on x. Admission:
    positive hinge loss. Upkeep: drop the one whose removal, made good on x as far as possible,
    changes f least.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    aggressiveness : positive float, C of the paper

    References
    ----------
    Wang and Vucetic (2010), Online passive-aggressive algorithms on a budget, BPA-S.

    Examples
    --------
    >>> BPAS(budget=50)
    BPAS(budget=50)
    """

    code = learning.BPAS

    def __init__(self, budget: int = 100, aggressiveness: float = 0.1):
        self.budget = budget
        self.aggressiveness = aggressiveness

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([positive(self, "aggressiveness")])
