"""A constant beside kernels whose functions have none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernbrook.kernels.base import Kernel, Matrix, Step, Values
from kernbrook.kernels.callable import is_given
from kernbrook.kernels.cauchy import CauchyStep
from kernbrook.kernels.polynomial import Polynomial
from kernbrook.numerics.plan import INNER


@dataclass(frozen=True)
class Constant(Kernel):
    """1, whatever the examples."""

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.ones((np.shape(X)[0], np.shape(Z)[0]))

    def step(self) -> Step:
        return Step(CauchyStep, INNER)  # 1 / (1 + 0 x.z)

    def __str__(self) -> str:
        return "1"


@dataclass(frozen=True)
class WithConstant(Kernel):
    """A kernel plus 1: its functions, and the constants."""

    kernel: Kernel

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return self.kernel(X, Z) + 1.0

    def parts(self) -> Iterator[tuple[float, Kernel]]:
        yield from self.kernel.parts()
        yield 1.0, Constant()

    def __str__(self) -> str:
        return f"{self.kernel} + 1"


def with_constant(kernel: Kernel, width: int) -> Kernel:
    """The kernel, or with 1 added where its functions have no constant: they are all 0 at 0."""
    if isinstance(kernel, Polynomial) and (kernel.degree, kernel.offset) == (1, 0.0):
        return Polynomial(1, offset=1.0)
    return WithConstant(kernel) if _vanishes(kernel, width) else kernel


def without_constant(kernel: Kernel) -> tuple[Kernel, int]:
    """The kernel that 1 was perhaps added to; how often it was."""
    return (kernel.kernel, 1) if isinstance(kernel, WithConstant) else (kernel, 0)


def _vanishes(kernel: Kernel, width: int) -> bool:
    """Whether the kernel is 0 where one example is 0; not where a function cannot be asked."""
    parts = [part for _, part in kernel.parts()]
    if not all(part.of_vectors for part in parts):
        return False
    d = width if any(map(is_given, parts)) else 1  # ours take any
    try:
        with np.errstate(all="ignore"):
            return not np.any(kernel(np.zeros((1, d)), np.stack([np.zeros(d), np.ones(d)])))
    except Exception:  # a function may refuse a row that no stream has
        return False
