"""Rows that nothing can be learned from: NaN, infinity, what is no number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernbrook.gram.points import Flags, sound


def good_rows(X: Any, most: float = np.inf) -> Flags:
    """(n,) bool: rows of finite numbers, the sum of whose squares is below `most`.

    Examples
    --------
    >>> good_rows([[1, 2], [3, "four"], [float("nan"), 5]])
    array([ True, False, False])
    """
    X = sound(X)
    if sp.issparse(X):
        sizes = np.abs(X.data.astype(np.float64))
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        with np.errstate(over="ignore"):
            return np.asarray(np.bincount(rows, sizes**2, X.shape[0]) < most)
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        each = X.to_numpy(dtype=object) if hasattr(X, "to_numpy") else X
        return np.array([_is_good(row, most) for row in each], dtype=bool)
    with np.errstate(over="ignore"):
        return np.asarray((numbers**2).sum(axis=-1) < most)


def _is_good(row: Any, most: float) -> bool:
    try:
        return bool(good_rows(np.asarray(row, dtype=np.float64)[None], most)[0])
    except (TypeError, ValueError):
        return False


def runs(good: Flags) -> Iterator[tuple[slice, bool]]:
    """Slices of rows that are all good, or all bad, in their order."""
    ends = np.flatnonzero(np.diff(good)) + 1
    for start, end in zip([0, *ends], [*ends, len(good)], strict=True):
        yield slice(int(start), int(end)), bool(good[start])
