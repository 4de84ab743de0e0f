"""Streams of drawn examples, of any length."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.streams.stream import Labels, Piece, Stream, positive_integer

_BLOCK_ROWS = 4096


class GeneratedStream(Stream):
    """Examples drawn independently, in blocks of a fixed length.

    Block b is drawn from (seed, b) alone, so that row t depends on the seed and t: not on the
    length of a chunk nor on how many rows follow. Rules that change with t do so, too: what is
    drawn once for a rule, the k-th, comes from (seed, k).

    Parameters
    ----------
    rows : n
    seed : a non-negative integer

    Raises
    ------
    InputError
        `rows` or `seed` is out of range.
    """

    n_rows: int

    def __init__(self, rows: int, seed: int = 0):
        self.n_rows = positive_integer(rows, "rows")
        try:
            self._seed = -1 if isinstance(seed, bool) else operator.index(seed)
        except TypeError:
            self._seed = -1
        if self._seed < 0:
            raise InputError(f"seed must be a non-negative integer, got {seed!r}")

    @abstractmethod
    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], Labels]:
        """Draw that many examples, of which the first is row `start`."""

    def _pieces(self) -> Iterator[Piece]:
        for block, start in enumerate(range(0, self.n_rows, _BLOCK_ROWS)):
            X, y = self._draw(self._rng(block), start, _BLOCK_ROWS)
            take = min(_BLOCK_ROWS, self.n_rows - start)
            yield X[:take], y[:take]

    def _rng(self, *place: int) -> np.random.Generator:
        """Of a block (b), or of a rule (0, k)."""
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=place))


def rules(start: int, rows: int, every: int | None) -> Iterator[tuple[int, slice]]:
    """Which rule holds for which of so many rows from `start` on; a new one begins every so often.

    Examples
    --------
    >>> list(rules(95, 10, every=50))
    [(1, slice(0, 5, None)), (2, slice(5, 10, None))]
    >>> list(rules(95, 10, every=None))
    [(0, slice(0, 10, None))]
    """
    if every is None:
        yield 0, slice(0, rows)
        return
    for rule in range(start // every, (start + rows - 1) // every + 1):
        yield rule, slice(max(0, rule * every - start), min(rows, (rule + 1) * every - start))


class Waveform(GeneratedStream):
    """The waveform generator: 21 features, 3 classes (0, 1, 2) with probability 1/3 each.

    An example is a random convex combination of two of three triangular waves, plus independent
    standard normal noise on each feature. The best possible error is about 14 %.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*, section
    2.6.2.

    Examples
    --------
    >>> X, y = Waveform(5000, seed=1).read()
    >>> X.shape, sorted(set(y.tolist()))
    ((5000, 21), [0, 1, 2])
    """

    n_features = 21

    def __init__(self, rows: int = 5000, seed: int = 0):
        super().__init__(rows, seed)
        self.name = "waveform"

    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        place = np.arange(1, 22)
        # Peaks at 11, 15 and 7; class c mixes two of them.
        waves = np.maximum(6.0 - np.abs(place - np.array([[11], [15], [7]])), 0.0)
        first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
        y = rng.integers(0, 3, size=rows)
        u = rng.random(rows)[:, None]
        X = u * waves[first[y]] + (1.0 - u) * waves[second[y]]
        X += rng.standard_normal((rows, 21))
        return X, y


class Checkerboard(GeneratedStream):
    """A board of 4 x 4 squares: 2 features, classes +1 and -1, no noise.

    Points are uniform on [-1, 1)^2; the square with the least coordinates is +1, and neighbours
    differ.

    References
    ----------
    Wang, Crammer and Vucetic (2010), *Multi-class Pegasos on a budget*, table 1, whose text gives
    only the size of the data; board and range are the usual ones.

    Examples
    --------
    >>> X, y = Checkerboard(1000, seed=1).read()
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 2), [-1, 1])
    """

    n_features = 2

    def __init__(self, rows: int = 10_000, seed: int = 0):
        super().__init__(rows, seed)
        self.name = "checkerboard"

    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        X = rng.uniform(-1.0, 1.0, size=(rows, 2))
        square = np.floor(2.0 * (X + 1.0)).astype(np.int64)
        y = 1 - 2 * (square.sum(axis=1) % 2)
        return X, y


class Hyperplane(GeneratedStream):
    """A hyperplane that turns: 10 features, classes 0 and 1, of which one label in twenty is wrong.

    Points are uniform on [0, 1)^10, and the hyperplane goes through the middle. Its normal turns in
    a plane that is drawn, a whole turn every `turn` rows, so that the drift never ends. The best
    possible error is 5 %.

    Parameters
    ----------
    rows, seed : as of every generator
    turn : rows of a whole turn

    References
    ----------
    Hulten, Spencer and Domingos (2001), *Mining time-changing data streams*, change the weights of
    some features by small steps; here all weights change, and row t is known from t alone.

    Examples
    --------
    >>> X, y = Hyperplane(1000, seed=1).read()
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 10), [0, 1])
    """

    n_features = 10

    def __init__(self, rows: int = 100_000, seed: int = 0, turn: int = 100_000):
        super().__init__(rows, seed)
        self.name = "hyperplane"
        self._turn = positive_integer(turn, "turn")

    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        X = rng.random((rows, 10))
        plane, _ = np.linalg.qr(self._rng(0, 0).standard_normal((10, 2)))
        angle = 2 * np.pi * (np.arange(start, start + rows) % self._turn) / self._turn
        above = ((X - 0.5) @ plane * np.column_stack([np.cos(angle), np.sin(angle)])).sum(axis=1)
        wrong = rng.random(rows) < 0.05
        return X, ((above > 0) != wrong).astype(np.int64)


class Friedman(GeneratedStream):
    """Friedman's function of 10 features, of which 5 matter: a number, with noise of variance 1.

    y = 10 sin(pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + e, with features uniform on [0, 1)
    and e standard normal. The best possible mean squared error is 1; that of the mean is 25.

    References
    ----------
    Friedman (1991), *Multivariate adaptive regression splines*; scikit-learn's `make_friedman1`.

    Examples
    --------
    >>> X, y = Friedman(1000, seed=1).read()
    >>> X.shape, bool(0 < y.mean() < 30)
    ((1000, 10), True)
    """

    n_features = 10

    def __init__(self, rows: int = 10_000, seed: int = 0):
        super().__init__(rows, seed)
        self.name = "friedman"

    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], Labels]:
        X = rng.random((rows, 10))
        return X, friedman(X) + rng.standard_normal(rows)


class FriedmanDrift(Friedman):
    """Friedman's function with abrupt drifts: every so often it is of other features.

    The rows up to the first drift are those of `Friedman`. From each drift on, the function takes
    the ten features in an order that is drawn anew. Features and noise do not change, and neither
    does the best possible error.

    Parameters
    ----------
    rows, seed : as of every generator
    every : rows from one drift to the next

    References
    ----------
    Ikonomovska, Gama and Dzeroski (2011), *Learning model trees from evolving data streams*, have
    Friedman's function with global abrupt drifts, at two rows and to orders that are written there;
    here are any number of drifts, and their orders are drawn.

    Examples
    --------
    >>> X, y = FriedmanDrift(1000, seed=1, every=500).read()
    >>> before = Friedman(1000, seed=1).read()[1]
    >>> bool((y[:500] == before[:500]).all()), bool((y[500:] == before[500:]).any())
    (True, False)
    """

    def __init__(self, rows: int = 1_000_000, seed: int = 0, every: int = 250_000):
        super().__init__(rows, seed)
        self.name = "friedman-drift"
        self._every = positive_integer(every, "every")

    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], Labels]:
        X = rng.random((rows, 10))
        y = rng.standard_normal(rows)
        for rule, part in rules(start, rows, self._every):
            order = self._rng(0, rule).permutation(10) if rule else np.arange(10)
            y[part] += friedman(X[part][:, order])
        return X, y


def friedman(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) Friedman's function without noise, of X (n, 10)."""
    a, b, c, d, e = X.T[:5]
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
