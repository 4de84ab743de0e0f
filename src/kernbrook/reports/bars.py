"""A figure of bars that lie below one another, each with its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernbrook.errors import InputError
from kernbrook.reports import drawing
from kernbrook.reports.drawing import in_house_style
from kernbrook.reports.plot import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAR = 0.24  # inches from one bar to the next
UP, DOWN = drawing.HUES[0], drawing.HUES[1]  # colours of bars above and below 0
LONGEST = 44  # characters of a name


@dataclass(frozen=True)
class Bars:
    """A figure.

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


@draw.register(Bars)
@in_house_style
def _draw(bars: Bars) -> Figure:
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
