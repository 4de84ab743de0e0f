"""Tables 3 and 4 of the OMKC paper, on its authors' own permutations.

Hoi, Jin, Zhao, Yang (2013): mean and standard deviation over 20 runs of the mistakes, in per cent,
and of the number of support vectors. Where draws decide, 8 of the 20 runs do. These tests need
the data files (KERNBROOK_DATA).
"""

import hard_streams
import pytest
from papers.parts import one

from kernbrook.papers.omkc import DISCOUNT

pytestmark = pytest.mark.usefixtures("few_samples")
EXACT = ("omkc-dd", "perceptron", "perceptron-u")
DRAWN = ("omkc-ds", "omkc-sd", "omkc-ss")
BINARY = ("a3a", "mushrooms")  # cancelling scores: a sum's order moves #SV by 0.3 %
LONG = [pytest.mark.slow, pytest.mark.long]
SMALL = ("ionosphere", "wdbc", "diabetes", "australian", "svmguide3")
SOME = [*SMALL[:2], *(pytest.param(data, marks=LONG) for data in (*SMALL[2:], "a3a"))]


def cell(data, recipe, permutations=20):
    hard_streams.printed_orders(data)  # skips where they are not there
    return one(f"omkc-table-{4 if recipe in DRAWN else 3}", data, recipe, permutations)


def pairs(found, name):
    """Ours and the printed one, of means and of deviations."""
    ours, printed = found.ours[name], found.printed[name]
    return (ours.mean, printed.mean), (ours.std, printed.std)


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("data", "recipe"),
    [
        *((data, recipe) for data in SMALL for recipe in EXACT),
        ("a3a", EXACT[1]),
        # What is left of these takes longest.
        *(pytest.param("a3a", recipe, marks=LONG) for recipe in EXACT[::2]),
        pytest.param("mushrooms", "perceptron", marks=LONG),
    ],
)
def test_deterministic_rows(data, recipe):
    found = cell(data, recipe)
    for ours, printed in pairs(found, "error"):
        assert ours == pytest.approx(printed, abs=0.05)
    (mean, printed), (std, printed_std) = pairs(found, "n_support")
    assert mean == pytest.approx(printed, rel=0.003 if data in BINARY else 0.001, abs=0.06)
    assert std == pytest.approx(printed_std, rel=0.1)
    if recipe == "omkc-dd" and data in SMALL:
        assert_last_digit(data, found)


def assert_last_digit(data, found):
    """On real-valued features OMKC(D,D) is the printed row to its last digit.

    Diabetes is one mistake in all twenty runs away: 33.685 +- 1.284 for 33.69 +- 1.29.
    """
    slack = 1.3 if data == "diabetes" else 0.501
    for name, digits in (("error", 2), ("n_support", 1)):
        for ours, printed in pairs(found, name):
            assert ours == pytest.approx(printed, abs=slack * 10.0**-digits)


@pytest.mark.parametrize("data", SOME)
def test_the_best_kernel(data):
    found = cell(data, "perceptron-best")
    assert found.agrees("error", 2), found
    assert found.difference("error") == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("data", SOME)
def test_om2(data):
    found = cell(data, "om2", 8)
    assert found.agrees("error", 2), found


@pytest.mark.thinned
@pytest.mark.parametrize("recipe", DRAWN)
@pytest.mark.parametrize("data", [*SMALL, pytest.param("a3a", marks=LONG)])
def test_drawn_rows(data, recipe):
    """#SV is stored for (S,D), active where the vote is drawn."""
    found = cell(data, recipe, 8)
    assert found.agrees("error", 2), found
    assert found.agrees("n_support", 1), found


@pytest.mark.slow
@pytest.mark.long
def test_drawn_votes_on_w5a():
    """The printed 3.78 % is the weighted vote's: the unweighted one gives less."""
    found = cell("w5a", "omkc-ds", 5)
    assert found.agrees("error", 2), found


def test_discounts_of_figure_4():
    assert [i / 20 for i in range(1, 21)] == DISCOUNT.places
