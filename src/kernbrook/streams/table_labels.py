"""Labels of tables: what they may be, and what is said where one is not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import printable
from kernbrook.streams import limits
from kernbrook.streams.csv_header import quoted
from kernbrook.streams.written_numbers import Written

EXACT_INTEGERS = 2.0**53
MISSING_LABEL = "missing value; fill it in, or leave out the row or the column"
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


def all_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all are integers that a float holds."""
    return bool(((numbers == np.rint(numbers)) & (np.abs(numbers) <= EXACT_INTEGERS)).all())


def too_long() -> str:
    """What is wrong with a label beyond the limit."""
    return f"a label of over {limits.LONGEST_LABEL:,} characters"


def is_inexact(text: str, number: float) -> bool:
    """Whether text is an integer, and another one than its float."""
    return _INTEGER.fullmatch(text) is not None and int(text) != number


def inexact(text: str) -> str:
    """What is wrong with such a label."""
    return (
        f"a 64-bit float does not hold {text}: write numbers with a decimal point, and labels with "
        "a letter"
    )


def told_of_labels(
    labels: Collection[str], decimal: str = ".", thousands: str | None = None
) -> list[str]:
    """What has to be said of labels that are taken as text, and are all numbers, it seems."""
    now, helps, odd = Written(decimal, thousands), [], ""
    for label in labels:
        ways = [way for way, _ in now.others(label) if not any(map(str.isalpha, way.unit))]
        if not ways and now.read(label) is None:
            return []
        if ways and not odd:
            odd, helps = label, [way.told_from(now) for way in ways if not way.unit]
    if not odd:
        return []
    ways_out = " or ".join(helps) or "write them as plain numbers, if they are numbers"
    return [f"labels such as {quoted(odd)} are taken as text, not as numbers; {ways_out}"]


def or_the_label(column: str) -> str:
    """What to add where text stands in a column of features, and the label was not named."""
    name = f"{shlex.quote(printable(column)):.1000}"
    return f", or is it the label? --label{'=' if name.startswith('-') else ' '}{name}"
