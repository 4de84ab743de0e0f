"""Streams from arrays in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import real, shown
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.sparse import as_csr
from kernbrook.streams.stream import Features, Labels, Piece, Stream


class ArrayStream(Stream):
    """Rows that are in memory already: (n, d) finite numbers in any form, (n,) numbers or text.

    Nothing is copied that need not be: chunks are views where X is float64 and C-contiguous. Sparse
    input becomes CSR. NonFiniteError names the first row and column with NaN or infinity.
    """

    def __init__(self, X: Any, y: Any, name: str = "arrays"):
        self.name = name
        sparse = hasattr(X, "tocsr")  # as scipy's alone have, which is not imported to know that
        self._X = _sparse_features(X) if sparse else _dense_features(X)
        self._y = _labels(y)
        if self._X.shape[0] != len(self._y):
            raise InputError(f"X has {self._X.shape[0]} rows, y has {len(self._y)}")
        self.n_rows, self.n_features = map(int, self._X.shape)

    def _pieces(self) -> Iterator[Piece]:
        yield self._X, self._y


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InputError(f"X must have two dimensions (rows, features), got shape {shape}")
    if 0 in shape:
        raise InputError(f"X must have at least one row and one feature, got shape {shape}")


def _check_real(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise InputError(f"X must hold real numbers, got {dtype}")


def _dense_features(X: Any) -> Features:
    try:
        raw = np.asarray(real(X))
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"X must be a matrix of numbers: {error}") from None
    _check_shape(raw.shape)
    if raw.dtype.kind == "O":
        # A frame with columns of several types.
        places = (i for i, value in enumerate(raw.flat) if isinstance(value, (str, bytes)))
        place = next(places, None)
        if place is not None:
            row, column = divmod(place, raw.shape[1])
            where = _where(row, column, getattr(X, "columns", None))
            raise InputError(f"X must hold numbers only; found {shown(raw[row, column])} {where}")
        try:
            raw = raw.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"X must hold numbers only: {error}") from None
    _check_real(raw.dtype)
    array = np.ascontiguousarray(raw, dtype=np.float64)
    finite = np.isfinite(array)
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), array.shape[1])
        _refuse_non_finite(array[row, column], row, column, getattr(X, "columns", None))
    return array


def _sparse_features(X: Any) -> Features:
    from scipy.sparse import csr_array

    _check_shape(X.shape)
    _check_real(X.dtype)
    array = csr_array(as_csr(X), dtype=np.float64)
    finite = np.isfinite(array.data)
    if not finite.all():
        place = int(np.argmin(finite))
        row = int(np.searchsorted(array.indptr, place, side="right")) - 1
        _refuse_non_finite(array.data[place], row, int(array.indices[place]), None)
    return array


def _refuse_non_finite(value: float, row: int, column: int, names: Any) -> None:
    raise NonFiniteError(f"X has {value} {_where(row, column, names)}")


def _where(row: int, column: int, names: Any) -> str:
    called = "" if names is None else f" ({shown(names[column])})"
    return f"at row {row}, column {column}{called}, counted from 0"


def _labels(y: Any) -> Labels:
    try:
        array = np.asarray(real(y, "y"))
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"y must be a vector of labels: {error}") from None
    if array.ndim != 1:
        raise InputError(f"y must have one dimension, got shape {array.shape}")
    if array.dtype.kind == "O":
        array = _from_objects(array)
    match array.dtype.kind:
        case "f":
            finite = np.isfinite(array)
            if not finite.all():
                row = int(np.argmin(finite))
                raise NonFiniteError(f"y has {array[row]} at row {row}, counted from 0")
            return array.astype(np.float64, copy=False)
        case "u" if (array > np.iinfo(np.int64).max).any():
            raise InputError(f"y must hold whole numbers below 2^63, got {array.max()}")
        case "i" | "u":
            return array.astype(np.int64, copy=False)
        case "b" | "U":
            return array
        case _:
            raise InputError(f"y must hold numbers or text, got {array.dtype}")


def _from_objects(array: NDArray[Any]) -> NDArray[Any]:
    values = array.tolist()
    text = bool(values) and isinstance(values[0], str)
    odd = next((i for i, v in enumerate(values) if v is None or isinstance(v, str) != text), None)
    if odd is None:
        array = np.asarray(values)
        if array.dtype.kind in "biufU":
            return array
        odd = 0
    raise InputError(
        f"y must hold numbers only or text only; found {shown(values[odd])} at row {odd}, counted "
        "from 0"
    )
