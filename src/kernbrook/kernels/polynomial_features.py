"""Features of polynomial kernels: all monomials, or a sketch of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import whole_number
from kernbrook.errors import InputError
from kernbrook.kernels.features import Arrays, Features, Shapes
from kernbrook.kernels.functions import Kernel, Polynomial

MOST = 65_536  # monomials: a row of them is half a megabyte


def variables(recipe: str, kernel: Kernel, width: int) -> int:
    """How many variables the polynomial has: the inputs, and the root of the offset.

    Raises
    ------
    InputError
        The kernel is not a polynomial, or not positive definite.
    """
    if not isinstance(kernel, Polynomial):
        raise InputError(f"{recipe}: expected a Polynomial or Linear kernel, got {kernel!r}")
    if kernel.offset < 0:
        raise InputError(
            f"{recipe}: a polynomial kernel has features for an offset from 0, got {kernel.offset}"
        )
    return width + (kernel.offset > 0)


class Monomials(Features):
    """The exact features of a polynomial kernel: <z(x), z(x')> = (x . x' + offset)^degree.

    By the multinomial theorem: a feature for each product of `degree` of the inputs and of
    sqrt(offset), repetitions allowed, times the root of the number of its orders. C(d + p - 1, p)
    features for d inputs, degree p and offset 0; C(d + p, p) with an offset.

    Raises
    ------
    InputError
        The kernel is not a polynomial, its offset is negative, or there would be more than 65,536
        features.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.Monomials().dim(kb.Polynomial(2, offset=1), 3)
    10
    """

    def dim(self, kernel: Kernel, width: int) -> int:
        n = variables("Monomials", kernel, width)
        assert isinstance(kernel, Polynomial)
        size = math.comb(n + kernel.degree - 1, int(kernel.degree))
        if size > MOST:
            raise InputError(
                f"Monomials: {kernel} of {width} features has {size:,} monomials, more than "
                f"{MOST:,}; take TensorSketch or Nystroem"
            )
        return size

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        return {}


def monomials(kernel: Polynomial, width: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """What the f monomials multiply: (f, degree) numbers of inputs, `width` for none; (f,) factors.

    Powers of sqrt(offset) are in the factors.
    """
    n = variables("Monomials", kernel, width)
    degree = int(kernel.degree)
    chosen = list(combinations_with_replacement(range(n), degree))
    try:
        factors = [
            math.sqrt(_orders(one)) * math.sqrt(kernel.offset) ** one.count(width) for one in chosen
        ]
    except OverflowError as error:
        raise InputError(f"Monomials: factors of {kernel} overflow; lower its offset") from error
    return np.array(chosen, dtype=np.int64).reshape(-1, degree), np.array(factors)


def _orders(chosen: tuple[int, ...]) -> int:
    """The multinomial coefficient: in how many orders these can be written."""
    total = math.factorial(len(chosen))
    for times in Counter(chosen).values():
        total //= math.factorial(times)
    return total


class TensorSketch(Features):
    """A sketch of a polynomial kernel's monomials: E <z(x), z(x')> = (x . x' + offset)^degree.

    `degree` count sketches of x, convolved with one another by the Fourier transform. The cost
    grows with degree (d + D log D), however many monomials there are; the error falls like
    1 / sqrt(D).

    Parameters
    ----------
    n_components : int, D
        Features.

    References
    ----------
    Pham and Pagh (2013), Fast and scalable polynomial kernels via explicit feature maps,
    algorithm 1. Hashes are drawn as tables, one entry an input.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.TensorSketch(128).dim(kb.Polynomial(3), 1000)
    128
    """

    def __init__(self, n_components: int = 256):
        self.n_components = n_components

    def dim(self, kernel: Kernel, width: int) -> int:
        variables("TensorSketch", kernel, width)
        return whole_number(self, "n_components")

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        assert isinstance(kernel, Polynomial)
        shape = int(kernel.degree), variables("TensorSketch", kernel, width)
        return {"buckets": (shape, np.int64), "signs": (shape, np.float64)}

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        n = self.dim(kernel, width)
        shape = self.shapes(kernel, width)["buckets"][0]
        buckets = generator.integers(n, size=shape)
        return {"buckets": buckets, "signs": generator.choice([-1.0, 1.0], size=shape)}

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        buckets, signs = arrays["buckets"], arrays["signs"]
        if not ((buckets >= 0) & (buckets < self.n_components)).all():
            raise InputError(f"buckets: expected numbers from 0 to {self.n_components - 1}")
        if not (np.abs(signs) == 1).all():
            raise InputError("signs: expected -1 and 1")
