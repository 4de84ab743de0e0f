"""The examples run and show what they say; so does the README's code on voted kernels."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernbrook as kb

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
    code = re.search(r"```python\n(from sklearn.*?edit_similarity.*?)```", text, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    names = {"kb": kb}
    exec(code, names)
    score, stored, gap = capsys.readouterr().out.split()[:3]
    assert float(score) > 0.9
    assert int(stored) < 20
    assert float(gap) < 1e-6
    assert kb.load("words.kb").predict(["kennel"]).tolist() == ["kernel"]
