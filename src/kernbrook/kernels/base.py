"""Kernels: small immutable objects that evaluate, and print as their formula.

`kernel(X, Z)` gives the (n, m) matrix of values by plain NumPy: slow, obvious, and what the
compiled engine is tested against. A kernel has a file of its own, with its class and what the
engine computes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable as Function
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import Number, check_values, or_none, shown
from kernbrook.errors import InputError
from kernbrook.sparse import as_csr

Matrix = Any  # (n, d) float64 array or CSR matrix
Values = NDArray[np.float64]


def dense(X: Matrix) -> Values:
    """The (n, d) float64 array of an array, a nested list or a sparse matrix."""
    return np.asarray(as_csr(X).toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


ROUNDING = 1e-5  # by which k(x, z) and k(z, x) may differ, as a share of the largest value
WIDE = Number(any_size=True)  # kernels multiply it by features alone
WIDE_POSITIVE = Number(0, ends="(]", any_size=True)


def number(value: float) -> str:
    """A number as formulas show it."""
    return f"{value:.6g}"


def squared_distances(X: Matrix, Z: Matrix) -> Values:
    """(n, m) squared Euclidean distances, from the differences."""
    return pairwise(X, Z, lambda difference: np.einsum("ij,ij->i", difference, difference))


def pairwise(X: Matrix, Z: Matrix, measure: Function[[Values], Values]) -> Values:
    """(n, m) measures of the differences: `measure` takes (n, d) and gives (n,)."""
    X, Z = dense(X), dense(Z)
    columns = [measure(X - z) for z in Z]
    return np.stack(columns, axis=1) if columns else np.empty((len(X), 0))


def numbers_in(found: Any, wanted: str) -> NDArray[Any]:
    """What was found, as an array; InputError, which says what was wanted, where that has others.

    Others than numbers, or some that are masked.
    """
    masked = np.ma.is_masked(found)
    try:
        array = np.asarray(found)
    except (TypeError, ValueError):  # rows of several lengths
        array = np.asarray(None)
    if masked or array.dtype.kind not in "biuf":
        raise InputError(f"{wanted}, got {'a masked array' if masked else shown(found)}")
    return array


def values_of(kernel: Any, call: Function[[Values, Values], Any], X: Values, Z: Values) -> Values:
    """(n, m) what a function gives as values of a kernel of X, (n, d), and Z, (m, d).

    It gets copies, on which it may write. InputError where it gives no such array of numbers.
    """
    shape = len(X), len(Z)
    wanted = f"kernel {kernel}: expected an array of numbers of shape {shape}"
    values = numbers_in(call(X.copy(), Z.copy()), wanted)
    if values.shape != shape:
        raise InputError(
            f"kernel {kernel}: expected an array of shape {shape} "
            f"for arrays of {len(X)} and {len(Z)} rows, got shape {values.shape}"
        )
    return values.astype(np.float64)


def check_symmetric(name: str, values: Values) -> None:
    """InputError where (n, n) values differ from their transpose, but for rounding."""
    if not len(values):
        return
    most = ROUNDING * np.abs(values).max()
    for i, row in enumerate(values):
        off = np.abs(row - values[:, i])
        if off.max() > most:
            j = int(off.argmax())
            raise InputError(
                f"{name}: expected symmetric values, but k(x, z) is {row[j]:g} where k(z, x) is "
                f"{values[j, i]:g}, of the rows {i} and {j}"
            )


@dataclass(frozen=True)
class Step:
    """What the compiled engine computes of a kernel, from one channel of pair values.

    kind : class of an empty NamedTuple, for which `kernbrook.numerics.values.fill` is implemented
    channel : INNER, SQUARED or MANHATTAN of `kernbrook.numerics.plan`; or a kernel that is called,
        once for all steps that read its values
    parameter, offset, power : numbers that `fill` is given
    reach : squared distance from which on the kernel is exactly 0; of the channel SQUARED only
    """

    kind: type[Any]
    channel: Any
    parameter: float = 0.0
    offset: float = 0.0
    power: int = 1
    reach: float = math.inf


class Kernel:
    """A function of two examples, evaluated on arrays: `kernel(X, Z) -> (n, m)`.

    A subclass with `__call__` alone is a kernel: it is called with dense arrays. `step` makes it
    fast. Kernels are immutable, and equal where they are the same function.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> class Overlap(kb.kernels.Kernel):
    ...     def __call__(self, X, Z):
    ...         return np.minimum(X[:, None], Z[None]).sum(axis=2)
    >>> X, y = [[0.0, 2.0], [3.0, 1.0], [1.0, 3.0], [2.0, 0.0]], [0, 1, 0, 1]
    >>> kb.OnlineMKClassifier([Overlap(), kb.Linear()]).fit(X, y).predict([[3.0, 0.0]])
    array([1])
    """

    of_vectors = True  # or of row numbers
    by_threads = False  # may several threads call `between` at once?

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self  # immutable

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        """The kernel of each row of X, (n, d), with each row of Z, (m, d): (n, m)."""
        name = type(self).__name__
        raise InputError(f"{name}: __call__ is missing; see docs/adding_a_kernel.md")

    def step(self) -> Step | None:
        """What the engine computes of the kernel; None where the kernel is called instead."""
        return None

    def between(self, points: Any, rows: Any, out: Values) -> None:
        """Write the values of n points and b rows of the engine in `out`, (n, b).

        For a kernel without a step, which is called, unless it has something faster here.
        """
        out[:] = values_of(self, self.__call__, rows.dense(), points.dense()).T

    def parts(self) -> Iterator[tuple[float, Kernel]]:
        """The kernels this one is a weighted sum of, with their weights: itself, once."""
        yield 1.0, self

    def parameters(self) -> dict[str, Any]:
        """The arguments that make this kernel again: `type(kernel)(**kernel.parameters())`."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Width(Kernel):
    """A kernel with one width, given as gamma or as sigma.

    A subclass with one more parameter is a frozen dataclass with that field, and calls this
    `__init__` with the width, as `Matern` does. Two are equal whose parameters all are.
    """

    parameter_ranges: ClassVar[dict[str, Any]] = {
        "sigma": or_none(WIDE_POSITIVE),
        "gamma": or_none(WIDE_POSITIVE),
    }

    gamma: float
    sigma: float | None

    def __init__(self, *unnamed: Any, sigma: float | None = None, gamma: float | None = None):
        name = type(self).__name__
        if unnamed:
            width = shown(unnamed[0])
            raise InputError(f"{name}: say which width it is, sigma={width} or gamma={width}")
        if (sigma is None) == (gamma is None):
            given = f"sigma={shown(sigma)}, gamma={shown(gamma)}"
            raise InputError(f"{name}: give either sigma or gamma, got {given}")
        if sigma is not None:
            check_values(type(self), {"sigma": sigma})
            sigma = float(sigma)
            with np.errstate(all="ignore"):
                gamma = float(self._gamma_of(np.float64(sigma)))
        check_values(type(self), {"gamma": gamma})
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "gamma", float(gamma))  # type: ignore[arg-type]

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        ours, theirs = vars(self), vars(other)
        return ours.keys() == theirs.keys() and all(
            np.array_equal(ours[name], theirs[name]) for name in ours
        )

    def __hash__(self) -> int:
        return hash((type(self), self.gamma, self.sigma))

    def parameters(self) -> dict[str, Any]:
        """All arguments by name, of the two for the width the one that was given."""
        found = signature(type(self)).parameters.values()
        names = [p.name for p in found if p.kind is not p.VAR_POSITIONAL]
        width = "gamma" if self.sigma is None else "sigma"
        others = (name for name in names if name not in ("gamma", "sigma"))
        return {name: getattr(self, name) for name in (*others, width)}

    def _formula(self, by_sigma: str, by_gamma: str) -> str:
        """One of two formulas, the width filled in at the %."""
        if self.sigma is None:
            return by_gamma.replace("%", number(self.gamma))
        return by_sigma.replace("%", number(self.sigma))

    def __repr__(self) -> str:
        others, name = self.parameters(), "gamma" if self.sigma is None else "sigma"
        width = f"{name}={others.pop(name):g}"
        return f"{type(self).__name__}({', '.join([*map(shown, others.values()), width])})"
