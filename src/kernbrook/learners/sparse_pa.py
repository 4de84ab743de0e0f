"""Sparse passive-aggressive learning: an example is added by chance, by the size of its loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import learning
from kernbrook.errors import InputError


class SparsePA(BaseEstimator):
    """The component learner of SPA: f <- f + tau y k(x, .) with probability rho.

    With the hinge loss l = max(0, 1 - y f(x)) and rho = min(cap, l) / divisor. Step: tau =
    min(step / rho, l / k(x, x)). Admission: drawn with probability rho. Upkeep: none; the
    expected number of support vectors is at most cap / divisor for each round.

    Parameters
    ----------
    step : positive float, eta of the paper
    cap : positive float, alpha of the paper
    divisor : float, at least cap; beta of the paper
    unit_diagonal : bool
        Take k(x, x) as 1, whatever it is, as the paper's tables did for every kernel. The
        passive-aggressive step demands the division.

    References
    ----------
    Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning, algorithm 1. Examples
    with k(x, x) <= 1e-12 are not added.

    Examples
    --------
    >>> SparsePA(divisor=30)
    SparsePA(divisor=30)
    """

    choice = "learner"
    code = learning.SPARSE_PA

    def __init__(
        self,
        step: float = 0.1,
        cap: float = 1.0,
        divisor: float = 3.0,
        unit_diagonal: bool = False,
    ):
        self.step = step
        self.cap = cap
        self.divisor = divisor
        self.unit_diagonal = unit_diagonal

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        for name in ("step", "cap", "divisor"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
                raise InputError(f"SparsePA: {name} must be a positive number, got {value!r}")
        if self.divisor < self.cap:
            raise InputError(
                f"SparsePA: divisor must be at least cap ({self.cap}), got {self.divisor}"
            )
        return np.array([self.step, self.cap, self.divisor, float(self.unit_diagonal)])
