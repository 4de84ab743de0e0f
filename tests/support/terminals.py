"""The program in the tests' process, on a terminal of its own."""

from __future__ import annotations

import io
import os
import sys
import threading

import pytest

from kernbrook.cli.main import run


def on_a_terminal(monkeypatch, *arguments, columns=80, output=None):
    """Messages go to the terminal, and the output if that is "terminal": both as text."""
    import pty

    ours, theirs = pty.openpty()
    shown = []

    def follow():
        part = b"begun"
        while part:
            try:
                part = os.read(ours, 65536)
            except OSError:  # as Linux says the end
                part = b""
            shown.append(part)

    reader = threading.Thread(target=follow)
    reader.start()
    out = io.TextIOWrapper(io.BytesIO())
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "argv", ["kernbrook", *map(str, arguments)])
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(sys, "stdout", terminal if output == "terminal" else out)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as end:
            run()
    reader.join()
    os.close(ours)
    out.flush()
    assert not end.value.code
    return b"".join(shown).decode(), out.buffer.getvalue().decode()
