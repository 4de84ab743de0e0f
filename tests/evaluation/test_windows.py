"""Losses over time do not depend on how they come, and are those of their rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.evaluation.windows import FIRST, MOST, Windows


def naive(losses):
    """The windows of rows that are all there."""
    length = FIRST
    while len(losses) > MOST * length:
        length *= 2
    return length, [losses[i : i + length] for i in range(0, len(losses), length)]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2100), st.lists(st.integers(0, 2100), max_size=6), st.booleans())
def test_windows_are_those_of_their_rows(rows, cuts, numbers):
    rng = np.random.default_rng(rows)
    losses = rng.exponential(size=rows) if numbers else rng.random(rows) < 0.3
    whole, parts = Windows(), Windows()
    whole.add(losses)
    for part in np.split(losses, sorted(min(cut, rows) for cut in cuts)):
        parts.add(part)
    assert parts == whole
    length, windows = naive(losses)
    assert (whole.rows, whole.length) == (rows, length)
    assert whole.sums == pytest.approx([window.sum() for window in windows], rel=1e-12)
    assert whole.means() == pytest.approx([window.mean() for window in windows], rel=1e-12)
    assert whole.ends()[-1:] == ([rows] if rows else [])
    if not numbers:
        assert all(type(total) is int for total in whole.sums)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": 1.0, "sums": [1]},
        {"rows": -1},
        {"length": 0},
        {"rows": 17, "sums": [1]},
        {"rows": 9, "sums": [math.inf]},
        {"rows": 9, "sums": [-1]},
        {"rows": 9, "sums": ["1"]},
        {"rows": 300, "sums": [1] * 19},
        {"rows": 5, "length": 10**30, "sums": [1]},
        {"rows": 200, "length": 17, "sums": [1] * 12},
        {"rows": 128, "length": 32, "sums": [1] * 4},
        {"sums": None},
    ],
)
def test_what_are_no_windows(wrong):
    with pytest.raises(TypeError, match="windows"):
        Windows(**wrong)
