"""Polynomial kernels, and the linear one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kernbrook.checks import Whole, check
from kernbrook.kernels.base import WIDE, Kernel, Matrix, Step, Values, dense, number
from kernbrook.numerics.plan import INNER
from kernbrook.numerics.values import fill, raise_to

LARGEST_DEGREE = 1000  # compiled loops, which nothing stops, go up to it


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(x . z + offset)^degree.

    Parameters
    ----------
    degree : int from 1 to 1,000
    offset : float

    Raises
    ------
    InputError
        The degree is no such integer, or the offset not finite.

    Examples
    --------
    >>> print(Polynomial(3), Polynomial(2, offset=1), sep="; ")
    (x.z)^3; (x.z + 1)^2
    """

    parameter_ranges: ClassVar = {"degree": Whole(1, LARGEST_DEGREE), "offset": WIDE}

    degree: int
    offset: float = 0.0

    def __post_init__(self) -> None:
        check(self)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.power(dense(X) @ dense(Z).T + self.offset, float(self.degree))

    def step(self) -> Step:
        return Step(PolynomialStep, INNER, self.offset, power=self.degree)

    def __str__(self) -> str:
        base = "x.z" if self.offset == 0 else f"x.z + {number(self.offset)}"
        if self.degree == 1:
            return base
        return f"({base})^{self.degree}"


@dataclass(frozen=True)
class Linear(Polynomial):
    """x . z: the polynomial of degree 1.

    Examples
    --------
    >>> print(Linear())
    x.z
    """

    degree: int = 1
    offset: float = 0.0

    def __init__(self) -> None:
        pass

    def __repr__(self) -> str:
        return "Linear()"


class PolynomialStep(NamedTuple):
    """(source + parameter)^power."""


@fill.of(PolynomialStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = source[j] + parameter
    raise_to(values, lo, hi, power)
    return True
