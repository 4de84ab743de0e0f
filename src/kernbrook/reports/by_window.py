"""The error of a comparison in the data's own order, by window, and when it changed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbrook import recipes as book
from kernbrook.estimators.labels import class_numbers
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor
from kernbrook.evaluation.measures import NO_DATE, OF_SIZES, RULES, Rule
from kernbrook.evaluation.record import changes_of
from kernbrook.reports.over_time import WIDE, drawn_last, ends_of_errors, named_plot
from kernbrook.reports.plot import GREY, Line, Pen, Plot
from kernbrook.reports.since import iso
from kernbrook.reports.table import Column, Table
from kernbrook.reports.words import counted

if TYPE_CHECKING:
    from kernbrook.evaluation.record import Comparison, Floats, Ints, Record, Row
    from kernbrook.reports.forms import MeasureForm

MOST = 40  # windows
FEWEST = 100  # rows of each
SHOWN = 10  # changes
DAY = 86_400_000_000  # microseconds
_COSTS = {
    "error": "error", "log_loss": "log_loss", "mse": "squared", "rmse": "squared",
    "mae": "absolute", "coverage": "covered",
}  # fmt: skip
_RULE = "the trivial rule"


def by_window(comparison: Comparison, how: MeasureForm) -> Plot | None:
    """The measure in up to 40 windows, beside that of the trivial rule that errs least.

    Over dates where each row has one and none is before those above it, else over rounds. Where
    labels come late there is no rule, because rules know each label after its row. Where errors are
    more than twentyfold apart the axis is logarithmic.

    Returns
    -------
    None where there are no four windows of 100 rows, or no windows of the measure: of AUC
    """
    n_windows = _windows(comparison)
    rows = [row for row in drawn_last(comparison) if not np.isnan(row.measured(how.measure)).any()]
    if how.measure not in _COSTS or n_windows < 4 or not rows:
        return None
    rounds = rows[0].runs[0].history.rounds  # windows end at samples
    wanted = np.linspace(0, comparison.n_rows, n_windows + 1)[1:]
    ends = np.unique([0, *rounds[np.searchsorted(rounds, wanted).clip(max=len(rounds) - 1)]])
    found = {row.recipe: _of_record(row.runs[0], how.measure, ends) for row in rows}
    rule, of_rule = _of_rule(rows[0].runs[0], how.measure, ends)
    if rule in found:
        rule = ""
    if rule:
        found = {_RULE: of_rule, **found}
    found = {name: how.scale * values for name, values in found.items()}
    log = how.measure in OF_SIZES and _far_apart(list(found.values()))
    x, dated = _along(comparison, ends)
    lines = [Line(name, x, values) for name, values in found.items()]
    label = how.axis.replace(" so far", "") + (", log scale" if log else "")
    scale, limits = "log" if log else "linear", ends_of_errors([*found.values()], log)
    plot = named_plot(comparison, lines, label, scale, limits)
    (panel,) = plot.panels
    ends_of_x = (float(x[0]), float(x[-1])) if dated else (0, comparison.n_rows)
    panel = replace(panel, x_limits=ends_of_x, dated=dated, x_label="" if dated else "rounds")
    if not rule:
        return replace(plot, panels=[panel])
    pen, name = Pen(GREY, (0, (1, 1.2)), 1.4), book.title(rule)
    return replace(
        plot, panels=[panel], pens={**plot.pens, _RULE: pen}, names={**plot.names, _RULE: name}
    )


def window_text(comparison: Comparison, how: MeasureForm) -> tuple[str, str]:
    """A heading and a sentence for the figure."""
    rows = round(comparison.n_rows / _windows(comparison))
    heading = {"error": "Mistakes", "log_loss": "Log loss", "coverage": "Coverage"}
    text = (
        f"About {rows:,} rounds each, by themselves: a bad day stands out here, and is a bump "
        "in the mean of all rounds so far."
    )
    if comparison.rows[0].runs[0].horizons is None and how.measure != "coverage":
        text += " The trivial rule that errs least, which knows each label after its row, is grey."
    return f"{heading.get(how.measure, 'Error')} by window", text


def _windows(comparison: Comparison) -> int:
    return min(MOST, comparison.n_rows // FEWEST)


def _of_record(run: Record, measure: str, ends: Ints) -> Floats:
    """(w,) a measure of a run by window, by what is known of the rounds so far.

    Between two samples of the history its sum is taken to rise evenly.
    """
    history = run.history
    means = history.measures.get(measure, history.error)
    means = means**2 if measure == "rmse" else means
    rounds = np.concatenate([[0], history.rounds])
    sums = np.concatenate([[0.0], history.rounds * np.asarray(means, dtype=float)])
    return _of_sums(np.interp(ends, rounds, sums), measure, ends)


def _of_sums(sums: Floats, measure: str, ends: Ints) -> Floats:
    means = np.maximum(np.diff(sums) / np.diff(ends), 0.0)
    return np.asarray(np.sqrt(means) if measure == "rmse" else means)


def _of_rule(run: Record, measure: str, ends: Ints) -> tuple[str, Floats]:
    """The name of the trivial rule that errs least on the labels of a run, and its measure."""
    if run.labels is None or run.horizons is not None or measure == "coverage":
        return "", np.empty(0)
    numbers, make, classes = run.labels, TrivialRegressor, run.classes
    if classes is not None:
        numbers, make = class_numbers(classes, run.labels), TrivialClassifier
    found: dict[str, Any] = {}
    for name in RULES["regression" if classes is None else "classification"]:
        costs = Rule(make(name), classes).add(numbers, None)
        if (cost := _COSTS[measure]) in costs:
            found[name] = np.concatenate([[0.0], np.cumsum(costs[cost], dtype=float)])
    best = min(found, key=lambda name: found[name][-1])
    return best, _of_sums(found[best][ends], measure, ends)


def _far_apart(found: list[Floats]) -> bool:
    middles = [float(np.nanmedian(values)) for values in found]
    positive = [one for one in middles if 0 < one < math.inf]
    return bool(positive) and max(positive) > WIDE * min(positive)


def _along(comparison: Comparison, ends: Ints) -> tuple[Floats, bool]:
    """(w,) the middle of each window: days since 1970, or rounds; and whether they are days."""
    middles, dates = (ends[:-1] + ends[1:]) / 2, comparison.dates
    if dates is None or (dates == NO_DATE).any() or (np.diff(dates) < 0).any():
        return middles, False
    x = dates[middles.astype(np.int64)] / DAY
    return x, bool(x[-1] > x[0])


def changes_table(comparison: Comparison, row: Row) -> Table:
    """When the error of a recipe changed, the latest first; empty where it did not."""
    found = changes_of(row.runs[0], comparison.dates)
    if not found:
        return Table(())
    shown = found[: -SHOWN - 1 : -1]
    columns = [Column("from round", tuple(one.row for one in shown), "{:,}".format)]
    if any(one.date is not None for one in shown):
        dates = tuple((iso(one.date) or "").replace("T", " ") for one in shown)
        columns.append(Column("date", dates, kind="text"))
    classes = row.task == "classification"
    header, scale = ("mistakes %", 100.0) if classes else ("mean squared error", 1.0)
    form = "{:.2f}".format if classes else "{:.4g}".format
    columns += [
        Column(f"{header} before", tuple(scale * one.before for one in shown), form),
        Column("after", tuple(scale * one.after for one in shown), form),
    ]
    more = len(found) - len(shown)
    notes = (f"... and {counted(more, 'change')} before",) if more else ()
    return Table(tuple(columns), notes=notes)
