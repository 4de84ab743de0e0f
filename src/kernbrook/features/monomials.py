"""The exact features of polynomial kernels: all their monomials."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.features.base import Arrays, Features, Map, write_rows
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import Rows
from kernbrook.kernels.base import Kernel
from kernbrook.kernels.constant import without_constant
from kernbrook.kernels.polynomial import Polynomial

MOST = 65_536  # monomials: a row of them is half a megabyte


@njit(cache=True, nogil=True)
def fill_monomials(rows, chosen, factors, out):
    """out[s, f] = factors[f] times the product of the inputs chosen[f]; input d stands for 1.

    rows : (b, d); chosen : (f, degree) int from 0 to d; factors : (f,); out : (b, f)
    """
    b, d = rows.shape
    inputs = np.ones(d + 1)
    for s in range(b):
        for k in range(d):
            inputs[k] = rows[s, k]
        for f in range(chosen.shape[0]):
            value = factors[f]
            for k in range(chosen.shape[1]):
                value *= inputs[chosen[f, k]]
            out[s, f] = value


class OneByOne(NamedTuple):
    """The monomials of `fill_monomials` one by one; start : the place of the first."""

    chosen: NDArray[np.int64]
    factors: Floats
    start: int


@write_rows.of(OneByOne)
def _write_rows(rule, X, out):
    shape = X.shape[0], rule.chosen.shape[0]
    block = out[rule.start : rule.start + shape[0] * shape[1]].reshape(shape)
    fill_monomials(X, rule.chosen, rule.factors, block)


class MonomialMap(Map):
    """The monomials of a polynomial kernel, each a product of inputs."""

    def __init__(self, kernel: Kernel, features: Features, width: int, arrays: Arrays):
        super().__init__(kernel, features, width, arrays)
        self._chosen, self._factors = monomials(kernel, width)

    def fill(self, rows: Rows, out: Floats) -> None:
        fill_monomials(rows.dense(), self._chosen, self._factors, out)

    def rule(self, start: int) -> OneByOne:
        return OneByOne(self._chosen, self._factors, start)


class Monomials(Features):
    """The exact features of a polynomial kernel: <z(x), z(x')> = (x . x' + offset)^degree.

    By the multinomial theorem: a feature for each product of `degree` of the inputs and of
    sqrt(offset), repetitions allowed, times the root of the number of its orders. C(d + p - 1, p)
    features for d inputs, degree p and offset 0; C(d + p, p) with an offset. One more, which is 1,
    where a regressor has added 1 to the kernel (`center`).

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

    map = MonomialMap

    def dim(self, kernel: Kernel, width: int) -> int:
        polynomial, n, ones = variables_of(kernel, width)
        size = math.comb(n + polynomial.degree - 1, int(polynomial.degree)) + ones
        if size > MOST:
            raise InputError(
                f"Monomials: {polynomial} of {width:,} features has {size:,} monomials, more than "
                f"{MOST:,}; take Nystroem. Rows of any width are for learners on "
                "kernels, such as BPAS() (--recipe bpas), and for OnlineMKClassifier() and "
                "OnlineMKRegressor() as they are"
            )
        return size

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        return {}


def variables_of(kernel: Kernel, width: int) -> tuple[Polynomial, int, int]:
    """The polynomial, how many variables it has, and how often 1 was added to it.

    Variables are the inputs, and the root of the offset.
    """
    polynomial, ones = without_constant(kernel)
    if not isinstance(polynomial, Polynomial):
        raise InputError(f"Monomials: expected a Polynomial or Linear kernel, got {polynomial!r}")
    if polynomial.offset < 0:
        raise InputError(
            "Monomials: a polynomial kernel has features for an offset from 0, got "
            f"{polynomial.offset}"
        )
    return polynomial, width + (polynomial.offset > 0), ones


def monomials(kernel: Kernel, width: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The f monomials: (f, degree) numbers of inputs, `width` for none; (f,) factors.

    Powers of sqrt(offset) are in the factors.
    """
    polynomial, n, ones = variables_of(kernel, width)
    degree = int(polynomial.degree)
    chosen = list(combinations_with_replacement(range(n), degree))
    try:
        factors = [
            math.sqrt(_orders(key)) * math.sqrt(polynomial.offset) ** key.count(width)
            for key in chosen
        ]
    except OverflowError as error:
        raise InputError(
            f"Monomials: factors of {polynomial} overflow; lower its offset"
        ) from error
    chosen += [(width,) * degree] * ones
    return np.array(chosen, dtype=np.int64).reshape(-1, degree), np.array(factors + [1.0] * ones)


def _orders(chosen: tuple[int, ...]) -> int:
    """The multinomial coefficient: in how many orders these can be written."""
    total = math.factorial(len(chosen))
    for times in Counter(chosen).values():
        total //= math.factorial(times)
    return total
