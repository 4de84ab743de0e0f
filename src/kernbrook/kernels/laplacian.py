"""The Laplacian kernel."""

from __future__ import annotations

import numpy as np

from kernbrook.kernels.base import Matrix, Step, Values, Width, pairwise
from kernbrook.kernels.gaussian import ExponentialStep
from kernbrook.kernels.spectra import Floats, ShiftInvariant
from kernbrook.numerics.plan import MANHATTAN


class Laplacian(Width, ShiftInvariant):
    """exp(-||x - z||_1 / sigma) = exp(-gamma ||x - z||_1), as scikit-learn's laplacian_kernel.

    Parameters
    ----------
    sigma : width, in the unit of the features; or
    gamma : 1 / sigma

    Examples
    --------
    >>> print(Laplacian(gamma=2))
    exp(-2 ||x-z||_1)
    """

    isotropic, product = False, True

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / sigma

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.exp(-self.gamma * pairwise(X, Z, lambda difference: np.abs(difference).sum(1)))

    def step(self) -> Step:
        return Step(ExponentialStep, MANHATTAN, self.gamma)

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        """Cauchy numbers with scale gamma in each coordinate."""
        return self.gamma * generator.standard_cauchy((n, width))

    def __str__(self) -> str:
        return self._formula("exp(-||x-z||_1 / %)", "exp(-% ||x-z||_1)")
