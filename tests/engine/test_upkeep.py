"""Which slot makes room: as a search one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.numerics.upkeep import cheapest, equal_ones, oldest
from kernbrook.numerics.vectors import least

COSTS = st.lists(st.sampled_from([-3.5, -1e-310, -0.0, 0.0, 1e-310, 0.1, 2.0, np.inf]), min_size=1)


def naive_cheapest(costs, born):
    best = 0
    for s in range(1, len(costs)):
        if costs[s] < costs[best] or (costs[s] == costs[best] and born[s] < born[best]):
            best = s
    return best


@settings(deadline=None)
@given(COSTS, st.randoms(use_true_random=False))
def test_the_cheapest_and_of_equal_ones_the_oldest(costs, random):
    born = list(range(len(costs)))
    random.shuffle(born)
    costs, born = np.array(costs), np.array(born)
    assert least(costs) == costs.min()
    assert cheapest(costs, born) == naive_cheapest(costs, born)


@pytest.mark.parametrize("n", [1, 7, 64, 1001])
def test_of_many(n):
    rng = np.random.default_rng(n)
    for scale in (1e-300, 1.0, 1e300):
        costs, born = scale * rng.normal(size=n), rng.permutation(n)
        assert least(costs) == costs.min()
        assert cheapest(costs, born) == costs.argmin()
        assert oldest(born, n) == born.argmin()
        assert oldest(born, (n + 1) // 2) == born[: (n + 1) // 2].argmin()


def test_equal_ones():
    values = np.array([4, 1, 4, 1, 1])
    assert equal_ones(values, 1, 5) == (1, 3)
    assert equal_ones(values, 4, 1) == (0, 1)
    assert equal_ones(values, 7, 5) == (5, 0)


def test_what_is_not_finite_chooses_some_slot():
    """An overflow is found, and refused, by who comes later."""
    assert cheapest(np.full(3, np.nan), np.arange(3)) in range(3)
