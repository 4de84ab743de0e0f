"""The Gaussian kernel."""

from __future__ import annotations

import math

import numpy as np

from kernbrook.kernels.base import Matrix, Step, Values, Width, squared_distances
from kernbrook.kernels.exponential import ExponentialStep
from kernbrook.kernels.spectra import Floats, ShiftInvariant, normal_frequencies
from kernbrook.numerics.arithmetic import UNDERFLOW
from kernbrook.numerics.plan import SQUARED


class Gaussian(Width, ShiftInvariant):
    """exp(-||x - z||^2 / (2 sigma^2)) = exp(-gamma ||x - z||^2).

    Parameters
    ----------
    sigma : width, in the unit of the features; or
    gamma : 1 / (2 sigma^2)

    Raises
    ------
    InputError
        Both or neither given, or not a positive number.

    Examples
    --------
    >>> print(Gaussian(sigma=4))
    exp(-||x-z||^2 / (2 * 4^2))
    >>> Gaussian(gamma=0.5)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    product = True

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / (2.0 * sigma * sigma)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.exp(-self.gamma * squared_distances(X, Z))

    def step(self) -> Step:
        return Step(ExponentialStep, SQUARED, self.gamma, reach=UNDERFLOW / self.gamma)

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        normal, _ = normal_frequencies(n, width, way, generator)
        return math.sqrt(2.0 * self.gamma) * normal

    def __str__(self) -> str:
        return self._formula("exp(-||x-z||^2 / (2 * %^2))", "exp(-% ||x-z||^2)")
