"""What the scripts of this folder share: the machine in words, a table, the data or a skip."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SHUFFLED = ("magic04", "cod-rna", "skin_nonskin")  # sets whose files are grouped by class
ANY_ORDER = "-shuffled"
LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else None  # before the script's own


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Threads that kernbrook's sums use: OMP_NUM_THREADS of them if set, else one a core."""
    wished = os.environ.get("OMP_NUM_THREADS", "")
    return int(wished) if wished.isdigit() and int(wished) > 0 else cores()


def describe() -> str:
    """The machine in plain words, one fact a line."""
    import numpy  # loads its BLAS, so that threadpoolctl finds it
    from threadpoolctl import threadpool_info

    lines = [f"machine: {platform.machine()}, {cores()} cores usable, {threads()} threads"]
    if LOAD is not None:
        lines[0] += f", load average {LOAD:.1f} at the start"
    for library in threadpool_info():
        if library["user_api"] == "blas":
            text = f"BLAS: {library['internal_api']} {library['version']}"
            lines.append(f"{text}, kernels for {library.get('architecture', 'unknown')}")
            break
    pinned = os.environ.get("OPENBLAS_CORETYPE")
    if pinned:
        lines[-1] += f" (chosen by OPENBLAS_CORETYPE={pinned}, not by OpenBLAS)"
    lines.append(f"Python {platform.python_version()}, NumPy {numpy.__version__}")
    return "\n".join(lines)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns aligned: the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def data_missing(name: str) -> bool:
    """True, after one line that says so, where the data set is not to be found."""
    folder = os.environ.get("KERNBROOK_DATA")
    if folder and any(
        os.path.isfile(os.path.join(folder, name + ending)) for ending in (".libsvm", ".libsvm.xz")
    ):
        return False
    print(f"skipped: KERNBROOK_DATA names no folder with {name}.libsvm or {name}.libsvm.xz")
    return True


def present(names: Sequence[str]) -> list[str]:
    """Those streams that are generated, or whose data are to be found."""
    import drawn

    import kernbrook as kb

    generated = {*kb.streams.stream_names(), *drawn.OWN}
    plain = {name: name.removesuffix(ANY_ORDER) for name in names}
    return [name for name in names if plain[name] in generated or not data_missing(plain[name])]


def read(text: str) -> tuple[Any, Any]:
    """X and y of a stream, NAME or NAME:ROWS, in its order; shuffled where that is by class.

    NAME-shuffled is shuffled, too.
    """
    import drawn
    import numpy as np

    name = text.removesuffix(ANY_ORDER)
    X, y = drawn.open_stream(name).read()
    if text in SHUFFLED or name != text:
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
    return X, y


def dense(X: Any) -> Any:
    """Rows as an array, where they are in CSR."""
    return X.toarray() if hasattr(X, "toarray") else X


def least_seconds(work: Callable[[], object], repeats: int) -> float:
    """Of the quickest of some calls."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_megabytes() -> float:
    """Greatest resident memory of this process so far, in MB of 10^6 bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def add_picture(parser: Any, name: str) -> None:
    """The options of a script that stores results/NAME.json and draws docs/pictures/NAME.svg."""
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--json", type=Path, default=root / "results" / f"{name}.json")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--picture", type=Path, default=root / "docs" / "pictures" / f"{name}.svg")


def is_drawn(given: Any, draw: Callable[[Any], Any]) -> bool:
    """Draw what is stored, where that is asked for.

    Text stays text in an SVG; the same figures give the same file.
    """
    if not given.draw:
        return False
    import matplotlib

    from kernbrook.reports import plot as drawing

    picture = draw(json.loads(given.json.read_text("utf-8")))
    with drawing.house_style():
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kernbrook"})
        picture.savefig(given.picture, facecolor="white", metadata={"Date": None})
    return True
