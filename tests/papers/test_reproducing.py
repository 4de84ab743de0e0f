"""The published tables of the package, how they are matched with data, run and written."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kernbrook as kb
from kernbrook import recipes
from kernbrook.cli.main import app
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation.parallel import orders_of
from kernbrook.papers import bomkl, published, reproduce, tables, vkr

pytestmark = pytest.mark.usefixtures("few_samples")
MEASURES = {"error": 2, "n_support": 1}


@pytest.mark.parametrize("table", tables())
def test_every_printed_row_is_a_recipe_with_its_settings(table):
    rows = published(table).printed()
    assert rows
    assert (published(table).name, len(set(tables()))) == (table, 16)
    for row in rows:
        settings = {name: value for name, value in row.settings.items() if value != "best"}
        recipes.make(row.recipe, **settings)


@pytest.mark.parametrize(
    ("table", "rows", "data", "sums"),
    [
        ("amkl-table-2", 66, 6, {"error": 2121.98}),
        ("amkl-table-3", 24, 6, {"error": 101.74, "labels": 22.03}),
        ("bpegasos-table-1", 65, 5, {"accuracy": 5302.8}),  # 868.3 of merging come twice
        (
            *("vkr-table-1", 44, 11),
            {"error": 591.33, "error_std": 98.19, "n_support": 4997.6, "n_support_std": 211.1},
        ),
    ],
)
def test_the_printed_numbers_are_whole(table, rows, data, sums):
    """By the sums of the papers' numbers."""
    found = published(table).printed()
    assert (len(found), len({row.data for row in found})) == (rows, data)
    for column, total in sums.items():
        values = [row.values.get(column) for row in found]
        assert sum(value for value in values if value is not None) == pytest.approx(total)


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("omkc-table-3", "omkc-table-4", 30),
        ("amkl-table-2", "amkl-table-3", 18),
        ("bomkl-table-1", "bomkl-table-2", 3),
    ],
)
def test_two_tables_agree_where_both_print(first, second, shared):
    one, other = (
        {(row.data, row.recipe): row.values["error"] for row in published(table).printed()}
        for table in (first, second)
    )
    both = one.keys() & other.keys()
    assert len(both) == shared
    assert all(one[key] == other[key] for key in both)


def test_what_is_missing_is_listed_and_seeded_orders_agree(monkeypatch):
    """Eight orders drawn here instead of the paper's: every mean agrees."""
    monkeypatch.delenv("KERNBROOK_DATA", raising=False)
    result = reproduce("omkc-table-4", permutations=8, jobs=1)
    assert result.origins == {"wdbc": "seeded"}
    assert "a3a" in result.missing
    assert result.remarks == ()
    for cell in result.cells:
        for name, digits in MEASURES.items():
            assert (cell.ours[name].runs, cell.printed[name].runs) == (8, 20)
            assert cell.agrees(name, digits), (name, cell)
    drawn = {cell["recipe"]: cell.mean("n_support") for cell in result.cells}
    assert drawn["omkc-ds"] < drawn["omkc-sd"] < drawn["omkc-dd"]


def test_orders_that_are_given_are_used_and_named(folder):
    path = folder("svmguide3") / "omkc_permutations.npz"
    given = orders_of(None, 2, 7, 120)
    np.savez(path, svmguide3=given)
    seeded = reproduce("bomkl-table-1", permutations=2, jobs=1)
    own = reproduce("bomkl-table-1", permutations=2, jobs=1, orders=path)
    assert seeded.origins == {"svmguide3": "seeded"}  # the OMKC paper's, not this one's
    assert own.origins == {"svmguide3": "given"}
    assert own.cell(recipe="omkc-u").ours["error"] != seeded.cell(recipe="omkc-u").ours["error"]
    X, y = kb.open_stream("svmguide3").read()
    runs = [kb.prequential(kb.recipes.make("omkc-u", tie="margin"), X, y, o) for o in given]
    assert own.cell(recipe="omkc-u").mean("error") == pytest.approx(
        100 * np.mean([run.error for run in runs])
    )
    third = reproduce("omkc-table-4", data=["svmguide3"], permutations=1, jobs=1)
    assert third.origins == {"svmguide3": "the authors' own"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"table": "omkc-table"}, UnknownNameError, "omkc-table-3"),
        ({"table": "omkc-table-3", "data": ["a3a"]}, InputError, "KERNBROOK_DATA"),
        ({"table": "omkc-table-4", "rows": 10}, InputError, "rows: omkc-table-4 runs on all rows"),
        ({"table": "bpegasos-figure-1", "orders": "o.npz"}, InputError, "orders: bpegasos-figure"),
        ({"table": "bpegasos-table-1", "data": ["usps"]}, InputError, r"is present \(usps\)"),
        ({"table": "bpegasos-figure-1", "rows": 2.5}, InputError, "from 1, got 2.5"),
        ({"table": "omkc-table-4", "permutations": True}, InputError, "permutations: expected"),
        ({"table": "amkl-table-2", "orders": "o.npz"}, InputError, "orders: amkl-table-2 takes"),
        ({"table": "vkr-table-1", "data": ["diabetes"]}, UnknownNameError, "pima"),
        ({"table": "bpegasos-table-1", "data": ""}, InputError, "data: expected .*, got none"),
    ],
)
def test_what_does_not_go_together(monkeypatch, arguments, error, message):
    monkeypatch.delenv("KERNBROOK_DATA", raising=False)
    with pytest.raises(error, match=message):
        reproduce(**arguments)


@pytest.mark.parametrize(
    ("table", "options", "shown", "on_page"),
    [
        ("bomkl-figure-1", "", "a9a, divisor, #SV", "The divisor on a9a"),
        ("amkl-table-2", "--rows 60", "KL-RBF (sigma^2=0.1)", "Ours against print"),
        ("vkr-table-1", "--rows 50", "waveform01, gaussian", "Weights, polynomial kernels"),
    ],
)
def test_the_command_prints_and_writes(folder, monkeypatch, table, options, shown, on_page):
    rng = np.random.default_rng(0)
    written = folder("a9a", rows=60, tomshardware=(rng.random((150, 3)), rng.random(150)))
    for figure in (bomkl.CAP, bomkl.DIVISOR):
        monkeypatch.setattr(figure, "places", (2.0,))
    few = {family: pool[1:3] for family, pool in vkr.FAMILIES.items()}
    monkeypatch.setattr(vkr, "FAMILIES", few)
    page, data = written / "web_page.html", written / "data.json"
    run = ["reproduce", table, *["--jobs", "1", "--permutations", "1"], *options.split()]
    result = CliRunner().invoke(app, [*run, "--json", str(data), "--report", str(page)])
    assert result.exit_code == 0, result.exception
    assert shown in " ".join(result.stdout.split())
    text = page.read_text("utf-8")
    assert on_page in text
    assert "kernbrook" in text.partition("How to run it again")[2]
    found = json.loads(data.read_text("utf-8"))
    assert found["name"] == table
    assert found["manifest"]["permutations"] == 1
    assert found["cells"]
