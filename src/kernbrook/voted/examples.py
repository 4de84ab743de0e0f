"""Examples of any kind: rows of numbers, or objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.gram.rows import DenseRows, Rows, SparseRows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Examples:
    """n examples: the rows of an array or of a CSR matrix, or objects of any kind.

    Parameters
    ----------
    items : (n, d) float64 array, (n, d) CSR matrix, or list of n objects

    Attributes
    ----------
    rows : the examples as the engine's kernels take them; None for objects

    Raises
    ------
    NonFiniteError
        The squared length of a row is no finite number.
    """

    def __init__(self, items: Any):
        self.items = items
        self.rows: Rows | None = None
        if sp.issparse(items):
            self.rows = SparseRows.of(items)
        elif isinstance(items, np.ndarray):
            # A read-only array would be compiled for anew.
            self.items = np.require(items, np.float64, ["C", "W"])
            self.rows = DenseRows.of(self.items)

    def __len__(self) -> int:
        return int(self.items.shape[0] if hasattr(self.items, "shape") else len(self.items))

    @property
    def are_objects(self) -> bool:
        return self.rows is None

    def take(self, which: Indices | slice) -> Examples:
        """Some of the examples, by number or by slice."""
        if not self.are_objects:
            return Examples(self.items[which])
        chosen = range(len(self))[which] if isinstance(which, slice) else which
        return Examples([self.items[i] for i in chosen])

    @property
    def length(self) -> int:
        """d; 0 for objects."""
        return 0 if self.are_objects else int(self.items.shape[1])
