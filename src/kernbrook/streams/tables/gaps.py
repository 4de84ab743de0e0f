"""What is missing in rows of numbers, filled by the rows before, however they are cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernbrook.streams.tables.column_kinds import Floats

Counts = NDArray[np.int64]


def filled_by_last(values: Floats, last: Floats) -> tuple[Floats, Floats]:
    """Rows (n, d) filled by the last values, and what these are (d,) after them."""
    rows = np.vstack([last, values])
    place = np.where(np.isnan(rows), 0, np.arange(len(rows))[:, None])
    filled = np.take_along_axis(rows, np.maximum.accumulate(place, axis=0), axis=0)
    return np.ascontiguousarray(filled[1:]), filled[-1].copy()


def sums_of(values: Floats, totals: Floats, counts: Counts) -> tuple[Floats, Counts]:
    """(n + 1, d) the sums and numbers of values before each row, and after the last one.

    They are added one after the other, so that the length of a chunk does not matter.
    """
    there = ~np.isnan(values)
    with np.errstate(over="ignore"):
        sums = np.add.accumulate(np.vstack([totals, np.where(there, values, 0.0)]))
    return sums, np.add.accumulate(np.vstack([counts, there]), dtype=np.int64)


def filled_by_means(values: Floats, sums: Floats, counts: Counts) -> Floats:
    """Rows (n, d) filled by the means of the values before, 0 before the first one."""
    return np.where(np.isnan(values), sums[:-1] / np.maximum(counts[:-1], 1), values)
