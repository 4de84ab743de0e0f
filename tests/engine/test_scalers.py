"""Scaling as rows come: by what is known, and nothing of the future."""

import numpy as np
import pytest
import scipy.sparse as sp
from naive import scaling

from kernbrook.engine.scalers import OnlineScaler
from kernbrook.errors import InputError

METHODS = ["maximum", "moments", "ranks"]


def rows(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3, [1e-3, 1, 1e3, 1, 1][:d], (n, d)) * (rng.random((n, d)) < 0.6)
    X[:, 3] = 7.0  # a constant
    X[:, 4] = 0.0
    return X


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1, 7, 60])
def test_naive_twin(method, size):
    X = rows()
    scaler = OnlineScaler(method, X.shape[1])
    found = np.concatenate([scaler.learn(X[i : i + size]) for i in range(0, len(X), size)])
    np.testing.assert_allclose(found, getattr(scaling, method)(X), rtol=1e-9, atol=1e-9)
    whole = OnlineScaler(method, X.shape[1]).learn(X)
    np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("method", METHODS)
def test_transform_is_what_would_come_next_and_changes_nothing(method):
    X = rows()
    scaler = OnlineScaler(method, X.shape[1])
    scaler.learn(X[:30])
    before = {name: array.copy() for name, array in scaler.known._asdict().items()}
    found = scaler.transform(X[30:])
    for name, array in scaler.known._asdict().items():
        np.testing.assert_array_equal(array, before[name])
    for i in range(30, 60):
        twin = scaler.copy()
        np.testing.assert_array_equal(twin.learn(X[i : i + 1])[0], found[i - 30])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_as_dense(method, kind):
    X = rows()
    dense, sparse = OnlineScaler(method, 5), OnlineScaler(method, 5)
    for part in (X[:20], X[20:]):
        expected, found = dense.learn(part), sparse.learn(kind(part))
        assert sp.issparse(found) == (method == "maximum")
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected)
    found = sparse.transform(kind(X[:5]))
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(found, dense.transform(X[:5]))


def test_a_long_constant_of_a_large_size_has_no_deviation():
    X = np.full((1000, 1), 1e9)
    X[::2] += 1e-6
    assert np.abs(OnlineScaler("moments", 1).learn(X)).max() <= 1.1
    assert not OnlineScaler("moments", 1).learn(np.full((1000, 1), 0.1)).any()


def test_what_is_refused():
    with pytest.raises(
        InputError, match="scaling: expected 'auto', 'moments', 'maximum', 'ranks' or None, got 'z'"
    ):
        OnlineScaler("z", 3)
    with pytest.raises(InputError, match="at most 4096 features, found 5000; take 'maximum'"):
        OnlineScaler("moments", 5000).learn(sp.csr_matrix((2, 5000)))
    with pytest.raises(InputError, match="'ranks' takes at most 512 features, found 513"):
        OnlineScaler("ranks", 513)


@pytest.mark.parametrize("size", [1, 300, 2300])
def test_ranks_among_the_last_thousand(size):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=2300), rng.integers(0, 4, 2300), np.arange(2300) % 7.0])
    scaler = OnlineScaler("ranks", 3)
    found = np.concatenate([scaler.learn(X[i : i + size]) for i in range(0, len(X), size)])
    np.testing.assert_allclose(found, scaling.ranks(X), rtol=1e-12, atol=1e-12)
    new = rng.normal(size=(5, 3))
    ahead = np.concatenate([scaler.copy().learn(row[None]) for row in new])
    np.testing.assert_array_equal(scaler.transform(new), ahead)


def test_values_that_differ_by_rounding_are_a_constant():
    X = np.array([[0.3], [0.1 + 0.2]] * 500)
    assert X.std() > 0
    assert not OnlineScaler("moments", 1).learn(X).any()
    assert OnlineScaler("moments", 1).learn(1e-3 * X + [[1e-9], [0.0]] * 500).any()  # no rounding
