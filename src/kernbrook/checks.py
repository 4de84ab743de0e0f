"""Checks of parameters: each returns a parameter of `owner`, or raises what names the two."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from kernbrook.errors import InputError


def is_number(value: Any) -> bool:
    """As Python has it: True is one."""
    return isinstance(value, (int, float, np.number))


def is_whole(value: Any) -> bool:
    """As Python has it: True is, 2.0 is not."""
    return isinstance(value, (int, np.integer))


def refusal(owner: Any, name: str, wanted: str) -> InputError:
    """The error for a parameter that must `wanted`.

    Examples
    --------
    >>> from kernbrook.learners import BPAS
    >>> refusal(BPAS(budget=0), "budget", "be an integer from 1")
    InputError('BPAS: budget must be an integer from 1, got 0')
    """
    return InputError(f"{type(owner).__name__}: {name} must {wanted}, got {getattr(owner, name)!r}")


def number(
    owner: Any, name: str, least: float, most: float = math.inf, kind: str = "a finite number"
) -> float:
    """A finite number in [least, most]; no bool."""
    value = getattr(owner, name)
    fits = is_number(value) and not isinstance(value, bool)
    if not fits or not least <= value <= most or not math.isfinite(value):
        bounds = f"from {least:g}" + ("" if most == math.inf else f" to {most:g}")
        raise refusal(owner, name, f"be {kind} {bounds}")
    return float(value)


def positive(owner: Any, name: str, kind: str = "a positive number") -> float:
    """A finite number above 0."""
    value = getattr(owner, name)
    if not is_number(value) or not 0 < value < math.inf:
        raise refusal(owner, name, f"be {kind}")
    return float(value)


def non_negative(owner: Any, name: str) -> float:
    """A finite number from 0."""
    value = getattr(owner, name)
    if not is_number(value) or not 0 <= value < math.inf:
        raise refusal(owner, name, "be a non-negative number")
    return float(value)


def share(owner: Any, name: str, interval: str) -> float:
    """A number from 0 to 1, each of them only where the interval, such as "(0, 1]", has it."""
    value = getattr(owner, name)
    fits = is_number(value) and 0 <= value <= 1
    if not fits or (value == 0 and interval[0] == "(") or (value == 1 and interval[-1] == ")"):
        raise refusal(owner, name, f"lie in {interval}")
    return float(value)


def whole_number(owner: Any, name: str, most: float = math.inf) -> int:
    """An integer in [1, most]; no bool."""
    value = getattr(owner, name)
    if not is_whole(value) or isinstance(value, bool) or not 1 <= value <= most:
        bounds = "from 1" + ("" if most == math.inf else f" to {most:g}")
        raise refusal(owner, name, f"be an integer {bounds}")
    return int(value)


def one_of(owner: Any, name: str, known: Collection[str]) -> str:
    """One of the known names."""
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in known:
        raise refusal(owner, name, f"be one of {', '.join(known)}")
    return value
