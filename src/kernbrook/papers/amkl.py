"""Hong and Chae (2020), Active learning with multiple kernels, arXiv 2005.03188."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook import recipes as book
from kernbrook.evaluation.comparing.compare import Progress
from kernbrook.evaluation.measuring.by_task import losses
from kernbrook.evaluation.running.orders import state_of
from kernbrook.evaluation.running.parallel import in_order
from kernbrook.evaluation.running.warming import trials_of
from kernbrook.evaluation.runs.prequential import prequential
from kernbrook.evaluation.runs.record import Record
from kernbrook.kernels import Gaussian, Polynomial
from kernbrook.labels import RandomLabels
from kernbrook.papers.authors_orders import find
from kernbrook.papers.published import SECONDS, Job, PrintedRow, Published, names_of
from kernbrook.reports import drawing
from kernbrook.reports.drawing import DASHES, HUES, Pen
from kernbrook.reports.page import Section
from kernbrook.reports.plot import Line, Panel, Plot
from kernbrook.reports.table import Column, Table, at_decades, of_cells
from kernbrook.reports.words import TRIVIAL
from kernbrook.results import Cell, Curve, Estimate, Measure, Results, grouped

PAPER = "Hong and Chae (2020), Active learning with multiple kernels"
UNIT = 1000.0  # of the errors, as printed
ERROR = Measure("error", "MSE x 1e-3")
LABELS = Measure("labels", "labels")
RANDOM = Measure("error_random", "MSE x 1e-3, labels drawn")
OF_NOBODY = ("mean", "last-value")  # trivial rules
OWN = ("kernbrook-regression", "kernbrook-active")
PASSIVE = {"amkl": "raker", "amkl-aks": "omkl-aks"}  # the same without a criterion
THRESHOLDS = (1e-5, 3e-5, 1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
WINDOWS = (1, 2, 5)
SETTLED = 0.02  # the first rounds, whose error is mostly noise, do not set the axis
OVER = 2.0  # times the trivial rules' error: what ends above runs off the figure
IN_ORDER = (
    "means over draws of the random features, each in the data's own order; the paper's rows know "
    "T. The data were scaled over the whole series\n"
    "random features lack their factor 1 / sqrt(D), which makes the step D times the one stated: "
    "so the printed errors come out on twitter and energy"
)
NO_STEP = (
    "KL-RBF, POLY, LINEAR, OMKL, OMKL-B: no steps are stated. Nearest to the printed errors, by "
    "trial: 0.1 / sqrt(T), sigma (not sigma^2) of 0.1, 1 and 10, and 10 / sqrt(T) for the weights; "
    "the larger step 1 / sqrt(T) errs less, but for POLY3 on twitter"
)
KERNELS_IN_USE = (
    "AMKL-AKS: its criterion looks at the kernels in use; with all of them, as algorithm 2 prints "
    "it, it asks for the same labels as AMKL, which table 3 does not have"
)


@dataclass(frozen=True)
class _Wanted:
    """A recipe to run, and the row of the paper that it stands beside, if any."""

    recipe: str
    title: str
    settings: dict[str, Any]
    printed: PrintedRow | None = None


class _Data:
    """A data set in memory, in its own order."""

    def __init__(self, job: Job, name: str):
        X, y = job.present[name].read()
        self.name, self.job, self.plan = name, job, job.plan
        self.X, self.y = X[: job.plan.rows], y[: job.plan.rows]
        job.note_rows(name, len(self.y))

    def of_paper(self) -> list[_Wanted]:
        """The paper's rows of the data set."""
        return [_of_paper(row) for row in self.job.of(self.name)]

    def runs(self, rows: Sequence[_Wanted]) -> Iterator[tuple[_Wanted, list[Record]]]:
        """Each row with its runs: one a draw of the features, or one alone."""
        estimators = [self._estimators(row) for row in rows]
        calls = [(self.X, self.y, one) for several in estimators for one in several]
        trials = trials_of((one for several in estimators for one in several), self.X, self.y, None)
        advance = self.job.bar(self.name, len(calls) * len(self.y))
        done = in_order(
            _run, calls, lambda run: len(run.predictions), self.plan.jobs, advance, trials,
            self.plan.compiling,
        )  # fmt: skip
        for row, several in zip(rows, estimators, strict=True):
            yield row, list(islice(done, len(several)))

    def _estimators(self, row: _Wanted) -> list[Any]:
        several = [
            book.make(row.recipe, random_state=state_of(self.plan.seed, run), **row.settings)
            for run in range(self.plan.permutations)
        ]
        return several if _draws(several[0]) else several[:1]

    def key(self, row: _Wanted, **more: Any) -> dict[str, Any]:
        return {"data": self.name, "recipe": row.recipe, "title": row.title} | more


def _run(X: Any, y: Any, estimator: Any, progress: Progress | None = None) -> Record:
    return prequential(estimator, X, y, progress=progress)


def _draws(estimator: Any) -> bool:
    """Whether the seed matters: where it learns in features, as the default does."""
    learners = getattr(estimator, "learner", [])
    learners = learners if isinstance(learners, list) else [learners]
    return any(learner is None or learner.features is not None for learner in learners)


def _of_paper(row: PrintedRow, **settings: Any) -> _Wanted:
    """A row of the paper, whose algorithms know T."""
    settings |= row.settings | {"horizon": int(row.number("n_rows"))}
    width, degree = row.values["sigma"], row.values["degree"]
    if width is not None:
        settings["kernels"] = [Gaussian(sigma=width)]
    if degree is not None:
        settings["kernels"] = [Polynomial(int(degree))]
    return _Wanted(row.recipe, row.title, settings, row)


def _extra(recipes: Sequence[str]) -> list[_Wanted]:
    """Rows that are not the paper's."""
    return [_Wanted(recipe, book.title(recipe), {}) for recipe in recipes]


def _ours(runs: Sequence[Record]) -> dict[str, Estimate]:
    return {
        "error": Estimate.of([UNIT * run.error for run in runs]),
        "labels": Estimate.of([run.labels_asked / len(run.predictions) for run in runs]),
        "seconds": Estimate.of([run.seconds for run in runs]),
    }


def _cells(job: Job) -> Iterator[Cell]:
    for name in job.present:
        data = _Data(job, name)
        for row, runs in data.runs([*data.of_paper(), *_extra(OF_NOBODY + OWN)]):
            printed = row.printed.estimates("error", "labels") if row.printed else {}
            yield Cell(data.key(row), _ours(runs), printed)


def _curves(job: Job) -> Iterator[Cell]:
    for name in job.present:
        data = _Data(job, name)
        rounds = _on_the_way(len(data.y))
        for row, runs in data.runs([*data.of_paper(), *_extra(OF_NOBODY + OWN)]):
            lost = np.array([losses(run.predictions, data.y, "regression") for run in runs])
            errors = UNIT * lost.cumsum(axis=1)[:, rounds - 1] / rounds
            yield Cell(data.key(row), _ours(runs), curves={"error": Curve.of(rounds, errors)})


def _points(job: Job) -> Iterator[Cell]:
    """Each setting of the criterion, and drawn labels at the rate that it came to."""
    for name in job.present:
        data = _Data(job, name)
        asking = [
            _of_paper(row, threshold=threshold, window=window)
            for row in job.of(name)
            if row.recipe in PASSIVE
            for window in WINDOWS
            for threshold in THRESHOLDS
        ]
        found = [(row, _ours(runs)) for row, runs in data.runs(asking)]
        drawing_labels = [_by_chance(row, ours["labels"].mean) for row, ours in found]
        for (row, ours), (_, drawn) in zip(found, data.runs(drawing_labels), strict=True):
            varied = {name: row.settings[name] for name in ("window", "threshold")}
            yield Cell(data.key(row, **varied), ours | {"error_random": _ours(drawn)["error"]})
        for row, runs in data.runs(_extra(OF_NOBODY)):
            yield Cell(data.key(row), _ours(runs))


def _by_chance(row: _Wanted, rate: float) -> _Wanted:
    """The same algorithm, without its criterion."""
    settings = {"horizon": row.settings["horizon"], "labels": RandomLabels(rate)}
    return _Wanted(PASSIVE[row.recipe], row.title, settings)


def _on_the_way(rounds: int) -> NDArray[np.int64]:
    """The ends of a hundred equal parts, and the powers of ten from 100."""
    hundredths = {rounds * part // 100 for part in range(1, 101)}
    decades = {10**power for power in range(2, 10) if 10**power < rounds}
    return np.array(sorted((hundredths | decades) - {0}))


# -- how it is shown --------------------------------------------------------------------------


def _table(results: Results) -> Table:
    cells = results.cells
    columns = [
        names_of(cells),
        *of_cells(cells, ERROR, "printed ours"),
        *of_cells(cells, ERROR, "difference", spare=1),
        *of_cells(cells, ERROR, "ratio"),
        *of_cells(cells, LABELS, "printed ours"),
        *of_cells(cells, SECONDS, spare=2),
    ]
    note = "ratio: ours over printed; no deviations are printed"
    return Table(tuple(columns), tuple(cell["data"] for cell in cells), notes=(note,))


def _curve_table(results: Results) -> Table:
    """Errors at powers of ten and at the end."""
    cells = results.cells
    ends, shares = [cell.curves["error"] for cell in cells], [cell.mean("labels") for cell in cells]
    columns = [
        names_of(cells),
        *at_decades(ends, "{:.2f}".format, ERROR.header),
        Column("end", tuple(curve.end for curve in ends), group=ERROR.header),
        Column("rounds", tuple(curve.x[-1] for curve in ends), "{:,}".format, spare=1),
        Column("labels %", tuple(100 * share for share in shares), "{:.1f}".format),
    ]
    return Table(tuple(columns), tuple(cell["data"] for cell in cells))


def _asking(results: Results) -> tuple[list[Cell], list[Cell]]:
    """The cells of a criterion, and those of trivial rules."""
    by_kind = grouped(results.cells, lambda cell: cell["window"] is None)
    return by_kind.get(False, []), by_kind.get(True, [])


def _label_table(results: Results) -> Table:
    """A row an algorithm and threshold, columns for each window."""
    cells, trivial = _asking(results)
    rows = grouped(cells, lambda cell: (cell["title"], cell["threshold"]))
    columns = [Column("threshold", tuple(t for _, t in rows), drawing.number, kind="text")]
    for window in dict.fromkeys(cell["window"] for cell in cells):
        own = [next((c for c in row if c["window"] == window), None) for row in rows.values()]
        for header, form, value in (
            ("labels", "{:.1f}", lambda c: 100 * c.mean("labels")),
            ("MSE", "{:.2f}", lambda c: c.mean("error")),
            ("random", "{:.2f}", lambda c: c.mean("error_random")),
        ):
            values = tuple(None if cell is None else value(cell) for cell in own)
            columns.append(Column(header, values, form.format, group=f"M = {window}"))
    notes = (
        f"labels in per cent, {ERROR.header}; random: of labels drawn at the same rate; after M "
        "labels in a row not asked for, the next one is",
        "; ".join(f"{cell['title']}: {cell.mean('error'):.2f}" for cell in trivial),
    )
    return Table(tuple(columns), tuple(title for title, _ in rows), notes=notes)


def _label_plots(results: Results) -> list[Section]:
    """Windows differ in colour, algorithms in dashes; drawn labels dotted, trivial rules grey."""
    cells, trivial = _asking(results)
    lines = grouped(cells, lambda cell: (cell["title"], cell["window"]))
    algorithms = list(dict.fromkeys(title for title, _ in lines))
    colours = cycle(HUES)
    hues = {name: next(colours) for name in (*dict.fromkeys(w for _, w in lines), *algorithms)}
    dashes = dict(zip(algorithms, cycle(DASHES)))
    pens = {f"{t}, M = {w}": Pen(hues[w], dashes[t]) for t, w in lines}
    pens |= {f"{title}, labels drawn": drawing.dotted(hues[title]) for title in algorithms}
    levels = {cell["title"]: cell.mean("error") for cell in trivial}
    pens |= dict(zip(levels, drawing.pens([True] * len(levels)), strict=True))
    asked, errors, both = [], [], []
    for (title, window), own in lines.items():
        pen, x = f"{title}, M = {window}", [cell["threshold"] for cell in own]
        shares = [100 * cell.mean("labels") for cell in own]
        found = [cell.ours["error"] for cell in own]
        means, std = [e.mean for e in found], [e.std for e in found]
        asked.append(Line(pen, x, shares))
        errors.append(Line(pen, x, means, None if None in std else std))
        both.append(Line(pen, shares, means))
    for title in algorithms:
        own = sorted((c for c in cells if c["title"] == title), key=lambda c: c.mean("labels"))
        shares = [100 * cell.mean("labels") for cell in own]
        drawn = [cell.mean("error_random") for cell in own]
        both.append(Line(f"{title}, labels drawn", shares, drawn))
    panels = [
        Panel(asked, "labels asked for (%)", "threshold", x_scale="log", y_limits=(0, 105)),
        Panel(errors, ERROR.header, "threshold", x_scale="log"),
        Panel(
            both, f"{ERROR.header}, by labels", "labels asked for (%)", y_scale="log",
            x_limits=(0, 105), levels=levels,
        ),
    ]  # fmt: skip
    text = (
        "A label is asked for where the kernels' predictions disagree by more than the threshold, "
        "or after M labels in a row that were not. The higher the threshold, the fewer labels, "
        "down to 1 / (M + 1) of them. At the right the two together: lower is better, further left "
        "is cheaper. Dotted lines are the same algorithms where as many labels are drawn at "
        "random, so what a criterion is worth is how far it lies below."
    )
    return [Section("Labels and errors against the threshold", text, Plot(panels, pens))]


def _curve_plots(results: Results) -> list[Section]:
    """Our own recipes are wider, trivial rules grey; far greater errors run off at the top."""
    sections = []
    for data, cells in grouped(results.cells, lambda cell: cell["data"]).items():
        pens, names, lines, seen = {}, {}, [], []
        grey = [cell["recipe"] in TRIVIAL for cell in cells]
        for cell, pen in zip(cells, drawing.pens(grey), strict=True):
            name, curve = cell["title"], cell.curves["error"]
            own = cell["recipe"].startswith("kernbrook-")
            pens[name] = Pen(pen.color, pen.linestyle, 2.2) if own else pen
            names[name] = cell["recipe"] if own else name  # the titles of our own are long
            lines.append(Line(name, curve.x, curve.mean))
            pairs = zip(curve.x, curve.mean, strict=True)
            seen += [error for x, error in pairs if x >= SETTLED * curve.x[-1]]
        high = max(seen)
        trivial = [
            c.curves["error"].mean[-1] for c, is_grey in zip(cells, grey, strict=True) if is_grey
        ]
        if trivial:
            high = min(high, OVER * max(trivial))
        panel = Panel(
            lines, x_label="rounds", y_label="mean squared error so far (x 1e-3, log scale)",
            y_scale="log", x_limits=(0, max(line.x[-1] for line in lines)),
            y_limits=(0.8 * min(seen), 1.1 * high),
        )  # fmt: skip
        height = drawing.height_of(len(cells)) + 0.8
        bold = frozenset(name for name in names if names[name].startswith("kernbrook-"))
        plot = Plot([panel], pens, names, height=height, bold=bold)
        text = (
            "The mean squared error of the rounds so far, each predicted before its label was "
            "seen: lower is better, and falling means still learning."
        )
        sections.append(Section(f"Error over time on {data}", text, plot))
    return sections


def _published(name: str, description: str, table: str, *remarks: str, **others: Any) -> Published:
    of_data = others.pop("of_data", {})
    return Published(
        f"amkl-{name.replace(' ', '-')}", f"{PAPER}, {name}: {description}", "amkl.tsv",
        f"amkl-{table}", 5, find, order="own", runs=5,
        remarks={"": "\n".join([IN_ORDER, *remarks]), **of_data}, **others,
    )  # fmt: skip


TABLE = {
    "run": _cells, "measures": (ERROR, LABELS, SECONDS), "tabled": _table,
    "heading": "Active learning with multiple kernels",
    "below": "Mean squared errors over all rounds, and shares of the labels that are asked for; "
    "means over draws of the features.",
}  # fmt: skip
ZERO = "tomshardware: OMKL-B's printed error is above that of always answering 0"
PUBLISHED = (
    _published(
        "table 2", "mean squared errors", "table-2", NO_STEP, of_data={"tomshardware": ZERO},
        **TABLE,
    ),
    _published("table 3", "errors and labels asked for", "table-3", KERNELS_IN_USE, **TABLE),
    _published(
        "figure 2", "error and labels against the criterion's threshold, tomshardware", "table-3",
        KERNELS_IN_USE,
        "the paper prints no numbers but those at threshold 0.0005 and M = 1",
        data=("tomshardware",), run=_points, measures=(ERROR, LABELS, RANDOM, SECONDS),
        tabled=_label_table, plots=_label_plots, heading="Labels where the kernels disagree",
        below="Means over draws of the features: labels in per cent of the rounds; MSE x 1e-3 over "
        "all rounds; random is the MSE of labels drawn at the same rate.",
    ),
    _published(
        "figure 3", "mean squared error over time", "table-2", NO_STEP, run=_curves,
        measures=(ERROR, LABELS, SECONDS), tabled=_curve_table, plots=_curve_plots,
        heading="Regression with many kernels",
        below="Mean squared errors x 1e-3 after so many rounds and at the end ± one standard "
        "deviation over draws of the features; labels asked for, in per cent.",
    ),
)  # fmt: skip
