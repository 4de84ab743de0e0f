"""Mean and deviation of each feature, as rows come."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook.gram.arrays import Floats
from kernbrook.streams.stream import Features


class Moments:
    """Mean and deviation of each feature of the rows so far, dense or sparse.

    Each chunk's own sums of squares about its mean are merged (Chan, Golub, LeVeque, 1983): means
    far from 0 cost no digits.
    """

    def __init__(self, n_features: int):
        self._rows = 0
        # Of the values that are stored; those that are not are 0.
        self._counts, self._means, self._squares = np.zeros((3, n_features))

    def add(self, X: Features) -> None:
        n = X.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(X, np.ndarray):
                here = X.mean(axis=0)
                self._merge(slice(None), n, here, ((X - here) ** 2).sum(axis=0))
            else:
                columns, place = np.unique(X.indices, return_inverse=True)
                counts = np.bincount(place).astype(np.float64)
                here = np.bincount(place, X.data) / counts
                squares = np.bincount(place, (X.data - here[place]) ** 2).astype(np.float64)
                self._merge(columns, counts, here, squares)
        self._rows += n

    def means(self) -> Floats:
        """(d,); of no rows 0."""
        return self._means * self._share()

    def deviations(self) -> Floats:
        """(d,) with as many degrees of freedom as rows; not finite where the squares overflow."""
        with np.errstate(over="ignore"):
            apart = self._means * np.sqrt(self._counts * (1 - self._share()))
            return np.sqrt((self._squares + apart**2) / max(self._rows, 1))

    def _share(self) -> Floats:
        return self._counts / max(self._rows, 1)

    def _merge(self, at: Any, n: Any, here: Floats, squares: Floats) -> None:
        before = self._counts[at]
        both = before + n
        apart = here - self._means[at]
        self._squares[at] += squares + apart**2 * (before * n / both)
        self._means[at] += apart * (n / both)
        self._counts[at] = both
