"""Pipes and standard input in every command: the same output as from a file."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.evaluation.checkpoint import load_checkpoint


@pytest.fixture
def rows(kernbrook):
    """Rows in two formats: their text by the names of the files."""
    X = np.random.default_rng(0).normal(size=(3000, 2)).round(4).tolist()
    csv = "".join(f"{a},{b},{'yes' if a > 0 else 'no'}\n" for a, b in X)
    texts = {
        "rows.csv": f"a,b,label\n{csv}",
        "rows.svm": "".join(f"{(a > 0) * 1} 1:{a} 2:{b}\n" for a, b in X),
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    return {name: text.encode() for name, text in texts.items()}


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_train_predict_and_compare(kernbrook, rows, name):
    train = "train", "--recipe", "perceptron", "--model"
    assert kernbrook(*train, "a.kb", name)[0] == 0
    code, out, err = kernbrook(*train, "b.kb", "-", typed=rows[name])
    assert (code, err.splitlines()[-1]) == (0, "wrote b.kb")
    assert "standard input" in out
    (first, known), (second, other) = map(load_checkpoint, ("a.kb", "b.kb"))
    assert (known.last.name, other.last.name) == ("rows", "standard input")
    assert other.judge.described() == known.judge.described()
    assert replace(other, past=[replace(other.last, name="rows")], judge=known.judge) == known
    for path, model in (("a.kb", first), ("b.kb", second)):
        kb.save(model.model, path)
    assert Path("a.kb").read_bytes() == Path("b.kb").read_bytes()
    told = kernbrook("predict", "a.kb", name)
    assert told[1].count("\n") == 3000
    assert kernbrook("predict", "a.kb", "-", typed=rows[name]) == told
    compare = "compare", "--recipes", "majority", "--permutations", "1", "--jobs", "1", "--json"
    of_file, of_pipe = (
        json.loads(kernbrook(*compare, "-", data, typed=rows[name])[1])["manifest"]
        for data in (name, "-")
    )
    assert of_pipe["data"] == "standard input"
    assert of_file["data_sha256"] == of_pipe["data_sha256"]


def test_going_on_with_the_same_data(kernbrook, rows):
    """Rows that come after those learned before are learned too."""
    text = rows["rows.csv"]
    first = b"".join(text.splitlines(keepends=True)[:2001])
    train = ["train", "-", "--recipe", "perceptron", "--model"]
    assert kernbrook(*train, "whole", typed=text)[0] == 0
    assert kernbrook(*train, "parts", typed=first)[0] == 0
    code, _, err = kernbrook(*train, "parts", "--resume", typed=text[:20] + text[21:])
    assert (code, "comes from other data" in err) == (1, True)
    assert kernbrook(*train, "parts", "--resume", typed=text)[0] == 0
    assert Path("parts").read_bytes() == Path("whole").read_bytes()


def test_how_much_may_come(kernbrook, rows):
    assert kernbrook("train", "wdbc", "--recipe", "majority", "--model", "trivial")[0] == 0
    for command in (["train", "-", "--model", "m"], ["compare", "-"], ["predict", "trivial", "-"]):
        found = kernbrook(*command, "--table", "max_bytes=1000", typed=rows["rows.csv"])
        said = "kernbrook: standard input: over 1,000 bytes came through it; give max_bytes "
        assert found == (1, "", f"{said}(--max-bytes) to read more\n")


def test_rows_to_label(kernbrook):
    """Where questions go through files, standard input is read for rows, within its limit."""
    text = b"a,b\n1,2\n3,4\n"
    code, _, err = kernbrook("label", "m", "-", "--classes", "yes,no", typed=text)
    said = "standard input has the answers: give a file, or --web, or --questions, --answers"
    assert (code, err) == (1, f"kernbrook: {said}\n")
    options = ["--questions", "questions", "--answers", "answers", "--classes", "yes,no"]
    code, _, err = kernbrook("label", "m", "-", *options, "--table", "max_bytes=5", typed=text)
    assert (code, "standard input: over 5 bytes came through it" in err) == (1, True)
