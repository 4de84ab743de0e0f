"""Random cases of each area: refused in words, or right. And what was once found.

Here a few, always the same; `python tests/fuzz --minutes 60` goes on with others.
"""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from fuzz import calls, files, lives, models, programs
from fuzz.cases import ACCEPTED, REFUSED
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

Case = Callable[[Any, Path], str]  # by draws, in an empty folder: ACCEPTED, REFUSED, or both


def drawn_by_numpy(case: Callable[[np.random.Generator, Path], str]) -> Case:
    """A case whose draws all come from one seed."""
    return lambda draw, folder: case(np.random.default_rng(draw(st.integers(0, 2**64))), folder)


AREAS: dict[str, tuple[Case, int]] = {  # how many cases there are here
    "svmlight files": (files.svmlight, 60),
    "CSV files": (files.csv_file, 60),
    "compressed files": (files.compressed, 60),
    "JSON lines": (files.json_lines, 60),
    "tables with semicolons": (files.semicolons, 60),
    "bytes of models": (drawn_by_numpy(models.flipped), 60),
    "contents of models": (drawn_by_numpy(models.crafted), 6),
    "arrays": (drawn_by_numpy(calls.arrays), 60),
    "command line": (programs.options, 40),
}
LIVES = {  # of which some are in test_lives.py
    "lives": (drawn_by_numpy(lives.lives), 1),
    "real sets": (drawn_by_numpy(lives.real_sets), 1),
}
LONG = os.environ.get("FUZZ_CASES")  # how many, of another seed each time


def ends_of(case: Case, cases: int) -> set[str]:
    """How the cases of an area end."""
    ends = set()

    @settings(
        max_examples=int(LONG or cases), derandomize=not LONG, deadline=None, database=None,
        phases=set(Phase) - {Phase.explain}, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.data())
    def run(data):
        with TemporaryDirectory() as folder:
            ends.update(case(data.draw, Path(folder)).split())

    run()
    return ends


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("area", AREAS)
def test_some_cases(area):
    """Both ends happen, but that no file with other bytes is a model."""
    if area == "contents of models" and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    ends = ends_of(*AREAS[area])
    assert REFUSED in ends
    assert ACCEPTED in ends or area == "bytes of models"


@pytest.mark.skipif(LONG is None, reason="test_lives.py has some")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("area", LIVES)
def test_lives_for_long(area):
    ends_of(*LIVES[area])


CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
@pytest.mark.parametrize("block", files.BLOCKS)
def test_files_that_were_read_wrongly_once(path, block):
    check = files.check_csv if path.suffix == ".csv" else files.check_svmlight
    check(path, block, rows=3)
