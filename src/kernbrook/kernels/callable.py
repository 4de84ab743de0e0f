"""Any Python function as a kernel."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any, ClassVar

from kernbrook.checks import Other
from kernbrook.compiler.compiling import is_theirs
from kernbrook.errors import InputError
from kernbrook.kernels.base import Kernel, Matrix, Values, dense, values_of


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

    parameter_ranges: ClassVar = {
        "function": Other("a function of two arrays"),
        "name": Other("None or a text"),
    }

    function: Function[[Values, Values], Any]
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"Callable: expected a function of two arrays, got {self.function!r}")

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        return values_of(self, self.function, dense(X), dense(Z))

    def __str__(self) -> str:
        return self.name or f"{getattr(self.function, '__name__', 'function')}(x, z)"


def is_given(kernel: Kernel) -> bool:
    """Whether a kernel is a function, or of a class from outside this package."""
    return isinstance(kernel, Callable) or is_theirs(type(kernel))
