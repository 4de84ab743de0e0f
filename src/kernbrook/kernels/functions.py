"""The kernels. Each is a small immutable object that evaluates, and prints as its formula.

`kernel(X, Z)` gives the (n, m) matrix of values by plain NumPy: slow, obvious, and what the
compiled engine is tested against.
"""

from __future__ import annotations

import math
from collections.abc import Callable as Function
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import is_number, is_whole, shown
from kernbrook.errors import InputError
from kernbrook.sparse import as_csr

LARGEST_DEGREE = 1000  # of a polynomial: compiled loops, which nothing stops, go up to it
Matrix = Any  # (n, d) float64 array or CSR matrix
Values = NDArray[np.float64]


def _dense(X: Matrix) -> Values:
    return np.asarray(as_csr(X).toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _float(value: Any) -> float:
    """A number as a float: infinite where it is a larger integer."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _positive(kernel: str, **values: float) -> None:
    for name, value in values.items():
        if not (is_number(value) and 0 < _float(value) < np.inf):
            raise InputError(f"{kernel}: {name} must be a positive finite number, got {value!r}")


def _finite(kernel: str, **values: float) -> None:
    for name, value in values.items():
        if not (is_number(value) and math.isfinite(_float(value))):
            raise InputError(f"{kernel}: {name} must be a finite number, got {value!r}")


def _number(value: float) -> str:
    return f"{value:.6g}"


def squared_distances(X: Matrix, Z: Matrix) -> Values:
    """(n, m) squared Euclidean distances, from the differences."""
    return _pairwise(X, Z, lambda difference: np.einsum("ij,ij->i", difference, difference))


def _pairwise(X: Matrix, Z: Matrix, measure: Function[[Values], Values]) -> Values:
    X, Z = _dense(X), _dense(Z)
    columns = [measure(X - z) for z in Z]
    return np.stack(columns, axis=1) if columns else np.empty((len(X), 0))


class Kernel:
    """A function of two examples, evaluated on arrays: `kernel(X, Z) -> (n, m)`."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self  # immutable

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        raise NotImplementedError

    def parts(self) -> Iterator[tuple[float, Kernel]]:
        """The kernels this one is a weighted sum of, with their weights: itself, once."""
        yield 1.0, self

    def parameters(self) -> dict[str, Any]:
        """The arguments that make this kernel again: `type(kernel)(**kernel.parameters())`."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


@dataclass(frozen=True, init=False, repr=False)
class _Width(Kernel):
    """A kernel with one width, given as gamma or as sigma."""

    gamma: float
    sigma: float | None

    def __init__(self, *unnamed: Any, sigma: float | None = None, gamma: float | None = None):
        name = type(self).__name__
        if unnamed:
            width = shown(unnamed[0])
            raise InputError(f"{name}: say which width it is, sigma={width} or gamma={width}")
        if (sigma is None) == (gamma is None):
            raise InputError(
                f"{name}: give either sigma or gamma, got sigma={sigma}, gamma={gamma}"
            )
        if sigma is not None:
            _positive(name, sigma=sigma)
            sigma = float(sigma)
            with np.errstate(all="ignore"):
                gamma = float(self._gamma_of(np.float64(sigma)))
        assert gamma is not None
        _positive(name, gamma=gamma)
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "gamma", float(gamma))

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        raise NotImplementedError

    def parameters(self) -> dict[str, Any]:
        return {"gamma": self.gamma} if self.sigma is None else {"sigma": self.sigma}

    def _formula(self, by_sigma: str, by_gamma: str) -> str:
        """One of two formulas, the width filled in at the %."""
        if self.sigma is None:
            return by_gamma.replace("%", _number(self.gamma))
        return by_sigma.replace("%", _number(self.sigma))

    def __repr__(self) -> str:
        width = f"gamma={self.gamma:g}" if self.sigma is None else f"sigma={self.sigma:g}"
        return f"{type(self).__name__}({width})"


class Gaussian(_Width):
    """exp(-||x - z||^2 / (2 sigma^2)) = exp(-gamma ||x - z||^2).

    Parameters
    ----------
    sigma : width, in the unit of the features; or
    gamma : 1 / (2 sigma^2)

    Raises
    ------
    InputError
        Both or neither given, or not a positive number.

    Examples
    --------
    >>> print(Gaussian(sigma=4))
    exp(-||x-z||^2 / (2 * 4^2))
    >>> Gaussian(gamma=0.5)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / (2.0 * sigma * sigma)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.exp(-self.gamma * squared_distances(X, Z))

    def __str__(self) -> str:
        return self._formula("exp(-||x-z||^2 / (2 * %^2))", "exp(-% ||x-z||^2)")


class Laplacian(_Width):
    """exp(-||x - z||_1 / sigma) = exp(-gamma ||x - z||_1), as scikit-learn's laplacian_kernel.

    Parameters
    ----------
    sigma : width, in the unit of the features; or
    gamma : 1 / sigma

    Examples
    --------
    >>> print(Laplacian(gamma=2))
    exp(-2 ||x-z||_1)
    """

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / sigma

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.exp(-self.gamma * _pairwise(X, Z, lambda difference: np.abs(difference).sum(1)))

    def __str__(self) -> str:
        return self._formula("exp(-||x-z||_1 / %)", "exp(-% ||x-z||_1)")


class Cauchy(_Width):
    """1 / (1 + ||x - z||^2 / sigma^2) = 1 / (1 + gamma ||x - z||^2).

    Parameters
    ----------
    sigma : width, in the unit of the features; or
    gamma : 1 / sigma^2

    Examples
    --------
    >>> print(Cauchy(sigma=2))
    1 / (1 + ||x-z||^2 / 2^2)
    """

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / (sigma * sigma)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return 1.0 / (1.0 + self.gamma * squared_distances(X, Z))

    def __str__(self) -> str:
        return self._formula("1 / (1 + ||x-z||^2 / %^2)", "1 / (1 + % ||x-z||^2)")


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

    degree: int
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not is_whole(self.degree) or not 1 <= self.degree <= LARGEST_DEGREE:
            raise InputError(
                f"Polynomial: degree must be an integer from 1 to {LARGEST_DEGREE:,}, "
                f"got {self.degree!r}"
            )
        _finite("Polynomial", offset=self.offset)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.power(_dense(X) @ _dense(Z).T + self.offset, float(self.degree))

    def __str__(self) -> str:
        base = "x.z" if self.offset == 0 else f"x.z + {_number(self.offset)}"
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

    gamma: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        _positive("Sigmoid", gamma=self.gamma)
        _finite("Sigmoid", offset=self.offset)

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.tanh(self.gamma * (_dense(X) @ _dense(Z).T) + self.offset)

    def __str__(self) -> str:
        return f"tanh({_number(self.gamma)} x.z + {_number(self.offset)})"


@dataclass(frozen=True)
class Callable(Kernel):
    """Any Python function of two arrays, (n, d) and (m, d), that gives an (n, m) array.

    Parameters
    ----------
    function : called with dense arrays
    name : printed as the formula; by default the function's own name

    Examples
    --------
    >>> print(Callable(lambda X, Z: X @ Z.T, name="dot(x, z)"))
    dot(x, z)
    """

    function: Function[[Values, Values], Any]
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"Callable: expected a function of two arrays, got {self.function!r}")

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        X, Z = _dense(X), _dense(Z)
        values = np.asarray(self.function(X, Z), dtype=np.float64)
        if values.shape != (len(X), len(Z)):
            raise InputError(
                f"kernel {self}: expected an array of shape {(len(X), len(Z))} "
                f"for arrays of {len(X)} and {len(Z)} rows, got shape {values.shape}"
            )
        return values

    def __str__(self) -> str:
        return self.name or f"{getattr(self.function, '__name__', 'function')}(x, z)"


@dataclass(frozen=True, eq=False)
class Precomputed(Kernel):
    """Values looked up in a matrix; an example is then the number of its row in it.

    Parameters
    ----------
    matrix : (N, N) array of kernel values
    name : printed as the formula

    Notes
    -----
    X has one column, the row numbers 0 .. N-1, in any order and as often as they come.

    Raises
    ------
    InputError
        The matrix is not square and finite, or X is not one column of row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]]))([[1]], [[0], [1]])
    array([[1., 3.]])
    """

    matrix: Values
    name: str = "K[x, z]"

    def __post_init__(self) -> None:
        matrix = np.ascontiguousarray(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"Precomputed: expected a square matrix, got shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise InputError("Precomputed: the matrix has NaN or infinite values")
        object.__setattr__(self, "matrix", matrix)

    def _rows(self, X: Matrix) -> NDArray[np.int64]:
        X = _dense(X)
        n = len(self.matrix)
        if X.shape[1] != 1:
            raise InputError(f"Precomputed: X must be one column of row numbers, got {X.shape}")
        rows = X[:, 0].astype(np.int64)
        wrong = (rows != X[:, 0]) | (rows < 0) | (rows >= n)
        if wrong.any():
            raise InputError(
                f"Precomputed: {X[wrong.argmax(), 0]:g} is no row of a {n} x {n} matrix"
            )
        return rows

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return self.matrix[np.ix_(self._rows(X), self._rows(Z))]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Mean(Kernel):
    """The plain mean of several kernels, itself a kernel.

    Parameters
    ----------
    kernels : the kernels

    Examples
    --------
    >>> print(Mean([Linear(), Gaussian(sigma=1)]))
    mean of 2 kernels
    """

    kernels: tuple[Kernel, ...]

    def __init__(self, kernels: Sequence[Kernel]):
        if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise InputError(f"Mean: expected one or more kernels, got {kernels!r}")
        object.__setattr__(self, "kernels", tuple(kernels))

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return np.mean([kernel(X, Z) for kernel in self.kernels], axis=0)

    def parts(self) -> Iterator[tuple[float, Kernel]]:
        for kernel in self.kernels:
            for weight, part in kernel.parts():
                yield weight / len(self.kernels), part

    def __str__(self) -> str:
        return f"mean of {len(self.kernels)} kernels"
