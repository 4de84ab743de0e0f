"""The generators: what they draw, and that it depends on seed and row alone."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from kernbrook.errors import InputError
from kernbrook.streams import open_stream
from kernbrook.streams.generators import Friedman, FriedmanDrift, Hyperplane, friedman
from kernbrook.streams.random_tree import RandomTree, RandomTreeDrift

NAMES = [
    *("waveform", "checkerboard", "friedman"),
    *("friedman-drift", "hyperplane", "random-tree", "random-tree-drift"),
]


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


def test_hyperplane():
    X, y = Hyperplane(60_000, seed=2, turn=60_000).read()
    assert abs(X.mean(axis=0) - 0.5).max() < 0.01
    assert abs(y.mean() - 0.5) < 0.02
    normals = []
    for at in range(0, 60_000, 1000):  # a line fitted to labels of 1,000 rows has the normal
        rows = slice(at, at + 1000)
        normal = (X[rows] - 0.5).T @ (y[rows] - 0.5)
        normals.append(normal / np.linalg.norm(normal))
    _, lengths, plane = np.linalg.svd(np.array(normals))
    assert (lengths[:2] ** 2).sum() > 0.9 * len(normals)  # they lie in a plane
    turned = np.unwrap(np.arctan2(*(np.array(normals) @ plane[:2].T).T))
    steps = np.linspace(0, 59 / 60, 60) * np.sign(turned[-1] - turned[0]) * 2 * np.pi
    assert abs(turned - turned[0] - steps).max() < 0.4  # and turn evenly, once around


def test_one_label_in_twenty_is_wrong_by_a_hyperplane():
    X, y = Hyperplane(40_000, seed=3, turn=10**12).read()  # which hardly turns
    normal = np.linalg.lstsq(X - 0.5, y - 0.5)[0]
    assert abs(np.mean((X - 0.5) @ normal > 0) - 0.5) < 0.02
    assert 0.045 < np.mean(((X - 0.5) @ normal > 0) != y) < 0.075  # by a line near it


@pytest.mark.parametrize("seed", range(5))
def test_random_tree(seed):
    stream = RandomTree(5000, seed)
    X, y = stream.read()
    levels = X[:, 5:].reshape(-1, 5, 5)
    assert set(np.unique(levels)) == {0.0, 1.0}
    assert (levels.sum(axis=2) == 1).all()
    assert abs(levels.mean(axis=0) - 0.2).max() < 0.03
    assert abs(X[:, :5].mean(axis=0) - 0.5).max() < 0.03
    assert 0.1 < y.mean() < 0.9
    tree, depths = stream.tree(), []
    for x, label in zip(X[:500], y[:500], strict=True):
        node, path = 0, []
        while tree.feature[node] >= 0:
            feature = tree.feature[node]
            path.append(feature)
            if feature < 5:
                node = tree.child[node] + (x[feature] >= tree.cut[node])
            else:
                node = tree.child[node] + x[5 * feature - 20 : 5 * feature - 15].argmax()
        assert label == tree.label[node]
        texts = [feature for feature in path if feature >= 5]
        assert len(set(texts)) == len(texts)
        depths.append(len(path))
    assert set(depths) == {3, 4, 5}


def test_random_trees_with_drifts():
    X, y = RandomTreeDrift(9000, seed=1, every=3000).read()
    other, before = RandomTree(9000, seed=1).read()
    np.testing.assert_array_equal(X, other)
    np.testing.assert_array_equal(y[:3000], before[:3000])
    for rows in (slice(3000, 6000), slice(6000, 9000)):
        assert 0.2 < (y[rows] == before[rows]).mean() < 0.8
    stream = RandomTreeDrift(seed=1)
    labels = np.concatenate([y for _, y in itertools.islice(stream.chunks(50_000), 6)])
    differ = labels != RandomTree(300_000, seed=1).read()[1]
    assert np.flatnonzero(differ)[0] in range(250_000, 250_050)


def test_friedman_with_drifts():
    X, y = FriedmanDrift(9000, seed=1, every=3000).read()
    other, before = Friedman(9000, seed=1).read()
    np.testing.assert_array_equal(X, other)
    np.testing.assert_array_equal(y[:3000], before[:3000])
    for rule, rows in ((1, slice(3000, 6000)), (2, slice(6000, 9000))):
        noise = before[rows] - friedman(X[rows])
        unexplained = [
            abs(y[rows] - noise - friedman(X[rows][:, order])).max()
            for order in (range(10), FriedmanDrift(seed=1)._rng(0, rule).permutation(10))
        ]
        assert unexplained[0] > 1
        assert unexplained[1] < 1e-9


@pytest.mark.parametrize(
    ("make", "what"),
    [(RandomTreeDrift, "every"), (FriedmanDrift, "every"), (Hyperplane, "turn")],
)
def test_bad_drifts(make, what):
    with pytest.raises(InputError, match=f"{what} must be"):
        make(10, 0, 0)
