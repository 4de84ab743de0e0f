"""Warnings at the line that called; warnings about data that a call has read become one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kernbrook.errors import DataFileWarning, KernbrookWarning

_pending: ContextVar[list[DataFileWarning] | None] = ContextVar("met", default=None)
_INSIDE = ("kernbrook", "contextlib")


def warn_caller(*found: DataFileWarning) -> None:
    """Warn at the line outside of the package that called, or where `warnings_together` ends."""
    pending = _pending.get()
    if pending is not None:
        pending += found
        return
    for warning in found:
        warnings.warn(warning, stacklevel=calls_inside())


@contextmanager
def warnings_together() -> Iterator[None]:
    """Warnings in this block become one, at its end; in another such block, at the end of that."""
    if _pending.get() is not None:
        yield
        return
    pending: list[DataFileWarning] = []
    token = _pending.set(pending)
    try:
        yield
    finally:
        _pending.reset(token)
        warn_caller(*DataFileWarning.together(pending))


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
