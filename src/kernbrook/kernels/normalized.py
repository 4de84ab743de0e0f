"""Polynomials of the angle between two examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernbrook.checks import Number, Whole, check
from kernbrook.kernels.base import Kernel, Matrix, Values, dense, number
from kernbrook.kernels.polynomial import LARGEST_DEGREE


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
        X, Z = dense(X), dense(Z)
        own, other = (self.shortening(np.einsum("ij,ij->i", A, A)) for A in (X, Z))
        return np.power((X @ Z.T + self.offset) * (own[:, None] * other), float(self.degree))

    def shortening(self, norms: Values) -> Values:
        """(n,) factors that give examples with squared norms, (n,), and the offset length 1."""
        lengths = np.sqrt(norms + self.offset)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def __str__(self) -> str:
        bare, more = ("x.z", "x.x", "z.z"), number(self.offset)
        xz, xx, zz = bare if self.offset == 0 else (f"({one} + {more})" for one in bare)
        cosine = f"{xz} / sqrt({xx} {zz})"
        return cosine if self.degree == 1 else f"({cosine})^{self.degree}"
