"""Tables 2 and 3 of the paper on active learning with multiple kernels, and figures 2 and 3.

Hong and Chae (2020), Active learning with multiple kernels: mean squared errors x 1e-3 over one
pass in the data's own order, and shares of labels asked for. The tests on the paper's data need
the data files (KERNBROOK_DATA).
"""

from __future__ import annotations

import json
from pathlib import Path

import hard_streams
import numpy as np
import pytest
from kernbrook.evaluation.published import PUBLISHED
from kernbrook.evaluation.regression_records import ErrorCurves, LabelStudy, RegressionTable
from kernbrook.evaluation.regression_tables import _on_the_way
from kernbrook.evaluation.reproducing import reproduce
from typer.testing import CliRunner

import kernbrook as kb
from kernbrook.cli.main import app
from kernbrook.errors import InputError
from kernbrook.evaluation import regression_tables
from kernbrook.evaluation.comparing import state_of
from kernbrook.labels import RandomLabels

DATA = (
    "twitter", "twitter-large", "tomshardware", "air-quality", "energy", "naval-propulsion",
)  # fmt: skip
EXTRA = ["mean", "last-value", "kernbrook-regression", "kernbrook-active"]
DRAWN = {"raker", "omkl-aks", "amkl", "amkl-aks", "kernbrook-regression", "kernbrook-active"}


@pytest.mark.parametrize("name", ["twitter", "tomshardware", "energy"])
def test_raker_comes_out_as_printed(name):
    hard_streams.real(name)  # skips where it is not there
    result = reproduce("amkl-table-3", data=[name], permutations=1, jobs=1)
    assert isinstance(result, RegressionTable)
    raker, amkl = result.cells[:2]
    assert (raker.title, amkl.title) == ("Raker", "AMKL")
    assert raker.error_printed is not None
    if name == "energy":
        assert raker.error == pytest.approx(13.4, abs=0.1)
    assert raker.error < 1.15 * raker.error_printed
    assert raker.labels == 1
    assert 0.5 < amkl.labels < 1
    other = "twitter: 13,813 rows here, 13,818 in the paper"
    assert (other in result.remarks) == (name == "twitter")


def test_one_kernel_at_the_steps_and_widths_that_were_found():
    hard_streams.real("twitter")
    found = {}
    X, y = kb.open_stream("twitter").read()
    for row in PUBLISHED["amkl-table-2"].printed():
        if row.data == "twitter" and row.recipe.startswith("kl-"):
            wanted = regression_tables._of_paper(row)
            model = kb.recipes.make(wanted.recipe, **wanted.settings)
            error = 1000 * np.mean((model.learn(X, y)[0] - y) ** 2)
            found[row.title] = error / row.number("error")
    assert len(found) == 6
    assert all(abs(ratio - 1) < 0.02 for ratio in found.values()), found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tomshardware, of 150 rows of 3 features."""
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    X = rng.random((150, 3))
    y = 0.5 * X[:, 0] ** 2 + 0.3 * np.sin(5 * X[:, 1]) + 0.05 * rng.normal(size=150)
    lines = (f"{t:.5f} 1:{a:.5f} 2:{b:.5f} 3:{c:.5f}" for t, (a, b, c) in zip(y, X, strict=True))
    (tmp_path / "tomshardware.libsvm").write_text("\n".join(lines) + "\n")
    return tmp_path


def runs(recipe, title, permutations, rows, **settings):
    """Errors of each round, (r, n), and shares of labels asked for, (r,), of the same directly."""
    X, y = kb.open_stream("tomshardware").read()
    X, y = X[:rows], y[:rows]
    if recipe not in EXTRA:
        settings["horizon"] = 9725
    if title.startswith("KL-RBF"):
        settings["kernels"] = [kb.Gaussian(sigma=float(title[:-1].partition("=")[2]))]
    if title.startswith("POLY"):
        settings["kernels"] = [kb.Polynomial(int(title[-1]))]
    lost, labels = [], []
    for run in range(permutations if recipe in DRAWN else 1):
        model = kb.recipes.make(recipe, random_state=state_of(0, run), **settings)
        predictions, asked = model.learn(X, y)
        lost.append(1000 * (predictions - y) ** 2)
        labels.append(asked.mean())
    return np.array(lost), np.array(labels)


@pytest.mark.parametrize(("jobs", "rows"), [(1, None), (2, 90)])
@pytest.mark.parametrize("table", ["amkl-table-2", "amkl-table-3"])
def test_cells_are_means_over_the_draws(folder, table, jobs, rows):
    told: list[tuple[str, int]] = []
    done: list[int] = []

    def announce(name, total):
        told.append((name, total))
        return done.append

    result = reproduce(table, None, 2, jobs=jobs, announce=announce, rows=rows)
    assert isinstance(result, RegressionTable)
    wanted = [row for row in PUBLISHED[table].printed() if row.data == "tomshardware"]
    printed = [(row.recipe, row.title, row.settings, row.values) for row in wanted]
    printed += [(recipe, kb.recipes.title(recipe), {}, {}) for recipe in EXTRA]
    for cell, (recipe, title, settings, values) in zip(result.cells, printed, strict=True):
        lost, labels = runs(recipe, title, 2, rows or 150, **settings)
        assert (cell.recipe, cell.title, cell.runs) == (recipe, title, len(lost))
        assert cell.error == pytest.approx(lost.mean())
        assert cell.labels == pytest.approx(labels.mean())
        if len(lost) > 1:
            assert cell.error_std == pytest.approx(lost.mean(axis=1).std(ddof=1))
            assert cell.labels_std == pytest.approx(labels.std(ddof=1))
        else:
            assert (cell.error_std, cell.labels_std) == (None, None)
        assert cell.error_printed == values.get("error")
        assert cell.labels_printed == values.get("labels")
    total = sum(cell.runs for cell in result.cells) * (rows or 150)
    assert told == [("tomshardware", total)]
    assert sum(done) == total
    shortened = "at most 90 rows" if rows else "tomshardware: 150 rows here, 9,725 in the paper"
    assert result.remarks[0].startswith(shortened)
    assert result.permutations_by_data == {"tomshardware": "none, the data's own order"}
    assert result.missing == tuple(name for name in DATA if name != "tomshardware")


def test_labels_and_errors_at_each_threshold(folder, monkeypatch):
    monkeypatch.setattr(regression_tables, "THRESHOLDS", (0.0005, 1.0))
    monkeypatch.setattr(regression_tables, "WINDOWS", (1, 5))
    study = reproduce("amkl-figure-2", permutations=2, jobs=1)
    assert isinstance(study, LabelStudy)
    settings = [(point.recipe, point.window, point.threshold) for point in study.points]
    assert settings == [
        (recipe, window, threshold)
        for recipe in ("amkl", "amkl-aks")
        for window in (1, 5)
        for threshold in (0.0005, 1.0)
    ]
    for point in study.points:
        lost, labels = runs(
            point.recipe, "", 2, 150, window=point.window, threshold=point.threshold
        )
        assert point.error == pytest.approx(lost.mean())
        assert point.error_std == pytest.approx(lost.mean(axis=1).std(ddof=1))
        assert point.labels == pytest.approx(labels.mean())
        assert point.labels_std == pytest.approx(labels.std(ddof=1))
        assert labels.min() >= 1 / (point.window + 1)
        passive = {"amkl": "raker", "amkl-aks": "omkl-aks"}[point.recipe]
        drawn, shares = runs(passive, "", 2, 150, labels=RandomLabels(labels.mean()))
        assert point.error_random == pytest.approx(drawn.mean())
        assert point.error_random_std == pytest.approx(drawn.mean(axis=1).std(ddof=1))
        assert shares.mean() == pytest.approx(point.labels, abs=0.15)
    at_most = {point.window: point.labels for point in study.points if point.threshold == 1.0}
    assert at_most == {1: 75 / 150, 5: 25 / 150}  # nothing but the window asks
    table = reproduce("amkl-table-3", permutations=2, jobs=1)
    assert isinstance(table, RegressionTable)
    cells = {cell.recipe: cell for cell in table.cells}
    for point in study.points:
        if (point.window, point.threshold) == (1, 0.0005):
            assert point.error == cells[point.recipe].error
    assert study.trivial == {
        cells[recipe].title: cells[recipe].error for recipe in ("mean", "last-value")
    }


def test_errors_over_time(folder):
    result = reproduce("amkl-figure-3", permutations=2, jobs=1)
    table = reproduce("amkl-table-2", permutations=2, jobs=1)
    assert isinstance(result, ErrorCurves)
    assert isinstance(table, RegressionTable)
    for curve, cell in zip(result.curves, table.cells, strict=True):
        assert (curve.recipe, curve.title, curve.runs) == (cell.recipe, cell.title, cell.runs)
        assert curve.error[-1] == pytest.approx(cell.error)
        assert curve.labels == pytest.approx(cell.labels)
        assert len(curve.rounds) == len(curve.error) == 100
    raker = next(curve for curve in result.curves if curve.recipe == "raker")
    lost, _ = runs("raker", "", 2, 150)
    at = raker.rounds.index(100)
    assert raker.error[at] == pytest.approx(lost[:, :100].mean())
    assert raker.error_std is not None
    assert raker.error_std[at] == pytest.approx(lost[:, :100].mean(axis=1).std(ddof=1))


def test_where_errors_are_taken():
    assert _on_the_way(5).tolist() == [1, 2, 3, 4, 5]
    many = _on_the_way(13_813).tolist()
    assert {100, 1000, 10_000, 13_813, 138} <= set(many)
    assert len(many) == 103
    assert many == sorted(set(many))


def test_the_printed_numbers_are_whole():
    second, third = (PUBLISHED[f"amkl-table-{number}"].printed() for number in (2, 3))
    for rows, each in ((second, 11), (third, 4)):
        assert tuple(dict.fromkeys(row.data for row in rows)) == DATA
        assert len(rows) == len({(row.data, row.title) for row in rows}) == 6 * each
    assert {(row.data, row.number("n_rows")) for row in second + third} == {
        ("twitter", 13818), ("twitter-large", 98704), ("tomshardware", 9725),
        ("air-quality", 7322), ("energy", 18604), ("naval-propulsion", 11934),
    }  # fmt: skip
    # The sums of the tables' numbers.
    assert sum(row.number("error") for row in second) == pytest.approx(2121.98)
    assert sum(row.number("error") for row in third) == pytest.approx(101.74)
    assert sum(row.number("labels") for row in third) == pytest.approx(22.03)
    both = {(row.data, row.recipe): row.values for row in third}
    for row in second:
        values = both.get((row.data, row.recipe))
        if values is not None:
            assert row.values["error"] == values["error"]
            if row.recipe == "amkl-aks":
                assert row.values["labels"] == values["labels"]
    assert all(0.5 <= row.number("labels") <= 1 for row in third)


def test_what_does_not_go_together(folder, tmp_path, monkeypatch):
    for arguments, message in (
        ({"table": "amkl-table-2", "orders": tmp_path / "o.npz"}, "orders: amkl-table-2 takes"),
        ({"table": "amkl-table-3", "data": ["energy"]}, r"none .* is present \(energy\)"),
        ({"table": "amkl-figure-3", "rows": 0}, "rows must be a positive integer, got 0"),
        ({"table": "amkl-figure-2", "permutations": 0}, "permutations must be a positive"),
    ):
        with pytest.raises(InputError, match=message):
            reproduce(**arguments)


@pytest.mark.parametrize(
    ("table", "shown", "on_page"),
    [
        ("amkl-table-2", "KL-RBF (sigma^2=0.1)", None),
        ("amkl-table-3", "AMKL-AKS", None),
        ("amkl-figure-2", "threshold, tomshardware", "AMKL, labels drawn"),
        ("amkl-figure-3", "OMKL-B (B=50)", "Error over time on tomshardware"),
    ],
)
def test_the_command_prints_and_writes(folder, monkeypatch, table, shown, on_page):
    monkeypatch.setattr(regression_tables, "THRESHOLDS", (0.001, 0.1))
    monkeypatch.setattr(regression_tables, "WINDOWS", (2,))
    page, data = folder / "page.html", folder / "data.json"
    run = ["reproduce", table, "--rows", "60", "--permutations", "1", "--jobs", "1"]
    result = CliRunner().invoke(app, [*run, "--json", str(data)])
    assert result.exit_code == 0, result.exception
    for part in (shown, "at most 60 rows", "last value"):
        assert part in " ".join(result.stdout.split())
    absent = table != "amkl-figure-2"  # which is of tomshardware alone
    assert ("not present: twitter" in result.stdout) == absent
    found = json.loads(data.read_text("utf-8"))
    assert found["table"] == table
    assert found["manifest"]["permutations"] == 1
    written = CliRunner().invoke(app, [*run, "--report", str(page)])
    if on_page is None:
        assert isinstance(written.exception, InputError)
        assert "and amkl, not with" in str(written.exception)
    else:
        assert written.exit_code == 0, written.exception
        assert on_page in page.read_text("utf-8")
