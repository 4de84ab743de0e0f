"""Tables as Markdown, for pages of documentation."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernbrook.reports.table import Table


def markdown(table: Table) -> str:
    """A pipe table and its notes; names of groups and strong rows are bold, the title is left out.

    Examples
    --------
    >>> from kernbrook.reports.table import Column, Table
    >>> names, errors = Column("recipe", ("spa", "a|b"), kind="text"), Column("error", (9.5, 12))
    >>> print(markdown(Table((names, errors), strong=frozenset({0}), notes=("two of them",))))
    | recipe | error |
    |---|---:|
    | **spa** | **9.5** |
    | a\\|b | 12 |
    <BLANKLINE>
    two of them
    """
    if not table.columns:
        return ""
    strong = table.emphasised()
    groups = [column.group for column in table.columns]
    heads = [
        f"{group} {column.header}" if group and column.header != group else column.header
        for group, column in zip(groups, table.columns, strict=True)
    ]
    marks = ["---:" if column.kind == "number" else "---" for column in table.columns]
    lines = [_row(heads), f"|{'|'.join(marks)}|"]
    for place, cells in enumerate(table.lines()[0]):
        texts = [_escaped(cell.strip()) for cell in cells]
        lines.append(_row([f"**{t}**" if t and place in strong else t for t in texts]))
    return "\n".join([*lines, *chain.from_iterable(("", _escaped(note)) for note in table.notes)])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    for sign in "\\|*_<":
        text = text.replace(sign, f"\\{sign}")
    return text
