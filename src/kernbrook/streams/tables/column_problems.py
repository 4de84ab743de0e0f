"""What is wrong with a value of a table, and the options that help."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from kernbrook.errors import InputError, printable

DATE_PARTS = ("days", "hour", "weekday", "yearday")
CYCLES = DATE_PARTS[1:]


class ValueProblem(InputError):
    """A value of a column that cannot be encoded.

    Parameters
    ----------
    row : of the chunk, from 0
    found : what was expected and what was found
    is_text : whether text was found, which may be a label
    written : the options, and their values, that say how values are written
    declared : those that say what the column becomes, which a model keeps
    question : what it may be, before these options
    """

    def __init__(
        self,
        row: int,
        found: str,
        is_text: bool = False,
        written: Sequence[str] = (),
        declared: Sequence[str] = (),
        question: str = "",
    ):
        self.row = row
        self.found = found
        self.is_text = is_text
        self.written = list(written)
        self.declared = list(declared)
        self.question = question
        self.problem = self.told()
        super().__init__(self.problem)

    def told(self, trained: bool = False) -> str:
        """The problem and what helps; once a model is trained, what its columns become is fixed."""
        if not (self.written or self.declared):
            return self.found
        if not (trained and self.declared):
            return f"{self.found}; {self.question}{' or '.join(self.written + self.declared)}"
        now = " or ".join(self.written) or "mend it"
        return f"{self.found}; {now}, or train again with {' or '.join(self.declared)}"


def option(name: str, value: str, given: str = "") -> str:
    """A parameter and how the command line is told it.

    Parameters
    ----------
    name : of the parameter
    value : the name of a column
    given : what is said of the column

    Examples
    --------
    >>> option("drop", "my column")
    "drop (--drop 'my column')"
    >>> option("dates", "when", "=%d.%m.%Y")
    'dates (--dates when=%d.%m.%Y)'
    """
    told = argument(value, given)
    return f"{name} (--{name}{'=' if told.startswith('-') else ' '}{told})"


def argument(name: str, given: str = "") -> str:
    """The name of a column as the command line takes it, and what is said of it."""
    return f"{shlex.quote(listed(printable(name)) + given):.1000}"


def listed(value: str) -> str:
    """A value as it is written between commas."""
    if any(mark in value for mark in ',"=') or value != value.strip():
        return '"' + value.replace('"', '""') + '"'
    return value


def missing_value(row: int, column: str) -> ValueProblem:
    """What is wrong where a value is missing, and what helps."""
    ways = ["missing (--missing mean, last or indicator)", option("drop", column)]
    return ValueProblem(row, "missing value", declared=ways)


def date_ways(column: str) -> list[str]:
    """What to do about a date in a column of numbers."""
    return [option("dates", column), option("drop", column)]


def date_option(column: str, parts: tuple[str, ...], formats: Sequence[str]) -> str:
    """How to declare the format of a column, by one of these."""
    kept = [] if parts == CYCLES else list(parts)
    given = [argument(column, "=" + ",".join([*kept, listed(one)])) for one in formats]
    return f"dates (--dates {' or '.join(given)})"
