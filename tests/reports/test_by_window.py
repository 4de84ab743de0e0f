"""The page of a comparison in the data's own order: errors by window, and when they changed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas
import pytest
from reports.showing import Page, labels, painted
from reports.synthetic import make_comparison

import kernbrook as kb
from kernbrook.evaluation.measures import NO_DATE
from kernbrook.reports import draw
from kernbrook.reports.comparison import (
    MOST,
    by_window,
    changes_table,
    comparison_page,
    form_of,
    write_report,
)

ROWS = 1000


def table(turned=True):
    """A table with dates; from row 501 on labels are drawn where it turns."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=ROWS)
    late = np.where(x > 0.3, "yes", "no")
    if turned:
        late[500:] = rng.choice(["yes", "no"], 500)
    when = pandas.date_range("2024-01-01", periods=ROWS, freq="h")
    return pandas.DataFrame({"when": when, "x": x, "late": late, "n": x**2})


def compared(label="late", recipes="bpas", frame=None, **options):
    encoder = kb.TableEncoder(dates=["when"], drop=["n" if label == "late" else "late"])
    frame = table() if frame is None else frame
    stream = kb.open_stream(frame, label=label, encoder=encoder)
    return kb.compare(stream, recipes, in_order=True, jobs=1, **options)


@pytest.fixture(scope="module")
def classes():
    return compared()


def plotted(comparison):
    section = by_window(comparison)
    return section and section.plot


def line(plot, name):
    (found,) = [one for one in plot.panels[0].lines if one.name == name]
    return found


def ends_of(run, windows):
    rounds, wanted = run.history.rounds, np.linspace(0, ROWS, windows + 1)[1:]
    return [0, *(min(r for r in rounds if r >= end) for end in wanted)]


def test_windows_are_those_of_their_rows(classes):
    plot, run = plotted(classes), classes.rows[0].runs[0]
    ends = ends_of(run, 10)
    errors = [100 * run.mistakes[a:b].mean() for a, b in pairwise(ends)]
    np.testing.assert_allclose(line(plot, "bpas").y, errors)
    trivial = kb.prequential(kb.recipes.make("majority"), np.zeros((ROWS, 1)), run.labels)
    last = kb.prequential(kb.recipes.make("last-label"), np.zeros((ROWS, 1)), run.labels)
    best = min((trivial, last), key=lambda one: one.error)
    rule = [100 * best.mistakes[a:b].mean() for a, b in pairwise(ends)]
    np.testing.assert_allclose(line(plot, "majority").y, rule)
    assert "majority so far" in labels(painted(draw(plot)))


@pytest.mark.parametrize("measure", ["rmse", "mae"])
def test_numbers_in_each_measure(measure):
    comparison = compared("n", "raker", measure=measure)
    run = comparison.rows[0].runs[0]
    apart = run.predictions - run.labels
    lost = np.abs(apart) if measure == "mae" else apart**2
    ends = ends_of(run, 10)
    errors = np.array([lost[a:b].mean() for a, b in pairwise(ends)])
    errors = np.sqrt(errors) if measure == "rmse" else errors
    plot, how = plotted(comparison), form_of(comparison)
    np.testing.assert_allclose(line(plot, "raker").y, how.scale * errors)
    assert "so far" not in plot.panels[0].y_label
    painted(draw(plot))


def test_dates_are_on_the_axis(classes):
    (panel,) = plotted(classes).panels
    assert panel.dated
    (x,) = {tuple(one.x) for one in panel.lines}
    assert 19723 < x[0] < x[-1] < 19723 + ROWS / 24  # days since 1970
    picture = painted(draw(plotted(classes)))
    shown = [text.get_text() for text in picture.axes[0].get_xticklabels()]
    assert "Feb" in shown
    assert "2024" in picture.axes[0].xaxis.get_offset_text().get_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda dates: None,
        lambda dates: dates[::-1],
        lambda dates: np.where(np.arange(ROWS) == 5, NO_DATE, dates),
        lambda dates: np.zeros_like(dates),
    ],
)
def test_dates_that_are_no_axis(classes, change):
    plot = plotted(replace(classes, dates=change(classes.dates)))
    (panel,) = plot.panels
    assert (panel.dated, panel.x_label, panel.x_limits) == (False, "rounds", (0, ROWS))
    painted(draw(plot))


@pytest.mark.parametrize(
    ("rules", "drawn", "said"),
    [
        (["majority"], ["bpas", "majority"], " The trivial rule that errs least, which knows "),
        (["last-label"], ["majority", "bpas", "last-label"], " Trivial rules, which know "),
    ],
)
def test_a_trivial_rule_that_is_compared_has_one_line(rules, drawn, said):
    section = by_window(compared(recipes=["bpas", *rules]))
    assert [one.name for one in section.plot.panels[0].lines] == drawn
    assert said in section.text


def test_when_it_changed(classes):
    found = changes_table(classes, classes.rows[0])
    (row, *_), dates, before, after = (column.values for column in found.columns)
    assert 450 < row <= 600
    start = pandas.Timestamp("2024-01-01")
    assert pandas.Timestamp(dates[0]) == start + (row - 1) * pandas.Timedelta("1h")
    assert before[0] < after[0]
    own = changes_table(replace(classes, dates=None), classes.rows[0])
    assert [column.header for column in own.columns] == ["from round", "mistakes % before", "after"]
    run = classes.rows[0].runs[0]
    often = replace(run, mistakes=np.arange(30_000) // 1000 % 2 == 1)
    row = replace(classes.rows[0], runs=(often,))
    found = changes_table(replace(classes, dates=None), row)
    assert len(found.columns[0].values) == 10
    assert found.notes[0].startswith("... and ")
    assert list(found.columns[0].values) == sorted(found.columns[0].values, reverse=True)


def test_the_page(classes, tmp_path):
    write_report(classes, tmp_path / "r.html")
    page = Page((tmp_path / "r.html").read_text("utf-8"))
    assert page.tags["svg"] == len([one for one in comparison_page(classes).sections if one.plot])
    parts = "Mistakes by window", "When the error", "Mistakes over"
    at = [page.text.index(part) for part in parts]
    assert at == sorted(at)
    assert "About 100 rounds each" in page.text
    still = comparison_page(compared(frame=table(turned=False), recipes=["majority"]))
    assert "When the error changed" not in [one.heading for one in still.sections]
    still = comparison_page(compared(frame=table(turned=False), recipes=["spa"]))
    (section,) = [one for one in still.sections if one.heading == "When the error changed"]
    assert section.text.endswith("SPA, and finds no change.") == (not section.table.columns)


def test_other_orders_and_few_rows_have_no_windows(classes):
    assert not make_comparison().in_order
    headings = [one.heading for one in comparison_page(make_comparison()).sections]
    assert not any("window" in heading for heading in headings)
    few = kb.compare("checkerboard:300", "bpas", in_order=True, jobs=1)
    assert plotted(few) is None
    assert not any("window" in one.heading for one in comparison_page(few).sections)
    assert len(line(plotted(replace(classes, n_rows=ROWS)), "bpas").y) <= MOST
