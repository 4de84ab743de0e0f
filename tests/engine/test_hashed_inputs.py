"""Cells on hashed inputs: the naive twin, dense, sparse and single rows, files, classes."""

import copy

import numpy as np
import plain
import pytest
import scipy.sparse as sp
from inside import store_of
from naive import cells as naive
from naive.weights import relative

import kernbrook as kb
from kernbrook.engine.deciding import read
from kernbrook.errors import InputError

TASKS = [2, 3, None]
WORDS = 40


def words(C, n=300, d=WORDS, seed=0):
    """Rows of few words, of which some tell the label."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.1, format="csr", random_state=rng)
    value = np.asarray(X[:, : d // 2].sum(axis=1) - X[:, d // 2 :].sum(axis=1)).ravel()
    value += 0.05 * rng.normal(size=n)
    return X, value if C is None else np.digitize(value, [0.0] if C == 2 else [-0.4, 0.4])


def machine(C, learner=None, **choices):
    kind = plain.regressor if C is None else plain.classifier
    return kind(kb.Linear(), learner or kb.Cells(kb.HashedInputs()), random_state=5, **choices)


def learned(model, X, y, C, size):
    for lo in range(0, len(y), size):
        named = {} if C is None else {"classes": np.arange(C)}
        model.partial_fit(X[lo : lo + size], y[lo : lo + size], **named)
    return model


def assert_same(one, other):
    ours, theirs = one.state(), other.state()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def scores(model, X):
    views, raw = model._seen(X)
    return np.concatenate([board.scores for _, board in read(model._model, views, raw)])[:, 0]


@pytest.mark.parametrize(("C", "cells"), [(2, None), (3, 16), (None, None), (None, 16)])
def test_naive_twin(C, cells):
    X, y = words(C)
    model = machine(C, kb.Cells(kb.HashedInputs(cells)))
    twin = naive.Hashed(WORDS, C, cells or WORDS)
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], len(y)) + 1e-9
    counted = relative(weights, len(y))
    for t in range(len(y)):
        if t > 1 and t % 25 == 0:
            found, wanted = scores(model, X[t : t + 1])[0], twin.scores(X[t].toarray()[0])
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        named = {} if C is None else {"classes": np.arange(C)}
        model.partial_fit(X[t], y[t : t + 1], sample_weight=weights[t : t + 1], **named)
        twin.learn(X[t].toarray()[0], y[t], counted[t])
    table = store_of(model)[0].now(store_of(model)[1]).table
    for cell in range(len(table)):
        np.testing.assert_allclose(table[cell, :-1], twin.weights[cell], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(table[cell, -1], twin.squares[cell], rtol=1e-6)
    assert np.abs(table[:, 0]).max() > 0.1


@pytest.mark.parametrize("C", TASKS)
def test_any_chunks_dense_or_sparse(C):
    X, y = words(C)
    model = learned(machine(C), X, y, C, 100)
    assert_same(learned(machine(C), X, y, C, 7), model)
    dense = learned(machine(C), X.toarray(), y, C, 50)
    np.testing.assert_array_equal(scores(dense, X.toarray()), scores(model, X))
    one = learned(machine(C), X[:1].toarray(), y[:1], C, 1)
    for x, label in zip(X[1:].toarray(), y[1:], strict=True):
        one.learn_one(x, label)
    assert_same(one, dense)
    mixed = learned(machine(C), X[:150].toarray(), y[:150], C, 40)
    mixed = copy.deepcopy(mixed)
    for x, label in zip(X[150:170].toarray(), y[150:170], strict=True):
        mixed.learn_one(x, label)
    assert_same(learned(mixed, X[170:].toarray(), y[170:], C, 60), dense)


@pytest.mark.parametrize("C", TASKS)
def test_a_file_goes_on(C, tmp_path):
    X, y = words(C)
    model = learned(machine(C), X[:150], y[:150], C, 50)
    kb.save(model, tmp_path / "model")
    other = kb.load(tmp_path / "model")
    for one in (model, other):
        learned(one, X[150:], y[150:], C, 50)
    assert_same(model, other)


def test_a_class_that_appears_later():
    X, y = words(3)
    early = np.flatnonzero(y < 2)[:80]
    model = machine(3)
    model.partial_fit(X[early], y[early])
    before = scores(model, X)[:, 0]
    model.partial_fit(X, y)
    assert scores(model, X).shape == (300, 3)
    assert np.isfinite(scores(model, X)).all()
    assert np.abs(before).max() > 0
    assert model.score(X, y) > 0.6


def test_rows_of_many_features_are_hashed_by_default():
    X, y = words(2, 600, 3000)
    model = learned(machine(2, kb.Cells()), X, y, 2, 50)
    assert type(store_of(model)[0].content).__name__ == "LinearContent"
    linear = machine(2, kb.Cells(kb.HashedInputs()))
    assert_same(learned(linear, X, y, 2, 50), model)
    few = learned(machine(2, kb.Cells()), X[:, :100], y, 2, 50)
    assert type(store_of(few)[0].content).__name__ == "Growing"


@pytest.mark.parametrize("C", TASKS)
def test_numbers_at_the_ends(C):
    X, y = words(C)
    X = X.toarray()
    X[::7] *= 1e-300
    X[3::7] *= 1e100
    model = learned(machine(C), X, y, C, 50)
    assert np.isfinite(scores(model, X)).all()
    model.partial_fit(X[:2], y[:2], sample_weight=[1e99, 1e-99])
    assert np.isfinite(scores(model, X)).all()


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (kb.HashedInputs(0), r"^HashedInputs: cells must be None or an integer from 1"),
        ([kb.HashedInputs(), kb.HashedInputs()], r"^Cells: features must be 'auto', HashedInputs"),
        (
            [kb.HashedInputs(), kb.RandomFeatures()],
            r"^Cells: features must be 'auto', HashedInputs",
        ),
    ],
)
def test_what_is_refused(features, said):
    X, y = words(2)
    with pytest.raises(InputError, match=said):
        machine(2, kb.Cells(features)).partial_fit(X, y)
