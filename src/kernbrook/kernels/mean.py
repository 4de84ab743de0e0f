"""The mean of kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernbrook.checks import Other, shown
from kernbrook.errors import InputError
from kernbrook.kernels.base import Kernel, Matrix, Values


@dataclass(frozen=True)
class Mean(Kernel):
    """The plain mean of several kernels, itself a kernel.

    Parameters
    ----------
    kernels : the kernels

    Examples
    --------
    >>> import kernbrook as kb
    >>> print(kb.Mean([kb.Linear(), kb.Gaussian(sigma=1)]))
    mean of 2 kernels
    """

    parameter_ranges: ClassVar = {"kernels": Other("a list of kernels")}

    kernels: tuple[Kernel, ...]

    def __init__(self, kernels: Sequence[Kernel]):
        several = isinstance(kernels, (list, tuple)) and len(kernels) > 0
        if not several or not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise InputError(f"Mean: expected one or more kernels, got {shown(kernels)}")
        object.__setattr__(self, "kernels", tuple(kernels))

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.mean([kernel(X, Z) for kernel in self.kernels], axis=0)

    def parts(self) -> Iterator[tuple[float, Kernel]]:
        for kernel in self.kernels:
            for weight, part in kernel.parts():
                yield weight / len(self.kernels), part

    def __str__(self) -> str:
        return f"mean of {len(self.kernels)} kernels"
