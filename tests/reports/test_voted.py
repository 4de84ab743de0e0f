"""Table, figures and page of the paper on voted kernel regularization, out of numbers made up."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from kernbrook.evaluation.voted_records import GridPoint, VotedCell, VotedTable
from rich.console import Console

from kernbrook.errors import InputError
from kernbrook.reports import (
    reproduction_json,
    sparsity_figure,
    voted_table,
    weight_figure,
    write_voted_report,
)

ROWS = [
    ("l2-svm", "L2 SVM", {"degree": 3.0, "C": 1e5}, 300.0, None),
    ("l1-svm", "L1 SVM", {"degree": 2.0, "beta": 0.1}, 30.0, None),
    ("vkr-pdim", "VKR2", {"lam": 1e-6, "beta": 0.001}, 9.5, 0.04),
    ("vkr-trace", "VKRc", {"lam": 0.01, "beta": 0.001}, 40.0, 0.3),
]


def cell(data, family, row, error=8.0):
    recipe, title, setting, size, p_value = row
    printed = family == "polynomial"
    if not printed and "degree" in setting:
        setting = {"gamma": 1e-6} | {k: v for k, v in setting.items() if k != "degree"}
    voted = p_value is not None
    weights = (0.75, 0.25, 0.0) if printed else (0.0, 1.0)
    frontier = tuple(
        GridPoint(setting, size / k, 10.0 * k, error + 10 * (k - 1)) for k in (8, 4, 2, 1)
    )
    return VotedCell(
        data, recipe, title, family, (setting,), 8.5 if printed else None,
        0.25 if printed else None, error, 1.25, 31.0 if printed else None,
        2.0 if printed else None, size, 3.25, p_value, weights if voted else None, frontier,
        0, 100, 12.5,
    )  # fmt: skip


def table(data=("german", "pima")):
    cells = [
        cell(name, family, row, 8.0 if name == "german" else 30.0)
        for name in data
        for family in ("polynomial", "gaussian")
        for row in ROWS
        if family == "polynomial" or row[0] != "vkr-pdim"
    ]
    pools = {"polynomial": (1.0, 2.0, 3.0), "gaussian": (1e-6, 1e-5)}
    seeded = dict.fromkeys(data, "seeded")
    return VotedTable(
        "vkr-table-1", "errors", seeded, tuple(cells), pools, ("musk",), {"seed": 0}, ("a remark",)
    )


def shown(result, width):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(voted_table(result, width=width))
    return console.file.getvalue()


def test_the_table():
    text = shown(table(), 140)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 140
    row = next(line for line in lines if line.strip().startswith("L2 SVM"))
    wanted = "L2 SVM 8.50 ± 0.25 8.00 ± 1.25 31.0 ± 2.0 300.0 ± 3.2! degree 3, C 1e5 12.5"
    assert " ".join(row.split()) == wanted
    assert "0.04**" in text
    assert "0.30" in text
    assert "30.00 ± 1.25!" in text
    for part in ("german, polynomial", "pima, gaussian", "not present: musk", "a remark"):
        assert part in text
    assert "gamma 1e-6, beta 0.1" in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_what_does_not_fit_goes(width):
    lines = shown(table(), width).splitlines()
    assert max(map(len, lines)) <= width
    assert ("chosen" in "".join(lines[:5])) == (width > 80)
    for part in ("german, polynomial", "8.50 ± 0.25", "8.00 ± 1.25"):
        assert any(part in line for line in lines)


def test_several_draws():
    other = {"lam": 1.0, "beta": 1.0}
    result = table()
    first = result.cells[3]
    result = replace(result, cells=(replace(first, chosen=(*first.chosen * 2, other)),))
    assert "lam 0.01, beta 0.001 (2 of 3)" in shown(result, 140)


@pytest.mark.parametrize("data", [("german",), ("a", "b", "c", "d"), tuple("abcdefg")])
@pytest.mark.parametrize(("family", "titles"), [("polynomial", 4), ("gaussian", 3)])
def test_figures(family, titles, data):
    sparsity = sparsity_figure(table(data), family)
    assert [axes.get_title(loc="left") for axes in sparsity.axes] == list(data)
    for axes in sparsity.axes:
        dots = [line for line in axes.lines if line.get_marker() == "o"]
        assert len(dots) == titles
        assert len(axes.lines) == 2 * titles
        assert axes.get_xscale() == "log"
    weights = weight_figure(table(data), family)
    for axes in weights.axes:
        bars = [bar.get_height() for bar in axes.patches]
        assert sum(bars) == pytest.approx(2 if family == "polynomial" else 1)
    names = [text.get_text() for text in weights.axes[0].get_xticklabels()]
    assert names == (["1", "2", "3"] if family == "polynomial" else ["-6", "-5"])
    coloured = [sparsity.legends[0].get_lines(), weights.legends[0].get_lines()]
    colours = [{line.get_color() for line in lines} for lines in coloured]
    assert colours[1] < colours[0]
    assert len(colours[0]) == titles


def test_the_page(tmp_path):
    page = tmp_path / "page.html"
    write_voted_report(table(), page)
    text = page.read_text("utf-8")
    assert text.count("<svg") == 4
    for part in ("Weights by width", "a remark", "not present: musk", "degree 3, C 1e5"):
        assert part in text
    again = tmp_path / "again.html"
    write_voted_report(table(), again)
    assert again.read_bytes() == page.read_bytes()


def test_nothing_to_show():
    with pytest.raises(InputError, match="cells of polynomial kernels, found none"):
        sparsity_figure(replace(table(), cells=()), "polynomial")


def test_json():
    result = json.loads(json.dumps(reproduction_json(table()), allow_nan=False))
    assert result["cells"][0]["chosen"] == [{"degree": 3.0, "C": 1e5}]
    assert result["cells"][2]["weights"] == [0.75, 0.25, 0.0]
    assert result["pools"]["gaussian"] == [1e-6, 1e-5]
