"""Ranks of recipes on several data sets, and the report of a training in hindsight."""

import math
from dataclasses import replace

import hard_streams
import numpy as np
import pytest
from scipy import stats

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.evaluation.oracles import hindsight
from kernbrook.evaluation.ranks import ranking
from kernbrook.evaluation.record import Comparison, Row
from kernbrook.reports import ranking_json

# Demsar (2006), table 5: two-tailed Nemenyi test at 5 %, by number of classifiers.
NEMENYI = {2: 1.960, 5: 2.728, 9: 3.102}
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


@pytest.mark.parametrize("k", [2, 5, 9])
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
