"""The printed tables that the package carries, and how they are matched with data."""

from __future__ import annotations

import numpy as np
import pytest

from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation import reproducing
from kernbrook.models import recipes


def test_every_printed_row_names_a_recipe() -> None:
    for table in reproducing.tables():
        rows = reproducing._printed(table)
        assert rows
        assert {row.recipe for row in rows} <= set(recipes.names())


def test_table_3_and_4_agree_where_both_print() -> None:
    third = {(r.data, r.recipe): r.values["error"] for r in reproducing._printed("omkc-table-3")}
    fourth = {(r.data, r.recipe): r.values["error"] for r in reproducing._printed("omkc-table-4")}
    common = third.keys() & fourth.keys()
    assert len(common) == 30
    assert all(third[key] == fourth[key] for key in common)


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
