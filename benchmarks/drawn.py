"""Drawn streams of the long benchmarks: a plane that turns, random trees, and rules that change.

    drawn.open_stream("hyperplane:1000000")

Row t of each is known from the seed and t alone. What is drawn once for a rule, the k-th, comes
from the seed and k. All names that Kernbrook has are opened, too.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kernbrook as kb
from kernbrook.streams.builtin import DRAWN, Drawn, friedman

EVERY = 250_000  # rows from one drift to the next
TURN = 100_000  # rows of a whole turn of the hyperplane
NUMBERS, TEXTS, LEVELS = 5, 5, 5  # numbers, texts, and levels of each text
LEAST, MOST, SHARE = 3, 5, 0.15  # depths of leaves, and the share of leaves before the last


def rules(start: int, rows: int, every: int | None) -> Iterator[tuple[int, slice]]:
    """Which rule holds for which of so many rows from `start` on; a new one every so often."""
    if every is None:
        yield 0, slice(0, rows)
        return
    for rule in range(start // every, (start + rows - 1) // every + 1):
        yield rule, slice(max(0, rule * every - start), min(rows, (rule + 1) * every - start))


class Hyperplane(Drawn):
    """10 features, 2 classes, of which one label in twenty is wrong; the normal turns evenly.

    After Hulten, Spencer and Domingos (2001), who change some weights by small steps.
    """

    name, n_features, usual = "hyperplane", 10, 100_000

    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> tuple[Any, Any]:
        X = rng.random((rows, 10))
        plane, _ = np.linalg.qr(self._rng(0, 0).standard_normal((10, 2)))
        angle = 2 * np.pi * (np.arange(start, start + rows) % TURN) / TURN
        above = ((X - 0.5) @ plane * np.column_stack([np.cos(angle), np.sin(angle)])).sum(axis=1)
        wrong = rng.random(rows) < 0.05
        return X, ((above > 0) != wrong).astype(np.int64)


class FriedmanDrift(Drawn):
    """Friedman's function of other features after each drift, as Ikonomovska and others (2011)."""

    name, n_features, usual = "friedman-drift", 10, 1_000_000

    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> tuple[Any, Any]:
        X = rng.random((rows, 10))
        y = rng.standard_normal(rows)
        for rule, part in rules(start, rows, EVERY):
            order = self._rng(0, rule).permutation(10) if rule else np.arange(10)
            y[part] += friedman(X[part][:, order])
        return X, y


class RandomTree(Drawn):
    """5 numbers and 5 texts of 5 levels, as columns of 0 and 1; the class is that of a drawn leaf.

    After Domingos and Hulten (2000), and MOA's generator (Bifet and others, 2010).
    """

    name, n_features, usual = "random-tree", NUMBERS + TEXTS * LEVELS, 100_000
    every: int | None = None

    def _draw(self, rng: np.random.Generator, start: int, rows: int) -> tuple[Any, Any]:
        numbers = rng.random((rows, NUMBERS))
        levels = rng.integers(0, LEVELS, size=(rows, TEXTS))
        X = np.hstack([numbers, np.eye(LEVELS)[levels].reshape(rows, -1)])
        y = np.empty(rows, np.int64)
        for rule, part in rules(start, rows, self.every):
            y[part] = random_tree(self._rng(0, rule)).labels_of(numbers[part], levels[part])
        return X, y


class RandomTreeDrift(RandomTree):
    """Another tree after each drift."""

    name, usual, every = "random-tree-drift", 1_000_000, EVERY


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


OWN: dict[str, type[Drawn]] = {
    one.name: one for one in (Hyperplane, FriedmanDrift, RandomTree, RandomTreeDrift)
}


def is_drawn(name: str) -> bool:
    """Whether there are as many rows as one wants."""
    return name in OWN or name in DRAWN


def open_stream(source: str) -> kb.streams.Stream:
    """As `kb.open_stream`; these names, too."""
    name, _, rows = source.partition(":")
    if name not in OWN:
        return kb.open_stream(source)
    return OWN[name](int(rows) if rows else None)
