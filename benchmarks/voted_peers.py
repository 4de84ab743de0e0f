"""Voted kernels beside other batch classifiers on ten sets: error, support vectors, seconds.

Features are standardised; the first ROWS examples of a random order are split 70 to 30, three
times. Each cell: error in per cent / support vectors, or features of the L1-SVM / microseconds a
row of prediction / seconds of fitting; means over the splits, processor time. All have their
defaults. LightGBM is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import machine
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import kernbrook as kb

SETS = [
    "australian", "diabetes", "german", "ionosphere", "magic04",
    "ocr49", "retinopathy", "sonar", "svmguide3", "wdbc",
]  # fmt: skip
SPLITS = 3


def peers() -> dict[str, tuple[Callable[[], Any], Callable[[Any], float] | None]]:
    """Each with how to make it, and how many examples or features its scores rest on."""
    found: dict[str, tuple[Callable[[], Any], Callable[[Any], float] | None]] = {
        "voted": (kb.VotedKernelClassifier, lambda m: m.n_support_stored_),
        "SVC": (SVC, lambda m: m.n_support_.sum()),
        "L1-SVM": (lambda: LinearSVC(penalty="l1", dual=False), lambda m: (m.coef_ != 0).sum()),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = (lambda: LGBMClassifier(verbose=-1, n_jobs=1), None)
    except ImportError:
        pass
    return found


def measured(make: Callable[[], Any], parts: Any) -> tuple[float, float, float, Any]:
    """Error in per cent, microseconds a row, seconds of fitting, and the model."""
    train, test, y, z = parts
    model = make()
    start = time.process_time()
    model.fit(train, y)
    fitted = time.process_time()
    wrong = float(np.mean(model.predict(test) != z))
    per_row = (time.process_time() - fitted) / len(z)
    return 100 * wrong, 1e6 * per_row, fitted - start, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    arguments = parser.parse_args()
    print(machine.describe())
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name in SETS:
        if machine.data_missing(name):
            continue
        X, y = kb.open_stream(name).read()
        X = machine.dense(X)
        order = np.random.default_rng(0).permutation(len(y))[: arguments.rows]
        row = [f"{name}, {len(order)}"]
        for make, count in peers().values():
            cells = []
            for seed in range(SPLITS):
                A, B, *labels = train_test_split(
                    X[order], y[order], test_size=0.3, random_state=seed
                )
                scaler = StandardScaler().fit(A)
                parts = scaler.transform(A), scaler.transform(B), *labels
                error, per_row, seconds, model = measured(make, parts)
                cells.append([error, count(model) if count else np.nan, per_row, seconds])
            error, support, per_row, seconds = np.mean(cells, axis=0)
            used = f" / {support:.0f}" if count else ""
            row.append(f"{error:.1f}{used} / {per_row:.1f} / {seconds:.2f}")
        rows.append(row)
        print(" | ".join(row), flush=True)
    print(machine.table(["set, rows", *peers()], rows))


if __name__ == "__main__":
    main()
