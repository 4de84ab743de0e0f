"""What `dtype="float32"` saves and changes: BPAS, one Gaussian, k(x, z) = exp(-||x - z||^2 / d).

The first ROWS rows of each stream, scaled by moments. Processor microseconds to learn a row, the
least of three runs of each in turns; online mistakes in per cent; how many predictions differ; the
largest difference of a decision afterwards, beside the largest decision, on rows learned from. Sets
that KERNBROOK_DATA does not have are left out; "drawn" is scikit-learn's `make_classification`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import machine
import numpy as np
from sklearn.datasets import make_classification

import kernbrook as kb

ROWS = 20_000
STREAMS = ("magic04", "covtype", "a9a")
WIDTHS = (300, 784)  # of the streams that are drawn
DTYPES = ("float64", "float32")
CHUNK = 5000
HEADER = (
    "", "features", "B", *("us a row, " + dtype for dtype in DTYPES), "ratio",
    *("%, " + dtype for dtype in DTYPES), "differ", "largest",
)  # fmt: skip


def learned(budget: int, dtype: str, X: Any, y: Any) -> tuple[float, Any, Any]:
    """Processor seconds, what was predicted before each label, and the decisions afterwards."""
    kernel = kb.Gaussian(gamma=1 / X.shape[1])
    model = kb.OnlineMKClassifier(
        kernel, kb.BPAS(budget, 0.5), scaling="moments", random_state=0, dtype=dtype
    )
    classes, predicted = np.unique(y), []
    start = time.process_time()
    for lo in range(0, len(y), CHUNK):
        found, _ = model.learn(X[lo : lo + CHUNK], y[lo : lo + CHUNK], classes=classes)
        predicted.append(found)
    seconds = time.process_time() - start
    return seconds, np.concatenate(predicted), model.decision_function(X[:CHUNK])


def line(title: str, budget: int, X: Any, y: Any) -> list[Any]:
    """One line of the table."""
    for dtype in DTYPES:
        learned(budget, dtype, X[:600], y[:600])  # compiles
    runs = [[learned(budget, dtype, X, y) for dtype in DTYPES] for _ in range(3)]
    double, single = (min(run[i][0] for run in runs) * 1e6 / len(y) for i in range(2))
    (_, before, exact), (_, after, near) = runs[0]
    errors = [100 * np.mean(found != y) for found in (before, after)]
    largest = np.abs(exact - near).max() / np.abs(exact).max()
    return [
        title, X.shape[1], budget, f"{double:.1f}", f"{single:.1f}", f"{double / single:.2f}",
        *(f"{error:.2f}" for error in errors), np.count_nonzero(before != after), f"{largest:.0e}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--budgets", default="100,1000")
    given = parser.parse_args()
    print(machine.describe())
    streams = {name: machine.read(name) for name in machine.present(STREAMS)}
    for width in WIDTHS:
        drawn = make_classification(given.rows, width, n_informative=20, random_state=0)
        streams[f"drawn {width}"] = drawn
    rows = []
    for title, (X, y) in streams.items():
        for budget in map(int, given.budgets.split(",")):
            rows.append(line(title, budget, X[: given.rows], y[: given.rows]))
            print(*rows[-1], flush=True)
    print(machine.table(HEADER, rows))


if __name__ == "__main__":
    main()
