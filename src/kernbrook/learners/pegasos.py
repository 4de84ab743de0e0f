"""Multi-class Pegasos, whole or on a budget that is kept by removal, projection or merging."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit import learning
from kernbrook._jit.pegasos import KEEP_ALL, MERGE, PROJECT, REMOVE_RANDOM, REMOVE_SMALLEST
from kernbrook.checks import flag, one_of, positive
from kernbrook.kernels import Gaussian, Kernel
from kernbrook.learners.budgeted import Budgeted

UPKEEP = {
    "random": REMOVE_RANDOM,
    "smallest": REMOVE_SMALLEST,
    "project": PROJECT,
    "merge": MERGE,
}
MERGING = ("exact", "printed")


class Pegasos(Budgeted):
    """Stochastic gradient descent on the regularised multi-class hinge loss.

    At example t, with eta = 1 / (regularization t): w <- (1 - 1/t) w. Admission: the label's class
    was less than 1 ahead of the best other. Step: eta for the label's class, -eta for the other.
    Upkeep: see `upkeep`; then w is scaled into the ball of radius 1 / sqrt(regularization). Of two
    classes, each has half of the score.

    Parameters
    ----------
    budget : int or None
        Support vectors of each kernel; None keeps all.
    regularization : positive float, lambda of the paper
    upkeep : "merge", "project", "smallest" or "random"
        What happens to the support vector of the smallest norm when there is one too many. It is
        merged with the partner that loses least, projected on the others, or removed; "random"
        removes any. Only Gaussian kernels can merge: the others project.
    ball : bool, whether to scale into the ball
    merging : "exact" or "printed"
        Where the merged point lies: "exact" maximises what is kept; "printed" is equation 21 of
        the paper, which gives its table.

    Notes
    -----
    O(budget) for an example that is learned from, O(budget^2) under "project", beside the kernel
    values. With merging, support vectors are no rows of the data, and are kept dense.

    References
    ----------
    Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget, algorithm 1.

    Examples
    --------
    >>> Pegasos(budget=50)
    Pegasos(budget=50)
    """

    code = learning.PEGASOS

    def __init__(
        self,
        budget: int | None = None,
        regularization: float = 1e-4,
        upkeep: str = "merge",
        ball: bool = True,
        merging: str = "exact",
    ):
        self.budget = budget
        self.regularization = regularization
        self.upkeep = upkeep
        self.ball = ball
        self.merging = merging

    def slots(self) -> int | None:
        """One more than the budget, checked; None where there is none."""
        if self.budget is None:
            return None
        budget = super().slots()
        assert budget is not None
        return budget + 1

    def rows(self, kernels: Sequence[Kernel]) -> NDArray[np.float64]:
        """(m, 4) parameters as the compiled pass reads them, one row a kernel."""
        for name, known in (("upkeep", UPKEEP), ("merging", MERGING)):
            one_of(self, name, known)
        ball = float(flag(self, "ball"))
        upkeep = KEEP_ALL if self.budget is None else UPKEEP[self.upkeep]
        printed = float(self.merging == "printed")
        row = [positive(self, "regularization"), upkeep, ball, printed]
        rows = np.tile(np.array(row), (len(kernels), 1))
        if upkeep == MERGE:
            rows[[not isinstance(kernel, Gaussian) for kernel in kernels], 1] = PROJECT
        return rows

    def keeps(self, kernels: Sequence[Kernel]) -> set[str]:
        """What the slots hold beside coefficients and points."""
        if self.budget is None:
            return set()
        upkeep = self.rows(kernels)[:, 1]
        kept = {"gram"}
        kept |= {"factor"} if (upkeep == PROJECT).any() else set()
        return kept | ({"points"} if (upkeep == MERGE).any() else set())
