"""What a comparison says: its table, its verdict, its figures, its page, its JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernbrook import recipes as book
from kernbrook.errors import InputError
from kernbrook.estimators.labels import class_numbers
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor
from kernbrook.evaluation.late import Lateness
from kernbrook.evaluation.measures import DEFAULT, NO_DATE, OF_SIZES, RULES, Rule, shortfall
from kernbrook.evaluation.record import changes_of
from kernbrook.reports.page import Page, Section, again, write_page
from kernbrook.reports.plot import (
    GREY,
    HUES,
    TRIVIAL_DASHES,
    Line,
    Panel,
    Pen,
    Plot,
    dotted,
    label_text,
    limits,
    pens_of,
)
from kernbrook.reports.table import Column, Table, by_weight, fixed, seconds
from kernbrook.reports.words import BEST, MEANING, NAMES, TRIVIAL, counted, iso, listed, plain
from kernbrook.results import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kernbrook.evaluation.ranks import Ranking
    from kernbrook.evaluation.record import Comparison, History, Record, Row
    from kernbrook.gram.arrays import Floats, Ints

STAR_NOTE_ALONE = "* fewest mistakes; one permutation allows no test"
_OF_ROUNDS = "of the rounds so far"
_LOWER = (
    "each predicted before its label was seen: lower is better, and falling means still learning."
)
OVER_TIME = {
    "error": (
        "Mistakes over time",
        "The share of wrong predictions among the rounds so far, each made before its label was "
        "seen: lower is better, and falling means still learning.",
    ),
    "log_loss": (
        "Log loss over time",
        f"How surprising the labels {_OF_ROUNDS} were to the probabilities, {_LOWER}",
    ),
    "auc": (
        "AUC over time",
        f"How often, {_OF_ROUNDS}, a row of the second class ranks above one of the first, each "
        "before its label was seen: higher is better, and 0.5 is chance.",
    ),
    "mse": ("Error over time", f"The mean squared error {_OF_ROUNDS}, {_LOWER}"),
    "rmse": ("Error over time", f"The root of the mean squared error {_OF_ROUNDS}, {_LOWER}"),
    "mae": ("Error over time", f"The mean absolute error {_OF_ROUNDS}, {_LOWER}"),
    "coverage": (
        "Coverage over time",
        f"The share of the labels {_OF_ROUNDS} that lay in their intervals, each made before its "
        "label was seen: the nearer to 90 % the better.",
    ),
}


class MeasureForm(NamedTuple):
    """How the measure that a comparison goes by is shown.

    measure : its name
    header : of its column
    axis : of its figure, for the rounds so far
    scale : what the value of a `Record` is multiplied by
    digits : behind the point
    unit : behind a number in a text
    """

    measure: str
    header: str
    axis: str
    scale: float = 1.0
    digits: int = 4
    unit: str = ""

    def text(self, value: float) -> str:
        """The value of a `Record`, or a mean of them, in a text."""
        return f"{fixed(self.scale * value, self.digits)}{self.unit}"

    def estimate(self, row: Row) -> Estimate | None:
        """Of the runs of a row; None where one of them has not the measure."""
        values = self.scale * row.measured(self.measure)
        return None if np.isnan(values).any() else Estimate.of(values)


def form_of(comparison: Comparison) -> MeasureForm:
    """Shares in per cent; sizes of errors in a power of ten, four digits of the least mean."""
    by = comparison.by
    if by == "error":
        axis = "mistakes so far (% of the rounds)"
        return MeasureForm(by, "mistakes %", axis, 100.0, 2, " %")
    if by == "coverage":
        axis = "labels in their intervals so far (%)"
        return MeasureForm(by, "covered %", axis, 100.0, 2, " %")
    if by not in OF_SIZES:
        return MeasureForm(by, NAMES[by], f"{NAMES[by]} so far")
    means = [float(np.mean(row.measured(by))) for row in comparison.rows]
    least = min((mean for mean in means if 0 < mean < math.inf), default=1.0)
    power = 0 if 0.1 <= least < 1000 else 3 * math.floor(math.log10(least) / 3)
    digits = 3 - math.floor(math.log10(least) - power)
    times, unit = (f" x 1e{power}", f"e{power}") if power else ("", "")
    axis = f"{NAMES[by]} so far{times and f' ({times.strip()})'}"
    return MeasureForm(by, f"{MEANING[by].split()[0]}{times}", axis, 10.0**-power, digits, unit)


def star_note(measure: str, permutations: int) -> str:
    """What a star in the table of a comparison means."""
    if measure == "error" and permutations == 1:
        return STAR_NOTE_ALONE
    best = BEST.get(measure, "least")
    if permutations == 1:
        name = "error" if measure in OF_SIZES else NAMES[measure]
        return f"* {best} {name}; one permutation allows no test"
    of = " of the logarithms" if measure in OF_SIZES else ""
    return f"* not told from the {best} mean by a paired t-test{of} at 5 %"


FEW = 4  # lines that can carry a band each
MANY = 10  # rows; of more only the best have colours and names
COLOURED = 5  # of them
PANELS = 6  # recipes whose kernels are drawn
SETTLED = 0.05  # the first rounds, whose error is mostly noise, do not set the axis
WIDE = 20.0  # ratio of sizes from which the axis is logarithmic
FAR = 1000.0  # ratio of the ends of an axis of errors, beyond which a curve leaves it
TOP_KERNELS = 3  # named in each panel
REST = Pen(GREY, "-", 0.6)


def learning_curves(comparison: Comparison) -> Plot:
    """The measure over the rounds so far; means over the permutations.

    Up to four recipes have a band of one standard deviation (ddof = 1) either side. The axis
    fits the curves after the first twentieth of the rounds, and need not start at zero. Where
    errors of numbers end more than twentyfold apart it is logarithmic, and there are no bands.
    """
    how = form_of(comparison)
    over = {
        row.recipe: over_time(row, how.measure)
        for row in drawn_last(comparison)
        if not np.isnan(row.measured(how.measure)).any()
    }
    log = how.measure in OF_SIZES and far_apart(run.mean(axis=0)[-1] for _, run in over.values())
    lines, seen, pens = [], [], _pens(comparison)
    for name, (rounds, values) in over.items():
        mean, std, settled = how.scale * values.mean(axis=0), None, rounds >= SETTLED * rounds[-1]
        seen.append(mean[settled])
        if len(over) <= FEW and len(values) > 1 and not log:
            std = how.scale * values.std(axis=0, ddof=1)
            seen += [(mean - std)[settled], (mean + std)[settled]]
        lines.append(Line(name, rounds, mean, pens[name], std))
    return named_plot(comparison, lines, how.axis, log, ends_of_errors(seen, log))


def far_apart(sizes: Iterable[Any]) -> bool:
    """Whether sizes are more than twentyfold apart: then an axis is logarithmic."""
    found = [float(size) for size in sizes if 0 < size < math.inf]
    return bool(found) and max(found) > WIDE * min(found)


def ends_of_errors(seen: list[Floats], log: bool) -> tuple[float, float]:
    """Ends of an axis of the errors that are seen; a logarithmic one ends a thousandfold up."""
    low, high = limits(seen, log)
    return low, min(high, FAR * low) if log else high


def support_vectors(comparison: Comparison) -> Plot:
    """Support vectors over the rounds: stored ones, and active ones where they differ.

    Means over the permutations. The axis is logarithmic where the sizes at the end differ more
    than twentyfold; a recipe that stores nothing is then left out.
    """
    lines, pens = [], _pens(comparison)
    for row in drawn_last(comparison):
        pen = pens[row.recipe]
        rounds, values = over_time(row, "n_support_stored")
        lines.append(Line(row.recipe, rounds, values.mean(axis=0), pen))
        if differs(row):
            rounds, values = over_time(row, "n_support_active")
            name, mean = f"{row.recipe} active", values.mean(axis=0)
            lines.append(Line(name, rounds, mean, dotted(pen.color)))
    ends = 0.0, 1.05 * (max(line.y[-1] for line in lines) or 1.0)
    if log := far_apart(line.y[-1] for line in lines):
        lines = [replace(line, y=np.where(line.y > 0, line.y, np.nan)) for line in lines]
        lines = [line for line in lines if line.y[-1] > 0]
        # Where nothing is kept, or little so soon, sets no end.
        ends = limits([line.y[line.x >= SETTLED * line.x[-1]] for line in lines], log)
    return named_plot(comparison, lines, "number of support vectors", log, ends)


def named_plot(
    comparison: Comparison, lines: list[Line], label: str, log: bool, ends: tuple[float, float]
) -> Plot:
    """A figure of one panel; a star is behind the names of the best recipes."""
    pens, names = _pens(comparison), {}
    for row in comparison.rows:
        if pens[row.recipe] is not REST:
            star = " *" if row.recipe in comparison.best else ""
            names[row.recipe] = label_text(row.title, longest=24) + star
            names[f"{row.recipe} active"] = label_text(row.title, longest=19) + " active"
    panel = Panel(
        lines,
        x_label="rounds",
        y_label=label + ", log scale" * log,
        y_scale="log" if log else "linear",
        x_limits=(0, int(max(line.x[-1] for line in lines))),
        y_limits=ends,
    )
    return Plot([panel], {names[line.name]: line.pen for line in lines if line.name in names})


def kernel_weights(comparison: Comparison) -> Plot:
    """Weights of the kernels over the rounds, a panel for each recipe with several kernels.

    Of the six that err least, means over the permutations. The kernels that end with the greatest
    weights, at most six in the whole figure, have a colour and are named by their formula; the
    others are grey.
    """
    rows = many_kernels(comparison)[:PANELS]
    over = [over_time(row, "kernel_weights") for row in rows]
    means = [weights.mean(axis=0) for _, weights in over]
    hues = zip(_top_kernels(rows, means), HUES, strict=False)
    pens, panels = {kernel: Pen(colour, "-", 1.5) for kernel, colour in hues}, []
    greatest = max(float(np.nanmax(weights, initial=0.0)) for weights in means)
    for row, (rounds, _), weights in zip(rows, over, means, strict=True):
        each = zip(row.runs[0].history.kernels, weights.T, strict=True)
        lines = [Line(kernel, rounds, weights, pens.get(kernel, REST)) for kernel, weights in each]
        lines.sort(key=lambda line: line.pen is not REST)  # the named ones lie on top
        top = min(1.0, 1.1 * greatest) * 1.02 or 1.0
        panels.append(Panel(lines, row.title, x_limits=(0, int(rounds[-1])), y_limits=(0, top)))
    if any(line.pen is REST for panel in panels for line in panel.lines):
        pens["the other kernels"] = REST
    return Plot(panels, pens, x_label="rounds", y_label="weight (sum 1)", sharey=True)


def _pens(comparison: Comparison) -> dict[str, Pen]:
    """The pens of the recipes, the same in every figure.

    Those of the best recipes are wider. Of many recipes the five that err least have a colour, the
    trivial ones their grey, and the rest, without a name, `REST`.
    """
    rows = comparison.rows
    if len(rows) > MANY:
        others = [row.recipe for row in by_measure(comparison) if row.recipe not in TRIVIAL]
        ours = others[:COLOURED]
        rows = tuple(row for row in rows if row.recipe in (*ours, *TRIVIAL))
    named = {
        name: replace(pen, linewidth=2.2) if name in comparison.best else pen
        for name, pen in pens_of((row.recipe for row in rows), TRIVIAL).items()
    }
    return {row.recipe: named.get(row.recipe, REST) for row in comparison.rows}


def by_measure(comparison: Comparison) -> list[Row]:
    """The rows, the best mean first, and those without one last."""
    by = comparison.by
    means = {row.recipe: float(np.mean(shortfall(by, row.measured(by)))) for row in comparison.rows}
    return sorted(
        comparison.rows, key=lambda row: (math.isnan(means[row.recipe]), means[row.recipe])
    )


def drawn_last(comparison: Comparison) -> list[Row]:
    """The rows, those with a name last, so that they lie on top."""
    pens = _pens(comparison)
    return sorted(comparison.rows, key=lambda row: pens[row.recipe] is not REST)


def many_kernels(comparison: Comparison) -> list[Row]:
    """The rows whose recipes weigh more than one kernel, the least mean error first."""
    return [row for row in by_measure(comparison) if len(row.runs[0].history.kernels) > 1]


def differs(row: Row) -> bool:
    """Whether the active support vectors ever differ from the stored ones."""
    return any(
        run.n_support_active != run.n_support_stored
        or not np.array_equal(run.history.n_support_active, run.history.n_support_stored)
        for run in row.runs
    )


def over_time(row: Row, name: str) -> tuple[Ints, Floats]:
    """The rounds, (h,), and at these a quantity of the history, (r, h) or (r, h, m), run by run.

    name : attribute of `History`, or a measure such as "log_loss"
    """
    return row.runs[0].history.rounds, np.array([_along(run.history, name) for run in row.runs])


def _along(history: History, name: str) -> Floats:
    if name in history.measures and name not in DEFAULT.values():
        return history.measures[name]
    return np.asarray(getattr(history, "error" if name == "mse" else name), dtype=float)


def _top_kernels(rows: list[Row], means: list[Any]) -> list[str]:
    """Formulas of the kernels to name, the greatest final weight in any panel first."""
    best: dict[str, float] = {}
    for row, weights in zip(rows, means, strict=True):
        kernels = row.runs[0].history.kernels
        for place in np.argsort(-weights[-1], kind="stable")[:TOP_KERNELS]:
            name = kernels[place]
            best[name] = max(best.get(name, 0.0), float(weights[-1, place]))
    return sorted(best, key=lambda name: -best[name])[: len(HUES)]


MOST = 40  # windows
FEWEST = 100  # rows of each
SHOWN = 10  # changes
DAY = 86_400_000_000  # microseconds
_COSTS = {
    "error": "error", "log_loss": "log_loss", "mse": "squared", "rmse": "squared",
    "mae": "absolute", "coverage": "covered",
}  # fmt: skip


def by_window(comparison: Comparison) -> Section | None:
    """The measure in up to 40 windows, beside that of the trivial rule that errs least.

    Over dates where each row has one and none is before those above it, else over rounds. Where
    labels come late there is no rule, because rules know each label after its row. None where there
    are no four windows of 100 rows, or no windows of the measure: of AUC.
    """
    how, n_windows = form_of(comparison), min(MOST, comparison.n_rows // FEWEST)
    rows = [row for row in drawn_last(comparison) if not np.isnan(row.measured(how.measure)).any()]
    if how.measure not in _COSTS or n_windows < 4 or not rows:
        return None
    rounds = rows[0].runs[0].history.rounds  # windows end at samples
    wanted = np.linspace(0, comparison.n_rows, n_windows + 1)[1:]
    ends = np.unique([0, *rounds[np.searchsorted(rounds, wanted).clip(max=len(rounds) - 1)]])
    found = {row.recipe: _of_record(row.runs[0], how.measure, ends) for row in rows}
    rule, of_rule = _of_rule(rows[0].runs[0], how.measure, ends)
    named = {rule: book.title(rule)} if rule and rule not in found else {}
    found = dict.fromkeys(named, of_rule) | found
    found = {name: how.scale * values for name, values in found.items()}
    log = how.measure in OF_SIZES and far_apart(map(np.nanmedian, found.values()))
    x, dated = _middles(comparison, ends)
    pens = dict.fromkeys(named, Pen(GREY, TRIVIAL_DASHES[1])) | _pens(comparison)
    lines = [Line(name, x, values, pens[name]) for name, values in found.items()]
    label, limits = how.axis.replace(" so far", ""), ends_of_errors([*found.values()], log)
    plot = named_plot(comparison, lines, label, log, limits)
    (panel,), x_limits = plot.panels, (0.0, float(comparison.n_rows))
    if dated:
        panel, x_limits = replace(panel, dated=True, x_label=""), (float(x[0]), float(x[-1]))
    legend = {**plot.legend, **{title: pens[rule] for rule, title in named.items()}}
    plot = replace(plot, panels=[replace(panel, x_limits=x_limits)], legend=legend)
    text = (
        f"About {round(comparison.n_rows / n_windows):,} rounds each, by themselves: a bad day "
        "stands out here, and is a bump in the mean of all rounds so far."
    )
    if of_rule.size:
        single = len(found.keys() & TRIVIAL.keys()) == 1
        which = "The trivial rule that errs least, which knows {}, is grey."
        which = which if single else "Trivial rules, which know {}, are grey."
        text += f" {which.format('each label after its row')}"
    heading = OVER_TIME[how.measure][0].replace("over time", "by window")
    return Section(heading, text, plot)


def _of_record(run: Record, measure: str, ends: Ints) -> Floats:
    """(w,) a measure of a run by window, by what is known of the rounds so far at their ends."""
    history = run.history
    means = np.asarray(history.measures.get(measure, history.error), dtype=float)
    sums = np.concatenate([[0.0], history.rounds * (means**2 if measure == "rmse" else means)])
    return _of_sums(sums[np.searchsorted(history.rounds, ends, side="right")], measure, ends)


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


def _middles(comparison: Comparison, ends: Ints) -> tuple[Floats, bool]:
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
    columns = [Column("from round", tuple(change.row for change in shown), "{:,}".format)]
    if any(change.date is not None for change in shown):
        dates = tuple((iso(change.date) or "").replace("T", " ") for change in shown)
        columns.append(Column("date", dates, kind="code"))
    classes = row.task == "classification"
    header, scale = ("mistakes %", 100.0) if classes else ("mean squared error", 1.0)
    form = "{:.2f}".format if classes else "{:.4g}".format
    columns += [
        Column(f"{header} before", tuple(scale * change.before for change in shown), form),
        Column("after", tuple(scale * change.after for change in shown), form),
    ]
    more = len(found) - len(shown)
    notes = (f"... and {counted(more, 'change')} before",) if more else ()
    return Table(tuple(columns), notes=notes)


def checked(comparison: Comparison) -> Comparison:
    """The comparison itself; InputError where there is nothing to show."""
    if not comparison.rows:
        raise InputError("expected a comparison of at least one recipe, found no rows")
    for row in comparison.rows:
        if not row.runs:
            raise InputError(f"expected at least one run of {row.recipe!r}, found none")
    return comparison


def comparison_table(comparison: Comparison) -> Table:
    """A comparison as a table: one row a recipe, means over the permutations.

    Means have one standard deviation beside them (ddof = 1). Shares are in per cent, errors of
    numbers in a power of ten. Recipes in `comparison.best` are strong and starred. Active support
    vectors have a column where they differ from the stored ones in any row, labels asked where any
    run asked for fewer than all. Counts of single runs have no decimals.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Raises
    ------
    InputError
        if there are no rows, or no runs in one of them.

    Examples
    --------
    >>> import kernbrook as kb
    >>> found = kb.compare("wdbc:90", ["majority", "last-label"], permutations=2, jobs=1)
    >>> table = kb.reports.comparison_table(found)
    >>> [column.header for column in table.columns]
    ['algorithm', 'recipe', 'mistakes %', '#SV stored', 'seconds']
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
    every = _count_labels(comparison)
    if any(np.any(row.values("labels_asked") != every) for row in rows):
        asked = tuple(float(np.mean(row.values("labels_asked"))) for row in rows)
        shares = tuple(100 * count / every for count in asked)
        columns += [
            Column("labels asked", asked, "{:.0f}".format, spare=1),
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


def _count_labels(comparison: Comparison) -> int:
    facts = comparison.manifest
    return Lateness(facts.get("delay", 0), facts.get("every", 1)).known(comparison.n_rows)


def notes(comparison: Comparison) -> list[str]:
    """Lines under the table: what the star means, and which recipes are left out for what."""
    lines = []
    if comparison.best:
        lines.append(star_note(comparison.by, comparison.permutations))
    for why in dict.fromkeys(comparison.left_out.values()):
        names = [name for name, reason in comparison.left_out.items() if reason == why]
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

    Examples
    --------
    >>> import kernbrook as kb
    >>> found = kb.compare("wdbc:90", ["majority", "last-label"], permutations=2, jobs=1)
    >>> print(kb.reports.verdict(found))  # doctest: +ELLIPSIS
    majority so far makes the fewest mistakes over 2 permutations of wdbc:90: 32.78 % of ...
    """
    rows, how = checked(comparison).rows, form_of(comparison)
    means = {row.recipe: float(np.mean(row.measured(how.measure))) for row in rows}
    real = [row for row in rows if row.recipe not in TRIVIAL] or list(rows)
    best = next(row for row in by_measure(comparison) if row in real)
    text = _praised(comparison, how, best.title, means[best.recipe], len(real) == 1)
    alike = [row.title for row in real if row is not best and row.recipe in comparison.best]
    if alike and best.recipe in comparison.best and comparison.permutations > 1:
        test = "paired t-test" + (" of the logarithms" if how.measure in OF_SIZES else "")
        text += f"; a {test} at 5 % does not tell it from {listed(alike, 'or')}"
    text += "."
    share = float(np.mean(best.values("labels_asked"))) / _count_labels(comparison)
    if share < 1:
        text += f" It asked for {100 * share:.1f} % of the labels."
    trivial = [row.recipe for row in rows if row.recipe in TRIVIAL and row is not best]
    if trivial := [name for name in trivial if not math.isnan(means[name])]:
        does = {"error": "errs on", "auc": "has", "coverage": "covers"}.get(how.measure, "makes")
        scale = [f"{TRIVIAL[name]} {does} {how.text(means[name])}" for name in trivial]
        least, *others = (shortfall(how.measure, means[name]) for name in (best.recipe, *trivial))
        end = "" if least < min(others) else ", so nothing here beats the trivial rules"
        text += f" For scale: {listed(scale)}{end}."
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

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> found = kb.compare("wdbc:90", ["majority", "last-label"], permutations=2, jobs=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(found, Path(folder) / "report.html")
    ...     "wdbc:90" in (Path(folder) / "report.html").read_text("utf-8")
    True
    """
    write_page(comparison_page(comparison), path)


def comparison_page(comparison: Comparison) -> Page:
    """A comparison as a page: a summary, the table, figures, how to run it again.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Examples
    --------
    >>> import kernbrook as kb
    >>> found = kb.compare("wdbc:90", ["majority", "last-label"], permutations=2, jobs=1)
    >>> page = kb.reports.comparison_page(found)
    >>> page.title, [section.heading for section in page.sections][:2]
    ('Online learning on wdbc:90', ['Results', 'Mistakes over time'])
    """
    table = comparison_table(comparison)
    sections = [Section("Results", _explained(comparison), table=table)]
    if comparison.in_order and (windows := by_window(comparison)) is not None:
        sections.append(windows)
        row = next((row for row in by_measure(comparison) if row.recipe not in TRIVIAL), None)
        if row is not None:
            changes = changes_table(comparison, row)
            ends = "." if changes.columns else ", and finds no change."
            text = f"ADWIN looks for changes of the error of {row.title}{ends}"
            sections.append(Section("When the error changed", text, table=changes))
    sections += _over_time(comparison)
    if shows_support(comparison):
        sections.append(
            Section(
                "Support vectors over time",
                "How much each recipe keeps: memory and time per prediction grow with it. "
                "Dotted lines count those that the prediction really uses, where they are fewer.",
                support_vectors(comparison),
            )
        )
    if many := many_kernels(comparison):
        final = [run.history.kernel_weights[-1] for run in many[0].runs]
        weights = np.nan_to_num(np.mean(final, axis=0))
        order = np.argsort(-weights, kind="stable")
        kernels = [many[0].runs[0].history.kernels[k] for k in order]
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
                table=by_weight("kernel", kernels, weights[order].tolist(), len(kernels)),
            ),
        ]
    return Page(
        f"Online learning on {comparison.data}",
        (*sections, again(comparison.manifest)),
        headline(comparison),
        verdict(comparison).replace(" %", "\N{NO-BREAK SPACE}%"),
    )


def _over_time(comparison: Comparison) -> list[Section]:
    how = form_of(comparison)
    if all(how.estimate(row) is None for row in comparison.rows):
        return []
    return [Section(*OVER_TIME[how.measure], learning_curves(comparison))]


def _explained(comparison: Comparison) -> str:
    text = "Means over the permutations ± one standard deviation."
    if comparison.by in MEANING:
        text += f" {MEANING[comparison.by]} of all rounds, labels asked for or not."
    if shows_support(comparison):
        text += " #SV counts support vectors over all kernels, at the end of the stream."
    return text


def ranking_table(ranking: Ranking) -> Table:
    """Ranks as a table: one row a recipe, its mean rank, and its rank on each data set.

    Parameters
    ----------
    ranking : of `kernbrook.evaluation.ranking`

    Examples
    --------
    >>> import kernbrook as kb
    >>> names, rules = ("wdbc:90", "checkerboard:90"), ["majority", "last-label"]
    >>> found = [kb.compare(name, rules, permutations=2, jobs=1) for name in names]
    >>> ranks = kb.evaluation.ranking(found)
    >>> [column.header for column in kb.reports.ranking_table(ranks).columns]
    ['algorithm', 'recipe', 'mean rank', 'wdbc:90', 'checkerboard:90']
    """
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
    """Several comparisons as a page: the ranks, then the verdict, figure and table of each.

    Parameters
    ----------
    comparisons, ranking : as `comparisons_json` has them

    Examples
    --------
    >>> import kernbrook as kb
    >>> names, rules = ("wdbc:90", "checkerboard:90"), ["majority", "last-label"]
    >>> found = [kb.compare(name, rules, permutations=2, jobs=1) for name in names]
    >>> ranks = kb.evaluation.ranking(found)
    >>> page = kb.reports.comparisons_page(found, ranks)
    >>> page.title, [section.heading for section in page.sections][:3]
    ('Online learning on 2 data sets', ['Ranks', 'wdbc:90', 'checkerboard:90'])
    """
    by = {comparison.by for comparison in comparisons} - {*DEFAULT.values()}
    quantity = NAMES[by.pop()] if len(by) == 1 else "mean errors"
    text = f"The recipes in the order of their {quantity} on each data set, 1 the best."
    sections = [Section("Ranks", text, table=ranking_table(ranking))] if ranking else []
    for result in comparisons:
        plot = next((section.plot for section in _over_time(result)), None)
        sections.append(Section(result.data, verdict(result), plot, comparison_table(result)))
    title = f"Online learning on {len(comparisons)} data sets"
    return Page(title, (*sections, again(*(comparison.manifest for comparison in comparisons))))


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain values that `json.dumps(..., allow_nan=False)` takes.

    Errors are mistakes in per cent, or mean squared errors as they are where `task` is
    "regression"; coverage is a share. `best` goes by `measure`. Standard deviations have ddof = 1
    and are None with one run. A number that is not finite becomes None.

    Parameters
    ----------
    comparison : at least one row, each with at least one run

    Returns
    -------
    dict with the keys data, task, n_rows, n_features, permutations, measure, best,
    left_out, manifest and rows

    Examples
    --------
    >>> import kernbrook as kb
    >>> found = kb.compare("wdbc:90", ["majority", "last-label"], permutations=2, jobs=1)
    >>> values = kb.reports.comparison_json(found)
    >>> values["data"], values["rows"][0]["recipe"]
    ('wdbc:90', 'majority')
    """
    names = ("data", "task", "n_rows", "n_features", "permutations", "best", "left_out", "manifest")
    found = {name: getattr(comparison, name) for name in names}
    return dict(plain({**found, "measure": comparison.by, "rows": [*map(_row, comparison.rows)]}))


def ranking_json(ranking: Ranking) -> dict[str, Any]:
    """Ranks as plain values; the keys are their attributes, and mean and best.

    Parameters
    ----------
    ranking : of `kernbrook.evaluation.ranking`

    Examples
    --------
    >>> import kernbrook as kb
    >>> names, rules = ("wdbc:90", "checkerboard:90"), ["majority", "last-label"]
    >>> found = [kb.compare(name, rules, permutations=2, jobs=1) for name in names]
    >>> ranks = kb.evaluation.ranking(found)
    >>> kb.reports.ranking_json(ranks)["mean"]
    [1.5, 1.5]
    """
    return dict(plain({**asdict(ranking), "mean": ranking.mean, "best": ranking.best}))


def comparisons_json(comparisons: Sequence[Comparison], ranking: Ranking | None) -> dict[str, Any]:
    """Comparisons on several data sets, and their ranks, as plain values.

    Parameters
    ----------
    comparisons : one a data set
    ranking : of these, or None

    Examples
    --------
    >>> import kernbrook as kb
    >>> names, rules = ("wdbc:90", "checkerboard:90"), ["majority", "last-label"]
    >>> found = [kb.compare(name, rules, permutations=2, jobs=1) for name in names]
    >>> ranks = kb.evaluation.ranking(found)
    >>> list(kb.reports.comparisons_json(found, ranks))
    ['comparisons', 'ranks']
    """
    found: dict[str, Any] = {"comparisons": list(map(comparison_json, comparisons))}
    return found if ranking is None else found | {"ranks": ranking_json(ranking)}


def _row(row: Row) -> dict[str, Any]:
    sizes, errors = ("n_support_stored", "n_support_active"), Estimate.of(row.errors)
    measures = {
        name: errors if name == "error" else Estimate.of(row.measured(name))
        for name in row.measures
    }

    def scaled(name: str, value: Any) -> Any:
        return 100.0 * value if name == "error" and row.task == "classification" else value

    def means(names: Sequence[str]) -> dict[str, Any]:
        return {name: scaled(name, over_time(row, name)[1].mean(axis=0)) for name in names}

    result = {"recipe": row.recipe, "title": row.title, "mean": errors.mean, "std": errors.std}
    for name in sizes:
        size = Estimate.of(row.values(name))
        result |= {f"{name}_mean": size.mean, f"{name}_std": size.std}
    for name in ("labels_asked", "seconds"):
        result[f"{name}_mean"] = float(np.mean(row.values(name)))
    first = row.runs[0].history
    result["measures"] = {k: {"mean": v.mean, "std": v.std} for k, v in measures.items()}
    result["history"] = {
        "rounds": first.rounds,
        "kernels": first.kernels,
        **means(("error", *sizes, "labels_asked", "kernel_weights")),
        "measures": means(row.measures),
    }
    result["runs"] = [
        {
            "error": scaled("error", run.error),
            "measures": {name: scaled(name, value) for name, value in run.measures.items()},
            **{name: getattr(run, name) for name in (*sizes, "labels_asked", "seconds")},
            "kernel_weights": run.history.kernel_weights[-1],
        }
        for run in row.runs
    ]
    return result | row.horizons()
