"""Rows per second of kernbrook's svmlight reader against scikit-learn's, on a9a and covtype.

The files are decompressed first, to a temporary folder, so that both readers see plain text. A
reading is everything from the path to arrays in memory: `open_stream(path).read()`, which checks
every line before the first row is given out and reads long files twice to keep memory bounded,
and `load_svmlight_file(path)`. Interleaved, the fastest of REPEATS counts, after a round that is
not timed. The arrays are compared.
"""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import machine

REPEATS = 3


def plain_copy(name: str, folder: Path, rows: int | None) -> Path:
    """The data set as plain text in `folder`, its first `rows` lines."""
    source = Path(os.environ["KERNBROOK_DATA"], f"{name}.libsvm")
    packed = source.with_suffix(".libsvm.xz")
    target = folder / source.name
    read = source.open if source.is_file() else partial(lzma.open, packed)
    with read("rb") as reading, target.open("wb") as writing:
        if rows is None:
            shutil.copyfileobj(reading, writing)
        else:
            writing.writelines(line for line, _ in zip(reading, range(rows), strict=False))
    return target


def ours(path: Path) -> tuple[Any, Any]:
    import kernbrook as kb

    return kb.open_stream(path).read()


def theirs(path: Path) -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path))


def differences(ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> int:
    """Entries and labels that are not the same."""
    import numpy as np
    import scipy.sparse as sp

    entries = abs(sp.csr_matrix(ours[0]) - sp.csr_matrix(theirs[0]))
    return int(np.count_nonzero(entries.data) + np.count_nonzero(ours[1] != theirs[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description="The svmlight reader against scikit-learn's.")
    parser.add_argument("--rows", type=int, help="rows of each file; all by default")
    rows = parser.parse_args().rows
    lines, ratios = [], []
    for name in ("a9a", "covtype"):
        if machine.data_missing(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = plain_copy(name, Path(folder), rows)
            megabytes = path.stat().st_size / 1e6
            best = {ours: float("inf"), theirs: float("inf")}
            results: dict[Any, Any] = {}
            for repeat in range(REPEATS + 1):  # the first compiles, or reads the compiled code
                for reader in best:
                    start = time.perf_counter()
                    results[reader] = reader(path)
                    if repeat:
                        best[reader] = min(best[reader], time.perf_counter() - start)
        count = results[ours][0].shape[0]
        ratios.append(f"{best[theirs] / best[ours]:.2f} on {name}")
        lines.append(
            [
                f"{name}, {count:,} rows, {megabytes:.0f} MB",
                f"{count / best[ours]:,.0f}",
                f"{count / best[theirs]:,.0f}",
                f"{best[theirs] / best[ours]:.2f}",
                differences(results[ours], results[theirs]),
            ]
        )
    if not lines:
        return
    print(f"svmlight text to arrays: rows per second, the fastest of {REPEATS}\n")
    print(machine.table(["", "kernbrook", "scikit-learn", "ratio", "differing entries"], lines))
    print(f"\n{machine.describe()}")
    print(f"\nAsked: the ratio to scikit-learn's reader. Measured: {', '.join(ratios)}.")


if __name__ == "__main__":
    main()
