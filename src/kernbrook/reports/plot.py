"""Figures as data: panels of lines, or bars; `draw` alone knows matplotlib's axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.reports import drawing
from kernbrook.reports.drawing import Label, Pen, in_house_style
from kernbrook.results import Curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["linear", "log"]
Limits = tuple[float | None, float | None]
BAR = 0.24  # inches from one bar to the next
UP, DOWN = drawing.HUES[0], drawing.HUES[1]  # colours of bars above and below 0
LONGEST = 44  # characters of the name of a bar


@dataclass(frozen=True)
class Line:
    """A line of a panel.

    Attributes
    ----------
    pen : name of its pen in the plot, and its name in the figure
    x, y : (k,) numbers
    std : (k,) half the width of a band around it; none where None
    marker, size : of every point, as matplotlib has them; none where None
    joined : whether points are joined
    bar : width of the bars that stand in place of the line; none where 0
    """

    pen: str
    x: Any
    y: Any
    std: Any = None
    marker: str | None = None
    size: float = 2.5
    joined: bool = True
    bar: float = 0.0

    @classmethod
    def of(cls, pen: str, curve: Curve, **looks: Any) -> Line:
        """Of a curve, with a band where it has deviations."""
        return cls(pen, curve.x, curve.mean, curve.std, **looks)


@dataclass(frozen=True)
class Panel:
    """Axes of a figure.

    Attributes
    ----------
    lines : the last on top
    title, x_label, y_label : texts
    x_scale, y_scale : "linear" or "log"
    x_limits, y_limits : ends of the axes, None where the lines say
    levels : name of a pen -> height of a line across the panel
    ticks : places and names of the horizontal axis' ticks; found where None
    dated : whether the horizontal axis has dates: days since 1970
    """

    lines: Sequence[Line]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    x_limits: Limits = (None, None)
    y_limits: Limits = (None, None)
    levels: Mapping[str, float] = field(default_factory=dict)
    ticks: tuple[Any, Sequence[str]] | None = None
    dated: bool = False


@dataclass(frozen=True)
class Plot:
    """A figure.

    Attributes
    ----------
    panels : one, whose lines are named at their ends; or several, under a legend of the pens
    pens : how the lines are drawn, by name, in the order of the legend
    names : of the pens in the figure, where they differ
    others : pens of lines that have no name in the figure
    x_label, y_label : of all panels
    sharey : whether the panels have one vertical axis
    bold : names of pens whose labels are bold
    height : inches of a figure of one panel; by the number of names where 0
    """

    panels: Sequence[Panel]
    pens: Mapping[str, Pen]
    names: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Pen] = field(default_factory=dict)
    x_label: str = ""
    y_label: str = ""
    sharey: bool = False
    bold: frozenset[str] = frozenset()
    height: float = 0.0


@dataclass(frozen=True)
class Bars:
    """A figure of bars that lie below one another, each with its name.

    Attributes
    ----------
    names : of the bars, from the top
    values : their lengths
    errors : half of the length of a whisker at the end of each; none where empty
    x_label : what the lengths are
    """

    names: Sequence[str]
    values: Sequence[float]
    errors: Sequence[float] = ()
    x_label: str = ""


@singledispatch
def draw(plot: Any) -> Figure:
    """The figure, 6.4 inches wide, of a `Plot`, or of another kind that is registered.

    Raises
    ------
    InputError
        There is no panel, or a panel without lines, or nothing else to draw.
    """
    raise InputError(f"expected a Plot, got {shown(plot)}")


@draw.register(Plot)
@in_house_style
def _draw(plot: Plot) -> Figure:
    if not plot.panels or not all(panel.lines for panel in plot.panels):
        raise InputError("expected panels with at least one line each, found none")
    named = {plot.names.get(name, name): pen for name, pen in plot.pens.items()}
    alone = len(plot.panels) == 1 and not plot.panels[0].title
    if alone:
        labels = sum(name in plot.pens for name in {line.pen for line in plot.panels[0].lines})
        picture, axes = drawing.plot(plot.height or drawing.height_of(labels))
        every = [axes]
    else:
        picture, every = drawing.panels(len(plot.panels), named, sharey=plot.sharey)
    for axes, panel in zip(every, plot.panels, strict=True):
        _fill(axes, panel, {**plot.pens, **plot.others})
        axes.set_xscale(panel.x_scale)
        axes.set_yscale(panel.y_scale)
        axes.set_xlim(*panel.x_limits)
        axes.set_ylim(*panel.y_limits)
        drawing.dress(axes)
        if not alone:
            drawing.few_ticks(axes)
        _ticks(axes, panel, narrow=not alone)
    if alone:
        drawing.label_lines(every[0], _labels(plot))
    if plot.x_label:
        picture.supxlabel(plot.x_label)
    if plot.y_label:
        picture.supylabel(plot.y_label)
    return picture


def _fill(axes: Any, panel: Panel, pens: Mapping[str, Pen]) -> None:
    for line in panel.lines:
        pen, x, y = pens[line.pen], np.asarray(line.x, float), np.asarray(line.y, float)
        if line.bar:
            axes.bar(x, y, line.bar, color=pen.color)
        elif line.joined and line.marker is None:
            drawing.line(axes, x, y, pen)
        else:
            looks = pen.options() | ({} if line.joined else {"linestyle": "none"})
            edge = {} if line.joined else {"markeredgecolor": "white", "markeredgewidth": 0.8}
            axes.plot(
                x, y, **looks, marker=line.marker, markersize=line.size, **edge,
                clip_on=line.joined, zorder=2 if line.joined else 4,
            )  # fmt: skip
        if line.std is not None and np.all(np.isfinite(line.std)):
            drawing.band(axes, x, y, np.asarray(line.std, float), pen)
    for name, height in panel.levels.items():
        axes.axhline(height, **pens[name].options())


def _ticks(axes: Any, panel: Panel, *, narrow: bool) -> None:
    """Ticks of logarithmic axes and named ones, and the texts."""
    for axis, scale in ((axes.xaxis, panel.x_scale), (axes.yaxis, panel.y_scale)):
        if scale == "log":
            drawing.log_ticks(axis, narrow=narrow)
    if panel.dated:
        drawing.date_ticks(axes.xaxis)
    if panel.ticks is not None:
        axes.set_xticks(*panel.ticks)
        axes.tick_params(axis="x", length=0)
    if panel.title:
        axes.set_title(drawing.label_text(panel.title), loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)


def _labels(plot: Plot) -> list[Label]:
    """Of the lines of the only panel, one a pen, at its last line's end."""
    ends = {line.pen: float(line.y[-1]) for line in plot.panels[0].lines if line.pen in plot.pens}
    return [
        Label(
            plot.names.get(name, name),
            end if math.isfinite(end) else 0.0,
            plot.pens[name],
            name in plot.bold,
        )
        for name, end in ends.items()
    ]


@draw.register(Bars)
@in_house_style
def _draw_bars(bars: Bars) -> Figure:
    if not bars.names:
        raise InputError("expected one bar at least, found none")
    picture, axes = drawing.plot(0.7 + BAR * len(bars.names))
    places = np.arange(len(bars.names))
    values = np.asarray(bars.values, float)
    axes.barh(places, values, 0.72, color=np.where(values < 0, DOWN, UP).tolist())
    if len(bars.errors):
        axes.errorbar(
            values, places, xerr=bars.errors, fmt="none", ecolor=drawing.INK, elinewidth=0.8
        )
    drawing.dress(axes)
    axes.grid(False)
    axes.grid(axis="x", which="major", color=drawing.GREY, alpha=0.25, linewidth=0.6)
    axes.axvline(0.0, color=drawing.GREY, linewidth=0.7)
    axes.set_yticks(places, [drawing.label_text(name, LONGEST) for name in bars.names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.margins(x=0.08)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(bars.x_label)
    return picture


def limits(values: Sequence[Any]) -> tuple[float, float]:
    """Limits a little outside the values that are finite, not below 0."""
    found = np.concatenate([np.atleast_1d(np.asarray(part, float)) for part in values])
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.1 * high or 1.0
    return max(0.0, low - margin), high + margin
