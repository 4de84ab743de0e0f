"""Points that a model stores, with coefficients; rows are added, and kept, and the arrays grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, check_array, check_csr, enlarge
from kernbrook.gram.rows import DenseRows, Rows, SparseRows


class StoredPoints:
    """The stored points: features, norms, keys and one row of coefficients each.

    What changes them gives new ones, so that a block that is interrupted changes nothing.

    n, counted : number of points, and (1,) the same
    """

    def __init__(self, columns: int, width: int, sparse: bool):
        self.counted = np.zeros(1, dtype=np.int64)
        self.width = width
        self.sparse = sparse
        self._coefficients = np.zeros((0, columns))
        self._norms = np.zeros(0)
        self._keys = np.zeros(0, dtype=np.int64)
        self._X = np.zeros((0, 0 if sparse else width))
        self._data = np.zeros(0)
        self._indices = np.zeros(0, dtype=np.int64)
        self._indptr = np.zeros(1, dtype=np.int64)

    @property
    def n(self) -> int:
        return int(self.counted[0])

    @property
    def coefficients(self) -> Floats:
        return self._coefficients[: self.n]

    @property
    def rows(self) -> Rows:
        norms, keys = self._norms[: self.n], self._keys[: self.n]
        if self.sparse:
            return SparseRows(self._data, self._indices, self._indptr, 0, norms, keys, self.width)
        return DenseRows(self._X[: self.n], norms, keys)

    @property
    def nbytes(self) -> int:
        dense = self._coefficients, self._norms, self._keys, self._X
        return sum(array.nbytes for array in (*dense, self._data, self._indices, self._indptr))

    def appended(self, rows: Rows, which: NDArray[np.int64], coefficients: Floats) -> StoredPoints:
        """These and the rows `which`, with their coefficients (len(which), columns).

        These stay as they are: what is new goes behind their end, into memory that both share.
        """
        n, new = self.n + len(which), copy(self)
        new._coefficients = enlarge(self._coefficients, n)
        new._coefficients[self.n : n] = coefficients
        new._norms = enlarge(self._norms, n)
        new._norms[self.n : n] = rows.norms[which]
        new._keys = enlarge(self._keys, n)
        new._keys[self.n : n] = rows.keys[which]
        if isinstance(rows, DenseRows):
            new._X = enlarge(self._X, n)
            new._X[self.n : n] = rows.X[which]
        else:
            begins, ends = (rows.indptr[rows.start + which + i] for i in (0, 1))
            counts, first = ends - begins, int(self._indptr[self.n])
            indptr, last = first + np.cumsum(counts), first + int(counts.sum())
            # Of each new entry the place among those of the rows.
            places = np.arange(first, last) + np.repeat(ends - indptr, counts)
            new._indptr = enlarge(self._indptr, n + 1)
            new._indptr[self.n + 1 : n + 1] = indptr
            new._data = enlarge(self._data, last)
            new._data[first:last] = rows.data[places]
            new._indices = enlarge(self._indices, last)
            new._indices[first:last] = rows.indices[places]
        new.counted = np.array([n])
        return new

    def kept(self, which: NDArray[np.int64]) -> StoredPoints:
        """New support vectors: some of the points of this object, which does not change.

        The numbers of the points rise.
        """
        if len(which) == self.n:
            return self
        none = StoredPoints(self._coefficients.shape[1], self.width, self.sparse)
        return none.appended(self.rows, which, self._coefficients[which])

    def with_coefficients(self, coefficients: Floats) -> StoredPoints:
        """The points with other coefficients, (n, columns); these stay as they are."""
        new = copy(self)
        new._coefficients, new.counted = coefficients, self.counted.copy()
        return new

    def only_columns(self, columns: Sequence[int]) -> StoredPoints:
        """The other columns 0, without the points that nothing uses then."""
        coefficients = np.zeros_like(self.coefficients)
        coefficients[:, columns] = self.coefficients[:, columns]
        used = np.flatnonzero(coefficients.any(axis=1))
        return self.with_coefficients(coefficients).kept(used)

    def copied(self) -> StoredPoints:
        """These in memory of their own, without room for more."""
        new = copy(self)
        new.counted = self.counted.copy()
        for name, array in self.arrays().items():
            setattr(new, f"_{name}", array.copy())
        return new

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The part in use of every array, by name; `restore` takes them back."""
        n = self.n
        arrays: dict[str, NDArray[Any]] = {
            "coefficients": self._coefficients[:n], "norms": self._norms[:n], "keys": self._keys[:n]
        }  # fmt: skip
        if not self.sparse:
            return {**arrays, "X": self._X[:n]}
        filled = int(self._indptr[n])
        indices, indptr = self._indices[:filled], self._indptr[: n + 1]
        return {**arrays, "data": self._data[:filled], "indices": indices, "indptr": indptr}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Hold the points that `arrays` of other support vectors of this form gave.

        InputError where an array is missing, or they do not fit each other: compiled code trusts
        them later.
        """
        n, filled = (len(arrays.get(name, ())) for name in ("coefficients", "data"))
        shapes: dict[str, tuple[int, ...]] = {
            "coefficients": (n, self._coefficients.shape[1]), "norms": (n,), "keys": (n,)
        }  # fmt: skip
        form = {"data": (filled,), "indices": (filled,), "indptr": (n + 1,)}
        shapes.update(form if self.sparse else {"X": (n, self.width)})
        for name, shape in shapes.items():
            kind = np.int64 if name in ("keys", "indices", "indptr") else np.float64
            check_array(name, arrays.get(name), shape, kind)
            if not np.isfinite(arrays[name]).all():
                raise InputError(f"{name}: NaN or infinity")
        if self.sparse:
            check_csr(arrays["indices"], arrays["indptr"], self.width)
        for name in shapes:
            setattr(self, f"_{name}", arrays[name])
        self.counted = np.array([n])
