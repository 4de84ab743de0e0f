"""The compiled sines and cosines."""

import math

import numpy as np
import pytest

from kernbrook.features.random_features import fill_waves
from kernbrook.numerics.trigonometry import LARGEST


def waves(angles):
    """(sines, cosines) of a flat array."""
    angles = np.asarray(angles, float).reshape(1, -1)
    n = angles.shape[1]
    out = np.full(2 * n, 7.0)
    fill_waves(angles, np.array([0, n]), np.ones(1), np.zeros(1, dtype=np.int64), out)
    return out[:n], out[n:]


def assert_good(angles, tolerance=2.3e-16):
    sines, cosines = waves(angles)
    np.testing.assert_allclose(sines, [math.sin(x) for x in angles], rtol=0, atol=tolerance)
    np.testing.assert_allclose(cosines, [math.cos(x) for x in angles], rtol=0, atol=tolerance)


@pytest.mark.parametrize("size", [1e-300, 1e-8, 1, 1e6, LARGEST])
def test_over_their_range(size):
    rng = np.random.default_rng(0)
    assert_good(rng.uniform(-size, size, 20_000))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 2e-19, reason="no extended precision here")
@pytest.mark.parametrize("size", [1, 1e3, 1e6])
def test_against_extended_precision(size):
    angles = np.random.default_rng(1).uniform(-size, size, 100_000)
    sines, cosines = waves(angles)
    exact = angles.astype(np.longdouble)
    assert np.abs(sines - np.sin(exact)).max() <= 1.5e-16
    assert np.abs(cosines - np.cos(exact)).max() <= 1.5e-16


def test_at_quarter_turns():
    """Where quadrants meet, and on either side of it."""
    turns = np.concatenate([np.arange(-200, 201), 2 ** np.arange(8, 31), -(2 ** np.arange(8, 31))])
    edges = np.concatenate([turns * (np.pi / 2), (turns + 0.5) * (np.pi / 2)])
    edges = edges[np.abs(edges) <= LARGEST]
    assert_good(np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)]))


@pytest.mark.parametrize("beyond", [[3, 50, 99, 100], [70]])
def test_beyond_the_largest(beyond):
    """The library's own values, in the middle of others, which stay as they are."""
    rng = np.random.default_rng(2)
    angles = rng.normal(size=101) * 100
    before = waves(angles)
    angles[beyond] = [1e10, -1e300, np.nextafter(LARGEST, np.inf), -1e16][: len(beyond)]
    sines, cosines = waves(angles)
    assert sines[beyond].tolist() == [math.sin(x) for x in angles[beyond]]
    assert cosines[beyond].tolist() == [math.cos(x) for x in angles[beyond]]
    rest = np.setdiff1d(np.arange(101), beyond)
    np.testing.assert_array_equal(sines[rest], before[0][rest])
    np.testing.assert_array_equal(cosines[rest], before[1][rest])


def test_no_number_stays_none():
    sines, cosines = waves([0.0, np.nan, np.inf, -np.inf, 1.0])
    assert np.isnan(sines).tolist() == np.isnan(cosines).tolist() == [False, *[True] * 3, False]
