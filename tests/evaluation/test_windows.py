"""What rows cost over time does not depend on how they come, and is what they cost."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.errors import InputError
from kernbrook.evaluation.measures import NO_DATE, Sums
from kernbrook.evaluation.windows import FIRST, MOST, Windows
from kernbrook.plain_values import read_as


def naive(rows):
    """The first rows of the windows of so many rows, and the length of a window."""
    length = FIRST
    while rows > MOST * length:
        length *= 2
    return length, [slice(i, min(i + length, rows)) for i in range(0, rows, length)]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1300), st.lists(st.integers(0, 1300), max_size=6), st.booleans())
def test_windows_are_those_of_their_rows(rows, cuts, numbers):
    rng = np.random.default_rng(rows)
    losses = rng.exponential(size=rows) if numbers else rng.random(rows) < 0.3
    judged = rng.random(rows) < 0.9
    dates = 3600 * 10**6 * np.arange(rows)
    dates[rng.random(rows) < 0.1] = NO_DATE
    whole, parts = Windows(), Windows()
    for windows, ends in ((whole, []), (parts, sorted(min(cut, rows) for cut in cuts))):
        for part in np.split(np.arange(rows), ends):
            own = np.flatnonzero(judged[part])
            costs = {"loss": losses[part][own], "other": losses[part][own] * 2.0}
            windows.add(len(part), costs, own, dates[part])
    assert parts == whole
    length, spans = naive(rows)
    assert (whole.rows, whole.length) == (rows, length)
    assert [span.rows for span in whole.spans] == [own.stop - own.start for own in spans]
    for span, own in zip(whole.spans, spans, strict=True):
        here = losses[own][judged[own]]
        assert span.judged == len(here)
        if len(here):
            assert span.sums["loss"] == pytest.approx(here.sum(), rel=1e-12)
            assert span.mean("other") == pytest.approx(2 * here.mean(), rel=1e-12)
        there = dates[own][dates[own] != NO_DATE]
        expected = (there.min(), there.max()) if len(there) else (None, None)
        assert (span.began, span.ended) == expected
    if not numbers:
        assert all(type(span.sums.get("loss", 0)) is int for span in whole.spans)
    described = json.loads(json.dumps(asdict(whole), allow_nan=False))
    assert read_as(Windows, described, "windows") == whole


def test_a_cost_that_is_not_known_of_all_rows_is_not_known():
    span = Sums()
    span.add(3, {"loss": np.ones(3), "log_loss": np.ones(3)})
    span.add(2, {})
    span.add(2, {"loss": np.ones(2)})
    span.add(1, {"loss": np.ones(1), "log_loss": np.ones(1)})
    assert (span.rows, span.judged, span.sums) == (8, 6, {"loss": 6})
    assert (span.mean("loss"), span.mean("log_loss")) == (1.0, None)
    assert Sums().mean("loss") is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("length", 0, "length: expected an integer from 1, got 0"),
        ("length", 16.0, "length: expected an integer"),
        ("length", True, "length: expected an integer"),
        ("spans", None, "spans: expected a list, got None"),
        ("spans", [5], "spans: expected an object, got 5"),
        ("spans", [{"rows": -1}], "rows: expected an integer from 0"),
        ("spans", [{"sums": {"loss": math.inf}}], "sums: loss: expected a number from 0, got inf"),
        ("spans", [{"sums": {"loss": math.nan}}], "sums: loss: expected a number from 0, got nan"),
        ("spans", [{"began": "2024"}], "began: expected an integer"),
    ],
)
def test_what_are_no_windows(name, value, said):
    with pytest.raises(InputError, match=f"windows: .*{said}"):
        read_as(Windows, {"length": 16, "spans": [], name: value}, "windows")


@pytest.mark.parametrize("rows", [[40], [0] * 17, [32] * 33, [2**62] * 16])
def test_windows_that_no_rows_lead_to_go_on(rows):
    spans = [{"rows": n, "judged": n, "sums": {"loss": 1e308}, "columns": None} for n in rows]
    windows = read_as(Windows, {"length": 32, "spans": spans, "inputs": None}, "windows")
    for _ in range(3):
        windows.add(600, {"loss": np.full(600, 1e308)})
    json.dumps(asdict(windows), allow_nan=False)
