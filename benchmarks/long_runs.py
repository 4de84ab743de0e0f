"""The long shoot-out, `shootout.py --long`: whole files, and streams of 1,000,000 drawn rows.

Rows come in chunks of CHUNK. Within a chunk, each row is predicted before its label is learned
from, as in `shootout.py`. A method that has used more processor seconds than `--limit` ends with
the chunk, and its error is that of the rows until then. Microseconds are those of predicting and
learning. All draw with seed 0.

Results are stored after every method on a stream. What is stored is not run again, unless `--fresh`
names the method, or the limit ended it and is greater now.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import competitors
import drawn
import machine
import numpy as np
import shootout
from filelock import FileLock

from kernbrook.atomic import write_text
from kernbrook.reports import plot as drawing

STREAMS = (*shootout.LONG_CLASSES, *shootout.LONG_NUMBERS)
METHODS = ("kernbrook", *competitors.LONG, "arf")
DRAWN = 1_000_000  # rows of a stream that is drawn
CHUNK = 1000
LIMIT = 600.0
TENTHS = 10
ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "results" / "shootout_long.json"
PICTURES = {
    "files": shootout.LONG_CLASSES[:6],
    "drawn": shootout.LONG_CLASSES[6:],
    "numbers": shootout.LONG_NUMBERS,
}
NOT_HERE = ("labels", "page", "also", "seeds", "jobs", "scheduler", "only_cached")


def main(parser: argparse.ArgumentParser, given: argparse.Namespace, cache: Path) -> None:
    """Run what is missing, and store it; or draw what is stored."""
    for name in NOT_HERE:
        if getattr(given, name) != parser.get_default(name):
            parser.error(f"--{name.replace('_', '-')} does not go with --long")
    path = Path(given.json or STORED)
    if given.draw:
        if not path.exists():
            parser.error(f"--draw: {path} is not there: run --long first")
        there = {pair["stream"] for pair in json.loads(path.read_text("utf-8"))["pairs"]}
        for name, streams in PICTURES.items():
            chosen = [stream for stream in streams if stream in there]
            picture = given.pictures / f"shootout_long_{name}.svg"
            wanted = argparse.Namespace(draw=True, json=path, picture=picture)
            if chosen:
                machine.is_drawn(wanted, partial(draw, streams=chosen))
        return
    if given.rows and not given.json:
        parser.error("--rows needs --json FILE: the stored results are those of whole streams")
    if given.limit is not None and not given.limit > 0:
        parser.error(f"--limit: expected a positive number of seconds, got {given.limit:g}")
    limit = given.limit or LIMIT
    cache.mkdir(parents=True, exist_ok=True)
    store = Store(path, cache)
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    wanted = given.streams.split(",") if given.streams else STREAMS
    methods = without_missing(given.methods.split(",") if given.methods else METHODS, store)
    for stream in machine.present(wanted):
        task = shootout.task_of(stream)
        for method in methods:
            if method not in shootout.methods_of(task):
                continue
            rows = given.rows or (DRAWN if drawn.is_drawn(stream) else None)
            settings = shootout.settings_text(method, task)
            cell = shootout.Cell(method, stream, rows, 0, settings, None)
            if method not in given.fresh.split(",") and store.has(cell, limit):
                continue
            try:
                pair = alone(run, cache, cell, limit)
            except Exception as error:  # whatever a library of others raises; the next may run
                print(f"{method} {stream}: failed: {error!r}", file=sys.stderr, flush=True)
                continue
            store.add(pair, [method, task, shootout.in_words(settings)])
            print(f"{method} {stream}: {in_words(pair)}", file=sys.stderr, flush=True)


def without_missing(methods: Any, store: Store) -> list[str]:
    """Those methods that are installed; the others are named, and noted."""
    missing = {name: competitors.missing(name) for name in methods}
    for name, package in missing.items():
        if package:
            print(f"left out: {name} needs {package}, which is not installed")
    store.note_missing(missing)
    return [name for name, package in missing.items() if not package]


def alone(work: Any, *arguments: Any) -> Any:
    """What a function returns, in a process of its own that ends with it."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *arguments).result()


def run(cache: Path, cell: shootout.Cell, limit: float) -> dict[str, Any]:
    """One method on one stream."""
    data = shootout.prepared(cache, cell.stream, cell.rows)
    X, y, classes = data["X"], data["y"], int(data["classes"])
    estimator = shootout.made(cell, X, y, classes)
    unit = 0.01 if classes else float(y.var())
    parts: list[Any] = []
    reached, seconds = 0, 0.0
    while reached < len(y) and seconds <= limit:
        rows = slice(reached, reached + CHUNK)
        start = time.process_time()
        said = shootout.learned(estimator, X[rows], y[rows], classes)
        seconds += time.process_time() - start
        with np.errstate(over="ignore", invalid="ignore"):
            parts.append((said != y[rows] if classes else (said - y[rows]) ** 2) / unit)
        reached += len(said)
    losses = np.concatenate(parts)
    ends = [len(y) * tenth // TENTHS for tenth in range(TENTHS + 1)]
    whole = [slice(*pair) for pair in pairwise(ends) if pair[1] <= reached]
    return {
        "stream": cell.stream,
        "method": cell.method,
        "task": shootout.task_of(cell.stream),
        "asked": cell.rows,
        "rows": len(y),
        "reached": reached,
        "limit": limit,
        "error": finite(losses.mean()),
        "tenths": [finite(losses[part].mean()) for part in whole],
        "microseconds": 1e6 * seconds / reached,
        "bytes": finite(shootout.size(estimator)),
        "version": version(cell.method),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
    }


def finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def version(method: str) -> str:
    """Of the library that a method is of."""
    package = competitors.needed(method) or "kernbrook"
    return f"{package} {metadata.version(package)}"


def in_words(pair: dict[str, Any]) -> str:
    error = "diverged" if pair["error"] is None else f"{pair['error']:.3f}"
    text = f"{error}, {pair['microseconds']:.1f} us a row"
    return text if pair["reached"] == pair["rows"] else f"{text}, stopped at row {pair['reached']}"


class Store:
    """The file of results. Several runs may add to it at a time."""

    def __init__(self, path: Path, cache: Path):
        self.path, self.lock = path, FileLock(cache / f"{path.name}.lock")

    def read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"chunk": CHUNK, "missing": {}, "settings": [], "pairs": []}
        return json.loads(self.path.read_text("utf-8"))

    def has(self, cell: shootout.Cell, limit: float) -> bool:
        """Whether a pair need not be run: it came to its end, or to no smaller limit."""
        return any(
            (pair["stream"], pair["method"], pair["asked"]) == (cell.stream, cell.method, cell.rows)
            and (pair["reached"] == pair["rows"] or pair["limit"] >= limit)
            for pair in self.read()["pairs"]
        )

    def add(self, pair: dict[str, Any], settings: list[str]) -> None:
        """In the order of streams and methods; a pair replaces the one before it."""

        def place(one: dict[str, Any]) -> list[tuple[int, str]]:
            keys = ((one["stream"], STREAMS), (one["method"], METHODS))
            return [(known.index(k) if k in known else len(known), k) for k, known in keys]

        with self.lock:
            values = self.read()
            key = pair["stream"], pair["method"]
            rest = [one for one in values["pairs"] if (one["stream"], one["method"]) != key]
            values["pairs"] = sorted([*rest, pair], key=place)
            others = [one for one in values["settings"] if one[:2] != settings[:2]]
            values["settings"] = sorted([*others, settings])
            self._write(values)

    def note_missing(self, missing: dict[str, str | None]) -> None:
        """What was not installed in the run that asked for it last."""
        with self.lock:
            values = self.read()
            known = values["missing"] | missing
            values["missing"] = {name: package for name, package in known.items() if package}
            self._write(values)

    def _write(self, values: dict[str, Any]) -> None:
        write_text(self.path, json.dumps(values, indent=1) + "\n")


def draw(found: dict[str, Any], streams: list[str]) -> Any:
    """A panel for each stream: errors by tenths, as far as a method came."""
    pairs = [pair for pair in found["pairs"] if pair["stream"] in streams]
    pens = drawing.pens_of([*METHODS, *(pair["method"] for pair in found["pairs"])])
    known = {name: pen for name, pen in pens.items() if any(p["method"] == name for p in pairs)}
    with drawing.house_style():
        picture, panels = drawing.panels(len(streams), known, sharey=False)
        for axes, stream in zip(panels, streams, strict=True):
            axes.set_title(stream, loc="left")
            for pair in pairs:
                if pair["stream"] == stream and pair["tenths"]:
                    diverged = [error is None or error > 100 for error in pair["tenths"]]
                    tenths = np.where(diverged, np.nan, np.array(pair["tenths"], float))
                    x = [(i + 1) * pair["rows"] / TENTHS for i in range(len(tenths))]
                    axes.plot(x, tenths, **vars(pens[pair["method"]]))
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
            drawing.ticks(axes, narrow=True)
        picture.supxlabel("rows")
        numbers = shootout.task_of(streams[0]) == "regression"
        picture.supylabel("squared error / variance" if numbers else "mistakes in per cent")
    return picture
