"""Support vectors and blocks of examples: their features, and the pair values of the two."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import SMALLEST, real, row_of_chunk, shown
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.kernels import Kernel
from kernbrook.kernels.base import check_symmetric
from kernbrook.kernels.callable import is_given
from kernbrook.kernels.planning import Layout
from kernbrook.numerics import pairs as compiled
from kernbrook.numerics.keys import dense_keys, sparse_keys
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, MANHATTAN, SQUARED
from kernbrook.numerics.storage import count_entries, move_dense, move_sparse
from kernbrook.sparse import as_csr

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Labels = NDArray[np.int64]  # numbers of classes; negative where the label cannot be had


COPIED = 4096  # rows of a read-only array that are copied together
WIDEST = 1 << 22  # features of a sparse block up to which each has a place: 32 MB


def sound(X: Any) -> Any:
    """X; a sparse matrix in CSR, checked, for scikit-learn and SciPy take its indices on trust.

    Else as `real` has it.
    """
    return as_csr(X) if sp.issparse(X) else real(X)


def canonical(X: Any) -> Any:
    """X as a C-ordered float64 array or a canonical CSR matrix, a copy only where it is not."""
    if sp.issparse(X):
        X = as_csr(X).astype(np.float64, copy=False)
        parts = X.data, X.indices, X.indptr
        return X if all(part.flags.writeable for part in parts) else X.copy()
    return np.ascontiguousarray(X, dtype=np.float64)


def _writeable(array: Floats) -> Floats:
    """The array, or a copy where it is read-only, which would be compiled for anew."""
    return array if array.flags.writeable else array.copy()


def keys_of(X: Any) -> Labels:
    """(n,) a number for each row: equal rows have equal ones, others but by rare chance not.

    X : C-ordered float64 array, or canonical CSR matrix; zeros count as missing in both
    """
    if sp.issparse(X):
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return np.asarray(sparse_keys(_writeable(np.ascontiguousarray(X.data)), indices, indptr))
    return _by_parts(dense_keys, X, np.int64)


def _by_parts(work: Function[[Floats], Any], X: Floats, kind: Any) -> NDArray[Any]:
    """(n,) what compiled code finds for each row; read-only ones are copied part by part."""
    out = np.empty(len(X), dtype=kind)
    size = max(len(X), 1) if X.flags.writeable else COPIED
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        out[part] = work(_writeable(X[part]))
    return out


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with room for `size` rows, at least half as much again as before.

    A read-only one, as of a model that was mapped into memory, is copied: it is to be written to.
    """
    if size <= len(array):
        return array if array.flags.writeable else array.copy()
    larger = np.zeros((max(size, len(array) * 3 // 2, 64), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def wider(array: Floats, width: int) -> Floats:
    """The array with as many columns: those that it has not are 0."""
    grown = np.zeros((*array.shape[:-1], width))
    grown[..., : array.shape[-1]] = array
    return grown


class Range(NamedTuple):
    """What rows may be: squared norms below `norms`; `told` says so of their values."""

    norms: float
    told: str


RANGES = {
    "float64": Range(np.inf, "finite values of size below 1e154"),
    "float32": Range(1e37, "finite values of size below 1e18 with dtype='float32'"),
}


def range_of(scalings: Sequence[str | None], dtype: str) -> Range:
    """What rows may be that are scaled in these ways, None: not, for pair values of this type."""
    return RANGES[dtype if None in scalings else "float64"]


def check_range(norms: Floats, allowed: Range = RANGES["float64"]) -> Floats:
    """The squared norms of rows; NonFiniteError where some are too large."""
    fits = norms < allowed.norms
    if not fits.all():
        raise NonFiniteError(
            f"X: expected {allowed.told}, {row_of_chunk(np.argmin(fits))} has NaN, "
            "infinity or a larger one"
        )
    return norms


@dataclass(frozen=True)
class DenseRows:
    """Rows of a dense array, with their squared norms, and keys as `keys_of`, or zeros.

    Read-only ones, such as a file mapped into memory, are copied part by part.
    """

    X: Floats
    norms: Floats
    keys: Labels

    @classmethod
    def of(cls, X: Floats) -> DenseRows:
        norms = _by_parts(compiled.dense_norms, X, np.float64)
        return cls(X, check_range(norms), np.zeros(len(X), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.X)

    def part(self, start: int, stop: int) -> DenseRows:
        X = _writeable(self.X[start:stop])
        return DenseRows(X, self.norms[start:stop], self.keys[start:stop])

    def dense(self) -> Floats:
        return self.X

    def inner(self, columns: Floats, place: NDArray[np.int64], out: Floats) -> None:
        """Inner products with the columns (d, f), in `out`, (n, f)."""
        dense_inner(self.X, None, columns, out)

    def like(self, X: Floats) -> DenseRows:
        """The rows of an array, stored as these are."""
        return DenseRows.of(X)

    def pairs(self, layout: Layout, points: Any) -> Floats:
        """(channels, points, n) pair values of points, stored as these are, with these rows."""
        return Block(self, layout).pairs_with(points)


@dataclass(frozen=True)
class SparseRows:
    """Rows of CSR arrays from `start` on, with squared norms, and keys as `keys_of`, or zeros."""

    data: Floats
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]
    start: int
    norms: Floats
    keys: Labels
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

    def like(self, X: Floats) -> SparseRows:
        """The rows of an array, stored as these are."""
        return SparseRows.of(sp.csr_matrix(X))

    def pairs(self, layout: Layout, points: Any) -> Floats:
        """(channels, points, n) pair values of points, stored as these are, with these rows."""
        return Block(self, layout).pairs_with(points)


Rows = DenseRows | SparseRows


def call(kernel: Kernel, points: Rows, rows: Rows, out: Floats) -> None:
    """Values of a kernel that is not compiled between points and rows, (n, b) out.

    The kernel writes numbers of 64 bits, whatever type is wanted.
    """
    values = out if out.dtype == np.float64 else np.empty(out.shape)
    kernel.between(points, rows, values)
    if values is not out:
        out[:] = values
    if not np.isfinite(out).all():
        raise NonFiniteError(f"kernel {kernel}: it gave NaN or infinity")


def check_own(kernel: Kernel, values: Floats) -> None:
    """InputError where a kernel of others is not symmetric; values : of rows with themselves."""
    if is_given(kernel):
        check_symmetric(f"kernel {kernel}", values)


def numbers_among(features: Labels, indices: Labels) -> Labels:
    """The number of each index among rising features; how many these are, for others."""
    numbers = np.searchsorted(features, indices)
    known = np.append(features, -1)[numbers] == indices
    return np.where(known, numbers, len(features))


class Block:
    """A block of b examples, prepared to meet points.

    Parameters
    ----------
    rows : the examples
    layout : the kernels' layout
    """

    def __init__(self, rows: Rows, layout: Layout):
        self.rows = rows
        self.layout = layout
        self.columns: Floats
        self.norms = rows.norms.astype(layout.dtype, copy=False)
        self.features: NDArray[np.int64] | None = None
        if isinstance(rows, SparseRows):
            self.csr = rows.csr()
            data, indices, indptr = self.csr
            if rows.width <= WIDEST:
                self.place = np.full(rows.width, -1, dtype=np.int64)
                present = compiled.place_features(indices, self.place)
            else:  # a place for each feature that occurs, and one for all that do not
                self.features = np.unique(indices)
                present = len(self.features)
                self.place = np.append(np.arange(present), -1)
                indices = numbers_among(self.features, indices)
            self.columns = np.empty((present, len(rows)), dtype=layout.dtype)
            compiled.feature_major(data, indices, indptr, self.place, self.columns)
        else:
            self.columns = np.ascontiguousarray(rows.X.T, dtype=layout.dtype)

    def __len__(self) -> int:
        return len(self.rows)

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
            factors = points.X.astype(self.layout.dtype, copy=False)
            dense_inner(factors, None, self.columns, out)
        elif channel == SQUARED:
            compiled.dense_squared(
                points.X, points.norms, None, rows.X, self.norms, inner, plan.reach, plan.near, out
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
                *csr, points.norms, self.csr, self.norms, inner, plan.reach, plan.near, out
            )
        elif channel == MANHATTAN:
            compiled.sparse_manhattan(*csr, self.csr, out)

    def own_pairs(self) -> Floats:
        """(channels, b, b) pair values of the examples with one another."""
        return self.pairs_with(self.rows)

    def pairs_with(self, points: Rows) -> Floats:
        """(channels, n, b) pair values of points and examples."""
        shape = len(self.layout.channels), len(points), len(self)
        out = np.empty(shape, self.layout.dtype)
        self.pairs(points, out)
        return out


class SupportVectors:
    """The stored points: features, norms, keys and one row of coefficients each.

    What changes them gives new ones, so that a block that is interrupted changes nothing.

    Attributes
    ----------
    n, counted : number of points, and (1,) the same
    coefficients : (n, columns)
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

    def appended(
        self, rows: Rows, which: NDArray[np.int64], coefficients: Floats
    ) -> SupportVectors:
        """These and the rows `which`, with their coefficients (len(which), columns).

        These stay as they are: what is new goes behind their end, into memory that both share.
        """
        n, new = self.n + len(which), copy(self)
        new._coefficients = _grown(self._coefficients, n)
        new._coefficients[self.n : n] = coefficients
        new._norms = _grown(self._norms, n)
        new._norms[self.n : n] = rows.norms[which]
        new._keys = _grown(self._keys, n)
        new._keys[self.n : n] = rows.keys[which]
        if isinstance(rows, DenseRows):
            new._X = _grown(self._X, n)
            move_dense(rows.X, which, new._X, self.n)
        else:
            filled = int(self._indptr[self.n])
            filled += count_entries(rows.indptr, rows.start, which)
            new._data = _grown(self._data, filled)
            new._indices = _grown(self._indices, filled)
            new._indptr = _grown(self._indptr, n + 1)
            move_sparse(
                rows.data, rows.indices, rows.indptr, rows.start, which,
                new._data, new._indices, new._indptr, self.n,
            )  # fmt: skip
        new.counted = np.array([n])
        return new

    def kept(self, which: NDArray[np.int64]) -> SupportVectors:
        """New support vectors: some of the points of this object, which does not change.

        The numbers of the points rise.
        """
        if len(which) == self.n:
            return self
        n, new = len(which), copy(self)
        new.counted = np.array([n])
        new._coefficients = np.empty_like(self._coefficients)
        new._coefficients[:n] = self._coefficients[which]
        new._norms = np.empty_like(self._norms)
        new._norms[:n] = self._norms[which]
        new._keys = np.empty_like(self._keys)
        new._keys[:n] = self._keys[which]
        if self.sparse:
            new._data, new._indices = np.empty_like(self._data), np.empty_like(self._indices)
            new._indptr = np.zeros_like(self._indptr)
            move_sparse(
                self._data, self._indices, self._indptr, 0, which,
                new._data, new._indices, new._indptr, 0,
            )  # fmt: skip
        else:
            new._X = np.empty_like(self._X)
            move_dense(self._X, which, new._X, 0)
        return new

    def with_coefficients(self, coefficients: Floats) -> SupportVectors:
        """The same points with other coefficients, (n, columns); these stay as they are."""
        new = copy(self)
        new._coefficients, new.counted = coefficients, self.counted.copy()
        return new

    def only_columns(self, columns: Sequence[int]) -> SupportVectors:
        """The other columns 0, without the points that nothing uses then."""
        coefficients = np.zeros_like(self.coefficients)
        coefficients[:, columns] = self.coefficients[:, columns]
        used = np.flatnonzero(coefficients.any(axis=1))
        return self.with_coefficients(coefficients).kept(used)

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

        Raises
        ------
        InputError
            An array is missing, or they do not fit each other; compiled code trusts them later.
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
            found = compiled.sparse_norms(_writeable(arrays["data"]), arrays["indptr"])
            check_norms(arrays["norms"], found)
        else:
            check_norms(arrays["norms"], _by_parts(compiled.dense_norms, arrays["X"], np.float64))
        for name in shapes:
            setattr(self, f"_{name}", arrays[name])
        self.counted = np.array([n])


@contextmanager
def within(names: str) -> Iterator[None]:
    """What is said of an array names it in full: after `names`."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{names}{error}") from error


def check_array(name: str, array: Any, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """The array; InputError where it is missing, or of another shape or type."""
    expected = f"expected {np.dtype(kind)} of shape {shape}"
    if array is None:
        raise InputError(f"{name} is missing, {expected}")
    if not isinstance(array, np.ndarray):
        raise InputError(f"{name}: {expected}, got {shown(array)}")
    if array.shape != shape or array.dtype != kind:
        raise InputError(f"{name}: {expected}, got {array.dtype} of shape {array.shape}")
    return array


def check_norms(norms: Floats, found: Floats) -> None:
    """Raise InputError unless squared norms are those of their points, up to rounding."""
    near = np.abs(norms - found) <= 1e-9 * found + SMALLEST
    if not (near & np.isfinite(found)).all():
        raise InputError("norms: not the squared norms of the points")


def check_csr(indices: NDArray[np.int64], indptr: NDArray[np.int64], width: int) -> None:
    """Raise InputError unless these are those of a CSR matrix with rising indices in each row."""
    falls = indptr[1:] < indptr[:-1]  # compared, not subtracted: no overflow
    if indptr[0] != 0 or indptr[-1] != len(indices) or falls.any():
        raise InputError("indptr: does not cut the entries into rows")
    rises = np.ones(len(indices), dtype=bool)
    rises[1:] = indices[1:] > indices[:-1]
    rises[indptr[:-1][indptr[1:] > indptr[:-1]]] = True  # the first of each row
    if not (rises & (indices >= 0) & (indices < width)).all():
        raise InputError(f"indices: expected rising ones from 0 to {width - 1} in each row")
