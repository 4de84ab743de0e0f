"""The first use on a machine: at a terminal, one line says what takes so long.

`KERNBROOK_QUIET=1` in the environment turns the line off.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

WORTH = 1.0  # seconds of compiling before the line
LINE = "kernbrook: compiling for this machine, once; it can take half a minute"


class FirstUse(event.Listener):
    """Hears what numba compiles, and counts the seconds that functions of this package take.

    Attributes
    ----------
    kind : class of the functions that count
    seconds : of compiling so far in this process
    reported : whether the line was written
    """

    def __init__(self, kind: type) -> None:
        self.kind, self.seconds, self.reported = kind, 0.0, False
        self._depth, self._begun, self._others = 0, 0.0, 0

    def on_start(self, happened: Any) -> None:
        if self._depth == 0:
            self._begun = time.monotonic()
        self._depth += 1

    def on_end(self, happened: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and isinstance(happened.data["dispatcher"], self.kind):
            self.seconds += time.monotonic() - self._begun
            if self.seconds >= WORTH and not (self.reported or self._others):
                self.reported = True
                if has_reader():
                    print(LINE, file=sys.stderr, flush=True)

    @contextmanager
    def reported_by_others(self) -> Iterator[None]:
        """Meanwhile somebody else says how far compiling is."""
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1


def has_reader() -> bool:
    """Whether somebody reads the line: at a terminal, in a process that no other has started."""
    if os.environ.get("KERNBROOK_QUIET") or multiprocessing.parent_process() is not None:
        return False
    return sys.stderr is not None and sys.stderr.isatty()
