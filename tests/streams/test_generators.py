"""The generators: what they draw, and that it depends on seed and row alone."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from kernbrook.errors import InputError
from kernbrook.streams import open_stream
from kernbrook.streams.builtin import friedman

NAMES = ["waveform", "checkerboard", "friedman"]


@pytest.mark.parametrize("name", NAMES)
def test_chunks_agree(name, assert_chunks_agree):
    assert_chunks_agree(open_stream(f"{name}:9000", seed=3), (7, 1000, 4096, 10**5))


@pytest.mark.parametrize("name", NAMES)
def test_a_shorter_stream_is_the_beginning_of_a_longer_one(name):
    whole = open_stream(f"{name}:9000", seed=5).read()
    for rows in (1, 4096, 4097):
        X, y = open_stream(f"{name}:{rows}", seed=5).read()
        np.testing.assert_array_equal(X, whole[0][:rows])
        np.testing.assert_array_equal(y, whole[1][:rows])


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_blocks_differ(name):
    X, _ = open_stream(f"{name}:8192").read()
    other, _ = open_stream(f"{name}:8192", seed=1).read()
    X, other = X[:, :2], other[:, :2]  # numbers, where others are levels
    assert not (other == X).any()
    assert not (X[:4096] == X[4096:]).any()


@pytest.mark.parametrize("seed", [-1, 0.5, None, "1"])
def test_bad_seeds(seed):
    with pytest.raises(InputError, match="seed must be a non-negative integer"):
        open_stream("waveform", seed=seed)


def test_a_long_stream_costs_nothing_to_open():
    stream = open_stream("checkerboard:10000000")
    assert stream.n_rows == 10_000_000
    assert [len(y) for _, y in itertools.islice(stream.chunks(5000), 3)] == [5000] * 3


def test_checkerboard():
    X, y = open_stream("checkerboard").read()
    assert X.shape == (10_000, 2)
    assert y.dtype == np.int64
    assert X.min() >= -1
    assert X.max() < 1
    column, row = np.digitize(X, [-0.5, 0, 0.5]).T
    np.testing.assert_array_equal(y, np.where((column + row) % 2 == 0, 1, -1))
    counts = np.bincount(4 * column + row, minlength=16)
    assert ((counts - 625) ** 2 / 625).sum() < 37.7  # chi-square, 15 degrees, 0.1 %


def waves():
    """The three triangles, from their heights at features 1 to 21."""
    triangle = [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    first = np.array([0] * 5 + triangle + [0] * 5)
    return first, np.roll(first, 4), np.roll(first, -4)


def test_waveform_moments():
    X, y = open_stream("waveform:60000", seed=2).read()
    h1, h2, h3 = waves()
    assert np.bincount(y).min() > 19_500
    for label, (a, b) in enumerate([(h1, h2), (h1, h3), (h2, h3)]):
        here = X[y == label]
        # u is uniform: mean 1/2, variance 1/12.
        assert abs(here.mean(axis=0) - (a + b) / 2).max() < 0.06
        covariance = np.eye(21) + np.outer(a - b, a - b) / 12
        assert abs(np.cov(here.T) - covariance).max() < 0.15


def test_waveform_bayes_error():
    X, y = open_stream("waveform:20000", seed=4).read()
    h1, h2, h3 = waves()
    u = (np.arange(50) + 0.5)[:, None] / 50
    likelihoods = []
    for a, b in [(h1, h2), (h1, h3), (h2, h3)]:
        centres = u * a + (1 - u) * b
        log = X @ centres.T - (centres**2).sum(axis=1) / 2
        likelihoods.append(np.logaddexp.reduce(log, axis=1))
    error = np.mean(np.argmax(likelihoods, axis=0) != y)
    assert abs(error - 0.14) < 0.012  # Breiman et al. (1984): 14 %


def test_friedman():
    X, expected = make_friedman1(500, random_state=0)
    np.testing.assert_allclose(friedman(X), expected, rtol=1e-14)
    X, y = open_stream("friedman:60000", seed=2).read()
    assert y.dtype == np.float64
    assert (X >= 0).all()
    assert (X < 1).all()
    assert abs(X.mean(axis=0) - 0.5).max() < 0.01
    noise = y - friedman(X)
    assert abs(noise.mean()) < 0.02
    assert abs(noise.std() - 1) < 0.02
    assert abs(np.corrcoef(X.T, noise)[-1, :-1]).max() < 0.02
    assert abs(y.var() - 25) < 0.5


def test_streams_that_are_drawn_no_more():
    with pytest.raises(InputError, match=r"hyperplane is drawn no more; .* river\.datasets\.synth"):
        open_stream("hyperplane:500")
