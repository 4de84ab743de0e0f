"""Which combiner by default? The online mistakes of each on every set in KERNBROOK_DATA.

Sixteen kernels on the features as they are, each row judged, mistakes as losses, a perceptron and
a budget learner. At most ROWS rows of a set: in their own order for the sets that are streams,
shuffled with a seed for the others. Sets of many classes: the most frequent against the rest.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import machine
import numpy as np
from joblib import Parallel, delayed

import kernbrook as kb

ROWS = 12_000
STREAMS = ("elec2", "weather", "phishing_stream")
REGRESSION = ("energy", "kin8nm", "tomshardware", "twitter")
ALREADY = ("letter.t",)  # rows of another set
COMBINERS = {
    "Hedge(.8)": kb.Hedge(discount=0.8),
    "Hedge(.9)": kb.Hedge(discount=0.9),
    "Hedge(.99)": kb.Hedge(discount=0.99),
    "MLPoly": kb.MLPoly(),
    "Share(.8,.01)": kb.FixedShare(discount=0.8, share=0.01),
    "Share(.8,.003)": kb.FixedShare(discount=0.8, share=0.003),
    "Share(.9,.003)": kb.FixedShare(discount=0.9, share=0.003),
    "Share(.9,.001)": kb.FixedShare(discount=0.9, share=0.001),
}
LEARNERS = {"Perceptron": kb.Perceptron(), "BPAS(100)": kb.BPAS(budget=100)}


def run(name: str, learner: str, combiner: str, seeds: int, rows: int) -> float:
    """Mean online error in per cent."""
    X, y = kb.open_stream(name).read()
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) > 2:
        y = (y == labels[counts.argmax()]).astype(int)
    errors = []
    for seed in range(1 if name in STREAMS else seeds):
        order = np.arange(len(y))
        if name not in STREAMS:
            order = np.random.default_rng(seed).permutation(len(y))
        order = order[:rows]
        model = kb.OnlineMKClassifier(
            learner=LEARNERS[learner], combiner=COMBINERS[combiner], scaling=None, judge_stored=True
        )
        errors.append(kb.prequential(model, X[order], y[order], classes=np.unique(y)).error)
    return 100 * float(np.mean(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--data", help="names, separated by commas")
    arguments = parser.parse_args()
    folder = os.environ.get("KERNBROOK_DATA")
    if not folder:
        print("skipped: KERNBROOK_DATA names no folder")
        return
    names = sorted(path.name.split(".libsvm")[0] for path in Path(folder).glob("*.libsvm*"))
    if arguments.data:
        names = arguments.data.split(",")
    names = [name for name in names if name not in REGRESSION + ALREADY]
    start = time.perf_counter()
    tasks = [(n, learner, c) for n in names for learner in LEARNERS for c in COMBINERS]
    results = Parallel(n_jobs=machine.cores())(
        delayed(run)(*task, arguments.seeds, arguments.rows) for task in tasks
    )
    errors = dict(zip(tasks, results, strict=True))
    print(machine.describe())
    for learner in LEARNERS:
        print(f"\n{learner}: online mistakes, per cent, the first {arguments.rows} rows")
        table = np.array([[errors[n, learner, c] for c in COMBINERS] for n in names])
        lines = [
            [n, *(f"{value:.2f}" for value in row)] for n, row in zip(names, table, strict=True)
        ]
        ranks = table.argsort(axis=1).argsort(axis=1) + 1
        over = table - table.min(axis=1, keepdims=True)
        for title, values in {
            "mean": table.mean(axis=0),
            "mean rank": ranks.mean(axis=0),
            "worst excess": over.max(axis=0),
        }.items():
            lines.append([title, *(f"{value:.2f}" for value in values)])
        print(machine.table(["data", *COMBINERS], lines))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
