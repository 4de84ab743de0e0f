"""`kernbrook train` and `kernbrook predict` as a user meets them: files, exit codes, signals."""

from __future__ import annotations

import json
import lzma
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb
from kernbrook.cli.train import _so_far
from kernbrook.evaluation import recipes_wanted, training
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.evaluation.measures import Sums
from kernbrook.evaluation.training import Training

LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
BPAS = ["--recipe", "bpas", "--set", "budget=10"]


def process(*arguments, **options):
    command = [sys.executable, "-m", "kernbrook", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, text=True, **pipes)


def drawn(n=3000, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(3)
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)


def write_svmlight(path, X, y):
    rows = (" ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row)) for row in X)
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True)))


def write_csv(path, X, y=None, columns="a,b,c", label="kind", words=("no", "yes")):
    lines = [columns if y is None else f"{columns},{label}"]
    for i, row in enumerate(X):
        values = [f"{value:.3f}" for value in row]
        lines.append(",".join(values if y is None else [*values, words[int(y[i] > 0)]]))
    path.write_text("\n".join(lines) + "\n")


# -- train ------------------------------------------------------------------------------------


def test_the_model_is_that_of_prequential(kernbrook, tmp_path):
    X, y = drawn()
    write_svmlight(tmp_path / "data.svm", X, y)
    code, out, err = kernbrook("train", "data.svm", "--model", "m", *BPAS, "--json", "-")
    assert (code, err) == (0, "wrote m\n")
    found = json.loads(out)
    model = kb.recipes.make("bpas", budget=10, random_state=0)
    record = kb.prequential(model, kb.open_stream("data.svm"))
    assert found["mistakes"] == record.mistakes.sum()
    assert found["error"] == pytest.approx(100 * record.error)
    assert found["n_support_stored"] == record.n_support_stored
    assert found["kernel_weights"] == record.history.kernel_weights[-1].tolist()
    assert kb.load("m").model.decision_function(X).tolist() == model.decision_function(X).tolist()
    assert sorted(os.listdir(tmp_path)) == ["data.svm", "m"]


def test_a_recipe_is_made_and_checked_once(kernbrook, monkeypatch):
    done = []

    def counted(name, own):
        def call(*given, **more):
            done.append(name)
            return own(*given, **more)

        return call

    for module, name in (
        (recipes_wanted, "make_online"), (recipes_wanted, "check_settings"),
        (training, "check_settings"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    assert kernbrook("train", "checkerboard:60", "--model", "m", "--recipe", "majority")[0] == 0
    assert done == ["make_online", "check_settings"]


def test_what_is_printed(kernbrook):
    code, out, err = kernbrook("train", "wdbc", "--model", "m", "--recipe", "spa")
    assert (code, err) == (0, "wrote m\n")
    record = kb.prequential(kb.recipes.make("spa", random_state=0), kb.open_stream("wdbc"))
    assert "wdbc: SPA" in out
    assert f"{100 * record.error:.2f} %" in out
    assert f"{record.n_support_stored:,}" in out
    best = kb.load("m").model.kernels_[int(np.argmax(record.history.kernel_weights[-1]))]
    assert f"{record.history.kernel_weights[-1].max():.3f}  {best}" in out


def test_weights_that_are_printed_sum_to_one(kernbrook):
    """Experts without a kernel, such as cells, have a share of their own."""
    code, out, _ = kernbrook("train", "wdbc:300", "--model", "m")
    model = kb.load("m").model
    bare = model.expert_weights_.sum() - model.kernel_weights_.sum()
    assert (code, bare > 0.001) == (0, True)
    assert f"{bare:.3f}  experts without a kernel" in out
    lines = out[out.index("kernels ") : out.index("\n\n")].removeprefix("kernels").splitlines()
    weights = [float(line.split()[0]) for line in lines]
    assert sum(weights) == pytest.approx(1, abs=0.005)


def test_settings(kernbrook):
    kernbrook(
        "train", "checkerboard:1500", "--model", "m", "--recipe", "spa", "--seed", "7",
        "--set", "step=0.25", "--set", "unit_diagonal=false", "--set", "kernels=amkl17",
    )  # fmt: skip
    model = kb.load("m").model
    assert (model.learner.step, model.learner.unit_diagonal) == (0.25, False)
    assert (model.kernels, model.random_state, len(model.kernels_)) == ("amkl17", 7, 17)
    assert model.labels_asked_ == 1500


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["wdbc"], 2, "--model"),
        (["wdbc", "--model", "absent/m"], 1, "there is no folder"),
        (["wdbc", "--model", "."], 1, "not an ordinary file"),
        (["absent.svm", "--model", "m"], 1, "absent.svm: no such file"),
        (["wdbc", "--model", "m", "--recipe", "spam"], 1, "did you mean spa?"),
        (["wdbc", "--model", "m", "--recipe", "l2-svm"], 1, "kb.recipes.make('l2-svm').fit(X, y)"),
        (["wdbc", "--model", "m", "--set", "step"], 1, "expected NAME=VALUE, got 'step'"),
        (["wdbc", "--model", "m", "--set", "stepp=1"], 1, "no parameter 'stepp'; it has"),
        (["wdbc", "--model", "m", "--set", "discount=7"], 1, "discount"),
        (["wdbc", "--model", "m", "--set", "discount=much"], 1, "discount"),
        (["wdbc", "--model", "m", "--set", "random_state=1"], 1, "use --seed"),
        (["wdbc", "--model", "m", "--recipe", "om2", "--set", "budget=9"], 1, "no parameter"),
        (["wdbc", "--model", "m", "--table", "classes=1,2"], 1, "row 20: expected one of"),
        (["wdbc", "--model", "m", "--table", "classes=a,b"], 1, "the labels are numbers, got a"),
        (["wdbc", "--model", "m", "--table", "positive=5"], 1, "positive='5' is not a label"),
        (["wdbc", "--model", "m", "--resume", "--overwrite"], 1, "expected one of them, got both"),
        (["friedman:99", "--model", "m", "--recipe", "spa"], 1, "for regression: kernbrook-reg"),
        (["friedman", "--model", "m", "--recipe", "mean", "--table", "classes=1"], 1, "give none"),
        (["friedman", "--model", "m", "--recipe", "amkl", "--set", "window=0"], 1, "window must"),
        (["wdbc", "--model", "m", "--set", "kernels=[1]"], 1, "kernels"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(kernbrook, tmp_path, arguments, code, said):
    found, out, err = kernbrook("train", *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_read(kernbrook, tmp_path):
    X, y = drawn(200)
    write_svmlight(tmp_path / "data.svm", X, y)
    Path("data.svm.xz").write_bytes(lzma.compress(Path("data.svm").read_bytes())[:-200])
    Path("empty.svm").touch()
    Path("bad.csv").write_text("a,b,label\n1,2,x\n1,oops,y\n")
    for name, said in (
        ("data.svm.xz", "data.svm.xz: the compressed data is truncated"),
        ("empty.svm", "empty.svm: the file is empty"),
        ("bad.csv", "bad.csv, line 3: column 'b': expected a number, found 'oops'"),
    ):
        code, out, err = kernbrook("train", name, "--model", "m")
        assert (code, out) == (1, "")
        assert said in err
    assert not Path("m").exists()


def test_a_file_in_the_way(kernbrook):
    kernbrook("train", "wdbc", "--model", "m", *BPAS)
    before = Path("m").read_bytes()
    code, out, err = kernbrook("train", "wdbc", "--model", "m", "--recipe", "spa")
    assert (code, out) == (1, "")
    assert "m is there already: resume (--resume) to go on with the same data, go_on (--go-o" in err
    assert Path("m").read_bytes() == before
    assert kernbrook("train", "wdbc", "--model", "m", "--recipe", "spa", "--overwrite")[0] == 0
    assert Path("m").read_bytes() != before


def test_the_data_are_not_overwritten(kernbrook, tmp_path):
    write_svmlight(tmp_path / "data.svm", *drawn(50))
    code, _, err = kernbrook("train", "data.svm", "--model", "./data.svm", "--overwrite")
    assert code == 1
    assert "data.svm is read by this command" in err


@pytest.mark.parametrize("kind", ["link", "hard link", "named data", "folder"])
def test_data_are_not_overwritten_under_another_name(kernbrook, tmp_path, monkeypatch, kind):
    write_svmlight(tmp_path / "data.libsvm", *drawn(50))
    data, target = "data.libsvm", Path("other")
    if kind == "link":
        target.symlink_to("data.libsvm")
    elif kind == "hard link":
        target.hardlink_to("data.libsvm")
    elif kind == "named data":
        monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
        data, target = "data:20", Path("data.libsvm")
    else:
        table = pa.table({"a": [0.5, 1.5], "label": [0, 1]})
        Path("rows").mkdir()
        pq.write_table(table, "rows/1.parquet")
        data, target = "rows", Path("rows/1.parquet")
    before = target.read_bytes()
    kernbrook("train", "wdbc", "--model", "m", *BPAS)
    for command in (
        ["train", data, "--model", target, "--overwrite", "--recipe", "bpas"],
        ["train", data, "--model", "m2", "--json", target, "--recipe", "bpas"],
        ["predict", "m", data, "--output", target],
        ["compare", data, "--json", target],
        ["label", target, data, "--classes", "0,1"],
        ["label", "m2", data, "--classes", "0,1", "--questions", target, "--answers", "a"],
    ):
        code, _, err = kernbrook(*command)
        assert code == 1
        assert f"{target} is read by this command, and would be replaced" in err
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["show", "m", "--json", "./m"], "--json: m is read by this command"),
        (["predict", "m", "wdbc", "--output", "m"], "--output: m is read by this command"),
        (["train", "wdbc", "--model", "x", "--json", "./x"], "--model, --json: expected two files"),
        (
            ["compare", "wdbc", "--json", "x.html", "--report", "./x.html"],
            "--json, --report: expected two files, got x.html twice",
        ),
        (["compare", "wdbc", "--json", "/dev/null"], "is not an ordinary file"),
        (["label", "m", "wdbc", "--questions", "m.labels.jsonl", "--answers", "a"], "two files"),
        (["label", "m", "wdbc", "--questions", "q", "--answers", "./q"], "two files, got q twice"),
    ],
)
def test_files_are_written_once_and_not_read(kernbrook, command, said):
    kernbrook("train", "wdbc", "--model", "m", *BPAS)
    before = Path("m").read_bytes()
    code, out, err = kernbrook(*command)
    assert (code, out) == (1, "")
    assert said in err
    assert Path("m").read_bytes() == before


def test_labels_with_commas_can_be_named(kernbrook, tmp_path):
    X, y = drawn(60)
    write_csv(tmp_path / "data.csv", X, y, words=('"x,y"', "z"))
    code, _, err = kernbrook(
        "train", "data.csv", "--model", "m", "--recipe", "bpas", "--table", 'classes="x,y",z'
    )
    assert (code, err) == (0, "wrote m\n")
    assert kb.load("m").classes_.tolist() == ["x,y", "z"]
    for classes, said in (
        ('"x,y,z', "in double quotes where one has a comma"),
        ("", "classes: expected all labels, got none"),
    ):
        code, _, err = kernbrook(
            "train",
            "data.csv",
            "--model",
            "m2",
            "--recipe",
            "bpas",
            "--table",
            f"classes={classes}",
        )
        assert code == 1
        assert said in err


def test_one_class_of_a_table_against_the_rest_keeps_the_names(kernbrook, tmp_path):
    X, y = drawn(60)
    write_csv(tmp_path / "data.csv", X, y)
    kernbrook(
        "train", "data.csv", "--table", "positive=yes", "--model", "m", "--recipe", "majority"
    )
    table = kb.load("m")
    assert (table.encoder_.columns_, table.label_) == (["a", "b", "c"], "kind")
    write_csv(tmp_path / "other.csv", X, columns="a,b,d")
    code, out, err = kernbrook("predict", "m", "other.csv")
    assert (code, out) == (1, "")
    assert "missing 'c'" in err


def test_progress_in_a_line():
    X, y = kb.open_stream("friedman:400").read()
    model = kb.OnlineMKRegressor("amkl17", labels=kb.labels.RandomLabels(0.5), random_state=0)
    model.learn(X, y)
    state = Training(model, name="x", rows=400, data=Sums(400, 400, {"loss": 5.0}), rows_read=400)
    asked = model.labels_asked_
    assert _so_far(state) == f"x: 400 rows, mean squared error 0.0125, {asked} labels"
    model = kb.recipes.make("omkl").fit(X, y)
    state = Training(model, name="x", rows=400, data=Sums(400, 400, {"loss": 800.0}), rows_read=400)
    told = "400 rows, mean squared error 2, 6,800 support vectors"
    assert _so_far(state) == f"x: {told}"
    state.resumed_at, state.rows_read = 400, 100
    assert _so_far(state) == "x: 100 rows read again"


@pytest.mark.long
@POSIX
def test_progress_on_a_terminal(tmp_path):
    import pty

    ours, theirs = pty.openpty()
    command = ["train", "waveform:20000", "--table", "positive=0", "--model", "m", *BPAS]
    with process(*command, cwd=tmp_path, stderr=theirs) as done:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 10_000)
            except OSError:  # closed by the last writer
                break
            shown += part
        out = done.stdout.read()
    os.close(ours)
    assert done.returncode == 0
    assert b"reading waveform:20000" in shown
    assert b"rows, " in shown
    assert b"% wrong, 160 support vectors" in shown
    assert "\x1b" not in out


def write_numbers(path, rows=900, more=0, seed=0):
    """A CSV file whose label is a number."""
    X, _ = drawn(rows + more, seed=seed)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    lines = [
        *(",".join(f"{v:.3f}" for v in (*row, label)) for row, label in zip(X, y, strict=True))
    ]
    path.write_text("\n".join(["a,b,c,y", *lines[:rows]]) + "\n")
    return kb.open_stream(path).read()


def test_numbers(kernbrook, tmp_path):
    X, y = write_numbers(tmp_path / "data.csv", rows=300)
    command = ["train", "data.csv", "--recipe", "kernbrook-active"]
    code, out, err = kernbrook(*command, "--model", "m")
    assert (code, err) == (0, "wrote m\n")
    model = kb.recipes.make("kernbrook-active", random_state=0)
    record = kb.prequential(model, X, y)
    assert f"mean squared error  {record.error:.4g}" in out
    share = 100 * record.labels_asked / 300
    assert f"labels asked        {record.labels_asked} ({share:.1f} %)" in out
    assert "support vectors" not in out
    found = json.loads(kernbrook(*command, "--model", "m2", "--json", "-")[1])
    assert found["task"] == "regression"
    assert found["error"] == pytest.approx(record.error, rel=1e-12)
    assert found["labels_asked"] == record.labels_asked < 300
    assert not {"classes", "mistakes"} & found.keys()
    assert Path("m").read_bytes() == Path("m2").read_bytes()
    assert kb.load("m").model.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("recipe", ["omkl", "mean"])
def test_appended_numbers_are_learned(kernbrook, tmp_path, recipe):
    write_numbers(tmp_path / "data.csv", rows=300, more=801)
    command = ["train", "data.csv", "--recipe", recipe, "--json", "-"]
    kernbrook(*command, "--model", "m")
    write_numbers(tmp_path / "data.csv", rows=1101)
    resumed = json.loads(kernbrook(*command, "--model", "m", "--resume")[1])
    assert (resumed["n_rows"], resumed["resumed_at"]) == (1101, 300)
    whole = json.loads(kernbrook(*command, "--model", "whole")[1])
    assert resumed["error"] == whole["error"]
    assert Path("m").read_bytes() == Path("whole").read_bytes()


# -- stopped, and going on --------------------------------------------------------------------


def test_resumed_without_a_file_or_with_a_complete_one(kernbrook):
    command = ["train", "wdbc", "--model", "m", "--resume", *BPAS]
    assert kernbrook(*command)[::2] == (0, "wrote m\n")
    before = Path("m").read_bytes()
    code, out, err = kernbrook(*command)
    assert (code, err) == (0, "m was complete, nothing new\n")
    assert "569" in out
    assert Path("m").read_bytes() == before


def test_appended_rows_are_learned(kernbrook, tmp_path):
    X, y = drawn(2600)
    write_csv(tmp_path / "data.csv", X[:1500], y[:1500])
    command = ["train", "data.csv", "--recipe", "spa", "--json", "-"]
    kernbrook(*command, "--model", "m")
    write_csv(tmp_path / "data.csv", X, y)
    resumed = json.loads(kernbrook(*command, "--model", "m", "--resume")[1])
    assert (resumed["n_rows"], resumed["resumed_at"]) == (2600, 1500)
    kernbrook(*command, "--model", "whole")
    assert Path("m").read_bytes() == Path("whole").read_bytes()


def test_other_data_are_noticed(kernbrook, tmp_path):
    X, y = drawn(1500)

    def write(X, y, **how):
        write_csv(tmp_path / "data.csv", X, y, words=("0", "1"), **how)

    write(X, y)
    command = ["train", "data.csv", "--model", "m", "--resume"]
    assert kernbrook(*command, *BPAS)[0] == 0
    before = Path("m").read_bytes()

    def refused():
        code, out, err = kernbrook(*command, *BPAS)
        assert (code, out) == (1, "")
        assert Path("m").read_bytes() == before
        return err

    other = X.copy()
    other[700, 1] += 0.001
    write(other, y)
    assert "the first 1500 rows here are not those that it has seen" in refused()
    write(X, np.where(np.arange(1500) == 3, -y, y))
    assert "the first 1500 rows here are not" in refused()
    write(X[:1499], y[:1499])
    assert "it has seen 1500 rows, here are 1499" in refused()
    write(X, y, columns="a,b,d")
    assert "missing 'c', unknown 'd'; a model that is trained with missing" in refused()
    write(X[:, :2], y, columns="a,b")
    assert "missing 'c'; a model that is" in refused()
    write(X, y)
    assert "nothing new" in kernbrook(*command, *BPAS)[2]


def test_a_label_that_comes_later(kernbrook, tmp_path):
    X, y = drawn(1300)
    write_csv(tmp_path / "data.csv", X, y)
    kernbrook("train", "data.csv", "--model", "m", *BPAS)
    with open("data.csv", "a") as file:
        file.write("1,2,3,maybe\n")
    code, _, err = kernbrook("train", "data.csv", "--model", "m", "--resume", *BPAS)
    assert code == 1
    assert "row 1301: expected one of the labels no, yes, found maybe" in err


def test_files_that_training_cannot_go_on_from(kernbrook):
    kernbrook("train", "wdbc", "--model", "m", *BPAS)
    data = Path("m").read_bytes()
    place = data.rindex(rb"\"loss\": ") + 10
    damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
    kb.save(kb.load("m").model, "model")
    for content, said in (
        (data[:-1], "damaged or not a saved model"),
        (damaged, "do not match their checksum"),
        (b"", "empty, damaged or not a saved model"),
        (b"1 1:0.5\n" * 99, "not a saved model"),
        (Path("model").read_bytes(), "a model that `train` did not write"),
    ):
        Path("m").write_bytes(content)
        code, out, err = kernbrook("train", "wdbc", "--model", "m", "--resume", *BPAS)
        assert (code, out) == (1, "")
        assert "kernbrook: m: " in err
        assert said in err
        assert Path("m").read_bytes() == content


# A process that has loaded everything forks the trainings; each kills itself at its moment: before
# it looks at some rows for the n-th time, or before a model's draft or its folder is made sure of.
KILLS = """
import contextlib, io, os, signal, sys
from kernbrook.cli.main import run
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.evaluation.content import RowDigest

COMMAND = sys.argv[1:]
sys.argv = ["kernbrook", "train", "waveform:600", *COMMAND[2:], "--model", "loaded"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    run()
os.remove("loaded")

def struck(place, name, times):
    left, called = iter(range(times - 1, -1, -1)), getattr(place, name)
    def call(*arguments):
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return called(*arguments)
    setattr(place, name, call)

def start(model, *moment):
    process = os.fork()
    if process == 0:
        sys.argv = ["kernbrook", *COMMAND, "--checkpoint-every", "0", "--model", model, "--resume"]
        if moment:
            struck(*moment)
        try:
            run()
        except SystemExit as end:
            os._exit(end.code or 0)
        finally:
            os._exit(99)
    return os.waitpid(process, 0)[1]

rows, draft, folder = ((RowDigest, "update"), (os, "fsync"), (os, "fsync"))
for moment in (
    (*rows, 1), (*draft, 1), (*folder, 2), (*rows, 1), (*rows, 9), (*draft, 9), (*folder, 12),
    (*rows, 25),
):
    assert os.WTERMSIG(start("m", *moment)) == signal.SIGKILL
    learned = load_checkpoint("m")[1].rows if os.path.exists("m") else 0
    drafts = [name for name in os.listdir() if name.startswith(".m.") and name.endswith(".tmp")]
    print(learned // 1024, len(drafts))
assert start("m") == 0
"""


@pytest.mark.long
@POSIX
@pytest.mark.long
def test_killed_at_eight_moments(kernbrook, tmp_path):
    """Each time it goes on from its last checkpoint; the last file is that of one quiet run."""
    command = ["train", "waveform:30000", "--table", "positive=0", "--recipe", "spa"]
    (tmp_path / "kills.py").write_text(KILLS)
    done = subprocess.run(
        [sys.executable, "kills.py", *command],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    chunks_and_drafts = ["0 0", "0 1", "1 0", "1 0", "7 0", "11 1", "17 0", "23 0"]
    assert done.stdout.splitlines()[:8] == chunks_and_drafts
    assert kernbrook(*command, "--model", "quiet")[0] == 0
    assert (tmp_path / "m").read_bytes() == (tmp_path / "quiet").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["kills.py", "m", "quiet"]


@POSIX
def test_stopped_by_a_signal(kernbrook, tmp_path):
    """A polite kill, whenever it comes; Ctrl-C is in `test_going_on.py`."""
    command = ["train", "waveform:9000", "--table", "positive=0", "--recipe", "bpas", "--seed", "3"]
    command += ["--checkpoint-every", "0"]
    with process(*command, "--model", "m", cwd=tmp_path) as stopped:
        deadline = time.monotonic() + 100
        while not (tmp_path / "m").exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        stopped.terminate()
        out, err = stopped.communicate(timeout=100)
    assert (stopped.returncode, out) == (143, "")
    _, checkpoint = load_checkpoint(tmp_path / "m")
    assert f"m has learned {checkpoint.rows:,} of 9,000 rows" in err
    assert "--resume" in err
    assert 0 < checkpoint.rows < 9000
    for name, more in (("m", ["--resume"]), ("whole", [])):
        assert kernbrook(*command, "--model", name, *more)[0] == 0
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["m", "whole"]


def limited(size):
    """Run before the program: no file may grow beyond `size` bytes."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.long
@POSIX
def test_a_full_disk_keeps_the_last_checkpoint(kernbrook, tmp_path):
    command = ["train", "waveform:9000", "--table", "positive=0", "--recipe", "spa", "--model", "m"]
    command += ["--checkpoint-every", "0", "--resume"]
    for _ in range(2):  # the second time it cannot go on either
        with process(*command, cwd=tmp_path, preexec_fn=lambda: limited(250_000)) as full:
            out, err = full.communicate(timeout=100)
        assert (full.returncode, out) == (1, "")
        assert "cannot write 'm': File too large; the checkpoint after " in err
        _, checkpoint = load_checkpoint(tmp_path / "m")
        assert 0 < checkpoint.rows < 9000
        assert f"{checkpoint.rows} rows is still there" in err
        assert os.listdir(tmp_path) == ["m"]
    assert kernbrook(*command)[0] == 0
    assert load_checkpoint(tmp_path / "m")[1].finished


PEAK = """
import sys
from kernbrook.cli.main import run
try:
    run()
finally:
    lines = open("/proc/self/status").read().splitlines()
    print(next(line for line in lines if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.long
@LINUX
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """60,000 rows of 60 features take over 28 MB in any form that holds them."""
    write_svmlight(tmp_path / "block", *drawn(1000, 60))
    block = (tmp_path / "block").read_bytes()
    train = ["train", "data.svm", "--model", "m", "--overwrite", "--recipe", "bpas"]
    train += ["--set", "budget=5", "--checkpoint-every", "0.5"]
    peaks = {}
    for times in (10, 60):
        with open(tmp_path / "data.svm", "wb") as file:
            file.writelines([block] * times)
        for command in (train, ["predict", "m", "data.svm", "--output", "out"]):
            done = subprocess.run(
                [sys.executable, "-c", PEAK, *command],
                cwd=tmp_path, capture_output=True, text=True, check=True,
            )  # fmt: skip
            peaks[command[0], times] = int(done.stdout.split()[-1]) / 1024
    assert len((tmp_path / "out").read_text().splitlines()) == 60_000
    assert peaks["train", 60] < peaks["train", 10] + 20, peaks
    assert peaks["predict", 60] < peaks["predict", 10] + 20, peaks


# -- predict ----------------------------------------------------------------------------------


def told(err):
    """How many rows were wrong, and of how many: above the table of measures."""
    return err.splitlines()[0].rstrip()


@pytest.fixture
def trained(kernbrook, tmp_path):
    """A CSV file's model `m`, and rows that it has not seen."""
    X, y = drawn(1200)
    write_csv(tmp_path / "data.csv", X[:900], y[:900])
    kernbrook("train", "data.csv", "--model", "m", *BPAS)
    return X[900:], y[900:]


def test_predictions_are_those_of_the_model(kernbrook, trained, tmp_path):
    X, y = trained
    write_csv(tmp_path / "new.csv", X, y)
    model = kb.load("m").model
    expected = model.predict(X).tolist()
    code, out, err = kernbrook("predict", "m", "new.csv")
    assert (code, out.splitlines()) == (0, expected)
    error = 100 * np.mean(np.array(expected) != np.where(y > 0, "yes", "no"))
    assert told(err) == f"error {error:.2f} % on 300 labelled rows"
    code, out, _ = kernbrook("predict", "m", "new.csv", "--scores")
    assert out.splitlines()[0] == "prediction,score of yes"
    rows = [line.split(",") for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == expected
    assert [float(row[1]) for row in rows] == model.decision_function(X).tolist()
    code, out, err = kernbrook("predict", "m", "new.csv", "--output", "out")
    assert (code, out) == (0, "")
    assert err.startswith("wrote 300 predictions to out\n")
    assert (tmp_path / "out").read_text().splitlines() == expected


def test_more_rows_than_a_chunk_and_sparse_ones(kernbrook, tmp_path):
    X, y = drawn(5000)
    X[np.abs(X) < 0.9] = 0
    rows = (" ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row) if v) for row in X)
    (tmp_path / "data.svm").write_text("".join(f"{a} {b}\n" for a, b in zip(y, rows, strict=True)))
    kernbrook("train", "data.svm", "--model", "m", *BPAS)
    _, out, err = kernbrook("predict", "m", "data.svm")
    expected = kb.load("m").model.predict(X)
    assert out.splitlines() == list(map(str, expected))
    assert f"error {100 * np.mean(expected != y):.2f} % on 5,000 labelled rows" in err


def test_rows_without_labels(kernbrook, trained, tmp_path):
    X, y = trained
    write_csv(tmp_path / "new.csv", X, y)
    expected = kernbrook("predict", "m", "new.csv")[1]
    write_csv(tmp_path / "bare.csv", X)
    assert kernbrook("predict", "m", "bare.csv") == (0, expected, "")
    write_svmlight(tmp_path / "bare.svm", X, np.zeros(300, dtype=int))
    assert kernbrook("predict", "m", "bare.svm") == (0, expected, "")
    write_svmlight(tmp_path / "narrow.svm", X[:, :2], np.zeros(300, dtype=int))
    assert kernbrook("predict", "m", "narrow.svm")[0] == 0
    (tmp_path / "one.csv").write_text("a,b,c\n1,2,oops\n")
    assert (
        "one.csv, line 2: column 'c': expected a number, found 'oops'"
        in (kernbrook("predict", "m", "one.csv")[2])
    )


def test_labels_that_the_model_does_not_know_are_not_counted(kernbrook, tmp_path):
    X, y = drawn(1200)
    write_svmlight(tmp_path / "data.svm", X, y)
    kernbrook("train", "data.svm", "--model", "m", *BPAS)
    labels = np.where(np.arange(1200) < 500, y, 7)
    write_svmlight(tmp_path / "some.svm", X, labels)
    wrong = np.mean(kb.load("m").model.predict(X[:500]) != y[:500])
    err = kernbrook("predict", "m", "some.svm")[2]
    assert told(err) == f"error {100 * wrong:.2f} % on 500 labelled rows"
    assert "not counted: 700 rows with a label that the model does not know" in err
    write_svmlight(tmp_path / "none.svm", X, np.where(np.arange(1200) < 500, 8, 7))
    assert kernbrook("predict", "m", "none.svm")[2] == (
        "no row is judged; not counted: 1,200 rows with a label that the model does not know\n"
    )


def test_one_class_against_the_rest(kernbrook):
    kernbrook("train", "digits:1000", "--table", "positive=8", "--model", "m", *BPAS)
    code, out, err = kernbrook("predict", "m", "digits")
    X, y = kb.open_stream("digits").read()
    expected = kb.load("m").model.predict(X)
    assert (code, out.splitlines()) == (0, list(map(str, expected)))
    error = 100 * np.mean((expected > 0) != (y == 8))
    assert told(err) == f"error {error:.2f} % on 1,797 labelled rows"
    write_svmlight(Path("bare.svm"), X[:20], np.zeros(20, dtype=int))
    assert kernbrook("predict", "m", "bare.svm")[2] == ""  # no 8 at all: these are no labels


def test_models_of_other_origin(kernbrook, tmp_path):
    X, y = drawn(300)
    kb.save(kb.OnlineMKClassifier([kb.Linear()]).fit(X, y), "m")
    write_csv(tmp_path / "bare.csv", X)
    write_csv(tmp_path / "new.csv", X, y, words=("-1", "1"))
    expected = [str(label) for label in kb.load("m").predict(X)]
    assert kernbrook("predict", "m", "bare.csv")[1].splitlines() == expected
    code, out, err = kernbrook("predict", "m", "new.csv", "--label", "kind")
    assert (code, out.splitlines()) == (0, expected)
    assert "on 300 labelled rows" in err
    kernbrook("train", "new.csv", "--model", "trivial", "--recipe", "majority")
    assert set(kernbrook("predict", "trivial", "bare.csv")[1].split()) <= {"-1", "1"}
    pool = [kb.Linear(), kb.Gaussian(sigma=1)]
    for batch in (
        kb.VotedKernelClassifier(pool),
        kb.VotedKernelClassifierCV(pool, lams=[0.01], betas=[0.01]),
    ):
        kb.save(batch.fit(X, y), "batch")
        expected = [str(label) for label in batch.predict(X)]
        assert kernbrook("predict", "batch", "bare.csv")[1].splitlines() == expected
        assert "does not ask for labels" in kernbrook("label", "batch", "bare.csv")[2]
        said = kernbrook("train", "new.csv", "--model", "batch", "--resume")[2]
        assert "learns from all data at once, not from a stream" in said
    pandas = pytest.importorskip("pandas")
    kb.save(kb.OnlineMKClassifier().fit(pandas.DataFrame(X, columns=list("abc")), y), "named")
    assert kernbrook("predict", "named", "bare.csv")[::2] == (0, "")
    said = kernbrook("predict", "named", "bare.csv")[1]
    write_csv(tmp_path / "bare.csv", X[:, [0, 2, 1]], columns="a,c,b")
    assert kernbrook("predict", "named", "bare.csv") == (0, said, "")


def test_a_checkpoint_can_predict(kernbrook, tmp_path):
    from kernbrook.evaluation.training import train

    stream = kb.open_stream("checkerboard:3000")
    train(stream, kb.recipes.make("bpas", random_state=0), "m", stop=lambda: True)
    code, out, err = kernbrook("predict", "m", "checkerboard:100")
    assert (code, len(out.splitlines())) == (0, 100)
    assert "m is a checkpoint, after 1,024 rows" in err


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("a,b", "missing 'c'"),
        ("a,b,c,d", "unknown 'd'"),
        ("b,a,c,sort", "unknown 'sort'"),
        ("a,b,c,kind,other", "unknown 'other'"),
        ("a,b,kind", "missing 'c'"),
        ("a,b,c,c", "two columns are called 'c'"),
    ],
)
def test_columns_that_are_not_the_models(kernbrook, trained, tmp_path, columns, said):
    names = columns.split(",")
    (tmp_path / "new.csv").write_text(f"{columns}\n" + ",".join("1" for _ in names) + "\n")
    code, out, err = kernbrook("predict", "m", "new.csv")
    assert (code, out) == (1, "")
    assert "new.csv, line 1: " in err
    assert said in err


@pytest.mark.parametrize("order", ["a,b,c", "c,a,b", "b,c,a,kind", "kind,c,b,a"])
@pytest.mark.parametrize("mark", [",", ";"])
def test_columns_in_any_order(kernbrook, trained, tmp_path, order, mark):
    X, y = trained
    write_csv(tmp_path / "new.csv", X, y)
    _, expected, said = kernbrook("predict", "m", "new.csv")
    rows = [line.split(",") for line in (tmp_path / "new.csv").read_text().splitlines()]
    places = [rows[0].index(name) for name in order.split(",")]
    (tmp_path / "other.csv").write_text(
        "".join(mark.join(row[i] for i in places) + "\n" for row in rows)
    )
    assert kernbrook("predict", "m", "other.csv") == (0, expected, said if "kind" in order else "")


@pytest.mark.parametrize("name", ["new.csv", "new"])
@pytest.mark.parametrize("text", ["size\n1.5\n-2\n", "kind,size\nx,1.5\ny,-2\n"])
def test_one_feature(kernbrook, tmp_path, name, text):
    rows = "".join(f"{v},{'big' if v > 0 else 'small'}\n" for v in np.linspace(-3, 3, 60))
    (tmp_path / "data.csv").write_text(f"size,kind\n{rows}")
    assert kernbrook("train", "data.csv", "--model", "m", *BPAS)[0] == 0
    (tmp_path / name).write_text(text)
    assert kernbrook("predict", "m", name)[:2] == (0, "big\nsmall\n")
    X = np.linspace(-3, 3, 60)[:, None]
    kb.save(kb.OnlineMKClassifier([kb.Linear()]).fit(X, X[:, 0] > 0), "unnamed")
    (tmp_path / "bare.csv").write_text("2\n-2\n3\n")
    assert kernbrook("predict", "unnamed", "bare.csv")[1] == "True\nFalse\nTrue\n"


def test_years_as_names(kernbrook, tmp_path):
    """Without the label, nothing but the model's names tells the header from data."""
    X, y = drawn(200)
    write_csv(tmp_path / "data.csv", X, y, columns="2019,2020,2021")
    assert kernbrook("train", "data.csv", "--model", "m", *BPAS)[0] == 0
    expected = kb.load("m").model.predict(X).tolist()
    write_csv(tmp_path / "new.csv", X, columns="2019,2020,2021")
    assert kernbrook("predict", "m", "new.csv") == (0, "".join(f"{v}\n" for v in expected), "")


def test_what_predict_refuses(kernbrook, trained, tmp_path):
    X, y = trained
    write_csv(tmp_path / "new.csv", X, y)
    write_svmlight(tmp_path / "wide.svm", np.hstack([X, X]), y)
    kb.save(kb.recipes.make("spa"), "fresh")
    kb.save(kb.recipes.make("majority").fit(X, y), "trivial")
    kb.save(kb.recipes.make("kernbrook-active"), "number")
    (tmp_path / "foreign").write_bytes(b"something else")
    for arguments, said in (
        (["m", "wide.svm"], "wide.svm, line 1: found '4:"),
        (["m", "wdbc"], "wdbc: expected 3 features, found 30"),
        (["m", "absent.csv"], "absent.csv: no such file"),
        (["absent", "new.csv"], "absent: there is no such file"),
        (["foreign", "new.csv"], "foreign: empty, damaged or not a saved model"),
        (["fresh", "new.csv"], "fresh: a model that has not learned anything"),
        (["trivial", "new.csv", "--scores"], "scores: TrivialClassifier has none"),
        (["number", "new.csv"], "number: a model that has not learned anything"),
        (["m", "new.csv", "--label", "sort"], "unknown column 'sort': known: a, b, c, kind"),
        (["m", "new.csv", "--output", "absent/out"], "there is no folder"),
        (["m", "new.csv", "--output", "/dev/full"], "not an ordinary file"),
        (["m", "new.csv", "--output", "new.csv"], "new.csv is read by this command"),
        (["m", "new.csv", "--output", "m"], "m is read by this command"),
    ):
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        code, _, err = kernbrook("predict", *arguments)
        assert code == 1
        assert said in err
        assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_predicted_numbers(kernbrook, tmp_path):
    X, y = write_numbers(tmp_path / "data.csv", rows=200)
    kernbrook("train", "data.csv", "--recipe", "kernbrook-regression", "--model", "m")
    X, y = write_numbers(tmp_path / "new.csv", rows=200, seed=1)
    model = kb.load("m").model
    model.delay = np.inf  # it learns no more
    expected = model.predict(X)
    code, out, err = kernbrook("predict", "m", "new.csv")
    assert code == 0
    assert [float(line) for line in out.splitlines()] == expected.tolist()
    error = ((expected - y) ** 2).mean()
    assert told(err) == f"mean squared error {error:.4g} on 200 labelled rows"
    write_csv(tmp_path / "bare.csv", X)
    assert kernbrook("predict", "m", "bare.csv") == (0, out, "")
    write_svmlight(tmp_path / "bare.svm", X, np.zeros(200, dtype=int))
    assert kernbrook("predict", "m", "bare.svm") == (0, out, "")  # the same everywhere: no labels
    write_csv(tmp_path / "text.csv", X, y, label="y")
    said = "no row is judged; not counted: 200 rows with a label that the model does not know\n"
    assert kernbrook("predict", "m", "text.csv") == (0, out, said)
    code, out, err = kernbrook("predict", "m", "new.csv", "--scores")
    assert (code, out) == (1, "")
    assert "scores: OnlineMKRegressor has none" in err


def test_numbers_of_one_class_against_the_rest(kernbrook, tmp_path):
    X, y = drawn(600)
    write_csv(tmp_path / "data.csv", X, y)
    kernbrook("train", "data.csv", "--recipe", "mean", "--table", "positive=yes", "--model", "m")
    sign = np.where(y > 0, 1, -1)
    assert kb.load("m").model.predict(X[:1]) == pytest.approx(sign.mean(), rel=1e-12)
    err = kernbrook("predict", "m", "data.csv")[2]
    assert told(err) == f"mean squared error {sign.var():.4g} on 600 labelled rows"


def test_labels_that_csv_has_to_quote(kernbrook, tmp_path):
    X, y = drawn(400)
    write_csv(tmp_path / "data.csv", X, y, words=('"a, b"', "schön"))
    kernbrook("train", "data.csv", "--model", "m", *BPAS)
    _, out, _ = kernbrook("predict", "m", "data.csv", "--scores")
    assert {line.rpartition(",")[0] for line in out.splitlines()[1:]} == {'"a, b"', "schön"}
    _, out, _ = kernbrook("predict", "m", "data.csv")
    assert set(out.splitlines()) == {"a, b", "schön"}


@pytest.mark.long
@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_outputs_that_take_no_more(kernbrook, trained):
    command = ["predict", "m", "checkerboard:60000"]
    kernbrook("train", "checkerboard:2000", "--model", "m", "--overwrite", *BPAS)
    with open("/dev/full", "w") as full, process(*command, stdout=full) as done:
        _, err = done.communicate(timeout=100)
    assert (done.returncode, err) == (
        1,
        "kernbrook: cannot write standard output: No space left on device\n",
    )
    with process(*command) as head:
        assert head.stdout.readline() in ("-1\n", "1\n")
        head.stdout.close()
        assert head.stderr.read() == ""
    with process(*command, "--output", "out", preexec_fn=lambda: limited(100_000)) as done:
        _, err = done.communicate(timeout=100)
    assert done.returncode == 1
    assert "cannot write 'out': File too large" in err
    assert sorted(os.listdir()) == ["data.csv", "m"]


@pytest.mark.long
@POSIX
def test_a_kill_while_predicting_leaves_no_half_file(kernbrook, tmp_path):
    kernbrook("train", "checkerboard:2000", "--model", "m", *BPAS)
    Path("out").write_text("as before")
    command = ["predict", "m", "checkerboard:3000000", "--output", "out"]
    with process(*command) as killed:
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            drafts = [path for path in tmp_path.iterdir() if path.name.startswith(".out.")]
            if drafts and drafts[0].stat().st_size > 0:
                break
            time.sleep(0.01)
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    assert drafts[0].exists()
    assert Path("out").read_text() == "as before"
    assert kernbrook("predict", "m", "checkerboard:50", "--output", "out")[0] == 0
    assert len(Path("out").read_text().splitlines()) == 50
    assert sorted(os.listdir()) == ["m", "out"]  # the draft of the dead is gone


def test_many_classes(kernbrook):
    """Ten digits: one score each, the prediction that of the greatest."""
    code, _, err = kernbrook("train", "digits", *BPAS, "--model", "m")
    assert code == 0, err
    code, out, err = kernbrook("predict", "m", "digits", "--scores")
    assert code == 0, err
    header, *lines = out.splitlines()
    assert header == "prediction," + ",".join(f"score of {digit}" for digit in range(10))
    table = np.array([[float(cell) for cell in line.split(",")] for line in lines])
    X, _ = kb.open_stream("digits").read()
    model = kb.load("m").model
    np.testing.assert_array_equal(table[:, 0], model.predict(X))
    np.testing.assert_array_equal(table[:, 0], table[:, 1:].argmax(axis=1))
    np.testing.assert_array_equal(table[:, 1:], model.decision_function(X))
