"""The examples run and show what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
