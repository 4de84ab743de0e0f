"""The examples run and show what they say; so does code of the README."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.streams.generators import Waveform

ROOT = Path(__file__).parents[1]


def beside_the_tests(name):
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not beside the tests")
    return ROOT / name


def test_voted_strings():
    pytest.importorskip("rapidfuzz")
    done = subprocess.run(
        [sys.executable, beside_the_tests("examples/voted_strings.py"), "400"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^  (\D+?) +([\d.]+) +(\d+)$", done.stdout, re.MULTILINE)
    (_, always, none), (_, nearest, all_), (title, error, kept) = rows
    assert (title, none, all_) == ("voted kernels", "0", "400")
    assert 38 < float(always) < 48
    assert float(error) < 20
    assert float(error) < float(nearest) + 1
    assert 50 < int(kept) < 350
    assert re.search(
        r"  0\.\d\d  edit_similarity\(x, z\)\n  0\.\d\d  shared_end\(x, z\)", done.stdout
    )
    assert re.search(r"^  arrow .*arr", done.stdout, re.MULTILINE)


def test_the_readme_on_voted_kernels(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rapidfuzz")
    text = beside_the_tests("README.md").read_text()
    code = re.search(r"```python\n(from sklearn[^`]*?edit_similarity.*?)```", text, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    names = {"kb": kb}
    exec(code, names)
    score, stored, gap = capsys.readouterr().out.split()[:3]
    assert float(score) > 0.9
    assert int(stored) < 20
    assert float(gap) < 1e-6
    assert kb.load("words.kb").predict(["kennel"]).tolist() == ["kernel"]


def test_the_readme_on_watching_and_comparing(capsys):
    text = beside_the_tests("README.md").read_text()
    code = re.search(r"```python\n(from sklearn[^`]*?record\.confusion.*?)```", text, re.DOTALL)[1]
    exec(code, {"kb": kb})
    said = capsys.readouterr().out.split("\n")
    assert 0.9 < float(said[0]) < 1
    assert 0.9 < float(said[1]) <= 1
    assert 0 < float(said[2]) < 0.7
    errors = {line.split()[0]: float(line.split()[1]) for line in said[5:9]}
    assert list(errors) == ["mine", "narrow", "linear", "window"]
    assert errors["mine"] == min(errors.values())


def test_the_readme_on_late_labels(capsys):
    text = beside_the_tests("README.md").read_text()
    code = re.search(r"```python\n([^`]*?LateLabels.*?)```", text, re.DOTALL)[1]
    names = {"kb": kb}
    exec(code, names)
    said, waiting = capsys.readouterr().out.strip().split(" ", 1)
    assert said in ("['no']", "['yes']")
    assert waiting == "['b', 'd']"
    assert names["said"].tolist() == ["yes", "yes"]  # before anything was learned
    assert names["model"].names_ == ["age", "size"]


def test_the_voted_benchmark_takes_the_papers_classes(monkeypatch):
    """0 and 1 as the waveform data are distributed, which are 2 and 1 of our generator."""
    script = beside_the_tests("benchmarks/voted.py")
    monkeypatch.syspath_prepend(str(script.parent))
    spec = importlib.util.spec_from_file_location("voted_benchmark", script)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    learned = []

    class Model:
        n_iter_ = gap_ = objective_ = n_support_stored_ = 0

        def fit(self, X, y):
            learned.append((X, y))
            return self

    monkeypatch.setattr(kb, "VotedKernelClassifier", lambda *_, **__: Model())
    benchmark.large(300)
    X, y = Waveform(600, seed=0).read()
    wanted = np.flatnonzero(y > 0)[:300]
    X, y = X[wanted], 2 - y[wanted]
    assert len(learned) == 4
    for found, labels in learned:
        np.testing.assert_array_equal(labels, y)
        np.testing.assert_allclose(found, (X - X.mean(axis=0)) / X.std(axis=0))
