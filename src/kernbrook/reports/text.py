"""Tables for the terminal; they fit 80 columns and lose nothing without colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernbrook.errors import printable
from kernbrook.reports.regression import UNIT, error_columns, label_columns
from kernbrook.reports.summary import (
    LABELS_ASKED,
    STAR_NOTE,
    STAR_NOTE_ALONE,
    STUDY_NOTE,
    Column,
    Groups,
    aligned,
    comparison_columns,
    curve_columns,
    headline,
    mark,
    notes,
    numbers,
    seconds,
    starred,
    study_columns,
)
from kernbrook.reports.voted import CELL_NOTES, SECONDS_NOTE, voted_columns

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table

    from kernbrook.evaluation.records import Comparison
    from kernbrook.evaluation.regression_records import (
        ErrorCurves,
        LabelStudy,
        RegressionCell,
        RegressionTable,
    )
    from kernbrook.evaluation.reproducing import Result
    from kernbrook.evaluation.reproduction_records import (
        AccuracyCell,
        AccuracyCurves,
        AccuracyTable,
        Cell,
        DiscountCurves,
        ParameterStudy,
        Reproduction,
        TimeReproduction,
    )
    from kernbrook.evaluation.voted_records import VotedTable


def comparison_table(comparison: Comparison, *, width: int = 80) -> Table:
    """A comparison as a table, one row a recipe.

    Mistakes are in per cent, squared errors in a power of ten; means over the permutations ± one
    standard deviation (ddof = 1). Recipes in `comparison.best` are bold and starred. Where the
    table would be wider than `width`, the support vectors lose their decimals; after that the
    algorithms' titles go, and then the counts of labels, whose shares stay.

    Parameters
    ----------
    comparison : at least one row, each with at least one run
    width : columns of the terminal, at least 1

    Returns
    -------
    a table for `rich.console.Console.print`

    Raises
    ------
    InputError
        if there are no rows, or no runs in one of them.
    """
    exact = comparison_columns(comparison)
    rounded = comparison_columns(comparison, support_digits=0)
    shares = [column for column in rounded[1:] if column.header != LABELS_ASKED]
    columns = _first_that_fits([exact, rounded, rounded[1:], shares], width)
    best = [row.recipe in comparison.best for row in comparison.rows]
    return _table(printable(headline(comparison)), "\n".join(notes(comparison)), columns, best=best)


def reproduction_table(reproduction: Reproduction, *, width: int = 80) -> Table:
    """A published table beside our numbers, grouped by data set.

    Differences are ours less printed, in points for the mistakes and in per cent for the
    support vectors; more than two printed deviations have an exclamation mark. A star marks the
    best of each data set, printed and ours. Seconds are shown where the paper prints them. Where
    the table would be wider than `width`, the support vectors lose decimals, then their
    deviations, and after that the seconds go.

    Parameters
    ----------
    reproduction : cells of one data set stand together
    width : columns of the terminal, at least 1

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    cells = reproduction.cells
    groups = Groups((cell.data, cell.title) for cell in cells)
    layouts = [
        _reproduction_columns(groups, cells, digits, deviations, times)
        for times in (True, False)
        for digits, deviations in ((1, True), (0, True), (1, False), (0, False))
    ]
    columns = _first_that_fits(layouts, width)
    alone = all(cell.error_std is None for cell in cells)
    notes = [STAR_NOTE_ALONE if alone else STAR_NOTE]
    if any(False in (cell.error_agrees, cell.n_support_agrees) for cell in cells):
        notes.append("! more than two printed deviations")
    best = [cell.best for cell in cells]
    return _published(reproduction, columns, *notes, heads=groups.heads, best=best)


def ratio_table(reproduction: TimeReproduction) -> Table:
    """Time ratios in per cent, printed and ours, one row a data set.

    Parameters
    ----------
    reproduction : ratios of one data set stand together

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    found = {(ratio.data, ratio.title): ratio for ratio in reproduction.ratios}
    sizes = {ratio.data: ratio.n_rows for ratio in reproduction.ratios}
    columns = [Column("data", tuple(sizes)), numbers("rows", sizes.values())]
    for title in dict.fromkeys(ratio.title for ratio in reproduction.ratios):
        own = [found.get((data, title)) for data in sizes]
        columns += [
            numbers(f"{title}\nprinted", own, lambda r: f"{r.ratio_printed:.1f}"),
            numbers("\nours", own, lambda r: f"{r.ratio:.1f}"),
        ]
    return _published(reproduction, columns, "time in per cent of the reference algorithm's")


def discount_table(reproduction: DiscountCurves) -> Table:
    """Mean mistakes at each discount, and the discount with the fewest, one row an algorithm.

    Parameters
    ----------
    reproduction : of figure 4

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    found = {
        (data, title): dict(zip(discounts, means, strict=True))
        for data, by_title in reproduction.curves.items()
        for title, (discounts, means, _) in by_title.items()
    }
    groups = Groups(found)
    columns = [Column("algorithm", groups.names)]
    for discount in (0.05, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0):
        there = (means.get(discount) for means in found.values())
        columns.append(groups.numbers(f"{discount:g}", there, "{:.2f}".format))
    best = (min(means, key=lambda d: means[d]) for means in found.values())
    columns.append(groups.numbers("best at", best, "{:g}".format))
    note = "mean mistakes in per cent; columns: the discount"
    return _published(reproduction, columns, note, heads=groups.heads)


def study_table(study: ParameterStudy) -> Table:
    """Mistakes, support vectors and seconds at each value of SPA's cap and divisor.

    Parameters
    ----------
    study : of figure 1 of the budget paper

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    columns, heads = study_columns(study)
    return _published(study, columns, STUDY_NOTE, heads=heads)


def accuracy_table(reproduction: AccuracyTable, *, width: int = 80) -> Table:
    """A published table of test accuracy beside ours, grouped by data set.

    Differences are ours less printed, in points; more than two printed deviations have an
    exclamation mark. Where the table would be wider than `width`, the widths and the examples go.

    Parameters
    ----------
    reproduction : cells of one data set stand together
    width : columns of the terminal, at least 1

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    groups = Groups((cell.data, cell.title) for cell in reproduction.cells)
    columns = _accuracy_columns(groups, reproduction.cells)
    narrow = [column for column in columns if column.header not in ("width", "examples")]
    columns = _first_that_fits([columns, narrow], width)
    disagree = any(cell.agrees is False for cell in reproduction.cells)
    notes = ["! more than two printed deviations"] if disagree else []
    return _published(reproduction, columns, *notes, heads=groups.heads)


def curve_table(result: AccuracyCurves) -> Table:
    """Accuracy or seconds after 100, 1,000, ... examples and at the end, one row a curve.

    Parameters
    ----------
    result : of a figure

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    what = {
        "accuracy": "accuracy in per cent of the test part; columns: examples learned from",
        "seconds": "seconds of learning; columns: examples learned from; at the end: accuracy",
    }[result.shown]
    return _published(result, curve_columns(result), what)


def regression_table(reproduction: RegressionTable, *, width: int = 80) -> Table:
    """A published table of squared errors and labels beside ours, grouped by data set.

    Where the table would be wider than `width`, the seconds go, and then the differences.

    Parameters
    ----------
    reproduction : cells of one data set stand together
    width : columns of the terminal, at least 1

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    groups = Groups((cell.data, cell.title) for cell in reproduction.cells)
    columns = _regression_columns(groups, reproduction.cells)
    untimed = columns[:-1]
    narrow = [column for column in untimed if column.header != "\ndiff."]
    columns = _first_that_fits([columns, untimed, narrow], width)
    note = "ratio: ours over printed; no deviations are printed"
    return _published(reproduction, columns, note, heads=groups.heads)


def label_table(study: LabelStudy) -> Table:
    """Labels and errors at each threshold and window of the criterion.

    Parameters
    ----------
    study : of figure 2 of the paper on active learning

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    columns, heads = label_columns(study)
    trivial = [f"{title}: {error:.2f}" for title, error in study.trivial.items()]
    notes = [
        f"labels in per cent, {UNIT}; random: of labels drawn at the same rate; after M labels in "
        "a row not asked for, the next one is",
        "; ".join(trivial),
    ]
    return _published(study, columns, *notes, heads=heads)


def error_table(result: ErrorCurves) -> Table:
    """Squared errors after 100, 1,000, ... rounds and at the end, a row an algorithm.

    Parameters
    ----------
    result : of figure 3 of the paper on active learning

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    columns, heads = error_columns(result)
    return _published(result, columns, heads=heads)


def voted_table(reproduction: VotedTable, *, width: int = 80) -> Table:
    """A published table of errors and support vectors beside ours, by data set and kernels.

    More than two printed deviations have an exclamation mark. Where the table would be wider than
    `width`, the support vectors lose decimals and deviations, then the seconds go, and after that
    the chosen settings.

    Parameters
    ----------
    reproduction : cells of one data set and family stand together
    width : columns of the terminal, at least 1

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    found = [
        voted_columns(reproduction, digits=digits, deviations=deviations)
        for digits, deviations in ((1, True), (0, True), (0, False))
    ]
    layouts, heads = [columns for columns, _ in found], found[0][1]
    untimed = layouts[-1][:-1]
    columns = _first_that_fits([*layouts, untimed, untimed[:-1]], width)
    best = [cell.level == 5 for cell in reproduction.cells]
    notes = (*CELL_NOTES, SECONDS_NOTE)
    return _published(reproduction, columns, *notes, heads=heads, best=best)


def _published(
    result: Result,
    columns: list[Column],
    *notes: str,
    heads: Sequence[int] = (),
    best: Sequence[bool] = (),
) -> Table:
    """The table of a reproduction, with what `_footer` says below; the rest as for `_table`."""
    title = f"{result.table}: {result.description}"
    return _table(title, _footer(result, *notes), columns, heads=heads, best=best)


def _regression_columns(groups: Groups, cells: Sequence[RegressionCell]) -> list[Column]:
    """Columns of squared errors and labels."""
    errors = [(c.error, c.error_printed) for c in cells]
    return [
        Column("algorithm", groups.names),
        groups.numbers(f"{UNIT}\nprinted", (b for _, b in errors), "{:.2f}".format),
        groups.numbers("\nours", aligned([(c.error, c.error_std) for c in cells], 2)),
        groups.numbers("\ndiff.", (None if b is None else f"{a - b:+.2f}" for a, b in errors)),
        groups.numbers("\nratio", (None if b is None else f"{a / b:.2f}" for a, b in errors)),
        groups.numbers("labels\nprinted", (c.labels_printed for c in cells), "{:.2f}".format),
        groups.numbers("\nours", (c.labels for c in cells), "{:.2f}".format),
        groups.numbers("seconds", (c.seconds for c in cells), seconds),
    ]


def _accuracy_columns(groups: Groups, cells: Sequence[AccuracyCell]) -> list[Column]:
    """Columns of test accuracy."""
    printed = [(c.accuracy_printed, c.accuracy_printed_std) for c in cells]
    differences = (f"{c.accuracy - c.accuracy_printed:+.1f}{mark(c.agrees)}" for c in cells)
    return [
        Column("algorithm", groups.names),
        groups.numbers("B", (c.budget for c in cells)),
        groups.numbers("width", (c.width for c in cells), "{:g}".format),
        groups.numbers("examples", (c.n_rows for c in cells), "{:,}".format),
        groups.numbers("accuracy %\nprinted", aligned(printed, 1)),
        groups.numbers("\nours", aligned([(c.accuracy, c.accuracy_std) for c in cells], 1)),
        groups.numbers("\ndiff.", differences),
        groups.numbers("#SV\nprinted", (c.n_support_printed for c in cells), "{:.0f}".format),
        groups.numbers("\nours", (c.n_support for c in cells), "{:.0f}".format),
        groups.numbers("seconds", (c.seconds for c in cells), seconds),
    ]


def _reproduction_columns(
    groups: Groups, cells: Sequence[Cell], digits: int, deviations: bool, times: bool
) -> list[Column]:
    """Columns of mistakes and support vectors."""

    def support(pairs: Sequence[tuple[float, float | None]]) -> list[str]:
        return aligned(pairs if deviations else [(mean, None) for mean, _ in pairs], digits)

    printed = aligned([(c.error_printed, c.error_printed_std) for c in cells], 2)
    ours = aligned([(c.error, c.error_std) for c in cells], 2)
    of_printed = support([(c.n_support_printed, c.n_support_printed_std) for c in cells])
    of_ours = support([(c.n_support, c.n_support_std) for c in cells])
    columns = [
        Column("algorithm", groups.names),
        groups.numbers("mistakes %\nprinted", starred(printed, (c.best_printed for c in cells))),
        groups.numbers("\nours", starred(ours, (c.best for c in cells))),
        groups.numbers(
            "\ndiff.", cells, lambda c: f"{c.error - c.error_printed:+.2f}{mark(c.error_agrees)}"
        ),
        groups.numbers("#SV\nprinted", of_printed),
        groups.numbers("\nours", of_ours),
        groups.numbers(
            "\ndiff. %",
            cells,
            lambda c: _relative(c.n_support, c.n_support_printed) + mark(c.n_support_agrees),
        ),
    ]
    if times and any(c.seconds_printed is not None for c in cells):
        columns += [
            groups.numbers("seconds\nprinted", (c.seconds_printed for c in cells), seconds),
            groups.numbers("\nours", (c.seconds for c in cells), seconds),
        ]
    return columns


def _relative(ours: float, printed: float) -> str:
    """Difference in per cent of what is printed; nothing where that is zero."""
    return "" if printed == 0 else f"{100 * (ours / printed - 1):+.1f}"


def _footer(reproduction: Result, *notes: str) -> str:
    """Notes under a reproduction, the orders of the data, what is not present, remarks."""
    lines = list(notes)
    by_kind: dict[str, list[str]] = {}
    for data, kind in reproduction.permutations_by_data.items():
        by_kind.setdefault(kind, []).append(data)
    if len(by_kind) == 1:
        lines.append(f"permutations: {next(iter(by_kind))}")
    elif by_kind:
        parts = [f"{kind} for {', '.join(names)}" for kind, names in by_kind.items()]
        lines.append(f"permutations: {'; '.join(parts)}")
    if reproduction.missing:
        lines.append(f"not present: {', '.join(reproduction.missing)}")
    return "\n".join([*lines, *getattr(reproduction, "remarks", ())])


GAP = 2


def _first_that_fits(layouts: Sequence[list[Column]], width: int) -> list[Column]:
    """The first layout no wider than `width`, else the last."""
    for columns in layouts:
        if sum(map(_width, columns)) + GAP * (len(columns) - 1) <= width:
            return columns
    return layouts[-1]


def _width(column: Column) -> int:
    from rich.cells import cell_len

    return max(cell_len(text) for text in (*column.header.split("\n"), *column.cells))


def _table(
    title: str,
    caption: str,
    columns: Sequence[Column],
    *,
    heads: Sequence[int] = (),
    best: Sequence[bool] = (),
) -> Table:
    """A table in the house's style.

    The lines in `heads`, which name the rows below, and the `best` rows are bold; a blank line
    stands before each head. Every text goes in as `Text`: names are never read as markup. Numbers
    are padded here, since rich strips the blanks that keep their signs under each other.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title, style="bold"),
        caption=Text(caption),
        title_justify="left",
        caption_justify="left",
        caption_style="",
        header_style="",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, GAP - 1, 0, 0),  # the box adds one blank
    )
    for column in columns:
        numeric = column.kind == "number"
        justify: JustifyMethod = "right" if numeric else "left"
        # Where room is short it is the names that are cut, not the numbers.
        table.add_column(Text(column.header, justify=justify), no_wrap=numeric)
    padded = [
        [cell.rjust(_width(column)) for cell in column.cells]
        if column.kind == "number"
        else column.cells
        for column in columns
    ]
    marks = iter(best)
    for place, cells in enumerate(zip(*padded, strict=True)):
        strong = place in heads or next(marks, False)
        table.add_row(
            *(Text(cell, overflow="ellipsis", no_wrap=True) for cell in cells),
            style="bold" if strong else None,
            end_section=place + 1 in heads,
        )
    return table
