"""Estimates, curves, agreement with print, and results as a data frame."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import narwhals as nw
import numpy as np
import pytest

from kernbrook.errors import InputError
from kernbrook.results import Cell, Curve, Estimate, Measure, Results, grouped


def test_estimates():
    assert Estimate.of([1.0, 2.0, 6.0]) == Estimate(3.0, math.sqrt(7.0), 3)
    assert Estimate.of(np.array([4])) == Estimate(4.0, None, 1)
    endless = Estimate.of([1.0, math.inf])
    assert (endless.mean, endless.runs) == (math.inf, 2)
    assert math.isnan(endless.std)
    assert Estimate.of([1e300, -1e300]).std == math.inf


def test_curves():
    curve = Curve.of(np.array([10, 20]), [[1.0, 2.0], [3.0, 6.0]])
    assert (curve.x, curve.mean) == ((10, 20), (2.0, 4.0))
    assert curve.std == pytest.approx((math.sqrt(2), math.sqrt(8)))
    assert (curve.at(10), curve.at(15)) == (2.0, None)
    alone = Curve.of([1], [[5.0]])
    assert alone.std is None
    assert math.isnan(Curve.of([1], [[math.inf], [1.0]]).std[0])


def cell(ours, printed):
    return Cell({}, {"x": ours}, {"x": printed} if printed else {})


@pytest.mark.parametrize(
    ("ours", "std", "runs", "agrees", "near"),
    [
        # Printed: 10 ± 2 over 4 runs, so the printed mean deviates by 1.
        (12.0, 0.0, 5, True, True),  # ours does not deviate: 2 * 1 at most
        (12.1, 0.0, 5, False, True),
        (7.9, 0.0, 5, False, True),
        (12.8, 2.0, 4, True, True),  # both deviate by 1: 2 * sqrt(2) = 2.83
        (12.9, 2.0, 4, False, True),
        (7.1, 2.0, 4, False, True),
        (14.4, None, 1, True, False),  # one run is taken to deviate by 2: 2 * sqrt(5) = 4.47
        (14.5, None, 1, False, False),
        (4.0, 2.0, 4, False, False),
        (math.nan, 2.0, 4, False, False),
    ],
)
def test_agreement(ours, std, runs, agrees, near):
    found = cell(Estimate(ours, std, runs), Estimate(10.0, 2.0, 4))
    assert found.agrees("x", 3) is agrees
    assert found.near("x", 3) is near


def test_what_is_printed_is_rounded():
    exact = Estimate(10.0, 0.0, 4)
    assert cell(Estimate(10.04, 0.0, 3), exact).agrees("x", 1)
    assert not cell(Estimate(10.06, 0.0, 3), exact).agrees("x", 1)
    assert not cell(Estimate(10.04, 0.0, 3), exact).agrees("x", 2)
    assert cell(Estimate(9.96), exact).near("x", 1)
    assert not cell(Estimate(9.94), exact).near("x", 1)


@pytest.mark.parametrize("printed", [None, Estimate(1.0)])
def test_without_a_printed_deviation_nothing_is_said(printed):
    found = cell(Estimate(3.0), printed)
    assert found.agrees("x", 2) is found.near("x", 2) is None
    assert found.difference("x") == (None if printed is None else 2.0)


@pytest.fixture
def results():
    error = Measure("error", "mistakes %")
    cells = (
        Cell({"data": "a", "title": "SPA"}, {"error": Estimate(9.5, 1.0, 20)},
             {"error": Estimate(9.0, 0.5, 10)}),
        Cell({"data": "a", "title": "RBP", "budget": 5}, {"error": Estimate(8.0)}),
        Cell({"data": "b", "title": "SPA"}),  # curves alone
    )  # fmt: skip
    return Results("x", "a table", (error, Measure("seconds", "seconds")), cells)


def test_cells_by_their_keys(results):
    assert results.where(data="a") == list(results.cells[:2])
    assert results.where(budget=None) == [results.cells[0], results.cells[2]]
    assert results.cell(data="a", title="RBP") is results.cells[1]
    assert results.cell(data="a", title="RBP").mean("error") == 8.0
    with pytest.raises(InputError, match=r"x: expected one cell of \{'title': 'SPA'\}, found 2"):
        results.cell(title="SPA")
    with pytest.raises(InputError, match="found 0"):
        results.cell(data="c")
    by_title = grouped(results.cells, lambda cell: cell["title"])
    assert {name: len(own) for name, own in by_title.items()} == {"SPA": 2, "RBP": 1}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_the_cells(results, backend):
    library = pytest.importorskip(backend)
    frame = results.to_frame(backend)
    assert isinstance(frame, library.Table if backend == "pyarrow" else library.DataFrame)
    names = ["data", "title", "budget", "measure", "mean", "std", "runs", "printed", "printed_std"]
    assert list(getattr(frame, "column_names", frame.columns)) == names
    rows = [
        [None if value != value else value for value in row]  # pandas has NaN for None
        for row in zip(*(list(np.asarray(frame[name]).tolist()) for name in names), strict=True)
    ]
    assert rows == [
        ["a", "SPA", None, "error", 9.5, 1.0, 20, 9.0, 0.5],
        ["a", "RBP", 5, "error", 8.0, None, 1, None, None],
    ]


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_numbers_stay_numbers_where_there_are_none(results, backend):
    pytest.importorskip(backend)
    frame = replace(results, cells=results.cells[1:2]).to_frame(backend)
    types = nw.from_native(frame).schema
    assert {types[name] for name in ("mean", "std", "printed", "printed_std")} == {nw.Float64}
    empty = replace(results, cells=()).to_frame(backend)
    assert len(empty) == 0


def test_a_frame_that_cannot_be_made(results, monkeypatch):
    with pytest.raises(InputError, match="backend: expected one of pandas, polars, pyarrow, got"):
        results.to_frame("excel")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pandas is not installed; run pip install pandas"):
        results.to_frame()
    assert results.to_frame("pyarrow").num_rows > 0
