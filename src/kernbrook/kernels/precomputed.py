"""Kernel values that are known already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import Other
from kernbrook.errors import InputError
from kernbrook.kernels.base import Kernel, Matrix, Values, dense, numbers_in


@dataclass(frozen=True, eq=False)
class Precomputed(Kernel):
    """Values looked up in a matrix; an example is then the number of its row in it.

    Parameters
    ----------
    matrix : (N, N) array of kernel values
    name : printed as the formula

    Raises
    ------
    InputError
        The matrix is not square, symmetric and finite, or X is not one column of row numbers.

    Notes
    -----
    X has one column, the row numbers 0 .. N-1, in any order and as often as they come.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]]))([[1]], [[0], [1]])
    array([[1., 3.]])
    """

    of_vectors = False

    parameter_ranges: ClassVar = {
        "matrix": Other("an (N, N) array of finite numbers"),
        "name": Other("a text"),
    }

    matrix: Values
    name: str = "K[x, z]"

    def __post_init__(self) -> None:
        found = numbers_in(self.matrix, "Precomputed: expected a square matrix of numbers")
        matrix = np.array(found, dtype=np.float64, order="C")  # of its own: kernels do not change
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"Precomputed: expected a square matrix, got shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise InputError("Precomputed: the matrix has NaN or infinite values")
        object.__setattr__(self, "matrix", matrix)

    def _rows(self, X: Matrix) -> NDArray[np.int64]:
        X = dense(X)
        n = len(self.matrix)
        if X.shape[1] != 1:
            raise InputError(f"Precomputed: X must be one column of row numbers, got {X.shape}")
        numbers = X[:, 0]
        wrong = ~((numbers >= 0) & (numbers < n) & (numbers == np.floor(numbers)))  # NaN is
        if wrong.any():
            raise InputError(
                f"Precomputed: {X[wrong.argmax(), 0]:g} is no row of a {n} x {n} matrix"
            )
        return numbers.astype(np.int64)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return self.matrix[np.ix_(self._rows(X), self._rows(Z))]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Precomputed):
            return NotImplemented
        return self.name == other.name and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix.shape, self.name))

    def __str__(self) -> str:
        return self.name
