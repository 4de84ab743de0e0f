"""Checks of parameters: each returns a parameter of `owner`, or raises what names the two."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from kernbrook.errors import InputError

SMALLEST, LARGEST = 1e-100, 1e100  # sizes of numbers that can be multiplied and divided by
MOST = 10**8  # of what is counted or kept in memory: more than any has room for


def is_number(value: Any) -> bool:
    """As Python has it: True is one."""
    return isinstance(value, (int, float, np.integer, np.floating))


def is_whole(value: Any) -> bool:
    """As Python has it: True is, 2.0 is not."""
    return isinstance(value, (int, np.integer))


def shown(value: Any) -> str:
    """What an error says was found: its repr in one line, cut short.

    Examples
    --------
    >>> print(shown("3"), shown(np.arange(4.0).reshape(2, 2)))
    '3' array([[0., 1.], [2., 3.]])
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # integers of thousands of digits have none
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:99]}…"


def refusal(owner: Any, name: str, wanted: str) -> InputError:
    """The error for a parameter that must `wanted`.

    Examples
    --------
    >>> from kernbrook.learners import BPAS
    >>> refusal(BPAS(budget=0), "budget", "be an integer from 1")
    InputError('BPAS: budget must be an integer from 1, got 0')
    """
    found = shown(getattr(owner, name))
    return InputError(f"{type(owner).__name__}: {name} must {wanted}, got {found}")


def number(
    owner: Any, name: str, least: float, most: float = math.inf, kind: str = "a finite number"
) -> float:
    """A finite number in [least, most]; no bool."""
    value = getattr(owner, name)
    fits = is_number(value) and not isinstance(value, bool)
    if not fits or not least <= value <= most or not value < math.inf:
        bounds = f"from {least:g}" + ("" if most == math.inf else f" to {most:g}")
        raise refusal(owner, name, f"be {kind} {bounds}")
    return _sized(owner, name)


def positive(owner: Any, name: str, kind: str = "a positive number") -> float:
    """A finite number above 0."""
    value = getattr(owner, name)
    if not is_number(value) or not 0 < value < math.inf:
        raise refusal(owner, name, f"be {kind}")
    return _sized(owner, name)


def non_negative(owner: Any, name: str) -> float:
    """A finite number from 0."""
    value = getattr(owner, name)
    if not is_number(value) or not 0 <= value < math.inf:
        raise refusal(owner, name, "be a non-negative number")
    return _sized(owner, name)


def _sized(owner: Any, name: str) -> float:
    """A number that is 0, or neither so small nor so large that what follows overflows."""
    value = getattr(owner, name)
    value = value.item() if isinstance(value, np.generic) else value  # float32 has no 1e100
    if value != 0 and not SMALLEST <= abs(value) <= LARGEST:
        raise refusal(owner, name, f"be of a size from {SMALLEST:g} to {LARGEST:g}")
    return float(value)


def share(owner: Any, name: str, interval: str) -> float:
    """A number from 0 to 1, each of them only where the interval, such as "(0, 1]", has it."""
    value = getattr(owner, name)
    fits = is_number(value) and 0 <= value <= 1
    if not fits or (value == 0 and interval[0] == "(") or (value == 1 and interval[-1] == ")"):
        raise refusal(owner, name, f"lie in {interval}")
    return float(value)


def whole_number(owner: Any, name: str, most: int = MOST) -> int:
    """An integer in [1, most]; no bool."""
    value = getattr(owner, name)
    if not is_whole(value) or isinstance(value, bool) or not 1 <= value <= most:
        raise refusal(owner, name, f"be an integer from 1 to {most:,}")
    return int(value)


def one_of(owner: Any, name: str, known: Collection[str]) -> str:
    """One of the known names."""
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in known:
        two = len(known) == 2
        wanted = " or ".join(map(repr, known)) if two else f"one of {', '.join(known)}"
        raise refusal(owner, name, f"be {wanted}")
    return value


def flag(owner: Any, name: str) -> bool:
    """True or False; no number."""
    value = getattr(owner, name)
    if not isinstance(value, (bool, np.bool_)):
        raise refusal(owner, name, "be True or False")
    return bool(value)
