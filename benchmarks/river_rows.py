"""Microseconds of one row in River: our classifier, the estimator in it, logistic regression.

    python benchmarks/river_rows.py [--repeats N]

16 kernels with 50 support vectors each. The least of the repeats, of 500 rows each, after 1,000
rows, so that budgets are full. Rows are dicts, made before the clock; those of the estimator are
arrays. An example is predicted, then learned from.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import machine
import numpy as np
from one_row import least
from river import linear_model

import kernbrook as kb

WIDTHS, ROWS = (8, 30), 6000
KINDS = ("learn", "predict", "proba", "both", "with proba")


def times(model: Any, rows: Sequence[Any], y: Sequence[int], repeats: int) -> list[str]:
    """Of learning, predicting, probabilities, and of examples with either."""

    def both(i: int) -> None:
        model.predict_one(rows[i])
        model.learn_one(rows[i], y[i])

    def with_probabilities(i: int) -> None:
        model.predict_proba_one(rows[i])
        model.learn_one(rows[i], y[i])

    calls = (
        lambda i: model.learn_one(rows[i], y[i]),
        lambda i: model.predict_one(rows[i]),
        lambda i: model.predict_proba_one(rows[i]),
        both,
        with_probabilities,
    )
    for call in calls:
        call(0)  # compiled before the clock
    return [f"{least(call, 1000, repeats):.1f}" for call in calls]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    repeats = min(parser.parse_args().repeats, 10)
    rng, found = np.random.default_rng(0), []
    for width in WIDTHS:
        X = rng.normal(size=(ROWS, width))
        y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=ROWS) > 0).astype(int).tolist()
        names = [f"x{k}" for k in range(width)]
        dicts = [dict(zip(names, row, strict=True)) for row in X.tolist()]
        ours = kb.river.MKClassifier(learner=kb.BPAS(50), seed=0)
        bare = kb.OnlineMKClassifier(learner=kb.BPAS(50), random_state=0)
        logistic = linear_model.LogisticRegression()
        bare.partial_fit(X[:1000], y[:1000])
        for x, label in zip(dicts[:1000], y[:1000], strict=True):
            ours.learn_one(x, label)
            logistic.learn_one(x, label)
        for name, model, rows in (
            ("MKClassifier", ours, dicts),
            ("OnlineMKClassifier, arrays", bare, X),
            ("River, logistic regression", logistic, dicts),
        ):
            found.append([f"{width} features: {name}", *times(model, rows, y, repeats)])
    print(machine.describe())
    print(machine.table(["us a row", *KINDS], found))


if __name__ == "__main__":
    main()
