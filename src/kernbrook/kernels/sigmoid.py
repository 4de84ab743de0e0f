"""The sigmoid kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kernbrook.checks import check
from kernbrook.kernels.base import (
    WIDE,
    WIDE_POSITIVE,
    Kernel,
    Matrix,
    Step,
    Values,
    dense,
    number,
)
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.plan import INNER
from kernbrook.numerics.values import fill


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(gamma x . z + offset). Not positive definite in general.

    Parameters
    ----------
    gamma : positive float
    offset : float

    Examples
    --------
    >>> print(Sigmoid(gamma=0.5, offset=-1))
    tanh(0.5 x.z + -1)
    """

    parameter_ranges: ClassVar = {"gamma": WIDE_POSITIVE, "offset": WIDE}

    gamma: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        check(self)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.tanh(self.gamma * (dense(X) @ dense(Z).T) + self.offset)

    def step(self) -> Step:
        return Step(SigmoidStep, INNER, self.gamma, self.offset)

    def __str__(self) -> str:
        return f"tanh({number(self.gamma)} x.z + {number(self.offset)})"


class SigmoidStep(NamedTuple):
    """tanh(parameter * source + offset)."""


@fill.of(SigmoidStep)
def _fill(kind, source, values, lo, hi, parameter, offset, power):
    for j in range(lo, hi):
        values[0, j] = math.tanh(fma(parameter, source[j], offset))
    return True
