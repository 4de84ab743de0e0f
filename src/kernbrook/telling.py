"""What is said in warnings, at the line that called; of data that were read, one for a call."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kernbrook.errors import DataFileWarning, KernbrookWarning

_met: ContextVar[list[DataFileWarning] | None] = ContextVar("met", default=None)
_INSIDE = ("kernbrook", "contextlib")


def tell(*found: DataFileWarning) -> None:
    """Warn, at the line outside of the package that has called it, or where `at_once` ends."""
    pending = _met.get()
    if pending is not None:
        pending += found
        return
    for warning in found:
        warnings.warn(warning, stacklevel=calls_inside())


@contextmanager
def at_once() -> Iterator[None]:
    """What is told here is one warning, where this ends; in another such part, where that ends."""
    if _met.get() is not None:
        yield
        return
    pending: list[DataFileWarning] = []
    token = _met.set(pending)
    try:
        yield
    finally:
        _met.reset(token)
        tell(*DataFileWarning.together(pending))


def in_words(message: Warning | str, category: type[Warning]) -> list[str]:
    """A warning as lines like those of errors, with no path and no line of code."""
    others = "" if issubclass(category, KernbrookWarning) else f" ({category.__name__})"
    parts = getattr(message, "parts", [message])
    return [f"kernbrook: {' '.join(str(part).split())}{others}" for part in parts]


def calls_inside() -> int:
    """How far above whoever asks the line outside of the package is, as `warnings.warn` counts."""
    frame, level = sys._getframe(1), 1
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE
    ):
        frame, level = frame.f_back, level + 1
    return level
