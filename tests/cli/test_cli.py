"""The command line as a user meets it: exit codes, streams, signals; in whole processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import typer
from terminals import on_a_terminal

import kernbrook as kb
from kernbrook.cli.output import Stopping
from kernbrook.evaluation.training import Quit

pytestmark = pytest.mark.usefixtures("few_samples")
FAST = ["--permutations", "2", "--jobs", "1"]
TRAIN = ["train", "wdbc", "--model", "m"]
COMPILING = re.compile(r"(compiling, once for this machine\n)?")


def process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "NO_COLOR": "1", **environment},
    )  # fmt: skip


@pytest.fixture
def small(kernbrook):
    """small.csv, of two classes."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    lines = [f"{a},{b},{c},{'yes' if a + b > 0 else 'no'}" for a, b, c in X.tolist()]
    Path("small.csv").write_text("\n".join(["a,b,c,label", *lines]))
    return kernbrook


@pytest.mark.filterwarnings("default:of two:RuntimeWarning")
def test_a_warning_is_a_line_of_words(kernbrook, monkeypatch):
    """Ours and those of others: no path, no line of code."""
    make = kb.recipes.make

    def others(*given, **more):
        warnings.warn("of two\n  lines", RuntimeWarning, stacklevel=1)
        return make(*given, **more)

    monkeypatch.setattr("kernbrook.engine.blocks.LARGE", 50)
    monkeypatch.setattr("kernbrook.recipes.make", others)
    command = "train", "checkerboard:300", "--model", "m", "--recipe", "perceptron"
    (others, ours, _) = COMPILING.sub("", kernbrook(*command)[2]).splitlines()
    assert others == "kernbrook: of two lines (RuntimeWarning)"
    assert re.fullmatch(r"kernbrook: \d+ examples are kept, and .* a fixed number", ours)


def test_table_on_stdout_and_nothing_else(small):
    code, out, err = small("compare", "small.csv", "--recipes", "omkc-dd,majority", *FAST)
    assert (code, "OMKC(D,D)" in out, "\x1b" in out) == (0, True, False), err
    assert "60 rows x 3 features, 2 permutations" in out
    assert COMPILING.fullmatch(err)


def forget(cache, function):
    """One function, and what the suite has compiled is there in the cache; else nothing is."""
    given = os.environ.get("NUMBA_CACHE_DIR", "")
    if not cache.exists() and given and Path(given).exists():
        shutil.copytree(given, cache)
    for path in cache.rglob(f"*{function}-*"):
        path.unlink()


IN_TURN = """
import json, sys
from kernbrook.cli.main import run
for command in json.loads(sys.argv[1]):
    sys.argv = ["kernbrook", *command]
    try:
        run()
    except SystemExit as end:
        if end.code:
            raise
"""


@pytest.mark.long
def test_what_is_compiled_is_said_once(tmp_path):
    """In one line, and with everything in the disk cache not at all."""
    command = ["compare", "friedman:60", "--recipes", "omkl-b,mean", "--jobs", "1", "--json", "-"]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    forget(tmp_path / "cache", "links._filling*")
    call = "-m", "kernbrook", *command, "--permutations", "2"
    cold, warm = (process(*call, **cache) for _ in range(2))
    assert (cold.stderr, warm.stderr) == ("compiling, once for this machine\n", "")
    found, again = (
        [[run["error"] for run in row["runs"]] for row in json.loads(done.stdout)["rows"]]
        for done in (cold, warm)
    )
    assert found == again
    forget(tmp_path / "cache", "committee.decide")
    words = ["warm", "--recipes", "omkl-b, mean", "--jobs", "1"]
    ahead = process("-m", "kernbrook", *words, **cache)
    assert re.fullmatch(r"compiled \d+ functions in \d+ s\n", ahead.stdout)
    assert ahead.stderr == "compiling, once for this machine\n"
    compiled = set((tmp_path / "cache").rglob("*.nbc"))
    (tmp_path / "data.svm").write_text("1 1:1\n2 2:1\n3 1:1 2:3\n" * 50)
    model, data = str(tmp_path / "model"), str(tmp_path / "data.svm")
    train = ["train", data, "--recipe", "omkl-b", "--model", model]
    done = process("-c", IN_TURN, json.dumps([words, train, ["predict", model, data]]), **cache)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nothing to compile\n")
    assert "compiling" not in done.stderr
    assert set((tmp_path / "cache").rglob("*.nbc")) == compiled


def test_rows_appear_on_a_terminal_as_they_are_ready(small, monkeypatch):
    command = "compare", "small.csv", *FAST, "--recipes", "majority,last-label"
    shown, table = on_a_terminal(monkeypatch, *command)
    assert "majority so far" in shown
    assert "last label" not in shown  # with the last one the table is complete
    for title in ("majority so far", "last label"):
        assert table.count(title) == 1
    assert "\x1b" not in table


def test_numbers(kernbrook):
    command = "compare", "friedman:120", "--recipes", "kernbrook-active,mean"
    code, out, err = kernbrook(*command, *FAST)
    assert (code, "mistakes" in out) == (0, False)
    assert COMPILING.fullmatch(err)
    for part in ("MSE", "asked %", "friedman:120: 120 rows x 10 features", "of the logarithms"):
        assert part in out


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_stopped_by_hand():
    """As Ctrl-C in a terminal does: every process of the command gets the signal."""
    begun = "import sys; from kernbrook.cli.main import run; print('begun', file=sys.stderr); run()"
    command = [sys.executable, "-c", begun, "compare", "waveform:200000", "--jobs", "2"]
    command += ["--recipes", "omkc-dd,spa"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored behind &
    with subprocess.Popen(command, text=True, preexec_fn=listening, **pipes) as stopped:
        assert stopped.stderr.readline() == "begun\n"
        time.sleep(3)
        os.killpg(stopped.pid, signal.SIGINT)
        out, err = stopped.communicate(timeout=100)
    assert (stopped.returncode, out) == (130, "")
    assert err.count("kernbrook: stopped\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", "nosuchdata"], 1, "unknown data 'nosuchdata'"),
        (["compare", "nosuch.csv", "--recipes", "spa(divisr=3)"], 1, "recipe spa: no parameter"),
        (["compare", "nosuch.csv", "--baselines", "sk"], 1, "unknown library of baselines 'sk'"),
        (["compare", "wdbc", "--orders", "nosuch.npz"], 1, "nosuch.npz: no such file"),
        (["compare", "wdbc", "--report", "nosuchfolder/x.html"], 1, "there is no folder"),
        (["compare", "wdbc", "--permutations", "0"], 2, "permutations"),
        (["compare", "nosuch.csv", "--set", "budget"], 1, "--set: expected NAME=VALUE"),
        (["compare", "nosuch.csv", "--set", "random_state=3"], 1, "use --seed"),
        (["train", "wdbc"], 2, "--model"),
        (["train", "wdbc", "--model", "absent/m"], 1, "there is no folder"),
        (["train", "wdbc", "--model", "."], 1, "not an ordinary file"),
        ([*TRAIN, "--recipe", "spam"], 1, "did you mean spa?"),
        ([*TRAIN, "--recipe", "l2-svm"], 1, "kb.recipes.make('l2-svm').fit(X, y)"),
        ([*TRAIN, "--table", "classes=1,2"], 1, "row 20: the label -1 is none"),
        ([*TRAIN, "--table", "positive=5"], 1, "positive='5' is not a label"),
        ([*TRAIN, "--resume", "--overwrite"], 1, "expected one of them, got both"),
        ([*TRAIN, "--seed", 2**32], 2, "4294967295"),
        ([*TRAIN, "--table", f"n_features={2**31}"], 1, "expected 1 to 2147483647, got"),
        ([*TRAIN, "--set", "budget=50"], 1, "no parameter 'budget'; it has kernels"),
        (["train", "friedman:99", *TRAIN[2:], "--recipe", "spa"], 1, "regression: kernbrook-reg"),
        (["compare"], 2, "data"),
        (["nonsense"], 2, "nonsense"),
        (["warm", "--recipes", "om3"], 1, "unknown recipe 'om3'"),
        (["reproduce", "omkc-table-3", "--report", "x.txt"], 1, "a name that ends in .html"),
    ],
)
def test_what_is_wrong_is_said_in_one_place(kernbrook, tmp_path, arguments, code, said):
    found, out, err = kernbrook(*arguments)
    assert (found, out, said in err) == (code, "", True), err
    assert not list(tmp_path.iterdir())


def test_listings(kernbrook):
    assert kernbrook("--version")[1].startswith("kernbrook ")
    data = kernbrook("data")[1]
    assert "wdbc " in data
    assert "friedman          a smooth function, 10 features, numbers" in data
    recipes = kernbrook("recipes")[1]
    assert "omkc-dd                  classification  OMKC(D,D)\n" in recipes
    assert "mean                     regression      mean so far\n" in recipes
    assert "vkr-trace                classification  VKRc (batch)\n" in recipes


def test_a_pipe_that_closes_early_is_no_error():
    command = [sys.executable, "-m", "kernbrook", "data"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as data:
        data.stdout.close()
        assert data.stderr.read() == b""


def test_several_data_sets_have_ranks(small):
    command = "compare", "small.csv", "wdbc", *FAST, "--json", "ranks.json", "--recipes"
    code, out, err = small(*command, "majority,last-label", "--report", "ranks.html")
    assert (code, "ranks on 2 data sets" in out) == (0, True), err
    found = json.loads(Path("ranks.json").read_text())
    assert found["ranks"]["data"] == [one["data"] for one in found["comparisons"]]
    assert len(found["ranks"]["ranks"]) == 2
    assert "<h2>Ranks</h2>" in Path("ranks.html").read_text("utf-8")
    code, _, err = small(*command, "majority")
    told = "ranks: expected two data sets or more, and two recipes"
    assert (code, told in err) == (0, True)
    assert list(json.loads(Path("ranks.json").read_text())) == ["comparisons"]


# -- when a signal stops a command at once, and when after a step ----------------------------------


POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def ended(stopping, *numbers):
    """What ends the program at the last of some signals."""
    try:
        with stopping.on_signals("stopped at once"):
            for number in numbers:
                os.kill(os.getpid(), number)
            pytest.fail("went on")
    except typer.Exit as end:
        assert stopping.number == numbers[-1]
        return end


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(number, capsys):
    """At once before the first step, after a step where that is asked; the second time at once."""
    stopping, before = Stopping(), signal.getsignal(number)
    assert ended(stopping, number).exit_code == stopping.code == 128 + number
    assert capsys.readouterr().err == "stopped at once\n"
    assert signal.getsignal(number) is before
    stopping = Stopping()
    with stopping.on_signals("stopped at once"):
        assert not stopping.wanted()
        os.kill(os.getpid(), number)
        assert stopping.wanted()
    assert (stopping.code, capsys.readouterr().err) == (128 + number, "")
    stopping = Stopping()
    assert not stopping.wanted()
    assert ended(stopping, signal.SIGTERM, number).exit_code == 128 + number


@POSIX
def test_a_call_that_waits():
    """A signal in it, or before it, ends the call and nothing else."""
    stopping, done = Stopping(), []

    def struck():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("went on")

    with stopping.on_signals("stopped"):
        assert not stopping.wanted()
        assert stopping.waiting(lambda said: said)("waited") == "waited"
        for _ in range(2):
            with pytest.raises(Quit):
                stopping.waiting(struck)()
        assert stopping.wanted()
    assert (done, stopping.code) == ([], 130)
