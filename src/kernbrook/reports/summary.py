"""Figures that the text table, the page and the JSON share: means, columns, one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np

from kernbrook.errors import InputError

if TYPE_CHECKING:
    from kernbrook.evaluation.records import Comparison, Floats, Ints, Row
    from kernbrook.evaluation.reproduction_records import (
        AccuracyCurve,
        AccuracyCurves,
        ParameterStudy,
    )

T = TypeVar("T")

STAR_NOTE = "* not told from the least mean by a Student t-test at 5 %"
STAR_NOTE_ALONE = "* fewest mistakes; one permutation allows no test"
STAR_NOTES = {
    "classification": (STAR_NOTE, STAR_NOTE_ALONE),
    "regression": (
        "* not told from the least mean by a Student t-test of the logarithms at 5 %",
        "* least error; one permutation allows no test",
    ),
}
LABELS_ASKED = "labels asked"
ERROR_NAMES = {"classification": "error", "regression": "mean squared error"}
STUDY_NOTE = (
    "cap and divisor: alpha and beta of the paper; the others have budgets that add up to SPA's #SV"
)
DECADES = {
    100: "100", 1000: "1k", 10**4: "10k", 10**5: "100k", 10**6: "1M", 10**7: "10M",
}  # fmt: skip
TRIVIAL = {
    "majority": "always answering the label seen most often so far",
    "last-label": "repeating the last label",
    "mean": "always answering the mean of the labels so far",
    "last-value": "repeating the last value",
}


def mean_and_std(values: Floats) -> tuple[float, float | None]:
    """Mean and standard deviation (ddof = 1) of (r,) values; no deviation where r = 1.

    Examples
    --------
    >>> import numpy as np
    >>> mean_and_std(np.array([1.0, 3.0]))
    (2.0, 1.4142135623730951)
    >>> mean_and_std(np.array([5.0]))
    (5.0, None)
    """
    with np.errstate(invalid="ignore", over="ignore"):  # an infinite value has no deviation
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return float(np.mean(values)), std


def plus_minus(mean: float, std: float | None, digits: int) -> str:
    """A mean and its standard deviation as the papers print them.

    Examples
    --------
    >>> plus_minus(16.071, 1.4249, 2)
    '16.07 ± 1.42'
    >>> plus_minus(1547.5, None, 1)
    '1547.5'
    """
    return f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f} ± {std:.{digits}f}"


def aligned(pairs: Sequence[tuple[float, float | None]], digits: int) -> list[str]:
    """Cells of equal width whose points and signs stand under each other.

    Examples
    --------
    >>> aligned([(9.5, 1.25), (16.25, 10.5)], 2)
    [' 9.50 ± 1.25 ', '16.25 ± 10.50']
    """
    heads = [_fixed(mean, digits) for mean, _ in pairs]
    tails = ["" if std is None else f" ± {_fixed(std, digits)}" for _, std in pairs]
    head, tail = (max(map(len, parts), default=0) for parts in (heads, tails))
    return [f"{h:>{head}}{t:<{tail}}" for h, t in zip(heads, tails, strict=True)]


def starred(texts: Sequence[str], best: Iterable[bool | None]) -> list[str]:
    """Cells with a star behind the best ones; the others have a blank of its width."""
    return [text + ("*" if mark else " ") for text, mark in zip(texts, best, strict=True)]


def _fixed(value: float, digits: int) -> str:
    """A number with so many decimals; with an exponent where it would take ten digits or more."""
    return f"{value:.{digits}f}" if abs(value) < 10.0 ** (9 - digits) else f"{value:.2e}"


class Measure(NamedTuple):
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
        return f"{_fixed(self.scale * error, self.digits)}{self.unit}"


def measure(comparison: Comparison) -> Measure:
    """Mistakes in per cent; or squared errors in a power of ten, four digits of the least mean."""
    if comparison.task == "classification":
        return Measure("mistakes %", "mistakes so far (% of the rounds)", 100.0, 2, " %")
    means = [float(np.mean(row.values("error"))) for row in comparison.rows]
    least = min((mean for mean in means if 0 < mean < math.inf), default=1.0)
    power = 0 if 0.1 <= least < 1000 else 3 * math.floor(math.log10(least) / 3)
    digits = 3 - math.floor(math.log10(least) - power)
    times, unit = (f" x 1e{power}", f"e{power}") if power else ("", "")
    axis = f"mean squared error so far{times and f' ({times.strip()})'}"
    return Measure(f"MSE{times}", axis, 10.0**-power, digits, unit)


def error_value(error: float, task: str) -> str:
    """A rate of mistakes, or a mean squared error, in a text.

    Examples
    --------
    >>> error_value(0.125, "classification"), error_value(0.0134159, "regression")
    ('12.50 %', '0.01342')
    """
    return f"{100 * error:.2f} %" if task == "classification" else f"{error:.4g}"


def seconds(value: float) -> str:
    """Seconds with three significant digits, never in exponents.

    Examples
    --------
    >>> seconds(0.01234), seconds(1.5), seconds(321.5)
    ('0.012', '1.50', '322')
    """
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


@dataclass(frozen=True)
class Column:
    """A column of a table, already in words.

    Attributes
    ----------
    header : its heading
    cells : one a row
    kind : how a page shows it: "code" stays on one line, "long" breaks anywhere, the cells of a
        "bar" are numbers between 0 and 1
    """

    header: str
    cells: tuple[str, ...]
    kind: Literal["text", "number", "code", "long", "bar"] = "text"


def mark(agrees: bool | None) -> str:
    """An exclamation mark where ours disagrees with print; else a blank of its width."""
    return "!" if agrees is False else " "


def numbers(header: str, values: Iterable[T | None], form: Callable[[T], str] = str) -> Column:
    """A column of numbers as `form` writes them, blank where there is None.

    Examples
    --------
    >>> numbers("seconds", [1.5, None], seconds).cells
    ('1.50', '')
    """
    cells = ("" if value is None else form(value) for value in values)
    return Column(header, tuple(cells), "number")


class Groups:
    """The rows of a table in groups, each group below a line that only names it.

    Parameters
    ----------
    rows : group and name of each; those of a group stand together

    Attributes
    ----------
    names : the first column's cells, those of the rows indented
    heads : numbers, from 0, of the lines that name a group

    Examples
    --------
    >>> groups = Groups([("a3a", "OM-2"), ("a3a", "SPA"), ("w5a", "SPA")])
    >>> groups.names, groups.heads
    (('a3a', '  OM-2', '  SPA', 'w5a', '  SPA'), [0, 3])
    >>> groups.numbers("#SV", [12, 7, 30]).cells
    ('', '12', '7', '', '30')
    """

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        names: list[str] = []
        self.heads: list[int] = []
        for group, name in rows:
            if not self.heads or names[self.heads[-1]] != group:
                self.heads.append(len(names))
                names.append(group)
            names.append(f"  {name}")
        self.names = tuple(names)

    def numbers(
        self, header: str, values: Iterable[T | None], form: Callable[[T], str] = str
    ) -> Column:
        """A column as of `numbers`, from a value a row; the lines that name a group are blank."""
        cells = list(numbers(header, values, form).cells)
        for head in self.heads:
            cells.insert(head, "")
        return Column(header, tuple(cells), "number")


def checked(comparison: Comparison) -> Comparison:
    """The comparison itself; InputError where there is nothing to show."""
    if not comparison.rows:
        raise InputError("expected a comparison of at least one recipe, found no rows")
    for row in comparison.rows:
        if not row.runs:
            raise InputError(f"expected at least one run of {row.recipe!r}, found none")
    return comparison


def differs(row: Row) -> bool:
    """Whether the active support vectors ever differ from the stored ones."""
    return any(
        run.n_support_active != run.n_support_stored
        or not np.array_equal(run.history.n_support_active, run.history.n_support_stored)
        for run in row.runs
    )


def comparison_columns(comparison: Comparison, *, support_digits: int = 1) -> list[Column]:
    """Columns of a comparison's table, one cell a recipe.

    Active support vectors have a column where they differ from the stored ones in any row,
    labels asked where any run asked for fewer than all, stored support vectors where
    `shows_support`. Counts of single runs have no decimals.
    """
    rows = checked(comparison).rows
    if all(len(row.runs) == 1 for row in rows):
        support_digits = 0

    def support(header: str, name: str) -> Column:
        return numbers(
            header, aligned([mean_and_std(r.values(name)) for r in rows], support_digits)
        )

    how = measure(comparison)
    pairs = [mean_and_std(how.scale * row.values("error")) for row in rows]
    best = (row.recipe in comparison.best for row in rows)
    columns = [
        Column("algorithm", tuple(row.title for row in rows)),
        Column("recipe", tuple(row.recipe for row in rows), "code"),
        numbers(how.header, starred(aligned(pairs, how.digits), best)),
    ]
    if shows_support(comparison):
        columns.append(support("#SV stored", "n_support_stored"))
    if any(differs(row) for row in rows):
        columns.append(support("#SV active", "n_support_active"))
    if any_label_left(comparison):
        asked = [float(np.mean(row.values("labels_asked"))) for row in rows]
        shares = (100 * count / comparison.n_rows for count in asked)
        columns += [
            numbers(LABELS_ASKED, asked, "{:.0f}".format),
            numbers("asked %", shares, "{:.1f}".format),
        ]
    times = (float(np.mean(row.values("seconds"))) for row in rows)
    return [*columns, numbers("seconds", times, seconds)]


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


def study_columns(study: ParameterStudy) -> tuple[list[Column], list[int]]:
    """Columns of a parameter study, and the rows that only name what those below share.

    Where the cap is varied the rows of a divisor stand together; where the divisor is, those of
    one divisor, an algorithm each.
    """
    rows = []
    for point in study.points:
        varied = f"{point.parameter} {point.value:g}"
        head, name = (point.curve, varied) if point.parameter == "cap" else (varied, point.curve)
        rows.append((f"{point.data}, {head}", name))
    groups, points = Groups(rows), study.points
    digits = 0 if all(point.n_support_std is None for point in points) else 1
    return [
        Column("", groups.names),
        groups.numbers("mistakes %", aligned([(p.error, p.error_std) for p in points], 2)),
        groups.numbers("#SV", aligned([(p.n_support, p.n_support_std) for p in points], digits)),
        groups.numbers("seconds", (p.seconds for p in points), seconds),
    ], groups.heads


def curve_names(curves: Sequence[AccuracyCurve]) -> tuple[str, ...]:
    """The algorithms, with their budgets where these differ."""
    several = len({curve.budget for curve in curves} - {None}) > 1
    return tuple(
        f"{curve.title}, B = {curve.budget}" if several and curve.budget else curve.title
        for curve in curves
    )


def curve_columns(result: AccuracyCurves) -> list[Column]:
    """Columns of curves of accuracy or seconds: their values at powers of ten, and their ends."""
    curves, timed = result.curves, result.shown == "seconds"
    ends = [(c.accuracy[-1], c.accuracy_std[-1] if c.accuracy_std else None) for c in curves]
    accuracy = aligned(ends, 2)
    times = [seconds(curve.seconds[-1]) for curve in curves]
    at = [dict(zip(c.rows, getattr(c, result.shown), strict=True)) for c in curves]
    columns = [Column("algorithm", curve_names(curves))]
    heading, form = ("seconds", seconds) if timed else ("accuracy %", "{:.2f}".format)
    for n, name in DECADES.items():
        if any(n in values for values in at):
            columns.append(numbers(f"{heading}\n{name}", (values.get(n) for values in at), form))
            heading = ""
    columns += [
        numbers("\nend", times if timed else accuracy),
        numbers("examples", (curve.n_rows for curve in curves), "{:,}".format),
        numbers("#SV", (curve.n_support[-1] for curve in curves), "{:.0f}".format),
    ]
    if timed:
        return [*columns, numbers("accuracy %\nend", accuracy)]
    printed = (curve.seconds_printed for curve in curves)
    return [*columns, numbers("seconds\nprinted", printed, seconds), numbers("\nours", times)]


def headline(comparison: Comparison) -> str:
    """Data, shape and permutations in one line."""
    return (
        f"{comparison.data}: {counted(comparison.n_rows, 'row')} x "
        f"{counted(comparison.n_features, 'feature')}, "
        f"{counted(comparison.permutations, 'permutation')}"
    )


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3185, "row")
    ('1 row', '3,185 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Names as a sentence lists them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"


def verdict(comparison: Comparison) -> str:
    """One or two sentences in plain words: who is best, and what the trivial baselines make.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Returns
    -------
    text ending with a full stop
    """
    rows = checked(comparison).rows
    how, numbers = measure(comparison), comparison.task == "regression"
    means = {id(row): float(np.mean(row.values("error"))) for row in rows}
    real = [row for row in rows if row.recipe not in TRIVIAL] or list(rows)
    best = min(real, key=lambda row: rank(means[id(row)]))
    least = means[id(best)]
    alike = [row.title for row in real if row is not best and row.recipe in comparison.best]
    over = f"over {counted(comparison.permutations, 'permutation')} of {comparison.data}"
    if numbers:
        has = "has a" if len(real) == 1 else "has the least"
        text = f"{best.title} {has} mean squared error {over}: {how.text(least)}"
    elif len(real) == 1:
        text = f"{best.title} errs on {how.text(least)} of the rounds {over}"
    else:
        text = f"{best.title} makes the fewest mistakes {over}: {how.text(least)} of the rounds"
    if alike and best.recipe in comparison.best and comparison.permutations > 1:
        test = "t-test of the logarithms" if numbers else "t-test"
        text += f"; a Student {test} at 5 % does not tell it from {listed(alike, 'or')}"
    text += "."
    share = float(np.mean(best.values("labels_asked"))) / comparison.n_rows
    if share < 1:
        text += f" It asked for {100 * share:.1f} % of the labels."
    trivial = [row for row in rows if row.recipe in TRIVIAL and row is not best]
    if trivial:
        does = "makes" if numbers else "errs on"
        parts = [f"{TRIVIAL[row.recipe]} {does} {how.text(means[id(row)])}" for row in trivial]
        sentence = listed(parts)
        text += f" For scale: {sentence}"
        if not least < min(means[id(row)] for row in trivial):
            text += ", so nothing here beats the trivial rules"
        text += "."
    return text


def rank(mean: float) -> float:
    """A mean as a sorting key: not-a-number comes last."""
    return math.inf if math.isnan(mean) else mean


def over_time(row: Row, name: str) -> tuple[Ints, Floats]:
    """A quantity of the history, run by run.

    Parameters
    ----------
    row : a recipe's runs
    name : attribute of `History`, such as "error"

    Returns
    -------
    rounds : (h,) rounds of the first run
    values : (r, h) or (r, h, m); a run sampled at other rounds is interpolated at those
    """
    rounds = np.asarray(row.runs[0].history.rounds)
    values = []
    for run in row.runs:
        own, value = run.history.rounds, np.asarray(getattr(run.history, name), dtype=float)
        if not np.array_equal(own, rounds):
            columns = value.reshape(len(own), -1).T
            value = np.array([np.interp(rounds, own, column) for column in columns]).T
            value = value.reshape(len(rounds), *getattr(run.history, name).shape[1:])
        values.append(value)
    return rounds, np.array(values)


def many_kernels(comparison: Comparison) -> list[Row]:
    """The rows whose recipes weigh more than one kernel."""
    return [row for row in comparison.rows if len(row.runs[0].history.kernels) > 1]
