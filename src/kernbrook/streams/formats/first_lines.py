"""What is wrong with the first lines of a CSV file, before a row is read; and the way out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import not_
from typing import NamedTuple

from kernbrook.streams.files.text_files import COMMAS, SEPARATORS

NO_COMMENT = "lines that begin with # are no comments in a CSV file: sed '/^#/d' takes them out"
_OF_R = (
    "has the first column no name, as in what R's write.table writes? Write with row.names=FALSE"
)
_ONE = "is something else between them? sep (--sep)"
_KINDS = {"c", "d", "s", "t", "continuous", "discrete", "string", "text", "time", "basket"}
_CLASS = {"class", "c"}
_ROLES = {*_CLASS, "meta", "m", "ignore", "i", "weight", "w"}


class Line(NamedTuple):
    """The number of a line, and its values."""

    number: int
    cells: list[str]


def oddity(
    rows: Sequence[Line], separator: str, named: bool, is_number: Callable[[str], bool]
) -> tuple[int, str] | None:
    """What is wrong with the first rows, and the number of the line; None where nothing is.

    Parameters
    ----------
    rows : the first ones
    separator : what parts the values
    named : whether somebody has said names of columns
    is_number : whether a value is one
    """
    first, below = rows[0], rows[1:]
    if len(below) > 1 and (told := _orange(rows[:3])):
        return first.number, told
    counts, n = [len(row.cells) for row in rows], len(first.cells)
    if not below or len(set(counts[1:])) > 1 or counts[1] < n:
        return _title(rows)
    more, empty = counts[1] - n, min(map(_empty_at_end, below))
    ends = more or min(empty, _empty_at_end(first))
    if empty >= ends > (named and not more):
        problem = f"expected {n} values, found {counts[1]}; each row" if more else "each line"
        mark = {"\t": r"\t"}.get(separator, separator) * ends
        kind = "a separator" if ends == 1 else f"{ends} separators"
        return below[0].number, f"{problem} ends with {kind}: sed 's/{mark}\\r*$//' cuts it off"
    if not more:
        return None
    has_numbers = [any(map(is_number, row.cells)) for row in below[:2]]
    if more > 1 or first.cells[0].startswith("#") or has_numbers == [False, True]:
        return _title(rows)
    return below[0].number, f"expected {n} values, found {n + 1}; {_OF_R}"


def _empty_at_end(row: Line) -> int:
    """How many values at the end are empty."""
    return sum(1 for _ in takewhile(not_, reversed(row.cells)))


def _title(rows: Sequence[Line]) -> tuple[int, str] | None:
    """Lines that stand before the header: the last rows have more values, and all equally many."""
    counts = [len(row.cells) for row in rows]
    before = max((i + 1 for i, n in enumerate(counts) if n != counts[-1]), default=0)
    if not 0 < before <= len(rows) - 2 or max(counts[:before]) >= counts[-1]:
        return None
    line, last = rows[before].number, rows[before - 1].number
    if all(row.cells[0].startswith("#") for row in rows[:before]):
        way = NO_COMMENT
    else:
        way = f"is that no header? sed 1{f',{last}' * (last > 1)}d takes it out"
    told = f"found {counts[0]} value{'s' * (counts[0] > 1)}, and {counts[-1]} from line {line} on"
    return rows[0].number, f"{told}; {way}"


def one_column(rows: Sequence[tuple[int, str]], by: str) -> str:
    """What is wrong where the first of some rows has one value and is to have more.

    by : what parts the values, in words
    """
    for mark in SEPARATORS:
        if found := _title([Line(number, text.split(mark)) for number, text in rows]):
            return found[1]
    first = rows[0][1].strip()
    parts = {len(text.split()) for _, text in rows}
    hint = f"columns parted by blanks? {COMMAS}" if len(parts) == 1 and parts != {1} else _ONE
    hint = NO_COMMENT if first.startswith("#") else hint
    return f"expected a label and features parted by {by}, found one column, {first!r:.40}; {hint}"


def _orange(rows: Sequence[Line]) -> str:
    """That a table is Orange's, with three lines of header; empty where it is not."""
    names, kinds, roles = (row.cells for row in rows)
    kinds, roles = [kind.lower() for kind in kinds], [role.lower() for role in roles]
    is_one = (
        len(names) == len(kinds) == len(roles) > 1
        and any(roles)
        and not _KINDS.isdisjoint(kinds)
        and all(not kind or kind in _KINDS or " " in kind for kind in kinds)
        and all(word in _ROLES or "=" in word for role in roles for word in role.split())
    )
    if not is_one:
        return ""
    lines = f"{rows[1].number},{rows[2].number}"
    told = (
        f"a table of Orange, whose lines {lines} say kinds and roles: sed {lines}d takes them out"
    )
    own = [name for name, role in zip(names, roles, strict=True) if _CLASS & {*role.split()}]
    return f"{told}; label (--label {shlex.quote(own[0])}) is the class" if own else told
