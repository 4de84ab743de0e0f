"""Figures out of plots: lines, bands, axes, bars, names."""

from __future__ import annotations

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from reports.showing import drawn, labels, painted

from kernbrook import reports
from kernbrook.errors import InputError
from kernbrook.reports import Panel, Plot, draw
from kernbrook.reports.plot import GREY, dotted, pens_of, svg
from kernbrook.results import Curve

PENS = pens_of("abc", "c")


def Line(name, x, y, std=None, **looks):
    return reports.Line(name, x, y, PENS[name], std, **looks)


X, Y = (1.0, 10.0, 100.0), (3.0, 2.0, 1.0)


def test_a_panel_of_a_plot():
    rest = reports.Line("rest", X, Y, dotted(GREY))
    lines = [Line("a", X, Y), Line("b", X, (1.0, 2.0, 3.0)), rest]
    panel = Panel(lines, x_label="rounds", y_label="%", x_limits=(0, 100), y_limits=(0, None))
    figure = painted(draw(Plot([panel], PENS)))
    (axes,) = figure.axes
    assert labels(figure) == ["a", "b", "c"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rounds", "%")
    assert axes.get_xlim() == (0, 100)
    assert axes.get_ylim()[0] == 0
    for line, wanted in zip(drawn(axes), lines, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), wanted.x)
        np.testing.assert_array_equal(line.get_ydata(), wanted.y)
        assert line.get_color() == wanted.pen.color


@pytest.mark.parametrize(("count", "shape"), [(2, 2), (4, 2), (7, 3)])
def test_panels_stand_under_a_legend(count, shape):
    panels = [Panel([Line("a", X, Y)], f"data {place}") for place in range(count)]
    plot = Plot(panels, PENS, x_label="across", y_label="up", sharey=True)
    figure = painted(draw(plot))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [p.title for p in panels]
    assert labels(figure) == ["a", "b", "c"]
    colours = [line.get_color() for line in figure.legends[0].get_lines()]
    assert colours == [pen.color for pen in PENS.values()]
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("across", "up")
    assert len({round(axes.get_position().x0, 2) for axes in figure.axes}) == shape


def test_bands():
    curve, alone = Curve.of(X, [Y, (4.0, 4.0, 4.0)]), Curve.of(X, [Y])
    endless = Line("a", X, Y, (1.0, np.inf, np.nan))
    lines = [Line(name, one.x, one.mean, one.std) for name, one in (("a", curve), ("b", alone))]
    (axes,) = painted(draw(Plot([Panel([*lines, endless])], PENS))).axes
    (band,) = axes.collections
    low, high = np.array(curve.mean) - curve.std, np.array(curve.mean) + curve.std
    edges = band.get_paths()[0].vertices
    assert edges[:, 1].min() == pytest.approx(low.min())
    assert edges[:, 1].max() == pytest.approx(high.max())


def test_markers_and_dots():
    lines = [
        Line("b", X, Y, marker="."),
        Line("b", (5.0, 6.0), (2.0, 3.0), joined=False),
        Line("a", (1.0,), (2.0,)),
    ]
    (axes,) = painted(draw(Plot([Panel(lines, "t")], PENS))).axes
    points, dots, sample = axes.lines
    assert (points.get_marker(), points.get_linestyle()) == (".", "-")
    assert (dots.get_marker(), dots.get_linestyle()) == ("o", "None")
    assert sample.get_marker() == "o"  # one sample alone would not be seen as a line


@pytest.mark.parametrize("panels", [1, 3])  # the widest and the narrowest
def test_numbers_of_an_axis_do_not_touch(panels):
    ends = [("linear", 0.0, high) for high in (1, 3185, 98_704)]
    for scale, low, high in [*ends, ("log", 1e-5, 0.1), ("log", 4.1, 4.9), ("log", 100, 1e7)]:
        line = Line("a", (low, high), (1e4, 2e4))
        panel = Panel([line], "t", x_scale=scale, x_limits=(low, high))
        figure = painted(draw(Plot([panel] * panels, PENS, y_label="up")))
        texts = [text for text in figure.axes[0].get_xticklabels() if text.get_text()]
        within = [text for text in texts if low <= text.get_position()[0] <= high]
        boxes = [text.get_window_extent() for text in within]
        assert len(boxes) >= 2
        pixels = [after.x0 - before.x1 for before, after in pairwise(boxes)]
        assert min(pixels) > 4, (scale, low, high)


@pytest.mark.parametrize("panels", [[], [Panel([])], [Panel([Line("a", X, Y)]), Panel([])]])
def test_a_plot_without_lines_is_refused(panels):
    with pytest.raises(InputError, match="at least one line"):
        draw(Plot(panels, PENS))


def test_hostile_names_are_drawn_as_they_are():
    names = [r"$\frac", "_x", "核\x00\n", r"_$\undefined$ <b> " + "x" * 300]
    own = pens_of(names)
    panel = Panel(
        [reports.Line(name, X, Y, own[name]) for name in names], x_label="$", y_label="<b>"
    )
    titled = Panel(panel.lines, r"$\x <b>")
    for panels in ([panel], [titled, titled]):
        text = svg(draw(Plot(panels, own)), "f", "<>&\"'")
        assert "<b>" not in text
        assert r"$\frac" in text


def test_the_readers_settings_are_neither_used_nor_changed():
    plot = Plot([Panel([Line("a", X, Y)])], PENS)
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "xtick.color": "blue"}):
        before = dict(matplotlib.rcParams)
        odd = svg(draw(plot), "f", "")
        assert dict(matplotlib.rcParams) == before
    assert odd == svg(draw(plot), "f", "")
