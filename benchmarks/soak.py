"""A soak: `kernbrook train` on a long stream with checkpoints, killed again and again.

The waveform stream, class 0 against the rest, 21 features. Each learner is trained by the command
line in a process of its own, which is killed (SIGKILL) at random moments and goes on from its last
checkpoint. The picture has memory of the process, rows a second and mistakes, by rows learned, and
where it was killed. Resident memory is from Linux's /proc.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import machine
import numpy as np

from kernbrook.evaluation.checkpoint import load_checkpoint

LEARNERS = {
    "the default": [],
    "BPAS, 100 support vectors a kernel": ["--recipe", "bpas", "--set", "budget=100"],
}


class Point(NamedTuple):
    """A checkpoint: rows learned, their mistakes, seconds learning, MB of the process."""

    rows: int
    loss: float
    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows", type=int, nargs=2, default=[10**8, 10**8], help="of the default, and of BPAS"
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between checkpoints")
    parser.add_argument("--picture", type=Path, default=Path("soak.png"))
    given = parser.parse_args()
    print(machine.describe())
    runs = {}
    for (title, words), rows in zip(LEARNERS.items(), given.rows, strict=True):
        with TemporaryDirectory() as folder:
            command = ["--table", "positive=0", "--checkpoint-every", f"{given.every:g}", *words]
            source = f"waveform:{rows}"
            points, killed = soaked(Path(folder), [source, *command], rows, given.kills)
        runs[title] = points, killed
        print(f"\n{title}: killed {len(killed)} times, after {', '.join(f'{n:,}' for n in killed)}")
        show = points[:: max(1, len(points) // 10)]
        lines = [
            [f"{now.rows:,}", f"{now.megabytes:.0f}", f"{rate:,.0f}", f"{100 * error:.2f}"]
            for now, rate, error in windows(show)
        ]
        print(machine.table(["rows", "process MB", "rows a second", "mistakes %"], lines))
        draw(runs, given.picture)  # after each: the next one may take hours
    print(f"wrote {given.picture}")


def soaked(folder: Path, words: list[str], rows: int, kills: int) -> tuple[list[Point], list[int]]:
    """The checkpoints of a training, and the rows learned where it was killed."""
    rng = np.random.default_rng(0)
    due = sorted(rng.integers(0, rows, kills).tolist())
    model, points, killed = folder / "model", [Point(0, 0.0, 0.0, float("nan"))], []
    command = [sys.executable, "-m", "kernbrook", "train", *words, "--model", str(model)]
    while True:
        with subprocess.Popen(
            [*command, "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            megabytes, written = 0.0, stamp(model)
            while process.poll() is None:
                time.sleep(0.2)
                megabytes = max(megabytes, resident(process.pid))
                if stamp(model) == written:
                    continue
                written = stamp(model)
                found = load_checkpoint(model)[1]
                if found is None or found.rows == points[-1].rows:
                    continue
                points.append(Point(found.rows, found.loss, found.seconds, megabytes))
                if due and found.rows >= due[0]:
                    time.sleep(rng.uniform(0, 1))
                    process.kill()
                    killed.append(found.rows)
                    due = [n for n in due[1:] if n > found.rows]
            said = process.stderr.read().decode()
        if process.returncode == 0:
            break
        if process.returncode > 0:
            sys.exit(said)
    last = load_checkpoint(model)[1]
    assert last is not None
    assert last.rows == rows
    return points, killed


def stamp(path: Path) -> int:
    """When a file was written; 0 where there is none."""
    return path.stat().st_mtime_ns if path.exists() else 0


def resident(process: int) -> float:
    """MB of 10^6 bytes; NaN where there is no /proc."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return float("nan")
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(kilobytes[0]) * 1024 / 1e6 if kilobytes else float("nan")


def windows(points: list[Point]) -> list[tuple[Point, float, float]]:
    """Each point with rows a second of learning, and mistakes a row, since the one before."""
    found = []
    for before, now in pairwise(points):
        rows, seconds = now.rows - before.rows, now.seconds - before.seconds
        rate = rows / seconds if seconds > 0 else float("nan")  # the last one writes no seconds
        found.append((now, rate, (now.loss - before.loss) / rows))
    return found


def draw(runs: dict[str, tuple[list[Point], list[int]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import EngFormatter, MaxNLocator

    figure, axes = plt.subplots(
        3,
        len(runs),
        figsize=(5.5 * len(runs), 7),
        sharex="col",
        squeeze=False,
        layout="constrained",
    )
    for column, (title, (points, killed)) in zip(axes.T, runs.items(), strict=True):
        every = windows(points)
        rows = [now.rows for now, _, _ in every]
        values = (
            [now.megabytes for now, _, _ in every],
            [rate for _, rate, _ in every],
            [100 * error for _, _, error in every],
        )
        for axis, line in zip(column, values, strict=True):
            axis.plot(rows, line, lw=1.2, marker=".", ms=3)
            axis.set_xlim(0, rows[-1])
            axis.set_ylim(0, 1.15 * np.nanmax(line))
            axis.spines[["top", "right"]].set_visible(False)
            axis.vlines(
                killed, 0, 1, transform=axis.get_xaxis_transform(), lw=0.6, ls=":", color="C3"
            )
        column[0].set_title(title)
        column[-1].set_xlabel("rows learned (dotted: killed)")
        column[-1].xaxis.set_major_locator(MaxNLocator(5))
        column[-1].xaxis.set_major_formatter(EngFormatter())
        column[1].yaxis.set_major_formatter(EngFormatter())
    for axis, label in zip(
        axes[:, 0], ("process, MB", "rows a second", "mistakes, %"), strict=True
    ):
        axis.set_ylabel(label)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
