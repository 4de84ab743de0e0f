"""Rows per second of `learn` by the length of its chunks: 1, 7, 64, 256, 4096.

OMKC(D,D), 16 kernels, ROWS rows of each stream. Every length learns the same rows from the
beginning; the repeats are interleaved and the fastest counts. The predictions of every length are
compared with those of the longest. There is no floor here: the question is what short chunks cost.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import machine

LENGTHS = (1, 7, 64, 256, 4096)
REPEATS = 3


def learn(X: Any, y: Any, length: int) -> tuple[float, Any]:
    """Seconds of one pass in chunks of `length`, and its predictions."""
    import numpy as np

    import kernbrook as kb

    model = kb.recipes.make("omkc-dd")
    classes = np.unique(y)
    chunks = [(X[i : i + length], y[i : i + length]) for i in range(0, len(y), length)]
    start = time.perf_counter()
    predictions = [model.learn(*chunk, classes=classes)[0] for chunk in chunks]
    return time.perf_counter() - start, np.concatenate(predictions)


def measure(X: Any, y: Any) -> tuple[list[float], list[int]]:
    """Rows per second of each length, and its predictions that are not the longest one's."""
    best = dict.fromkeys(LENGTHS, float("inf"))
    predictions = {}
    learn(X[:300], y[:300], 300)  # compiles, or reads the compiled code
    for _ in range(REPEATS):
        for length in LENGTHS:
            seconds, predictions[length] = learn(X, y, length)
            best[length] = min(best[length], seconds)
    last = predictions[LENGTHS[-1]]
    differ = [int((predictions[length] != last).sum()) for length in LENGTHS]
    return [len(y) / best[length] for length in LENGTHS], differ


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of learn by the length of its chunks.")
    parser.add_argument("--rows", type=int, default=5000, help="rows of each stream")
    rows = parser.parse_args().rows
    import kernbrook as kb

    streams = [
        ("waveform, class 1 or not", kb.open_stream(f"waveform:{rows}", positive=1)),
        ("checkerboard", kb.open_stream(f"checkerboard:{rows}")),
    ]
    if not machine.data_missing("a9a"):
        streams.append(("a9a, CSR", kb.open_stream(f"a9a:{rows}")))
    lines, wrong = [], 0
    for name, stream in streams:
        speeds, differ = measure(*stream.read())
        lines.append([name, *(f"{speed:,.0f}" for speed in speeds), sum(differ)])
        wrong += sum(differ)
    print(f"OMKC(D,D), 16 kernels, {rows:,} rows: rows per second, the fastest of {REPEATS}\n")
    header = ["chunks of", *(f"{length:,}" for length in LENGTHS), "differing predictions"]
    print(machine.table(header, lines))
    print(f"\n{machine.describe()}")
    compared = len(lines) * (len(LENGTHS) - 1) * rows
    print(f"\nAsked: 0 predictions that depend on the chunks. Measured: {wrong} of {compared:,}.")


if __name__ == "__main__":
    main()
