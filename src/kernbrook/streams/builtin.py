"""The data sets that need no file: those of scikit-learn, and drawn examples of any number."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, UnknownNameError
from kernbrook.streams.arrays import ArrayStream
from kernbrook.streams.stream import FirstRows, Labels, Piece, Stream, positive_integer

_BLOCK_ROWS = 4096
_FILES = {
    "digits": "handwritten digits, 64 features, 10 classes; 1,797 rows",
    "sklearn-diabetes": "diabetes after a year, in hundreds, 10 scaled features, numbers; 442 rows",
    "wdbc": "breast cancer, 30 raw features, malignant = +1; 569 rows",
}


class Drawn(Stream):
    """Examples drawn independently, in blocks of a fixed length.

    Block b is drawn from (seed, b) alone, so that row t depends on the seed and t: not on the
    length of a chunk nor on how many rows follow.
    """

    usual: ClassVar[int]
    description: ClassVar[str]
    n_rows: int

    def __init__(self, rows: int | None = None, seed: int = 0):
        self.n_rows = self.usual if rows is None else positive_integer(rows, "rows")
        try:
            self._seed = -1 if isinstance(seed, bool) else operator.index(seed)
        except TypeError:
            self._seed = -1
        if self._seed < 0:
            raise InputError(f"seed must be a non-negative integer, got {seed!r}")

    @abstractmethod
    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> Piece:
        """Draw that many examples, of which the first is row `start`."""

    def _pieces(self) -> Iterator[Piece]:
        for block, start in enumerate(range(0, self.n_rows, _BLOCK_ROWS)):
            X, y = self._draw(self._rng(block), start, _BLOCK_ROWS)
            take = min(_BLOCK_ROWS, self.n_rows - start)
            yield X[:take], y[:take]

    def _rng(self, *place: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=place))


class Waveform(Drawn):
    """The waveform generator: 21 features, 3 classes (0, 1, 2) with probability 1/3 each.

    An example is a random convex combination of two of three triangular waves, plus independent
    standard normal noise on each feature. The best possible error is about 14 %.
    After Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*, section
    2.6.2.
    """

    name, n_features, usual = "waveform", 21, 5000
    description = "noisy waves, 21 features, 3 classes; drawn, 5,000 rows unless :N is given"

    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> Piece:
        place = np.arange(1, 22)
        # Peaks at 11, 15 and 7; class c mixes two of them.
        waves = np.maximum(6.0 - np.abs(place - np.array([[11], [15], [7]])), 0.0)
        first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
        y = rng.integers(0, 3, size=rows)
        u = rng.random(rows)[:, None]
        X = u * waves[first[y]] + (1.0 - u) * waves[second[y]]
        X += rng.standard_normal((rows, 21))
        return X, y


class Checkerboard(Drawn):
    """A board of 4 x 4 squares: 2 features, classes +1 and -1, no noise.

    Points are uniform on [-1, 1)^2; the square with the least coordinates is +1, and neighbours
    differ. After Wang, Crammer and Vucetic (2010), *Multi-class Pegasos on a budget*, table 1,
    whose text gives only the size of the data; board and range are the usual ones.
    """

    name, n_features, usual = "checkerboard", 2, 10_000
    description = "4 x 4 board, 2 features, 2 classes; drawn, 10,000 rows unless :N is given"

    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> Piece:
        X = rng.uniform(-1.0, 1.0, size=(rows, 2))
        square = np.floor(2.0 * (X + 1.0)).astype(np.int64)
        return X, 1 - 2 * (square.sum(axis=1) % 2)


class Friedman(Drawn):
    """Friedman's function of 10 features, of which 5 matter: a number, with noise of variance 1.

    y = 10 sin(pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + e, with features uniform on [0, 1)
    and e standard normal. The best possible mean squared error is 1; that of the mean is 25.
    After Friedman (1991), *Multivariate adaptive regression splines*, and `make_friedman1`.
    """

    name, n_features, usual = "friedman", 10, 10_000
    description = "a smooth function, 10 features, numbers; drawn, 10,000 rows unless :N is given"

    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> Piece:
        X = rng.random((rows, 10))
        return X, friedman(X) + rng.standard_normal(rows)


def friedman(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) Friedman's function without noise, of X (n, 10)."""
    a, b, c, d, e = X.T[:5]
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


DRAWN: dict[str, type[Drawn]] = {kind.name: kind for kind in (Checkerboard, Friedman, Waveform)}


def stream_names() -> tuple[str, ...]:
    """The built-in streams, sorted.

    Examples
    --------
    >>> stream_names()
    ('checkerboard', 'digits', 'friedman', 'sklearn-diabetes', 'waveform', 'wdbc')
    """
    return tuple(sorted([*DRAWN, *_FILES]))


def describe_stream(name: str) -> str:
    """One line about a built-in stream.

    Parameters
    ----------
    name : one of `stream_names()`; UnknownNameError where it is none

    Examples
    --------
    >>> describe_stream("wdbc")
    'breast cancer, 30 raw features, malignant = +1; 569 rows'
    """
    if name not in stream_names():
        raise UnknownNameError("stream", name, stream_names())
    return DRAWN[name].description if name in DRAWN else _FILES[name]


def make_builtin(name: str, rows: int | None, seed: int) -> Stream:
    """A built-in stream, with its usual number of rows or the first `rows`."""
    stream: Stream
    if name in DRAWN:
        stream = DRAWN[name](rows, seed)
    else:
        whole = ArrayStream(*_of_sklearn(name), name)
        stream = whole if rows is None else FirstRows(whole, rows)
    stream.name = name if rows is None else f"{name}:{rows}"
    return stream


def _of_sklearn(name: str) -> tuple[NDArray[np.float64], Labels]:
    from sklearn import datasets

    if name == "digits":
        X, y = datasets.load_digits(return_X_y=True)
    elif name == "wdbc":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        y = np.where(y == 0, 1, -1)  # there, 0 is malignant
    else:
        X, y = datasets.load_diabetes(return_X_y=True)
        y = y / 100  # whole numbers would be classes
    return X, y
