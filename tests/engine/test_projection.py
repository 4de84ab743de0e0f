"""The factor that projections are computed with, under additions and removals."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbrook.numerics.projection import append, project, reduce, remove


class Points:
    """Support vectors in slots, and the factor of their Gram matrix."""

    def __init__(self, slots, gamma, seed, dimension=3):
        self.rng = np.random.default_rng(seed)
        self.gamma = gamma
        self.X = np.zeros((slots, dimension))
        self.sizes = np.zeros(slots)  # sqrt(k(x, x)), from 1e-4 to 1e4
        self.factor, self.order = np.zeros((slots, slots)), np.zeros(slots, dtype=np.int64)
        self.used = []

    def point(self):
        return self.rng.normal(size=self.X.shape[1]), 10 ** self.rng.uniform(-4, 4)

    def values(self, x, size):
        return size * self.sizes * np.exp(-self.gamma * ((self.X - x) ** 2).sum(axis=1))

    def add(self, slot):
        """A random point joins; False where the others span it."""
        n, reduced = len(self.used), np.empty(len(self.X))
        x, size = self.point()
        square = size**2 - reduce(self.factor, self.order, n, self.values(x, size), reduced)
        if square < 1e-8 * size**2:
            return False
        append(self.factor, self.order, n, slot, reduced, square)
        self.X[slot], self.sizes[slot] = x, size
        self.used.append(slot)
        return True

    def add_some(self, slot):
        """The first random point that is not in the span of the others joins."""
        assert any(self.add(slot) for _ in range(1000))

    def drop(self, slot):
        remove(self.factor, self.order, len(self.used), slot)
        self.used.remove(slot)

    def error(self):
        """Of a projection's coefficients beside a fresh solution: |K (a - b)| and |a - b|."""
        n, reduced, found = len(self.used), np.empty(len(self.X)), np.empty(len(self.X))
        assert list(self.order[:n]) == self.used
        x, _ = self.point()
        values = self.values(x, 1.0)
        reduce(self.factor, self.order, n, values, reduced)
        project(self.factor, self.order, n, reduced, found)
        K = np.array([self.values(self.X[s], self.sizes[s])[self.used] for s in self.used])
        sizes = self.sizes[self.used]
        K, right = K / np.outer(sizes, sizes), values[self.used] / sizes
        wanted, found = np.linalg.solve(K, right), found[self.used] * sizes
        largest = np.abs(wanted).max()
        return np.abs(K @ found - right).max() / largest, np.abs(found - wanted).max() / largest


def test_the_factor_after_many_changes():
    """10^5 replacements later projections are as good as from a fresh solve: nothing builds up."""
    points = Points(30, gamma=0.5, seed=1)
    for slot in range(30):
        points.add_some(slot)
    first = points.error()
    for _ in range(100_000):
        slot = int(points.rng.integers(1, 30))  # slot 0 stays from beginning to end
        points.drop(slot)
        points.add_some(slot)
    residual, error = points.error()
    assert max(first[0], residual) < 1e-14
    assert max(first[1], error) < 1e-9


@settings(max_examples=60, deadline=None)
@given(
    moves=st.lists(st.integers(0, 7), max_size=60),
    gamma=st.sampled_from([0.05, 0.5, 5.0]),
    seed=st.integers(0, 2**31 - 1),
)
def test_the_factor_under_any_changes(moves, gamma, seed):
    """A slot in use is dropped, a free one filled; in any order, down to none."""
    points = Points(8, gamma, seed)
    for slot in moves:
        if slot in points.used:
            points.drop(slot)
        else:
            points.add(slot)
        if points.used:
            residual, error = points.error()
            assert residual < 1e-13
            assert error < 1e-6
