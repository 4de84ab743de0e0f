"""A learner on a long stream: seconds, mistakes and memory, every 50,000 rows.

The waveform stream, class 0 against the rest, drawn as it is learned from, 21 features. The learner
is the default, or another recipe: `--recipe spa --budget 125`. Resident memory is that of the whole
process, from Linux's /proc; the model's own bytes stand beside it.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import machine
import numpy as np

import kernbrook as kb

ROWS, EVERY = 1_000_000, 50_000


def resident() -> float:
    """MB of 10^6 bytes; NaN where there is no /proc."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return float("nan")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--recipe", default="kernbrook-classification")
    parser.add_argument("--budget", type=int, help="of a recipe that has one")
    arguments = parser.parse_args()
    stream = kb.open_stream(f"waveform:{arguments.rows}", positive="0")
    classes = np.unique(next(iter(stream.chunks(4096)))[1])
    own = {} if arguments.budget is None else {"budget": arguments.budget}
    model = kb.recipes.make(arguments.recipe, random_state=0, **own)
    lines, seconds, seen, wrong = [], 0.0, 0, 0
    for X, y in stream.chunks(5_000):
        start = time.perf_counter()
        predicted, _ = model.learn(X, y, classes=classes)
        seconds += time.perf_counter() - start
        seen += len(y)
        wrong += int((predicted != y).sum())
        if seen % EVERY == 0:
            lines.append(
                [f"{seen:,}", f"{seconds:.1f}", f"{100 * wrong / seen:.2f}",
                 f"{model.n_support_stored_:,}", f"{model.memory_bytes_ / 1e6:.2f}",
                 f"{resident():.0f}"]
            )  # fmt: skip
    print(machine.describe())
    header = ["rows", "s learning", "mistakes %", "support vectors", "model MB", "process MB"]
    print(machine.table(header, lines))


if __name__ == "__main__":
    main()
