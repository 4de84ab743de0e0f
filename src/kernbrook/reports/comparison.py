"""What a comparison says: its table, its verdict, its page."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from kernbrook.errors import InputError
from kernbrook.evaluation.late import Lateness
from kernbrook.evaluation.measures import DEFAULT, OF_SIZES, shortfall
from kernbrook.reports.by_window import by_window, changes_table, window_text
from kernbrook.reports.forms import (
    BEST,
    MEANING,
    NAMES,
    OVER_TIME,
    MeasureForm,
    form_of,
    star_note,
)
from kernbrook.reports.over_time import (
    by_measure,
    differs,
    kernel_weights,
    learning_curves,
    many_kernels,
    support_vectors,
)
from kernbrook.reports.page import Page, Section, again, write_page
from kernbrook.reports.table import Column, Table, seconds
from kernbrook.reports.words import TRIVIAL, counted, listed
from kernbrook.results import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernbrook.evaluation.ranks import Ranking
    from kernbrook.evaluation.record import Comparison, Row


def checked(comparison: Comparison) -> Comparison:
    """The comparison itself; InputError where there is nothing to show."""
    if not comparison.rows:
        raise InputError("expected a comparison of at least one recipe, found no rows")
    for row in comparison.rows:
        if not row.runs:
            raise InputError(f"expected at least one run of {row.recipe!r}, found none")
    return comparison


def comparison_table(comparison: Comparison) -> Table:
    """One row a recipe; means over the permutations ± one standard deviation (ddof = 1).

    Shares are in per cent, errors of numbers in a power of ten. Recipes in `comparison.best` are
    strong and starred. Active support vectors have a column where they differ from the stored ones
    in any row, labels asked where any run asked for fewer than all. Counts of single runs have no
    decimals.

    Raises
    ------
    InputError
        if there are no rows, or no runs in one of them.
    """
    rows, how = checked(comparison).rows, form_of(comparison)
    digits = 0 if all(len(row.runs) == 1 for row in rows) else 1
    best = [row.recipe in comparison.best for row in rows]
    measured, marks = tuple(map(how.estimate, rows)), tuple("*" if b else " " for b in best)
    columns = [
        Column("algorithm", tuple(row.title for row in rows), kind="text", spare=2),
        Column("recipe", tuple(row.recipe for row in rows), kind="code"),
        Column(how.header, measured, digits=how.digits, marks=marks),
    ]
    if comparison.by == "coverage":
        found = (float(np.mean(row.measured("width"))) for row in rows)
        widths = tuple(None if math.isnan(width) else width for width in found)
        columns.append(Column("mean width", widths, "{:.4g}".format, spare=1))
    sizes = ["n_support_stored"] if shows_support(comparison) else []
    sizes += ["n_support_active"] if any(differs(row) for row in rows) else []
    for name in sizes:
        values = tuple(Estimate.of(row.values(name)) for row in rows)
        header = f"#SV {name.removeprefix('n_support_')}"
        columns.append(Column(header, values, digits=digits, rough=1))
    if any_label_left(comparison):
        asked = [float(np.mean(row.values("labels_asked"))) for row in rows]
        shares = tuple(100 * count / _labels_there(comparison) for count in asked)
        columns += [
            Column("labels asked", tuple(asked), "{:.0f}".format, spare=1),
            Column("asked %", shares, "{:.1f}".format),
        ]
    times = tuple(float(np.mean(row.values("seconds"))) for row in rows)
    columns.append(Column("seconds", times, seconds))
    strong = frozenset(place for place, mark in enumerate(best) if mark)
    return Table(tuple(columns), (), strong, tuple(notes(comparison)), headline(comparison))


def shows_support(comparison: Comparison) -> bool:
    """Whether support vectors are of interest: of numbers, where any run keeps some."""
    kept = any(np.any(row.values("n_support_stored")) for row in comparison.rows)
    return comparison.task == "classification" or kept


def any_label_left(comparison: Comparison) -> bool:
    """Whether any run asked for fewer labels than there are."""
    every = _labels_there(comparison)
    return any(np.any(row.values("labels_asked") != every) for row in comparison.rows)


def _labels_there(comparison: Comparison) -> int:
    """Labels that came until the end."""
    facts = comparison.manifest
    return Lateness(facts.get("delay", 0), facts.get("every", 1)).known(comparison.n_rows)


def notes(comparison: Comparison) -> list[str]:
    """Lines under the table: what the star means, and which recipes are left out for what."""
    lines = []
    if comparison.best:
        lines.append(star_note(comparison.by, comparison.permutations))
    for why in dict.fromkeys(comparison.left_out.values()):
        names = [name for name, own in comparison.left_out.items() if own == why]
        lines.append(f"left out: {', '.join(names)}: {why}")
    return lines


def headline(comparison: Comparison) -> str:
    """Data, shape and permutations in one line."""
    return (
        f"{comparison.data}: {counted(comparison.n_rows, 'row')} x "
        f"{counted(comparison.n_features, 'feature')}, "
        f"{counted(comparison.permutations, 'permutation')}"
    )


def verdict(comparison: Comparison) -> str:
    """One or two sentences in plain words: who is best, and what the trivial baselines make.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Returns
    -------
    text ending with a full stop
    """
    rows, how = checked(comparison).rows, form_of(comparison)
    means = {row.recipe: float(np.mean(row.measured(how.measure))) for row in rows}
    real = [row for row in rows if row.recipe not in TRIVIAL] or list(rows)
    names = {row.recipe for row in real}
    best = next(row for row in by_measure(comparison) if row.recipe in names)
    text = _praised(comparison, how, best.title, means[best.recipe], len(real) == 1)
    alike = [row.title for row in real if row is not best and row.recipe in comparison.best]
    if alike and best.recipe in comparison.best and comparison.permutations > 1:
        test = "paired t-test" + (" of the logarithms" if how.measure in OF_SIZES else "")
        text += f"; a {test} at 5 % does not tell it from {listed(alike, 'or')}"
    text += "."
    share = float(np.mean(best.values("labels_asked"))) / _labels_there(comparison)
    if share < 1:
        text += f" It asked for {100 * share:.1f} % of the labels."
    trivial = [row.recipe for row in rows if row.recipe in TRIVIAL and row is not best]
    if trivial := [name for name in trivial if not math.isnan(means[name])]:
        does = {"error": "errs on", "auc": "has", "coverage": "covers"}.get(how.measure, "makes")
        said = [f"{TRIVIAL[name]} {does} {how.text(means[name])}" for name in trivial]
        own, *others = (shortfall(how.measure, means[name]) for name in (best.recipe, *trivial))
        end = "" if own < min(others) else ", so nothing here beats the trivial rules"
        text += f" For scale: {listed(said)}{end}."
    return text


def _praised(
    comparison: Comparison, how: MeasureForm, title: str, value: float, alone: bool
) -> str:
    """Who is best, and by what, without a full stop; alone : whether there is no other."""
    over = f"over {counted(comparison.permutations, 'permutation')} of {comparison.data}"
    if math.isnan(value):
        return f"No recipe has a {NAMES[how.measure]} {over}"
    if how.measure != "error":
        has = "has a" if alone else f"has the {BEST.get(how.measure, 'least')}"
        return f"{title} {has} {NAMES[how.measure]} {over}: {how.text(value)}"
    if alone:
        return f"{title} errs on {how.text(value)} of the rounds {over}"
    return f"{title} makes the fewest mistakes {over}: {how.text(value)} of the rounds"


def write_report(comparison: Comparison, path: str | PathLike[str]) -> None:
    """Write a comparison as one HTML page: a summary, the table, figures, how to run it again.

    The same comparison gives the same bytes. The file is written whole or not at all.

    Parameters
    ----------
    comparison : at least one row, each with at least one run
    path : the file to write, in an existing folder

    Raises
    ------
    InputError
        if there is nothing to report, or the file cannot be written.
    """
    write_page(comparison_page(comparison), path)


def comparison_page(comparison: Comparison) -> Page:
    """A summary, the table, figures, how to run it again."""
    table = comparison_table(comparison)
    sections = [
        Section("Results", _explained(comparison), table=table),
        *_by_window(comparison),
        *_over_time(comparison),
    ]
    if shows_support(comparison):
        sections.append(
            Section(
                "Support vectors over time",
                "How much each recipe keeps: memory and time per prediction grow with it. "
                "Dotted lines count those that the prediction really uses, where they are fewer.",
                support_vectors(comparison),
            )
        )
    many = many_kernels(comparison)
    if many:
        sections += [
            Section(
                "Weights of the kernels over time",
                "How the trust moves between the kernels: one line that rises alone has found "
                "its kernel, lines that stay together share the vote.",
                kernel_weights(comparison),
            ),
            Section(
                f"Final weights of {many[0].title}",
                "The best recipe with several kernels, at the end of the stream; "
                "means over the permutations.",
                table=_weights(many[0]),
            ),
        ]
    return Page(
        f"Online learning on {comparison.data}",
        (*sections, again(comparison.manifest)),
        headline(comparison),
        verdict(comparison).replace(" %", "\N{NO-BREAK SPACE}%"),
    )


def _over_time(comparison: Comparison) -> list[Section]:
    """The measure over the rounds, where any recipe has it."""
    how = form_of(comparison)
    if all(how.estimate(row) is None for row in comparison.rows):
        return []
    heading, text = OVER_TIME[how.measure]
    return [Section(heading, text, learning_curves(comparison, how.scale, how.axis))]


def _by_window(comparison: Comparison) -> list[Section]:
    """The measure by window, and when it changed, where rows are in the order of the data."""
    how = form_of(comparison)
    plot = by_window(comparison, how) if comparison.in_order else None
    if plot is None:
        return []
    row = next((row for row in by_measure(comparison) if row.recipe not in TRIVIAL), None)
    sections = [Section(*window_text(comparison, how), plot)]
    if row is not None:
        table = changes_table(comparison, row)
        ends = "." if table.columns else ", and finds no change."
        text = f"ADWIN looks for changes of the error of {row.title}{ends}"
        sections.append(Section("When the error changed", text, table=table))
    return sections


def _explained(comparison: Comparison) -> str:
    """What the columns of a comparison mean."""
    text = "Means over the permutations ± one standard deviation."
    if comparison.by in MEANING:
        text += f" {MEANING[comparison.by]} of all rounds, labels asked for or not."
    if shows_support(comparison):
        text += " #SV counts support vectors over all kernels, at the end of the stream."
    return text


_LEAST_WEIGHT = 0.00005  # smaller ones would be shown as 0.0000


def _weights(row: Row) -> Table:
    """Kernels of a recipe by final weight, the greatest first, without those shown as 0."""
    kernels = row.runs[0].history.kernels
    final = np.mean([run.history.kernel_weights[-1] for run in row.runs], axis=0)
    order = np.argsort(-final, kind="stable")
    greatest = max(float(np.nanmax(final, initial=0.0)), 1e-12)
    shares = np.nan_to_num(np.clip(final / greatest, 0, 1))
    left = int(np.sum(np.abs(final) < _LEAST_WEIGHT))  # they come last, where no weight is negative
    if left and final.min() >= 0:
        order = order[: max(len(order) - left, 1)]
    rest = len(final) - len(order)
    return Table(
        (
            Column("kernel", tuple(kernels[k] for k in order), kind="code"),
            Column("weight", tuple(final[k] for k in order), "{:.4f}".format),
            Column("", tuple(shares[k] for k in order), "{:.4f}".format, kind="bar"),
        ),
        notes=(f"... and {counted(rest, 'kernel')} more, each of less than 0.0001",)
        if rest
        else (),
    )


def ranking_table(ranking: Ranking) -> Table:
    """One row a recipe: its mean rank, and its rank on each data set."""
    order = np.argsort(ranking.mean, kind="stable")
    marks = tuple("*" if ranking.recipes[i] in ranking.best else " " for i in order)
    columns = [
        Column("algorithm", tuple(ranking.titles[i] for i in order), kind="text", spare=1),
        Column("recipe", tuple(ranking.recipes[i] for i in order), kind="code"),
        Column("mean rank", tuple(ranking.mean[order]), "{:.2f}".format, marks=marks),
    ]
    columns += [
        Column(name, tuple(ranks[order]), "{:g}".format)
        for name, ranks in zip(ranking.data, ranking.ranks, strict=True)
    ]
    n = len(ranking.data)
    lines = [
        f"* not told from the least mean rank by the Nemenyi test at 5 %: it tells apart what is "
        f"{ranking.difference:.2f} or more from it"
    ]
    if not math.isnan(ranking.p_value):
        lines.append(f"Friedman test that the recipes do not differ: p = {ranking.p_value:.2g}")
    strong = frozenset(place for place, mark in enumerate(marks) if mark == "*")
    return Table(tuple(columns), (), strong, tuple(lines), f"ranks on {n} data sets")


def comparisons_page(comparisons: Sequence[Comparison], ranking: Ranking | None) -> Page:
    """The ranks, where there are any; then each comparison's verdict, figure and table."""
    by = {one.by for one in comparisons} - {*DEFAULT.values()}
    what = NAMES[by.pop()] if len(by) == 1 else "mean errors"
    text = f"The recipes in the order of their {what} on each data set, 1 the best."
    sections = [Section("Ranks", text, table=ranking_table(ranking))] if ranking else []
    for one in comparisons:
        plot = next((section.plot for section in _over_time(one)), None)
        sections.append(Section(one.data, verdict(one), plot, comparison_table(one)))
    title = f"Online learning on {len(comparisons)} data sets"
    return Page(title, (*sections, again(*(one.manifest for one in comparisons))))
