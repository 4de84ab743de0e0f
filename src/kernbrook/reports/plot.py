"""Figures as data: panels of lines, or bars; how they look is in kernbrook.mplstyle."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from html import escape
from importlib.resources import as_file, files
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kernbrook.checks import shown
from kernbrook.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["linear", "log"]
Limits = tuple[float | None, float | None]

# Okabe and Ito's colours, which colour-blind readers tell apart, without black and yellow:
# all six stand out on white and on near-black.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (2.5, 1)))
TRIVIAL_DASHES: tuple[Any, ...] = ((0, (1, 1.2)), (0, (3, 1, 1, 1)))
INK = "#262627"  # the page replaces it by its own text colour
GREY = "#8c8c8d"
WIDTH = 6.4  # inches
ACROSS = 3  # panels side by side
BAR = 0.24  # inches from one bar to the next
LONGEST = 44  # characters of the name of a bar


@dataclass(frozen=True)
class Pen:
    """How a line is drawn.

    Attributes
    ----------
    color, linestyle, linewidth : as matplotlib's `Axes.plot` takes them
    """

    color: str
    linestyle: Any
    linewidth: float = 1.4


def pens_of(names: Iterable[str], trivial: Collection[str] = ()) -> dict[str, Pen]:
    """A pen a name: six hues, then the hues again in dashes; trivial baselines are grey."""
    ours = (Pen(hue, dashes) for dashes in cycle(DASHES) for hue in HUES)
    greys = (Pen(GREY, dashes) for dashes in cycle(TRIVIAL_DASHES))
    return {name: next(greys if name in trivial else ours) for name in dict.fromkeys(names)}


def dotted(color: str) -> Pen:
    """The pen of a line that goes with another."""
    return Pen(color, (0, (1, 1.3)), 1.2)


def label_text(name: str, longest: int = 26) -> str:
    """A name as a figure can show it: one line, printable, not too long.

    Examples
    --------
    >>> label_text("a\\nb"), label_text("x" * 40, longest=5)
    ('a b', 'xxxx…')
    """
    name = "".join(c if c.isprintable() else "�" for c in " ".join(name.split()))
    if name.startswith("_"):  # matplotlib leaves such labels out of its legends
        name = f" {name}"
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


@dataclass(frozen=True)
class Line:
    """A line of a panel.

    Attributes
    ----------
    name : of what it shows
    x, y : (k,) numbers
    pen : how it is drawn
    std : (k,) half the width of a band around it; none where None
    marker : of every point, as matplotlib has it; none where None
    joined : whether points are joined
    """

    name: str
    x: Any
    y: Any
    pen: Pen
    std: Any = None
    marker: str | None = None
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """Axes of a figure.

    Attributes
    ----------
    lines : the last on top
    title, x_label, y_label : texts
    x_scale, y_scale : "linear" or "log"
    x_limits, y_limits : ends of the axes, None where the lines say
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
    dated: bool = False


@dataclass(frozen=True)
class Plot:
    """A figure: panels under a legend.

    Attributes
    ----------
    panels : one or more
    legend : names of lines, and how these are drawn
    x_label, y_label : of all panels
    sharey : whether the panels have one vertical axis
    """

    panels: Sequence[Panel]
    legend: Mapping[str, Pen]
    x_label: str = ""
    y_label: str = ""
    sharey: bool = False


@dataclass(frozen=True)
class Bars:
    """A figure of bars that lie below one another, each with its name.

    Attributes
    ----------
    names : of the bars, from the top
    values : their lengths
    errors : half of the length of a whisker at the end of each; none where empty
    x_label : what the lengths are

    Examples
    --------
    >>> from kernbrook.reports import Bars, draw
    >>> len(draw(Bars(["wind", "temperature"], [0.03, 0.01])).axes)
    1
    """

    names: Sequence[str]
    values: Sequence[float]
    errors: Sequence[float] = ()
    x_label: str = ""


@contextmanager
def house_style() -> Iterator[None]:
    """Our settings over matplotlib's defaults, whatever the user's own; undone at the end."""
    from matplotlib import style

    source = files("kernbrook.reports").joinpath("kernbrook.mplstyle")
    with warnings.catch_warnings(), as_file(source) as path:
        # A name in a script that the fonts lack: the reader of the SVG may well have the font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        with style.context(path, after_reset=True):
            yield


def draw(plot: Plot | Bars) -> Figure:
    """Draw a figure with matplotlib, 6.4 inches wide.

    Parameters
    ----------
    plot : a `Plot` or `Bars`

    Raises
    ------
    InputError
        There is no panel, or a panel without lines, or nothing else to draw.

    Examples
    --------
    >>> from kernbrook.reports import Line, Panel, Pen, Plot, draw
    >>> pen = Pen("#0072B2", "-")
    >>> panel = Panel([Line("error", [1, 2, 3], [0.4, 0.3, 0.2], pen)], y_label="error")
    >>> len(draw(Plot([panel], {"error": pen}, x_label="rows")).axes)
    1
    """
    if isinstance(plot, Bars):
        return _draw_bars(plot)
    if not isinstance(plot, Plot):
        raise InputError(f"expected a Plot, got {shown(plot)}")
    if not plot.panels or not all(panel.lines for panel in plot.panels):
        raise InputError("expected panels with at least one line each, found none")
    with house_style():
        picture, every = panels(len(plot.panels), plot.legend, sharey=plot.sharey)
        for axes, panel in zip(every, plot.panels, strict=True):
            for line in panel.lines:
                _draw_line(axes, line)
            axes.set(
                xscale=panel.x_scale, yscale=panel.y_scale, xlim=panel.x_limits,
                ylim=panel.y_limits, xlabel=panel.x_label, ylabel=panel.y_label,
                title=label_text(panel.title),
            )  # fmt: skip
            ticks(axes, narrow=len(every) > 1, dated=panel.dated)
        picture.supxlabel(plot.x_label)
        picture.supylabel(plot.y_label)
    return picture


def _draw_line(axes: Any, line: Line) -> None:
    """One sample alone is a dot."""
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    looks = asdict(line.pen) | {"marker": line.marker, "markersize": 3.5}
    if not line.joined or len(x) == 1:
        looks |= {"marker": line.marker or "o", "clip_on": False, "zorder": 4}
    axes.plot(x, y, **looks | ({} if line.joined else {"linestyle": "none"}))
    if line.std is not None and np.all(np.isfinite(line.std)):
        std = np.asarray(line.std, float)
        axes.fill_between(x, y - std, y + std, color=line.pen.color, alpha=0.15, linewidth=0)


def panels(count: int, named: Mapping[str, Pen], *, sharey: bool) -> tuple[Figure, list[Any]]:
    """A figure of `count` panels, up to three side by side, under a legend; and the panels."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    across = count if count <= ACROSS else 2 if count == 4 else ACROSS
    down = math.ceil(count / across)
    names = [label_text(name, longest=36) for name in named]
    inches = 0.5 + 0.07 * max(map(len, names), default=0)
    columns = max(1, min(len(names), int((WIDTH - 0.4) / inches)))
    height = {1: 3.0, 2: 2.3}.get(across, 1.75) * down
    height += 0.5 + 0.18 * math.ceil(len(names) / columns)
    picture = Figure(figsize=(WIDTH, height))
    every = picture.subplots(down, across, sharey=sharey, squeeze=False).ravel().tolist()
    for axes in every[count:]:
        axes.remove()
    handles = [Line2D([], [], **asdict(pen)) for pen in named.values()]
    picture.legend(handles, names, loc="outside upper left", ncols=columns)
    return picture, every[:count]


def ticks(axes: Any, *, narrow: bool = False, dated: bool = False) -> None:
    """Few ticks, and their numbers without exponents; of days since 1970 dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    most = 3 if narrow and axes.get_xlim()[1] >= 10_000 else 4 if narrow else 7
    for axis, bins in ((axes.xaxis, most), (axes.yaxis, 4 if narrow else 6)):
        if axis.get_scale() == "log":
            low, high = axis.get_view_interval()
            decades = math.log10(high / low)
            subs = (1, 2, 5) if decades < (1 if narrow else 3) else (1, 3) if decades < 2 else (1,)
            axis.set_major_locator(
                MaxNLocator(3, steps=[1, 2, 5, 10])
                if narrow and decades < 0.7
                else LogLocator(subs=subs, numticks=3 if narrow else 20)
            )
            axis.set_minor_formatter(NullFormatter())
        else:
            axis.set_major_locator(MaxNLocator(bins, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    if dated:
        locator = AutoDateLocator(minticks=3, maxticks=7)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def number(value: float) -> str:
    """A tick's number.

    Examples
    --------
    >>> number(0.25), number(5.0), number(20000.0)
    ('0.25', '5', '20,000')
    """
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _draw_bars(bars: Bars) -> Figure:
    if not bars.names:
        raise InputError("expected one bar at least, found none")
    with house_style():
        picture, (axes,) = panels(1, {}, sharey=False)
        picture.set_figheight(0.7 + BAR * len(bars.names))
        places, values = np.arange(len(bars.names)), np.asarray(bars.values, float)
        axes.barh(places, values, 0.72, color=[HUES[int(value < 0)] for value in values])
        if len(bars.errors):
            looks = {"fmt": "none", "ecolor": INK, "elinewidth": 0.8}
            axes.errorbar(values, places, xerr=bars.errors, **looks)
        axes.axvline(0.0, color=GREY, linewidth=0.7)
        axes.margins(x=0.08)
        axes.set(ylim=(len(places) - 0.4, -0.6), xlabel=bars.x_label)
        ticks(axes)
        axes.set_yticks(places, [label_text(name, LONGEST) for name in bars.names])
        axes.tick_params(axis="y", length=0)
        axes.grid(False)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
    return picture


def svg(picture: Figure, name: str, description: str) -> str:
    """A figure as SVG to stand inside an HTML page, whose ink and text it takes.

    The same figure and name give the same text.

    name : different for every figure of the page
    description : what a screen reader says
    """
    import matplotlib

    buffer = io.StringIO()
    unsaid = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with house_style():
        matplotlib.rcParams["svg.hashsalt"] = name  # ids that are referred to are the figure's own
        picture.savefig(buffer, format="svg", transparent=True, metadata=unsaid)
    text = buffer.getvalue()
    referred = set(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in referred else "", text)
    opening = f'<svg role="img" aria-label="{escape(description)}" '
    return text[text.index("<svg ") :].replace("<svg ", opening, 1).replace(INK, "currentColor")


def limits(values: Sequence[Any], log: bool = False) -> tuple[float, float]:
    """Limits a little outside the finite values: not below 0; of a logarithmic axis above it."""
    found = np.concatenate([np.atleast_1d(np.asarray(part, float)) for part in values])
    found = found[np.isfinite(found)]
    if log and (found > 0).any():
        return 0.8 * float(found[found > 0].min()), 1.25 * float(found.max())
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.1 * high or 1.0
    return max(0.0, low - margin), high + margin
