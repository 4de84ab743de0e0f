"""Tables for the terminal; they fit 80 columns and lose nothing without colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby, islice
from typing import TYPE_CHECKING

from kernbrook.reports.regression import UNIT, error_columns, label_columns
from kernbrook.reports.summary import (
    LABELS_ASKED,
    STAR_NOTE,
    STAR_NOTE_ALONE,
    STUDY_NOTE,
    Column,
    aligned,
    comparison_columns,
    curve_columns,
    headline,
    notes,
    seconds,
    study_columns,
)

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
    bold = [row.recipe in comparison.best for row in comparison.rows]
    return _table(headline(comparison), "\n".join(notes(comparison)) or None, columns, bold)


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
    groups = [(data, list(cells)) for data, cells in groupby(reproduction.cells, lambda c: c.data)]
    layouts = [
        _reproduction_columns(groups, digits, deviations, times)
        for times in (True, False)
        for digits, deviations in ((1, True), (0, True), (1, False), (0, False))
    ]
    columns = _first_that_fits(layouts, width)
    title = f"{reproduction.table}: {reproduction.description}"
    bold = [mark for _, cells in groups for mark in (True, *(cell.best for cell in cells))]
    ends = list(accumulate(len(cells) + 1 for _, cells in groups))
    alone = all(cell.error_std is None for cell in reproduction.cells)
    notes = [STAR_NOTE_ALONE if alone else STAR_NOTE]
    if any(False in (cell.error_agrees, cell.n_support_agrees) for cell in reproduction.cells):
        notes.append("! more than two printed deviations")
    return _table(title, _footer(reproduction, *notes), columns, bold, ends)


def ratio_table(reproduction: TimeReproduction) -> Table:
    """Time ratios in per cent, printed and ours, one row a data set.

    Parameters
    ----------
    reproduction : ratios of one data set stand together

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    groups = [
        (data, {ratio.title: ratio for ratio in ratios})
        for data, ratios in groupby(reproduction.ratios, lambda ratio: ratio.data)
    ]
    columns = [
        Column("data", tuple(data for data, _ in groups)),
        Column("rows", tuple(str(next(iter(g.values())).n_rows) for _, g in groups), "number"),
    ]
    for title in dict.fromkeys(ratio.title for ratio in reproduction.ratios):
        found = [group.get(title) for _, group in groups]
        printed = tuple("" if r is None else f"{r.ratio_printed:.1f}" for r in found)
        ours = tuple("" if r is None else f"{r.ratio:.1f}" for r in found)
        columns += [
            Column(f"{title}\nprinted", printed, "number"),
            Column("\nours", ours, "number"),
        ]
    title = f"{reproduction.table}: {reproduction.description}"
    footer = _footer(reproduction, "time in per cent of the reference algorithm's")
    return _table(title, footer, columns, [False] * len(groups))


def discount_table(reproduction: DiscountCurves) -> Table:
    """Mean mistakes at each discount, and the discount with the fewest, one row an algorithm.

    Parameters
    ----------
    reproduction : of figure 4

    Returns
    -------
    a table for `rich.console.Console.print`
    """
    shown = (0.05, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0)
    names: list[str] = []
    headers = [*(f"{discount:g}" for discount in shown), "best at"]
    numbers: dict[str, list[str]] = {header: [] for header in headers}
    ends = []
    for data, by_title in reproduction.curves.items():
        names += [data, *(f"  {title}" for title in by_title)]
        ends.append(len(names))
        for cells in numbers.values():
            cells.append("")
        for discounts, means, _ in by_title.values():
            at = dict(zip(discounts, means, strict=True))
            for discount in shown:
                numbers[f"{discount:g}"].append(f"{at[discount]:.2f}" if discount in at else "")
            numbers["best at"].append(f"{min(at, key=lambda d: at[d]):g}")
    columns = [Column("algorithm", tuple(names))]
    columns += [Column(header, tuple(cells), "number") for header, cells in numbers.items()]
    title = f"{reproduction.table}: {reproduction.description}"
    heads = {0, *ends[:-1]}
    bold = [place in heads for place in range(len(names))]
    footer = _footer(reproduction, "mean mistakes in per cent; columns: the discount")
    return _table(title, footer, columns, bold, ends)


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
    return _grouped(study, columns, heads, STUDY_NOTE)


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
    groups = [(data, list(cells)) for data, cells in groupby(reproduction.cells, lambda c: c.data)]
    columns = _accuracy_columns(groups)
    narrow = [column for column in columns if column.header not in ("width", "examples")]
    columns = _first_that_fits([columns, narrow], width)
    ends = list(accumulate(len(cells) + 1 for _, cells in groups))
    bold = [place in {0, *ends} for place in range(ends[-1])]
    disagree = any(cell.agrees is False for cell in reproduction.cells)
    notes = ["! more than two printed deviations"] if disagree else []
    title = f"{reproduction.table}: {reproduction.description}"
    return _table(title, _footer(reproduction, *notes), columns, bold, ends)


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
    title = f"{result.table}: {result.description}"
    plain = [False] * len(result.curves)
    return _table(title, _footer(result, what), curve_columns(result), plain)


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
    groups = [(data, list(cells)) for data, cells in groupby(reproduction.cells, lambda c: c.data)]
    ends = list(accumulate(len(cells) + 1 for _, cells in groups))
    bold = [place in {0, *ends} for place in range(ends[-1])]
    title = f"{reproduction.table}: {reproduction.description}"
    footer = _footer(reproduction, "ratio: ours over printed; no deviations are printed")
    columns = _regression_columns(groups)
    untimed = columns[:-1]
    narrow = [column for column in untimed if column.header != "\ndiff."]
    columns = _first_that_fits([columns, untimed, narrow], width)
    return _table(title, footer, columns, bold, ends)


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
    return _grouped(study, columns, heads, *notes)


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
    return _grouped(result, columns, heads)


def _grouped(result: Result, columns: list[Column], heads: list[int], *notes: str) -> Table:
    """A table whose rows in `heads` name those below."""
    ends = [*heads[1:], len(columns[0].cells)]
    bold = [place in heads for place in range(ends[-1])]
    title = f"{result.table}: {result.description}"
    return _table(title, _footer(result, *notes), columns, bold, ends)


def _regression_columns(groups: Sequence[tuple[str, list[RegressionCell]]]) -> list[Column]:
    """Columns of squared errors; each group starts with a line that only names the data set."""
    every = [cell for _, cells in groups for cell in cells]
    column = _in_groups([len(cells) for _, cells in groups])
    names: list[str] = []
    for data, cells in groups:
        names += [data, *(f"  {cell.title}" for cell in cells)]
    errors = [(c.error, c.error_printed) for c in every]
    return [
        Column("algorithm", tuple(names)),
        column(f"{UNIT}\nprinted", [_number(c.error_printed, ".2f") for c in every]),
        column("\nours", aligned([(c.error, c.error_std) for c in every], 2)),
        column("\ndiff.", ["" if b is None else f"{a - b:+.2f}" for a, b in errors]),
        column("\nratio", ["" if b is None else f"{a / b:.2f}" for a, b in errors]),
        column("labels\nprinted", [_number(c.labels_printed, ".2f") for c in every]),
        column("\nours", [f"{c.labels:.2f}" for c in every]),
        column("seconds", [seconds(c.seconds) for c in every]),
    ]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"


def _accuracy_columns(groups: Sequence[tuple[str, list[AccuracyCell]]]) -> list[Column]:
    """Columns of test accuracy; each group starts with a line that only names the data set."""
    every = [cell for _, cells in groups for cell in cells]
    column = _in_groups([len(cells) for _, cells in groups])
    names: list[str] = []
    for data, cells in groups:
        names += [data, *(f"  {cell.title}" for cell in cells)]
    printed = [(c.accuracy_printed, c.accuracy_printed_std) for c in every]
    differences = [f"{c.accuracy - c.accuracy_printed:+.1f}{_mark(c.agrees)}" for c in every]
    of_support = [
        "" if c.n_support_printed is None else f"{c.n_support_printed:.0f}" for c in every
    ]
    return [
        Column("algorithm", tuple(names)),
        column("B", ["" if c.budget is None else str(c.budget) for c in every]),
        column("width", [f"{c.width:g}" for c in every]),
        column("examples", [f"{c.n_rows:,}" for c in every]),
        column("accuracy %\nprinted", aligned(printed, 1)),
        column("\nours", aligned([(c.accuracy, c.accuracy_std) for c in every], 1)),
        column("\ndiff.", differences),
        column("#SV\nprinted", of_support),
        column("\nours", [f"{c.n_support:.0f}" for c in every]),
        column("seconds", [seconds(c.seconds) for c in every]),
    ]


def _in_groups(sizes: Sequence[int]) -> Callable[[str, Sequence[str]], Column]:
    """What makes a column of numbers, with an empty cell before each group."""

    def column(header: str, texts: Sequence[str]) -> Column:
        remaining = iter(texts)
        cells: list[str] = []
        for size in sizes:
            cells += ["", *islice(remaining, size)]
        return Column(header, tuple(cells), "number")

    return column


def _reproduction_columns(
    groups: Sequence[tuple[str, list[Cell]]], digits: int, deviations: bool, times: bool
) -> list[Column]:
    """Columns of a reproduction; each group starts with a line that only names the data set."""
    every = [cell for _, cells in groups for cell in cells]
    column = _in_groups([len(cells) for _, cells in groups])

    def support(pairs: Sequence[tuple[float, float | None]]) -> list[str]:
        return aligned(pairs if deviations else [(mean, None) for mean, _ in pairs], digits)

    names: list[str] = []
    for data, cells in groups:
        names += [data, *(f"  {cell.title}" for cell in cells)]
    printed = aligned([(c.error_printed, c.error_printed_std) for c in every], 2)
    ours = aligned([(c.error, c.error_std) for c in every], 2)
    columns = [
        Column("algorithm", tuple(names)),
        column(
            "mistakes %\nprinted",
            [t + ("*" if c.best_printed else " ") for t, c in zip(printed, every, strict=True)],
        ),
        column("\nours", [t + ("*" if c.best else " ") for t, c in zip(ours, every, strict=True)]),
        column(
            "\ndiff.",
            [f"{c.error - c.error_printed:+.2f}{_mark(c.error_agrees)}" for c in every],
        ),
        column(
            "#SV\nprinted", support([(c.n_support_printed, c.n_support_printed_std) for c in every])
        ),
        column("\nours", support([(c.n_support, c.n_support_std) for c in every])),
        column(
            "\ndiff. %",
            [
                _relative(c.n_support, c.n_support_printed) + _mark(c.n_support_agrees)
                for c in every
            ],
        ),
    ]
    if times and any(c.seconds_printed is not None for c in every):
        columns += [
            column(
                "seconds\nprinted",
                ["" if c.seconds_printed is None else seconds(c.seconds_printed) for c in every],
            ),
            column("\nours", ["" if c.seconds is None else seconds(c.seconds) for c in every]),
        ]
    return columns


def _mark(agrees: bool | None) -> str:
    """What stands behind a difference; blank of the same width where it is small."""
    return "!" if agrees is False else " "


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
    caption: str | None,
    columns: Sequence[Column],
    bold: Sequence[bool],
    ends: Sequence[int] = (),
) -> Table:
    """A table in the house's style, a blank line after each of the rows in `ends`.

    Every text goes in as `Text`: names are never read as markup. Numbers are padded here,
    since rich strips the blanks that keep their signs under each other.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title, style="bold"),
        caption=None if caption is None else Text(caption),
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
    for place, (cells, strong) in enumerate(zip(zip(*padded, strict=True), bold, strict=True)):
        table.add_row(
            *(Text(cell, overflow="ellipsis", no_wrap=True) for cell in cells),
            style="bold" if strong else None,
            end_section=place + 1 in ends,
        )
    return table
