"""The command line as a user meets it: exit codes, streams; in whole processes where it matters."""

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
from terminals import on_a_terminal

import kernbrook as kb

pytestmark = pytest.mark.usefixtures("few_samples")
FAST = ["--permutations", "2", "--jobs", "1"]
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


def test_json_follows_the_contract(small):
    found = json.loads(small("compare", "small.csv", "--json", "-", *FAST)[1])
    assert (found["data"], found["permutations"]) == ("small", 2)
    row = found["rows"][0]
    assert {
        "recipe", "mean", "std", "n_support_stored_mean", "n_support_stored_std",
        "n_support_active_mean", "n_support_active_std", "labels_asked_mean", "seconds_mean",
        "runs",
    } <= row.keys()  # fmt: skip
    errors = [run["error"] for run in row["runs"]]
    assert row["mean"] == pytest.approx(np.mean(errors))
    assert row["std"] == pytest.approx(np.std(errors, ddof=1))


def test_numbers(kernbrook):
    command = "compare", "friedman:120", "--recipes", "kernbrook-active,mean"
    code, out, err = kernbrook(*command, *FAST)
    assert (code, "mistakes" in out) == (0, False)
    assert COMPILING.fullmatch(err)
    for part in ("MSE", "asked %", "friedman:120: 120 rows x 10 features", "of the logarithms"):
        assert part in out
    found = json.loads(kernbrook(*command, "--in-order", "--json", "-")[1])
    asked, mean = found["rows"]
    record = kb.prequential(kb.recipes.make("mean"), kb.open_stream("friedman:120"))
    assert (found["task"], mean["recipe"]) == ("regression", "mean")
    assert mean["mean"] == pytest.approx(record.error, rel=1e-12)
    assert asked["labels_asked_mean"] < 120 == mean["labels_asked_mean"]


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


def test_orders_report_and_json_files(small):
    np.savez("orders.npz", small=[np.random.default_rng(i).permutation(60) for i in range(3)])
    files = "--orders", "orders.npz", "--report", "out.html", "--json", "out.json"
    command = "compare", "small.csv", "--recipes", "omkc-dd", "--jobs", "1"
    code, out, err = small(*command, *files)
    assert (code, "3 permutations" in out, "out.html" in err) == (0, True, True), err
    assert json.loads(Path("out.json").read_text())["permutations"] == 3
    assert Path("out.html").read_text().count("<svg") == 3


def test_one_class_against_the_rest(kernbrook):
    command = "compare", "digits:300", "--table", "positive=3", "--recipes", "majority"
    assert json.loads(kernbrook(*command, *FAST, "--json", "-")[1])["rows"][0]["mean"] < 15


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", "nosuchdata"], 1, "unknown data 'nosuchdata'"),
        (["compare", "nosuch.csv"], 1, "nosuch.csv"),
        (["compare", "wdbc", "--recipes", "omkc-xx"], 1, "unknown recipe 'omkc-xx'"),
        (["compare", "wdbc", "--recipes", "spa,vkr-pdim"], 1, "vkr-pdim learns from all data at"),
        (["compare", "nosuch.csv", "--recipes", "spa(divisr=3)"], 1, "recipe spa: no parameter"),
        (["compare", "nosuch.csv", "--baselines", "sk"], 1, "unknown library of baselines 'sk'"),
        (["compare", "wdbc:5"], 1, "labels of two classes or more, found 1"),
        (["compare", "wdbc", "--orders", "nosuch.npz"], 1, "nosuch.npz: no such file"),
        (["compare", "wdbc", "--report", "nosuchfolder/x.html"], 1, "there is no folder"),
        (["compare", "wdbc", "--in-order", "--permutations", "3"], 1, "in_order"),
        (["compare", "wdbc", "--permutations", "0"], 2, "permutations"),
        (["compare", "wdbc", "--seed", "-1"], 2, "seed"),
        (["compare", "wdbc", "--delay", "-1"], 2, "delay"),
        (["compare", "nosuch.csv", "--set", "budgte=3"], 1, "unknown parameter 'budgte': did you"),
        (["compare", "nosuch.csv", "--set", "budget"], 1, "--set: expected NAME=VALUE"),
        (["compare", "nosuch.csv", "--set", "random_state=3"], 1, "use --seed"),
        (["compare", "nosuch.csv", "--recipes", "rbp", "--set", "budget=x"], 1, "budget must"),
        (["compare"], 2, "data"),
        (["nonsense"], 2, "nonsense"),
        (["warm", "--recipes", "om3"], 1, "unknown recipe 'om3'"),
        (["reproduce", "omkc-table-9"], 1, "unknown table 'omkc-table-9'"),
        (["reproduce", "omkc-table-3", "--data", "iris"], 1, "unknown data set of omkc-table-3"),
        (["reproduce", "omkc-table-3", "--report", "x.txt"], 1, "a name that ends in .html"),
    ],
)
def test_what_is_wrong_is_said_in_one_place(kernbrook, arguments, code, said):
    found, out, err = kernbrook(*arguments)
    assert (found, out, said in err) == (code, "", True), err


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]])
def test_help_and_version_load_nothing_heavy(words):
    code = (
        f"import sys; sys.argv = ['kernbrook', *{words}]\n"
        "from kernbrook.cli.main import run\n"
        "try: run()\n"
        "except SystemExit as exit: assert not exit.code\n"
        "heavy = {'numpy', 'numba', 'sklearn', 'scipy', 'matplotlib', 'pyarrow', 'rich.console'}\n"
        "found = heavy & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


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
        assert b"Traceback" not in data.stderr.read()


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
