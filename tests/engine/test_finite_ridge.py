"""What is not finite in a ridge regression is seen, wherever it comes up."""

import numpy as np
import pytest

from kernbrook.engine.verbs import Clock, Coefficients, Seen, descend, is_finite, predict
from kernbrook.learners import Ridge
from kernbrook.learners.ridge import STEPS, view_inverse

D = 11  # a square of eight, and three rows besides


def learned(rows):
    """A ridge regression of so many rows, and a row more."""
    ridge = Ridge()
    held = Coefficients(np.zeros((1, D)), np.zeros((ridge.extra_rows(D, 1), D)), np.zeros(D))
    ridge.fill_extra(held.extra)
    z = np.random.default_rng(0).normal(size=(rows + 1, D))
    for t in range(rows):
        step(ridge.rule(), held, z, t)
    return ridge.rule(), held, z


def step(rule, held, z, t):
    out = np.zeros(1)
    variance = predict(rule, held, z, t, out)
    seen = Seen(1, 1.0, 1.0, 0.0, 0.0, 0, False, 0.0, True, Clock(0, t, t + 1), 0)
    descend(rule, held, z, t, seen, out, variance)


def places():
    """Of all numbers that count in the matrix."""
    _, held, _ = learned(0)
    return np.flatnonzero(view_inverse(held.extra).half)  # the diagonal


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", [*places()[[0, 5, 8, 10]], 1])
@pytest.mark.parametrize("rows", [STEPS, STEPS + 1, STEPS + 3])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_in_the_matrix(rows, place, bad):
    """At once where no step waits, else with the next step."""
    rule, held, z = learned(rows)
    assert is_finite(rule, held)
    view_inverse(held.extra).half[place] = bad
    if rows == STEPS:
        assert not is_finite(rule, held)
        return
    z[rows, place % 7] = 0.0  # whatever the features are
    step(rule, held, z, rows)
    assert not is_finite(rule, held)


@pytest.mark.parametrize("name", ["theta", "steps", "numbers"])
def test_elsewhere(name):
    rule, held, _ = learned(STEPS + 2)
    array = held.theta if name == "theta" else getattr(view_inverse(held.extra), name)
    array.reshape(-1)[1] = np.nan
    assert not is_finite(rule, held)
