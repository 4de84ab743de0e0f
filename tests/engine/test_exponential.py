"""The exponential that decides labels, and the ladders of powers made from it."""

import kernel_sums
import numpy as np
import pytest
from numba import njit

import kernbrook as kb
from kernbrook.kernels import amkl17, omkc16
from kernbrook.numerics.arithmetic import exp_negative

SMALLEST_NORMAL = np.finfo(float).tiny
SMALLEST = 5e-324
LAST = -745.1332191019412  # log(2^-1075): half the smallest float, the edge of exact 0


@njit
def exponentials(arguments):
    values = np.empty_like(arguments)
    for i in range(len(arguments)):
        values[i] = exp_negative(arguments[i])
    return values


def assert_good(arguments, tolerance=4e-16):
    """Against numpy: relative in the normal range, 1 unit below it, and exactly 0 where it is."""
    arguments = np.asarray(arguments, float)
    values, expected = exponentials(arguments), np.exp(arguments)
    normal = expected >= SMALLEST_NORMAL
    error = np.abs(values[normal] - expected[normal]) / expected[normal]
    assert error.max(initial=0) <= tolerance
    np.testing.assert_array_less(np.abs(values - expected)[~normal], 1.5 * SMALLEST)
    np.testing.assert_array_equal(values == 0, expected == 0)


def test_exponential_over_its_range():
    rng = np.random.default_rng(0)
    assert_good(-rng.uniform(0, 1100, 200_000))
    assert_good(-rng.uniform(700, 750, 100_000))
    assert_good(-(10.0 ** rng.uniform(-20, 3, 100_000)))
    assert_good(-np.arange(0.0, 1100.0))
    assert_good(-np.log(2) * (np.arange(0, 1100) + 0.5))  # where the integer part changes


def test_exponential_at_special_points():
    assert_good([-745.13, -745.14, -708.4, -708.3, 0.0, -0.0, -SMALLEST, -1e-300, -1e-17, -1e300])
    assert_good([np.nextafter(LAST, -np.inf), np.nextafter(LAST, 0), LAST, -np.inf])
    points = np.array([0.0, -0.0, -SMALLEST, -745.14, -1e6, -np.inf, -745.13])
    assert exponentials(points).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, SMALLEST]


def ladder(ratio, rungs, gamma=1e-4):
    return [kb.Gaussian(gamma=gamma * ratio**i) for i in range(rungs)]


POOLS = {
    "omkc16": [k for k in omkc16() if isinstance(k, kb.Gaussian)],
    "amkl17": list(amkl17()),
    "ratio 2": ladder(2, 24),
    "ratio 10": ladder(10, 9),
    "ratio 17": ladder(17, 6),
    "not whole": ladder(2.5, 12),
    "mixed": [*ladder(2, 9, 0.01), *ladder(3, 9, 0.01), *ladder(5, 5, 0.03), *ladder(7, 4, 0.02)],
    "out of order, twice": [*ladder(4, 6)[::-1], *ladder(4, 6)],
}


def assert_kernel_values(values, exponents):
    """Good to 1e-12 in the normal range, to 1 unit below it, and 0 where exp is."""
    expected = np.exp(exponents)
    as_float = expected.astype(float)
    normal = as_float >= SMALLEST_NORMAL
    error = np.abs(values.astype(np.longdouble) - expected)
    assert (error[normal] <= 1e-12 * expected[normal]).all()
    assert (error[~normal] <= 1e-12 * expected[~normal] + 1.5 * SMALLEST).all()
    decided = np.abs(exponents.astype(float) - LAST) > 1e-9
    np.testing.assert_array_equal((values == 0)[decided], (as_float == 0)[decided])


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 2e-19, reason="no extended precision here")
@pytest.mark.parametrize("pool", POOLS)
def test_every_gaussian_value(pool):
    kernels = POOLS[pool]
    rng = np.random.default_rng(2)
    gammas = np.array([kernel.gamma for kernel in kernels])
    # Lengths over all magnitudes, and for each kernel over its whole range and at its edge.
    reach = 760 / gammas
    squares = np.concatenate(
        [
            [0.0, 1e-300],
            10.0 ** rng.uniform(-8, 9, 2000),
            (rng.uniform(0, 1, (40, len(gammas))) * reach).ravel(),
            (np.linspace(700, 750, 101)[:, None] / gammas).ravel(),
        ]
    )
    X = np.sqrt(squares)
    squared = (X * X).astype(np.longdouble)  # the squared distance of x from 0, rounded once
    values = kernel_sums.values(kernels, squares)
    for kernel, row in zip(kernels, values, strict=True):
        assert_kernel_values(row, -np.longdouble(kernel.gamma) * squared)
