"""Columns and figures of the paper on active learning with multiple kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.errors import InputError
from kernbrook.reports import drawing
from kernbrook.reports.drawing import DASHES, HUES, Label, Pen, in_house_style
from kernbrook.reports.summary import DECADES, TRIVIAL, Column, Groups, aligned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kernbrook.evaluation.regression_records import (
        ErrorCurve,
        ErrorCurves,
        LabelPoint,
        LabelStudy,
    )

UNIT = "MSE x 1e-3"
SETTLED = 0.02  # the first rounds, whose error is mostly noise, do not set the axis
OVER = 2.0  # times the trivial rules' error: what ends above runs off the figure


def label_columns(study: LabelStudy) -> tuple[list[Column], list[int]]:
    """Columns of errors and labels, a row a threshold, and the rows that only name what follows."""
    points = {(point.title, point.threshold, point.window): point for point in study.points}
    rows = list(dict.fromkeys((title, threshold) for title, threshold, _ in points))
    groups = Groups((title, drawing.number(threshold)) for title, threshold in rows)
    columns = [Column("threshold", groups.names)]
    for window in dict.fromkeys(point.window for point in study.points):
        own = [points.get((title, threshold, window)) for title, threshold in rows]
        columns += [
            groups.numbers(f"M = {window}\nlabels", own, lambda p: f"{100 * p.labels:.1f}"),
            groups.numbers("\nMSE", own, lambda p: f"{p.error:.2f}"),
            groups.numbers("\nrandom", own, lambda p: f"{p.error_random:.2f}"),
        ]
    return columns, groups.heads


def error_columns(result: ErrorCurves) -> tuple[list[Column], list[int]]:
    """Columns of errors at powers of ten and at the end, and the rows that only name the data."""
    curves = result.curves
    groups = Groups((curve.data, curve.title) for curve in curves)
    at = [dict(zip(curve.rounds, curve.error, strict=True)) for curve in curves]
    columns, heading = [Column("algorithm", groups.names)], UNIT
    for n, name in DECADES.items():
        if any(n in errors for errors in at):
            found = (errors.get(n) for errors in at)
            columns.append(groups.numbers(f"{heading}\n{name}", found, "{:.2f}".format))
            heading = ""
    ends = [(c.error[-1], None if c.error_std is None else c.error_std[-1]) for c in curves]
    columns += [
        groups.numbers(f"{heading}\nend", aligned(ends, 2)),
        groups.numbers("rounds", curves, lambda c: f"{c.rounds[-1]:,}"),
        groups.numbers("labels %", curves, lambda c: f"{100 * c.labels:.1f}"),
    ]
    return columns, groups.heads


@in_house_style
def label_figure(study: LabelStudy) -> Figure:
    """Labels and errors against the threshold, and errors against labels, a panel each.

    A line is an algorithm with one window; windows differ in colour, algorithms in dashes. In the
    last panel the same algorithms with drawn labels are dotted, and the trivial rules, which see
    every label, grey.

    Parameters
    ----------
    study : at least one point, all of one data set

    Returns
    -------
    a figure 6.4 inches wide

    Raises
    ------
    InputError
        if there are no points.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    if not study.points:
        raise InputError("expected at least one point of a study of labels, found none")
    lines = [list(group) for _, group in groupby(study.points, lambda p: (p.title, p.window))]
    algorithms = list(dict.fromkeys(point.title for point in study.points))
    windows = list(dict.fromkeys(point.window for point in study.points))
    colours = cycle(HUES)
    hues = {name: next(colours) for name in (*windows, *algorithms)}
    dashes = dict(zip(algorithms, cycle(DASHES)))
    styles = {
        f"{own[0].title}, M = {own[0].window}": Pen(hues[own[0].window], dashes[own[0].title])
        for own in lines
    }
    drawn = {f"{title}, labels drawn": drawing.dotted(hues[title]) for title in algorithms}
    trivial = dict(zip(study.trivial, drawing.pens([True] * len(study.trivial)), strict=True))
    picture, panels = drawing.panels(3, styles | drawn | trivial, sharey=False)
    labels, errors, both = panels
    for own, pen in zip(lines, styles.values(), strict=True):
        thresholds = _array(own, "threshold")
        share, error = 100 * _array(own, "labels"), _array(own, "error")
        drawing.line(labels, thresholds, share, pen)
        drawing.line(errors, thresholds, error, pen)
        if all(point.error_std is not None for point in own):
            drawing.band(errors, thresholds, error, _array(own, "error_std"), pen)
        drawing.line(both, share, error, pen)
    for title, pen in zip(algorithms, drawn.values(), strict=True):
        own = sorted((p for p in study.points if p.title == title), key=lambda p: p.labels)
        drawing.line(both, 100 * _array(own, "labels"), _array(own, "error_random"), pen)
    for pen, error in zip(trivial.values(), study.trivial.values(), strict=True):
        both.axhline(error, **pen.options())
    drawing.log_ticks(both)
    for axes in (labels, errors):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("threshold")
    for axes in panels:
        drawing.dress(axes)
    labels.set_ylim(0, 105)
    both.set_xlim(0, 105)
    both.set_xlabel("labels asked for (%)")
    labels.set_title("labels asked for (%)", loc="left")
    errors.set_title(UNIT, loc="left")
    both.set_title(f"{UNIT}, by labels", loc="left")
    return picture


@in_house_style
def error_figure(curves: Sequence[ErrorCurve]) -> Figure:
    """Errors so far over the rounds on one data set, on a logarithmic axis.

    Our own recipes are wider, trivial rules grey. What ends at more than twice the trivial rules'
    error runs off at the top.

    Parameters
    ----------
    curves : at least one

    Returns
    -------
    a figure 6.4 inches wide, higher with many curves

    Raises
    ------
    InputError
        if there are no curves.
    """
    if not curves:
        raise InputError("expected at least one curve of errors over time, found none")
    picture, axes = drawing.plot(drawing.height_of(len(curves)) + 0.8)
    labels, seen = [], []
    pens = drawing.pens([curve.recipe in TRIVIAL for curve in curves])
    for curve, pen in zip(curves, pens, strict=True):
        own = curve.recipe.startswith("kernbrook-")
        pen = Pen(pen.color, pen.linestyle, 2.2) if own else pen
        rounds, errors = np.array(curve.rounds), np.array(curve.error)
        drawing.line(axes, rounds, errors, pen)
        seen.append(errors[rounds >= SETTLED * rounds[-1]])
        name = curve.recipe if own else curve.title  # the titles of our own are long
        labels.append(Label(name, float(errors[-1]), pen, own))
    drawn = np.concatenate(seen)
    low, high = float(drawn.min()), float(drawn.max())
    trivial = [curve.error[-1] for curve in curves if curve.recipe in TRIVIAL]
    if trivial:
        high = min(high, OVER * max(trivial))
    axes.set_ylim(0.8 * low, 1.1 * high)
    axes.set_xlim(0, max(curve.rounds[-1] for curve in curves))
    drawing.log_ticks(axes)
    axes.set_xlabel("rounds")
    axes.set_ylabel(f"mean squared error so far ({UNIT[4:]}, log scale)")
    drawing.dress(axes)
    drawing.label_lines(axes, labels)
    return picture


def _array(points: Sequence[LabelPoint], name: str) -> Any:
    return np.array([getattr(point, name) for point in points])
