"""The program on a terminal of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def on_a_terminal(folder, *arguments, columns=80, output=subprocess.PIPE):
    """Messages go to the terminal, and the output where `output` is None: both as text."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "kernbrook", *map(str, arguments)], cwd=folder, stderr=theirs,
        stdout=theirs if output is None else output, stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)},
    ) as program:  # fmt: skip
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # as Linux says the end
                part = b""
            if not part:
                break
            shown += part
        out = b"" if output is None else program.stdout.read()
    os.close(ours)
    assert program.returncode == 0
    return shown.decode(), out.decode()
