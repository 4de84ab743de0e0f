"""Tables 1 and 2 of the budget paper, and its figure 1.

Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning: mean and deviation over ten
permutations, which are not known; ours are seeded. Not matched: OMKC(SD), whose printed numbers of
support vectors are 2 to 8 % above ours; on madelon Perceptron(*), printed at the level of a
polynomial kernel, and OMKC(DD), which errs 1.8 points less here; OMKC(U) on magic04, where tied
votes count as mistakes in the paper. BOGD is left out: its regularization is not printed. The tests
on the paper's data need the data files (KERNBROOK_DATA).
"""

from __future__ import annotations

import numpy as np
import pytest
from papers.parts import one, some

import kernbrook as kb
from kernbrook.evaluation.parallel import orders_of
from kernbrook.kernels import resolve
from kernbrook.papers import bomkl, reproduce
from kernbrook.papers.published import ERROR, SUPPORT
from kernbrook.reports.table import agreement

pytestmark = pytest.mark.usefixtures("few_samples")
POOL = resolve("omkc16")
LONG = [pytest.mark.slow, pytest.mark.long]
# data, permutations, rows that are run; cells that are only near, and those that are not matched
TABLE_1 = [
    ("german", 10, "perceptron omkc-u omkc-dd omkc-sd spa", {"omkc-u error"},
     {"omkc-sd error", "omkc-sd n_support"}),
    pytest.param(
        "svmguide3", 10, "perceptron omkc-u omkc-dd omkc-sd spa", {"omkc-u error", "spa error"},
        {"omkc-sd n_support"}, marks=LONG,
    ),
    ("madelon", 2, "omkc-u omkc-dd spa", {"spa error"}, {"omkc-dd error"}),
    ("magic04", 4, "spa", set(), set()),
]  # fmt: skip


@pytest.mark.parametrize(("data", "permutations", "recipes", "near", "apart"), TABLE_1)
def test_table_1(data, permutations, recipes, near, apart):
    """Means agree; those that are near are within two printed deviations of single runs."""
    for cell in some("bomkl-table-1", data, tuple(recipes.split()), permutations).cells:
        for measure in (ERROR, SUPPORT):
            name = f"{cell['recipe']} {measure.name}"
            if name not in apart:
                assert agreement(cell, measure) in ("", "~" if name in near else ""), (name, cell)


@pytest.mark.slow
@pytest.mark.long
def test_spa_on_a9a():
    """Its number of support vectors agrees; it errs 0.3 points more than printed: 16.10 ± 0.12."""
    cell = one("bomkl-table-1", "a9a", "spa", 2)
    assert agreement(cell, SUPPORT) == "", cell
    assert cell.difference("error") == pytest.approx(0.3, abs=0.15), cell


# data, recipe; one permutation of ours
TABLE_2 = [
    ("magic04", "rbp"), ("magic04", "forgetron"), ("magic04", "bpas"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "recipe"), TABLE_2)
def test_table_2(data, recipe):
    cell = one("bomkl-table-2", data, recipe, 1)
    assert agreement(cell, ERROR) == "", cell
    printed = cell.printed["n_support"].mean
    assert 15 / 16 * printed < cell.mean("n_support") <= printed


def mean_error(recipe, name, orders, **settings):
    """The same directly, in per cent."""
    X, y = kb.open_stream(name).read()
    runs = [kb.prequential(kb.recipes.make(recipe, **settings), X, y, order) for order in orders]
    return pytest.approx(100 * np.mean([run.error for run in runs]))


def test_the_rows_are_run_with_their_settings(folder, told):
    folder("svmguide3")
    result = reproduce("bomkl-table-1", permutations=2, jobs=1, announce=told.announce)
    assert told.announced == [("svmguide3", 5 * 2 * 120)]
    assert sum(told.done) == 5 * 2 * 120
    orders = orders_of(None, 2, 0, 120)
    assert result.cell(recipe="omkc-u").mean("error") == mean_error(
        "omkc-u", "svmguide3", orders, tie="margin"
    )
    assert result.cell(recipe="omkc-dd").mean("error") == mean_error(
        "omkc-dd", "svmguide3", orders, tie="margin", discount=0.99
    )
    X, y = kb.open_stream("svmguide3").read()
    first = [  # support vectors are mistakes
        kb.prequential(
            kb.recipes.make("perceptron", kernels=[kernel], tie="margin"), X, y, orders[0]
        ).n_support_stored
        for kernel in POOL
    ]
    best = POOL[int(np.argmin(first))]
    assert result.cell(recipe="perceptron").mean("error") == mean_error(
        "perceptron", "svmguide3", orders, tie="margin", kernels=[best]
    )
    assert f"Perceptron(*) takes {best} on svmguide3" in result.remarks
    assert result.missing == ("german", "madelon", "a9a", "magic04", "KDD08")
    for cell in result.cells:
        assert cell.printed["seconds"].mean > 0
        assert cell.mean("seconds") > 0
        assert cell.printed["error"].runs == 10


def test_german_is_scaled_and_its_frequent_class_negative(folder):
    folder("german")
    result = reproduce("bomkl-table-1", permutations=1, jobs=1)
    X, y = kb.open_stream("german").read()
    assert (y == 1).mean() > 0.5
    low, high = X.min(axis=0), X.max(axis=0)
    model = kb.recipes.make("omkc-dd", discount=0.99, tie="margin")
    order = orders_of(None, 1, 0, 120)[0]
    record = kb.prequential(model, 2 * (X - low) / (high - low) - 1, -y, order)
    cell = result.cell(recipe="omkc-dd")
    assert cell.mean("error") == pytest.approx(100 * record.error)
    assert cell.mean("n_support") == record.n_support_stored
    assert any("german: features scaled" in text for text in result.remarks)
    assert any("german: 120 rows here, 1,000 in the paper" in text for text in result.remarks)


def test_the_study_of_cap_and_divisor(folder, told, monkeypatch):
    folder("a9a")
    monkeypatch.setattr(bomkl.CAP, "places", (0.5, 2.0))
    monkeypatch.setattr(bomkl.DIVISOR, "places", (1.0, 4.0))
    study = reproduce("bomkl-figure-1", permutations=2, jobs=1, announce=told.announce)
    assert told.announced == [("a9a", sum(told.done))] == [("a9a", (2 * 2 + 2 * 5) * 2 * 120)]
    caps, rest = study.where(along="cap"), study.where(along="divisor")
    assert [cell["title"] for cell in caps] == ["divisor 3", "divisor 6"]
    assert [cell["title"] for cell in rest] == ["SPA", "RBP", "Forgetron", "BOGD", "BPAS"]
    orders = orders_of(None, 2, 0, 120)
    spa, _, forgetron, *_ = (cell.curves for cell in rest)
    for i, size in enumerate(spa["n_support"].mean):
        budget = round(size / 16)
        error = mean_error("forgetron", "a9a", orders, budget=budget)
        assert forgetron["error"].mean[i] == error
        assert forgetron["n_support"].mean[i] <= 16 * budget
    few, many = caps[0].curves["n_support"].mean
    assert few < many  # a greater cap keeps more
    assert spa["n_support"].x == (1.0, 4.0)
    assert spa["n_support"].mean[0] > spa["n_support"].mean[1]  # a greater divisor keeps fewer
