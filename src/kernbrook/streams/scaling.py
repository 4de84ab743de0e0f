"""Scaling of features as they come, by what is known at the time and nothing of the future."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.numerics import scaling
from kernbrook.numerics.scaling import METHODS
from kernbrook.streams.base import Piece, Stream

LARGEST_FILLED = 4096  # features of a sparse row that is filled in


class OnlineScaler:
    """Scales each feature by its running maximum, or its running mean and deviation.

    A row is scaled by the rows before it and itself: its features are known before its label is.

    Parameters
    ----------
    method : "maximum" or "moments"
        "maximum": x / max |x|, which keeps zeros. "moments": (x - mean) / deviation, 0 where
        nothing has varied yet; sparse rows are filled in.
    width : int, number of features

    Raises
    ------
    InputError
        No such method, or sparse rows of more than 4,096 features for "moments".

    Examples
    --------
    >>> import numpy as np
    >>> scaler = OnlineScaler("maximum", 1)
    >>> scaler.learn(np.array([[2.0], [1.0], [4.0]])).ravel()
    array([1. , 0.5, 1. ])
    >>> scaler.transform(np.array([[1.0], [8.0]])).ravel()
    array([0.25, 1.  ])
    """

    def __init__(self, method: str, width: int):
        if not isinstance(method, str) or method not in METHODS:
            raise InputError(
                f"scaling: expected 'auto', 'moments', 'maximum' or None, got {method!r}"
            )
        self.method = method
        self._code = METHODS[method]
        self._seen = np.zeros(1, dtype=np.int64)
        self._first = np.zeros(width)
        self._second = np.zeros(width)

    def learn(self, X: Any) -> Any:
        """(n, d) the rows scaled, each by those before it and itself, which are then known."""
        X = self._filled(X)
        if sp.issparse(X):
            return self._sparse(X, self._first)
        out = np.empty(X.shape)
        scaling.scale_rows(self._code, np.array(X), self._seen, self._first, self._second, out)
        return out

    def transform(self, X: Any) -> Any:
        """(n, d) each row scaled as if it came next; nothing changes."""
        X = self._filled(X)
        if sp.issparse(X):
            each = (X[i : i + 1] for i in range(X.shape[0]))
            rows = [self._sparse(row, self._first.copy()) for row in each]
            return sp.vstack(rows, format="csr") if rows else X
        out = np.empty(X.shape)
        scaling.scale_each(self._code, np.array(X), self._seen, self._first, self._second, out)
        return out

    def _filled(self, X: Any) -> Any:
        """Dense rows where zeros do not stay zeros."""
        if self.method == "maximum" or not sp.issparse(X):
            return X
        if X.shape[1] > LARGEST_FILLED:
            raise InputError(
                f"scaling: 'moments' fills in sparse rows, of at most {LARGEST_FILLED} features, "
                f"found {X.shape[1]}; take 'maximum'"
            )
        return X.toarray()

    def _sparse(self, X: Any, largest: NDArray[np.float64]) -> Any:
        out = np.empty(X.nnz)
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        scaling.scale_sparse(X.data, indices, indptr, largest, out)
        return type(X)((out, X.indices, X.indptr), shape=X.shape)

    def copy(self) -> OnlineScaler:
        """One that goes on from here by itself."""
        other = OnlineScaler.__new__(OnlineScaler)
        other.method, other._code, other._seen = self.method, self._code, self._seen.copy()
        other._first, other._second = self._first.copy(), self._second.copy()
        return other

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that was learned, by name."""
        return {"seen": self._seen, "first": self._first, "second": self._second}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from these arrays; they are copied."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]


class ScaledView(Stream):
    """A stream with its features scaled as they come, afresh at each reading; see `OnlineScaler`.

    Parameters
    ----------
    stream : the rows
    method : "maximum" or "moments"

    Examples
    --------
    >>> from kernbrook.streams import open_stream
    >>> X, _ = ScaledView(open_stream("wdbc"), "maximum").read()
    >>> float(X.max())
    1.0
    """

    def __init__(self, stream: Stream, method: str):
        self.name = stream.name
        self.n_features = stream.n_features
        self.n_rows = stream.n_rows
        self._stream = stream
        self._method = method
        OnlineScaler(method, 0)  # a wrong method is found before any reading

    def _pieces(self) -> Iterator[Piece]:
        scaler = OnlineScaler(self._method, self.n_features)
        for X, y in self._stream._pieces():
            yield scaler.learn(X), y
