"""Feature maps: what is drawn or solved once, so that <z(x), z(x')> is near k(x, x').

A recipe has parameters only. It draws the arrays of one map, of a kernel and a width, and names
the class of the map, which takes rows to features. A map has a file of its own with both. A map's
value for a row does not depend on the rows beside it, nor on sparsity, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import Part
from kernbrook.compiler.compiling import Verb
from kernbrook.compiler.links import Matrix, Vector, family
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import Rows
from kernbrook.kernels.base import Kernel

Arrays = dict[str, NDArray[Any]]
Shapes = dict[str, tuple[tuple[int, ...], Any]]

MAP = Part("features", "a map such as RandomFeatures()")
TILE = 64  # rows taken together


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

    features : the recipe, which drew the `arrays`; width : number of input features
    dim : number of features
    panel : class that computes several of these maps together, as `WavePanel` does, or None
    """

    panel: ClassVar[Any] = None

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


@Verb
def write_rows(rule: Any, X: Matrix, out: Vector) -> None:
    """Write the features of a few rows, (n, d), in the flat array of a pool for n rows."""
    raise NotImplementedError


family(write_rows)
