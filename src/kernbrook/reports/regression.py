"""Columns and figures of the paper on active learning with multiple kernels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook.errors import InputError
from kernbrook.reports import drawing
from kernbrook.reports.drawing import DASHES, HUES, Label, Pen, in_house_style
from kernbrook.reports.figures import _band, _grid, _height, _line
from kernbrook.reports.summary import DECADES, TRIVIAL, Column, aligned

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
    windows = list(dict.fromkeys(point.window for point in study.points))
    names: list[str] = []
    heads: list[int] = []
    cells: dict[tuple[int, str], list[str]] = {
        (window, kind): [] for window in windows for kind in ("error", "random", "labels")
    }
    for title, group in groupby(study.points, lambda point: point.title):
        points = {(point.threshold, point.window): point for point in group}
        heads.append(len(names))
        names.append(title)
        thresholds = list(dict.fromkeys(threshold for threshold, _ in points))
        names += [f"  {drawing.number(threshold)}" for threshold in thresholds]
        for window in windows:
            own = [points.get((threshold, window)) for threshold in thresholds]
            texts = {
                "error": ["" if p is None else f"{p.error:.2f}" for p in own],
                "random": ["" if p is None else f"{p.error_random:.2f}" for p in own],
                "labels": ["" if p is None else f"{100 * p.labels:.1f}" for p in own],
            }
            for kind, column in texts.items():
                cells[window, kind] += ["", *column]
    columns = [Column("threshold", tuple(names))]
    for window in windows:
        columns += [
            Column(f"M = {window}\nlabels", tuple(cells[window, "labels"]), "number"),
            Column("\nMSE", tuple(cells[window, "error"]), "number"),
            Column("\nrandom", tuple(cells[window, "random"]), "number"),
        ]
    return columns, heads


def error_columns(result: ErrorCurves) -> tuple[list[Column], list[int]]:
    """Columns of errors at powers of ten and at the end, and the rows that only name the data."""
    names: list[str] = []
    heads: list[int] = []
    of_row: list[ErrorCurve | None] = []
    for data, group in groupby(result.curves, lambda curve: curve.data):
        heads.append(len(names))
        names.append(data)
        of_row.append(None)
        for curve in group:
            names.append(f"  {curve.title}")
            of_row.append(curve)

    def column(header: str, texts: Sequence[str]) -> Column:
        remaining = iter(texts)
        cells = ("" if curve is None else next(remaining) for curve in of_row)
        return Column(header, tuple(cells), "number")

    curves = result.curves
    at = [dict(zip(curve.rounds, curve.error, strict=True)) for curve in curves]
    columns, heading = [Column("algorithm", tuple(names))], UNIT
    for n, name in DECADES.items():
        if any(n in errors for errors in at):
            texts = [f"{errors[n]:.2f}" if n in errors else "" for errors in at]
            columns.append(column(f"{heading}\n{name}", texts))
            heading = ""
    ends = [(c.error[-1], None if c.error_std is None else c.error_std[-1]) for c in curves]
    columns += [
        column(f"{heading}\nend", aligned(ends, 2)),
        column("rounds", [f"{curve.rounds[-1]:,}" for curve in curves]),
        column("labels %", [f"{100 * curve.labels:.1f}" for curve in curves]),
    ]
    return columns, heads


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
    drawn = {f"{title}, labels drawn": Pen(hues[title], (0, (1, 1.3)), 1.2) for title in algorithms}
    trivial = dict(zip(study.trivial, drawing.pens([True] * len(study.trivial)), strict=True))
    picture, panels = _grid(3, styles | drawn | trivial, sharey=False)
    labels, errors, both = panels
    for own, pen in zip(lines, styles.values(), strict=True):
        thresholds = _array(own, "threshold")
        share, error = 100 * _array(own, "labels"), _array(own, "error")
        _line(labels, thresholds, share, pen)
        _line(errors, thresholds, error, pen)
        if all(point.error_std is not None for point in own):
            _band(errors, thresholds, error, _array(own, "error_std"), pen)
        _line(both, share, error, pen)
    for title, pen in zip(algorithms, drawn.values(), strict=True):
        own = sorted((p for p in study.points if p.title == title), key=lambda p: p.labels)
        _line(both, 100 * _array(own, "labels"), _array(own, "error_random"), pen)
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
    height = _height(len(curves)) + 0.8
    picture = drawing.figure(height)
    axes = picture.add_subplot()
    labels, seen = [], []
    pens = drawing.pens([curve.recipe in TRIVIAL for curve in curves])
    for curve, pen in zip(curves, pens, strict=True):
        own = curve.recipe.startswith("kernbrook-")
        pen = Pen(pen.color, pen.linestyle, 2.2) if own else pen
        rounds, errors = np.array(curve.rounds), np.array(curve.error)
        _line(axes, rounds, errors, pen)
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
    drawing.label_lines(axes, labels, height - 0.6)
    return picture


def _array(points: Sequence[LabelPoint], name: str) -> Any:
    return np.array([getattr(point, name) for point in points])
