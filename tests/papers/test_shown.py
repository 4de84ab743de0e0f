"""Published tables and figures as they are shown; the tables of pages are tested with these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reports.showing import painted, squeezed
from reports.synthetic import stored

from kernbrook.papers import published
from kernbrook.papers.published import against_print
from kernbrook.papers.vkr import level
from kernbrook.reports import draw
from kernbrook.results import Estimate


def lines(found, width=80):
    return squeezed(published(found.name).as_table(found), width)


def figures(name, found=None):
    """Of a page, with its results, which are the stored ones where None."""
    found = stored(name) if found is None else found
    sections = published(name).as_page(found).sections
    return found, [painted(draw(one.plot)) for one in sections if one.plot is not None]


def test_a_star_is_only_where_something_is_best():
    found = stored("omkc-table-3")
    table = published(found.name).as_table(found)
    assert {found.cells[i].facts["best"] for i in table.strong} == {True}
    assert all(any(column.marks) for column in table.columns[1:3])
    assert [note[0] for note in table.notes if note[0] in "!~"] == ["!"]
    facts = {"best": False, "best_printed": None}
    alone = [
        replace(c, facts=facts, ours={name: Estimate(e.mean) for name, e in c.ours.items()})
        for c in found.cells
    ]
    assert not any("allows no test" in line for line in lines(found))
    found = replace(found, cells=tuple(alone))  # of one permutation
    assert any("allows no test" in line for line in lines(found))
    table = published(found.name).as_table(found)
    assert table.strong == set()
    assert not any(any(column.marks) for column in table.columns[1:3])


@pytest.mark.parametrize(
    ("p_value", "found", "stars"),
    [(0.05, 5, "**"), (0.051, 10, "*"), (0.1, 10, "*"), (0.11, None, ""), (None, None, "")],
)
def test_stars_of_a_test(p_value, found, stars):
    results = stored("vkr-table-1")
    cell = replace(results.cells[2], facts=results.cells[2].facts | {"p_value": p_value})
    assert level(cell) == found
    table = published(results.name).as_table(replace(results, cells=(cell,)))
    (column,) = (column for column in table.columns if column.header == "p")
    assert column.marks == (stars,)


def test_ours_against_print():
    found = stored("omkc-table-3")
    (section,) = against_print(found)
    picture = painted(draw(section.plot))
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["mistakes %", "#SV"]
    assert [axes.get_xscale() for axes in picture.axes] == ["log", "log"]
    for axes, name in zip(picture.axes, ("error", "n_support"), strict=True):
        equal, *dots = axes.lines
        assert equal.get_xdata().tolist() == equal.get_ydata().tolist()
        pairs = {
            pair
            for line in dots
            for pair in zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True)
        }
        assert pairs == {(cell.printed[name].mean, cell.mean(name)) for cell in found.cells}
        low, high = axes.get_xlim()
        assert (low, high) == axes.get_ylim()
        assert all(low < value < high for pair in pairs for value in pair)
    for value in (np.inf, np.nan, 0.0):  # a run that diverged, or keeps nothing
        own = {"error": Estimate(value), "n_support": Estimate(value)}
        cells = (replace(found.cells[0], ours=own), *found.cells[1:])
        (section,) = against_print(replace(found, cells=cells))
        for axes in painted(draw(section.plot)).axes:
            low, high = axes.get_xlim()
            assert 0 <= low < high < np.inf
    bare = tuple(replace(cell, printed={}) for cell in found.cells)
    assert against_print(replace(found, cells=bare)) == []


def names(picture):
    return [entry.get_text() for entry in picture.legends[0].get_texts()]


def lines_of(axes):
    """Points by line, without bands and dots."""
    found = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
    return [pair for pair in found if len(pair[0]) > 1]


def test_the_axis_of_a_figure_is_a_parameter():
    """A panel a data set where one quantity is drawn, else one a quantity."""
    found, (picture,) = figures("omkc-figure-4")
    data = list(dict.fromkeys(cell["data"] for cell in found.cells))
    assert [axes.get_title(loc="left") for axes in picture.axes] == data
    own = [cell.curves["error"] for cell in found.where(data=data[0])]
    assert lines_of(picture.axes[0]) == [(list(one.x), list(one.mean)) for one in own]
    assert len(picture.axes[0].collections) == len(own) == 4  # a band each
    assert names(picture) == [cell["title"] for cell in found.where(data=data[0])]
    found, (cap, divisor) = figures("bomkl-figure-1")
    assert names(cap) == ["divisor 3", "divisor 6"]
    assert names(divisor) == ["SPA", "RBP", "Forgetron", "BOGD", "BPAS"]
    for picture in (cap, divisor):
        titles = [axes.get_title(loc="left") for axes in picture.axes]
        assert titles == ["mistakes (%)", "support vectors", "seconds"]
    assert "a9a, cap, #SV" in lines(found)
