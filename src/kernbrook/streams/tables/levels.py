"""When two cells are one level: however a program writes a value, it is the same value.

Numbers go by value: 1, 1.0 and 1e0 are one level, and so are 0.5 and 0.50. What whole numbers are
is told exactly, however long they are; others are 64-bit floats, unless they have more digits than
such a float is written with. true, True and TRUE are one level. All other text is itself.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileWarning
from kernbrook.streams import limits
from kernbrook.streams.booleans import BOOLEANS
from kernbrook.streams.records import is_number, quoted
from kernbrook.telling import tell

_WHOLE = re.compile(r"([+-]?)0*+(\d*+)(\.0*+)?", re.ASCII)  # ++ and *+ give nothing back
_CODE = re.compile(r"[+-]?0\d+", re.ASCII)  # no program writes a number so
_MOST_TOLD = 10  # columns
_MOST_SHOWN = 3  # values
_MOST_OTHERS = 100  # values that are no declared level: the first ones are kept
_MANY = 0.01  # of the rows: so many others are said
_DIGITS_OF_FLOATS = 15  # so many digits come back from a 64-bit float as they were


def as_value(text: str) -> str:
    """How a value is written here, of all the ways in which it could have been written.

    Examples
    --------
    >>> [as_value(text) for text in ("1.0", "1e0", "+1", "-0", "0.50", "TRUE", "a 1.0")]
    ['1', '1', '1', '0', '0.5', 'True', 'a 1.0']
    >>> as_value("9007199254740993.00")
    '9007199254740993'
    """
    if not is_number(text):
        return BOOLEANS.get(text, text)
    if whole := _WHOLE.fullmatch(text):
        return whole[1].strip("+") + whole[2] if whole[2] else "0"
    number = float(text)
    if math.isinf(number):
        return f"{number}" if text.lower().strip("+-").startswith("inf") else text
    mantissa = text.lower().partition("e")[0]
    digits = re.sub(r"\D", "", mantissa).lstrip("0")
    if number and len(digits) > _DIGITS_OF_FLOATS and digits != _digits(number, len(digits)):
        return f"{Decimal(text):f}".rstrip("0")
    return f"{number + 0.0:.0f}" if number.is_integer() else repr(number)


def _digits(number: float, count: int) -> str:
    """So many digits of what a float is, exactly."""
    return re.sub(r"\D", "", f"{number:.{count - 1}e}".partition("e")[0])


def in_text(text: str, decimal: str) -> str:
    """`as_value` of a cell that comes as text, with that mark before the fraction of numbers."""
    if decimal == ".":
        return as_value(text)
    marked = text.replace(".", "?").replace(decimal, ".")
    return as_value(marked) if is_number(marked) else BOOLEANS.get(text, text)


def hashed_as(text: str, value: str) -> str:
    """What is hashed: the value, but for digits after a 0, such as 007, which are no number."""
    return text if _CODE.fullmatch(text) else value


@lru_cache(maxsize=4096)
def places(levels: tuple[str, ...], decimal: str) -> tuple[dict[str, int], dict[str, int]]:
    """The number of each level by its text, and by its value where the value is of one alone.

    Of several levels of one value, such as "1" and "01", the value is the one that is written as
    the value is; where none is, it is none of them.
    """
    by_text = {level: i for i, level in enumerate(levels)}
    values = [in_text(level, decimal) for level in levels]
    values = [as_value(value) for value in values]  # declared with a point
    times = Counter(values)
    by_value = {v: i for i, v in enumerate(values) if times[v] == 1}
    return by_text, by_value | {v: by_text[v] for v in values if v in by_text}


@dataclass
class LevelCounts:
    """How often each declared level of a column came.

    Attributes
    ----------
    column : name
    levels : as they were declared
    counts : (levels + 1,) rows with each, those with others last
    others : the first values that are none of them, 100 at most
    expected : whether all levels should come: not where the file itself declares them, nor where
        a model only predicts
    """

    column: str
    levels: tuple[str, ...]
    counts: NDArray[np.int64]
    others: list[str] = field(default_factory=list)
    expected: bool = True

    def add(self, place: NDArray[np.int64], times: NDArray[np.int64], others: list[str]) -> None:
        """Count rows: of the level at each place so many, and what the first others are."""
        np.add.at(self.counts, place, times)
        if others and len(self.others) < _MOST_OTHERS:
            cut = (other[: limits.LONGEST_LABEL] for other in others)
            self.others = list(dict.fromkeys([*self.others, *cut]))[:_MOST_OTHERS]

    def join(self, more: LevelCounts) -> None:
        """Count the rows of another part of the data, too."""
        self.add(np.arange(len(self.counts)), more.counts, more.others)

    def described(self) -> dict[str, Any]:
        """The same as values with names, for a file."""
        return {
            "column": self.column, "levels": self.levels, "counts": self.counts[:-1],
            "others": self.counts[-1], "first_others": self.others,
        }  # fmt: skip

    def told(self) -> str:
        """What is odd, in a sentence: many others, and levels that never came; else empty.

        Examples
        --------
        >>> LevelCounts("net", ("DSL", "Fiber"), np.array([3, 0, 1]), ["Fiber optic"]).told()
        "'net': other values than the declared levels in 1 of 4 rows (25.0 %), such as \
'Fiber optic'; 'Fiber' (is it 'Fiber optic'?) never came"
        """
        rows, n_others = int(self.counts.sum()), int(self.counts[-1])
        never = [level for level, n in zip(self.levels, self.counts, strict=False) if not n]
        parts = []
        missed = bool(never and rows and (n_others or self.expected))
        if n_others and (missed or n_others >= _MANY * rows):
            share = f"{n_others:,} of {rows:,} rows ({100 * n_others / rows:.1f} %)"
            came = [level for level, n in zip(self.levels, self.counts, strict=False) if n]
            such = ", ".join(_with_near(other, came) for other in self.others[:_MOST_SHOWN])
            parts.append(f"other values than the declared levels in {share}, such as {such}")
        if missed:
            shown = ", ".join(_with_near(level, self.others) for level in never[:5])
            parts.append(f"{shown}{f' and {len(never) - 5:,} more' * (len(never) > 5)} never came")
        return f"{quoted(self.column)}: {'; '.join(parts)}" if parts else ""


def _with_near(value: str, known: Sequence[str]) -> str:
    """A value, and which of the known ones it may be with a typing error in it."""
    near = get_close_matches(value, known, n=1)
    return f"{quoted(value)} (is it {quoted(near[0])}?)" if near else quoted(value)


def together(counts: Sequence[LevelCounts], more: Sequence[LevelCounts]) -> Sequence[LevelCounts]:
    """The counts of two parts of a table, or of one where the other has none."""
    for mine, theirs in zip(counts, more, strict=False):
        mine.join(theirs)
    return counts or more


def warn_of(counts: Iterable[LevelCounts], name: str) -> None:
    """Warn of what `told_of` says of data of a name."""
    for told in told_of(counts):
        tell(DataFileWarning(name, told))


def told_of(counts: Iterable[LevelCounts]) -> list[str]:
    """What is odd about the levels of all columns, a sentence each; of very many the first."""
    lines = [line for one in counts if (line := one.told())]
    more = len(lines) - _MOST_TOLD
    return [*lines[:_MOST_TOLD], f"and so in {more:,} more columns"] if more > 0 else lines
