"""Hong and Chae (2020), Active learning with multiple kernels, arXiv 2005.03188."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook import recipes as book
from kernbrook.evaluation.measures import losses
from kernbrook.evaluation.parallel import state_of
from kernbrook.evaluation.run import prequential
from kernbrook.evaluation.warming import in_order, trials_of
from kernbrook.kernels import Gaussian, Polynomial
from kernbrook.labels import RandomLabels
from kernbrook.papers.figures import Figure, of_figures
from kernbrook.papers.published import (
    SECONDS,
    Found,
    Job,
    PrintedRow,
    Published,
    Variant,
    cells_of,
    find,
    names_of,
)
from kernbrook.reports.table import Table, of_cells
from kernbrook.results import Curve, Estimate, Measure, Results

PAPER = "Hong and Chae (2020), Active learning with multiple kernels"
UNIT = 1000.0  # of the errors, as printed
ERROR = Measure("error", "MSE x 1e-3")
LABELS = Measure("labels", "labels")
OF_NOBODY = ("mean", "last-value")  # trivial rules
OWN = ("kernbrook-regression", "kernbrook-active")
ROUNDS = 9725  # of tomshardware
PASSIVE = {"amkl": "raker", "amkl-aks": "omkl-aks"}  # the same without a criterion
WINDOWS = (1, 2, 5)
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


def measured(job: Job, name: str, wanted: Sequence[Variant]) -> Iterator[Found]:
    """Squared errors and labels asked for, in the data's own order; one run a draw of features."""
    X, y = job.present[name].read()
    X, y = X[: job.plan.rows], y[: job.plan.rows]
    job.note_rows(name, len(y))
    estimators = [_estimators(job, variant) for variant in wanted]
    every = [estimator for several in estimators for estimator in several]
    done = in_order(
        prequential, [(model, X, y) for model in every], lambda run: len(run.predictions),
        job.plan.jobs, job.bar(name, len(every) * len(y)), trials_of(every, X, y, None),
        job.plan.compiling,
    )  # fmt: skip
    rounds = on_the_way(len(y))
    for several in estimators:
        runs = list(islice(done, len(several)))
        lost = np.array([losses(run.predictions, y, "regression") for run in runs])
        errors = UNIT * lost.cumsum(axis=1)[:, rounds - 1] / rounds
        ours = {
            "error": Estimate.of([UNIT * run.error for run in runs]),
            "labels": Estimate.of([run.labels_asked / len(run.predictions) for run in runs]),
            "seconds": Estimate.of([run.seconds for run in runs]),
        }
        yield ours, {"error": Curve.of(rounds, errors)}, {}


def _estimators(job: Job, variant: Variant) -> list[Any]:
    several = [
        book.make(variant.recipe, random_state=state_of(job.plan.seed, run), **variant.settings)
        for run in range(job.plan.permutations)
    ]
    return several if _draws(several[0]) else several[:1]


def _draws(estimator: Any) -> bool:
    """Whether the seed matters: where it learns in features, as the default does."""
    learners = getattr(estimator, "learner", [])
    learners = learners if isinstance(learners, list) else [learners]
    return any(learner is None or learner.features is not None for learner in learners)


def on_the_way(rounds: int) -> NDArray[np.int64]:
    """The ends of a hundred equal parts, and the powers of ten from 100."""
    hundredths = {rounds * part // 100 for part in range(1, 101)}
    decades = {10**power for power in range(2, 10) if 10**power < rounds}
    return np.array(sorted((hundredths | decades) - {0}))


def wanted_of(rows: Sequence[PrintedRow]) -> list[Variant]:
    """The paper's rows, whose algorithms know T, and what is not the paper's."""
    found = []
    for row in rows:
        settings = row.settings | {"horizon": int(row.number("n_rows"))}
        width, degree = row.values["sigma"], row.values["degree"]
        if width is not None:
            settings["kernels"] = [Gaussian(sigma=width)]
        if degree is not None:
            settings["kernels"] = [Polynomial(int(degree))]
        found.append(Variant(row.recipe, row.title, settings, row))
    return found + [Variant(recipe, book.title(recipe)) for recipe in OF_NOBODY + OWN]


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


def _asking(recipe: str, window: int) -> Variant:
    settings = {"horizon": ROUNDS, "window": window}
    title = f"{book.title(recipe)}, M = {window}"
    return Variant(recipe, title, settings, varied=lambda threshold, _: {"threshold": threshold})


def _by_chance(asking: Variant) -> Variant:
    """The same without its criterion: as many labels, drawn."""

    def drawn(_: float, before: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
        return {"labels": RandomLabels(before[asking.title]["labels"].mean)}

    title, settings = f"{asking.title}, labels drawn", {"horizon": ROUNDS}
    return Variant(PASSIVE[asking.recipe], title, settings, varied=drawn)


_ASKING = [_asking(recipe, window) for recipe in PASSIVE for window in WINDOWS]
ASKED = Figure(
    "Labels and errors against the threshold",
    "A label is asked for where the kernels' predictions disagree by more than the threshold, or "
    "after M labels in a row that were not. The higher the threshold, the fewer labels, down to "
    "1 / (M + 1) of them. Dashed lines are the same algorithms where as many labels are drawn at "
    "random, so what a criterion is worth is how far it lies below.",
    "threshold (log scale)",
    {LABELS: "labels asked for", ERROR: ERROR.header},
    "threshold",
    [*_ASKING, *map(_by_chance, _ASKING), *(Variant(k, book.title(k)) for k in OF_NOBODY)],
    (1e-5, 3e-5, 1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1),
    (1e-5, 1e-4, 5e-4, 1e-3, 1e-2, 1e-1),
    log=True,
)
OVER_TIME = Figure(
    "Error over time",
    "The mean squared error of the rounds so far, each predicted before its label was seen: lower "
    "is better, and falling means still learning.",
    "rounds",
    {ERROR: "MSE so far, x 1e-3 (log scale)"},
)
_published = partial(Published.of, PAPER, "amkl", permutations=5, runs=5, find=find, order="own")
_table_of = partial(
    _published, run=partial(cells_of, wanted_of=wanted_of, measured=measured),
    measures=(ERROR, LABELS, SECONDS), tabled=_table,
    heading="Active learning with multiple kernels",
    below="Mean squared errors over all rounds, and shares of the labels that are asked for; "
    "means over draws of the features.",
)  # fmt: skip
PUBLISHED = (
    _table_of(
        "table 2", "mean squared errors",
        remarks={
            "": f"{IN_ORDER}\n{NO_STEP}",
            "tomshardware": "tomshardware: OMKL-B's printed error is above that of always "
            "answering 0",
        },
    ),
    _table_of(
        "table 3", "errors and labels asked for", remarks={"": f"{IN_ORDER}\n{KERNELS_IN_USE}"}
    ),
    _published(
        "figure 2", "error and labels against the criterion's threshold, tomshardware",
        table="amkl-table-3", data=("tomshardware",), measures=(LABELS, ERROR),
        heading="Labels where the kernels disagree",
        below="Means over draws of the features: shares of the labels, and MSE x 1e-3 over all "
        "rounds; after M labels in a row not asked for, the next one is.",
        remarks={
            "": f"{IN_ORDER}\n{KERNELS_IN_USE}\nthe paper prints no numbers but those at "
            "threshold 0.0005 and M = 1"
        },
        **of_figures([ASKED], measured),
    ),
    _published(
        "figure 3", "mean squared error over time", table="amkl-table-2",
        measures=(ERROR, LABELS, SECONDS), heading="Regression with many kernels",
        below="Mean squared errors x 1e-3 after so many rounds and at the end ± one standard "
        "deviation over draws of the features; shares of the labels asked for.",
        remarks={"": f"{IN_ORDER}\n{NO_STEP}"},
        **of_figures([OVER_TIME], measured, wanted_of),
    ),
)  # fmt: skip
