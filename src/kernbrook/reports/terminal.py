"""Tables on a terminal; they fit 80 columns and lose nothing without colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernbrook.errors import printable
from kernbrook.reports.table import BAR, GAP, Table

if TYPE_CHECKING:
    from rich.console import Group, JustifyMethod
    from rich.table import Table as RichTable


def rendered(table: Table, width: int = 80) -> RichTable:
    """A table for `rich.console.Console.print`, in the house's style.

    Names of groups and strong rows are bold; a blank line stands before each group. Where it would
    be wider than `width` it is made narrower, see `Table.within`. Every text goes in as `Text`:
    names are never read as markup. Numbers are padded here, since rich strips the blanks that keep
    their signs under each other.
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
    """A cell as the terminal shows it."""
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
    for what, value in lines:
        table.add_row(Text(what), Text("\n".join(map(printable, value.split("\n")))))
    return table


def below_each_other(tables: Sequence[Table], width: int = 80) -> Group:
    """Several tables, a blank line between them."""
    from rich.console import Group

    shown = [part for table in tables for part in ("", rendered(table, width))]
    return Group(*shown[1:])
