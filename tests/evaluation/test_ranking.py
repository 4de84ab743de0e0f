"""Ranks of recipes on several data sets, and the report of a training in hindsight."""

import io
import math
from dataclasses import replace

import hard_streams
import numpy as np
import pytest
from scipy import stats

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.evaluation.comparing import compare
from kernbrook.evaluation.oracles import hindsight
from kernbrook.evaluation.ranks import ranking
from kernbrook.evaluation.record import Comparison, Row
from kernbrook.reports import (
    comparison_table,
    comparisons_page,
    ranking_json,
    ranking_table,
    rendered,
)

# Demsar (2006), table 5: two-tailed Nemenyi test at 5 %, by number of classifiers.
NEMENYI = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102}
NAMES = ("majority", "last-label", "perceptron", "omkc-dd")


@pytest.fixture(scope="module")
def record():
    X, y = hard_streams.gaussian_clouds(30)
    return kb.prequential(kb.recipes.make("majority"), X, y)


def made(record, data, errors):
    """A comparison of recipes with these errors, in one run each."""
    rows = tuple(
        Row(name, name.upper(), (replace(record, error=error),))
        for name, error in zip(NAMES, errors, strict=False)
        if error is not None
    )
    return Comparison(data, 30, 4, 1, rows, ())


@pytest.mark.parametrize("k", NEMENYI)
def test_the_difference_of_the_nemenyi_test(k, record):
    rows = tuple(Row(str(i), str(i), (replace(record, error=i / 10),)) for i in range(k))
    for n in (2, 5, 10):
        found = ranking([Comparison(str(i), 30, 4, 1, rows, ()) for i in range(n)])
        wanted = NEMENYI[k] * math.sqrt(k * (k + 1) / (6 * n))
        assert found.difference == pytest.approx(wanted, rel=1e-3)


def test_ranks_and_the_friedman_test(record):
    errors = [(0.4, 0.3, 0.2, 0.1), (0.4, 0.2, 0.2, 0.1), (0.3, 0.4, 0.2, 0.1)]
    found = ranking([made(record, f"d{i}", own) for i, own in enumerate(errors)])
    np.testing.assert_array_equal(found.ranks, [[4, 3, 2, 1], [4, 2.5, 2.5, 1], [3, 4, 2, 1]])
    assert found.p_value == pytest.approx(stats.friedmanchisquare(*zip(*errors, strict=True))[1])
    assert found.best == tuple(  # those less than the difference away from omkc-dd
        name
        for name, mean in zip(NAMES, found.ranks.mean(axis=0), strict=True)
        if mean - 1 < found.difference
    )


def test_only_recipes_that_all_have(record):
    both = [made(record, "a", (0.4, 0.3, 0.2)), made(record, "b", (0.4, None, 0.2))]
    found = ranking(both)
    assert found.recipes == ("majority", "perceptron")
    assert math.isnan(found.p_value)
    assert ranking_json(found)["p_value"] is None
    for few in (both[:1], [], [made(record, "a", (0.1,)), made(record, "b", (0.1,))]):
        with pytest.raises(InputError, match="ranks: expected two data sets or more"):
            ranking(few)


def test_the_table(record):
    from rich.console import Console

    both = [made(record, "a", (0.4, 0.3, 0.2)), made(record, "b", (0.4, 0.1, 0.2))]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(rendered(ranking_table(ranking(both))))
    text = console.export_text()
    lines = text.splitlines()
    assert lines[0].strip() == "ranks on 2 data sets"
    assert [line.split()[0] for line in lines[3:6]] == ["LAST-LABEL", "PERCEPTRON", "MAJORITY"]
    assert "1.50*" in lines[3]
    assert "p = 0.22" in text


@pytest.mark.parametrize("recipe", ["omkc-dd", "omkc-u"])
def test_hindsight(recipe):
    X, y = hard_streams.gaussian_clouds(150)
    model = kb.recipes.make(recipe, random_state=0)
    predictions, _ = model.learn(X, y)
    mistakes = int((predictions != y).sum())
    found = hindsight(model, mistakes)
    own = model.expert_mistakes_
    assert (found.expert, found.mistakes) == (own.argmin(), own.min())
    assert found.mistakes + found.regret == mistakes
    if recipe == "omkc-dd":
        discount = model.combiner.discount
        part = math.log(1 / discount) * own.min() + math.log(len(own))
        assert found.bound == pytest.approx(2 * part / (1 - discount))
        assert mistakes <= found.bound
    else:  # equal weights
        assert found.bound is None


@pytest.mark.parametrize(
    "model",
    [
        kb.recipes.make("omkc-sd", random_state=0),  # not all experts learn from each label
        kb.recipes.make("perceptron"),  # one expert
        kb.recipes.make("raker", random_state=0),  # numbers
        kb.recipes.make("majority"),
        kb.OnlineMKClassifier("omkc16", kb.Perceptron(), labels=kb.RandomLabels(0.5)),
    ],
    ids=["drawn", "alone", "numbers", "trivial", "labels"],
)
def test_nothing_to_compare(model):
    X, y = hard_streams.gaussian_clouds(60)
    model.learn(X, y)
    assert hindsight(model, 10) is None


def test_a_comparison_as_a_frame():
    pytest.importorskip("pandas")
    X, y = hard_streams.gaussian_clouds(60)
    result = compare(X, y, ["perceptron", "majority"], permutations=3, jobs=1)
    frame = result.results().to_frame()
    assert {"error", "log_loss", "auc"} <= set(frame["measure"])
    errors = frame[frame.measure == "error"].set_index("recipe")
    for row in result.rows:
        assert errors.loc[row.recipe, "mean"] == pytest.approx(row.errors.mean())
        assert errors.loc[row.recipe, "std"] == pytest.approx(row.errors.std(ddof=1))
        assert errors.loc[row.recipe, "runs"] == 3


def test_the_page_of_several_data_sets(record):
    """Ranks, then of each data set its verdict and table, and what it takes to run it again."""
    both = {"numpy": "2.0", "seed": 7}
    one, other = (
        replace(
            made(record, data, errors),
            manifest={**both, "data": data, "data_sha256": f"digest of {data}"},
        )
        for data, errors in (("A", [0.5, 0.25, 0.125, 0.25]), ("B", [0.25, 0.5, 0.5, 0.125]))
    )
    page = comparisons_page([one, other], ranking([one, other]))
    ranks, first, second, again = page.sections
    assert [one.heading for one in page.sections] == ["Ranks", "A", "B", "How to run it again"]
    assert ranks.table.title == "ranks on 2 data sets"
    for section, comparison, best in ((first, one, "PERCEPTRON"), (second, other, "OMKC-DD")):
        data = comparison.data
        assert f"{best} makes the fewest mistakes over 1 permutation of {data}" in section.text
        assert section.table == comparison_table(comparison)
        assert section.plot is not None
    names, values = (column.values for column in again.table.columns)
    assert names == ("numpy", "seed", "A: data_sha256", "B: data_sha256")
    assert values == ("2.0", "7", "digest of A", "digest of B")
    assert [one.heading for one in comparisons_page([one, other], None).sections[:1]] == ["A"]
