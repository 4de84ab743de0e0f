"""Figures of a comparison, as matplotlib `Figure` objects: nothing is shown or saved here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.errors import InputError
from kernbrook.reports import drawing
from kernbrook.reports.drawing import HUES, Label, Pen, in_house_style
from kernbrook.reports.summary import (
    TRIVIAL,
    checked,
    curve_names,
    differs,
    many_kernels,
    measure,
    over_time,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernbrook.evaluation.records import Comparison, Row
    from kernbrook.evaluation.reproduction_records import AccuracyCurves, StudyPoint

    # data set -> algorithm -> discounts (k,), mean mistakes (k,), their deviations (k,)
    Discounts = Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]]]

FEW = 4  # lines that can carry a band each
SETTLED = 0.05  # the first rounds, whose error is mostly noise, do not set the axis
WIDE = 20.0  # ratio of sizes from which the axis is logarithmic
FAR = 1000.0  # ratio of errors beyond which a curve leaves the axis
TOP_KERNELS = 3  # named in each panel
OTHERS = Pen(drawing.GREY, "-", 0.6)
TIMED_FROM = 1000  # examples; what fewer take is mostly noise


@in_house_style
def learning_curves(comparison: Comparison) -> Figure:
    """Mistakes so far in per cent, or squared errors, over the rounds; means over the permutations.

    Up to four recipes have a band of one standard deviation (ddof = 1) either side. The axis
    fits the curves after the first twentieth of the rounds, and need not start at zero. Where
    squared errors end more than twentyfold apart it is logarithmic, up to a thousand times the
    least, and there are no bands.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Returns
    -------
    a figure 6.4 inches wide, higher with many recipes
    """
    rows = checked(comparison).rows
    how = measure(comparison)
    picture, axes = drawing.plot(drawing.height_of(len(rows)))
    over = [over_time(row, "error") for row in rows]
    means = [how.scale * errors.mean(axis=0) for _, errors in over]
    ends = [float(mean[-1]) for mean in means if 0 < mean[-1] < math.inf]
    logarithmic = comparison.task == "regression" and bool(ends) and max(ends) > WIDE * min(ends)
    labels, seen = [], []
    for row, pen, (rounds, errors), mean in zip(rows, _pens(comparison), over, means, strict=True):
        drawing.line(axes, rounds, mean, pen)
        settled = rounds >= SETTLED * rounds[-1]
        seen.append(mean[settled])
        if len(rows) <= FEW and len(errors) > 1 and not logarithmic:
            std = how.scale * errors.std(axis=0, ddof=1)
            drawing.band(axes, rounds, mean, std, pen)
            seen += [(mean - std)[settled], (mean + std)[settled]]
        labels.append(_label(comparison, row, float(mean[-1]), pen))
    axes.set_xlim(0, max(int(rounds[-1]) for rounds, _ in over))
    drawn = np.concatenate(seen)
    if logarithmic:
        drawn = drawn[np.isfinite(drawn) & (drawn > 0)]
        axes.set_ylim(0.8 * drawn.min(), min(1.25 * drawn.max(), FAR * drawn.min()))
        drawing.log_ticks(axes)
    else:
        axes.set_ylim(*_limits(drawn))
    axes.set_xlabel("rounds")
    axes.set_ylabel(how.axis + (", log scale" if logarithmic else ""))
    drawing.dress(axes)
    drawing.label_lines(axes, labels)
    return picture


@in_house_style
def support_vectors(comparison: Comparison) -> Figure:
    """Support vectors over the rounds: stored ones, and active ones where they differ.

    Means over the permutations. The axis is logarithmic where the sizes at the end differ more
    than twentyfold; a recipe that stores nothing is then left out.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Returns
    -------
    a figure 6.4 inches wide, higher with many recipes
    """
    rows = checked(comparison).rows
    lines: list[tuple[Row, Pen, str, Any, Any]] = []
    for row, pen in zip(rows, _pens(comparison), strict=True):
        rounds, stored = over_time(row, "n_support_stored")
        lines.append((row, pen, "", rounds, stored.mean(axis=0)))
        if differs(row):
            rounds, active = over_time(row, "n_support_active")
            lines.append((row, drawing.dotted(pen.color), " active", rounds, active.mean(axis=0)))
    ends = [float(values[-1]) for *_, values in lines if values[-1] > 0]
    logarithmic = bool(ends) and max(ends) > WIDE * min(ends)
    if logarithmic:
        lines = [line for line in lines if line[-1][-1] > 0]
    picture, axes = drawing.plot(drawing.height_of(len(lines)))
    labels = []
    for row, pen, suffix, rounds, values in lines:
        drawing.line(
            axes, rounds, np.where(values > 0, values, np.nan) if logarithmic else values, pen
        )
        label = _label(comparison, row, float(values[-1]), pen)
        title = drawing.label_text(label.text, longest=26 - len(suffix))
        labels.append(Label(title + suffix, label.y, pen, label.bold and not suffix))
    axes.set_xlim(0, max(int(rounds[-1]) for _, _, _, rounds, _ in lines))
    if logarithmic:
        axes.set_ylim(0.8 * min(ends + _starts(lines)), 1.25 * max(ends))
        drawing.log_ticks(axes)
    else:
        axes.set_ylim(0, 1.05 * max(ends, default=1.0))
    axes.set_xlabel("rounds")
    axes.set_ylabel("support vectors (number" + (", log scale)" if logarithmic else ")"))
    drawing.dress(axes)
    drawing.label_lines(axes, labels)
    return picture


@in_house_style
def kernel_weights(comparison: Comparison) -> Figure:
    """Weights of the kernels over the rounds, a panel for each recipe with several kernels.

    Means over the permutations. The kernels that end with the greatest weights, at most six in
    the whole figure, have a colour and are named by their formula; the others are grey.

    Parameters
    ----------
    comparison : at least one recipe with more than one kernel

    Returns
    -------
    a figure 6.4 inches wide

    Raises
    ------
    InputError
        if no recipe has more than one kernel.
    """
    rows = many_kernels(checked(comparison))
    if not rows:
        raise InputError("expected a recipe with more than one kernel, found none")
    over = [over_time(row, "kernel_weights") for row in rows]
    means = [weights.mean(axis=0) for _, weights in over]
    colours = dict(zip(_top_kernels(rows, means), HUES, strict=False))
    named = {kernel: Pen(colour, "-", 1.5) for kernel, colour in colours.items()}
    if any(kernel not in colours for row in rows for kernel in row.runs[0].history.kernels):
        named["the other kernels"] = OTHERS
    picture, panels = drawing.panels(len(rows), named, sharey=True)
    for axes, row, (rounds, _), weights in zip(panels, rows, over, means, strict=True):
        kernels = row.runs[0].history.kernels
        # The named ones last, so that they lie on top.
        for place in sorted(range(len(kernels)), key=lambda k: kernels[k] in colours):
            drawing.line(axes, rounds, weights[:, place], named.get(kernels[place], OTHERS))
        axes.set_title(drawing.label_text(row.title), loc="left")
        axes.set_xlim(0, rounds[-1])
        drawing.dress(axes)
        drawing.few_ticks(axes)
    greatest = max(float(np.nanmax(weights, initial=0.0)) for weights in means)
    panels[0].set_ylim(0, min(1.0, 1.1 * greatest) * 1.02 or 1.0)
    picture.supxlabel("rounds")
    for axes in panels:
        if axes.get_subplotspec().is_first_col():
            axes.set_ylabel("weight (sum 1)")
    return picture


@in_house_style
def discount_curve(curves: Discounts) -> Figure:
    """Mean mistakes against the discount, a panel for each data set (figure 4 of the paper).

    Parameters
    ----------
    curves : for each data set, for each algorithm's title: discounts (k,) in (0, 1], mean
        mistakes (k,) in per cent, and their standard deviations (k,), drawn as bands where a
        panel has up to four algorithms; deviations that are not finite are left out

    Returns
    -------
    a figure 6.4 inches wide

    Raises
    ------
    InputError
        if there is no data set, or none of its algorithms.
    """
    titles = list(dict.fromkeys(title for lines in curves.values() for title in lines))
    if not titles:
        raise InputError("expected curves of at least one algorithm on one data set, found none")
    styles = dict(zip(titles, drawing.pens([False] * len(titles)), strict=True))
    picture, panels = drawing.panels(len(curves), styles, sharey=False)
    for axes, (data, lines) in zip(panels, curves.items(), strict=True):
        for title, (discounts, mean, std) in lines.items():
            pen = styles[title]
            drawing.line(axes, np.asarray(discounts), np.asarray(mean), pen)
            if len(lines) <= FEW and np.all(np.isfinite(std)):
                drawing.band(axes, np.asarray(discounts), np.asarray(mean), np.asarray(std), pen)
        axes.set_title(drawing.label_text(data), loc="left")
        axes.set_xlim(0, 1.02)
        drawing.dress(axes)
        drawing.few_ticks(axes)
    picture.supxlabel("discount of a mistaken kernel's weight")
    picture.supylabel("mistakes (% of the rounds)")
    return picture


@in_house_style
def parameter_curves(points: Sequence[StudyPoint]) -> Figure:
    """Mistakes, support vectors and seconds against a parameter, a panel each, a line a curve.

    Parameters
    ----------
    points : of one parameter on one data set; those of a curve in the order of their values

    Returns
    -------
    a figure 6.4 inches wide

    Raises
    ------
    InputError
        if there are no points.
    """
    if not points:
        raise InputError("expected at least one point of a parameter study, found none")
    curves = list(dict.fromkeys(point.curve for point in points))
    styles = dict(zip(curves, drawing.pens([False] * len(curves)), strict=True))
    panels_of = {
        "mistakes (%)": ("error", "error_std"),
        "support vectors": ("n_support", "n_support_std"),
        "seconds": ("seconds", None),
    }
    picture, panels = drawing.panels(len(panels_of), styles, sharey=False)
    for axes, (title, (mean, std)) in zip(panels, panels_of.items(), strict=True):
        for curve, pen in reversed(styles.items()):  # the first on top
            own = [point for point in points if point.curve == curve]
            x = np.array([point.value for point in own])
            y = np.array([getattr(point, mean) for point in own])
            axes.plot(x, y, **pen.options(), marker="o", markersize=2.5)
            if std is not None and all(getattr(point, std) is not None for point in own):
                drawing.band(axes, x, y, np.array([getattr(point, std) for point in own]), pen)
        axes.set_title(title, loc="left")
        axes.set_xlim(0, 1.02 * max(point.value for point in points))
        if mean != "error":
            axes.set_ylim(bottom=0)
        drawing.dress(axes)
        drawing.few_ticks(axes)
    picture.supxlabel(f"{points[0].parameter} of SPA")
    return picture


@in_house_style
def stream_length_curves(result: AccuracyCurves) -> Figure:
    """Accuracy, or seconds of learning, against the examples learned from, a line a curve.

    The horizontal axis is logarithmic, and that of seconds too. A curve that ends before the
    others ends in a dot; a dotted line leads from there to its name.

    Parameters
    ----------
    result : at least one curve

    Returns
    -------
    a figure 6.4 inches wide

    Raises
    ------
    InputError
        if there are no curves.
    """
    from matplotlib.ticker import NullFormatter

    if not result.curves:
        raise InputError("expected at least one curve, found none")
    picture, axes = drawing.plot(4.2)
    timed = result.shown == "seconds"
    ends = [curve.n_rows for curve in result.curves]
    first = min(TIMED_FROM, *ends) if timed else min(curve.rows[0] for curve in result.curves)
    last = max(ends)
    pens = drawing.pens([False] * len(result.curves))
    labels, seen = [], []
    for curve, name, pen in zip(result.curves, curve_names(result.curves), pens, strict=True):
        rows, values = np.array(curve.rows), np.array(getattr(curve, result.shown))
        drawing.line(axes, rows, values, pen)
        if curve.n_rows < last:
            axes.plot(curve.n_rows, values[-1], "o", color=pen.color, markersize=4)
            dotted = Pen(pen.color, (0, (1, 2)), 0.8)
            drawing.line(axes, np.array([curve.n_rows, last]), np.repeat(values[-1], 2), dotted)
        seen.append(values[rows >= first])
        labels.append(Label(name, float(values[-1]), pen))
    axes.set_xscale("log")
    axes.set_xlim(first if first < last else last / 10, last)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("examples learned from (log scale)")
    drawn = np.concatenate(seen)
    if timed:
        axes.set_ylim(0.8 * drawn.min(), 1.25 * drawn.max())
        drawing.log_ticks(axes)
        axes.set_ylabel("seconds of learning (log scale)")
    else:
        low, high = _limits(drawn)
        axes.set_ylim(low, min(high, 100.0))
        axes.set_ylabel("right on the test part (%)")
    drawing.dress(axes)
    drawing.label_lines(axes, labels)
    return picture


def _pens(comparison: Comparison) -> list[Pen]:
    """A pen a row, the same in every figure; those of the best recipes are wider."""
    every = drawing.pens([row.recipe in TRIVIAL for row in comparison.rows])
    return [
        Pen(pen.color, pen.linestyle, 2.2) if row.recipe in comparison.best else pen
        for row, pen in zip(comparison.rows, every, strict=True)
    ]


def _limits(values: Any) -> tuple[float, float]:
    """Limits a little outside the values that are finite, not below zero."""
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.1 * high or 1.0
    return max(0.0, low - margin), high + margin


def _label(comparison: Comparison, row: Row, y: float, pen: Pen) -> Label:
    best = row.recipe in comparison.best
    text = drawing.label_text(row.title, longest=24) + (" *" if best else "")
    return Label(text, y if math.isfinite(y) else 0.0, pen, best)


def _starts(lines: Sequence[tuple[Row, Pen, str, Any, Any]]) -> list[float]:
    """Sizes soon after the start, where they are positive."""
    values = [values[rounds >= SETTLED * rounds[-1]][0] for _, _, _, rounds, values in lines]
    return [float(value) for value in values if value > 0]


def _top_kernels(rows: Sequence[Row], means: Sequence[Any]) -> list[str]:
    """Formulas of the kernels to name, the greatest final weight in any panel first."""
    best: dict[str, float] = {}
    for row, weights in zip(rows, means, strict=True):
        kernels = row.runs[0].history.kernels
        for place in np.argsort(-weights[-1], kind="stable")[:TOP_KERNELS]:
            name = kernels[place]
            best[name] = max(best.get(name, 0.0), float(weights[-1, place]))
    return sorted(best, key=lambda name: -best[name])[: len(HUES)]
