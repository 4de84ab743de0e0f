"""Whatever is typed, the answer is one sentence; and names in it do not command the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy._core._exceptions import _ArrayMemoryError
from terminals import on_a_terminal

import kernbrook as kb
from kernbrook.cli.options import parameters

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX locks and terminals")
ODD = "a\x1b]0;gone\x07\u202eb"  # sets a terminal's title, and turns what follows round
ODD_SHOWN = r"a\x1b]0;gone\x07\u202eb"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}), ("7", 7), (".5", 0.5), ("+1", 1.0), ("None", None),
        ("FALSE", False), ("amkl17", "amkl17"), ("[0.1", "[0.1"), ("", ""),
        ("9" * 5000, float("inf")), ("[" * 100_000, "[" * 100_000),
    ],
)  # fmt: skip
def test_values_of_settings(text, value):
    (found,) = parameters([f"name = {text}"]).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory for the budget, components or features\n"),
        (_ArrayMemoryError((2**40,), np.dtype(float)), "features: Unable to allocate 8.00 TiB"),
        (OverflowError("too large to convert"), "a number is too large: too large to convert\n"),
        (OSError("the disk is gone"), "kernbrook: the disk is gone\n"),
        (OSError(28, "No space left", "some/file"), "kernbrook: some/file: No space left\n"),
        (OSError("Could not find/load shared object file 'l.so'"), "not enough memory to load a"),
        (pa.ArrowException("Unknown error"), "not enough memory, or a fault of pyarrow: Unknown"),
    ],
)  # fmt: skip
def test_what_nobody_foresaw(kernbrook, monkeypatch, error, said):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("kernbrook.evaluation.training.train", fails)
    code, out, err = kernbrook("train", "wdbc", "--model", "m")
    assert (code, out) == (1, "")
    assert err.startswith("kernbrook: ")
    assert said in err
    assert err.count("\n") == 1


def test_a_budget_that_no_memory_holds(kernbrook, tmp_path):
    recipe = "--recipe", "ahpatron", "--set", f"budget={10**8}"
    code, _, err = kernbrook("train", "wdbc", "--model", "m", *recipe)
    assert (code, err.count("\n")) == (1, 1)
    assert "Ahpatron(budget=100000000) with 16 kernels takes 2,560,000,102.4 GB" in err
    assert not list(tmp_path.iterdir())


# -- names that command a terminal ------------------------------------------------------------


def odd_file(folder):
    rows = [f"{x},{name}" for x, name in zip(range(40), [ODD, "plain"] * 20, strict=True)]
    path = Path(folder) / f"{ODD.replace(chr(7), '')}.csv"
    path.write_text("\n".join(["a,label", *rows]) + "\n")
    return path.name


def test_names_in_tables_and_messages(kernbrook, tmp_path):
    name = odd_file(tmp_path)
    for command in (
        ["train", name, "--model", "m"],
        ["compare", name, "--recipes", "omkc-u,majority", "--jobs", "1", "--permutations", "2"],
        ["train", name, "--model", "n", "--table", f"classes={ODD},other"],
        ["compare", "wdbc", "--table", f"positive={ODD}"],
        ["predict", f"{ODD}\n", "wdbc"],
    ):
        _, out, err = kernbrook(*command)
        assert "\x1b]0;" not in out + err
        assert "\u202e" not in out + err
        assert r"a\x1b]0;gone" in out + err
    assert err.startswith(f"kernbrook: {ODD_SHOWN}\\n")
    assert err.count("\n") == 1


@POSIX
def test_labels_on_a_terminal(kernbrook, tmp_path, monkeypatch):
    name = odd_file(tmp_path)
    assert kernbrook("train", name, "--model", "m")[0] == 0
    command = "predict", "m", name, "--scores"
    screen, _ = on_a_terminal(monkeypatch, *command, columns=150, output="terminal")
    assert "\x1b]0;" not in screen
    assert ODD_SHOWN in screen


def test_labels_in_files_are_as_they_are(kernbrook, tmp_path):
    """But each in a line of its own."""
    labels = np.array(["two\nlines", ODD, 'a, "b"'])
    X = np.repeat(np.eye(3), 20, axis=0)
    kb.save(kb.recipes.make("omkc-u", random_state=0).fit(X, np.repeat(labels, 20)), "m")
    Path("x.csv").write_text("a,b,c\n1,0,0\n0,1,0\n0,0,1\n")
    code, out, err = kernbrook("predict", "m", "x.csv")
    assert (code, out.split("\n"), err) == (0, [r"two\nlines", ODD, 'a, "b"', ""], "")
    assert kernbrook("predict", "m", "x.csv", "--output", "out")[0] == 0
    assert Path("out").read_text() == out
    header = kernbrook("predict", "m", "x.csv", "--scores")[1].splitlines()[0]
    assert header == f'prediction,score of {ODD},"score of a, ""b""",score of two\\nlines'


@POSIX
def test_a_folder_that_is_gone_is_said(kernbrook, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = "the folder that this was started in is not there any more: change to another (cd)"
    for command in (["train", "wdbc", "--model", "m", "--recipe", "majority"], ["show", "m"]):
        assert kernbrook(*command) == (1, "", f"kernbrook: {said}\n")


def test_a_result_is_not_lost_where_output_is_closed(kernbrook, monkeypatch):
    kernbrook("train", "wdbc", "--model", "m", "--recipe", "majority")
    monkeypatch.setattr(sys, "stdout", None)
    for option, command in (
        ("--json", ["show", "m", "--json", "-"]), ("--output", ["predict", "m", "wdbc"]),
    ):  # fmt: skip
        code, _, err = kernbrook(*command)
        assert (code, err) == (1, f"kernbrook: {option}: standard output is closed\n")


@POSIX
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_output_is_said(unbuffered):
    if not os.path.exists("/dev/full"):
        pytest.skip("no full device here")
    with open("/dev/full", "w") as full:
        line = [sys.executable, "-m", "kernbrook", "data"]
        own = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, env=own)
    assert done.returncode == 1
    said = "kernbrook: cannot write standard output, or a temporary file: No space left on device"
    assert done.stderr == f"{said}\n"


# -- what is said of the data that are read -----------------------------------------------------

ROWS = "5.1,3.5,yes\n4.9,3,no\n4.7,3.2,yes\n4.6,3.1,no\n"


@pytest.mark.parametrize("command", ["predict", "show"])
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
