"""Our side of the table of peers.md: processor seconds of learning, one core, and errors.

pools: 16 kernels, B = 100, on a9a (32,561 rows, CSR), as the recipes are, and with the settings
that the C++ has. one: one Gaussian on a9a (RBP) and on binary covtype (BPAS; 100,000 rows,
standardised). merging: multi-class Pegasos with merging, B = 100, of the widths of the paper's
table 1. raker: 17 kernels on 50 random frequencies each. voted: 10 polynomials on rows of length
1, with SVC of scikit-learn beside, once for each polynomial.

Errors are online mistakes in per cent, for merging and voted those on up to 10,000 and 5,000 rows
held out, for raker the mean squared error x 1000. Least seconds of some runs. `--write FOLDER`
writes the rows as text that the peers read, and learns nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import budgets
import machine
import numpy as np
import pegasos
import scipy.sparse as sp
import voted
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import kernbrook as kb
from kernbrook.papers import published
from kernbrook.papers.bpegasos import GENERATORS

COVTYPE = 100_000
MERGING = {"checkerboard": 50_000, "waveform": 20_000, "covtype": 20_000, "letter": 10_000}
NUMBERS = ("tomshardware", "energy")
VOTED = (1000, 2000, 4000)
HELD_OUT = 5000  # rows of magic04
DIGITS = 6  # in text: the C++ of LIBOL reads no more than nine of a number
POOLS = ("rbp", "bpas", "bogd", "forgetron", "projectron++")


class Measured(NamedTuple):
    """Least processor seconds, and an error in the unit of its part."""

    part: str
    data: str
    learner: str
    rows: int
    seconds: float
    error: float


Work = Callable[[], tuple[float, float]]  # processor seconds, and an error


def least(work: Work, repeats: int) -> tuple[float, float]:
    """Of some runs the quickest; the error is that of the last."""
    found = [work() for _ in range(repeats)]
    return min(seconds for seconds, _ in found), found[-1][1]


def timed(learn: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = learn()
    return time.process_time() - start, result


def online(model: Callable[[], Any], X: Any, y: Any) -> Work:
    def work() -> tuple[float, float]:
        found = budgets.run(model(), X, y)
        return found["processor"], found["error"]

    budgets.run(model(), X[:1000], y[:1000])  # compiled
    return work


def pool(learner: Any) -> Callable[[], Any]:
    """With the votes and weights of the C++: signs, and a discount for each mistake."""
    settings = {"scaling": None, "random_state": 0}
    return lambda: kb.OnlineMKClassifier("omkc16", learner, kb.Hedge(0.99), **settings)


def recipe(name: str, **settings: Any) -> Callable[[], Any]:
    return lambda: kb.recipes.make(name, random_state=0, **settings)


def pools(rows: int | None, repeats: int) -> Iterator[Measured]:
    X, y = a9a(rows)
    models = {name: recipe(name, budget=100, kernels="omkc16") for name in POOLS}
    models["bpas, sign votes"] = pool(kb.BPAS(100, 0.1))
    models["bogd, oldest, lambda .1"] = pool(kb.BOGD(100, 0.1, 0.1))
    for name, model in models.items():
        yield Measured("pools", "a9a", name, len(y), *least(online(model, X, y), repeats))


def one(rows: int | None, repeats: int) -> Iterator[Measured]:
    parts = [("a9a", "rbp", 0.05, a9a(rows)), ("covtype", "bpas", 1 / 54, covtype(rows))]
    for data, name, gamma, (X, y) in parts:
        for budget in (100, 500, 1000):
            model = recipe(name, budget=budget, kernels=[kb.Gaussian(gamma=gamma)])
            found = least(online(model, X, y), repeats)
            yield Measured("one", data, f"{name}, B = {budget}", len(y), *found)


def merging(rows: int | None, repeats: int) -> Iterator[Measured]:
    for name in present(MERGING):
        wanted = min(rows or MERGING[name], MERGING[name])
        split = pegasos.split_of(name, wanted)
        X, y = split.test.read()
        settings = "merge", 100, width_of(name), X.shape[1]

        def work(settings: Any = settings, split: Any = split, test: Any = (X, y)) -> Any:
            model = pegasos.make(*settings)
            cost = pegasos.learn(model, split, split.train.n_rows)
            return cost.processor, 100 * float(np.mean(model.predict(test[0]) != test[1]))

        pegasos.learn(pegasos.make(*settings), split, pegasos.CHUNK)  # compiled
        yield Measured("merging", name, "B = 100", wanted, *least(work, repeats))


def raker(rows: int | None, repeats: int) -> Iterator[Measured]:
    for name in present(NUMBERS):
        X, y = kb.open_stream(name).read()
        X, y = machine.dense(X)[:rows], y[:rows]
        model = recipe("raker", normalize=True, regularization=0.001)

        def work(model: Any = model, X: Any = X, y: Any = y) -> tuple[float, float]:
            learner = model()
            seconds, (predicted, _) = timed(lambda: learner.learn(X, y))
            return seconds, 1000 * float(np.mean((predicted - y) ** 2))

        model().learn(X[:600], y[:600])  # compiled
        yield Measured("raker", name, "17 x 50", len(y), *least(work, repeats))


def vkr(rows: int | None, repeats: int) -> Iterator[Measured]:
    X, y = machine.read("magic04")
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    test = X[-HELD_OUT:], y[-HELD_OUT:]
    learners = {
        f"lam = beta = {price:g}": [
            kb.VotedKernelClassifier(voted.POLYNOMIALS, lam=price, beta=price, unit_length=True)
        ]
        for price in (0.01, 0.0001)
    }
    learners["10 SVC, best on rows held out"] = ten_svc()
    for n in VOTED:
        n = min(rows or n, n)
        for name, models in learners.items():

            def work(models: list[Any] = models, n: int = n) -> tuple[float, float]:
                seconds = sum(voted.fitting(model, X[:n], y[:n]) for model in models)
                errors = [np.mean(model.predict(test[0]) != test[1]) for model in models]
                return seconds, 100 * float(min(errors))

            yield Measured("voted", "magic04", name, n, *least(work, repeats))


def ten_svc() -> list[SVC]:
    """One for each of the polynomials (x.z + 1)^k."""
    return [SVC(kernel="poly", degree=k, gamma=1, coef0=1) for k in range(1, 11)]


def a9a(rows: int | None) -> tuple[Any, Any]:
    X, y = kb.open_stream("a9a").read()
    end = min(rows or budgets.ROWS, budgets.ROWS)
    return X[:end], y[:end]


def covtype(rows: int | None) -> tuple[Any, Any]:
    X, y = budgets.covtype(min(rows or COVTYPE, COVTYPE))
    return X, np.where(y == y.max(), 1, -1)


def width_of(name: str) -> float:
    """Of the Gaussian, from the paper's table 1: gamma is the width over the number of features."""
    for row in published("bpegasos-table-1").printed():
        if row.data == name and row.settings.get("budget") == 100:
            return row.number("width")
    raise ValueError(f"table 1 has no {name}")


def present(names: Any) -> list[str]:
    return [name for name in names if name in GENERATORS or not machine.data_missing(name)]


PARTS = {
    "pools": (pools, ("a9a",)),
    "one": (one, ("a9a", "covtype")),
    "merging": (merging, ()),
    "raker": (raker, ()),
    "voted": (vkr, ("magic04",)),
}


def write(folder: Path, rows: int | None) -> None:
    """The rows of pools, one and merging as svmlight text; those of raker as .npz."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = {"a9a": a9a, "covtype": covtype}
    sets = {name: sets[name](rows) for name in present(sets)}
    if "covtype" in sets:
        sets["covtype-binary"] = sets.pop("covtype")
    for name in present(MERGING):
        split = pegasos.split_of(name, min(rows or MERGING[name], MERGING[name]))
        sets[name], sets[f"{name}-test"] = split.train.read(), split.test.read()
    for name, (X, y) in sets.items():
        with (folder / f"{name}.txt").open("w", encoding="utf-8") as file:
            for row, label in zip(sp.csr_array(X), y, strict=True):
                pairs = zip(row.indices, row.data, strict=True)
                text = " ".join(f"{place + 1}:{value:.{DIGITS}g}" for place, value in pairs)
                file.write(f"{label:.0f} {text}\n")
    for name in present(NUMBERS):
        X, y = kb.open_stream(name).read()
        np.savez(folder / f"{name}.npz", X=machine.dense(X)[:rows], y=y[:rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="of each part at most")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--json", type=Path, help="a file to store the results in")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if arguments.write:
        write(arguments.write, arguments.rows)
        return
    found: list[Measured] = []
    print(machine.describe())
    with threadpool_limits(1):
        for name in arguments.only.split(","):
            measure, data = PARTS[name]
            if not any(machine.data_missing(one) for one in data):
                for row in measure(arguments.rows, arguments.repeats):
                    print(f"{row.part} {row.data} {row.learner}: {row.seconds:.3f} s", flush=True)
                    found.append(row)
    lines = [[*row[:3], f"{row.rows:,}", f"{row.seconds:.3f}", f"{row.error:.2f}"] for row in found]
    print(machine.table(["part", "data", "learner", "rows", "cpu s", "error"], lines))
    if arguments.json:
        stored = {"machine": machine.describe(), "rows": [row._asdict() for row in found]}
        arguments.json.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
