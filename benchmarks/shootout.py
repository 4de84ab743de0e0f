"""Ours beside what users would pick instead: equal rows, one pass, paired tests.

    python benchmarks/shootout.py --cache FOLDER [--page docs/shootout.md]
    python benchmarks/shootout.py --labels 48,500,frozen --cache FOLDER --page docs/shootout_late.md
    python benchmarks/shootout.py --long --limit SECONDS [--streams A,B] [--methods A,B] [--draw]

Each label is predicted before it is learned from. The streams are the first ROWS rows of each, in
their own order, but for those whose file is grouped by class: these are shuffled with seed 0.

Where labels come every 48 rows, the rows until then are predicted by what was learned before; the
first 48 do not count, of which nobody knows anything. A frozen method learns the first half of the
rows and predicts the second, whose labels it never sees.

A cell is one method, stream and seed. It runs in a process of its own, with one thread. Processor
time is that of predicting and learning; a copy of the method learns 50 rows before, so that
imports and compiling are not counted. Memory is `memory_bytes_` of our own estimators, and the
length of the pickle of others. Several seeds are for methods that draw, and are averaged.

Cells are kept in the cache folder: a bit for each row of classes, a float for each of numbers. They
are known by method, stream, rows, seed and settings, not by the code of this library: after a
change of it, `--fresh kernbrook` runs ours anew. A cell of more rows serves for fewer; seconds and
bytes are then those of more.

Two methods tie on a stream where the mean difference of their losses is less than 2 standard
errors: over rows for mistakes, over means of 50 rows for squared errors. A rank is 1, plus 1 for
each method that is better, plus 1/2 for each that ties; it is given to methods that ran on all the
streams. Won, tied and lost are the streams on which ours errs less, as much, or more. Times and
megabytes are means over the streams that a method ran on. An empty cell was not run, or failed:
River's SRP ends in a RecursionError on energy and tomshardware.

With `--long`, whole files and 1,000,000 drawn rows: see long_runs.py.

FILE.py of `--also` defines METHODS = {name: function(seed, n_features, classes) -> estimator},
with `learn(X, y) -> (predictions, asked)`; classes is 0 for numbers, else their number, and labels
are the numbers from 0. None instead of an estimator leaves the method out.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import html
import inspect
import json
import math
import multiprocessing
import os
import pickle
import re
import runpy
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import competitors
import drawn
import machine
import numpy as np

from kernbrook.evaluation.parallel import client_of

CLASSES = (
    *("elec2", "weather", "phishing_stream", "covtype", "letter"),
    *("magic04", "a9a", "cod-rna", "skin_nonskin"),
)
NUMBERS = ("energy", "twitter", "tomshardware", "kin8nm", "friedman")
LONG_CLASSES = (
    *("covtype", "covtype-shuffled", "skin_nonskin", "a9a", "cod-rna", "elec2"),
    *("random-tree", "waveform", "hyperplane", "random-tree-drift"),
)
LONG_NUMBERS = ("twitter", "friedman-drift")
ROWS = {"classification": 10_000, "regression": 8_000}
BLOCK = 50  # rows of a mean, where errors of numbers are compared


class Cell(NamedTuple):
    """`settings` tells apart what has the same name; `also` is the file that makes the method.

    rows : None for all
    """

    method: str
    stream: str
    rows: int | None
    seed: int
    settings: str
    also: str | None
    labels: str = "1"


class Ran(NamedTuple):
    """losses : (rows,), mistakes or squared errors; seconds : of a processor, for 1,000 rows.

    seeds : of which these are the means
    """

    losses: Any
    seconds: float
    bytes: float
    seeds: int = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", help="with commas; others than the usual are of classes")
    parser.add_argument("--methods", help="with commas; all but the papers' by default")
    parser.add_argument("--ours", default="kernbrook", help="whose wins are counted")
    parser.add_argument("--also", help="FILE.py with more METHODS, which are all added")
    parser.add_argument("--labels", default="1", help="rows between labels: 1,48,500,frozen")
    parser.add_argument("--rows", type=int, help="10,000 by default, 8,000 of numbers")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cache", default=".shootout", help="a folder, made where missing")
    parser.add_argument("--fresh", default="", help="methods to run anew")
    parser.add_argument("--only-cached", action="store_true", help="run nothing")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--scheduler", help="a Dask cluster that sees the cache: tcp://HOST:PORT")
    parser.add_argument("--json", help="FILE to write")
    parser.add_argument("--page", help="FILE to write, .md or .html")
    parser.add_argument("--long", action="store_true", help="whole streams, into one file")
    parser.add_argument("--limit", type=float, help="with --long: seconds of a processor for each")
    parser.add_argument("--draw", action="store_true", help="with --long: what is stored, and end")
    pictures = Path(__file__).resolve().parents[1] / "docs" / "pictures"
    parser.add_argument("--pictures", type=Path, default=pictures, help="where to draw")
    given = parser.parse_args()
    known = {*competitors.CLASSES, *competitors.NUMBERS}
    for name in given.methods.split(",") if given.methods else ():
        if name not in known:
            parser.error(f"--methods: no {name}; there are {', '.join(sorted(known))}")
    cache = Path(given.cache).absolute()
    if given.long:
        import long_runs

        long_runs.main(parser, given, cache)
        return
    for name in ("limit", "draw", "pictures"):
        if getattr(given, name) != parser.get_default(name):
            parser.error(f"--{name} goes with --long")
    cache.mkdir(parents=True, exist_ok=True)
    streams = machine.present(given.streams.split(",") if given.streams else [*CLASSES, *NUMBERS])
    tables: list[Table] = []
    settings: list[tuple[str, str]] = []
    tasks = ("classification", "regression")
    for labels, task in ((labels, task) for labels in given.labels.split(",") for task in tasks):
        names = [name for name in streams if task_of(name) == task]
        if names:
            rows = given.rows or ROWS[task]
            data = {name: prepared(cache, name, rows) for name in names}
            cells = [cell._replace(labels=labels) for cell in cells_of(task, names, rows, given)]
            fill(cache, cells, given)
            tables.append(Table(task, data, gathered(cache, cells), given.ours, labels))
            ran = {(c.method, c.settings): None for c in cells if c.method in tables[-1].methods}
            settings += [pair for pair in ran if pair not in settings]
    about = machine.describe()
    for table in tables:
        for title, rows_ in table.parts():
            print(f"\n{title}\n{machine.table(rows_[0], rows_[1:])}")
    print(f"\n{about}")
    if given.json:
        values = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": about.splitlines(),
            "settings": [[method, in_words(text)] for method, text in settings],
            "tables": [table.as_json() for table in tables],
        }
        Path(given.json).write_text(json.dumps(values, indent=1) + "\n")
    if given.page:
        write_page(Path(given.page), tables, settings, about)


# Streams


def task_of(name: str) -> str:
    return "regression" if name in (*NUMBERS, *LONG_NUMBERS) else "classification"


def prepared(cache: Path, name: str, rows: int | None) -> dict[str, Any]:
    """X, dense, y and the number of classes, 0 for numbers; kept, since some files are large.

    rows : None for all
    """
    path = cache / f"rows-{name}-{rows or 'all'}.npz"
    if not path.exists():
        # Of a file, all classes are known ahead.
        whole = rows is None or (task_of(name) == "classification" and not drawn.is_drawn(name))
        X, y = machine.read(name if whole else f"{name}:{rows}")
        classes = 0
        if task_of(name) == "classification":
            known, y = np.unique(y, return_inverse=True)
            classes = len(known)
        X = machine.dense(X[:rows])
        save(path, X=np.asarray(X, float), y=y[:rows], classes=classes)
    return dict(np.load(path))


def save(path: Path, **arrays: Any) -> None:
    """The file appears whole: other processes may read it."""
    part = path.with_name(f".{os.getpid()}-{path.name}")
    np.savez(part, **arrays)
    part.replace(path)


# Cells


def methods_of(task: str) -> dict[str, competitors.Made]:
    return competitors.CLASSES if task == "classification" else competitors.NUMBERS


def cells_of(task: str, streams: list[str], rows: int, given: Any) -> list[Cell]:
    known = methods_of(task)
    usual = [name for name in known if name not in competitors.ON_REQUEST]
    methods = [name for name in (given.methods or ",".join(usual)).split(",") if name in known]
    cells = []
    for stream in streams:
        for name in methods:
            seeds = given.seeds if name in competitors.DRAWS else 1
            settings = settings_text(name, task)
            cells += [Cell(name, stream, rows, seed, settings, None) for seed in range(seeds)]
        for name, make in (also(given.also) if given.also else {}).items():
            text = settings_of(make, task, given.also)
            seeds = given.seeds if text is not None else 0
            cells += [Cell(name, stream, rows, seed, text, given.also) for seed in range(seeds)]
    return cells


def also(path: str) -> dict[str, competitors.Made]:
    return runpy.run_path(path)["METHODS"]


def settings_text(name: str, task: str) -> str:
    """Of a method: in words, or else its parameters."""
    return competitors.SETTINGS.get(name) or str(settings_of(methods_of(task)[name], task))


def settings_of(make: competitors.Made, task: str, path: str | None = None) -> str | None:
    """The estimator's parameters in words, or else its file; None: there is no such estimator."""
    estimator = make(0, 5, 2 if task == "classification" else 0)
    if estimator is None:
        return None
    if hasattr(estimator, "get_params"):
        text = str(sorted(estimator.get_params(deep=True).items(), key=lambda item: item[0]))
        if " at 0x" not in text:
            return text
    return Path(path).read_text() if path else type(estimator).__name__


def path_of(cache: Path, cell: Cell) -> Path:
    code = hashlib.sha256(cell.settings.encode()).hexdigest()[:10]
    late = "" if cell.labels == "1" else f"late{cell.labels}-"
    return cache / f"{late}{cell.stream}-{cell.method}-{code}-{cell.rows}-{cell.seed}.npz"


def kept(cache: Path, cell: Cell) -> Path | None:
    """Where the cell is kept, or one of more rows."""
    exact = path_of(cache, cell)
    if exact.exists():
        return exact
    if cell.labels == "frozen":  # half of more rows are other rows
        return None
    pattern = exact.name.replace(f"-{cell.rows}-{cell.seed}.npz", f"-*-{cell.seed}.npz")
    more = {int(path.stem.split("-")[-2]): path for path in cache.glob(pattern)}
    longer = [rows for rows in more if cell.rows and rows > cell.rows]
    return more[min(longer)] if longer else None


def fill(cache: Path, cells: list[Cell], given: Any) -> None:
    """Run the cells that are missing."""
    if given.only_cached:
        return
    fresh = given.fresh.split(",")
    missing = [cell for cell in cells if cell.method in fresh or kept(cache, cell) is None]
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with pool_of(given) as pool:
        running = {pool.submit(run, cache, cell): cell for cell in missing}
        for i, done in enumerate(as_completed(running), start=1):
            cell, error = running[done], done.exception()
            text = f"failed: {error!r}" if error else done.result()
            print(
                f"{i}/{len(missing)} {cell.method} {cell.stream} seed {cell.seed}: {text}",
                file=sys.stderr,
                flush=True,
            )


def pool_of(given: Any) -> Executor:
    """Processes of this machine, one for each cell, or the workers of a cluster."""
    if given.scheduler is None:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(given.jobs, mp_context=context, max_tasks_per_child=1)
    client = client_of(given.scheduler)
    for module in (machine, competitors):
        client.upload_file(module.__file__)
    return client.get_executor(pure=False)


def run(cache: Path, cell: Cell) -> str:
    """Run one cell and keep it."""
    data = prepared(cache, cell.stream, cell.rows)
    X, y, classes = data["X"], data["y"], int(data["classes"])
    estimator = made(cell, X, y, classes)
    start = time.process_time()
    predictions = said(estimator, X, y, classes, cell.labels)
    y = y[len(y) - len(predictions) :]
    seconds = 1000 * (time.process_time() - start) / len(y)
    path, held = path_of(cache, cell), size(estimator)
    if classes:
        losses = predictions != y
        save(path, bits=np.packbits(losses), rows=len(y), seconds=seconds, bytes=held)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            losses = ((predictions - y) ** 2).astype(np.float32)
        save(path, squares=losses, seconds=seconds, bytes=held)
    return f"{losses.mean():.4f}, {seconds:.2f} s for 1,000 rows"


def made(cell: Cell, X: Any, y: Any, classes: int) -> Any:
    """The estimator, after a copy of it has learned some rows."""
    make = (
        also(cell.also)[cell.method] if cell.also else methods_of(task_of(cell.stream))[cell.method]
    )
    trial, estimator = (make(cell.seed, X.shape[1], classes) for _ in range(2))
    for rows in (slice(25), slice(25, 50)):
        learned(trial, X[rows], y[rows], classes)
    return estimator


def said(estimator: Any, X: Any, y: Any, classes: int, labels: str) -> Any:
    """What is predicted before the labels come; of a frozen method, of the second half."""
    if labels == "1":
        return learned(estimator, X, y, classes)
    step = len(y) // 2 if labels == "frozen" else int(labels)
    found = []
    for start in range(0, len(y), step):
        rows = slice(start, start + step)
        if start:
            found.append(predicted(estimator, X[rows], labels == "frozen"))
            if labels == "frozen":
                break
        said = learned(estimator, X[rows], y[rows], classes)
        if not start:
            found.append(said[:1].repeat(len(said)))  # which do not count
    return found[1] if labels == "frozen" else np.concatenate(found)


def predicted(estimator: Any, X: Any, frozen: bool) -> Any:
    """What is said of rows in their order, of which no label is known."""
    if hasattr(estimator, "predicted"):
        return estimator.predicted(X)
    if frozen and "delay" in getattr(estimator, "get_params", dict)():
        estimator.delay = math.inf
    return estimator.predict(X)


def learned(estimator: Any, X: Any, y: Any, classes: int) -> Any:
    told = classes and "classes" in inspect.signature(estimator.learn).parameters
    return estimator.learn(X, y, **({"classes": np.arange(classes)} if told else {}))[0]


def size(estimator: Any) -> float:
    """Bytes; NaN of what cannot be pickled."""
    if hasattr(estimator, "memory_bytes_"):
        return float(estimator.memory_bytes_)
    try:
        return float(len(pickle.dumps(estimator)))
    except Exception:  # whatever a class of others raises
        return float("nan")


def first_counted(labels: str) -> int:
    """The row from which on errors count, in what a cell has."""
    return int(labels) if labels.isdigit() and labels != "1" else 0


def gathered(cache: Path, cells: list[Cell]) -> dict[tuple[str, str], Ran]:
    """By stream and method, the means over seeds of the cells that are there."""
    found: dict[tuple[str, str], list[Ran]] = {}
    for cell in cells:
        path = kept(cache, cell)
        if path is not None:
            with np.load(path) as file:
                if "bits" in file:
                    losses = np.unpackbits(file["bits"], count=int(file["rows"])).astype(float)
                else:
                    losses = file["squares"].astype(float)
                losses = losses[first_counted(cell.labels) : cell.rows]
                ran = Ran(losses, float(file["seconds"]), float(file["bytes"]))
            found.setdefault((cell.stream, cell.method), []).append(ran)
    return {
        key: Ran(
            *(np.mean(column, axis=0) for column in list(zip(*rans, strict=True))[:3]), len(rans)
        )
        for key, rans in found.items()
    }


# Comparisons


def z_value(one: Any, other: Any, block: int) -> float:
    """The mean difference of two losses in standard errors; blocks of rows are averaged."""
    difference = one - other
    rows = len(difference) // block * block
    means = difference[:rows].reshape(-1, block).mean(1)
    error = means.std(ddof=1) / np.sqrt(len(means))
    return float(difference.mean() / error) if error > 0 else 0.0


class Table:
    """What was found on the streams of one task."""

    def __init__(self, task: str, data: dict[str, Any], found: Any, ours: str, labels: str = "1"):
        self.task, self.data, self.found, self.ours = task, data, found, ours
        self.labels = labels
        self.streams = list(data)
        self.methods = list(dict.fromkeys(method for _, method in found))
        self.block = 1 if task == "classification" else BLOCK

    def error(self, stream: str, method: str) -> float:
        """Mistakes in per cent, or the mean squared error over the variance of y; NaN: not run."""
        if (stream, method) not in self.found:
            return float("nan")
        loss = float(self.found[stream, method].losses.mean())
        return (
            100 * loss if self.task == "classification" else loss / float(self._met(stream).var())
        )

    def _met(self, stream: str) -> Any:
        """The labels of the rows that were predicted."""
        y = self.data[stream]["y"]
        return y[len(y) // 2 if self.labels == "frozen" else first_counted(self.labels) :]

    def shown(self, stream: str, method: str) -> str:
        error = self.error(stream, method)
        if (stream, method) not in self.found:
            return ""
        if self.diverged(stream, method):
            return "diverged"
        text = f"{error:.2f}" if self.task == "classification" else f"{error:.4f}"
        best = np.nanmin([self.error(stream, other) for other in self.methods])
        return f"**{text}**" if error == best else text

    def diverged(self, stream: str, method: str) -> bool:
        error = self.error(stream, method)
        return not np.isfinite(error) or error > 100

    def z(self, stream: str, one: str, other: str) -> float:
        """Of the difference of losses; what diverged loses."""
        gone = [self.diverged(stream, method) for method in (one, other)]
        if any(gone):
            return 0.0 if all(gone) else np.inf if gone[0] else -np.inf
        losses = [self.found[stream, method].losses for method in (one, other)]
        return z_value(*losses, self.block)

    def against(self, other: str) -> tuple[int, int, int]:
        """Streams on which ours wins, ties, loses."""
        both = [s for s in self.streams if {(s, self.ours), (s, other)} <= set(self.found)]
        z = [self.z(stream, self.ours, other) for stream in both]
        won, lost = sum(value <= -2 for value in z), sum(value >= 2 for value in z)
        return won, len(z) - won - lost, lost

    def rank(self, method: str) -> float:
        """The mean rank among the methods that ran on all streams; NaN for the others."""
        whole = [m for m in self.methods if all((s, m) in self.found for s in self.streams)]
        if method not in whole:
            return float("nan")
        ranks = []
        for stream in self.streams:
            z = [self.z(stream, method, other) for other in whole if other != method]
            ranks.append(1 + sum(v >= 2 for v in z) + 0.5 * sum(abs(v) < 2 for v in z))
        return float(np.mean(ranks))

    def mean(self, what: str, method: str) -> float:
        return float(np.mean([getattr(r, what) for (_, m), r in self.found.items() if m == method]))

    def parts(self) -> list[tuple[str, list[list[str]]]]:
        """Titles, each with rows of cells, the first of which is a header."""
        lengths = [len(data["y"]) for data in self.data.values()]
        rows = f"first {max(lengths):,} rows"
        for name, length in zip(self.streams, lengths, strict=True):
            rows += f", {length:,} of {name}" if length < max(lengths) else ""
        unit = {
            "classification": "mistakes in per cent",
            "regression": "squared error over variance of y",
        }
        ends = ("won, tied, lost", "rank", "ms a row", "MB")
        lines = [["", *self.streams, *ends]]
        for method in self.methods:
            counts = "" if method == self.ours else "-".join(map(str, self.against(method)))
            rank, size = self.rank(method), self.mean("bytes", method) / 1e6
            seeds = max(ran.seeds for (_, m), ran in self.found.items() if m == method)
            lines.append(
                [
                    f"{method}, {seeds} seeds" if seeds > 1 else method,
                    *(self.shown(stream, method) for stream in self.streams),
                    counts,
                    "" if np.isnan(rank) else f"{rank:.2f}",
                    f"{self.mean('seconds', method):.3f}",
                    "" if np.isnan(size) else f"{size:.2f}",
                ]
            )
        late = {"1": "", "frozen": ", frozen after half of them"}
        when = late.get(self.labels, f", labels every {self.labels} rows")
        return [(f"{unit[self.task].capitalize()}, {rows}{when}", lines)]

    def as_json(self) -> dict[str, Any]:
        """NaN and infinity are null."""
        cells = [
            {
                "stream": stream,
                "method": method,
                "error": self.error(stream, method),
                "z": self.z(stream, self.ours, method) if (stream, self.ours) in self.found else 0,
                "seconds": ran.seconds,
                "bytes": ran.bytes,
            }
            for (stream, method), ran in self.found.items()
        ]
        for cell in cells:
            for key, value in cell.items():
                if isinstance(value, float):
                    cell[key] = float(value) if np.isfinite(value) else None
        return {
            "task": self.task,
            "labels": self.labels,
            "ours": self.ours,
            "rows": {name: len(data["y"]) for name, data in self.data.items()},
            "against": {m: self.against(m) for m in self.methods if m != self.ours},
            "cells": cells,
        }


# The page


def write_page(
    path: Path, tables: list[Table], settings: list[tuple[str, str]], about: str
) -> None:
    parts = [part for table in tables for part in table.parts()]
    late = all(table.labels != "1" for table in tables)
    own = [pair for pair in settings if not late or pair[0] in competitors.LATE]
    words = [["method", "settings"], *([method, in_words(text)] for method, text in own)]
    title = "Shoot-out, labels that come late" if late else "Shoot-out"
    parts.append(("Settings", words))
    if path.suffix == ".md":
        path.write_text(markdown(title, parts, about, late))
    else:
        path.write_text(page(title, parts, about))


def in_words(settings: str) -> str:
    """Parameters as they are written in Python; other text as it is."""
    try:
        return ", ".join(f"{name}={value!r}" for name, value in ast.literal_eval(settings))
    except (SyntaxError, ValueError):
        return settings


def markdown(head: str, parts: list[tuple[str, list[list[str]]]], about: str, late: bool) -> str:
    """The page; where labels are late, another page has said what is the same."""
    head_line, *common = notes()
    own = [text for text in common if text.startswith("Where labels come every") == late]
    if late:
        own += ["Streams, cells, ties, ranks, settings: see [the shoot-out](shootout.md)."]
    else:
        own += ["Whole files and a million rows: [long streams](shootout_long.md)."]
    lines = [line for text in (f"# {head}", head_line, *own) for line in (text, "")]
    for title, rows in parts:
        lines += [f"## {title}", ""]
        lines += [f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]]]
        lines.append("")
    return "\n".join([*lines, "```", about, "```", ""])


def page(head: str, parts: list[tuple[str, list[list[str]]]], about: str) -> str:
    lines = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{head}</title>',
        "<style>body{font:15px sans-serif;margin:2em}td,th{padding:.2em .6em;text-align:right}",
        f"td:first-child{{text-align:left}}</style><h1>{head}</h1>",
        *(f"<p>{html.escape(text)}</p>" for text in notes()),
    ]
    for title, rows in parts:
        lines.append(f"<h2>{html.escape(title)}</h2><table>")
        for row in rows:
            cells = [re.sub(r"\*\*(.*)\*\*", r"<b>\1</b>", html.escape(cell)) for cell in row]
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        lines.append("</table>")
    return "\n".join([*lines, f"<pre>{html.escape(about)}</pre></html>", ""])


def notes() -> list[str]:
    """What the page says of the protocol: paragraphs of the docstring."""
    paragraphs = (__doc__ or "").strip().split("\n\n")
    said = [" ".join(text.split()) for text in paragraphs]
    return [said[0], *(text for text in said[2:] if "--" not in text)]


if __name__ == "__main__":
    main()
