"""What all cases of the fuzz share: odd values, what counts as a finding, and forked children."""

from __future__ import annotations

import json
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kernbrook.errors import KernbrookError, UndeclaredColumnsError

ACCEPTED, REFUSED = "accepted", "refused"
ODD_NUMBERS = [
    *(0, -1, 1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63, 10**30),
    *(0.0, -0.0, 0.5, 1.5, -2.5, 5e-324, 1e-320, 1e-300, 1e100, 1e154, 1e300, 1e308, -1e308),
    *(np.nan, np.inf, -np.inf),
]
ODD = [
    *(*ODD_NUMBERS, None, True, False, "", "x", "margin", "é", "\x00", b"x", [], [1], ["a"]),
    *({}, {"a": 1}, (), (1, 2), 1 + 2j, object(), np.array(3), np.arange(3.0)),
    *(np.array(["x"]), np.float32(0.5), np.int8(3), np.True_, range(3)),
]


def one_of(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


@contextmanager
def said_in_a_line() -> Iterator[list[str]]:
    """What is refused goes into the list; it must be an error of ours, of one line that prints.

    Or of scikit-learn, whose checks of X and y are ours too.
    """
    refused: list[str] = []
    try:
        yield refused
    except UndeclaredColumnsError as error:  # a line for each column
        refused += str(error).splitlines()
    except KernbrookError as error:
        refused.append(str(error))
    except (TypeError, ValueError) as error:
        raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
        if f"{os.sep}sklearn{os.sep}utils{os.sep}" not in raised_in:
            raise
        refused.append(" ".join(str(error).split()))
    for said in refused:
        assert said, "nothing is said"
        assert said.isprintable(), repr(said)
        assert len(said) < 2000, said[:2000]


# -- children --------------------------------------------------------------------------------------

MEMORY = 2 << 30  # bytes of address space beyond what there is
SECONDS = 60  # of the processor: something may be compiled


def in_child(work: Callable[[], Any]) -> Any:
    """What work in a forked child gives, as JSON; AssertionError where it ends otherwise.

    A signal in the child is a finding, and not the end of the fuzz.
    """
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

    if Path("/proc").is_dir():
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(5 * SECONDS)
