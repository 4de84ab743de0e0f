"""Online passive-aggressive learning with a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import learning
from kernbrook.checks import flag, one_of, positive

VARIANTS = {"PA": learning.PA, "PA-I": learning.PA_I, "PA-II": learning.PA_II}


class PassiveAggressive(BaseEstimator):
    """Where the hinge loss is positive, the smallest change of f that meets the margin.

    Step: tau = loss / k(x, x) for PA, min(C, loss / k(x, x)) for PA-I, loss / (k(x, x) + 1/(2C))
    for PA-II. Admission: the hinge loss max(0, 1 - y f(x)) is positive. Upkeep: none, the
    support set grows.

    Parameters
    ----------
    variant : "PA", "PA-I" or "PA-II"
    aggressiveness : positive float
        C of the paper; PA does not use it.
    unit_diagonal : bool
        Take k(x, x) as 1, whatever it is.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), Online passive-aggressive algorithms,
    figure 1.

    Examples
    --------
    >>> PassiveAggressive("PA-II", aggressiveness=0.1)
    PassiveAggressive(aggressiveness=0.1, variant='PA-II')
    """

    choice = "learner"
    store = "expansion"
    code = learning.PASSIVE_AGGRESSIVE

    def __init__(
        self, variant: str = "PA-I", aggressiveness: float = 1.0, unit_diagonal: bool = False
    ):
        self.variant = variant
        self.aggressiveness = aggressiveness
        self.unit_diagonal = unit_diagonal

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        variant = VARIANTS[one_of(self, "variant", VARIANTS)]
        return np.array([variant, positive(self, "aggressiveness"), flag(self, "unit_diagonal")])
