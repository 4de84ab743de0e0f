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
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.cli.main import run

Program = Callable[..., "subprocess.CompletedProcess[str]"]
FAST = ["--permutations", "2", "--jobs", "1"]
COMPILING = re.compile(r"(compiling, once for this machine\n)?")


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


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return started("-m", "kernbrook", *arguments, **environment)


def in_turn(*commands: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Several commands in one process, up to the first that fails."""
    return started("-c", IN_TURN, json.dumps(commands), **environment)


def started(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1", **environment},
        timeout=300,
        check=False,
    )


@pytest.fixture
def kernbrook(
    few_samples: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Program:
    """The program in this process."""
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["kernbrook", *arguments])
        with pytest.raises(SystemExit) as end:
            run()
        said = capfd.readouterr()
        code = end.value.code
        assert code is None or isinstance(code, int)
        return subprocess.CompletedProcess(arguments, code or 0, said.out, said.err)

    return call


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    lines = ["a,b,c,label", *(f"{a},{b},{c},{label}" for (a, b, c), label in zip(X, y))]  # noqa: B905
    path = tmp_path / "small.csv"
    path.write_text("\n".join(lines))
    return path


WARNS = """
import sys, warnings
import kernbrook.engine.blocks as blocks
import kernbrook.recipes as recipes
from kernbrook.cli.main import run
blocks.LARGE, make = 50, recipes.make
def others(*given, **more):
    warnings.warn("of two\\n  lines", RuntimeWarning)
    return make(*given, **more)
recipes.make = others
sys.argv = ["kernbrook", *sys.argv[1:]]
run()
"""


def test_a_warning_is_a_line_of_words(tmp_path: Path) -> None:
    """Ours and those of others: no path, no line of code."""
    command = ["train", "checkerboard:300", "--model", str(tmp_path / "m"), "--recipe"]
    done = started("-c", WARNS, *command, "perceptron")
    (others, ours, _) = COMPILING.sub("", done.stderr).splitlines()
    assert others == "kernbrook: of two lines (RuntimeWarning)"
    assert re.fullmatch(r"kernbrook: \d+ examples are kept, and .* a fixed number", ours)


def test_table_on_stdout_and_nothing_else(kernbrook: Program, csv_file: Path) -> None:
    result = kernbrook("compare", str(csv_file), "--recipes", "omkc-dd,majority", *FAST)
    assert result.returncode == 0, result.stderr
    assert "OMKC(D,D)" in result.stdout
    assert "60 rows x 3 features, 2 permutations" in result.stdout
    assert "\x1b" not in result.stdout
    assert COMPILING.fullmatch(result.stderr)


def forget(cache: Path, function: str) -> None:
    """One function, and what the suite has compiled is there in the cache; else nothing is."""
    given = os.environ.get("NUMBA_CACHE_DIR", "")
    if not cache.exists() and given and Path(given).exists():
        shutil.copytree(given, cache)
    for path in cache.rglob(f"*{function}-*"):
        path.unlink()


@pytest.mark.long
def test_what_is_compiled_is_said_once(tmp_path: Path) -> None:
    """In one line, and with everything in the disk cache not at all."""
    command = ["compare", "friedman:60", "--recipes", "omkl-b,mean", "--jobs", "1", "--json", "-"]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    forget(tmp_path / "cache", "links._filling")
    cold, warm = (process(*command, "--permutations", "2", **cache) for _ in range(2))
    assert cold.stderr == "compiling, once for this machine\n"
    assert warm.stderr == ""
    found, again = (
        [[run["error"] for run in row["runs"]] for row in json.loads(done.stdout)["rows"]]
        for done in (cold, warm)
    )
    assert found == again
    forget(tmp_path / "cache", "committee.decide")
    words = ["warm", "--recipes", "omkl-b, mean", "--jobs", "1"]
    ahead = process(*words, **cache)
    assert re.fullmatch(r"compiled \d+ functions in \d+ s\n", ahead.stdout)
    assert ahead.stderr == "compiling, once for this machine\n"
    compiled = set((tmp_path / "cache").rglob("*.nbc"))
    (tmp_path / "data.svm").write_text("1 1:1\n2 2:1\n3 1:1 2:3\n" * 50)
    model, data = str(tmp_path / "model"), str(tmp_path / "data.svm")
    train = ["train", data, "--recipe", "omkl-b", "--model", model]
    done = in_turn(words, train, ["predict", model, data], **cache)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nothing to compile\n")
    assert "compiling" not in done.stderr
    assert set((tmp_path / "cache").rglob("*.nbc")) == compiled


def test_a_recipe_to_compile_has_to_be_known(kernbrook: Program) -> None:
    unknown = kernbrook("warm", "--recipes", "om3")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "unknown recipe 'om3'" in unknown.stderr


def test_rows_appear_on_a_terminal_as_they_are_ready(csv_file: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kernbrook", "compare", str(csv_file), *FAST]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    pipes = {"stdout": subprocess.PIPE, "stderr": theirs, "env": environment}
    with subprocess.Popen([*command, "--recipes", "majority,last-label"], **pipes) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 10_000)
            except OSError:  # closed by the last writer
                break
            shown += part
        assert process.stdout is not None
        table = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"majority so far" in shown
    assert b"last label" not in shown  # with the last one the table is complete
    for title in (b"majority so far", b"last label"):
        assert table.count(title) == 1
    assert b"\x1b" not in table


@pytest.mark.long
def test_a_short_list_and_all(kernbrook: Program, csv_file: Path) -> None:
    csv_file.write_text("\n".join(csv_file.read_text().splitlines()[:25]))
    command = ["compare", str(csv_file), "--in-order", "--json", "-"]
    short, everything = (
        {row["recipe"] for row in json.loads(kernbrook(*command, *more).stdout)["rows"]}
        for more in ([], ["--recipes", "all"])
    )
    assert {"kernbrook-classification", "omkc-dd", "majority"} <= short < everything
    assert len(short) <= 8
    assert {"omkc-ss", "rbp", "om2"} <= everything - short


def test_parameters(kernbrook: Program, csv_file: Path) -> None:
    """They go to the recipes that have them."""
    command = ["compare", str(csv_file), "--recipes", "rbp,omkc-dd,majority", "--json", "-"]
    result = kernbrook(*command, *FAST, "--set", "budget=3", "--set", "kernels=amkl17")
    found = json.loads(result.stdout)
    stored = {row["recipe"]: row["n_support_stored_mean"] for row in found["rows"]}
    assert stored["rbp"] == 17 * 3 < stored["omkc-dd"]
    assert found["manifest"]["parameters"] == {"budget": "3", "kernels": "'amkl17'"}


def test_several_settings_and_baselines(kernbrook: Program, csv_file: Path) -> None:
    recipes = "rbp(budget=3),rbp(budget=4, mode=library),majority"
    command = ["compare", str(csv_file), "--recipes", recipes, "--baselines", "sklearn"]
    found = json.loads(kernbrook(*command, "--json", "-", *FAST).stdout)
    stored = {row["recipe"]: row["n_support_stored_mean"] for row in found["rows"]}
    assert list(stored)[:3] == ["rbp(budget=3)", "rbp(budget=4, mode='library')", "majority"]
    assert {"sklearn-sgd", "sklearn-nb"} <= stored.keys()
    assert (stored["rbp(budget=3)"], stored["sklearn-sgd"]) == (16 * 3, 0)


def test_json_follows_the_contract(kernbrook: Program, csv_file: Path) -> None:
    result = kernbrook("compare", str(csv_file), "--json", "-", *FAST)
    found = json.loads(result.stdout)
    assert found["data"] == "small"
    assert found["permutations"] == 2
    row = found["rows"][0]
    assert {
        "recipe", "mean", "std", "n_support_stored_mean", "n_support_stored_std",
        "n_support_active_mean", "n_support_active_std", "labels_asked_mean", "seconds_mean",
        "runs",
    } <= row.keys()  # fmt: skip
    errors = [run["error"] for run in row["runs"]]
    assert row["mean"] == pytest.approx(np.mean(errors))
    assert row["std"] == pytest.approx(np.std(errors, ddof=1))


def test_numbers(kernbrook: Program, tmp_path: Path) -> None:
    result = kernbrook("compare", "friedman:120", "--recipes", "kernbrook-active,mean", *FAST)
    assert result.returncode == 0
    assert COMPILING.fullmatch(result.stderr)
    for part in ("MSE", "asked %", "friedman:120: 120 rows x 10 features", "of the logarithms"):
        assert part in result.stdout
    assert "mistakes" not in result.stdout
    page = tmp_path / "out.html"
    command = ["compare", "friedman:120", "--in-order", "--json", "-", "--report", str(page)]
    found = json.loads(kernbrook(*command).stdout)
    assert found["task"] == "regression"
    rows = {row["recipe"]: row for row in found["rows"]}
    assert {
        "kernbrook-regression",
        "kernbrook-active",
        "raker",
        "mean",
        "last-value",
    } <= rows.keys()
    assert "spa" not in rows
    X, y = kb.open_stream("friedman:120").read()
    record = kb.prequential(kb.recipes.make("mean"), X, y)
    assert rows["mean"]["mean"] == pytest.approx(record.error, rel=1e-12)
    assert rows["kernbrook-active"]["labels_asked_mean"] < 120 == rows["mean"]["labels_asked_mean"]
    assert "mean squared error" in page.read_text()


def test_recipes_are_checked_before_the_data(kernbrook: Program, tmp_path: Path) -> None:
    bad = tmp_path / "bad.libsvm"
    bad.write_text("1 1:oops\n")
    for recipes, said in (
        ("spa,spam", "unknown recipe 'spam'"),
        (
            "spa,mean",
            "expected all for classification or all for regression, got for classification spa",
        ),
    ):
        result = kernbrook("compare", str(bad), "--recipes", recipes)
        assert result.returncode == 1
        assert said in result.stderr


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_stopped_by_hand(jobs: str) -> None:
    """As Ctrl-C in a terminal does: every process of the command gets the signal."""
    begun = "import sys; from kernbrook.cli.main import run; print('begun', file=sys.stderr); run()"
    command = [sys.executable, "-c", begun, "compare", "waveform:200000", "--jobs", jobs]
    command += ["--recipes", "omkc-dd,spa"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored behind &
    with subprocess.Popen(command, text=True, preexec_fn=listening, **pipes) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, "")
    assert err.count("kernbrook: stopped\n") == 1


def test_same_seed_same_numbers_in_one_process_or_two(kernbrook: Program, csv_file: Path) -> None:
    command = ["compare", str(csv_file), "--permutations", "2", "--seed", "3", "--json", "-"]
    command += ["--recipes", "omkc-ss,spa,majority"]
    tables = []
    for jobs in ("1", "2"):
        rows = json.loads(kernbrook(*command, "--jobs", jobs).stdout)["rows"]
        tables.append([[run["error"] for run in row["runs"]] for row in rows])
    assert tables[0] == tables[1]


def test_orders_report_and_json_files(kernbrook: Program, csv_file: Path, tmp_path: Path) -> None:
    orders = np.array([np.random.default_rng(i).permutation(60) for i in range(3)])
    np.savez(tmp_path / "orders.npz", small=orders)
    result = kernbrook(
        "compare", str(csv_file), "--recipes", "omkc-dd", "--orders", str(tmp_path / "orders.npz"),
        "--report", str(tmp_path / "out.html"), "--json", str(tmp_path / "out.json"), "--jobs", "1",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "3 permutations" in result.stdout
    assert json.loads((tmp_path / "out.json").read_text())["permutations"] == 3
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") == 3
    assert "out.html" in result.stderr


def test_in_order_reads_the_stream_once_in_its_order(kernbrook: Program, csv_file: Path) -> None:
    result = kernbrook(
        "compare", str(csv_file), "--in-order", "--recipes", "omkc-dd", "--json", "-"
    )
    X, y = kb.open_stream(csv_file).read()
    record = kb.prequential(kb.recipes.make("omkc-dd"), X, y)
    assert json.loads(result.stdout)["rows"][0]["mean"] == pytest.approx(100 * record.error)


def test_one_class_against_the_rest(kernbrook: Program) -> None:
    result = kernbrook(
        "compare",
        "digits:300",
        "--table",
        "positive=3",
        "--recipes",
        "majority",
        "--json",
        "-",
        *FAST,
    )
    assert json.loads(result.stdout)["rows"][0]["mean"] < 15


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["compare", "nosuchdata"], 1, "unknown data 'nosuchdata'"),
        (["compare", "nosuch.csv"], 1, "nosuch.csv"),
        (["compare", "wdbc", "--recipes", "omkc-xx"], 1, "unknown recipe 'omkc-xx'"),
        (["compare", "wdbc", "--recipes", ""], 1, "unknown recipe ''"),
        (["compare", "wdbc", "--recipes", "spa,vkr-pdim"], 1, "vkr-pdim learns from all data at"),
        (["compare", "nosuch.csv", "--recipes", "spa(divisr=3)"], 1, "recipe spa: no parameter"),
        (["compare", "nosuch.csv", "--recipes", "spa(3)"], 1, "expected spa(PARAMETER=VALUE, ...)"),
        (["compare", "nosuch.csv", "--baselines", "sk"], 1, "unknown library of baselines 'sk'"),
        (["compare", "wdbc:5"], 1, "labels of two classes or more, found 1"),
        (["compare", "wdbc", "--orders", "nosuch.npz"], 1, "nosuch.npz: no such file"),
        (["compare", "wdbc", "--report", "nosuchfolder/x.html"], 1, "there is no folder"),
        (["compare", "wdbc", "--in-order", "--permutations", "3"], 1, "in_order"),
        (["compare", "wdbc", "--permutations", "0"], 2, "permutations"),
        (["compare", "wdbc", "--seed", "-1"], 2, "seed"),
        (["compare", "nosuch.csv", "--set", "budgte=3"], 1, "unknown parameter 'budgte': did you"),
        (["compare", "nosuch.csv", "--set", "jobs=3"], 1, "unknown parameter 'jobs'"),
        (["compare", "nosuch.csv", "--set", "budget"], 1, "--set: expected NAME=VALUE"),
        (["compare", "nosuch.csv", "--set", "random_state=3"], 1, "use --seed"),
        (["compare", "nosuch.csv", "--recipes", "rbp", "--set", "q=3"], 1, "unknown parameter"),
        (["compare", "nosuch.csv", "--recipes", "rbp", "--set", "budget=x"], 1, "budget must"),
        (["compare"], 2, "data"),
        (["nonsense"], 2, "nonsense"),
        (["reproduce", "omkc-table-9"], 1, "unknown table 'omkc-table-9'"),
        (["reproduce", "omkc-table-3", "--data", "iris"], 1, "unknown data set of omkc-table-3"),
        (["reproduce", "omkc-table-3", "--report", "x.txt"], 1, "a name that ends in .html"),
    ],
)
def test_what_is_wrong_is_said_in_one_place(
    kernbrook: Program, arguments: list[str], code: int, said: str
) -> None:
    result = kernbrook(*arguments)
    assert result.returncode == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_a_bad_line_is_named(kernbrook: Program, tmp_path: Path) -> None:
    path = tmp_path / "bad.libsvm"
    path.write_text("1 1:0.5\n-1 1:0.25\n1 1:oops\n")
    result = kernbrook("compare", str(path))
    assert result.returncode == 1
    assert "bad.libsvm, line 3" in result.stderr


def test_an_overflowing_kernel_is_named(kernbrook: Program, tmp_path: Path) -> None:
    path = tmp_path / "huge.libsvm"
    path.write_text("".join(f"{(-1) ** i} 1:{i + 1}e60\n" for i in range(6)))
    result = kernbrook("compare", str(path), "--recipes", "omkc-dd", *FAST)
    assert result.returncode == 1
    assert "(x.z)^3" in result.stderr


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"]])
def test_help_and_version_load_nothing_heavy(words: list[str]) -> None:
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
    assert process("--version").stdout.startswith("kernbrook ")


def test_listings(kernbrook: Program) -> None:
    data = kernbrook("data").stdout
    assert "wdbc " in data
    assert "friedman          a smooth function, 10 features, numbers" in data
    recipes = kernbrook("recipes").stdout
    assert "omkc-dd                  classification  OMKC(D,D)\n" in recipes
    assert "mean                     regression      mean so far\n" in recipes
    assert "vkr-trace                classification  VKRc (batch)\n" in recipes


def test_a_pipe_that_closes_early_is_no_error(csv_file: Path) -> None:
    command = [sys.executable, "-m", "kernbrook", "data"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_reproduce_prints_printed_and_ours(
    kernbrook: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "table.json"
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
    result = kernbrook(
        "reproduce", "omkc-table-3", "--data", "wdbc", "--json", str(target), *FAST,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "11.70 ± 1.01" in result.stdout
    found = json.loads(target.read_text())
    assert [cell["key"]["title"] for cell in found["cells"]] == [
        "Perceptron", "Perceptron(u)", "Perceptron(*)", "OM-2", "OMKC(D,D)",
    ]  # fmt: skip
    assert found["origins"] == {"wdbc": "seeded"}


def test_reproduce_times_and_figure(
    kernbrook: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernbrook.papers.omkc.DISCOUNT.places", (0.5, 1.0))
    times = kernbrook("reproduce", "omkc-table-5", "--data", "wdbc", *FAST)
    assert times.returncode == 0, times.stderr
    assert "47.9" in times.stdout
    page = tmp_path / "figure.html"
    figure = kernbrook(
        "reproduce", "omkc-figure-4", "--data", "wdbc", "--permutations", "1", "--jobs", "1",
        "--report", str(page),
    )  # fmt: skip
    assert figure.returncode == 0, figure.stderr
    assert "columns: the discount" in figure.stdout
    assert "<svg" in page.read_text()


def test_several_data_sets_have_ranks(kernbrook: Program, csv_file: Path, tmp_path: Path) -> None:
    target, page = tmp_path / "ranks.json", tmp_path / "ranks.html"
    result = kernbrook(
        "compare", str(csv_file), "wdbc", "--recipes", "majority,last-label", *FAST,
        "--json", str(target), "--report", str(page),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "ranks on 2 data sets" in result.stdout
    found = json.loads(target.read_text())
    assert found["ranks"]["data"] == [one["data"] for one in found["comparisons"]]
    assert len(found["ranks"]["ranks"]) == 2
    assert "<h2>Ranks</h2>" in page.read_text("utf-8")
    alone = kernbrook(
        "compare", str(csv_file), "wdbc", "--recipes", "majority", *FAST, "--json", str(target)
    )
    assert alone.returncode == 0, alone.stderr
    assert "ranks: expected two data sets or more, and two recipes" in alone.stderr
    assert list(json.loads(target.read_text())) == ["comparisons"]
