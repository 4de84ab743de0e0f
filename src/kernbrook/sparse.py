"""Sparse matrices, checked before compiled code goes by their indices: ours, and SciPy's own."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kernbrook.errors import InputError


def as_csr(X: Any) -> Any:
    """A SciPy matrix, (n, d), in CSR, columns rising in each row; a copy only where it is not.

    InputError where X has not two dimensions, or its arrays are those of no matrix: indices that
    are negative or too large, or pointers that do not cut them into rows. SciPy accepts such
    arrays, and then reads and writes outside of them.
    """
    if X.ndim != 2:
        raise InputError(f"X: expected a matrix of shape (n, d), got {X.ndim} dimension(s)")
    n, d = X.shape
    if X.format == "csc":
        _check_compressed(X, d, n, "row")
    elif X.format == "bsr":
        height, width = X.blocksize
        _check_compressed(X, n // height, d // width, "block column")
    elif X.format == "coo":
        for axis, indices, size in (("row", X.row, n), ("column", X.col, d)):
            _check_lengths(X.data, indices, axis)
            _check_range(indices, size, axis)
    X = X.tocsr()
    _check_compressed(X, n, d, "column")
    entries = int(X.indptr[-1])
    if entries < len(X.indices):
        X = type(X)((X.data[:entries], X.indices[:entries], X.indptr), shape=X.shape)
    if not _rise(X.indices, X.indptr):
        X = X.copy()  # and not what X remembers of its format, which a change in place outlives
        X.sum_duplicates()
    return X


def _check_compressed(X: Any, slices: int, size: int, axis: str) -> None:
    """Of CSR, CSC or BSR: `slices` rows or columns, with indices below `size`."""
    indptr = X.indptr
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != slices + 1:
        raise InputError(
            f"X: indptr is {indptr.dtype} of shape {indptr.shape}, expected {slices + 1} integers"
        )
    _check_lengths(X.data, X.indices, axis)
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        i = int(falls.argmax())
        raise InputError(
            f"X: indptr falls from {indptr[i]} to {indptr[i + 1]} at place {i + 1}, "
            "expected numbers that never fall"
        )
    if indptr[0] != 0 or indptr[-1] > len(X.indices):
        raise InputError(
            f"X: indptr goes from {indptr[0]} to {indptr[-1]}, expected from 0 to the "
            f"{len(X.indices)} entries"
        )
    _check_range(X.indices[: int(indptr[-1])], size, axis)


def _check_lengths(data: NDArray[Any], indices: NDArray[Any], axis: str) -> None:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InputError(
            f"X: {axis} indices are {indices.dtype} of shape {indices.shape}, expected integers"
        )
    if len(data) != len(indices):
        raise InputError(f"X: {len(data)} values with {len(indices)} {axis} indices")


def _check_range(indices: NDArray[Any], size: int, axis: str) -> None:
    if len(indices) == 0:
        return
    least, greatest = int(indices.min()), int(indices.max())
    if least >= 0 and greatest < size:
        return
    found = least if least < 0 else greatest
    hint = "; are the indices counted from 1?" if least > 0 and greatest == size else ""
    raise InputError(f"X: {axis} index {found} in a matrix of {size} {axis}s{hint}")


def _rise(indices: NDArray[Any], indptr: NDArray[Any]) -> bool:
    """Whether the columns rise in every row: sorted, and none of them twice."""
    rises = indices[1:] > indices[:-1]
    if rises.all():  # as of a single row
        return True
    starts = indptr[1:-1]
    starts = starts[(starts > 0) & (starts < len(indices))]
    rises[starts - 1] = True
    return bool(rises.all())
