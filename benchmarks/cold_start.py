"""Whole-process seconds of the first and of later uses, compiled code absent and present.

Each process is timed from its start to its end. "Cold" is an empty NUMBA_CACHE_DIR, a new one each
time; "warm" is one that the same command has filled. Python's own byte code and the files' pages
are warm throughout. The floor of every line is a Python process that does nothing. The shortest
and the median of the repeats are printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import machine

ONE = ["compare", "wdbc", "--recipes", "omkc-dd", "--permutations", "1"]


def program() -> list[str]:
    """How to start kernbrook's command line with this interpreter."""
    if importlib.util.find_spec("kernbrook.__main__"):
        return [sys.executable, "-m", "kernbrook"]
    return [str(Path(sys.executable).parent / "kernbrook")]


def seconds(command: list[str], cache: str) -> float:
    """Of one process that keeps its compiled code in `cache`."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold and warm starts.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, help="rows of wdbc; all 569 by default")
    given = parser.parse_args()
    data = "wdbc" if given.rows is None else f"wdbc:{given.rows}"
    kernbrook = program()
    python = [sys.executable, "-c"]
    one = [*kernbrook, *(data if word == "wdbc" else word for word in ONE)]
    everything = [*kernbrook, "compare", data]
    times: dict[str, list[float]] = {}

    def timed(name: str, command: list[str], cache: str) -> None:
        times.setdefault(name, []).append(seconds(command, cache))

    with tempfile.TemporaryDirectory() as warm:
        seconds([*python, "import kernbrook"], warm)  # byte code
        seconds([*kernbrook, "--help"], warm)
        for _ in range(given.repeats):
            timed("python, nothing", [*python, "pass"], warm)
            timed("import kernbrook", [*python, "import kernbrook"], warm)
            timed("kernbrook --help", [*kernbrook, "--help"], warm)
            with tempfile.TemporaryDirectory() as cold:
                timed("compare, one run, cold", one, cold)
        seconds(one, warm)
        for _ in range(given.repeats):
            timed("compare, one run, warm", one, warm)
        seconds(everything, warm)
        for _ in range(given.repeats):
            timed("compare, everything, warm", everything, warm)

    print(f"Whole processes, seconds, {given.repeats} repeats\n")
    rows = [[name, f"{min(t):.2f}", f"{median(t):.2f}"] for name, t in times.items()]
    print(machine.table(["", "least", "median"], rows))
    print(f"\none run:    kernbrook {' '.join(one[len(kernbrook) :])}")
    print(f"everything: kernbrook {' '.join(everything[len(kernbrook) :])}\n{machine.describe()}")
    asked = {
        "import kernbrook": "0.3",
        "kernbrook --help": "0.5",
        "compare, one run, cold": "15",
        "compare, one run, warm": "3",
    }
    print(
        f"\nAsked, in this order: under {', '.join(asked.values())} s. Measured, medians: "
        f"{', '.join(f'{median(times[name]):.2f}' for name in asked)} s."
    )


if __name__ == "__main__":
    main()
