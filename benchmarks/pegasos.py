"""Multi-class Pegasos with merging on long streams: microseconds an example, memory, scaling.

Features of mean 0 and deviation 1, the widths of the paper's table 1; checkerboard and waveform
drawn as they are learned from, covtype in a seeded order. Only learning is timed, in chunks of
1,000 and on one core: more make no difference, the work of a block is too little. Processor seconds
stand beside, since a busy machine steals wall time; the costs of the last columns are of those.

`idle` is what an example costs that nothing is learned from (its weight is 0). Maintenance is an
estimate: what a learned example costs beyond `idle`, less the same under random removal, where
finding the place costs nothing; in per cent of all. Resident memory is that of the whole process,
from Linux's /proc, after a tenth of the rows and at the end.

The second table is the cost of a learned example against the budget, under projection, which is
quadratic, and under merging, which is linear; the last line has the exponents from 400 to 1600.

Of the C++ toolbox of the paper's authors on one quiet core of such a machine, B = 100, for
orientation: 240 us an example on checkerboard, 825 on waveform, 1,160 on covtype.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import machine
import numpy as np

import kernbrook as kb
from kernbrook.learners.pegasos import AFRESH
from kernbrook.papers import published
from kernbrook.papers.bpegasos import GENERATORS, Permuted, Split, standardised

ROWS = {"checkerboard": 10_000_000, "waveform": 2_000_000, "covtype": 581_012}
TOOLBOX = {"checkerboard": 240, "waveform": 825, "covtype": 1160}  # us an example at B = 100
CHUNK = 1000  # below AFRESH, so that no learned example goes uncounted
TEST = 10_000  # rows to test on
TRIAL = 20_000  # rows of the runs that only give a cost
BUDGETS = (100, 200, 400, 800, 1600)


class Cost(NamedTuple):
    """Of one pass: seconds, processor seconds, examples, those learned from, mistakes, MB."""

    seconds: float
    processor: float
    rows: int
    learned: int
    mistakes: int
    memory: tuple[float, float]


def split_of(name: str, rows: int) -> Split:
    """The first rows, and up to TEST that follow, or that are drawn with another seed."""
    if name in GENERATORS:
        return standardised(GENERATORS[name](rows, seed=1), GENERATORS[name](TEST, seed=2))
    X, y = kb.open_stream(name).read()
    order = np.random.default_rng(0).permutation(len(y))
    parts = order[:rows], order[rows : rows + TEST]
    return standardised(*(Permuted(X, y, part, name) for part in parts))


def make(upkeep: str, budget: int, width: float, d: int) -> Any:
    kernel = kb.Gaussian(gamma=width / d)
    return kb.recipes.make(f"bpegasos-{upkeep}", budget=budget, kernels=[kernel], random_state=0)


def learn(model: Any, split: Split, rows: int, weight: float = 1.0) -> Cost:
    """One pass over the first rows."""
    seconds, processor, seen, learned, mistakes, early = 0.0, 0.0, 0, 0, 0, 0.0
    for X, y in islice(split.train.chunks(CHUNK), -(-rows // CHUNK)):
        before, begin = counter(model), (time.perf_counter(), time.process_time())
        predicted, _ = model.learn(X, y, classes=split.classes, sample_weight=weight)
        seconds += time.perf_counter() - begin[0]
        processor += time.process_time() - begin[1]
        learned += (counter(model) - before) % AFRESH
        mistakes += int((predicted != y).sum())
        seen += len(y)
        if not early and seen >= rows / 10:
            early = resident()
    return Cost(seconds, processor, seen, learned, mistakes, (early, resident()))


def counter(model: Any) -> int:
    """Examples learned from since the model last summed its norm afresh."""
    return int(model._model.states[0].slots.memory[0, 2]) if hasattr(model, "_model") else 0


def resident() -> float:
    """MB of 10^6 bytes; NaN where there is no /proc."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return math.nan
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def beyond(upkeep: str, budget: int, width: float, split: Split) -> tuple[float, float]:
    """Microseconds of an idle example, and what a learned one costs beyond; the best of 3."""
    model = make(upkeep, budget, width, split.train.n_features)
    learn(model, split, 10 * budget + CHUNK)  # full, and compiled
    idle = min(
        cost.processor / cost.rows
        for cost in (learn(model, split, TRIAL, weight=0.0) for _ in range(3))
    )
    learned = min(
        (cost.processor - idle * cost.rows) / cost.learned
        for cost in (learn(model, split, TRIAL) for _ in range(3))
    )
    return 1e6 * idle, 1e6 * learned


def stream_rows(name: str, rows: int) -> list[list[str]]:
    split = split_of(name, rows)
    lines = []
    for row in published("bpegasos-table-1").printed():
        if (row.data, row.recipe) != (name, "bpegasos-merge") or "merging" in row.settings:
            continue
        budget, width = row.settings["budget"], row.number("width")
        idle, merging = beyond("merge", budget, width, split)
        _, removal = beyond("random", budget, width, split)
        cost = learn(make("merge", budget, width, split.train.n_features), split, rows)
        share = cost.learned / cost.rows
        upkeep = share * (merging - removal) / (idle + share * merging)
        lines.append(
            [name, str(budget), f"{cost.rows:,}", f"{cost.seconds:.1f}", f"{cost.processor:.1f}",
             f"{cost.rows / cost.seconds:,.0f}", f"{1e6 * cost.seconds / cost.rows:.2f}",
             f"{TOOLBOX[name]:,}" if budget == 100 else "",
             f"{100 * cost.mistakes / cost.rows:.2f}", *(f"{mb:.0f}" for mb in cost.memory),
             f"{100 * share:.1f}", f"{idle:.2f}", f"{merging:.2f}", f"{100 * upkeep:.0f}"]
        )  # fmt: skip
    return lines


def scaling() -> list[list[str]]:
    """The cost of a learned example against the budget, on waveform."""
    split = split_of("waveform", TRIAL)
    costs = [
        [beyond(upkeep, budget, 1.0, split)[1] for upkeep in ("project", "merge")]
        for budget in BUDGETS
    ]
    lines = [
        [str(budget), *(f"{cost:.1f}" for cost in both)]
        for budget, both in zip(BUDGETS, costs, strict=True)
    ]
    ends = zip(costs[-3], costs[-1], strict=True)
    last = [math.log2(after / before) / 2 for before, after in ends]
    return [*lines, ["exponent", *(f"{value:.2f}" for value in last)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="of each data set at most")
    parser.add_argument("--data", default=",".join(ROWS))
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    lines = []
    for name in arguments.data.split(","):
        if name in GENERATORS or not machine.data_missing(name):
            lines += stream_rows(name, min(arguments.rows or ROWS[name], ROWS[name]))
    print(machine.describe())
    header = ["data", "B", "rows", "s", "cpu s", "rows/s", "us/row", "C++ us", "mistakes %",
              "MB at 1/10", "MB at end", "learned %", "idle us", "learned us",
              "maintenance %"]  # fmt: skip
    print(machine.table(header, lines))
    print("\nus that a learned example costs beyond an idle one, waveform")
    print(machine.table(["B", "projection", "merging"], scaling()))


if __name__ == "__main__":
    main()
