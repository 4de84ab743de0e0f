"""Arrays as compiled code takes them, and checks of arrays from files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import real, shown
from kernbrook.errors import InputError
from kernbrook.sparse import as_csr

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]


def as_rows(X: Any) -> Any:
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


def writeable(array: NDArray[Any]) -> Any:
    """The array, or a copy where it is read-only, which would be compiled for anew."""
    return array if array.flags.writeable else array.copy()


def enlarge(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with room for `size` rows, at least half as much again as before.

    A read-only one, as of a model that was mapped into memory, is copied: it is to be written to.
    """
    if size <= len(array):
        return writeable(array)
    larger = np.zeros((max(size, len(array) * 3 // 2, 64), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def pad(array: NDArray[Any], axis: int, size: int) -> NDArray[Any]:
    """The array with zeros behind the end of an axis, up to a size."""
    room = np.zeros((array.ndim, 2), dtype=int)
    room[axis, 1] = size - array.shape[axis]
    return np.pad(array, room)


@contextmanager
def within(names: str) -> Iterator[None]:
    """Messages on an array name it in full: after `names`."""
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
