"""The line about the first use on a machine, at a terminal and nowhere else."""

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = """
from kernbrook.compiler import first_use
from kernbrook.numerics.zero import zero_or

first_use.WORTH = 0.0
zero_or(0.5, 2.0)
"""
LINE = "kernbrook: compiling for this machine, once; it can take half a minute\n"


def said(folder, terminal=True, program=PROGRAM, **more):
    """What a new process, with an empty cache, writes to standard error."""
    main, end = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **more},
            stderr=end if terminal else subprocess.PIPE, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        os.close(end)
        end = -1
        if not terminal:
            return done.stderr.decode()
        try:
            return os.read(main, 10_000).decode().replace("\r\n", "\n")
        except OSError:  # nothing was written
            return ""
    finally:
        os.close(main)
        if end >= 0:
            os.close(end)


@pytest.mark.long
@pytest.mark.slow
def test_the_line_is_written_once_and_never_again(tmp_path):
    assert said(tmp_path) == LINE
    assert said(tmp_path) == ""  # all is in the cache


THEIRS = """
from numba import njit
from kernbrook.compiler import first_use
from kernbrook.compiler.compiling import first_use as heard, njit as ours

first_use.WORTH = 0.0
njit(lambda x: x + 1)(1)
assert heard.seconds == 0.0
OURS
"""
OURS = THEIRS.replace("OURS", "ours()(lambda x: x + 1)(1)")
TOLD = THEIRS.replace("OURS", "with heard.reported_by_others(): ours()(lambda x: x + 1)(1)")


def test_where_nobody_reads_it(tmp_path):
    assert said(tmp_path, program=THEIRS.replace("OURS", "")) == ""
    assert said(tmp_path, program=OURS) == LINE
    assert said(tmp_path, program=OURS, KERNBROOK_QUIET="1") == ""
    assert said(tmp_path, terminal=False, program=OURS) == ""
    assert said(tmp_path, program=TOLD) == ""
