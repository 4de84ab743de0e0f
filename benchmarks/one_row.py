"""Microseconds of one row at a time: learn_one and predict_one, beside River where it is there.

    python benchmarks/one_row.py [--repeats N]

The least of the repeats, of 500 rows each; ours after 1,000 rows, so that budgets are full. Then of
the defaults on real rows from the first one on, predict_one and learn_one in turn, how long the
slowest rows take: CPU time of the process, each row once; and the same of records through a
TableModel. Then microseconds of partial_fit and
predict for chunks of few rows, beside what scikit-learn takes to look at such chunks
(validate_data).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import machine
import numpy as np
from sklearn.utils.validation import validate_data

import kernbrook as kb

FEATURES, ROWS, TOGETHER = 8, 6000, 500
PERCENTILES = 50, 99, 99.9, 100


def rows() -> tuple[Any, list[int], list[float]]:
    """Normal features; a class and a number that are not linear in them."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(ROWS, FEATURES))
    score = X @ generator.normal(size=FEATURES) + np.sin(3 * X[:, 0])
    return X, (score + generator.normal(size=ROWS) > 0).astype(int).tolist(), score.tolist()


def least(call: Callable[[int], Any], first: int, repeats: int) -> float:
    """Microseconds of a call, the least of some repeats of many."""
    times = []
    for repeat in range(repeats):
        start = time.perf_counter()
        for i in range(first, first + TOGETHER):
            call(repeat * TOGETHER + i)
        times.append((time.perf_counter() - start) / TOGETHER)
    return 1e6 * min(times)


def ours(model: Any, X: Any, y: list[Any], repeats: int) -> tuple[float, float]:
    """Of learning, and of predicting."""
    model.partial_fit(X[:1000], y[:1000])
    model.learn_one(X[0], y[0])  # compiled before the clock
    model.predict_one(X[0])
    learning = least(lambda i: model.learn_one(X[i], y[i]), 1000, repeats)
    return learning, least(lambda i: model.predict_one(X[i]), 1000, 1)


def chunks(model: Any, X: Any, y: list[Any], n: int, repeats: int) -> tuple[float, float, float]:
    """Microseconds for chunks of n rows: of learning, of predicting, and of looking at both."""
    labels, times = np.array(y), []
    starts = range(1000, 1000 + max(TOGETHER, 8 * n), n)
    model.partial_fit(X[:1000], labels[:1000])
    model.learn_one(X[0], y[0])  # from here on few rows go one by one

    def looked(rows: slice) -> None:
        validate_data(model, X[rows], labels[rows], reset=False, dtype=np.float64, order="C")
        validate_data(model, X[rows], reset=False, dtype=np.float64, order="C")

    calls: list[Callable[[slice], Any]] = [
        lambda rows: model.partial_fit(X[rows], labels[rows]),
        lambda rows: model.predict(X[rows]),
        looked,
    ]
    for call in calls:
        each = []
        for _ in range(repeats + 1):  # the first compiles
            begin = time.perf_counter()
            for start in starts:
                call(slice(start, start + n))
            each.append((time.perf_counter() - begin) / len(starts))
        times.append(1e6 * min(each[1:]))
    return times[0], times[1], times[2]


def theirs(model: Any, X: Any, y: list[Any], repeats: int) -> tuple[float, float]:
    """As `ours`, with rows as dictionaries, which are made before the clock."""
    names = [f"x{k}" for k in range(FEATURES)]
    given = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    learning = least(lambda i: model.learn_one(given[i], y[i]), 1000, repeats)
    return learning, least(lambda i: model.predict_one(given[i]), 1000, 1)


def slowest(name: str, most: int) -> list[float]:
    """Microseconds of learn_one: percentiles of up to `most` rows of a set, and the worst."""
    X, y = (part[:most] for part in machine.read(name))
    numbers, times = y.dtype.kind == "f", []
    model = (kb.OnlineMKRegressor if numbers else kb.OnlineMKClassifier)(random_state=0)
    model.partial_fit(X[:1], y[:1], **({} if numbers else {"classes": np.unique(y)}))
    for x, label in zip(machine.dense(X), y.tolist(), strict=True):
        model.predict_one(x)
        start = time.process_time()
        model.learn_one(x, label)
        times.append(1e6 * (time.process_time() - start))
    return percentiles(times)


def records(X: Any, y: list[int]) -> dict[str, list[float]]:
    """The same of predict_one and learn_one of records: five numbers, levels, hashed, a date."""
    given = [
        {**dict(zip("abcde", row, strict=False)), "level": "xyz"[int(abs(row[5])) % 3],
         "hashed": f"L{row[6]:.1f}", "date": f"2024-01-{1 + int(9 * abs(row[7])) % 28:02}T08:30:00"}
        for row in X.tolist()
    ]  # fmt: skip
    encoder = kb.TableEncoder({"level": ["x", "y", "z"], "hashed": 16}, ["date"], missing="mean")
    table = [{**record, "label": label} for record, label in zip(given, y, strict=True)]
    model = kb.fit_table(table[:1000], encoder=encoder)
    times: dict[str, list[float]] = {"predict_one": [], "learn_one": []}
    for record, label in zip(given[1000:], y[1000:], strict=True):
        start = time.process_time()
        model.predict_one(record)
        times["predict_one"].append(1e6 * (time.process_time() - start))
        start = time.process_time()
        model.learn_one(record, label)
        times["learn_one"].append(1e6 * (time.process_time() - start))
    return {f"record, {name}": percentiles(own) for name, own in times.items()}


def percentiles(times: list[float]) -> list[float]:
    return [float(np.percentile(times[1:], q)) for q in PERCENTILES]  # the first loads code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    repeats = min(parser.parse_args().repeats, 10)
    X, classes, numbers = rows()
    budget, one = kb.BPAS(50), [kb.Gaussian(sigma=2.0)]
    waves = kb.GradientDescent(0.5, "normalized", features=kb.RandomFeatures(50))
    gaussians = [kb.Gaussian(sigma=2.0 ** (k / 2 - 4)) for k in range(17)]
    found = [
        (
            "16 kernels, BPAS(50)",
            *ours(kb.OnlineMKClassifier("omkc16", budget), X, classes, repeats),
        ),
        ("1 kernel, BPAS(50)", *ours(kb.OnlineMKClassifier(one, budget), X, classes, repeats)),
        (
            "17 x 50 random features",
            *ours(kb.OnlineMKRegressor(gaussians, waves), X, numbers, repeats),
        ),
        ("OnlineMKClassifier()", *ours(kb.OnlineMKClassifier(), X, classes, repeats)),
        ("OnlineMKRegressor()", *ours(kb.OnlineMKRegressor(), X, numbers, repeats)),
    ]
    try:
        from river import linear_model, preprocessing
    except ImportError:
        print("river is not installed: without its rows")
    else:
        scaled = preprocessing.StandardScaler()
        logistic = scaled | linear_model.LogisticRegression()
        found.append(("River, logistic regression", *theirs(logistic, X, classes, repeats)))
        try:
            from river import feature_extraction

            sampler = feature_extraction.RBFSampler(n_components=50)
            waved = preprocessing.StandardScaler() | sampler | linear_model.LogisticRegression()
            found.append(("River, 50 random features", *theirs(waved, X, classes, repeats)))
        except (ImportError, AttributeError):
            print("this river has no RBFSampler")
    print(machine.describe())
    print(f"{'':28s} {'learn us':>9s} {'predict us':>11s}")
    for name, learning, predicting in found:
        print(f"{name:28s} {learning:9.1f} {predicting:11.1f}")
    print(f"\n{'learn_one, us':28s} {'p50':>9s} {'p99':>9s} {'p99.9':>9s} {'worst':>9s}")
    for name in machine.present(["elec2", "kin8nm"]):
        took = slowest(name, 10_000)
        print(f"default, {name:19s} " + " ".join(f"{one:9.0f}" for one in took))
    for name, took in records(X, classes).items():
        print(f"{name:28s} " + " ".join(f"{one:9.0f}" for one in took))
    print(f"\n{'chunks':28s} {'rows':>5s} {'partial_fit':>12s} {'predict':>9s} {'looked at':>10s}")
    makers: dict[str, Callable[[], Any]] = {
        "1 kernel, BPAS(50)": lambda: kb.OnlineMKClassifier(one, budget),
        "16 kernels, BPAS(50)": lambda: kb.OnlineMKClassifier("omkc16", budget),
        "OnlineMKClassifier()": kb.OnlineMKClassifier,
    }
    for name, make in makers.items():
        for n in (1, 8, 64):
            took = chunks(make(), X, classes, n, min(repeats, 3))
            print(f"{name:28s} {n:5d} {took[0]:12.0f} {took[1]:9.0f} {took[2]:10.0f}")


if __name__ == "__main__":
    main()
