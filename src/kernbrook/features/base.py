"""Feature maps: what is drawn or solved once, so that <z(x), z(x')> is near k(x, x').

A recipe has parameters only. It draws the arrays of one map, of a kernel and a width, and names
the class of the map, which takes rows to features. A map has a file of its own with both. A map's
value for a row does not depend on the rows beside it, nor on sparsity, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import Part
from kernbrook.compiler.compiling import Verb
from kernbrook.compiler.links import Matrix, Vector, family
from kernbrook.errors import InputError
from kernbrook.kernels.base import Kernel
from kernbrook.kernels.planning import Layout

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
Shapes = dict[str, tuple[tuple[int, ...], Any]]

MAP = Part("features", "a map such as RandomFeatures()")
TILE = 64  # rows taken together


class Rows(Protocol):
    """n examples of d features, dense or sparse: what maps ask of them."""

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int) -> Rows:
        """The examples start .. stop - 1."""

    def dense(self) -> Floats:
        """(n, d)."""

    def inner(self, columns: Floats, place: NDArray[np.int64], out: Floats) -> None:
        """Write the inner products with the columns (d, f) in `out`, (n, f); place : arange(d)."""

    def like(self, X: Floats) -> Rows:
        """The rows of an array, stored as these are."""

    def pairs(self, layout: Layout, points: Rows) -> Floats:
        """(channels, points, n) pair values of points, stored as these are, with the examples."""


class Features(BaseEstimator):
    """A recipe for the map of one kernel."""

    choice = "features"
    map: ClassVar[type[Map]]

    def with_data(self, X: Any, generator: np.random.Generator) -> Features:
        """The recipe for maps of data, (n, d), that are known beforehand: this one, for most."""
        return self

    def dim(self, kernel: Kernel, width: int) -> int:
        """How many features the map gives; raises InputError where there is no such map."""
        raise NotImplementedError

    def draw(self, kernel: Kernel, width: int, generator: np.random.Generator) -> Arrays:
        """The arrays of a map."""
        raise NotImplementedError

    def with_features(
        self, kernel: Kernel, arrays: Arrays, width: int, generator: np.random.Generator
    ) -> Arrays | None:
        """The arrays of a map of more inputs with the same features of rows that are 0 there.

        None where there is no such map, with as many features.
        """
        return None

    def shapes(self, kernel: Kernel, width: int) -> Shapes:
        """Shape and type of each array that `draw` gives."""
        return {}

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise InputError unless arrays of these shapes and types can be those of a map."""
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise InputError(f"{name}: NaN or infinity")


class Map:
    """The features z(x) of one kernel.

    Parameters
    ----------
    kernel : the kernel
    features : the recipe
    width : number of input features
    arrays : what the recipe drew

    Attributes
    ----------
    dim : number of features
    panel : class that computes several of these maps together, or None
    """

    panel: ClassVar[type[Panel] | None] = None

    def __init__(self, kernel: Kernel, features: Any, width: int, arrays: Arrays):
        self.kernel = kernel
        self.features = features
        self.width = width
        self.dim = features.dim(kernel, width)
        self._arrays = arrays

    def arrays(self) -> Arrays:
        """All that was drawn or solved, by name; the map can be made again from it."""
        return self._arrays

    def transform(self, rows: Rows) -> Floats:
        """(n, dim) features of the rows."""
        out = np.empty((len(rows), self.dim))
        self.fill(rows, out)
        return out

    def fill(self, rows: Rows, out: Floats) -> None:
        """Write the features of a few rows in `out`, (n, dim)."""
        raise NotImplementedError

    def rule(self, start: int) -> Any:
        """The rule for which `write_rows` does so, from out[start] on; None where none does."""
        return None


class Panel(Protocol):
    """Several maps of one kind."""

    def __init__(self, maps: Sequence[Any]): ...

    def fill(self, rows: Rows, starts: NDArray[np.int64], out: Floats) -> None:
        """Write features in a flat array: map i's of the first row begin at starts[i]."""

    def rule(self, starts: NDArray[np.int64], n: int) -> Any:
        """The rule for which `write_rows` does so for n rows, of at most `TILE`."""


@Verb
def write_rows(rule: Any, X: Matrix, out: Vector) -> None:
    """Write the features of a few rows, (n, d), in the flat array of a pool for n rows."""
    raise NotImplementedError


family(write_rows)
