"""Figures of a comparison: errors, support vectors and weights of kernels over the rounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.errors import InputError
from kernbrook.evaluation.measures import DEFAULT, OF_SIZES, shortfall
from kernbrook.reports.plot import (
    GREY,
    HUES,
    Line,
    Panel,
    Pen,
    Plot,
    dotted,
    label_text,
    limits,
    pens_of,
)
from kernbrook.reports.words import TRIVIAL

if TYPE_CHECKING:
    from kernbrook.evaluation.record import Comparison, Floats, History, Ints, Row

FEW = 4  # lines that can carry a band each
MANY = 10  # rows; of more only the best have colours and names
COLOURED = 5  # of them
PANELS = 6  # recipes whose kernels are drawn
SETTLED = 0.05  # the first rounds, whose error is mostly noise, do not set the axis
WIDE = 20.0  # ratio of sizes from which the axis is logarithmic
FAR = 1000.0  # ratio of errors beyond which a curve leaves the axis
TOP_KERNELS = 3  # named in each panel
REST = Pen(GREY, "-", 0.6)


def learning_curves(comparison: Comparison, scale: float, axis: str) -> Plot:
    """The errors so far, or another measure, over the rounds; means over the permutations.

    Up to four recipes have a band of one standard deviation (ddof = 1) either side. The axis
    fits the curves after the first twentieth of the rounds, and need not start at zero. Where
    squared errors end more than twentyfold apart it is logarithmic, up to a thousand times the
    least, and there are no bands.

    Parameters
    ----------
    comparison : at least one row, each with at least one run
    scale : what the errors are multiplied by
    axis : its label
    """
    by = comparison.by
    rows = tuple(row for row in comparison.rows if not np.isnan(row.measured(by)).any())
    over = {row.recipe: over_time(row, by) for row in rows}
    means = {name: scale * errors.mean(axis=0) for name, (_, errors) in over.items()}
    ends = [float(mean[-1]) for mean in means.values() if 0 < mean[-1] < math.inf]
    log = by in OF_SIZES and bool(ends) and max(ends) > WIDE * min(ends)
    lines, seen = [], []
    for row in drawn_last(comparison):
        if row.recipe not in over:  # it has no such measure
            continue
        (rounds, errors), mean = over[row.recipe], means[row.recipe]
        settled, std = rounds >= SETTLED * rounds[-1], None
        seen.append(mean[settled])
        if len(rows) <= FEW and len(errors) > 1 and not log:
            std = scale * errors.std(axis=0, ddof=1)
            seen += [(mean - std)[settled], (mean + std)[settled]]
        lines.append(Line(row.recipe, rounds, mean, std))
    return named_plot(
        comparison, lines, axis + (", log scale" if log else ""), "log" if log else "linear",
        ends_of_errors(seen, log),
    )  # fmt: skip


def ends_of_errors(seen: list[Floats], log: bool) -> tuple[float, float]:
    """Ends of an axis of the errors that are seen; a logarithmic one ends a thousandfold up."""
    drawn = np.concatenate(seen)
    drawn = drawn[np.isfinite(drawn) & (drawn > 0)]
    if not log or not len(drawn):
        return limits(seen)
    return 0.8 * drawn.min(), min(1.25 * drawn.max(), FAR * drawn.min())


def support_vectors(comparison: Comparison) -> Plot:
    """Support vectors over the rounds: stored ones, and active ones where they differ.

    Means over the permutations. The axis is logarithmic where the sizes at the end differ more
    than twentyfold; a recipe that stores nothing is then left out.
    """
    lines = []
    for row in drawn_last(comparison):
        rounds, stored = over_time(row, "n_support_stored")
        lines.append(Line(row.recipe, rounds, stored.mean(axis=0)))
        if differs(row):
            rounds, active = over_time(row, "n_support_active")
            lines.append(Line(f"{row.recipe} active", rounds, active.mean(axis=0)))
    ends = [float(line.y[-1]) for line in lines if line.y[-1] > 0]
    log = bool(ends) and max(ends) > WIDE * min(ends)
    if log:
        lines = [
            Line(one.pen, one.x, np.where(np.asarray(one.y) > 0, one.y, np.nan))
            for one in lines if one.y[-1] > 0
        ]  # fmt: skip
        starts = [_start(line) for line in lines]
        ends_of_axis = 0.8 * np.nanmin(ends + starts), 1.25 * max(ends)
    else:
        ends_of_axis = 0.0, 1.05 * max(ends, default=1.0)
    label = "support vectors (number" + (", log scale)" if log else ")")
    return named_plot(comparison, lines, label, "log" if log else "linear", ends_of_axis)


def _start(line: Line) -> float:
    """Its height soon after the start."""
    rounds = np.asarray(line.x)
    return float(np.asarray(line.y)[rounds >= SETTLED * rounds[-1]][0])


def named_plot(
    comparison: Comparison, lines: list[Line], label: str, scale: Any, ends_of_axis: Any
) -> Plot:
    """A figure of one panel; a star is behind the names of the best recipes."""
    pens, rest = _pens(comparison)
    names = {}
    for row in comparison.rows:
        star = " *" if row.recipe in comparison.best else ""
        names[row.recipe] = label_text(row.title, longest=24) + star
        names[f"{row.recipe} active"] = label_text(row.title, longest=19) + " active"
    of_active = {f"{name} active": dotted(pen.color) for name, pen in (pens | rest).items()}
    drawn = {line.pen for line in lines}
    named = {name: of_active.get(name, pens.get(name)) for name in _order(lines, pens)}
    return Plot(
        [
            Panel(
                lines, x_label="rounds", y_label=label, y_scale=scale,
                x_limits=(0, max(int(line.x[-1]) for line in lines)), y_limits=ends_of_axis,
            )
        ],
        {name: pen for name, pen in named.items() if pen is not None},
        names,
        others={n: pen for n, pen in (rest | of_active).items() if n in drawn - named.keys()},
    )  # fmt: skip


def _order(lines: list[Line], pens: dict[str, Pen]) -> list[str]:
    """Names of the lines that are named."""
    return [line.pen for line in lines if line.pen.removesuffix(" active") in pens]


def kernel_weights(comparison: Comparison) -> Plot:
    """Weights of the kernels over the rounds, a panel for each recipe with several kernels.

    Of the six that err least, means over the permutations. The kernels that end with the greatest
    weights, at most six in the whole figure, have a colour and are named by their formula; the
    others are grey.

    Raises
    ------
    InputError
        if no recipe has more than one kernel.
    """
    rows = many_kernels(comparison)[:PANELS]
    if not rows:
        raise InputError("expected a recipe with more than one kernel, found none")
    over = [over_time(row, "kernel_weights") for row in rows]
    means = [weights.mean(axis=0) for _, weights in over]
    pens = {
        kernel: Pen(colour, "-", 1.5)
        for kernel, colour in zip(_top_kernels(rows, means), HUES, strict=False)
    }
    others = "the other kernels"
    panels = []
    greatest = max(float(np.nanmax(weights, initial=0.0)) for weights in means)
    for row, (rounds, _), weights in zip(rows, over, means, strict=True):
        kernels = row.runs[0].history.kernels
        # The named ones last, so that they lie on top.
        places = sorted(range(len(kernels)), key=lambda k: kernels[k] in pens)
        lines = [
            Line(kernels[k] if kernels[k] in pens else others, rounds, weights[:, k])
            for k in places
        ]
        top = min(1.0, 1.1 * greatest) * 1.02 or 1.0
        panels.append(Panel(lines, row.title, x_limits=(0, int(rounds[-1])), y_limits=(0, top)))
    if any(line.pen == others for panel in panels for line in panel.lines):
        pens[others] = REST
    return Plot(panels, pens, x_label="rounds", y_label="weight (sum 1)", sharey=True)


def _pens(comparison: Comparison) -> tuple[dict[str, Pen], dict[str, Pen]]:
    """The pens of the recipes that are named, and of the rest, the same in every figure.

    Those of the best recipes are wider. Of many recipes the five that err least have a colour, the
    trivial ones their grey, and the rest thin grey lines without a name.
    """
    rows = comparison.rows
    if len(rows) > MANY:
        others = [row.recipe for row in by_measure(comparison) if row.recipe not in TRIVIAL]
        ours = others[:COLOURED]
        rows = tuple(row for row in rows if row.recipe in (*ours, *TRIVIAL))
    named = {
        name: replace(pen, linewidth=2.2) if name in comparison.best else pen
        for name, pen in pens_of((row.recipe for row in rows), TRIVIAL).items()
    }
    return named, {row.recipe: REST for row in comparison.rows if row.recipe not in named}


def by_measure(comparison: Comparison) -> list[Row]:
    """The rows, the best mean first, and those without one last."""
    by = comparison.by
    means = {row.recipe: float(np.mean(shortfall(by, row.measured(by)))) for row in comparison.rows}
    return sorted(
        comparison.rows, key=lambda row: (math.isnan(means[row.recipe]), means[row.recipe])
    )


def drawn_last(comparison: Comparison) -> list[Row]:
    """The rows, those with a name last, so that they lie on top."""
    named, _ = _pens(comparison)
    return sorted(comparison.rows, key=lambda row: row.recipe in named)


def many_kernels(comparison: Comparison) -> list[Row]:
    """The rows whose recipes weigh more than one kernel, the least mean error first."""
    return [row for row in by_measure(comparison) if len(row.runs[0].history.kernels) > 1]


def differs(row: Row) -> bool:
    """Whether the active support vectors ever differ from the stored ones."""
    return any(
        run.n_support_active != run.n_support_stored
        or not np.array_equal(run.history.n_support_active, run.history.n_support_stored)
        for run in row.runs
    )


def over_time(row: Row, name: str) -> tuple[Ints, Floats]:
    """A quantity of the history, run by run.

    Parameters
    ----------
    row : a recipe's runs
    name : attribute of `History`, or a measure such as "log_loss"

    Returns
    -------
    rounds : (h,) rounds of the first run
    values : (r, h) or (r, h, m); a run sampled at other rounds is interpolated at those
    """
    rounds = np.asarray(row.runs[0].history.rounds)
    values = []
    for run in row.runs:
        own, value = run.history.rounds, _along(run.history, name)
        if not np.array_equal(own, rounds):
            columns = value.reshape(len(own), -1).T
            value = np.array([np.interp(rounds, own, column) for column in columns]).T
            value = value.reshape(len(rounds), *_along(run.history, name).shape[1:])
        values.append(value)
    return rounds, np.array(values)


def _along(history: History, name: str) -> Floats:
    """A quantity at the rounds of a history."""
    if name in history.measures and name not in DEFAULT.values():
        return history.measures[name]
    return np.asarray(getattr(history, "error" if name == "mse" else name), dtype=float)


def _top_kernels(rows: list[Row], means: list[Any]) -> list[str]:
    """Formulas of the kernels to name, the greatest final weight in any panel first."""
    best: dict[str, float] = {}
    for row, weights in zip(rows, means, strict=True):
        kernels = row.runs[0].history.kernels
        for place in np.argsort(-weights[-1], kind="stable")[:TOP_KERNELS]:
            name = kernels[place]
            best[name] = max(best.get(name, 0.0), float(weights[-1, place]))
    return sorted(best, key=lambda name: -best[name])[: len(HUES)]
