"""`kernbrook train` and `kernbrook predict` as a user meets them: files, exit codes, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from terminals import on_a_terminal

import kernbrook as kb

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


def test_numbers(kernbrook):
    command = ["train", "friedman:300", "--recipe", "kernbrook-active", "--model"]
    code, out, err = kernbrook(*command, "m")
    assert (code, err) == (0, "wrote m\n")
    model = kb.recipes.make("kernbrook-active", random_state=0)
    record = kb.prequential(model, kb.open_stream("friedman:300"))
    assert f"mean squared error  {record.error:.4g}" in out
    share = 100 * record.labels_asked / 300
    assert f"labels asked        {record.labels_asked} ({share:.1f} %)" in out
    assert "support vectors" not in out
    found = json.loads(kernbrook(*command, "m2", "--json", "-")[1])
    assert (found["task"], found["labels_asked"]) == ("regression", record.labels_asked)
    assert found["error"] == pytest.approx(record.error, rel=1e-12)
    assert Path("m").read_bytes() == Path("m2").read_bytes()


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
        (["compare", "wdbc", "--json", "x.html", "--report", "./x.html"], "got x.html twice"),
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
    train = ["train", "data.csv", "--recipe", "bpas", "--model"]
    code, _, err = kernbrook(*train, "m", "--table", 'classes="x,y",z')
    assert (code, err) == (0, "wrote m\n")
    assert kb.load("m").classes_.tolist() == ["x,y", "z"]
    for classes, said in (
        ('"x,y,z', "in double quotes where one has a comma"),
        ("", "classes: expected all labels, got none"),
    ):
        code, _, err = kernbrook(*train, "m2", "--table", f"classes={classes}")
        assert (code, said in err) == (1, True)


@POSIX
def test_progress_on_a_terminal(kernbrook, monkeypatch):
    command = "train", "waveform:3000", "--table", "positive=0", "--model", "m", *BPAS
    shown, out = on_a_terminal(monkeypatch, *command)
    assert "reading waveform:3000" in shown
    assert "rows, " in shown
    assert "% wrong, 160 support vectors" in shown
    assert "\x1b" not in out


# -- stopped, and going on --------------------------------------------------------------------


def limited(size):
    """Run before the program: no file may grow beyond `size` bytes."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


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
    """50,000 rows of 60 features take over 24 MB in any form that holds them."""
    write_svmlight(tmp_path / "block", *drawn(1000, 60))
    block = (tmp_path / "block").read_bytes()
    train = ["train", "data.svm", "--model", "m", "--overwrite", "--recipe", "bpas"]
    train += ["--set", "budget=5", "--checkpoint-every", "0.5"]
    peaks = []
    for times in (10, 50):
        (tmp_path / "data.svm").write_bytes(block * times)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *train],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        peaks.append(int(done.stdout.split()[-1]) / 1024)
    assert peaks[1] < peaks[0] + 18, peaks


# -- predict ----------------------------------------------------------------------------------


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
    assert err.splitlines()[0].rstrip() == f"error {error:.2f} % on 300 labelled rows"
    code, out, _ = kernbrook("predict", "m", "new.csv", "--scores")
    assert out.splitlines()[0] == "prediction,score of yes"
    rows = [line.split(",") for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == expected
    assert [float(row[1]) for row in rows] == model.decision_function(X).tolist()
    code, out, err = kernbrook("predict", "m", "new.csv", "--output", "out")
    assert (code, out) == (0, "")
    assert err.startswith("wrote 300 predictions to out\n")
    assert (tmp_path / "out").read_text().splitlines() == expected
    lines = "".join(f"{label}\n" for label in expected)
    write_csv(tmp_path / "bare.csv", X)
    write_svmlight(tmp_path / "bare.svm", X, np.zeros(300, dtype=int))
    for name in ("bare.csv", "bare.svm"):
        assert kernbrook("predict", "m", name) == (0, lines, "")
    write_svmlight(tmp_path / "narrow.svm", X[:, :2], np.zeros(300, dtype=int))
    assert kernbrook("predict", "m", "narrow.svm")[0] == 0


def test_models_of_other_origin(kernbrook, tmp_path):
    X, y = drawn(300)
    write_csv(tmp_path / "bare.csv", X)
    write_csv(tmp_path / "new.csv", X, y, words=("-1", "1"))
    batch = kb.VotedKernelClassifierCV([kb.Linear()], lams=[0.01], betas=[0.01])
    for name, model in (("m", kb.OnlineMKClassifier([kb.Linear()])), ("batch", batch)):
        kb.save(model.fit(X, y), name)
        expected = [str(label) for label in model.predict(X)]
        code, out, _ = kernbrook("predict", name, "new.csv", "--label", "kind")
        assert (code, out.splitlines()) == (0, expected)
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


@pytest.mark.long
@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_outputs_that_take_no_more(kernbrook, trained):
    command = ["predict", "m", "checkerboard:20000"]
    kernbrook("train", "checkerboard:2000", "--model", "m", "--overwrite", *BPAS)
    with open("/dev/full", "w") as full, process(*command, stdout=full) as done:
        _, err = done.communicate(timeout=100)
    said = "kernbrook: cannot write standard output: No space left on device\n"
    assert (done.returncode, err) == (1, said)
    with process(*command, "--output", "out", preexec_fn=lambda: limited(30_000)) as done:
        _, err = done.communicate(timeout=100)
    assert done.returncode == 1
    assert "cannot write 'out': File too large" in err
    assert sorted(os.listdir()) == ["data.csv", "m"]
