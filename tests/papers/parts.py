"""Some rows of a published table, run as `reproduce` runs them all."""

from __future__ import annotations

from functools import cache

import pytest

from kernbrook.papers import published
from kernbrook.papers.published import Job, Plan
from kernbrook.papers.vkr import FoldErrors, paper_folds, paper_run
from kernbrook.results import Results


@cache
def some(table: str, data: str, recipes: tuple[str, ...], permutations: int) -> Results:
    """The rows of these recipes; skipped where the data are not there."""
    wanted = published(table)
    rows = [row for row in wanted.printed() if row.data == data and row.recipe in recipes]
    plan = Plan(permutations, jobs=1)
    found = wanted.find(rows, plan)
    if found is None:
        pytest.skip(f"KERNBROOK_DATA has no {data}")
    job = Job(wanted, plan, rows, {data: found})
    cells = tuple(wanted.run(job))
    return Results(table, wanted.title, wanted.measures, cells, remarks=tuple(job.remarks))


def one(table: str, data: str, recipe: str, permutations: int):
    """The cell of one row."""
    return some(table, data, (recipe,), permutations).cell(recipe=recipe)


def protocol(recipe, kernels, X, y, random_state=None):
    """All five runs of the protocol of voted kernel regularization."""
    runs = paper_folds(len(y), random_state)
    return FoldErrors.joined([paper_run(recipe, kernels, X, y, run) for run in runs])
