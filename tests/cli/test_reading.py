"""What the commands say of the data that they read: one line on standard error."""

import sys
import warnings
from pathlib import Path

import pytest

from kernbrook.cli.main import run

ROWS = "5.1,3.5,yes\n4.9,3,no\n4.7,3.2,yes\n4.6,3.1,no\n"


@pytest.fixture
def kernbrook(monkeypatch, capsys, tmp_path):
    """The program in this process, in an empty folder: (exit code, output, messages)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["kernbrook", *arguments])
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            try:
                run()
            except SystemExit as end:
                return end.code or 0, *capsys.readouterr()

    return call


@pytest.mark.parametrize("command", ["predict", "explain", "label", "show"])
def test_model_and_data_that_are_exchanged(kernbrook, command):
    Path("rows.csv").write_text(f"a,b,y\n{ROWS}")
    assert kernbrook("train", "rows.csv", "--model", "m", "--recipe", "perceptron")[0] == 0
    code, _, err = kernbrook(command, "rows.csv", *["m"] * (command != "show"))
    asks = "are MODEL and DATA exchanged?"
    assert (code, err) == (1, f"kernbrook: rows.csv: not a saved model, but data; {asks}\n")
    code, _, err = kernbrook("train", "m", "--model", "n")
    assert (code, err) == (1, f"kernbrook: m: a model that kernbrook saved, and no data; {asks}\n")


def test_a_warning_is_a_line(kernbrook):
    Path("rows.csv").write_text(ROWS)
    said = "numbers where names were expected: taken as data, the columns as x1 to x3"
    train = ["train", "rows.csv", "--model", "m", "--recipe", "perceptron"]
    code, _, err = kernbrook(*train)
    label = "the label is 'x3', the last column; label (--label NAME) says another"
    assert (code, err) == (0, f"kernbrook: rows.csv, line 1: {said}; {label}\nwrote m\n")
    code, out, err = kernbrook("predict", "m", "rows.csv")
    assert (code, len(out.splitlines())) == (0, 4)
    assert err.startswith(f"kernbrook: rows.csv, line 1: {said}\nerror ")
    Path("bare.csv").write_text("5.1,3.5\n4.9,3\n")
    code, out, err = kernbrook("predict", "m", "bare.csv")
    assert (code, len(out.splitlines())) == (0, 2)
    assert err == f"kernbrook: bare.csv, line 1: {said.replace('x3', 'x2')}\n"


@pytest.mark.parametrize("text", ["\n\n\n", "\ufeff"])
def test_a_csv_file_without_a_line(kernbrook, text):
    Path("none.csv").write_text(text)
    for command in (
        ["label", "m", "none.csv", "--recipe", "omkc-dd", "--classes", "0,1"],
        ["train", "none.csv", "--model", "m"],
        ["compare", "none.csv"],
    ):
        code, _, err = kernbrook(*command)
        assert (code, err) == (1, "kernbrook: none.csv: the file has no line\n")
