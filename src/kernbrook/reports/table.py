"""Tables whose cells stay values until written: on a terminal, on a page, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from kernbrook.errors import printable
from kernbrook.reports.words import plain
from kernbrook.results import Cell, Curve, Estimate, Measure, Results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Group, JustifyMethod
    from rich.table import Table as RichTable


Kind = Literal["text", "number", "code", "long", "bar"]
GAP = 2  # blanks between columns
BAR = 16  # columns that a bar of 1 takes on a terminal
DECADES = {
    100: "100", 1000: "1k", 10**4: "10k", 10**5: "100k", 10**6: "1M", 10**7: "10M",
}  # fmt: skip
ROUGHER = 2  # how often a table can be made rougher before columns go


@dataclass(frozen=True)
class Column:
    """A column of a `Table`.

    Attributes
    ----------
    header : its heading
    values : one a row: numbers, texts, estimates; None where there is nothing
    form : how a value that is no estimate is written
    digits : of estimates, behind the point
    kind : how it is shown: "code" stays on one line, "long" breaks anywhere, the values of a "bar"
        are between 0 and 1
    marks : what stands behind each value, such as "*"; none where empty
    group : heading above this column and those that follow with the same one
    rough : how much it can lose where room is short: 1 decimals, 2 deviations too
    spare : where room is short the column with the greatest goes first; one with 0 stays

    Examples
    --------
    >>> Column("error", (Estimate(9.5, 1.25), Estimate(16.25, 10.5), None)).texts()
    [' 9.50 ± 1.25 ', '16.25 ± 10.50', '             ']
    >>> Column("rows", (1000, None), "{:,}".format, marks=("*", "")).texts()
    ['1,000*', '      ']
    """

    header: str
    values: tuple[Any, ...]
    form: Callable[[Any], str] = str
    digits: int = 2
    kind: Kind = "number"
    marks: tuple[str, ...] = ()
    group: str = ""
    rough: int = 0
    spare: int = 0

    def texts(self) -> list[str]:
        """The cells as they are written; of numbers all of one width, signs under each other."""
        estimates = [v if isinstance(v, Estimate) else None for v in self.values]
        heads = [
            fixed(e.mean, self.digits) if e else "" if v is None else self.form(v)
            for e, v in zip(estimates, self.values, strict=True)
        ]
        if self.kind != "number":
            return heads
        tails = [
            f" ± {fixed(e.std, self.digits)}" if e and e.std is not None else "" for e in estimates
        ]
        marks = self.marks or ("",) * len(heads)
        head, tail, mark = (max(map(len, parts), default=0) for parts in (heads, tails, marks))
        return [
            f"{h:>{head}}{t:<{tail}}{m:<{mark}}"
            for h, t, m in zip(heads, tails, marks, strict=True)
        ]

    def rougher(self, times: int) -> Column:
        times = min(times, self.rough)
        values = self.values
        if times > 1:
            values = tuple(replace(v, std=None) if isinstance(v, Estimate) else v for v in values)
        return replace(self, values=values, digits=0 if times else self.digits)


@dataclass(frozen=True)
class Table:
    """A table of a report: columns of one length.

    Attributes
    ----------
    columns : the first one names the rows
    groups : of each row, the name above it and its neighbours of the same group; none where empty
    strong : numbers, from 0, of the rows to emphasise
    notes : lines below
    title : above

    Examples
    --------
    >>> from kernbrook.reports import Column, Table
    >>> names, errors = Column("recipe", ("spa", "bpas"), kind="text"), Column("error", (9.5, 12.0))
    >>> Table((names, errors), strong=frozenset({0}), title="two recipes").lines()[0]
    [['spa', ' 9.5'], ['bpas', '12.0']]
    """

    columns: tuple[Column, ...]
    groups: tuple[str, ...] = ()
    strong: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    title: str = ""

    def lines(self) -> tuple[list[list[str]], list[int]]:
        """The rows as texts, those that only name a group among them, and the numbers of these."""
        rows: list[list[str]] = []
        heads: list[int] = []
        for place, row in enumerate(zip(*(c.texts() for c in self.columns), strict=True)):
            cells = list(row)
            if self.groups:
                if place == 0 or self.groups[place] != self.groups[place - 1]:
                    heads.append(len(rows))
                    rows.append([self.groups[place], *[""] * (len(cells) - 1)])
                cells[0] = f"  {cells[0]}"
            rows.append(cells)
        return rows, heads

    def emphasised(self) -> frozenset[int]:
        """Numbers of the lines to emphasise: strong rows, and the names of groups."""
        lines, heads = self.lines()
        places = [i for i in range(len(lines)) if i not in heads]
        return frozenset(heads) | {places[i] for i in self.strong}

    def headers(self) -> list[str]:
        """Of the columns; the name of a group stands above the first of its columns."""
        two, before, found = any(column.group for column in self.columns), "", []
        for column in self.columns:
            above = column.group if column.group != before else ""
            found.append(f"{above}\n{column.header}" if two else column.header)
            before = column.group
        return found

    def width(self) -> int:
        return sum(self.widths()) + GAP * (len(self.columns) - 1)

    def widths(self) -> list[int]:
        from rich.cells import cell_len

        rows = [*zip(*(header.split("\n") for header in self.headers()), strict=True)]
        rows += map(tuple, self.lines()[0])
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        return [
            max(width, BAR) if column.kind == "bar" else width
            for column, width in zip(self.columns, widths, strict=True)
        ]

    def within(self, width: int) -> Table:
        """The same, narrower as far as it takes and goes: first rougher, then fewer columns."""
        table = self
        if not self.columns:
            return table
        for times in range(1, ROUGHER + 1):
            if table.width() <= width:
                return table
            table = replace(self, columns=tuple(c.rougher(times) for c in self.columns))
        for spare in sorted({c.spare for c in self.columns} - {0}, reverse=True):
            if table.width() <= width:
                return table
            table = replace(table, columns=tuple(c for c in table.columns if c.spare < spare))
        return table


def fixed(value: float, digits: int) -> str:
    """A number with so many decimals; with an exponent where it would take ten digits or more."""
    return f"{value:.{digits}f}" if abs(value) < 10.0 ** (9 - digits) else f"{value:.2e}"


def seconds(value: float) -> str:
    """Seconds with three significant digits, never in exponents.

    Examples
    --------
    >>> seconds(0.01234), seconds(1.5), seconds(321.5)
    ('0.012', '1.50', '322')
    """
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


FORMS: dict[str, Callable[[Any], str]] = {"seconds": seconds, "count": "{:,.0f}".format}


def written_by(measure: Measure) -> Callable[[Any], str]:
    """How a number of a measure is written."""
    return FORMS.get(measure.form) or f"{{:.{measure.digits}f}}".format


def of_cells(
    cells: Sequence[Cell], measure: Measure, show: str = "printed ours difference", **looks: Any
) -> list[Column]:
    """Columns of a measure: printed, ours, and how they differ, as far as anything is printed.

    show : of the words printed, ours, difference (in the measure's unit), percent and ratio
    looks : of every column, such as rough and spare

    Behind a difference, or behind ours where none is shown, stands a `!` where ours is more than
    two printed deviations away, and a `~` where it is within these, but further away than two
    deviations of the difference of the means.
    """
    name, every = measure.name, any(measure.name in cell.printed for cell in cells)
    words = [word for word in show.split() if every or word == "ours"]
    marks = tuple(agreement(cell, measure) for cell in cells)
    marked = next((word for word in reversed(words) if word in ("difference", "percent")), "ours")
    signed = f"{{:+.{measure.digits}f}}".format
    kinds: dict[str, tuple[str, Callable[[Cell], Any], Callable[[Any], str]]] = {
        "printed": ("printed", lambda cell: cell.printed.get(name), str),
        "ours": ("ours", lambda cell: cell.ours.get(name), str),
        "difference": ("diff.", lambda cell: cell.difference(name), signed),
        "percent": ("diff. %", lambda cell: _relative(cell, name), _percent),
        "ratio": ("ratio", lambda cell: _relative(cell, name), "{:.2f}".format),
    }
    columns = []
    for word in words:
        header, value, form = kinds[word]
        values = [value(cell) for cell in cells]
        if form is str and measure.form in FORMS:
            values, form = [estimate and estimate.mean for estimate in values], FORMS[measure.form]
        columns.append(
            Column(
                measure.header if words == ["ours"] else header,
                tuple(values),
                form,
                measure.digits,
                marks=marks if word == marked and any(marks) else (),
                group="" if words == ["ours"] else measure.header,
                **looks,
            )
        )
    return columns


def at_decades(curves: Sequence[Curve], form: Callable[[Any], str], group: str) -> list[Column]:
    """Columns of curves, one a row, at those powers of ten from 100 at which any has a value."""
    columns = [
        Column(name, tuple(curve.at(n) for curve in curves), form, group=group)
        for n, name in DECADES.items()
    ]
    return [column for column in columns if any(value is not None for value in column.values)]


LEAST = 0.0005  # weights that are 0.001 or more as they are written


def by_weight(
    noun: str,
    names: Sequence[str],
    weights: Sequence[float],
    most: int,
    more: Mapping[str, Sequence[float]] | None = None,
) -> Table:
    """Things with falling weights, the first of them with bars, and what the others weigh.

    most : so many are shown, or fewer: those that do not weigh nothing
    more : headers of other columns, and what stands there
    """
    shown = max(1, sum(weight >= LEAST for weight in weights[:most]))
    greatest = max(weights[0], 1e-12)
    columns = [
        Column(noun, tuple(names[:shown]), kind="code"),
        Column("weight", tuple(weights[:shown]), "{:.3f}".format),
        Column("", tuple(max(w, 0.0) / greatest for w in weights[:shown]), kind="bar", spare=1),
    ]
    for header, values in (more or {}).items():
        form = "{:,}".format if isinstance(values[0], int) else "{:.2f}".format
        columns.append(Column(header, tuple(values[:shown]), form))
    rest = weights[shown:]
    note = f"... and {len(rest)} more, {100 * sum(rest):.0f} % together"
    return Table(tuple(columns), notes=(note,) if rest else ())


DISAGREES = "! more than two printed deviations away"
DEVIATES = "~ within two printed deviations, but more than two deviations of the means' difference"


def agreement(cell: Cell, measure: Measure) -> str:
    """Whether ours agrees with what is printed, as a mark."""
    if measure.name not in cell.ours:
        return ""
    if cell.near(measure.name, measure.digits) is False:
        return "!"
    return "~" if cell.agrees(measure.name, measure.digits) is False else ""


def agreement_notes(columns: Iterable[Column]) -> list[str]:
    """What the marks mean, of those that stand in a table."""
    seen = set(chain.from_iterable(column.marks for column in columns))
    return [note for note in (DISAGREES, DEVIATES) if note[0] in seen]


def _relative(cell: Cell, name: str) -> float | None:
    printed = cell.printed.get(name)
    return None if printed is None or printed.mean == 0 else cell.mean(name) / printed.mean


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}"


def rendered(table: Table, width: int = 80) -> RichTable:
    """A table for `rich.console.Console.print`, in the house's style.

    Names of groups and strong rows are bold; a blank line stands before each group. Every text goes
    in as `Text`: names are never read as markup. Numbers are padded here, since rich strips the
    blanks that keep their signs under each other.

    Parameters
    ----------
    table : what to print; a table that is too wide is made narrower, see `Table.within`
    width : columns of the terminal

    Examples
    --------
    >>> from rich.console import Console
    >>> from kernbrook.reports import Column, Table, rendered
    >>> names, errors = Column("recipe", ("spa", "bpas"), kind="text"), Column("error", (9.5, 12.0))
    >>> Console(width=40).print(rendered(Table((names, errors)), width=40))
    recipe  error
    ─────────────
    spa       9.5
    bpas     12.0
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    table = table.within(width)
    result = RichTable(
        title=Text(printable(table.title), style="bold") if table.title else None,
        caption=Text("\n".join(table.notes)),
        title_justify="left",
        caption_justify="left",
        caption_style="",
        header_style="",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, GAP - 1, 0, 0),  # the box adds one blank
    )
    widths = table.widths()
    for header, column in zip(table.headers(), table.columns, strict=True):
        numeric = column.kind == "number"
        justify: JustifyMethod = "right" if numeric else "left"
        # Where room is short it is the names that are cut, not the numbers.
        result.add_column(Text(header, justify=justify), no_wrap=numeric)
    (lines, heads), strong = table.lines(), table.emphasised()
    for place, cells in enumerate(lines):
        padded = [
            _drawn(cell, column.kind, width)
            for cell, column, width in zip(cells, table.columns, widths, strict=True)
        ]
        result.add_row(
            *(Text(cell, overflow="ellipsis", no_wrap=True) for cell in padded),
            style="bold" if place in strong else None,
            end_section=place + 1 in heads,
        )
    return result


def _drawn(cell: str, kind: str, width: int) -> str:
    if kind == "bar":
        return "\N{FULL BLOCK}" * round(BAR * float(cell))
    return cell.rjust(width) if kind == "number" else cell


def facts(lines: Sequence[tuple[str, str]], title: str) -> RichTable:
    """What is said of one thing, a line each: its name and its value."""
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(
        title=Text(printable(title), style="bold"),
        title_justify="left",
        show_header=False,
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column(no_wrap=True)
    for name, value in lines:
        table.add_row(Text(name), Text("\n".join(map(printable, value.split("\n")))))
    return table


def below_each_other(tables: Sequence[Table], width: int = 80) -> Group:
    """Tables for `rich.console.Console.print`, a blank line between two of them.

    Parameters
    ----------
    tables, width : as `rendered` has them

    Examples
    --------
    >>> from rich.console import Console
    >>> from kernbrook.reports import Column, Table, below_each_other
    >>> tables = [Table((Column("error", (number,)),)) for number in (9.5, 12.0)]
    >>> Console(width=40).print(below_each_other(tables, width=40))
    error
    ─────
      9.5
    <BLANKLINE>
    error
    ─────
     12.0
    """
    from rich.console import Group

    shown = [part for table in tables for part in ("", rendered(table, width))]
    return Group(*shown[1:])


def results_json(results: Results) -> dict[str, Any]:
    """Results as plain values that `json.dumps(..., allow_nan=False)` takes.

    Parameters
    ----------
    results : of `kernbrook.papers.reproduce`, or of a comparison; the keys are its attributes

    Examples
    --------
    >>> import kernbrook as kb
    >>> results = kb.compare("wdbc:90", ["majority"], permutations=2, jobs=1).results()
    >>> results_json(results)["cells"][0]["ours"]["error"]["runs"]
    2
    """
    return dict(plain(asdict(results)))
