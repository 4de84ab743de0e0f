"""How the cost of a row grows with the rows learned from and with the budget: waveform, one core.

Features of mean 0 and deviation 1. Kernels: one Gaussian of gamma 1 / 21, or 16 of gammas around
it, a factor of sqrt(2) apart. Against the rows so far: processor microseconds a row since the point
before, B = 100. Against B: those of ROWS_MORE rows, once the budget is full or 10 B rows are
learned from. Random features have B frequencies a kernel, and no support vectors. The least of some
runs. `--json` stores them; `--draw` draws what is stored, and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import machine
import numpy as np
import pegasos

import kernbrook as kb
from kernbrook.reports import plot as drawing

ROWS = 100_000
POINTS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
BUDGETS = (50, 100, 200, 400, 800, 1600, 3200)
ROWS_MORE = 4000
CHUNK = 1000
GUIDES = {"rows": ([8000, 64_000], [100, 800]), "budgets": ([50, 300], [90, 540])}
ONE = [kb.Gaussian(gamma=1 / 21)]
MANY = [kb.Gaussian(gamma=2.0 ** (power / 2) / 21) for power in range(-8, 8)]


def waves(frequencies: int) -> Any:
    features = kb.RandomFeatures(frequencies)
    return kb.GradientDescent(schedule="adagrad", loss="logistic", features=features)


LEARNERS: dict[str, tuple[Callable[[int], Any], list[Any]]] = {
    "no budget, 16 kernels": (lambda _: kb.Perceptron(), MANY),
    "no budget, 1 kernel": (lambda _: kb.Perceptron(), ONE),
    "merging, 16 kernels": (kb.Pegasos, MANY),
    "merging, 1 kernel": (kb.Pegasos, ONE),
    "BPAS, 16 kernels": (kb.BPAS, MANY),
    "BPAS, 1 kernel": (kb.BPAS, ONE),
    "random features, 16 kernels": (waves, MANY),
}


def make(name: str, budget: int) -> Any:
    learner, kernels = LEARNERS[name]
    settings = {"scaling": None, "random_state": 0}
    return kb.OnlineMKClassifier(kernels, learner(budget), kb.Hedge(0.99), **settings)


class Timed:
    """A model that learns from a stream in chunks, by its processor seconds."""

    def __init__(self, model: Any, X: Any, y: Any):
        self.model, self.X, self.y, self.rows = model, X, y, 0
        self.classes = np.unique(y)

    def to(self, rows: int) -> float:
        """Learn up to so many rows; microseconds a row."""
        seconds, before = 0.0, self.rows
        while self.rows < rows:
            part = slice(self.rows, min(self.rows + CHUNK, rows))
            start = time.process_time()
            self.model.learn(self.X[part], self.y[part], classes=self.classes)
            seconds += time.process_time() - start
            self.rows = part.stop
        return 1e6 * seconds / (rows - before)


def by_rows(name: str, X: Any, y: Any) -> list[float]:
    run = Timed(make(name, 100), X, y)
    return [run.to(rows) for rows in POINTS if rows <= len(y)]


def by_budget(name: str, budget: int, X: Any, y: Any) -> float:
    run = Timed(make(name, budget), X, y)
    most = max(CHUNK, min(10 * budget, len(y) - ROWS_MORE))
    full = budget * len(LEARNERS[name][1])
    run.to(CHUNK)
    while "random" not in name and run.model.n_support_stored_ < full and run.rows < most:
        run.to(min(run.rows + CHUNK, most))
    return run.to(min(run.rows + ROWS_MORE, len(y)))


def measure(rows: int, repeats: int) -> dict[str, Any]:
    X, y = pegasos.split_of("waveform", rows).train.read()
    found: dict[str, Any] = {"rows": {}, "budgets": {}}
    for name in LEARNERS:
        by_rows(name, X[:CHUNK], y[:CHUNK])  # compiled
        runs = [by_rows(name, X, y) for _ in range(repeats)]
        costs = [min(costs) for costs in zip(*runs, strict=True)]
        found["rows"][name] = dict(zip(POINTS, costs, strict=False))
        print(name, "by rows:", *(f"{cost:.1f}" for cost in costs), flush=True)
        if "no budget" not in name:
            costs = [min(by_budget(name, b, X, y) for _ in range(repeats)) for b in BUDGETS]
            found["budgets"][name] = dict(zip(BUDGETS, costs, strict=True))
            print(name, "by budget:", *(f"{cost:.1f}" for cost in costs), flush=True)
    return found


def draw(found: dict[str, Any]) -> Any:
    """Two panels: against rows, and against budgets."""
    hues = drawing.HUES
    pens = {}
    for name, hue in zip(("no budget", "merging", "BPAS"), (1, 0, 2), strict=True):
        pens[f"{name}, 16 kernels"] = drawing.Pen(hues[hue], "-")
        pens[f"{name}, 1 kernel"] = drawing.Pen(hues[hue], drawing.DASHES[1])
    pens["random features, 16 kernels"] = drawing.Pen(hues[3], "-")
    with drawing.house_style():
        picture, (left, right) = drawing.panels(2, pens, sharey=True)
        for axes, key in ((left, "rows"), (right, "budgets")):
            axes.set_xscale("log")
            axes.set_yscale("log")
            for name, costs in found[key].items():
                x = [int(point) for point in costs]
                axes.plot(x, list(costs.values()), marker="o", markersize=3, **vars(pens[name]))
            axes.plot(*GUIDES[key], **vars(drawing.dotted(drawing.GREY)))
            drawing.ticks(axes, narrow=True)
        for axes in (left, right):
            axes.text(0.04, 0.94, "dotted: in proportion", transform=axes.transAxes, va="center")
        left.set_xlabel("rows learned from, B = 100")
        right.set_xlabel("B: budget, or random frequencies")
        right.set_xticks(BUDGETS[::2], [f"{budget:,}" for budget in BUDGETS[::2]])
        right.xaxis.minorticks_off()
        left.set_ylabel("processor microseconds a row")
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=3)
    machine.add_picture(parser, "growth")
    arguments = parser.parse_args()
    if machine.is_drawn(arguments, draw):
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    print(machine.describe())
    found = {"machine": machine.describe(), **measure(arguments.rows, arguments.repeats)}
    for key, first in (("rows", "rows so far"), ("budgets", "B")):
        print(f"\nus a row by {first}")
        points = list(next(iter(found[key].values())))
        lines = [
            [name, *(f"{cost:.1f}" for cost in costs.values())]
            for name, costs in found[key].items()
        ]
        print(machine.table(["", *(f"{point:,}" for point in points)], lines))
    arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
