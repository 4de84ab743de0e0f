"""Pipes and standard input in every command: the same output as from a file."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.cli.main import run
from kernbrook.evaluation.checkpoint import load_checkpoint

ONCE = "compiling, once for this machine\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows in two formats."""
    path = tmp_path_factory.mktemp("piped")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)).round(4)
    y = np.where(X[:, 0] > 0, "yes", "no")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    (path / "rows.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    lines = [f"{(label == 'yes') * 1} 1:{a} 2:{b}" for (a, b), label in zip(X, y, strict=True)]
    (path / "rows.svm").write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def kernbrook(folder, monkeypatch, capsys):
    """The program in this process: (exit code, output, messages)."""
    monkeypatch.chdir(folder)

    def call(*arguments, text=""):
        monkeypatch.setattr(sys, "argv", ["kernbrook", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        try:
            run()
        except SystemExit as end:
            out, err = capsys.readouterr()
            return end.code or 0, out, err.replace(ONCE, "")

    return call


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_train_predict_and_compare(kernbrook, folder, name):
    text = (folder / name).read_text()
    models = folder / "a.kb", folder / "b.kb"
    train = ["train", "--recipe", "perceptron", "--overwrite", "--model"]
    assert kernbrook(*train, "a.kb", name)[0] == 0
    code, out, err = kernbrook(*train, "b.kb", "-", text=text)
    assert (code, err.splitlines()[-1]) == (0, "wrote b.kb")
    assert "standard input" in out
    (first, known), (second, other) = map(load_checkpoint, models)
    assert (known.last.name, other.last.name) == ("rows", "standard input")
    assert other.judge.described() == known.judge.described()
    assert replace(other, past=[replace(other.last, name="rows")], judge=known.judge) == known
    for path, model in zip(models, (first, second), strict=True):
        kb.save(model.model, path)
    assert models[0].read_bytes() == models[1].read_bytes()
    told = kernbrook("predict", "a.kb", name)
    assert told[1].count("\n") == 3000
    assert kernbrook("predict", "a.kb", "-", text=text) == told
    compare = [
        "compare",
        "--recipes",
        "perceptron",
        "--permutations",
        "1",
        "--jobs",
        "1",
        "--json",
        "-",
    ]
    results = [
        json.loads(kernbrook(*compare, "--json", "-", data, text=text)[1]) for data in (name, "-")
    ]
    assert results[1]["manifest"]["data"] == "standard input"
    assert results[0]["manifest"]["data_sha256"] == results[1]["manifest"]["data_sha256"]


def test_going_on_with_the_same_data(kernbrook, folder):
    """Rows that come after those learned before are learned too."""
    text = (folder / "rows.csv").read_text()
    first = "".join(text.splitlines(keepends=True)[:2001])
    train = ["train", "-", "--recipe", "perceptron", "--model"]
    assert kernbrook(*train, "whole", text=text)[0] == 0
    assert kernbrook(*train, "parts", text=first)[0] == 0
    code, _, err = kernbrook(*train, "parts", "--resume", text=text[:20] + text[21:])
    assert (code, "comes from other data" in err) == (1, True)
    assert kernbrook(*train, "parts", "--resume", text=text)[0] == 0
    assert (folder / "parts").read_bytes() == (folder / "whole").read_bytes()


def test_how_much_may_come(kernbrook, folder):
    text = (folder / "rows.csv").read_text()
    assert kernbrook("train", "wdbc", "--recipe", "majority", "--model", "trivial")[0] == 0
    for command in (["train", "-", "--model", "m"], ["compare", "-"], ["predict", "trivial", "-"]):
        code, out, err = kernbrook(*command, "--table", "max_bytes=1000", text=text)
        said = "kernbrook: standard input: over 1,000 bytes came through it; give max_bytes "
        assert (code, out, err) == (1, "", f"{said}(--max-bytes) to read more\n")


def test_labels_and_rows_do_not_come_the_same_way(kernbrook):
    code, _, err = kernbrook("label", "m", "-", "--classes", "yes,no", text="a,b\n1,2\n")
    said = "standard input has the answers: give a file, or --web, or --questions, --answers"
    assert (code, err) == (1, f"kernbrook: {said}\n")


def test_rows_to_label(kernbrook, folder):
    """Where questions go through files, standard input is read for rows, within its limit."""
    text = "a,b\n1,2\n3,4\n"
    options = ["--questions", "questions", "--answers", "answers", "--classes", "yes,no"]
    code, _, err = kernbrook("label", "l.kb", "-", *options, "--table", "max_bytes=5", text=text)
    assert (code, "standard input: over 5 bytes came through it" in err) == (1, True)
