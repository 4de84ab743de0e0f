"""Tables of mistakes and support vectors, as the papers on online learning have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kernbrook import recipes as book
from kernbrook.evaluation.comparing.ranking import best_rows
from kernbrook.evaluation.runs.record import Row
from kernbrook.papers.authors_orders import Runs
from kernbrook.papers.published import ERROR, SECONDS, SUPPORT, Job, PrintedRow, names_of
from kernbrook.reports.forms import STAR_NOTE_ALONE
from kernbrook.reports.table import Table, of_cells
from kernbrook.results import Cell, Estimate, Results

MEASURES = (ERROR, SUPPORT, SECONDS)
DRAWN_VOTES = ("omkc-ds", "omkc-ss")  # the tables count the kernels of the last vote for these
BELOW = (
    "Mistakes in per cent of the rounds, and support vectors over all kernels at the end: means "
    "over the orders ± one standard deviation."
)

STAR_NOTE = "* not told from the least mean by a Student t-test at 5 %"


def run(job: Job) -> Iterator[Cell]:
    """The rows of a table, data set by data set."""
    for name in job.present:
        wanted = job.of(name)
        rows = _rows(job, Runs(job, name, len(wanted)), wanted)
        best = best_rows(rows, paired=False)
        for row, ours in zip(wanted, rows, strict=True):
            marked = row.values.get("best")
            facts = {
                "best": row.recipe in best,
                "best_printed": None if marked is None else bool(marked),
            }
            printed = row.estimates("error", "n_support", "seconds")
            yield Cell(row.key, measured(ours), printed, facts=facts)


def measured(row: Row) -> dict[str, Estimate]:
    """Mistakes in per cent, the model's size as the tables count it, and seconds."""
    size = "n_support_active" if row.recipe in DRAWN_VOTES else "n_support_stored"
    return {
        "error": Estimate.of(row.errors),
        "n_support": Estimate.of(row.values(size)),
        "seconds": Estimate.of(row.values("seconds")),
    }


def _rows(job: Job, runs: Runs, wanted: list[PrintedRow]) -> list[Row]:
    """Our runs of the wanted rows; those of the same settings go side by side."""
    groups: dict[tuple[tuple[str, Any], ...], list[str]] = {}
    for row in wanted:
        groups.setdefault(tuple(row.settings.items()), []).append(row.recipe)
    found: dict[str, Row] = {}
    for items, recipes in groups.items():
        settings = dict(items)
        if settings.get("kernels") == "best":
            kernel = best_kernel(runs, settings.get("tie", "label"))
            job.remark(f"Perceptron(*) takes {kernel} on {runs.name}")
            settings["kernels"] = [kernel]
        found |= {row.recipe: row for row in runs.run(recipes, **settings).rows}
    return [found[row.recipe] for row in wanted]


def best_kernel(runs: Runs, tie: str) -> Any:
    """The kernel whose perceptron errs least in one pass over the first order."""
    X, y = runs.stream.read()
    order = runs.first_order()
    perceptrons = book.make("perceptron-best", tie=tie)
    best = perceptrons.choose_kernel(X[order], y[order], classes=np.unique(y))
    return perceptrons.kernels_[best]


def tabled(results: Results) -> Table:
    """Mistakes and support vectors, printed and ours; stars mark the best of each data set.

    Differences are ours less printed, in points for the mistakes and in per cent for the support
    vectors. Seconds are shown where the paper prints them.
    """
    cells = results.cells
    errors = of_cells(cells, ERROR)
    for place, name in enumerate(("best_printed", "best")):
        stars = tuple("*" if cell.facts.get(name) else "" for cell in cells)
        if any(stars):
            errors[place] = replace(errors[place], marks=stars)
    columns = [names_of(cells), *errors]
    columns += of_cells(cells, SUPPORT, "printed ours percent", rough=2)
    if any("seconds" in cell.printed for cell in cells):
        columns += of_cells(cells, SECONDS, "printed ours", spare=1)
    alone = all(cell.ours["error"].runs == 1 for cell in cells)
    return Table(
        tuple(columns),
        tuple(cell["data"] for cell in cells),
        frozenset(i for i, cell in enumerate(cells) if cell.facts.get("best")),
        (STAR_NOTE_ALONE if alone else STAR_NOTE,),
    )
