"""The Cauchy kernel, also called rational quadratic of order 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kernbrook.kernels.base import Matrix, Step, Values, Width, squared_distances
from kernbrook.kernels.spectra import Floats, ShiftInvariant, normal_frequencies
from kernbrook.numerics.plan import SQUARED
from kernbrook.numerics.values import fill


class Cauchy(Width, ShiftInvariant):
    """1 / (1 + ||x - z||^2 / sigma^2) = 1 / (1 + gamma ||x - z||^2).

    Parameters
    ----------
    sigma : width, in the unit of the features; or
    gamma : 1 / sigma^2

    Examples
    --------
    >>> print(Cauchy(sigma=2))
    1 / (1 + ||x-z||^2 / 2^2)
    """

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / (sigma * sigma)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return 1.0 / (1.0 + self.gamma * squared_distances(X, Z))

    def step(self) -> Step:
        return Step(CauchyStep, SQUARED, self.gamma)

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        """Normal ones, lengthened by sqrt(e), e exponential with mean 1."""
        normal, uniform = normal_frequencies(n, width, way, generator)
        lengths = math.sqrt(2.0 * self.gamma) * np.sqrt(-np.log1p(-uniform))
        return lengths[:, None] * normal

    def __str__(self) -> str:
        return self._formula("1 / (1 + ||x-z||^2 / %^2)", "1 / (1 + % ||x-z||^2)")


class CauchyStep(NamedTuple):
    """1 / (1 + parameter * source)."""


@fill.of(CauchyStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = 1.0 / (1.0 + parameter * source[j])
    return True
