"""The printed tables that the package carries, how they are matched with data, and run."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from kernbrook.evaluation.published import PUBLISHED
from typer.testing import CliRunner

import kernbrook as kb
from kernbrook import recipes
from kernbrook.cli.main import app
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation import reproducing
from kernbrook.evaluation.comparing import orders_of
from kernbrook.kernels import resolve

Folder = Callable[..., Path]
POOL = resolve("omkc16")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Writes small data sets of given names and makes their folder KERNBROOK_DATA."""
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))

    def write(*names: str, rows: int = 120) -> Path:
        for seed, name in enumerate(names):
            rng = np.random.default_rng(seed)
            X = 10 * rng.normal(size=(rows, 3)) + 50
            y = np.where(X[:, 0] + X[:, 1] + 3 * rng.normal(size=rows) > 92, 1, -1)  # most are 1
            lines = (
                f"{label} 1:{a:.4f} 2:{b:.4f} 3:{c:.4f}"
                for label, (a, b, c) in zip(y, X, strict=True)
            )
            (tmp_path / f"{name}.libsvm").write_text("\n".join(lines) + "\n")
        return tmp_path

    return write


@pytest.mark.parametrize("table", reproducing.tables())
def test_every_printed_row_is_a_recipe_with_its_settings(table: str) -> None:
    rows = PUBLISHED[table].printed()
    assert rows
    for row in rows:
        settings = {name: value for name, value in row.settings.items() if value != "best"}
        recipes.make(row.recipe, **settings)


def test_table_3_and_4_agree_where_both_print() -> None:
    third, fourth = (
        {(r.data, r.recipe): r.values["error"] for r in PUBLISHED[table].printed()}
        for table in ("omkc-table-3", "omkc-table-4")
    )
    common = third.keys() & fourth.keys()
    assert len(common) == 30
    assert all(third[key] == fourth[key] for key in common)


def test_the_budget_tables_are_whole() -> None:
    first, second = (PUBLISHED[f"bomkl-table-{i}"].printed() for i in (1, 2))
    for rows, data in ((first, 6), (second, 6)):
        assert len(rows) == 5 * data == len({(row.data, row.recipe) for row in rows})
    spa = {row.data: row.values for row in first if row.recipe == "spa"}
    same = [row for row in second if row.recipe == "spa" and row.data in spa]
    assert len(same) == 3
    assert all(row.values == spa[row.data] for row in same)
    for row in second:
        if row.recipe != "spa":
            assert row.values["n_support"] == 16 * row.settings["budget"]
    divisors = {row.data: row.settings for row in second if row.recipe == "spa" and row.settings}
    assert divisors == {"SUSY": {"divisor": 300}}


def test_no_data_present(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNBROOK_DATA", raising=False)
    with pytest.raises(InputError, match="KERNBROOK_DATA"):
        reproducing.reproduce("omkc-table-3", data=["a3a"])
    with pytest.raises(UnknownNameError, match="omkc-table-3"):
        reproducing.reproduce("omkc-table")


def test_missing_data_is_listed_and_seeded_orders_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNBROOK_DATA", raising=False)
    result = reproducing.reproduce("omkc-table-4", permutations=2, jobs=1)
    assert result.permutations_by_data == {"wdbc": "seeded"}
    assert "a3a" in result.missing
    assert isinstance(result, reproducing.Reproduction)
    assert result.remarks == ()
    for cell in result.cells:
        assert cell.error_std is not None
        assert abs(cell.error - cell.error_printed) < 6 * max(cell.error_printed_std or 0, 0.5)
    drawn = {cell.recipe: cell.n_support for cell in result.cells}
    assert drawn["omkc-ds"] < drawn["omkc-sd"] < drawn["omkc-dd"]


def test_discounts_of_figure_4() -> None:
    assert len(reproducing.DISCOUNTS) == 20
    assert reproducing.DISCOUNTS[0] == 0.05
    assert reproducing.DISCOUNTS[-1] == 1
    assert np.allclose(np.diff(reproducing.DISCOUNTS), 0.05)


def test_the_rows_are_run_with_their_settings(folder: Folder) -> None:
    folder("svmguide3")
    done: list[int] = []
    announced: list[tuple[str, int]] = []

    def announce(name: str, rounds: int) -> Callable[[int], None]:
        announced.append((name, rounds))
        return done.append

    result = reproducing.reproduce("bomkl-table-1", permutations=2, jobs=1, announce=announce)
    assert isinstance(result, reproducing.Reproduction)
    assert announced == [("svmguide3", 5 * 2 * 120)]
    assert sum(done) == 5 * 2 * 120
    X, y = kb.open_stream("svmguide3").read()
    orders = orders_of(None, 2, 0, 120)
    errors = {cell.recipe: cell.error for cell in result.cells}
    for recipe, settings in (
        ("omkc-u", {"tie": "margin"}),
        ("omkc-dd", {"tie": "margin", "discount": 0.99}),
    ):
        runs = [kb.prequential(kb.recipes.make(recipe, **settings), X, y, o) for o in orders]
        assert errors[recipe] == pytest.approx(100 * np.mean([run.error for run in runs]))
    perceptrons = [
        [
            kb.prequential(kb.recipes.make("perceptron", kernels=[kernel], tie="margin"), X, y, o)
            for o in orders
        ]
        for kernel in POOL
    ]
    best = min(range(16), key=lambda i: perceptrons[i][0].n_support_stored)  # of the first order
    ours = 100 * np.mean([run.error for run in perceptrons[best]])
    assert errors["perceptron"] == pytest.approx(ours)
    assert any(f"takes {POOL[best]} on svmguide3" in text for text in result.remarks)
    assert result.missing == ("german", "madelon", "a9a", "magic04", "KDD08")
    assert all(cell.seconds_printed and cell.seconds for cell in result.cells)


def test_german_is_scaled_and_its_frequent_class_negative(folder: Folder) -> None:
    folder("german")
    result = reproducing.reproduce("bomkl-table-1", permutations=1, jobs=1)
    assert isinstance(result, reproducing.Reproduction)
    X, y = kb.open_stream("german").read()
    assert (y == 1).mean() > 0.5
    low, high = X.min(axis=0), X.max(axis=0)
    model = kb.recipes.make("omkc-dd", discount=0.99, tie="margin")
    record = kb.prequential(
        model, 2 * (X - low) / (high - low) - 1, -y, orders_of(None, 1, 0, 120)[0]
    )
    (cell,) = (cell for cell in result.cells if cell.recipe == "omkc-dd")
    assert cell.error == pytest.approx(100 * record.error)
    assert cell.n_support == record.n_support_stored
    assert any("german: features scaled" in text for text in result.remarks)
    assert any("german: 120 rows here, 1,000 in the paper" in text for text in result.remarks)


def test_codrna_is_found_by_the_name_of_its_file(folder: Folder) -> None:
    folder("cod-rna", rows=60)
    result = reproducing.reproduce("bomkl-table-2", permutations=1, jobs=1)
    assert isinstance(result, reproducing.Reproduction)
    assert {cell.data for cell in result.cells} == {"codrna"}
    assert [cell.title for cell in result.cells] == ["RBP", "Forgetron", "BOGD", "BPAS", "SPA"]
    assert "271,617 in the paper" in result.remarks[0]


def test_orders_that_are_given_are_used_and_named(folder: Folder) -> None:
    path = folder("svmguide3") / "omkc_permutations.npz"
    given = orders_of(None, 2, 7, 120)
    np.savez(path, svmguide3=given)
    seeded = reproducing.reproduce("bomkl-table-1", permutations=2, jobs=1)
    own = reproducing.reproduce("bomkl-table-1", permutations=2, jobs=1, orders=path)
    assert seeded.permutations_by_data == {
        "svmguide3": "seeded"
    }  # the OMKC paper's, not this one's
    assert own.permutations_by_data == {"svmguide3": "given"}
    assert own != seeded
    X, y = kb.open_stream("svmguide3").read()
    runs = [kb.prequential(kb.recipes.make("omkc-u", tie="margin"), X, y, o) for o in given]
    assert isinstance(own, reproducing.Reproduction)
    (cell,) = (cell for cell in own.cells if cell.recipe == "omkc-u")
    assert cell.error == pytest.approx(100 * np.mean([run.error for run in runs]))
    third = reproducing.reproduce("omkc-table-4", data=["svmguide3"], permutations=1, jobs=1)
    assert third.permutations_by_data == {"svmguide3": "the authors' own"}


def test_the_study_of_cap_and_divisor(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder("a9a")
    monkeypatch.setattr(reproducing, "CAPS", (0.5, 2.0))
    monkeypatch.setattr(reproducing, "CAPS_AT", (3.0,))
    monkeypatch.setattr(reproducing, "DIVISORS", (1.0, 4.0))
    done: list[int] = []
    study = reproducing.reproduce(
        "bomkl-figure-1", permutations=2, jobs=1, announce=lambda name, rounds: done.append
    )
    assert isinstance(study, reproducing.ParameterStudy)
    assert sum(done) == (2 + 2 * 5) * 2 * 120
    caps = [point for point in study.points if point.parameter == "cap"]
    assert [(point.value, point.curve) for point in caps] == [
        (0.5, "divisor 3"),
        (2.0, "divisor 3"),
    ]
    rest = [point for point in study.points if point.parameter == "divisor"]
    assert [(point.value, point.curve) for point in rest] == list(
        itertools.product((1.0, 4.0), ("SPA", "RBP", "Forgetron", "BOGD", "BPAS"))
    )
    X, y = kb.open_stream("a9a").read()
    orders = orders_of(None, 2, 0, 120)
    for first in (0, 5):
        budget = round(rest[first].n_support / 16)
        runs = [
            kb.prequential(kb.recipes.make("forgetron", budget=budget), X, y, o) for o in orders
        ]
        assert rest[first + 2].error == pytest.approx(100 * np.mean([run.error for run in runs]))
        assert rest[first + 2].n_support <= 16 * budget
    assert rest[0].n_support > rest[5].n_support  # a greater divisor keeps fewer
    assert caps[0].n_support < caps[1].n_support  # a greater cap keeps more


def test_the_study_is_printed_and_its_page_written(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = folder("a9a", rows=60) / "study.html"
    for name in ("CAPS", "CAPS_AT", "DIVISORS"):
        monkeypatch.setattr(reproducing, name, (2.0,))
    run = ["reproduce", "bomkl-figure-1", "--permutations", "1", "--jobs", "1"]
    result = CliRunner().invoke(app, [*run, "--report", str(page)])
    assert result.exit_code == 0, result.exception
    assert "a9a, divisor 2" in result.stdout
    assert "Forgetron" in result.stdout
    assert "The divisor on a9a" in page.read_text("utf-8")
    refused = CliRunner().invoke(app, ["reproduce", "bomkl-table-2", "--report", str(page)])
    assert isinstance(refused.exception, InputError)
    assert "bomkl-figure-1" in str(refused.exception)


def test_what_is_tried_is_allowed() -> None:
    assert max(reproducing.CAPS) <= min(reproducing.CAPS_AT)
    assert min(reproducing.DIVISORS) >= 1
