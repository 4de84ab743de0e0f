"""Which recipes of a comparison a test does not tell from the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kernbrook.evaluation.records import Row


def best_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """Recipes that a Student t-test (5 %, two-sided) does not tell from the least mean error.

    The test is of the mistakes, or of the logarithms of mean squared errors: where a recipe
    diverges, their spread hides every difference.
    """
    finite = [row for row in rows if np.isfinite(row.errors).all()]
    least = min(finite or rows, key=lambda row: row.errors.mean())
    return tuple(row.recipe for row in rows if not _differs(_tested(row), _tested(least)))


def _tested(row: Row) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return row.errors if row.task == "classification" else np.log(row.errors)


def _differs(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    if a.mean() == b.mean():
        return False
    if len(a) < 2 or not np.isfinite([a, b]).all() or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return True
    first, second = ((v.mean(), v.std(ddof=1), len(v)) for v in (a, b))
    return bool(stats.ttest_ind_from_stats(*first, *second).pvalue < 0.05)
