"""Figures of papers: which algorithms along which axis is data, the rest is the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kernbrook.papers.published import Job, Measured, PrintedRow, Variant, cells_of, names_of
from kernbrook.reports.page import Section
from kernbrook.reports.plot import Line, Panel, Pen, Plot, limits, number, pens_of
from kernbrook.reports.table import Column, Table, at_decades, of_cells, written_by
from kernbrook.reports.words import TRIVIAL
from kernbrook.results import Cell, Curve, Estimate, Measure, Results, grouped

FEW = 4  # lines that can carry a band each
SETTLED = 0.02  # what comes first, mostly noise, does not set the axis
OVER = 2.0  # times the trivial rules' error: what ends above runs off the figure


@dataclass
class Figure:
    """Algorithms along an axis.

    Attributes
    ----------
    heading, text : of its section of a page
    x_label : of the axis
    drawn : what is drawn, each with the label of its axis, which is logarithmic where it says so
    along : the parameter that is varied; empty where values are those on the way
    lines, places : the algorithms and the values of that parameter
    shown : those in the table; on the way it has the powers of ten
    log : whether the axis is logarithmic
    key : of the cells, whose value is `along`
    """

    heading: str
    text: str
    x_label: str
    drawn: Mapping[Measure, str]
    along: str = ""
    lines: Sequence[Variant] = ()
    places: Sequence[float] = ()
    shown: Sequence[float] = ()
    log: bool = False
    key: str = "along"


def of_figures(
    figures: Sequence[Figure],
    measured: Measured,
    wanted_of: Callable[[Sequence[PrintedRow]], list[Variant]] | None = None,
) -> dict[str, Any]:
    """How a `Published` is run and shown that has these figures.

    wanted_of : the algorithms, of the printed rows, where values are those on the way
    """
    run: Any = partial(_studied, figures=figures, measured=measured)
    if wanted_of is not None:
        run = partial(cells_of, wanted_of=wanted_of, measured=measured, curves=True)
    return {
        "run": run,
        "tabled": partial(_tabled, figures=figures),
        "plots": partial(plots, figures=figures),
    }


def _studied(job: Job, figures: Sequence[Figure], measured: Measured) -> Iterator[Cell]:
    runs = sum(len(f.places) if line.varied else 1 for f in figures for line in f.lines)
    job = replace(job, times=runs / len(figures[0].places))
    for name in job.present:
        for figure in figures:
            done: dict[str, list[dict[str, Estimate]]] = {}
            for line in figure.lines:
                points = [
                    line.at(place, {title: estimates[i] for title, estimates in done.items()})
                    for i, place in enumerate(figure.places[: None if line.varied else 1])
                ]
                at = [ours for ours, *_ in measured(job, name, points)]
                done[line.title] = at = at * (len(figure.places) // len(at))
                curves = {m.name: _through(figure.places, at, m.name) for m in figure.drawn}
                key = {"data": name, "recipe": line.recipe, "title": line.title}
                yield Cell(key | {"along": figure.along}, curves=curves)


def _through(places: Sequence[float], at: Sequence[Mapping[str, Estimate]], name: str) -> Curve:
    found = [point[name] for point in at]
    std = [estimate.std for estimate in found if estimate.std is not None]
    whole = tuple(std) if len(std) == len(found) else None
    return Curve(tuple(places), tuple(estimate.mean for estimate in found), whole)


def _tabled(results: Results, figures: Sequence[Figure]) -> Table:
    """A row a line, data after data; on the way with what was measured at the end."""
    drawn = {figure.along: figure.drawn for figure in figures}
    rows = [
        (cell, measure, cell.curves[measure.name])
        for (_, along), cells in grouped(results.cells, lambda c: (c["data"], c["along"])).items()
        for measure in drawn[along or ""]
        for cell in cells
    ]
    cells, curves = [row[0] for row in rows], [row[2] for row in rows]
    several = len({measure for _, measure, _ in rows}) > 1
    groups = tuple(
        ", ".join(filter(None, (cell["data"], cell["along"], measure.header * several)))
        for cell, measure, _ in rows
    )
    if figures[0].along:
        places = sorted({place for figure in figures for place in figure.shown})
        columns = [Column(number(at), tuple(_at(row, at) for row in rows)) for at in places]
        quantity = f"{results.measures[0].header}; " * (not several)
        note = f"{quantity}columns: the {' or the '.join(figure.along for figure in figures)}"
        return Table((names_of(cells), *columns), groups, notes=(note,))
    (shown,) = figures[0].drawn
    columns = at_decades(curves, written_by(shown), shown.header)
    columns += [
        replace(of_cells(cells, shown, "ours")[0], header="end", group=shown.header),
        Column(figures[0].x_label, tuple(curve.x[-1] for curve in curves), "{:,}".format, spare=1),
    ]
    for measure in results.measures:
        if measure.name != shown.name:
            columns += of_cells(cells, measure, "printed ours")
    return Table((names_of(cells), *columns), groups)


def _at(row: tuple[Cell, Measure, Curve], place: float) -> str:
    value = row[2].at(place)
    return "" if value is None else written_by(row[1])(value)


def plots(results: Results, figures: Sequence[Figure]) -> list[Section]:
    """A panel a data set; where several quantities are drawn, a section a data set."""
    sections = []
    for figure in figures:
        cells = [cell for cell in results.cells if (cell[figure.key] or "") == figure.along]
        by_data, alone = grouped(cells, lambda cell: cell["data"]), len(figure.drawn) == 1
        trivial = {cell["title"] for cell in cells if cell["recipe"] in TRIVIAL}
        pens = pens_of((cell["title"] for cell in cells), trivial)
        for names in [[*by_data]] if alone else [[name] for name in by_data]:
            every = [_panel(figure, n, by_data[n], m, pens) for n in names for m in figure.drawn]
            if panels := [panel for panel in every if panel is not None]:
                on = f" on {names[0]}" if len(names) == 1 else ""
                label = next(iter(figure.drawn.values())) if alone else ""
                plot = Plot(panels, pens, x_label=figure.x_label, y_label=label)
                sections.append(Section(figure.heading + on, figure.text, plot))
    return sections


def _panel(
    figure: Figure, data: str, cells: Sequence[Cell], measure: Measure, pens: Mapping[str, Pen]
) -> Panel | None:
    """A line that ends before the others ends in a dot."""
    curves = [(c, c.curves[measure.name]) for c in cells if measure.name in c.curves]
    if figure.log:
        curves = [(c, found) for c, curve in curves if (found := _positive(curve)).x]
    if not curves:
        return None
    last, label = max(curve.x[-1] for _, curve in curves), figure.drawn[measure]
    lines, seen, trivial = [], [], []
    for cell, curve in curves:
        band = curve.std if len(curves) <= FEW and measure.form != "seconds" else None
        name, pen = cell["title"], pens[cell["title"]]
        lines.append(Line(name, curve.x, curve.mean, pen, band))
        if curve.x[-1] < last:
            lines.append(Line(name, curve.x[-1:], curve.mean[-1:], pen))
        if cell["recipe"] in TRIVIAL:
            trivial.append(curve.mean[-1])
        else:
            first = 0 if figure.along or figure.log else SETTLED * curve.x[-1]
            seen += [y for x, y in zip(curve.x, curve.mean, strict=True) if x >= first]
    log, seen = "log scale" in label, seen or trivial
    low, high = limits([seen], log)
    if trivial and not figure.along:
        high = min(high, OVER * max(trivial))
    start = min(curve.x[0] for _, curve in curves)
    alone = len(figure.drawn) == 1
    return Panel(
        lines,
        data if alone else label,
        x_scale="log" if figure.log else "linear",
        y_scale="log" if log else "linear",
        x_limits=(start if figure.log else 0, 1.02 * last),
        y_limits=(low, high),
    )


def _positive(curve: Curve) -> Curve:
    places = [place for place, x in enumerate(curve.x) if x > 0]
    parts = (curve.x, curve.mean, curve.std or ())
    x, mean, std = (tuple(part[i] for i in places if part) for part in parts)
    return Curve(x, mean, std or None)
