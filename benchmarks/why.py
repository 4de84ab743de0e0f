"""Seconds of `kb.importance` and `kb.explain`, and whether they find the columns that matter.

    python benchmarks/why.py [--rows 10000] [--columns 30]

The defaults learn 5,000 rows, of whose columns three matter; importance is measured on as many rows
after them as are said, and ten of these are explained. Beside it what scikit-learn's
permutation_importance takes for as many predictions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import machine
import numpy as np
from sklearn.inspection import permutation_importance

import kernbrook as kb

LEARNED, EXPLAINED = 5000, 10
MATTER = (1, 2, 3)


def drawn(rows: int, columns: int) -> tuple[Any, Any]:
    """Normal features, and a number that hangs on three of them."""
    X = np.random.default_rng(0).normal(size=(rows, columns))
    a, b, c = X[:, MATTER].T
    return X, a + np.sin(2 * b) + 0.5 * a * c


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What comes of it, seconds by the clock, and of the processors."""
    start, used = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - start, time.process_time() - used


def of(model: Any, X: Any, y: Any) -> list[list[Any]]:
    """The rows of the table for one model."""
    name = type(model).__name__
    model.fit(X[:LEARNED], y[:LEARNED])
    X, y = X[LEARNED:], y[LEARNED:]
    kb.importance(model, X[:200], y[:200], rows=20, repeats=2)  # compiles
    found, wall, used = timed(lambda: kb.importance(model, X, y))
    noise = np.abs(found.mean[len(MATTER) :]).max()
    right = sorted(found.columns[: len(MATTER)]) == [*MATTER]
    which = "the right columns" if right else "OTHER columns"
    told = f"{which}, the least {found.mean[len(MATTER) - 1] / noise:.0f} times the noise"
    rows = [[f"{name}, importance", f"{wall:.1f}", f"{used:.1f}", told]]

    def theirs() -> None:
        some = slice(0, found.rows)
        permutation_importance(model, X[some], y[some], n_repeats=found.values.shape[1])

    _, wall, used = timed(theirs)
    rows.append([f"{name}, scikit-learn's", f"{wall:.1f}", f"{used:.1f}", "as many predictions"])
    explained, wall, used = timed(lambda: [kb.explain(model, x) for x in X[:EXPLAINED]])
    off = max(abs(one.base + one.contributions.sum() - one.score) for one in explained)
    error = max(one.errors.max() / np.abs(one.contributions).max() for one in explained)
    told = f"sum off by {off:.0e}, errors up to {100 * error:.0f} % of the greatest"
    seconds = [f"{part / EXPLAINED:.2f}" for part in (wall, used)]
    return [*rows, [f"{name}, one row", *seconds, told]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=30)
    given = parser.parse_args()
    X, y = drawn(LEARNED + given.rows, given.columns)
    print(f"{given.rows:,} rows, {given.columns} columns")
    rows = of(kb.OnlineMKClassifier(random_state=0), X, np.where(y > 0, "up", "down"))
    rows += of(kb.OnlineMKRegressor(random_state=0), X, y)
    print(machine.describe())
    print(machine.table(["", "seconds", "of processors", ""], rows))


if __name__ == "__main__":
    main()
