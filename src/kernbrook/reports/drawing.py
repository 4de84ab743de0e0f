"""The look of the figures: pens, lines, panels, axes, labels beside lines, SVG for a page."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")

# Okabe and Ito's colours, which colour-blind readers tell apart, without black and yellow:
# all six stand out on white and on near-black.
HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (2.5, 1)))
TRIVIAL_DASHES: tuple[Any, ...] = ((0, (1, 1.2)), (0, (3, 1, 1, 1)))
INK = "#262627"  # the page replaces it by its own text colour
GREY = "#8c8c8d"
WIDTH = 6.4  # inches
SIZE = 8.5  # points
LABEL_GAP = 0.15  # inches from one label to the next
PANELS = 3  # side by side

STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": SIZE,
    "axes.labelsize": SIZE,
    "figure.facecolor": "white",
    "figure.labelsize": SIZE,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": SIZE,
    "legend.fontsize": SIZE,
    "legend.frameon": False,
    "savefig.facecolor": "auto",
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
}


@contextmanager
def house_style() -> Iterator[None]:
    """Our settings over matplotlib's defaults, whatever the user's own; undone at the end."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name in a script that the fonts lack: the reader of the SVG may well have the font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def in_house_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A function that makes a figure, run under `house_style`."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with house_style():
            return draw(*args, **kwargs)

    return styled


@dataclass(frozen=True)
class Pen:
    """How a line is drawn: arguments of `Axes.plot`."""

    color: str
    linestyle: Any
    linewidth: float = 1.4

    def options(self) -> dict[str, Any]:
        return {
            "color": self.color,
            "linestyle": self.linestyle,
            "linewidth": self.linewidth,
            "solid_capstyle": "round",
        }


def pens(trivial: Sequence[bool]) -> list[Pen]:
    """A pen a line: six hues, then the hues again in dashes; trivial baselines are grey."""
    result, own, grey = [], 0, 0
    for plain in trivial:
        if plain:
            result.append(Pen(GREY, TRIVIAL_DASHES[grey % len(TRIVIAL_DASHES)]))
            grey += 1
        else:
            dashes = DASHES[own // len(HUES) % len(DASHES)]
            result.append(Pen(HUES[own % len(HUES)], dashes))
            own += 1
    return result


def pens_of(names: Iterable[str]) -> dict[str, Pen]:
    """A pen for each name, none of them trivial."""
    names = list(dict.fromkeys(names))
    return dict(zip(names, pens([False] * len(names)), strict=True))


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


def height_of(labels: int) -> float:
    """Inches that a plot and the labels beside it need."""
    return max(3.4, 0.75 + LABEL_GAP * labels)


def figure(height: float) -> Figure:
    """An empty figure of the page's width, `height` inches high."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")


def plot(height: float) -> tuple[Figure, Any]:
    """A figure with one plot, and its axes."""
    picture = figure(height)
    return picture, picture.add_subplot()


def line(axes: Any, x: Any, y: Any, pen: Pen) -> None:
    """A line; one sample alone is a dot."""
    dot = {"marker": "o", "markersize": 4, "clip_on": False} if len(x) == 1 else {}
    axes.plot(x, y, **pen.options(), **dot)


def band(axes: Any, x: Any, mean: Any, std: Any, pen: Pen) -> None:
    """One standard deviation either side of a line; `mean` and `std` are arrays."""
    axes.fill_between(x, mean - std, mean + std, color=pen.color, alpha=0.15, linewidth=0)


def panels(count: int, named: Mapping[str, Pen], *, sharey: bool) -> tuple[Figure, list[Any]]:
    """A figure of `count` panels, up to three side by side, under a legend; and the panels."""
    across = count if count < PANELS else 2 if count == 4 else PANELS
    down = math.ceil(count / across)
    entries = math.ceil(len(named) / _legend_columns(named))
    picture = figure(0.5 + 0.18 * entries + down * (2.2 if across < PANELS else 1.6))
    every = picture.subplots(down, across, sharey=sharey, squeeze=False).ravel().tolist()
    for axes in every[count:]:
        axes.remove()
    _legend(picture, named)
    return picture, every[:count]


def _legend_columns(named: Mapping[str, Pen]) -> int:
    """How many entries of a legend go side by side."""
    longest = max(len(label_text(name, longest=36)) for name in named)
    inches = 0.5 + 0.07 * longest
    return max(1, min(len(named), int((WIDTH - 0.4) / inches)))


def _legend(picture: Figure, named: Mapping[str, Pen]) -> None:
    from matplotlib.lines import Line2D

    picture.legend(
        [Line2D([], [], **pen.options()) for pen in named.values()],
        [label_text(name, longest=36) for name in named],
        loc="outside upper left",
        ncols=_legend_columns(named),
        labelcolor=INK,
        handlelength=2.2,
    )


def dress(axes: Any) -> None:
    """Quiet ticks and thin lines across the plot; numbers without exponents.

    Everything is set on the axes themselves, since matplotlib makes some ticks only when the
    figure is drawn, under whatever settings hold then.
    """
    from matplotlib.ticker import FuncFormatter

    axes.tick_params(
        which="major", length=3, width=0.6, color=GREY, labelcolor=INK, labelsize=SIZE - 0.5
    )
    axes.tick_params(which="minor", length=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.set_axisbelow(True)
    axes.grid(axis="y", which="major", color=GREY, alpha=0.25, linewidth=0.6)


def number(value: float) -> str:
    """A tick's number.

    Examples
    --------
    >>> number(0.25), number(5.0), number(20000.0)
    ('0.25', '5', '20,000')
    """
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def log_ticks(axis: Any, *, narrow: bool = False) -> None:
    """Ticks of a logarithmic axis at the decades, and between them where those are few.

    A panel is narrow: it has fewer, so that their numbers do not touch.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    decades = math.log10(high / low)
    subs: tuple[int, ...] = (1, 2, 5) if decades < (1 if narrow else 3) else (1,)
    if narrow and 1 <= decades < 2:
        subs = (1, 3)
    axis.set_major_locator(
        MaxNLocator(3, steps=[1, 2, 5, 10])
        if narrow and decades < 0.7
        else LogLocator(base=10, subs=subs, numticks=3 if narrow else 20)
    )
    axis.set_minor_formatter(NullFormatter())


def date_ticks(axis: Any) -> None:
    """Ticks of an axis of days since 1970, at whole hours, days, months or years."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=3, maxticks=7)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))
    axis.get_offset_text().set(color=INK, size=SIZE - 0.5)


def few_ticks(axes: Any) -> None:
    """Up to five ticks on each linear axis, for a panel; fewer across where numbers are long."""
    from matplotlib.ticker import MaxNLocator

    across = 4 if axes.get_xlim()[1] < 10_000 else 3
    for axis, bins, steps in (
        (axes.xaxis, across, [1, 2, 5, 10]), (axes.yaxis, 4, [1, 2, 2.5, 5, 10]),
    ):  # fmt: skip
        if axis.get_scale() == "linear":
            axis.set_major_locator(MaxNLocator(bins, steps=steps))


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Places at least `gap` apart, as near to the wanted ones as can be (least squares).

    Subtracting the gaps turns this into isotonic regression.

    Parameters
    ----------
    wanted : places between 0 and 1, in any order
    gap : least distance

    Returns
    -------
    places in the order of `wanted`; between 0 and 1 where there is room

    Examples
    --------
    >>> [round(place, 3) for place in spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    import numpy as np
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    gaps = gap * np.arange(len(order))
    room = max(0.0, 1.0 - gap * (len(order) - 1))
    places = np.empty(len(order))
    level = isotonic_regression(np.asarray(wanted, float)[order] - gaps).x
    places[order] = np.clip(level, 0.0, room) + gaps
    return places.tolist()


@dataclass(frozen=True)
class Label:
    """A name for the line that ends at height `y` (in data units)."""

    text: str
    y: float
    pen: Pen
    bold: bool = False


def label_lines(axes: Any, labels: Sequence[Label]) -> None:
    """Names at the right of their lines, moved apart, each with a leader in its line's look.

    Parameters
    ----------
    axes : the figure's only ones, limits and scale already final
    labels : one a line
    """
    height = axes.figure.get_figheight() - 0.6  # inches, roughly
    low, high = axes.get_ylim()
    scale = math.log10 if axes.get_yscale() == "log" else float
    bottom, top = scale(low), scale(high)
    ends = [(scale(min(max(l.y, low), high)) - bottom) / (top - bottom) for l in labels]
    places = spread(ends, LABEL_GAP / height)
    for label, end, place in zip(labels, ends, places, strict=True):
        thin = replace(label.pen, linewidth=0.7, linestyle="-")
        beside = {"transform": axes.transAxes, "clip_on": False}
        axes.plot([1.0, 1.04], [end, place], **thin.options(), alpha=0.7, **beside)
        axes.plot([1.04, 1.105], [place, place], **label.pen.options(), **beside)
        axes.text(
            1.12, place, label_text(label.text), transform=axes.transAxes, va="center_baseline",
            fontweight="bold" if label.bold else "normal",
        )  # fmt: skip


def svg(picture: Figure, name: str, description: str) -> str:
    """A figure as SVG to stand inside an HTML page.

    Text stays text, in the reader's own sans-serif font. The ids are those that are referred
    to, with `name` before them, so that several figures can share a page; the same figure and
    name give the same text.

    Parameters
    ----------
    picture : the figure
    name : letters only, different for every figure of the page
    description : what a screen reader says

    Returns
    -------
    an <svg> element without namespaces, metadata, style sheets or outer size
    """
    import matplotlib

    buffer = io.BytesIO()
    with house_style():
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": name})
        picture.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    referred = set()
    for element in root.iter():
        element.tag = element.tag.partition("}")[2] or element.tag
        for key in list(element.attrib):
            value = element.attrib.pop(key)
            key = key.partition("}")[2] or key
            if key == "href":
                referred.add(value[1:])
                value = f"#{name}-{value[1:]}"
            elif value.startswith("url(#"):
                referred.add(value[5:-1])
                value = f"url(#{name}-{value[5:-1]})"
            elif key == "style":
                value = _page_colours(value)
            element.set(key, value)
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in referred:
            element.set("id", f"{name}-{own}")
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", description)
    return ElementTree.tostring(root, encoding="unicode")


def _page_colours(style: str) -> str:
    """A style whose ink is the page's and whose fonts are left to the page."""
    parts = [part.strip() for part in style.replace(INK, "currentColor").split(";")]
    kept = [part for part in parts if part and not part.startswith("font-family")]
    if any(part.startswith("font-size") for part in kept) and not any(
        part.startswith("fill:") for part in kept
    ):
        kept.append("fill: currentColor")
    return "; ".join(kept)
