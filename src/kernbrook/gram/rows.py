"""Rows of examples, dense and sparse, and the pair values of two sets of them."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import row_of_chunk
from kernbrook.errors import NonFiniteError
from kernbrook.gram.arrays import Floats, Ints, writeable
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import Layout
from kernbrook.numerics import pairs as compiled
from kernbrook.numerics.keys import dense_keys, sparse_keys
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, MANHATTAN, SQUARED

COPIED = 4096  # rows of a read-only array that are copied together
WIDEST = 1 << 22  # features of a sparse block up to which each has a place: 32 MB


def keys_of(X: Any) -> Ints:
    """(n,) a number for each row: equal rows have equal ones, others but by rare chance not.

    X : C-ordered float64 array, or canonical CSR matrix; zeros count as missing in both
    """
    if sp.issparse(X):
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return np.asarray(sparse_keys(writeable(np.ascontiguousarray(X.data)), indices, indptr))
    return apply_by_parts(dense_keys, X, np.int64)


def apply_by_parts(work: Function[[Floats], Any], X: Floats, kind: Any) -> NDArray[Any]:
    """(n,) what compiled code finds for each row; read-only ones are copied part by part."""
    out = np.empty(len(X), dtype=kind)
    size = max(len(X), 1) if X.flags.writeable else COPIED
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        out[part] = work(writeable(X[part]))
    return out


IN_RANGE = "finite values of size below 1e154"  # their squared norms are finite


def check_range(norms: Floats) -> Floats:
    """The squared norms of rows; NonFiniteError where some are too large."""
    fits = norms < np.inf
    if not fits.all():
        raise NonFiniteError(
            f"X: expected {IN_RANGE}, {row_of_chunk(np.argmin(fits))} has NaN, "
            "infinity or a larger one"
        )
    return norms


class AnyRows:
    """Rows of examples."""

    def pairs(self, layout: Layout, points: Any) -> Floats:
        """(channels, points, n) pair values of points, stored as these are, with these rows."""
        rows: Any = self
        out = np.empty((len(layout.channels), len(points), len(rows)))
        Block(rows, layout).pairs(points, out)
        return out


@dataclass(frozen=True)
class DenseRows(AnyRows):
    """Rows of a dense array, with their squared norms, and keys as `keys_of`, or zeros.

    Read-only ones, such as a file mapped into memory, are copied part by part.
    """

    X: Floats
    norms: Floats
    keys: Ints

    @classmethod
    def of(cls, X: Floats) -> DenseRows:
        norms = apply_by_parts(compiled.dense_norms, X, np.float64)
        return cls(X, check_range(norms), np.zeros(len(X), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.X)

    def part(self, start: int, stop: int) -> DenseRows:
        X = writeable(self.X[start:stop])
        return DenseRows(X, self.norms[start:stop], self.keys[start:stop])

    def dense(self) -> Floats:
        return self.X

    def inner(self, columns: Floats, place: NDArray[np.int64], out: Floats) -> None:
        """Inner products with the columns (d, f), in `out`, (n, f)."""
        dense_inner(self.X, None, columns, out)


@dataclass(frozen=True)
class SparseRows(AnyRows):
    """Rows of CSR arrays from `start` on, with squared norms, and keys as `keys_of`, or zeros."""

    data: Floats
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    start: int
    norms: Floats
    keys: Ints
    width: int

    @classmethod
    def of(cls, X: Any) -> SparseRows:
        data = np.ascontiguousarray(X.data, dtype=np.float64)
        indptr = X.indptr.astype(np.int64)
        norms = check_range(compiled.sparse_norms(data, indptr))
        keys = np.zeros(len(norms), dtype=np.int64)
        return cls(data, X.indices.astype(np.int64), indptr, 0, norms, keys, X.shape[1])

    def __len__(self) -> int:
        return len(self.norms)

    def part(self, start: int, stop: int) -> SparseRows:
        norms, keys = self.norms[start:stop], self.keys[start:stop]
        return SparseRows(
            self.data, self.indices, self.indptr, self.start + start, norms, keys, self.width
        )

    def csr(self) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """(data, indices, indptr) of these rows alone."""
        indptr = self.indptr[self.start : self.start + len(self) + 1]
        first, last = indptr[0], indptr[-1]
        return self.data[first:last], self.indices[first:last], indptr - first

    def dense(self) -> Floats:
        matrix = sp.csr_matrix(self.csr(), shape=(len(self), self.width))
        return np.asarray(matrix.toarray())

    def inner(self, columns: Floats, place: NDArray[np.int64], out: Floats) -> None:
        """Inner products with the columns (d, f), in `out`, (n, f); place : arange(d)."""
        compiled.sparse_inner(self.data, self.indices, self.indptr, self.start, columns, place, out)


Rows = DenseRows | SparseRows


def call(kernel: Kernel, points: Rows, rows: Rows, out: Floats) -> None:
    """Values of a kernel that is not compiled between points and rows, (n, b) out."""
    kernel.between(points, rows, out)
    if not np.isfinite(out).all():
        raise NonFiniteError(f"kernel {kernel}: it gave NaN or infinity")


def numbers_among(features: Ints, indices: Ints) -> Ints:
    """The number of each index among rising features; how many these are, for others."""
    numbers = np.searchsorted(features, indices)
    known = np.append(features, -1)[numbers] == indices
    return np.where(known, numbers, len(features))


class Block:
    """A block of b examples, prepared to meet points."""

    def __init__(self, rows: Rows, layout: Layout):
        self.rows = rows
        self.layout = layout
        self.columns: Floats
        self.norms = rows.norms
        self.features: NDArray[np.int64] | None = None
        if isinstance(rows, SparseRows):
            self.csr = rows.csr()
            data, indices, indptr = self.csr
            if rows.width <= WIDEST:
                self.place = np.full(rows.width, -1, dtype=np.int64)
                self.place[indices] = 0
                found = np.flatnonzero(self.place == 0)  # in their order
                present = len(found)
                self.place[found] = np.arange(present)
            else:  # a place for each feature that occurs, and one for all that do not
                self.features = np.unique(indices)
                present = len(self.features)
                self.place = np.append(np.arange(present), -1)
                indices = numbers_among(self.features, indices)
            self.columns = np.empty((present, len(rows)))
            compiled.feature_major(data, indices, indptr, self.place, self.columns)
        else:
            self.columns = np.ascontiguousarray(rows.X.T)

    def pairs(self, points: Rows, out: Floats) -> None:
        """Fill in the pair values of points and examples, (channels, n, b).

        Large work runs without the interpreter's lock.
        """
        for i, channel in enumerate(self.layout.channels):
            if channel >= FIRST_GIVEN:
                kernel = self.layout.given[channel - FIRST_GIVEN]
                call(kernel, points, self.rows, out[i])
            elif isinstance(points, SparseRows):
                self._sparse_channel(channel, points, out[0], out[i])
            else:
                self._dense_channel(channel, points, out[0], out[i])

    def _dense_channel(self, channel: int, points: DenseRows, inner: Floats, out: Floats) -> None:
        rows, plan = self.rows, self.layout.plan
        assert isinstance(rows, DenseRows)
        if channel == INNER:
            dense_inner(points.X, None, self.columns, out)
        elif channel == SQUARED:
            compiled.dense_squared(
                points.X, points.norms, None, rows.X, self.norms, inner, plan.reach, out
            )
        elif channel == MANHATTAN:
            compiled.dense_manhattan(points.X, None, self.columns, out)

    def _sparse_channel(self, channel: int, points: SparseRows, inner: Floats, out: Floats) -> None:
        csr, plan = (points.data, points.indices, points.indptr, points.start), self.layout.plan
        if channel == INNER and self.features is None:
            compiled.sparse_inner(*csr, self.columns, self.place, out)
        elif channel == INNER:
            assert self.features is not None
            data, indices, indptr = points.csr()
            numbers = numbers_among(self.features, indices)
            compiled.sparse_inner(data, numbers, indptr, 0, self.columns, self.place, out)
        elif channel == SQUARED:
            compiled.sparse_squared(
                *csr, points.norms, self.csr, self.norms, inner, plan.reach, out
            )
        elif channel == MANHATTAN:
            compiled.sparse_manhattan(*csr, self.csr, out)
