"""Tables of a given size through `kernbrook train` and `predict`: memory and rows a second.

A generated table of ten columns of numbers, one of levels, one of dates, with holes, and a label,
as CSV and as Parquet with the same rows. Each command is a process of its own, whose resident
memory is read from Linux's /proc while it runs. Beside them is plain reading of the file by
pyarrow, in a process of its own as well, in batches that are thrown away. `majority` learns next to
nothing: what is timed is the table.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import machine
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

ROWS = 100_000  # made at a time
OPTIONS = [
    *("--categorical", "kind=a,b,c", "--dates", "when", "--missing", "mean", "--label", "label"),
]
READ = {
    "CSV": "from pyarrow import csv\n"
    "print(sum(batch.num_rows for batch in csv.open_csv({path!r})))",
    "Parquet": "from pyarrow.parquet import ParquetFile\n"
    "file = ParquetFile({path!r}, pre_buffer=False, buffer_size=1 << 20)\n"
    "print(sum(batch.num_rows for batch in file.iter_batches(16_384)))",
}


class Run(NamedTuple):
    """Seconds of a process, those of its cores, and its memory: at which second how many MB."""

    seconds: float
    cpu: float
    curve: list[tuple[float, float]]

    @property
    def peak(self) -> float:
        return max(megabytes for _, megabytes in self.curve)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of the CSV file")
    parser.add_argument("--recipe", default="majority")
    parser.add_argument("--picture", type=Path, default=Path("tables.png"))
    given = parser.parse_args()
    print(machine.describe())
    runs: dict[str, dict[str, Run]] = {}
    lines = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = {"CSV": folder / "rows.csv", "Parquet": folder / "rows.parquet"}
        rows = make(files["CSV"], files["Parquet"], given.gigabytes)
        for kind, path in files.items():
            program = [sys.executable, "-m", "kernbrook"]
            model, out = str(folder / f"{kind}.model"), str(folder / "predictions")
            learn = ["train", str(path), "--model", model, "--recipe", given.recipe, *OPTIONS]
            runs[kind] = {
                "pyarrow reads": timed([sys.executable, "-c", READ[kind].format(path=str(path))]),
                "train": timed([*program, *learn]),
                "predict": timed([*program, "predict", model, str(path), "--output", out]),
            }
            for what, run in runs[kind].items():
                gigabytes = path.stat().st_size / 1e9
                rates = f"{rows / run.seconds:,.0f}", f"{run.cpu:.1f}", f"{rows / run.cpu:,.0f}"
                cells = f"{gigabytes:.2f}", f"{run.seconds:.1f}", *rates, f"{run.peak:.0f}"
                lines.append([f"{kind}: {what}", *cells])
    print(f"\n{rows:,} rows, {given.recipe}\n")
    header = ["", "GB", "seconds", "rows a second", "CPU seconds", "rows a CPU second", "peak MB"]
    print(machine.table(header, lines))
    draw(runs, given.picture)
    print(f"wrote {given.picture}")


def make(text: Path, parquet: Path, gigabytes: float) -> int:
    """Write the same rows to both files, until the text has that size; how many there are."""
    rng = np.random.default_rng(0)
    rows, table = 0, some(rng, 0)
    with (
        pa.csv.CSVWriter(text, table.schema) as as_text,
        pq.ParquetWriter(parquet, table.schema) as as_parquet,
    ):
        while text.stat().st_size < 1e9 * gigabytes:
            table = some(rng, rows)
            as_text.write_table(table)
            as_parquet.write_table(table)
            rows += table.num_rows
    return rows


def some(rng: np.random.Generator, first: int) -> Any:
    X = rng.normal(size=(10, ROWS)).round(5)
    levels = pa.array(rng.choice(["a", "b", "c", "other"], ROWS), mask=rng.random(ROWS) < 0.01)
    moments = np.datetime64("2020-01-01T00:00:00") + 60 * np.arange(first, first + ROWS)
    columns = {f"x{j}": pa.array(x, mask=rng.random(ROWS) < 0.01) for j, x in enumerate(X)}
    label = pa.array(np.where(X[0] + X[1] ** 2 > 0.5, "yes", "no"))
    return pa.table({**columns, "kind": levels, "when": pa.array(moments), "label": label})


def resident(process: int) -> float:
    """MB of 10^6 bytes; NaN where there is no /proc."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return float("nan")
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(kilobytes[0]) * 1024 / 1e6 if kilobytes else float("nan")


def timed(command: list[str]) -> Run:
    begin, curve, cpu = time.perf_counter(), [], spent()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            if (found := resident(process.pid)) > 0:
                curve.append((time.perf_counter() - begin, found))
            time.sleep(0.05)
        seconds = time.perf_counter() - begin
        said = process.stderr.read().decode()
    if process.returncode:
        sys.exit(said)
    return Run(seconds, spent() - cpu, curve)


def spent() -> float:
    """Seconds of the cores that all processes spent that have ended here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def draw(runs: dict[str, dict[str, Run]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(runs), figsize=(5.5 * len(runs), 3.5), sharey=True, layout="constrained"
    )
    for axis, (kind, each) in zip(axes, runs.items(), strict=True):
        for (what, run), up in zip(each.items(), (0, 6, -6), strict=True):
            seconds, megabytes = zip(*run.curve, strict=True)
            axis.plot(seconds, megabytes, lw=1.2)
            axis.annotate(
                what, (seconds[-1], megabytes[-1]), xytext=(4, up), textcoords="offset points",
                fontsize=8, va="center",
            )  # fmt: skip
        axis.set_title(kind)
        axis.set_xlabel("seconds")
        axis.margins(x=0.12)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("process, MB")
    axes[0].set_ylim(0, 1.1 * max(run.peak for each in runs.values() for run in each.values()))
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
