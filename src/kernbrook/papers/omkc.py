"""Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, Machine Learning 90."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernbrook.papers import mistakes
from kernbrook.papers.authors_orders import Runs, find
from kernbrook.papers.published import ERROR, Job, Published, names_of
from kernbrook.recipes import title
from kernbrook.reports import drawing
from kernbrook.reports.page import Section
from kernbrook.reports.plot import Line, Panel, Plot
from kernbrook.reports.table import Column, Table, of_cells
from kernbrook.results import Cell, Curve, Estimate, Measure, Results, grouped

PAPER = "Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification"
ORDERS = "omkc_permutations.npz"
RATIO = Measure("ratio", "time %", 1)
DISCOUNTS = tuple(round(0.05 * i, 2) for i in range(1, 21))
SHOWN = (0.05, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0)  # of them, in the table
ALGORITHMS = ("omkc-dd", "omkc-ds", "omkc-sd", "omkc-ss")
FEW = 4  # lines that can carry a band each


def _ratios(job: Job) -> Iterator[Cell]:
    """Ratios of the mean times; every run alone on the machine, one after the other."""
    for name in job.present:
        wanted = job.of(name)
        recipes = ["omkc-dd", *(row.recipe for row in wanted)]
        runs = Runs(job, name, len(recipes), jobs=1)
        whole, *others = (row.values("seconds").mean() for row in runs.run(recipes).rows)
        for row, own in zip(wanted, others, strict=True):
            printed = Estimate(row.number("time_ratio"), runs=row.runs)
            ours = Estimate(float(100.0 * own / whole), runs=job.plan.permutations)
            yield Cell(row.key, {"ratio": ours}, {"ratio": printed}, facts={"n_rows": runs.n_rows})


def _ratio_table(results: Results) -> Table:
    by_data = grouped(results.cells, lambda cell: cell["data"])
    first = [own[0] for own in by_data.values()]
    columns = [
        names_of(first, "data", "data"),
        Column("rows", tuple(cell.facts["n_rows"] for cell in first), "{:,}".format),
    ]
    for name in dict.fromkeys(cell["title"] for cell in results.cells):
        own = [results.one(data=data, title=name) for data in by_data]
        columns += of_cells(own, Measure("ratio", name, 1), "printed ours")
    return Table(tuple(columns), notes=("time in per cent of the reference algorithm's",))


def _curves(job: Job) -> Iterator[Cell]:
    """Mistakes of the four algorithms at every discount."""
    for name in job.present:
        runs = Runs(job, name, len(ALGORITHMS) * len(DISCOUNTS))
        found = [runs.run(ALGORITHMS, discount=discount).rows for discount in DISCOUNTS]
        for place, recipe in enumerate(ALGORITHMS):
            errors = list(zip(*(rows[place].errors for rows in found), strict=True))
            key = {"data": name, "recipe": recipe, "title": title(recipe)}
            yield Cell(key, curves={"error": Curve.of(DISCOUNTS, errors)})


def _least(cell: Cell) -> tuple[float, float]:
    """The discount of the fewest mistakes, and these."""
    curve = cell.curves["error"]
    mean, discount = min(zip(curve.mean, curve.x, strict=True))
    return discount, mean


def _discount_table(results: Results) -> Table:
    cells = results.cells
    columns = [names_of(cells)]
    for discount in SHOWN:
        values = tuple(cell.curves["error"].at(discount) for cell in cells)
        columns.append(Column(f"{discount:g}", values, "{:.2f}".format))
    best = tuple(_least(cell)[0] for cell in cells)
    columns.append(Column("best at", best, "{:g}".format))
    note = "mean mistakes in per cent; columns: the discount"
    return Table(tuple(columns), tuple(cell["data"] for cell in cells), notes=(note,))


def _discount_plots(results: Results) -> list[Section]:
    titles = list(dict.fromkeys(cell["title"] for cell in results.cells))
    panels = []
    for data, own in grouped(results.cells, lambda cell: cell["data"]).items():
        looks: dict[str, Any] = {} if len(own) <= FEW else {"std": None}
        lines = [Line.of(cell["title"], cell.curves["error"], **looks) for cell in own]
        panels.append(Panel(lines, data, x_limits=(0, 1.02)))
    plot = Plot(
        panels,
        drawing.pens_of(titles),
        x_label="discount of a mistaken kernel's weight",
        y_label="mistakes (% of the rounds)",
    )
    text = (
        "A kernel that errs has its weight multiplied by the discount: small values trust the "
        "first kernel that does well, 1 never moves the weights. Each panel has its own vertical "
        "axis."
    )
    return [Section("Mistakes against the discount", text, plot)]


def _table(number: int, description: str) -> Published:
    return Published(
        f"omkc-table-{number}", f"{PAPER}, table {number}: {description}", "omkc.tsv",
        f"omkc-table-{number}", 20, find, mistakes.run, mistakes.MEASURES, mistakes.tabled,
        "Online multiple kernel classification", mistakes.BELOW, orders=ORDERS, runs=20,
    )  # fmt: skip


PUBLISHED = (
    _table(3, "OMKC(D,D), OM-2 and the perceptrons"),
    _table(4, "the four OMKC algorithms and OM-2"),
    Published(
        "omkc-table-5", f"{PAPER}, table 5: time of the stochastic variants over (D,D)", "omkc.tsv",
        "omkc-table-5", 20, find, _ratios, (RATIO,), _ratio_table,
        "Time of the stochastic variants",
        "Seconds of learning in per cent of those of OMKC(D,D).", orders=ORDERS, runs=20,
    ),
    Published(
        "omkc-figure-4", f"{PAPER}, figure 4: mistakes against the discount", "omkc.tsv",
        "omkc-table-4", 20, find, _curves, (ERROR,), _discount_table, "Effect of the discount",
        "Means over the orders.", _discount_plots, orders=ORDERS, runs=20,
    ),
)  # fmt: skip
