"""Which recipes of a comparison a test does not tell from the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kernbrook.evaluation.measuring.measures import DEFAULT, OF_SIZES, shortfall
from kernbrook.evaluation.runs.record import Row


def best_rows(rows: Sequence[Row], measure: str | None = None) -> tuple[str, ...]:
    """Recipes that a Student t-test (5 %, two-sided) does not tell from the best mean.

    The test is of the measure, or of its logarithms where that is squared or absolute errors: where
    a recipe diverges, their spread hides every difference. The best coverage is the one nearest to
    what is wanted. A recipe without the measure is not among the best.

    Parameters
    ----------
    rows : of recipes for one task
    measure : None: mistakes, or mean squared errors
    """
    measure = DEFAULT[rows[0].task] if measure is None else measure
    found = {row.recipe: shortfall(measure, row.measured(measure)) for row in rows}
    finite = [values for values in found.values() if np.isfinite(values).all()]
    least = min(finite or found.values(), key=lambda values: values.mean())
    if measure in OF_SIZES:
        with np.errstate(divide="ignore"):
            least, found = np.log(least), {name: np.log(own) for name, own in found.items()}
    return tuple(name for name, own in found.items() if not _differs(own, least))


def _differs(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    if a.mean() == b.mean():
        return False
    if len(a) < 2 or not np.isfinite([a, b]).all() or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return True
    first, second = ((v.mean(), v.std(ddof=1), len(v)) for v in (a, b))
    return bool(stats.ttest_ind_from_stats(*first, *second).pvalue < 0.05)
