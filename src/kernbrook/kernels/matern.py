"""The Matern kernels that have closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kernbrook.checks import OneOf, check_values
from kernbrook.compiler.compiling import njit
from kernbrook.kernels.base import Matrix, Step, Values, Width, squared_distances
from kernbrook.kernels.spectra import Floats, ShiftInvariant, normal_frequencies
from kernbrook.numerics.arithmetic import LOWEST, UNDERFLOW, exp_negative, fma
from kernbrook.numerics.plan import SQUARED
from kernbrook.numerics.values import fill


@dataclass(frozen=True, init=False, repr=False)
class Matern(Width, ShiftInvariant):
    """The Matern kernel of smoothness nu.

    With s = sqrt(2 nu) ||x - z|| / sigma: exp(-s) for nu = 0.5, (1 + s) exp(-s) for 1.5,
    (1 + s + s^2 / 3) exp(-s) for 2.5. The larger nu, the nearer to the Gaussian of that width.

    Parameters
    ----------
    nu : 0.5, 1.5 or 2.5
    sigma : width, in the unit of the features; or
    gamma : 1 / (2 sigma^2)

    Raises
    ------
    InputError
        nu is none of these, or the width is not one positive number.

    References
    ----------
    Rasmussen and Williams (2006), Gaussian processes for machine learning, equation 4.17.

    Examples
    --------
    >>> print(Matern(1.5, sigma=2))
    (1 + s) exp(-s), s = sqrt(3) ||x-z|| / 2
    >>> Matern(0.5, sigma=1)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679]])
    """

    parameter_ranges: ClassVar = {"nu": OneOf((0.5, 1.5, 2.5))}

    nu: float

    def __init__(
        self,
        nu: float = 1.5,
        *unnamed: Any,
        sigma: float | None = None,
        gamma: float | None = None,
    ):
        check_values(type(self), {"nu": nu})
        super().__init__(*unnamed, sigma=sigma, gamma=gamma)
        object.__setattr__(self, "nu", float(nu))

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / (2.0 * sigma * sigma)

    @property
    def rate(self) -> float:
        """2 nu / sigma^2: s^2 is this times the squared distance."""
        return 4.0 * self.nu * self.gamma

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        s = np.sqrt(self.rate * squared_distances(X, Z))
        factor = {0.5: 1.0, 1.5: 1.0 + s, 2.5: 1.0 + s + s * s / 3.0}[self.nu]
        return factor * np.exp(-s)

    def step(self) -> Step:
        order = round(self.nu - 0.5)
        return Step(MaternStep, SQUARED, self.rate, power=order, reach=UNDERFLOW**2 / self.rate)

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        """Normal ones, lengthened by sqrt(nu / g), g of the gamma distribution with shape nu."""
        from scipy.special import gammaincinv

        normal, uniform = normal_frequencies(n, width, way, generator)
        shares = np.maximum(gammaincinv(self.nu, uniform), np.finfo(np.float64).tiny)
        lengths = math.sqrt(2.0 * self.gamma) * np.sqrt(self.nu / shares)
        return lengths[:, None] * normal

    def __str__(self) -> str:
        factor = {0.5: "", 1.5: "(1 + s) ", 2.5: "(1 + s + s^2/3) "}[self.nu]
        root = f"sqrt({2 * self.nu:g}) " if self.nu > 0.5 else ""
        distance = self._formula("||x-z|| / %", "sqrt(2 * %) ||x-z||")
        return f"{factor}exp(-s), s = {root}{distance}"


class MaternStep(NamedTuple):
    """The Matern kernel of smoothness power + 1/2, at s^2 = parameter * source."""


@njit(inline="always")
def _matern(square, order):
    """The Matern kernel of smoothness order + 1/2, order 0, 1 or 2, of s^2."""
    s = min(math.sqrt(square), -LOWEST)
    first = 1.0 if order > 0 else 0.0
    second = 1.0 / 3.0 if order > 1 else 0.0
    return fma(fma(second, s, first), s, 1.0) * exp_negative(-s)


@fill.of(MaternStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = _matern(parameter * source[j], power)
    return True
