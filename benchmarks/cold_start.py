"""Whole-process seconds of the first and of later uses, compiled code absent and present.

Each process is timed from its start to its end. "Cold" is an empty NUMBA_CACHE_DIR, a new one each
time; "warm" is one that the same command has filled. Python's own byte code and the files' pages
are warm throughout. The floor of every line is a Python process that does nothing. The shortest
and the median of the repeats are printed, and the median of the processor seconds of the process
and all that it started: on a busy machine they tell more than the clock.
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

FIRST = "README's first command, cold"
ONE = ["compare", "wdbc", "--recipes", "omkc-dd", "--permutations", "1"]


def program() -> list[str]:
    """How to start kernbrook's command line with this interpreter."""
    if importlib.util.find_spec("kernbrook.__main__"):
        return [sys.executable, "-m", "kernbrook"]
    return [str(Path(sys.executable).parent / "kernbrook")]


def seconds(command: list[str], cache: str, folder: str) -> tuple[float, float]:
    """(elapsed, of processors) of one process that keeps its compiled code in `cache`."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    before, start = processor_seconds(), time.perf_counter()
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    elapsed = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return elapsed, processor_seconds() - before


def processor_seconds() -> float:
    """Of all processes that this one and those that it started have waited for."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold and warm starts.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, help="rows of wdbc; all 569 by default")
    given = parser.parse_args()
    data = "wdbc" if given.rows is None else f"wdbc:{given.rows}"
    kernbrook = program()
    python = [sys.executable, "-c"]
    one = [*kernbrook, *(data if word == "wdbc" else word for word in ONE)]
    first = [*kernbrook, "compare", data, "--report", "report.html"]
    everything = [*kernbrook, "compare", data, "--recipes", "all"]
    ahead = [*kernbrook, "warm"]
    times: dict[str, list[tuple[float, float]]] = {}

    with tempfile.TemporaryDirectory() as warm, tempfile.TemporaryDirectory() as folder:

        def timed(name: str, command: list[str], cache: str) -> None:
            times.setdefault(name, []).append(seconds(command, cache, folder))

        seconds([*python, "import kernbrook"], warm, folder)  # byte code
        seconds([*kernbrook, "--help"], warm, folder)
        for _ in range(given.repeats):
            timed("python, nothing", [*python, "pass"], warm)
            timed("import kernbrook", [*python, "import kernbrook"], warm)
            timed("kernbrook --help", [*kernbrook, "--help"], warm)
            with tempfile.TemporaryDirectory() as cold:
                timed("compare, one run, cold", one, cold)
            with tempfile.TemporaryDirectory() as cold:
                timed(FIRST, first, cold)
            with tempfile.TemporaryDirectory() as cold:
                timed("compare, everything, cold", everything, cold)
            with tempfile.TemporaryDirectory() as cold:
                timed("warm, all recipes, cold", ahead, cold)
        seconds(ahead, warm, folder)
        for _ in range(given.repeats):
            timed("warm, nothing to compile", ahead, warm)
        seconds(one, warm, folder)
        for _ in range(given.repeats):
            timed("compare, one run, warm", one, warm)
        seconds(first, warm, folder)
        for _ in range(given.repeats):
            timed("README's first command, warm", first, warm)
        seconds(everything, warm, folder)
        for _ in range(given.repeats):
            timed("compare, everything, warm", everything, warm)

    def medians(name: str) -> list[float]:
        return [median(column) for column in zip(*times[name], strict=True)]

    print(f"Whole processes, seconds, {given.repeats} repeats\n")
    rows = [
        [name, f"{min(found)[0]:.2f}", *(f"{value:.2f}" for value in medians(name))]
        for name, found in times.items()
    ]
    print(machine.table(["", "least", "median", "processors"], rows))
    print()
    for name, command in (
        ("one run", one),
        ("first", first),
        ("everything", everything),
        ("ahead", ahead),
    ):
        print(f"{name:11} kernbrook {' '.join(command[len(kernbrook) :])}")
    print(machine.describe())
    asked = {
        "import kernbrook": "0.3",
        "kernbrook --help": "0.5",
        "compare, one run, cold": "15",
        "compare, one run, warm": "3",
        FIRST: "60",
    }
    print(
        f"\nAsked, in this order: under {', '.join(asked.values())} s. Measured, medians: "
        f"{', '.join(f'{medians(name)[0]:.2f}' for name in asked)} s."
    )


if __name__ == "__main__":
    main()
