"""What a comparison says: its table, its verdict, its page."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernbrook.errors import InputError
from kernbrook.reports.over_time import (
    by_error,
    differs,
    kernel_weights,
    learning_curves,
    many_kernels,
    support_vectors,
)
from kernbrook.reports.page import Page, Section, again, write_page
from kernbrook.reports.table import Column, Table, fixed, seconds
from kernbrook.reports.words import TRIVIAL, counted, listed
from kernbrook.results import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernbrook.evaluation.ranking import Ranking
    from kernbrook.evaluation.records import Comparison, Row

STAR_NOTE = "* not told from the least mean by a Student t-test at 5 %"
STAR_NOTE_ALONE = "* fewest mistakes; one permutation allows no test"
STAR_NOTES = {
    "classification": (STAR_NOTE, STAR_NOTE_ALONE),
    "regression": (
        "* not told from the least mean by a Student t-test of the logarithms at 5 %",
        "* least error; one permutation allows no test",
    ),
}
OVER_TIME = {
    "classification": (
        "Mistakes over time",
        "The share of wrong predictions among the rounds so far, each made before its label was "
        "seen: lower is better, and falling means still learning.",
    ),
    "regression": (
        "Error over time",
        "The mean squared error of the rounds so far, each predicted before its label was seen: "
        "lower is better, and falling means still learning.",
    ),
}


class ErrorForm(NamedTuple):
    """How the errors of a comparison are shown.

    header : of their column
    axis : of their figure, for the errors so far
    scale : what the error of a `Record` is multiplied by
    digits : behind the point
    unit : behind a number in a text
    """

    header: str
    axis: str
    scale: float
    digits: int
    unit: str

    def text(self, error: float) -> str:
        """The error of a `Record`, or a mean of them, in a text."""
        return f"{fixed(self.scale * error, self.digits)}{self.unit}"


def error_form(comparison: Comparison) -> ErrorForm:
    """Mistakes in per cent; or squared errors in a power of ten, four digits of the least mean."""
    if comparison.task == "classification":
        return ErrorForm("mistakes %", "mistakes so far (% of the rounds)", 100.0, 2, " %")
    means = [float(np.mean(row.values("error"))) for row in comparison.rows]
    least = min((mean for mean in means if 0 < mean < math.inf), default=1.0)
    power = 0 if 0.1 <= least < 1000 else 3 * math.floor(math.log10(least) / 3)
    digits = 3 - math.floor(math.log10(least) - power)
    times, unit = (f" x 1e{power}", f"e{power}") if power else ("", "")
    axis = f"mean squared error so far{times and f' ({times.strip()})'}"
    return ErrorForm(f"MSE{times}", axis, 10.0**-power, digits, unit)


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

    Mistakes are in per cent, squared errors in a power of ten. Recipes in `comparison.best` are
    strong and starred. Active support vectors have a column where they differ from the stored ones
    in any row, labels asked where any run asked for fewer than all. Counts of single runs have no
    decimals.

    Raises
    ------
    InputError
        if there are no rows, or no runs in one of them.
    """
    rows, how = checked(comparison).rows, error_form(comparison)
    digits = 0 if all(len(row.runs) == 1 for row in rows) else 1
    best = [row.recipe in comparison.best for row in rows]
    errors = tuple(Estimate.of(how.scale * row.values("error")) for row in rows)
    columns = [
        Column("algorithm", tuple(row.title for row in rows), kind="text", spare=2),
        Column("recipe", tuple(row.recipe for row in rows), kind="code"),
        Column(how.header, errors, digits=how.digits, marks=tuple("*" if b else " " for b in best)),
    ]
    sizes = ["n_support_stored"] if shows_support(comparison) else []
    sizes += ["n_support_active"] if any(differs(row) for row in rows) else []
    for name in sizes:
        values = tuple(Estimate.of(row.values(name)) for row in rows)
        header = f"#SV {name.removeprefix('n_support_')}"
        columns.append(Column(header, values, digits=digits, rough=1))
    if any_label_left(comparison):
        asked = [float(np.mean(row.values("labels_asked"))) for row in rows]
        shares = tuple(100 * count / comparison.n_rows for count in asked)
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
    every = comparison.n_rows
    return any(np.any(row.values("labels_asked") != every) for row in comparison.rows)


def notes(comparison: Comparison) -> list[str]:
    """Lines under the table: what the star means, and which recipes are left out for what."""
    lines = []
    if comparison.best:
        tested, alone = STAR_NOTES[comparison.task]
        lines.append(tested if comparison.permutations > 1 else alone)
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
    rows, how = checked(comparison).rows, error_form(comparison)
    of_numbers = comparison.task == "regression"
    means = {row.recipe: float(np.mean(row.values("error"))) for row in rows}
    real = [row for row in rows if row.recipe not in TRIVIAL] or list(rows)
    names = {row.recipe for row in real}
    best = next(row for row in by_error(comparison) if row.recipe in names)
    least = means[best.recipe]
    over = f"over {counted(comparison.permutations, 'permutation')} of {comparison.data}"
    if of_numbers:
        has = "has a" if len(real) == 1 else "has the least"
        text = f"{best.title} {has} mean squared error {over}: {how.text(least)}"
    elif len(real) == 1:
        text = f"{best.title} errs on {how.text(least)} of the rounds {over}"
    else:
        text = f"{best.title} makes the fewest mistakes {over}: {how.text(least)} of the rounds"
    alike = [row.title for row in real if row is not best and row.recipe in comparison.best]
    if alike and best.recipe in comparison.best and comparison.permutations > 1:
        test = "t-test of the logarithms" if of_numbers else "t-test"
        text += f"; a Student {test} at 5 % does not tell it from {listed(alike, 'or')}"
    text += "."
    share = float(np.mean(best.values("labels_asked"))) / comparison.n_rows
    if share < 1:
        text += f" It asked for {100 * share:.1f} % of the labels."
    trivial = [row for row in rows if row.recipe in TRIVIAL and row is not best]
    if trivial:
        does = "makes" if of_numbers else "errs on"
        said = [f"{TRIVIAL[row.recipe]} {does} {how.text(means[row.recipe])}" for row in trivial]
        beaten = least < min(means[row.recipe] for row in trivial)
        end = "" if beaten else ", so nothing here beats the trivial rules"
        text += f" For scale: {listed(said)}{end}."
    return text


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
    how = error_form(checked(comparison))
    heading, text = OVER_TIME[comparison.task]
    sections = [
        Section("Results", _explained(comparison), table=comparison_table(comparison)),
        Section(heading, text, learning_curves(comparison, how.scale, how.axis)),
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


def _explained(comparison: Comparison) -> str:
    """What the columns of a comparison mean."""
    text = "Means over the permutations ± one standard deviation."
    if comparison.task == "regression":
        text += " MSE is the mean squared error of all rounds, labels asked for or not."
    if shows_support(comparison):
        text += " #SV counts support vectors over all kernels, at the end of the stream."
    return text


def _weights(row: Row) -> Table:
    """Kernels of a recipe by final weight, the greatest first."""
    kernels = row.runs[0].history.kernels
    final = np.mean([run.history.kernel_weights[-1] for run in row.runs], axis=0)
    order = np.argsort(-final, kind="stable")
    greatest = max(float(np.nanmax(final, initial=0.0)), 1e-12)
    shares = np.nan_to_num(np.clip(final / greatest, 0, 1))
    return Table(
        (
            Column("kernel", tuple(kernels[k] for k in order), kind="code"),
            Column("weight", tuple(final[k] for k in order), "{:.4f}".format),
            Column("", tuple(shares[k] for k in order), "{:.4f}".format, kind="bar"),
        )
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
    text = "The recipes in the order of their mean errors on each data set, 1 the least."
    sections = [Section("Ranks", text, table=ranking_table(ranking))] if ranking else []
    for one in comparisons:
        how = error_form(checked(one))
        plot = learning_curves(one, how.scale, how.axis)
        sections.append(Section(one.data, verdict(one), plot, comparison_table(one)))
    title = f"Online learning on {len(comparisons)} data sets"
    return Page(title, (*sections, again(*(one.manifest for one in comparisons))))
