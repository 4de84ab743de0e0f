"""What merging costs in error: models of 1, 2, 4, 8 shards, beside one that has a shard alone.

Shards are simulated: one process learns them one after the other, as `kb.distributed.fit` does
without a client; on a cluster the models are the same to the last bit. All rows of covtype but
10,000, and 2,000,000 of waveform, features of mean 0 and deviation 1; per cent wrong on 10,000
others. `1 round` merges once, at the end. `alone` is one shard's model, without merging.
`--costs` times a round of two workers on this machine: the bytes that the network carries, by the
counters of the loopback interface, beside (3 W + 1) S for models of S bytes, and seconds. `--draw`
draws what is stored.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import time
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import machine
import numpy as np
import pegasos

import kernbrook as kb
from kernbrook.distributed import crew_of
from kernbrook.reports import plot as drawing

ROWS = {"covtype": 571_012, "waveform": 2_000_000}
SHARDS = (1, 2, 4, 8)
ROUNDS = (1, 10)
KERNELS = [kb.Gaussian(sigma=2.0**power) for power in range(4)]
LEARNERS: dict[str, Any] = {
    "Ridge": kb.Ridge(features=kb.RandomFeatures(50)),
    "GradientDescent": kb.GradientDescent(
        0.5, "adagrad", loss="logistic", features=kb.RandomFeatures(50)
    ),
    "BPAS": kb.BPAS(100, aggressiveness=0.5),
    "BPAS and Ridge": [kb.BPAS(100, aggressiveness=0.5), kb.Ridge()],
}


def make(name: str) -> Any:
    return kb.OnlineMKClassifier(KERNELS, LEARNERS[name], scaling=None, random_state=0)


def error_of(model: Any, test: tuple[Any, Any]) -> float:
    return 100.0 * float((model.predict(test[0]) != test[1]).mean())


def errors(stream: str, name: str, train: tuple[Any, Any], test: tuple[Any, Any]) -> dict[str, Any]:
    """By shards: after one round, after more, and of a shard alone."""
    X, y = train
    classes, found = np.unique(y), {}
    for shards in SHARDS:
        own: dict[str, float] = {}
        for rounds in ROUNDS if shards > 1 else ROUNDS[:1]:
            model = kb.distributed.fit(make(name), train, rounds, shards=shards, classes=classes)
            own[str(rounds)] = error_of(model, test)
        if shards > 1:
            part = slice(0, len(y) // shards)
            model = kb.distributed.fit(make(name), (X[part], y[part]), classes=classes)
            own["alone"] = error_of(model, test)
        found[str(shards)] = own
        print(stream, name, shards, *(f"{key}: {one:.2f}" for key, one in own.items()), flush=True)
    return found


def draw(found: dict[str, Any]) -> Any:
    """A panel for each stream: errors against shards."""
    pens = {name: drawing.Pen(hue, "-") for name, hue in zip(LEARNERS, drawing.HUES, strict=False)}
    ways = {
        str(ROUNDS[0]): "-",
        str(ROUNDS[1]): drawing.DASHES[1],
        "alone": drawing.TRIVIAL_DASHES[0],
    }
    with drawing.house_style():
        picture, panels = drawing.panels(len(found["errors"]), pens, sharey=False)
        for axes, (stream, models) in zip(panels, found["errors"].items(), strict=True):
            axes.set_xscale("log")
            for name, own in models.items():
                for way, dash in ways.items():
                    points = {int(k): v.get(way, v["1"]) for k, v in own["errors"].items()}
                    pen = drawing.Pen(pens[name].color, dash)
                    axes.plot(list(points), list(points.values()), **vars(pen))
            drawing.ticks(axes, narrow=True)
            axes.set_title(stream)
            axes.set_xticks(SHARDS, [str(count) for count in SHARDS])
            axes.xaxis.minorticks_off()
            axes.set_xlabel("shards")
        panels[0].set_ylabel("per cent wrong")
    return picture


def sent() -> int:
    """Bytes that the loopback interface has sent so far."""
    import psutil

    counters = psutil.net_io_counters(pernic=True)
    return sum(own.bytes_sent for name, own in counters.items() if name.startswith("lo"))


def in_files(folder: Path, X: Any, y: Any, parts: int) -> Path:
    """Rows as Parquet files, which the network does not carry."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    for i, own in enumerate(np.array_split(np.arange(len(y)), parts)):
        columns = {f"x{j}": X[own, j] for j in range(X.shape[1])} | {"label": y[own]}
        write_table(pa.table(columns), folder / f"{i}.parquet")
    return folder


def costs(rows: int, workers: int = 2) -> list[dict[str, Any]]:
    """Of one round of models that have learned before."""
    X, y = pegasos.split_of("waveform", 2 * rows).train.read()
    classes, found = np.unique(y), []
    models = {**{name: make(name) for name in LEARNERS}, "default": kb.OnlineMKClassifier()}
    crew = crew_of(f"local:{workers}")
    with TemporaryDirectory() as place:
        folder = in_files(Path(place), X[rows:], y[rows:], workers)
        for name, model in models.items():
            model.set_params(random_state=0).fit(X[:rows], y[:rows])
            told = {"classes": classes, "client": crew.client}
            kb.distributed.fit(deepcopy(model), folder, **told)  # compiled
            before, start = sent(), time.perf_counter()
            kb.distributed.fit(deepcopy(model), folder, **told)
            seconds, carried = time.perf_counter() - start, sent() - before
            size, start = len(pickle.dumps(model)), time.process_time()
            deepcopy(model).partial_fit(X[rows:], y[rows:])
            row = (time.process_time() - start) / rows
            merging = {str(count): merged(model, X[rows:], y[rows:], count) for count in (2, 100)}
            found.append({
                "model": name, "size": size, "formula": (3 * workers + 1) * size,
                "carried": carried, "seconds": seconds, "merging": merging, "row": row,
            })  # fmt: skip
            print(found[-1], flush=True)
    return found


def merged(model: Any, X: Any, y: Any, count: int) -> float:
    """Seconds to merge so many copies that have learned apart."""
    parts = [deepcopy(model).partial_fit(X[i::count], y[i::count]) for i in range(count)]
    start = time.perf_counter()
    parts[0].merge(*parts[1:], since=model)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="of each stream, at most")
    parser.add_argument("--data", default="covtype,waveform")
    parser.add_argument("--models", default=",".join(LEARNERS))
    parser.add_argument("--costs", action="store_true")
    machine.add_picture(parser, "shards")
    arguments = parser.parse_args()
    if machine.is_drawn(arguments, draw):
        return
    print(machine.describe())
    found = {} if not arguments.json.exists() else json.loads(arguments.json.read_text("utf-8"))
    found["machine"] = machine.describe()
    if arguments.costs:
        found["costs"] = costs(arguments.rows or 50_000)
        lines = [[str(value) for value in own.values()] for own in found["costs"]]
        print(machine.table(list(found["costs"][0]), lines))
    else:
        os.environ["OMP_NUM_THREADS"] = "1"
        for stream in arguments.data.split(","):
            rows = min(arguments.rows or ROWS[stream], ROWS[stream])
            split = pegasos.split_of(stream, rows)
            train, test = split.train.read(), split.test.read()
            for name in arguments.models.split(","):
                own = errors(stream, name, train, test)
                own_rows = {"rows": len(train[1]), "errors": own}
                found.setdefault("errors", {}).setdefault(stream, {})[name] = own_rows
                arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
