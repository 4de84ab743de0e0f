"""Learning from one part of the data and testing on the other, beside the same done at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.errors import InputError
from kernbrook.papers.bpegasos import CHUNK, held_out, parts, standardised
from kernbrook.streams.arrays import ArrayStream
from kernbrook.streams.builtin import Waveform


def raw(rows, seed=0):
    """Features of very different scales, one of them constant and one zero; three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5)) * [1, 1e-4, 300, 1, 1] + [0, 5, 1e6, 0, 0]
    X[:, 3], X[:, 4] = 0.1, 0.0
    return X, rng.integers(0, 3, size=rows)


def make(recipe="bpegasos-merge", **settings):
    kernel = kb.Gaussian(gamma=0.3)
    return kb.recipes.make(recipe, kernels=[kernel], random_state=3, **settings)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rows", [1, 2 * CHUNK + 5])
def test_both_parts_have_the_scale_of_the_training_part(rows, sparse):
    X, y = raw(rows)
    X_test, y_test = raw(20, seed=1)
    kind = sp.csr_array if sparse else np.asarray
    split = standardised(ArrayStream(kind(X), y), ArrayStream(kind(X_test), y_test))
    deviation = X.std(axis=0)
    deviation[deviation <= 1e-12 * np.abs(X.mean(axis=0))] = 1
    for part, features in ((split.train, X), (split.test, X_test)):
        found, _ = part.read()
        assert isinstance(found, np.ndarray)
        expected = (features - X.mean(axis=0)) / deviation
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert split.test.read()[0][:, 0].mean() != pytest.approx(0, abs=1e-3)  # not its own mean
    assert split.classes.tolist() == np.unique(y).tolist()
    assert (split.train.n_rows, split.train.n_features) == (rows, 5)


@pytest.mark.parametrize("recipe", ["bpegasos-random", "omkc-ss"])
def test_it_is_learning_at_once_and_predicting_at_once(recipe):
    split = standardised(Waveform(5000, seed=1), Waveform(3000, seed=2))
    (X, y), (X_test, y_test) = split.train.read(), split.test.read()
    tests = [1, 7, 130, 4096, 4097, 5000]
    result = held_out(make(recipe), split, tests)
    assert result.rows.tolist() == tests
    for place, rows in enumerate(tests):
        model = make(recipe)
        model.learn(X[:rows], y[:rows], classes=[0, 1, 2])
        right = (model.predict(X_test) == y_test).sum()
        assert result.accuracy[place] == 100 * right / 3000
        assert result.n_support[place] == model.n_support_stored_
    assert (np.diff(result.seconds) > 0).all()
    assert result.accuracy[-1] > result.accuracy[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files whose first feature is the number of the row, those of test parts from 1,000 on."""
    monkeypatch.setenv("KERNBROOK_DATA", str(tmp_path))
    for name, first, rows in (("one", 0, 60), ("two", 0, 40), ("two.t", 1000, 20)):
        lines = (f"{i % 3} 1:{first + i + 1} 3:1" for i in range(rows))
        text = "\n".join(lines) if name != "two.t" else "\n".join(lines).replace(" 3:1", "")
        (tmp_path / f"{name}.libsvm").write_text(text + "\n")
    return tmp_path


def numbers(stream):
    X, _ = stream.read()
    return [int(i) for i in (X.toarray() if sp.issparse(X) else X)[:, 0]]


def test_one_file_is_split_by_each_permutation(folder):
    of_run = parts("one", 45, seed=0)
    assert of_run is not None
    trains, tests = zip(*(map(numbers, of_run(run)) for run in (0, 1, 0)), strict=True)
    for train, test in zip(trains, tests, strict=True):
        assert (len(train), len(test)) == (45, 15)
        assert sorted(train + test) == list(range(1, 61))
    assert trains[0] == trains[2] != trains[1]
    other = parts("one", 45, seed=1)
    assert other is not None
    assert numbers(other(0)[0]) != trains[0]
    with pytest.raises(InputError, match="one: expected more than 60 rows, found 60"):
        parts("one", 60, seed=0)
    # Of two files the first is permuted.
    of_run = parts("two", 30, seed=0)
    assert of_run is not None
    (train, test), (again, same) = of_run(0), of_run(1)
    assert sorted(numbers(train)) == sorted(numbers(again)) == list(range(1, 41))
    assert numbers(train) != numbers(again)
    assert numbers(test) == numbers(same) == list(range(1001, 1021))
    assert test.n_features == 3  # as in the first, though its own rows have fewer
    assert parts("three", 10, seed=0) is None


@pytest.mark.parametrize("name", ["checkerboard", "waveform"])
def test_drawn_data_are_drawn_anew_and_tested_on_the_same(name, folder):
    short, long = parts(name, 100, seed=0), parts(name, 5000, seed=0)
    assert short is not None
    assert long is not None
    (train, test), (other, same) = short(0), short(1)
    X, y = train.read()
    assert len(y) == 100
    np.testing.assert_array_equal(long(0)[0].read()[0][:100], X)
    assert not np.array_equal(other.read()[0], X)
    first = [next(stream.chunks(100))[0] for stream in (test, same)]
    np.testing.assert_array_equal(*first)
    assert not np.array_equal(first[0], X)
    assert test.n_rows == 50_000
