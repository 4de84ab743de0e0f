"""A little of the fuzz, always the same; `python -m fuzz` has the rest. And what it once found."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from fuzz.areas import AREAS, IN_PROGRAMS, LIVES, one
from fuzz.files import check_csv, check_svmlight

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
CASES = {"contents of models": 6, "interruptions": 20, "command line": 20}
NEEDS = {"interruptions": (signal, "setitimer"), "contents of models": (os, "fork")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("area", [name for name in AREAS if name not in (*IN_PROGRAMS, *LIVES)])
def test_some_cases(area):
    """Refused in words, or right; both happen, but that no file with other bytes is a model."""
    if area in NEEDS and not hasattr(*NEEDS[area]):
        pytest.skip(f"no {NEEDS[area][1]} here")
    ends = {one(area, 0, number) for number in range(CASES.get(area, 60))}
    assert ends == {"refused"} | ({"accepted"} if area != "bytes of models" else set())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
@pytest.mark.parametrize("seed", range(3))
def test_files_that_were_read_wrongly_once(path, seed):
    check = check_csv if path.suffix == ".csv" else check_svmlight
    check(np.random.default_rng(seed), path)
