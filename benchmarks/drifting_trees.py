"""Concepts that are trees or rules on few features, and change: ours beside LightGBM.

    python benchmarks/drifting_trees.py [--seeds N]

The streams are River's, `pip install ".[river,rivals]"`: Agrawal's rules, another every 5,000 rows,
without and with 5 % of noise, and random trees of five numbers and five levels as numbers, another
tree every 10,000 or every 5,000 rows. Each label is predicted before it is learned from. LightGBM
is fitted afresh on the last 2,000 rows every 200, or on the last 10,000 every 2,000. A cell is the
error in per cent, and microseconds of a processor for a row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import machine
import numpy as np
from competitors import Refitted

import kernbrook as kb

CHUNK = 1000


class OfLatest(Refitted):
    """LightGBM on the last 2,000 rows, at some early rows and then every 200."""

    window, early, every = 2000, (50, 100), 200


METHODS: dict[str, Callable[[int, int], Any]] = {
    "kernbrook": lambda seed, width: kb.OnlineMKClassifier(random_state=seed),
    "kernbrook-small": lambda seed, width: kb.recipes.make("kernbrook-small", random_state=seed),
    "LightGBM, 2,000 rows": lambda seed, width: OfLatest(seed, width, 2),
    "LightGBM, 10,000 rows": lambda seed, width: Refitted(seed, width, 2),
}


def drawn(parts: list[Any], rows: int) -> tuple[Any, Any]:
    """So many rows of each of River's streams, one after the other: levels by their numbers."""
    taken = [row for part in parts for row in part.take(rows)]
    X = np.array([list(x.values()) for x, _ in taken], dtype=float)
    return X, np.array([int(y) for _, y in taken])


def agrawal(noise: float, seed: int) -> tuple[Any, Any]:
    """20,000 rows of four of the ten rules."""
    from river.datasets import synth

    rules = np.random.default_rng(seed).permutation(10)[:4]
    parts = [
        synth.Agrawal(classification_function=int(rule), seed=100 * seed + k, perturbation=noise)
        for k, rule in enumerate(rules)
    ]
    return drawn(parts, 5000)


def trees(rows: int, seed: int) -> tuple[Any, Any]:
    """So many rows of each of four trees."""
    from river.datasets import synth

    parts = [
        synth.RandomTree(
            seed_tree=100 * seed + k, seed_sample=100 * seed + 50 + k, n_classes=2,
            n_num_features=5, n_cat_features=5, n_categories_per_feature=5,
        )
        for k in range(4)
    ]  # fmt: skip
    return drawn(parts, rows)


STREAMS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "Agrawal": partial(agrawal, 0.0),
    "Agrawal, 5 % of noise": partial(agrawal, 0.05),
    "trees, every 10,000 rows": partial(trees, 10_000),
    "trees, every 5,000 rows": partial(trees, 5000),
}


def ran(make: Callable[[int, int], Any], X: Any, y: Any, seed: int) -> tuple[float, float]:
    """The error in per cent, and microseconds a row; what compiles has run before."""
    make(seed, X.shape[1]).learn(X[:600], y[:600])
    model, wrong, start = make(seed, X.shape[1]), 0, time.process_time()
    for at in range(0, len(y), CHUNK):
        part = slice(at, at + CHUNK)
        wrong += int((model.learn(X[part], y[part])[0] != y[part]).sum())
    return 100 * wrong / len(y), 1e6 * (time.process_time() - start) / len(y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    seeds = range(1, 1 + parser.parse_args().seeds)
    lines = []
    for name, draw in STREAMS.items():
        found: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
        for seed in seeds:
            X, y = draw(seed)
            for method, make in METHODS.items():
                found[method].append(ran(make, X, y, seed))
        means = [np.mean(cells, axis=0) for cells in found.values()]
        lines.append([name, *(f"{error:.2f} / {price:.0f}" for error, price in means)])
    print(f"{machine.table(['', *METHODS], lines)}\n\n{machine.describe()}")


if __name__ == "__main__":
    main()
