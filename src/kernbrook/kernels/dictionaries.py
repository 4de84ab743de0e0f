"""The papers' pools of kernels, by name, and what else `kernels=` may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbrook.checks import shown
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.kernels.base import Kernel
from kernbrook.kernels.callable import Callable
from kernbrook.kernels.gaussian import Gaussian
from kernbrook.kernels.polynomial import Polynomial


def omkc16() -> tuple[Kernel, ...]:
    """The 16 kernels of Hoi, Jin, Zhao, Yang (2013), section 5.1.

    (x.z)^p with p = 1, 2, 3, and Gaussians with sigma = 2^-6 ... 2^6.

    Examples
    --------
    >>> [str(kernel) for kernel in omkc16()][:4]
    ['x.z', '(x.z)^2', '(x.z)^3', 'exp(-||x-z||^2 / (2 * 0.015625^2))']
    """
    polynomials = [Polynomial(degree) for degree in (1, 2, 3)]
    return (*polynomials, *(Gaussian(sigma=2.0**power) for power in range(-6, 7)))


def amkl17() -> tuple[Kernel, ...]:
    """The 17 Gaussians of Chae and Hong (2021): sigma_i^2 = 10^((i-9)/2), i = 1 ... 17.

    Examples
    --------
    >>> len(amkl17()), amkl17()[8]
    (17, Gaussian(gamma=0.5))
    """
    return tuple(Gaussian(gamma=0.5 * 10.0 ** ((9 - i) / 2)) for i in range(1, 18))


DICTIONARIES = {"omkc16": omkc16, "amkl17": amkl17}


def resolve(kernels: Any) -> tuple[Kernel, ...]:
    """The kernels that a `kernels=` argument stands for.

    Parameters
    ----------
    kernels : name of a dictionary, a kernel, a Python function of two arrays, or a sequence of
        kernels and functions

    Raises
    ------
    InputError
        Nothing of these, or an empty sequence.
    UnknownNameError
        No dictionary has that name.

    Examples
    --------
    >>> len(resolve("omkc16"))
    16
    """
    if isinstance(kernels, str):
        if kernels == "precomputed":
            raise InputError(
                "kernels: for a matrix of kernel values expected Precomputed(matrix), with row "
                "numbers of shape (n, 1) as X; got 'precomputed'"
            )
        if kernels not in DICTIONARIES:
            raise UnknownNameError("kernel dictionary", kernels, DICTIONARIES)
        return DICTIONARIES[kernels]()
    if isinstance(kernels, Kernel) or callable(kernels):
        kernels = [kernels]
    if not isinstance(kernels, Sequence) or len(kernels) == 0:
        raise InputError(
            "kernels: expected a dictionary's name, a kernel or a list of kernels, got "
            f"{_found(kernels)}"
        )
    return tuple(_kernel(kernel) for kernel in kernels)


def of_vectors(kernels: Sequence[Kernel]) -> bool:
    """Whether all kernels are of vectors, and none of row numbers."""
    return all(part.of_vectors for kernel in kernels for _, part in kernel.parts())


def check_vectors(option: str, kernels: Sequence[Kernel]) -> None:
    """InputError where an option that changes vectors goes with a kernel of row numbers."""
    for kernel in kernels:
        if not of_vectors([kernel]):
            raise InputError(f"{option}: is for vectors, but the kernel {kernel} takes row numbers")


def _kernel(kernel: Any) -> Kernel:
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return Callable(kernel)
    raise InputError(
        f"kernels: expected a kernel or a function of two arrays, got {_found(kernel)}"
    )


def _found(kernels: Any) -> str:
    if isinstance(kernels, np.ndarray):
        return f"an array of shape {kernels.shape}; kernel values go in as Precomputed(matrix)"
    return shown(kernels)
