"""`kernbrook train --go-on` as a user meets it: the day after, and what may go wrong on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from evaluation.test_going_on import rows_of

from kernbrook.evaluation import training
from kernbrook.evaluation.checkpoint import load_checkpoint

pandas = pytest.importorskip("pandas")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
BPAS = ["--recipe", "bpas", "--set", "budget=10"]
COLUMNS = [
    *("--label", "late", "--categorical", "carrier=UA,AA,DL", "--dates", "when=days,hour"),
    *("--missing", "mean"),
]


def day(number, rows=800):
    """A day of flights, in a CSV file."""
    rows_of(rows, number).to_pandas().to_csv(f"day{number}.csv", index=False)


@pytest.fixture
def trained(kernbrook):
    """A model of day 0, and the files of three days."""
    for number in range(3):
        day(number)
    assert kernbrook("train", "day0.csv", "--model", "m", *BPAS, *COLUMNS)[0] == 0
    return kernbrook


def test_a_signal_before_anything_is_learned(trained, monkeypatch):
    def pressed(*_):
        os.kill(os.getpid(), signal.SIGINT)

    before = Path("m").read_bytes()
    monkeypatch.setattr(training, "_ahead", pressed)
    code, _, err = trained("train", "day1.csv", "--model", "m", "--go-on")
    assert (code, err) == (130, "kernbrook: stopped at once; m is as it was last written\n")
    assert Path("m").read_bytes() == before


def test_day_after_day(trained):
    """No option but --go-on; the columns may be in another order, and in another format."""
    frame = pandas.read_csv("day1.csv")
    frame[list(frame)[::-1]].to_parquet("day1.parquet")
    code, out, err = trained("train", "day1.parquet", "--model", "m", "--go-on")
    assert (code, err) == (0, "wrote m\n")
    assert out.splitlines()[0].strip() == "day1: m"
    assert "800, in all 1,600" in out
    code, out, _ = trained("train", "day2.csv", "--model", "m", "--go-on", "--json", "-")
    found = json.loads(out)
    assert (found["data"], found["recipe"], found["n_rows"], found["n_rows_before"]) == (
        "day2", None, 800, 1600,
    )  # fmt: skip
    assert found["error"] == 100 * found["mistakes"] / 800
    shown = json.loads(trained("show", "m", "--json", "-")[1])
    assert shown["data"] == ["day0", "day1", "day2"]
    assert [one["n_rows"] for one in shown["past"]] == [800, 800, 800]
    assert shown["past"][2]["error"] == found["error"]


def test_resume_needs_no_options_again(trained):
    """Of the first data, and of later ones; rows were appended to both."""
    trained("train", "day0.csv", "--model", "whole", *BPAS, *COLUMNS)
    frame = pandas.concat([pandas.read_csv("day0.csv"), pandas.read_csv("day1.csv")])
    frame.to_csv("day0.csv", index=False)
    code, _, err = trained("train", "day0.csv", "--model", "m", "--resume")
    assert (code, err) == (0, "wrote m\n")
    trained("train", "day0.csv", "--model", "whole", "--resume", *BPAS, *COLUMNS)
    assert Path("m").read_bytes() == Path("whole").read_bytes()
    trained("train", "day2.csv", "--model", "m", "--go-on")
    assert trained("train", "day2.csv", "--model", "m", "--resume")[::2] == (
        0, "m was complete, nothing new\n",
    )  # fmt: skip


def test_columns_and_labels_that_are_new(trained):
    frame = pandas.read_csv("day1.csv").drop(columns="wind").assign(new=1)
    frame.loc[:700, "late"] = "maybe"
    frame.to_csv("day1.csv", index=False)
    learn, ignore = (
        ("train", "day1.csv", "--model", "m", "--go-on"),
        ("--table", "ignore_extra=true"),
    )
    code, _, err = trained(*learn, *ignore)
    assert code == 0
    assert err.splitlines() == [
        "no column 'wind': filled as gaps, in 800 rows",
        "left out 1 column: 'new'",
        "new labels, and the first row of each, from 1: maybe (row 1)",
        "wrote m",
    ]


def test_a_day_is_first_predicted_whole(trained):
    """As `predict` does before it is learned, in both forms of the answer."""
    frame = pandas.read_csv("day1.csv").head(3)
    frame.loc[1:1, "late"] = None
    frame.to_csv("day1.csv", index=False)
    trained("predict", "m", "day1.csv", "--output", "said", "--json", "p.json")
    code, out, _ = trained("train", "day1.csv", "--model", "m", "--go-on", "--json", "t.json")
    expected, found = json.loads(Path("p.json").read_text()), json.loads(Path("t.json").read_text())
    assert code == 0
    assert found["ahead"] == expected["measures"]
    assert found["ahead"]["model"] != found["measures"]["model"]
    (told,) = [line for line in out.splitlines() if "error before" in line]
    assert f"{expected['measures']['model']['error']:.2f} %, no label of these rows known" in told
    assert out.index("error before") < out.index("online error")
    assert "rows with a label" in out
    assert "each label known before the next row" in out


# A process that has loaded everything forks the trainings; each kills itself at its moment: before
# it looks at some rows for the n-th time, or before a model's draft or its folder is made sure of.
KILLS = """
import contextlib, io, os, shutil, signal, sys
from kernbrook.cli.main import run
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.evaluation.content import Content

def call(*arguments):
    sys.argv = ["kernbrook", "train", *arguments]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        run()

def struck(place, name, times):
    left, called = iter(range(times - 1, -1, -1)), getattr(place, name)
    def strike(*arguments):
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return called(*arguments)
    setattr(place, name, strike)

def start(how, *moment):
    process = os.fork()
    if process == 0:
        sys.argv = ["kernbrook", "train", "day2.csv", "--model", "m", how]
        sys.argv += ["--checkpoint-every", "0"]
        if moment:
            struck(*moment)
        try:
            run()
        except SystemExit as end:
            os._exit(end.code or 0)
        finally:
            os._exit(99)
    return os.waitpid(process, 0)[1]

call("day0.csv", "--model", "m", *sys.argv[1:])
call("day1.csv", "--model", "m", "--go-on")
shutil.copy("m", "before")
before = open("m", "rb").read()
rows, sync = (Content, "update"), (os, "fsync")
for moment in ((*rows, 1), (*sync, 1)):  # before anything of the day is in the file
    assert os.WTERMSIG(start("--go-on", *moment)) == signal.SIGKILL
    assert open("m", "rb").read() == before
how = "--go-on"
for moment in ((*sync, 2), (*rows, 2), (*sync, 5), (*rows, 6), (*sync, 4)):
    assert os.WTERMSIG(start(how, *moment)) == signal.SIGKILL
    known = load_checkpoint("m")[1]
    print([one.rows for one in known.past], flush=True)  # or each fork prints it again
    how = "--resume"
assert start("--resume") == 0
"""


@POSIX
@pytest.mark.slow
def test_killed_on_the_day_after(kernbrook, tmp_path):
    """The model of before, or one on the way: and in the end that of a day without a kill."""
    for number, rows in enumerate([900, 700, 6000]):
        day(number, rows)
    (tmp_path / "kills.py").write_text(KILLS)
    done = subprocess.run(
        [sys.executable, "kills.py", *BPAS, *COLUMNS],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    on_the_way = [json.loads(line) for line in done.stdout.splitlines()[:5]]
    assert all(past[:2] == [900, 700] for past in on_the_way)
    assert [past[2] for past in on_the_way] == [1024, 1024, 3072, 5120, 6000]
    assert kernbrook("train", "day2.csv", "--model", "before", "--go-on")[0] == 0
    assert Path("before").read_bytes() == Path("m").read_bytes()


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal(trained, monkeypatch, number):
    """Ctrl-C writes a checkpoint, and says how to go on."""
    day(3, rows=6000)
    learn = training._Session.learn

    def struck(self, X, y):
        learn(self, X, y)
        if self.state.rows == 2048:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(training._Session, "learn", struck)
    code, _, err = trained("train", "day3.csv", "--model", "m", "--go-on")
    assert code == 128 + number
    assert "m has learned 3,072 of 6,000 rows of day3" in err
    assert "To go on, give the same data with --resume." in err
    assert [one.rows for one in load_checkpoint("m")[1].past] == [800, 3072]
