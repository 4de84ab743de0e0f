"""Work in a forked child with limits: a signal is a finding, and not the end of the fuzz."""

from __future__ import annotations

import json
import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEMORY = 2 << 30  # bytes of address space beyond what there is
SECONDS = 60  # of the processor: something may be compiled


def in_child(work: Callable[[], Any]) -> Any:
    """What the work gives, as JSON; AssertionError where it ends in a signal or an error."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _limit()
            said = {"given": work()}
        except BaseException:
            said = {"error": traceback.format_exc()}
        try:
            with os.fdopen(writing, "w") as pipe:
                json.dump(said, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    assert not os.WIFSIGNALED(status), f"it ended with {signal.Signals(os.WTERMSIG(status)).name}"
    found = json.loads(text)
    assert "error" not in found, found["error"]
    return found["given"]


def _limit() -> None:
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc").is_dir() else 0
    if pages:
        most, hard = (
            pages * os.sysconf("SC_PAGE_SIZE") + MEMORY,
            resource.getrlimit(resource.RLIMIT_AS)[1],
        )
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(5 * SECONDS)
