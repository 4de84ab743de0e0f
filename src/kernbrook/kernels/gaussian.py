"""The Gaussian kernel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kernbrook.kernels.base import Matrix, Step, Values, Width, squared_distances
from kernbrook.kernels.spectra import Floats, ShiftInvariant, normal_frequencies
from kernbrook.numerics.arithmetic import UNDERFLOW, exp_negative
from kernbrook.numerics.plan import SQUARED
from kernbrook.numerics.values import fill, raise_to


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


class ExponentialStep(NamedTuple):
    """exp(-parameter * source), of power 1; else that power of the previous step's values.

    Kernels whose widths are in an integer ratio share one exponential.
    """


@fill.of(ExponentialStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    if power > 1:
        raise_to(values, lo, hi, power)
        return True
    alive = False
    for j in range(lo, hi):
        alive |= source[j] * parameter <= UNDERFLOW
    if not alive:
        return False
    for j in range(lo, hi):
        values[0, j] = exp_negative(-parameter * source[j])
    return True
