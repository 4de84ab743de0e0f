"""Many kernels on random features: examples a second, beside the floor and scikit-learn.

17 Gaussians with 50 random frequencies each, on drawn rows with as many features as Twitter (77)
and Tom's hardware (96). The floor is what no program of this kind can do without, by NumPy: one
matrix product for all angles, one pass of sines and one of cosines. The scikit-learn row is an
RBFSampler of as many features and SGDRegressor.partial_fit for each kernel, in chunks, which
learns but does not predict before it learns, nor combine. Least of several runs; the numbers
printed by one run are comparable, those of two runs on a busy machine are not.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

import machine
import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor

import kernbrook as kb

WIDTHS = (77, 96)
CHUNK = 256
RECIPES = ("raker", "omkl-aks", "amkl-aks", "kernbrook-regression", "kernbrook-active")


def stream(rows: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.random((rows, width))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(rows)


def learned(name: str, X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    def work() -> object:
        return kb.recipes.make(name, random_state=0).learn(X, y)

    return work


def floor(X: np.ndarray) -> Callable[[], object]:
    frequencies = np.random.default_rng(1).standard_normal((17 * 50, X.shape[1]))

    def work() -> None:
        for start in range(0, len(X), CHUNK):
            angles = X[start : start + CHUNK] @ frequencies.T
            np.sin(angles)
            np.cos(angles)

    return work


def scikit_learn(X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    def work() -> None:
        for kernel in kb.kernels.amkl17():
            sampler = RBFSampler(gamma=kernel.gamma, n_components=100, random_state=0).fit(X)
            model = SGDRegressor(learning_rate="constant", eta0=0.01)
            for start in range(0, len(X), CHUNK):
                rows = slice(start, start + CHUNK)
                model.partial_fit(sampler.transform(X[rows]), y[rows])

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(machine.describe())
    for width in WIDTHS:
        X, y = stream(arguments.rows, width)
        least = machine.least_seconds(floor(X), arguments.repeats)
        print(f"\n{width} features, {len(X):,} rows")
        print(
            f"{'':24} {'threads':>7} {'examples/s':>11} {'us an example':>13} {'times floor':>11}"
        )

        def show(name: str, threads: int, seconds: float, least: float = least) -> None:
            each = seconds / arguments.rows
            rate = f"{1 / each:11,.0f} {1e6 * each:13.2f} {seconds / least:11.2f}"
            print(f"{name:24} {threads:7} {rate}")

        show("floor, NumPy", 1, least)
        for name in RECIPES:
            for threads in (1, 2):
                os.environ["OMP_NUM_THREADS"] = str(threads)
                learned(name, X[:600], y[:600])()  # compiled, or loaded from the cache
                show(name, threads, machine.least_seconds(learned(name, X, y), arguments.repeats))
        show("scikit-learn, 17 times", 1, machine.least_seconds(scikit_learn(X, y), 1))


if __name__ == "__main__":
    main()
