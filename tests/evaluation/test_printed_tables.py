"""The deterministic rows of the OMKC paper's tables 3 and 4, on its authors' own permutations.

Hoi, Jin, Zhao, Yang (2013): mean and standard deviation over 20 runs of the mistakes, in per cent,
and of the number of support vectors. Where draws decide, 8 of the 20 runs do. These tests need
the data files (KERNBROOK_DATA).
"""

import csv
from functools import cache
from importlib import resources

import hard_streams
import numpy as np
import pytest

import kernbrook as kb

EXACT = ("omkc-dd", "perceptron", "perceptron-u")
DRAWN = ("omkc-ds", "omkc-sd", "omkc-ss")
BINARY = ("a3a", "mushrooms", "w5a")  # cancelling scores: a sum's order moves #SV by 0.3 %
SMALL = ("ionosphere", "wdbc", "diabetes", "australian", "svmguide3")


def printed(data, recipe):
    """(mistakes, their deviation, #SV, its deviation) in table 3, or in table 4."""
    table = resources.files("kernbrook") / "evaluation" / "printed" / "omkc.tsv"
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["data"] == data and row["recipe"] == recipe and row["error"]:
                names = ("error", "error_std", "n_support", "n_support_std")
                return tuple(float(row[name]) for name in names)
    raise AssertionError(f"{recipe} on {data} is not in the printed table")


@cache
def runs(data, recipe, permutations=20):
    """Mistakes in per cent, stored and active support vectors of each run."""
    X, y = hard_streams.real(data)
    orders = hard_streams.printed_orders(data)[:permutations]
    if data not in BINARY:
        X = X.toarray()
    records = [
        kb.prequential(kb.recipes.make(recipe, random_state=i), X, y, order)
        for i, order in enumerate(orders)
    ]
    return (
        np.array([100 * record.error for record in records]),
        np.array([record.n_support_stored for record in records]),
        np.array([record.n_support_active for record in records]),
    )


@pytest.mark.parametrize(
    ("data", "recipe"),
    [
        *((data, recipe) for data in (*SMALL, "a3a") for recipe in EXACT),
        *((data, recipe) for data in BINARY[1:] for recipe in EXACT[1:]),  # the rest takes longest
    ],
)
def test_deterministic_rows(data, recipe):
    error, error_std, n_support, n_support_std = printed(data, recipe)
    errors, stored, _ = runs(data, recipe)
    assert errors.mean() == pytest.approx(error, abs=0.05)
    assert errors.std(ddof=1) == pytest.approx(error_std, abs=0.05)
    share = 0.003 if data in BINARY else 0.001
    assert stored.mean() == pytest.approx(n_support, rel=share, abs=0.06)
    assert stored.std(ddof=1) == pytest.approx(n_support_std, rel=0.1)


@pytest.mark.parametrize("data", SMALL)
def test_last_digit(data):
    """On real-valued features OMKC(D,D) is the printed row to its last digit.

    Diabetes is one mistake in all twenty runs away: 33.685 +- 1.284 for 33.69 +- 1.29.
    """
    errors, stored, _ = runs(data, "omkc-dd")
    ours = (errors.mean(), errors.std(ddof=1), stored.mean(), stored.std(ddof=1))
    slack = 1.3 if data == "diabetes" else 0.501
    for value, expected, digits in zip(ours, printed(data, "omkc-dd"), (2, 2, 1, 1), strict=True):
        assert value == pytest.approx(expected, abs=slack * 10.0**-digits)


@pytest.mark.parametrize("data", [*SMALL, "a3a"])
def test_the_best_kernel(data):
    errors, _, _ = runs(data, "perceptron-best")
    assert errors.mean() == pytest.approx(printed(data, "perceptron-best")[0], abs=0.5)


@pytest.mark.parametrize("data", [*SMALL, "a3a"])
def test_om2(data):
    errors, _, _ = runs(data, "om2", 8)
    error, error_std, *_ = printed(data, "om2")
    assert abs(errors.mean() - error) <= 2 * error_std


@pytest.mark.parametrize("recipe", DRAWN)
@pytest.mark.parametrize("data", [*SMALL, "a3a"])
def test_drawn_rows(data, recipe):
    """Within two printed deviations; #SV is stored for (S,D), active where the vote is drawn."""
    error, error_std, n_support, n_support_std = printed(data, recipe)
    errors, stored, active = runs(data, recipe, 8)
    assert abs(errors.mean() - error) <= 2 * error_std
    counted = stored if recipe == "omkc-sd" else active
    assert abs(counted.mean() - n_support) <= 2 * n_support_std


def test_drawn_votes_on_w5a():
    """The printed 3.78 % is the weighted vote's: the unweighted one gives less."""
    errors, _, _ = runs("w5a", "omkc-ds", 5)
    error, error_std, *_ = printed("w5a", "omkc-ds")
    assert abs(errors.mean() - error) <= error_std
