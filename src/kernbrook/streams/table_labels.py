"""Labels of tables: what they may be, and what is said where one is not."""

from __future__ import annotations

import re
import shlex

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import printable
from kernbrook.streams import limits

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


def or_the_label(column: str) -> str:
    """What to add where text stands in a column of features, and the label was not named."""
    name = f"{shlex.quote(printable(column)):.1000}"
    return f", or is it the label? --label{'=' if name.startswith('-') else ' '}{name}"
