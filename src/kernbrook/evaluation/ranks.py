"""Which recipes a test does not tell from the best: on one data set, and by ranks on several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kernbrook.errors import InputError
from kernbrook.evaluation.measures import DEFAULT, OF_SIZES, shortfall
from kernbrook.evaluation.record import Comparison, Row

LEVEL = 0.05


def best_rows(
    rows: Sequence[Row], measure: str | None = None, paired: bool = True
) -> tuple[str, ...]:
    """Recipes that a t-test (5 %, two-sided) does not tell from the best mean.

    The test is paired, for all recipes have the same orders. It is of the measure, or of its
    logarithms where that is squared or absolute errors: where a recipe diverges, their spread
    hides every difference. The best coverage is the one nearest to what is wanted. A recipe without
    the measure is not among the best.

    Parameters
    ----------
    rows : of recipes for one task
    measure : None: mistakes, or mean squared errors
    paired : False: of two independent samples of equal variance, as papers have it
    """
    measure = DEFAULT[rows[0].task] if measure is None else measure
    found = {row.recipe: shortfall(measure, row.measured(measure)) for row in rows}
    finite = [values for values in found.values() if np.isfinite(values).all()]
    least = min(finite or found.values(), key=lambda values: values.mean())
    if measure in OF_SIZES:
        with np.errstate(divide="ignore"):
            least, found = np.log(least), {name: np.log(errors) for name, errors in found.items()}
    return tuple(name for name, errors in found.items() if not _differs(errors, least, paired))


def _differs(a: NDArray[np.float64], b: NDArray[np.float64], paired: bool) -> bool:
    if a.mean() == b.mean():
        return False
    if len(a) < 2 or not np.isfinite([a, b]).all():
        return True
    if paired:
        # The same difference in each order: its spread is nothing but rounding.
        even = np.ptp(a - b) <= 1e-12 * max(np.abs(a).max(), np.abs(b).max())
        return bool(even or stats.ttest_rel(a, b).pvalue < LEVEL)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return True
    first, second = ((v.mean(), v.std(ddof=1), len(v)) for v in (a, b))
    return bool(stats.ttest_ind_from_stats(*first, *second).pvalue < LEVEL)


@dataclass(frozen=True)
class Ranking:
    """Ranks of recipes by their mean errors, or another measure, 1 the best; equals share theirs.

    Attributes
    ----------
    data : (n,) names of the data sets
    recipes, titles : (k,) those that came to their end on each of them
    ranks : (n, k)
    p_value : of the Friedman test that the recipes do not differ; NaN of two recipes
    difference : of two mean ranks from which the Nemenyi test tells them apart at 5 %

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> import kernbrook as kb
    >>> names, rules = ("wdbc:90", "checkerboard:90"), ["majority", "last-label"]
    >>> found = [kb.compare(name, rules, permutations=2, jobs=1) for name in names]
    >>> ranks = kb.evaluation.ranking(found)
    >>> dict(zip(ranks.recipes, ranks.mean.tolist()))
    {'majority': 1.5, 'last-label': 1.5}
    """

    data: tuple[str, ...]
    recipes: tuple[str, ...]
    titles: tuple[str, ...]
    ranks: NDArray[np.float64]
    p_value: float
    difference: float

    @property
    def mean(self) -> NDArray[np.float64]:
        """(k,) mean rank of each recipe."""
        return self.ranks.mean(axis=0)

    @property
    def best(self) -> tuple[str, ...]:
        """Recipes whose mean rank is not told from the least one."""
        near = self.mean - self.mean.min() < self.difference
        return tuple(recipe for recipe, is_near in zip(self.recipes, near, strict=True) if is_near)


def ranking(comparisons: Sequence[Comparison]) -> Ranking:
    """The ranks of the recipes that all comparisons have, by the measure of these.

    Parameters
    ----------
    comparisons : of `compare`, on two data sets or more

    Raises
    ------
    InputError
        There are fewer than two comparisons, or fewer than two such recipes; or the comparisons go
        by different measures.

    Examples
    --------
    >>> from kernbrook.evaluation.comparing import compare
    >>> names = ["omkc-dd", "majority"]
    >>> data = "wdbc", "checkerboard:300"
    >>> both = [compare(one, names, permutations=2, jobs=1) for one in data]
    >>> found = ranking(both)
    >>> found.recipes, found.mean.tolist()
    (('omkc-dd', 'majority'), [1.0, 2.0])
    """
    by_name = [{row.recipe: row for row in comparison.rows} for comparison in comparisons]
    first = comparisons[0].rows if comparisons else ()
    if len({comparison.by for comparison in comparisons}) > 1:
        raise InputError("ranks: the data sets are compared by different measures")
    measured = [
        {k for k, row in rows.items() if not np.isnan(row.measured(comparison.by)).any()}
        for comparison, rows in zip(comparisons, by_name, strict=True)
    ]
    common = [row for row in first if all(row.recipe in names for names in measured)]
    if len(comparisons) < 2 or len(common) < 2:
        raise InputError(
            "ranks: expected two data sets or more, and two recipes that end on each of them, "
            f"got {len(comparisons)} and {len(common)}"
        )
    recipes = tuple(row.recipe for row in common)
    measure = comparisons[0].by
    errors = np.array(
        [
            [shortfall(measure, rows[name].measured(measure)).mean() for name in recipes]
            for rows in by_name
        ]
    )
    n, k = errors.shape
    p_value = float(stats.friedmanchisquare(*errors.T).pvalue) if k > 2 else math.nan
    spread = float(stats.studentized_range.ppf(1 - LEVEL, k, np.inf)) / math.sqrt(2)
    return Ranking(
        tuple(comparison.data for comparison in comparisons),
        recipes,
        tuple(row.title for row in common),
        stats.rankdata(errors, axis=1),
        p_value,
        spread * math.sqrt(k * (k + 1) / (6 * n)),
    )
