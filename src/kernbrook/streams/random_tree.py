"""The stream whose classes are the leaves of a random tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.streams.generators import GeneratedStream, rules
from kernbrook.streams.stream import positive_integer

NUMBERS, TEXTS, LEVELS = 5, 5, 5  # numbers, texts, and levels of each text
LEAST, MOST, SHARE = 3, 5, 0.15  # depths of leaves, and the share of leaves before the last


class RandomTree(GeneratedStream):
    """A random tree of numbers and levels: 30 features, classes 0 and 1, no noise.

    The first 5 features are numbers, uniform on [0, 1). Then come 5 texts of 5 levels each, as one
    column for each level: 1 for the level that is there, 0 for the others. A node of the tree cuts
    a number in two, or a text in its five levels, a text once on a path. Leaves are at depths 3 to
    5, and have a class each. All of that is drawn.

    Parameters
    ----------
    rows, seed : as of every generator
    every : rows from one tree to the next, None for one tree

    References
    ----------
    Domingos and Hulten (2000), *Mining high-speed data streams*, label examples by a random tree of
    binary features. Bifet, Holmes, Kirkby and Pfahringer (2010), *MOA: massive online analysis*,
    have numbers and levels, and the depths.

    Examples
    --------
    >>> X, y = RandomTree(1000, seed=1).read()
    >>> X.shape, sorted(set(y.tolist())), set(X[:, 5:].sum(axis=1).tolist())
    ((1000, 30), [0, 1], {5.0})
    """

    n_features = NUMBERS + TEXTS * LEVELS

    def __init__(self, rows: int = 100_000, seed: int = 0, every: int | None = None):
        super().__init__(rows, seed)
        self.name = "random-tree"
        self._every = every if every is None else positive_integer(every, "every")
        self._trees: dict[int, Tree] = {}

    def _draw(
        self, rng: np.random.Generator, start: int, rows: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        numbers = rng.random((rows, NUMBERS))
        levels = rng.integers(0, LEVELS, size=(rows, TEXTS))
        X = np.hstack([numbers, np.eye(LEVELS)[levels].reshape(rows, -1)])
        y = np.empty(rows, np.int64)
        for rule, part in rules(start, rows, self._every):
            y[part] = self.tree(rule).labels_of(numbers[part], levels[part])
        return X, y

    def tree(self, rule: int = 0) -> Tree:
        """The tree before the first drift, or after some."""
        if rule not in self._trees:
            self._trees[rule] = random_tree(self._rng(0, rule))
        return self._trees[rule]


class RandomTreeDrift(RandomTree):
    """Random trees with abrupt drifts: every so often, another tree says the class.

    The rows up to the first drift are those of `RandomTree`. The features do not change.

    Parameters
    ----------
    rows, seed : as of every generator
    every : rows from one drift to the next

    References
    ----------
    As of `RandomTree`.

    Examples
    --------
    >>> X, y = RandomTreeDrift(1000, seed=1, every=500).read()
    >>> same = y == RandomTree(1000, seed=1).read()[1]
    >>> bool(same[:500].all()), bool(same[500:].all())
    (True, False)
    """

    def __init__(self, rows: int = 1_000_000, seed: int = 0, every: int = 250_000):
        super().__init__(rows, seed, every)
        self.name = "random-tree-drift"


class Tree(NamedTuple):
    """Nodes in an order in which the children of a node follow each other.

    feature : (n,) a number, or NUMBERS and more for a text; -1 for a leaf
    cut : (n,) of a number: what is less goes to the first child, the rest to the second
    child : (n,) the first child
    label : (n,) of a leaf
    """

    feature: NDArray[np.int64]
    cut: NDArray[np.float64]
    child: NDArray[np.int64]
    label: NDArray[np.int64]

    def labels_of(
        self, numbers: NDArray[np.float64], levels: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """(n,) labels of numbers (n, NUMBERS) and levels (n, TEXTS)."""
        row = np.arange(len(numbers))
        node = np.zeros(len(numbers), np.int64)
        for _ in range(MOST):
            feature = self.feature[node]
            is_number = feature < NUMBERS
            upper = numbers[row, np.where(is_number, feature, 0)] >= self.cut[node]
            level = levels[row, np.where(is_number, 0, feature - NUMBERS)]
            below = self.child[node] + np.where(is_number, upper, level)
            node = np.where(feature < 0, node, below)
        return self.label[node]


def random_tree(rng: np.random.Generator) -> Tree:
    """A tree that is drawn."""
    whole = np.tile([0.0, 1.0], (NUMBERS, 1))
    waiting = [(0, whole, frozenset(range(NUMBERS, NUMBERS + TEXTS)))]
    nodes: list[tuple[int, float, int, int]] = []
    for depth, ranges, texts in waiting:  # which grows meanwhile
        if depth == MOST or (depth >= LEAST and rng.random() < SHARE):
            nodes.append((-1, 0.0, 0, int(rng.integers(2))))
            continue
        feature = int(rng.choice([*range(NUMBERS), *sorted(texts)]))
        if feature >= NUMBERS:
            nodes.append((feature, 0.0, len(waiting), 0))
            waiting += [(depth + 1, ranges, texts - {feature})] * LEVELS
            continue
        cut = rng.uniform(*ranges[feature])
        nodes.append((feature, cut, len(waiting), 0))
        for side in (1, 0):  # the first child is below the cut: its upper end moves
            narrower = ranges.copy()
            narrower[feature, side] = cut
            waiting.append((depth + 1, narrower, texts))
    features, cuts, children, labels = zip(*nodes, strict=True)
    return Tree(np.array(features), np.array(cuts), np.array(children), np.array(labels))
