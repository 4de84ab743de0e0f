"""Polynomials of the angle between two examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from kernbrook.checks import Number, Whole, check
from kernbrook.compiler.compiling import njit
from kernbrook.kernels.base import Kernel, Matrix, Step, Values, dense, number
from kernbrook.kernels.planning import Layout
from kernbrook.kernels.polynomial import LARGEST_DEGREE, Linear, PolynomialStep


@dataclass(frozen=True)
class NormalizedPolynomial(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)) of the polynomial k(x, z) = (x . z + offset)^degree.

    The power of the cosine of the angle between x and z, to each of which sqrt(offset) was added as
    a feature. Its values lie between -1 and 1, whatever the examples' lengths and the degree.

    Parameters
    ----------
    degree : int from 1 to 1,000
    offset : float from 0. With 0, examples of length 0 have the value 0 with all.

    Raises
    ------
    InputError
        The degree is no such integer, or the offset negative or not finite.

    References
    ----------
    Graf, Smola, Borer (2003), Classification in a normalized feature space using support vector
    machines.

    Examples
    --------
    >>> print(NormalizedPolynomial(3))
    ((x.z + 1) / sqrt((x.x + 1) (z.z + 1)))^3
    >>> NormalizedPolynomial(2, offset=0)([[3.0, 4.0]], [[30.0, 40.0], [4.0, -3.0]])
    array([[1., 0.]])
    """

    parameter_ranges: ClassVar = {
        "degree": Whole(1, LARGEST_DEGREE),
        "offset": Number(0, any_size=True),
    }

    degree: int
    offset: float = 1.0

    def __post_init__(self) -> None:
        check(self)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.power(Cosine(self.offset)(X, Z), float(self.degree))

    def step(self) -> Step:
        return Step(PolynomialStep, Cosine(self.offset), power=self.degree)

    def __str__(self) -> str:
        cosine = str(Cosine(self.offset))
        return cosine if self.degree == 1 else f"({cosine})^{self.degree}"


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine of the angle between x and z, to each of which sqrt(offset) was added."""

    by_threads = True

    offset: float

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        X, Z = dense(X), dense(Z)
        left, right = (self._shortening(np.einsum("ij,ij->i", A, A)) for A in (X, Z))
        return (X @ Z.T + self.offset) * (left[:, None] * right)

    def between(self, points: Any, rows: Any, out: Values) -> None:
        products = rows.pairs(_inner_products(), points)[0]
        left, right = self._shortening(points.norms), self._shortening(rows.norms)
        cosines(products, self.offset, left, right, out)

    def _shortening(self, norms: Values) -> Values:
        """(n,) factors that give examples with squared norms, (n,), and the offset length 1."""
        lengths = np.sqrt(norms + self.offset)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def __str__(self) -> str:
        bare, more = ("x.z", "x.x", "z.z"), number(self.offset)
        xz, xx, zz = bare if self.offset == 0 else (f"({term} + {more})" for term in bare)
        return f"{xz} / sqrt({xx} {zz})"


@njit(cache=True, nogil=True)
def cosines(products, offset, left, right, out):
    """out = (products + offset) times both factors of a pair, (n,) and (b,); (n, b) in and out."""
    for s in range(np.uintp(out.shape[0])):
        for j in range(np.uintp(out.shape[1])):
            out[s, j] = (products[s, j] + offset) * (left[s] * right[j])


@cache
def _inner_products() -> Layout:
    """x . z alone, of 64 bits."""
    return Layout([Linear()])
