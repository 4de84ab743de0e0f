"""Tables, figures and pages of the paper on active learning, out of numbers made up."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from kernbrook.evaluation.regression_records import (
    ErrorCurve,
    ErrorCurves,
    LabelPoint,
    LabelStudy,
    RegressionCell,
    RegressionTable,
)
from rich.console import Console

from kernbrook.errors import InputError
from kernbrook.reports import (
    error_figure,
    error_table,
    label_figure,
    label_table,
    regression_table,
    reproduction_json,
    write_error_report,
    write_label_report,
)

ORDER = {"energy": "none, the data's own order"}


def table():
    cells = (
        RegressionCell("twitter", "raker", "Raker", 5, 2.72, 1.0, 2.857, 0.021, 1.0, 0.0, 0.5),
        RegressionCell("twitter", "mean", "mean so far", 1, None, None, 24.05, None, 1.0, None,
                       0.03),
        RegressionCell("energy", "omkl", "OMKL", 1, 31.87, None, 28.84, None, 1.0, None, 9.5),
        RegressionCell("energy", "amkl-aks", "AMKL-AKS", 5, 15.3, 0.77, 13.82, 0.06, 0.869, 0.002,
                       2.1),
    )  # fmt: skip
    return RegressionTable(
        "amkl-table-2", "errors", ORDER, cells, ("air-quality",), {"seed": 0}, ("a remark",)
    )


def study(runs=5):
    std = 0.05 if runs > 1 else None
    points = tuple(
        LabelPoint("tomshardware", recipe, title, runs, window, threshold, error + threshold, std,
                   1 / (window + 1 + threshold), std, error + 1 + threshold, std)
        for recipe, title, error in (("amkl", "AMKL", 2.7), ("amkl-aks", "AMKL-AKS", 2.9))
        for window in (1, 5)
        for threshold in (1e-5, 0.0005, 0.1)
    )  # fmt: skip
    trivial = {"mean so far": 18.7, "last value": 9.94}
    return LabelStudy(
        "amkl-figure-2", "labels", ORDER, points, trivial, (), {"seed": 0}, ("a remark",)
    )


def curves(data=("twitter", "energy")):
    rounds = (50, 100, 1000, 13813)
    shown = [("raker", "Raker", 2.86, 5), ("mean", "mean so far", 24.05, 1),
             ("omkl-b", "OMKL-B", 900.0, 1),
             ("kernbrook-active", "kernbrook, half of the labels", 2.03, 5)]  # fmt: skip
    result = tuple(
        ErrorCurve(name, recipe, title, runs, rounds, tuple(end + 5 * k for k in (3, 2, 1, 0)),
                   (0.5,) * 4 if runs > 1 else None, 0.5 if "half" in title else 1.0)
        for name in data
        for recipe, title, end, runs in shown
    )  # fmt: skip
    return ErrorCurves(
        "amkl-figure-3", "over time", ORDER, result, ("air-quality",), {"seed": 0}, ("a remark",)
    )


def lines(rendered, width=100):
    stream = io.StringIO()
    Console(file=stream, width=width).print(rendered)
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    return [" ".join(line.split()) for line in text.splitlines()]


def labels(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def drawn(axes):
    """The lines over data, without leaders and lines right across."""
    return [line for line in axes.lines if line.get_transform() == axes.transData]


def test_errors_and_labels_beside_the_paper():
    found = lines(regression_table(table(), width=100))
    assert "Raker 2.72 2.86 ± 0.02 +0.14 1.05 1.00 1.00 0.500" in found
    assert "mean so far 24.05 1.00 0.030" in found
    assert "OMKL 31.87 28.84 -3.03 0.90 1.00 9.50" in found
    assert "AMKL-AKS 15.30 13.82 ± 0.06 -1.48 0.90 0.77 0.87 2.10" in found
    assert found.index("twitter") < found.index("energy")
    for note in (
        "not present: air-quality",
        "a remark",
        "permutations: none, the data's own order",
    ):
        assert note in found


def test_a_narrow_table_loses_seconds_and_differences():
    long = replace(table().cells[0], title="kernbrook, half of the labels")
    result = replace(table(), cells=(long, *table().cells[1:]))
    assert any(line.endswith("1.05 1.00 1.00") for line in lines(regression_table(result), 80))
    assert any("2.86 ± 0.02 1.05" in line for line in lines(regression_table(result), 80))


@pytest.mark.parametrize("runs", [1, 5])
def test_labels_and_errors_against_the_threshold(runs):
    found = lines(label_table(study(runs)), 80)
    assert "threshold labels MSE random labels MSE random" in found
    at = found.index("AMKL")
    assert found[at + 1] == "0.00001 50.0 2.70 3.70 16.7 2.70 3.70"
    assert found[at + 3] == "0.1 47.6 2.80 3.80 16.4 2.80 3.80"
    assert found.index("AMKL-AKS") > at
    assert "mean so far: 18.70; last value: 9.94" in found
    figure = label_figure(study(runs))
    figure.savefig(io.BytesIO(), format="png")
    share, error, both = figure.axes
    points = study(runs).points
    for place in range(4):
        own = points[3 * place : 3 * place + 3]
        for axes, name, scale in ((share, "labels", 100), (error, "error", 1)):
            line = drawn(axes)[place]
            np.testing.assert_allclose(line.get_xdata(), [p.threshold for p in own])
            np.testing.assert_allclose(line.get_ydata(), [scale * getattr(p, name) for p in own])
        np.testing.assert_allclose(drawn(both)[place].get_xdata(), [100 * p.labels for p in own])
    chance = drawn(both)[4]  # of AMKL, all windows, by rising share of labels
    assert chance.get_xdata().tolist() == sorted(100 * p.labels for p in points[:6])
    assert set(chance.get_ydata().tolist()) == {p.error_random for p in points[:6]}
    flat = [line.get_ydata()[0] for line in both.lines if len(set(line.get_ydata())) == 1]
    assert flat == [18.7, 9.94]
    assert len(error.collections) == (4 if runs > 1 else 0)
    assert (share.get_xscale(), error.get_xscale(), both.get_xscale()) == ("log", "log", "linear")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.texts] == [
        "AMKL, M = 1", "AMKL, M = 5", "AMKL-AKS, M = 1", "AMKL-AKS, M = 5", "AMKL, labels drawn",
        "AMKL-AKS, labels drawn", "mean so far", "last value",
    ]  # fmt: skip
    with pytest.raises(InputError, match="at least one point"):
        label_figure(replace(study(), points=()))


def test_errors_over_time():
    result = curves()
    found = lines(error_table(result))
    assert "algorithm 100 1k end rounds labels %" in found
    assert "Raker 12.86 7.86 2.86 ± 0.50 13,813 100.0" in found
    assert "kernbrook, half of the labels 12.03 7.03 2.03 ± 0.50 13,813 50.0" in found
    assert found.index("twitter") < found.index("energy")
    assert "not present: air-quality" in found
    own = result.curves[:4]
    figure = error_figure(own)
    figure.savefig(io.BytesIO(), format="png")
    (axes,) = figure.axes
    assert labels(figure) == ["Raker", "mean so far", "OMKL-B", "kernbrook-active"]
    for line, curve in zip(drawn(axes), own, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), curve.rounds)
        np.testing.assert_array_equal(line.get_ydata(), curve.error)
    assert axes.get_yscale() == "log"
    low, high = axes.get_ylim()
    assert low < 2.03
    assert 24.05 < high < 900  # what is far worse than the mean runs off
    assert axes.get_xlim() == (0, 13813)
    alone = error_figure(own[2:3]).axes[0]
    assert alone.get_ylim()[1] > 900
    with pytest.raises(InputError, match="at least one curve"):
        error_figure([])


class Text(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.words, self.pictures = [], 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.pictures += tag == "svg"

    def handle_data(self, data):
        self.words += data.split()


@pytest.mark.parametrize(
    ("write", "result", "pictures", "parts"),
    [
        (write_label_report, study(), 1, ("AMKL-AKS", "a remark", "0.0005")),
        (write_error_report, curves(), 2,
         ("Error over time on energy", "a remark; not present: air-quality", "2.86 ± 0.50")),
    ],
)  # fmt: skip
def test_pages(tmp_path, write, result, pictures, parts):
    path = tmp_path / "page.html"
    write(result, path)
    text = Text(path.read_text("utf-8"))
    assert text.pictures == pictures
    for part in parts:
        assert part in " ".join(text.words)
    first = path.read_bytes()
    write(result, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("result", [table(), study(), curves()])
def test_values_that_json_takes(result):
    found = json.loads(json.dumps(reproduction_json(result), allow_nan=False))
    assert found["table"] == result.table
    assert found["remarks"] == ["a remark"]
