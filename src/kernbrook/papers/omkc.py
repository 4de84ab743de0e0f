"""Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, Machine Learning 90."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kernbrook.papers import mistakes
from kernbrook.papers.figures import Figure, of_figures
from kernbrook.papers.published import ERROR, Job, Published, Variant, find, names_of
from kernbrook.recipes import title
from kernbrook.reports.table import Column, Table, of_cells
from kernbrook.results import Cell, Estimate, Measure, Results, grouped

PAPER = "Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification"
RATIO = Measure("ratio", "time %", 1)
ALGORITHMS = ("omkc-dd", "omkc-ds", "omkc-sd", "omkc-ss")
DISCOUNT = Figure(
    "Mistakes against the discount",
    "A kernel that errs has its weight multiplied by the discount: small values trust the first "
    "kernel that does well, 1 never moves the weights. Each panel has its own vertical axis.",
    "discount of a mistaken kernel's weight",
    {ERROR: "mistakes (% of the rounds)"},
    "discount",
    [
        Variant(name, title(name), varied=lambda discount, _: {"discount": discount})
        for name in ALGORITHMS
    ],
    [round(0.05 * i, 2) for i in range(1, 21)],
    (0.05, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0),
)


def _ratios(job: Job) -> Iterator[Cell]:
    """Ratios of the mean times; every run alone on the machine, one after the other."""
    for name in job.present:
        printed = job.of(name)
        wanted = [Variant(name, name) for name in ("omkc-dd", *(row.recipe for row in printed))]
        rows = mistakes.runs(job, name, wanted, jobs=1)
        whole, *others = (row.values("seconds").mean() for row in rows)
        for row, seconds in zip(printed, others, strict=True):
            of_paper = Estimate(row.number("time_ratio"), runs=row.runs)
            ours = Estimate(float(100.0 * seconds / whole), runs=job.plan.permutations)
            facts = {"n_rows": len(rows[0].runs[0].predictions)}
            yield Cell(row.key, {"ratio": ours}, {"ratio": of_paper}, facts=facts)


def _ratio_table(results: Results) -> Table:
    by_data = grouped(results.cells, lambda cell: cell["data"])
    first = [cells[0] for cells in by_data.values()]
    columns = [
        names_of(first, "data", "data"),
        Column("rows", tuple(cell.facts["n_rows"] for cell in first), "{:,}".format),
    ]
    for name in dict.fromkeys(cell["title"] for cell in results.cells):
        cells = [results.cell(data=data, title=name) for data in by_data]
        columns += of_cells(cells, Measure("ratio", name, 1), "printed ours")
    return Table(tuple(columns), notes=("time in per cent of the reference algorithm's",))


_published = partial(
    Published.of, PAPER, "omkc", permutations=20, runs=20, orders="omkc_permutations.npz", find=find
)
_table = partial(
    _published, run=mistakes.run, measures=mistakes.MEASURES, tabled=mistakes.tabled,
    heading="Online multiple kernel classification", below=mistakes.BELOW,
)  # fmt: skip
PUBLISHED = (
    _table("table 3", "OMKC(D,D), OM-2 and the perceptrons"),
    _table("table 4", "the four OMKC algorithms and OM-2"),
    _published(
        "table 5", "time of the stochastic variants over (D,D)",
        run=_ratios, measures=(RATIO,), tabled=_ratio_table,
        heading="Time of the stochastic variants",
        below="Seconds of learning in per cent of those of OMKC(D,D).",
    ),
    _published(
        "figure 4", "mistakes against the discount", table="omkc-table-4", measures=(ERROR,),
        heading="Effect of the discount", below="Means over the orders.",
        **of_figures([DISCOUNT], mistakes.measured),
    ),
)  # fmt: skip
