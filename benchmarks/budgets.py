"""Learners under a budget: rows a second, nanoseconds a kernel evaluation, multiple of the floor.

Pools: 16 kernels on a9a (the training part, 32,561 rows, CSR). Single: one Gaussian on a9a and on
covtype (class 2 against the rest, standardised, the first rows of a seeded order). Each once on
one core and once on all of them; processor seconds beside, since a busy machine steals wall time.

An evaluation is one support vector of one kernel meeting one example. The floor is what no exact
implementation can do without: the inner products of every example with the distinct support
vectors, by one BLAS product per block of 512 on one core, and one exponential for each
evaluation, by the engine's own compiled loop in the first-level cache.

Of the C++ of the field on one quiet core of such a machine, for orientation: 16 kernels at
B = 100 on a9a 5.5 s; one kernel, rows a second at B = 100, 500, 1000: 55,000, 16,500, 8,700 on
a9a (RBP) and 120,000, 21,500, 11,100 on binary covtype (BPAS).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

import machine
import numpy as np
from numba import njit

import kernbrook as kb
from kernbrook.numerics.arithmetic import exp_negative

ROWS = 32_561
CHUNK = 4096
LEARNERS = ("rbp", "forgetron", "bogd", "bpas", "spa", "projectron", "projectron++", "ahpatron")


def learn(recipe: str, budget: int, kernels: Any, X: Any, y: Any) -> dict[str, float]:
    """One run of a recipe."""
    return run(kb.recipes.make(recipe, budget=budget, kernels=kernels, random_state=0), X, y)


def run(model: Any, X: Any, y: Any) -> dict[str, float]:
    """In chunks: seconds, processor seconds, evaluations, distinct pairs, error."""
    classes = np.unique(y)
    wall = processor = evaluations = pairs = wrong = 0.0
    held = distinct = 0
    for start in range(0, len(y), CHUNK):
        rows = slice(start, start + CHUNK)
        begin = time.perf_counter(), time.process_time()
        predicted, _ = model.learn(X[rows], y[rows], classes=classes)
        wall += time.perf_counter() - begin[0]
        processor += time.process_time() - begin[1]
        wrong += float((predicted != y[rows]).sum())
        evaluations += len(predicted) * (held + model.n_support_stored_) / 2
        pairs += len(predicted) * (distinct + len(model.dual_coef_)) / 2
        held, distinct = model.n_support_stored_, len(model.dual_coef_)
    return {
        "wall": wall, "processor": processor, "evaluations": evaluations, "pairs": pairs,
        "error": 100 * wrong / len(y),
    }  # fmt: skip


@njit
def _exponentials(source: Any, out: Any, rounds: int) -> None:
    for _ in range(rounds):
        for j in range(source.shape[0]):
            out[j] = exp_negative(source[j])


def exponential() -> float:
    """Seconds a value."""
    source, out = -20 * np.random.default_rng(0).random(1024), np.empty(1024)
    _exponentials(source, out, 1)
    best = min(_timed(lambda: _exponentials(source, out, 1000)) for _ in range(5))
    return best / (1000 * 1024)


def inner(points: int, width: int) -> float:
    """Seconds a pair of a dense product of 512 rows with so many points, on one core."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    A, B = rng.random((max(points, 1), width)), rng.random((512, width))
    with threadpool_limits(1):
        A @ B.T
        return min(_timed(lambda: A @ B.T) for _ in range(5)) / (len(A) * 512)


def _timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rows_of(
    title: str, recipe: str, budget: int, kernels: Any, X: Any, y: Any, exp: float
) -> Iterator[list[str]]:
    threads = {1, machine.threads()}
    learn(recipe, budget, kernels, X[:1000], y[:1000])  # compile
    for n in sorted(threads):
        os.environ["OMP_NUM_THREADS"] = str(n)
        found = min((learn(recipe, budget, kernels, X, y) for _ in range(2)), key=_wall)
        points = round(found["pairs"] / len(y))
        floor = found["evaluations"] * exp + found["pairs"] * inner(points, X.shape[1])
        yield [
            title, recipe, str(budget), str(n), f"{found['wall']:.2f}",
            f"{found['processor']:.2f}", f"{len(y) / found['wall']:,.0f}",
            f"{1e9 * found['wall'] / found['evaluations']:.2f}",
            f"{found['wall'] / floor:.1f}", f"{found['error']:.2f}",
        ]  # fmt: skip


def _wall(found: dict[str, float]) -> float:
    return found["wall"]


def covtype(rows: int) -> tuple[Any, Any]:
    X, y = kb.open_stream("covtype", positive="2").read()
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    X = machine.dense(X)[order]
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), y[order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--only", choices=("pools", "single"))
    arguments = parser.parse_args()
    recipes, exp = arguments.learners.split(","), exponential()
    lines: list[list[str]] = []
    if not machine.data_missing("a9a"):
        X, y = kb.open_stream("a9a").read()
        X, y = X[: arguments.rows], y[: arguments.rows]
        if arguments.only != "single":
            for budget in (100, 443):
                for recipe in recipes:
                    lines += rows_of("a9a, 16 kernels", recipe, budget, "omkc16", X, y, exp)
        if arguments.only != "pools":
            for budget in (100, 500, 1000):
                for recipe in recipes:
                    kernel = [kb.Gaussian(gamma=0.05)]
                    lines += rows_of("a9a, 1 kernel", recipe, budget, kernel, X, y, exp)
    if arguments.only != "pools" and not machine.data_missing("covtype"):
        X, y = covtype(arguments.rows)
        for budget in (100, 500, 1000):
            for recipe in recipes:
                kernel = [kb.Gaussian(gamma=1 / 54)]
                lines += rows_of("covtype, 1 kernel", recipe, budget, kernel, X, y, exp)
    print(machine.describe())
    print(f"one exponential: {1e9 * exp:.2f} ns\n")
    header = ["data", "recipe", "budget", "threads", "s", "cpu s", "rows/s", "ns/eval", "x floor",
              "mistakes %"]  # fmt: skip
    print(machine.table(header, lines))


if __name__ == "__main__":
    main()
