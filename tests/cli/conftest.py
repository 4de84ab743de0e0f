"""What the tests of the command line share: the program, run in the tests' process."""

from __future__ import annotations

import io
import sys

import pytest

from kernbrook.cli.main import run


@pytest.fixture
def kernbrook(monkeypatch, capsys, tmp_path):
    """The program in an empty folder, lines typed at it: (exit code, output, messages).

    typed : lines of a person, or the bytes that a pipe brings
    """
    monkeypatch.chdir(tmp_path)

    def call(*arguments, typed=()):
        piped = isinstance(typed, bytes)
        stdin = io.BytesIO(typed if piped else "".join(f"{line}\n" for line in typed).encode())
        monkeypatch.setattr(sys, "argv", ["kernbrook", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
        with pytest.raises(SystemExit) as end:
            run()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return end.value.code or 0, said.out, said.err

    return call
