"""Tables of mistakes and support vectors over many orders of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kernbrook import recipes as book
from kernbrook.evaluation.comparing import compare
from kernbrook.evaluation.parallel import Jobs, orders_of
from kernbrook.evaluation.ranks import best_rows
from kernbrook.evaluation.record import Row
from kernbrook.papers.published import (
    ERROR,
    SECONDS,
    SUPPORT,
    Found,
    Job,
    Variant,
    cells_of,
    names_of,
    orders_for,
)
from kernbrook.reports.comparison import STAR_NOTE_ALONE
from kernbrook.reports.table import Table, of_cells
from kernbrook.results import Estimate, Results
from kernbrook.streams import open_stream

MEASURES = (ERROR, SUPPORT, SECONDS)
DRAWN_VOTES = ("omkc-ds", "omkc-ss")  # the tables count the kernels of the last vote for these
BELOW = (
    "Mistakes in per cent of the rounds, and support vectors over all kernels at the end: means "
    "over the orders ± one standard deviation."
)

STAR_NOTE = "* not told from the least mean by a Student t-test at 5 %"


def runs(job: Job, name: str, wanted: Sequence[Variant], jobs: Jobs = None) -> list[Row]:
    """The runs of algorithms over all orders; jobs : as planned where None.

    Kernels "best" are the one of the pool that errs least in one pass over the first order.
    """
    X, y = job.present[name].read()
    plan, orders, machines = job.plan, orders_for(job, name), {}
    job.note_rows(name, len(y))
    for place, variant in enumerate(wanted):
        settings = dict(variant.settings)
        if settings.get("kernels") == "best":
            order = orders_of(orders, plan.permutations, plan.seed, len(y))[0]
            perceptrons = book.make("perceptron-best", tie=settings.get("tie", "label"))
            best = perceptrons.choose_kernel(X[order], y[order], classes=np.unique(y))
            settings["kernels"] = [kernel := perceptrons.kernels_[best]]
            job.remark(f"Perceptron(*) takes {kernel} on {name}")
        machines[f"{place} {variant.recipe}"] = book.make(variant.recipe, **settings)
    bar = job.bar(name, len(machines) * plan.permutations * len(y))
    found = compare(
        open_stream((X, y)), machines, permutations=plan.permutations, seed=plan.seed,
        orders=orders, jobs=jobs or plan.jobs, progress=None if bar is None else lambda rounds: bar,
        compiling=plan.compiling,
    )  # fmt: skip
    return list(found.rows)


def measured(job: Job, name: str, wanted: Sequence[Variant]) -> Iterator[Found]:
    """Mistakes in per cent, the size as the tables count it, seconds; and who is best."""
    rows = runs(job, name, wanted)
    best = best_rows(rows, paired=False)
    for variant, row in zip(wanted, rows, strict=True):
        size = "n_support_active" if variant.recipe in DRAWN_VOTES else "n_support_stored"
        seconds = row.values("seconds")
        ours = {"error": row.errors, "n_support": row.values(size), "seconds": seconds}
        marked = None if variant.printed is None else variant.printed.values.get("best")
        facts = {
            "best": row.recipe in best,
            "best_printed": None if marked is None else bool(marked),
        }
        yield {name: Estimate.of(values) for name, values in ours.items()}, {}, facts


run = partial(cells_of, measured=measured)


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
