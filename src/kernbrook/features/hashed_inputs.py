"""The features of a row themselves, hashed: for rows of many features, most of which are 0."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from sklearn.base import BaseEstimator

from kernbrook.checks import Whole, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.numerics.draws import STRIDE, mix

MOST_CELLS = 2**20  # where no number is said


@parameters
class HashedInputs(BaseEstimator):
    """A map for `Cells`: each feature of a row that is not 0 is a cell, with its value.

    The kernel of this map is the linear one. It is for rows of many features, such as counts of
    words: a row costs as much as the features that are not 0.

    Parameters
    ----------
    cells : int or None
        Of the table. Where rows have more features, these are hashed: two that meet share a weight.
        None: as many as there are features, but 1,048,576 at most.

    References
    ----------
    Weinberger, Dasgupta, Langford, Smola, Attenberg (2009), Feature hashing for large scale
    multitask learning.

    Examples
    --------
    >>> HashedInputs(cells=1000)
    HashedInputs(cells=1000)
    """

    choice = "cells"
    cells: Annotated[int | None, or_none(Whole())] = None

    def size(self, d: int) -> int:
        """Cells for rows of d features."""
        return min(d, MOST_CELLS) if self.cells is None else self.cells


@njit(cache=True, nogil=True)
def cell_of(feature, d, cells):
    """The cell of a feature of d."""
    if d <= cells:
        return feature
    spread = mix(np.uint64(feature) * STRIDE) >> np.uint64(32)
    return np.int64((spread * np.uint64(cells)) >> np.uint64(32))
