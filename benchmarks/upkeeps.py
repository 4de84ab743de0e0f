"""What a budget costs: online mistakes of kernel expansions under budgets, beside none.

Per cent over the first ROWS rows, rows in the order of the file, but for those grouped by class,
which are shuffled with seed 0. The pool is that of the default's expansions: three polynomials and
seven Gaussians, scaled by moments; its experts are added up by `Stack`. The other experts of the
default are left out: beside them the upkeep shows less. Microseconds are a processor's, for a row
of all streams. Sets that KERNBROOK_DATA does not have are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import machine
import numpy as np

import kernbrook as kb

ROWS = 10_000
STREAMS = ("elec2", "weather", "covtype", "letter", "magic04", "a9a")
KERNELS = [
    *(kb.Polynomial(degree) for degree in (1, 2, 3)),
    *(kb.Gaussian(sigma=2.0**power) for power in range(-3, 4)),
]
UPKEEPS: dict[str, Callable[[int], Any]] = {
    "BPAS({})": kb.BPAS,
    "BPAS({}, 0.5)": partial(kb.BPAS, aggressiveness=0.5),
    "RBP({})": kb.RBP,
    "Forgetron({})": kb.Forgetron,
    "Projectron({})": kb.Projectron,
}
MOST: dict[Any, int] = {kb.Projectron: 500}  # slots: it takes long


def measured(learner: Any, X: Any, y: Any) -> tuple[float, float]:
    """Mistakes in per cent, and processor microseconds a row."""
    model = kb.OnlineMKClassifier(KERNELS, learner, scaling="moments", random_state=0)
    classes = np.unique(y)
    kb.prequential(model, X[:600], y[:600], classes=classes)  # compiles
    start = time.process_time()
    record = kb.prequential(model, X, y, classes=classes)
    return 100 * record.error, 1e6 * (time.process_time() - start) / len(y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--budgets", default="100,500,2500")
    parser.add_argument("--streams", default=",".join(STREAMS))
    given = parser.parse_args()
    streams = machine.present(given.streams.split(","))
    learners = {"PassiveAggressive()": kb.PassiveAggressive(), "Perceptron()": kb.Perceptron()}
    for budget in map(int, given.budgets.split(",")):
        for title, make in UPKEEPS.items():
            if budget <= MOST.get(make, budget):
                learners[title.format(budget)] = make(budget)
    print(machine.describe())
    data = {name: [part[: given.rows] for part in machine.read(name)] for name in streams}
    rows = []
    for title, learner in learners.items():
        found = [measured(learner, *data[name]) for name in streams]
        errors = [f"{error:.1f}" for error, _ in found]
        rows.append([title, *errors, f"{np.mean([cost for _, cost in found]):.0f}"])
        print(" ".join(rows[-1]), flush=True)
    print(machine.table(["", *streams, "us a row"], rows))


if __name__ == "__main__":
    main()
