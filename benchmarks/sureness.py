"""How good scores are: probabilities, intervals, and a rare class.

    python benchmarks/sureness.py [--rows N]

Everything is said of a row before its label is learned from, in one pass over the first ROWS rows.
Probabilities: the log loss, and the calibration error in points: over ten bins of the greatest
probability, the mean of |mean probability - share of right answers|, by rows. Intervals of 90 %:
the share that they cover, and the least and the greatest share in disjoint windows of 1,000 rows.
The rare class: of two classes the second one is thinned out to one row in a hundred; with recall
and precision of that class, its F score, and the area under the ROC curve. Sets that
KERNBROOK_DATA does not have are left out.
"""

from __future__ import annotations

import argparse
from typing import Any

import machine
import numpy as np
from sklearn.metrics import f1_score, log_loss, precision_score, recall_score, roc_auc_score

import kernbrook as kb
from kernbrook.estimators.outside import online

ROWS = 10_000
SURE = ("elec2", "weather", "magic04")
RARE = (*SURE, "cod-rna")
NUMBERS = ("energy", "twitter", "tomshardware", "kin8nm", "friedman")
WINDOW = 1000
ONE_IN = 101  # rows of the rare class


def rows_of(name: str) -> tuple[Any, Any]:
    X, y = machine.read(name)
    return machine.dense(X), y


def models() -> dict[str, Any]:
    found = {"OnlineMKClassifier()": kb.OnlineMKClassifier(random_state=0)}
    try:
        from river import forest, linear_model, preprocessing
    except ImportError:
        return found
    logistic = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    found["LogisticRegression (River)"] = online(logistic)
    found["ARFClassifier (River)"] = online(forest.ARFClassifier(seed=0))
    return found


def calibration_error(probabilities: Any, right: Any) -> float:
    """Points between how sure it is and how often it is right."""
    bins = np.minimum((10 * probabilities).astype(int), 9)
    gaps = [
        abs(probabilities[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
        for b in np.unique(bins)
    ]
    return 100 * float(np.sum(gaps))


def probabilities(names: list[str], rows: int) -> list[list[str]]:
    found = []
    for name in names:
        X, y = rows_of(name)
        X, y, classes = X[:rows], y[:rows], np.unique(y)
        for title, model in models().items():
            record = kb.prequential(model, X, y, classes=classes)
            chances = record.probabilities
            best = classes[chances.argmax(axis=1)]
            chances = chances.clip(1e-6) / chances.clip(1e-6).sum(axis=1, keepdims=True)
            loss = log_loss(y, chances, labels=classes)
            error = calibration_error(chances.max(axis=1), best == y)
            found.append([name, title, f"{100 * record.error:.2f}", f"{loss:.3f}", f"{error:.1f}"])
            print(*found[-1], flush=True)
    return found


def intervals(names: list[str], rows: int) -> list[list[str]]:
    found = []
    for name in names:
        X, y = rows_of(f"{name}:{rows}" if name in kb.streams.stream_names() else name)
        X, y = X[:rows], y[:rows]
        model = kb.OnlineMKRegressor(random_state=0).partial_fit(X[:2], y[:2])
        covered, widths = [], []
        for x, label in zip(X[2:], y[2:], strict=True):
            low, high = model.predict_interval(x[None], coverage=0.9)[0]
            covered.append(low <= label <= high)
            widths.append(high - low)
            model.learn_one(x, label)
        n = len(covered) // WINDOW * WINDOW
        windows = 100 * np.reshape(covered[:n], (-1, WINDOW)).mean(axis=1)
        width = np.median(widths) / y.std()
        found.append(
            [name, f"{100 * np.mean(covered):.1f}", f"{windows.min():.1f}", f"{windows.max():.1f}",
             f"{width:.2f}"]
        )  # fmt: skip
        print(*found[-1], flush=True)
    return found


def rare(names: list[str], rows: int) -> list[list[str]]:
    found = []
    for name in names:
        X, y = rows_of(name)
        second = y == np.unique(y)[1]
        few, many = np.flatnonzero(second), np.flatnonzero(~second)[:rows]
        few = few[few < many[-1]]
        few = few[np.linspace(0, len(few) - 1, len(many) // (ONE_IN - 1)).astype(int)]
        at = np.sort(np.concatenate([few, many]))
        X, y = X[at], second[at].astype(int)
        weighed, sought = {"class_weight": "balanced"}, {"threshold": "f1"}
        own: dict[str, dict[str, Any]] = {
            "OnlineMKClassifier()": {},
            'class_weight="balanced"': weighed,
            'class_weight="balanced", threshold="f1"': {**weighed, **sought},
            'threshold="f1"': sought,
        }
        ours = {title: kb.OnlineMKClassifier(random_state=0, **one) for title, one in own.items()}
        for title, model in {**ours, **dict(list(models().items())[1:])}.items():
            record = kb.prequential(model, X, y, classes=[0, 1])
            said, chances = record.predictions, record.probabilities[:, 1]
            measures = [
                100 * recall_score(y, said), 100 * precision_score(y, said, zero_division=0),
                100 * f1_score(y, said), 100 * roc_auc_score(y, chances),
            ]  # fmt: skip
            found.append([name, title, *(f"{value:.1f}" for value in measures)])
            print(*found[-1], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--data", help="with commas; all by default")
    given = parser.parse_args()
    rows, chosen = given.rows, given.data.split(",") if given.data else (*RARE, *NUMBERS)
    if rows < WINDOW + 2:  # two are learned first
        parser.error(f"--rows: at least a window of {WINDOW} and two, found {rows}")
    sure, numbers, few = (
        machine.present([name for name in names if name in chosen])
        for names in (SURE, NUMBERS, RARE)
    )
    tables = {
        ("stream", "model", "mistakes %", "log loss", "calibration error"): probabilities(
            sure, rows
        ),
        ("stream", "covered %", "least", "greatest", "width / deviation"): intervals(numbers, rows),
        ("stream", "model", "recall %", "precision %", "F %", "ROC %"): rare(few, rows),
    }
    print(machine.describe())
    for header, found in tables.items():
        print(f"\n{machine.table(header, found)}")


if __name__ == "__main__":
    main()
