"""Laps of rows, and which rows of a lap are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Flags, Floats, Ints, check_array, check_csr

FAR = 128  # the last place of `soon`
SHORTEST = 128  # rows of a lap
SHORT_LAPS = 16  # before laps are four times as long
LAPS_LATE = 4  # from one model kept for `late` to the next
SOON_PLACES = np.array([*range(2, 17, 2), *range(21, FAR + 1, 12)])
LATE_PLACES = 32  # rows judged of each lap for `late`


def late_places(lap: int) -> Ints:
    """Places after the start of four laps, of so many rows, of which rows are judged for `late`."""
    return np.arange(FAR + 7, LAPS_LATE * lap + 1, max(lap // LATE_PLACES, 1))


class Lap:
    """Rows since the last lap ended, filled in place; what lies behind the last row is nothing.

    X : (n, d) as they were given; else a list, in which rows are that may be judged
    labels : (n,) NaN where none was seen
    weights : (n,) of the rows, as they count
    said : scores and sizes of rows by models as they were, where these were asked before the end
    """

    def __init__(self, wanted: Flags, width: int, sparse: bool, whole: bool):
        n, self.wanted, self.width, self.sparse = len(wanted), wanted, width, sparse
        self.all = whole
        self.X: Any = np.zeros((n, width)) if self.all else [None] * n
        self.labels = np.full(n, np.nan)
        self.weights = np.ones(n)
        self.said: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    def __len__(self) -> int:
        return len(self.labels)

    def put(self, at: int, X: Any, labels: Any, weights: Any) -> None:
        """Rows from a place on."""
        n = X.shape[0]
        where = slice(at, at + n)
        if self.all:
            self.X[where] = X if isinstance(X, np.ndarray) else X.toarray()
        else:
            for i in np.flatnonzero(self.wanted[where]):
                row = X[i : i + 1]
                dense = row.toarray() if sp.issparse(row) else row.copy()
                self.X[at + i] = sp.csr_matrix(row) if self.sparse else dense
        self.labels[where], self.weights[where] = labels, weights

    @property
    def tells(self) -> Flags:
        """(n,) bool, the rows that have a label and weigh something."""
        return ~np.isnan(self.labels) & (self.weights > 0)

    def judged(self, which: Ints) -> Ints:
        """Of some rows those that tell something, and are here: a lap may begin in its middle."""
        here = [self.all or self.X[row] is not None for row in which]
        return which[self.tells[which] & np.array(here, dtype=bool)]

    def first(self, n: int) -> Floats:
        """(n, d) the first n rows, as they were given; no features of rows of many."""
        return self.X[:n] if self.all else np.empty((n, 0))

    def rows(self, which: Ints) -> Any:
        """Some of the rows that may be judged, as the model keeps rows."""
        if self.all:
            return sp.csr_matrix(self.X[which]) if self.sparse else self.X[which]
        nothing = np.zeros((0, self.width))
        rows = [sp.csr_matrix(nothing) if self.sparse else nothing, *(self.X[i] for i in which)]
        return sp.vstack(rows, format="csr") if self.sparse else np.concatenate(rows)

    def arrays(self, n: int) -> dict[str, NDArray[Any]]:
        """The first n rows."""
        tells, blank = self.tells, {"labels": np.nan, "weights": 1.0}
        own = {name: np.where(tells, getattr(self, name), no)[:n] for name, no in blank.items()}
        if self.all:
            return {"X": self.X[:n], **own}
        there = np.array([i for i in range(n) if self.X[i] is not None], dtype=np.int64)
        own["places"], X = there, self.rows(there)
        if not self.sparse:
            return {"X": X, **own}
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return {"data": X.data, "indices": indices, "indptr": indptr, **own}

    def restore(self, arrays: Mapping[str, NDArray[Any]], n: int) -> None:
        """The first n rows from these arrays; InputError where there can be none such."""
        for name in ("labels", "weights"):
            array = check_array(name, arrays.get(name), (n,), np.float64)
            if np.isinf(array).any() or (name != "labels" and not (array >= 0).all()):
                raise InputError(f"{name}: expected finite numbers, and no weight below 0")
            getattr(self, name)[:n] = array
        m = n if self.all else len(arrays.get("places", ()))
        if self.all or not self.sparse:
            X: Any = check_array("X", arrays.get("X"), (m, self.width), np.float64)
            values = X
        else:
            filled = len(arrays.get("data", ()))
            values = check_array("data", arrays.get("data"), (filled,), np.float64)
            indices = check_array("indices", arrays.get("indices"), (filled,), np.int64)
            indptr = check_array("indptr", arrays.get("indptr"), (m + 1,), np.int64)
            check_csr(indices, indptr, self.width)
            X = sp.csr_matrix((values, indices, indptr), shape=(m, self.width))
        if not np.isfinite(values).all():
            raise InputError("X: NaN or infinity")
        if self.all:
            self.X[:n] = X
            return
        places = check_array("places", arrays.get("places"), (m,), np.int64)
        if ((places < 0) | (places >= n)).any() or not self.wanted[places].all():
            raise InputError("places: expected rows of the lap that may be judged")
        for i, place in enumerate(places):
            self.X[place] = X[i : i + 1]


def check_labels(labels: Floats, setting: Setting) -> None:
    """Raise InputError where these are no labels as a model takes them; compiled code trusts it."""
    numbers, own = setting.regression, labels[~np.isnan(labels)]
    fits = np.abs(own) < 1e150 if numbers else np.isin(own, np.arange(max(setting.scores, 2)))
    if not fits.all():
        raise InputError(f"labels: expected some that there are, got {own[~fits][0]:g}")
