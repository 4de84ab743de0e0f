"""Learning from one part of the data and testing on the other, the protocol of batch papers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, UnknownNameError
from kernbrook.evaluation.moments import Floats, Moments
from kernbrook.evaluation.running.warming import ROWS, warm_up
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.builtin import Checkerboard, Drawn, Waveform
from kernbrook.streams.stream import Features, Labels, Piece

CHUNK = 4096
TEST_ROWS = 50_000  # of drawn data
GENERATORS: dict[str, type[Drawn]] = {
    "checkerboard": Checkerboard,
    "waveform": Waveform,
}
Ints = NDArray[np.int64]
Parts = Callable[[int], tuple[Stream, Stream]]


@dataclass(frozen=True)
class Split:
    """Two parts of some data, with the scale of the first.

    Attributes
    ----------
    train, test : what to learn from, in that order, and what to test on
    classes : labels of the first
    """

    train: Stream
    test: Stream
    classes: NDArray[Any]


@dataclass(frozen=True)
class HeldOut:
    """One pass over the training part, tested on the other part now and then.

    Attributes
    ----------
    rows : (k,) examples learned from at each test
    accuracy : (k,) right predictions of the test part, in per cent
    n_support : (k,) stored support vectors
    seconds : (k,) spent learning so far
    """

    rows: Ints
    accuracy: Floats
    n_support: Ints
    seconds: Floats


class Permuted(Stream):
    """Rows of arrays in a given order; only a chunk at a time is copied.

    Parameters
    ----------
    X, y : (n, d) array or CSR array, and (n,) labels
    order : (k,) row numbers
    name : of the data
    """

    def __init__(self, X: Features, y: Labels, order: Ints, name: str):
        self.name = name
        self.n_rows, self.n_features = len(order), X.shape[1]
        self._X, self._y, self._order = X, y, order

    def _pieces(self) -> Iterator[Piece]:
        for start in range(0, len(self._order), CHUNK):
            rows = self._order[start : start + CHUNK]
            yield self._X[rows], self._y[rows]


class Standardised(Stream):
    """Another stream's rows, dense, less `mean` and over `deviation`, both (d,)."""

    def __init__(self, stream: Stream, mean: Floats, deviation: Floats):
        self.name = stream.name
        self.n_rows, self.n_features = stream.n_rows, stream.n_features
        self._stream, self._mean, self._deviation = stream, mean, deviation

    def _pieces(self) -> Iterator[Piece]:
        for X, y in self._stream._pieces():
            yield (_dense(X) - self._mean) / self._deviation, y


def standardised(train: Stream, test: Stream) -> Split:
    """Both parts with each feature's mean 0 and deviation 1, as measured on the training part.

    One reading of the training part, in chunks. A constant feature becomes 0 there.

    Examples
    --------
    >>> split = standardised(Waveform(1000, seed=1), Waveform(50, seed=2))
    >>> X, y = split.train.read()
    >>> bool(np.allclose(X.mean(axis=0), 0)), bool(np.allclose(X.std(axis=0), 1))
    (True, True)
    >>> split.classes
    array([0, 1, 2])
    """
    moments = Moments(train.n_features)
    classes: set[Any] = set()
    for X, y in train.chunks(CHUNK):
        classes.update(np.unique(y).tolist())
        moments.add(_dense(X))
    mean, deviation = moments.means(), moments.deviations()
    deviation[deviation <= 1e-12 * np.abs(mean)] = 1.0
    return Split(
        Standardised(train, mean, deviation),
        Standardised(test, mean, deviation),
        np.array(sorted(classes)),
    )


def held_out(
    estimator: Any,
    split: Split,
    tests: Sequence[int],
    progress: Callable[[int], None] | None = None,
) -> HeldOut:
    """Learn from the training part in one pass; test after so many examples.

    Parameters
    ----------
    estimator : anything with `learn(X, y, classes=)` and `predict`; changed in place
    split : its training part has at least ``tests[-1]`` rows
    tests : (k,) rising; what follows the last is not learned from
    progress : called with the number of examples done since its last call

    Raises
    ------
    InputError
        The training part has fewer rows.

    Examples
    --------
    >>> import kernbrook as kb
    >>> split = standardised(Checkerboard(3000, seed=1), Checkerboard(500, seed=2))
    >>> model = kb.recipes.make("bpegasos-merge", kernels=[kb.Gaussian(gamma=8.0)])
    >>> result = held_out(model, split, [100, 3000])
    >>> result.rows, bool(result.accuracy[1] > result.accuracy[0])
    (array([ 100, 3000]), True)
    """
    X, y = next(split.train.chunks(ROWS))
    warm_up(estimator, X, y, split.classes)
    done, seconds = 0, 0.0
    found: list[tuple[int, float, int, float]] = []
    for X, y in split.train.chunks(CHUNK):
        start = 0
        while start < len(y) and len(found) < len(tests):
            stop = min(len(y), start + tests[len(found)] - done)
            begin = time.perf_counter()
            estimator.learn(X[start:stop], y[start:stop], classes=split.classes)
            seconds += time.perf_counter() - begin
            done += stop - start
            if progress is not None:
                progress(stop - start)
            start = stop
            if done == tests[len(found)]:
                found.append((done, _accuracy(estimator, split), _stored(estimator), seconds))
        if len(found) == len(tests):
            break
    else:
        raise InputError(f"{split.train.name}: {tests[-1]} rows to learn from, found {done}")
    rows, accuracy, n_support, times = (np.array(column) for column in zip(*found, strict=True))
    return HeldOut(rows, accuracy, n_support, times)


def parts(name: str, rows: int, seed: int) -> Parts | None:
    """What gives the training and the test part of a numbered permutation; None without data.

    Drawn data are drawn anew for each permutation, and tested on `TEST_ROWS` others, always the
    same. Of files NAME and NAME.t the second is the test part; of NAME alone, what remains after
    the first `rows` of the permutation.

    Parameters
    ----------
    name : of the data
    rows : of the training part, where that is ours to choose
    seed : of the permutations

    Raises
    ------
    InputError
        The data have too few rows.
    """
    if name in GENERATORS:
        make = GENERATORS[name]
        return lambda run: (make(rows, _seed(seed, run, 2)), make(TEST_ROWS, _seed(seed, 0, 3)))
    try:
        whole = open_stream(name)
    except UnknownNameError:
        return None
    X, y = whole.read()
    try:
        apart = open_stream(f"{name}.t", n_features=whole.n_features).read()
    except UnknownNameError:
        apart = None
        if len(y) <= rows:
            raise InputError(
                f"{name}: expected more than {rows:,} rows, found {len(y):,}"
            ) from None

    def of_run(run: int) -> tuple[Stream, Stream]:
        order = np.random.default_rng([seed, run]).permutation(len(y))
        if apart is not None:
            every = np.arange(len(apart[1]))
            return Permuted(X, y, order, name), Permuted(*apart, every, f"{name}.t")
        return Permuted(X, y, order[:rows], name), Permuted(X, y, order[rows:], name)

    return of_run


def _seed(seed: int, run: int, part: int) -> int:
    return int(np.random.SeedSequence([seed, run, part]).generate_state(1)[0])


def _accuracy(estimator: Any, split: Split) -> float:
    right = rows = 0
    for X, y in split.test.chunks(CHUNK):
        right += int((estimator.predict(X) == y).sum())
        rows += len(y)
    return 100.0 * right / rows


def _stored(estimator: Any) -> int:
    return int(estimator.n_support_stored_)


def _dense(X: Features) -> Floats:
    return X if isinstance(X, np.ndarray) else X.toarray()
