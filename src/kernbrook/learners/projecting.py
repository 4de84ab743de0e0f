"""Learners under a budget that project on their support vectors: Projectron(++), Ahpatron."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit import learning
from kernbrook.checks import non_negative, positive, whole_number
from kernbrook.errors import InputError
from kernbrook.kernels import Kernel
from kernbrook.learners.budgeted import Budgeted, _BudgetPerceptron


class _Projecting(_BudgetPerceptron):
    """A learner that adds an example, or its projection on the support vectors."""

    def __init__(self, budget: int = 100, threshold: float = 0.3, tie: str = "margin"):
        super().__init__(budget, tie)
        self.threshold = threshold

    def keeps(self, kernels: Sequence[Kernel]) -> set[str]:
        """The factor of the slots' kernel values."""
        return {"factor"}

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        threshold = non_negative(self, "threshold")
        if threshold >= 1:
            raise InputError(
                f"{type(self).__name__}: threshold must be below 1, or nothing is ever added, "
                f"got {threshold}"
            )
        return np.append(super().row(), threshold)


class Projectron(_Projecting):
    """Perceptron that adds what its support vectors cannot express, and else a projection.

    Step: 1. Admission: the score errs. Upkeep: where k(x, .) is no farther than
    threshold sqrt(k(x, x)) from the span of the support vectors, or the budget is full, its
    projection on that span is added: all coefficients change, and no support vector is ever
    removed. The paper has no budget: the threshold alone bounds its support set.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    threshold : float from 0 to below 1, eta of the paper, where k(x, x) = 1. What is within
        1e-4 sqrt(k(x, x)) of the span always counts as in it
    tie : "margin" or "label", as for `Perceptron`

    Notes
    -----
    O(budget^2) for each example that is learned from. With a kernel that is not positive
    semi-definite only examples with k(x, x) > 0 are learned from.

    References
    ----------
    Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning, algorithm 2.

    Examples
    --------
    >>> Projectron(budget=50)
    Projectron(budget=50)
    """

    code = learning.PROJECTRON


class ProjectronPlusPlus(_Projecting):
    """Projectron that learns from margin errors too, where a projection is good enough.

    Step and admission of a mistake: as for `Projectron`. An example that is right by a margin
    below 1, of hinge loss l and at distance delta sqrt(k(x, x)) of the span, adds tau times its
    projection P where l > delta / threshold: tau = min(1, l / |P|^2,
    2 (l - delta / threshold) / |P|^2).

    Parameters
    ----------
    budget, threshold, tie : as for `Projectron`

    References
    ----------
    Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning, algorithm 3.

    Examples
    --------
    >>> ProjectronPlusPlus(budget=50)
    ProjectronPlusPlus(budget=50)
    """

    code = learning.PROJECTRON_PLUS


class Ahpatron(Budgeted):
    """Aggressive perceptron in a ball; when full, one half of its support vectors takes on all.

    Step: radius / (2 sqrt(budget)), then f is scaled back to |f| <= radius. Admission: a margin
    y f(x) below `margin`. Upkeep: the half with the smaller |coefficient| is projected on the
    other half by ridge regression and removed, and f is scaled to the norm it had.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    margin : positive float, 1 - epsilon of the paper
    radius : positive float, U of the paper; None is sqrt(budget) / 2
    ridge : non-negative float, eta of the paper, as a share of each k(x, x)

    Notes
    -----
    The defaults and the choice of the half are those of the authors' program, whose kernel has
    k(x, x) = 1. O(budget^2) on average for each example that is learned from.

    References
    ----------
    Liao, Li, Liao, Hu, Dang (2024), Ahpatron: a new budgeted online kernel learning machine with
    tighter mistake bound, algorithm 2.

    Examples
    --------
    >>> Ahpatron(budget=50)
    Ahpatron(budget=50)
    """

    code = learning.AHPATRON

    def __init__(
        self,
        budget: int = 100,
        margin: float = 0.5,
        radius: float | None = None,
        ridge: float = 0.0005,
    ):
        self.budget = budget
        self.margin = margin
        self.radius = radius
        self.ridge = ridge

    def keeps(self, kernels: Sequence[Kernel]) -> set[str]:
        """The kernel values of the slots."""
        return {"gram"}

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        root = math.sqrt(whole_number(self, "budget"))
        radius = root / 2 if self.radius is None else positive(self, "radius")
        margin, ridge = positive(self, "margin"), non_negative(self, "ridge")
        return np.array([margin, radius / (2 * root), radius, ridge])
