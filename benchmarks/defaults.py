"""`OnlineMKClassifier()` beside other learners, and after more than one pass over its rows.

First the online mistakes in per cent over the first ROWS rows: with the budget of the default,
with others, and with none. Then the accuracy in per cent on rows held out, after one pass and
after three, with the rows that are stored not judged (the default) and judged. Sets that
KERNBROOK_DATA does not have are left out.
"""

from __future__ import annotations

import argparse
import time

import machine
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

import kernbrook as kb

ROWS = 10_000
STREAMS = ("elec2", "weather", "covtype", "letter", "magic04")
SHUFFLED = ("magic04",)  # its file is sorted by class
LEARNERS = {
    "default": None,
    "PassiveAggressive()": kb.PassiveAggressive(),
    **{f"BPAS({budget}, 0.5)": kb.BPAS(budget, 0.5) for budget in (500, 1000, 2000, 3000)},
    **{f"BPAS(2500, {step})": kb.BPAS(2500, step) for step in (0.1, 0.2, 1.0)},
    "Perceptron()": kb.Perceptron(),
}
LOADERS = {"breast cancer": load_breast_cancer, "digits": load_digits}
HELD_OUT = (*LOADERS, "magic04", "covtype")
MOST = 20_000  # rows of those


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in LOADERS:
        X, y = LOADERS[name](return_X_y=True)
        return X, y
    X, y = kb.open_stream(name).read()
    if name in SHUFFLED:
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
    return X, y


def online(rows: int) -> None:
    for name in STREAMS:
        try:
            X, y = rows_of(name)
        except kb.errors.KernbrookError:
            continue
        for title, learner in LEARNERS.items():
            start = time.process_time()
            model = kb.OnlineMKClassifier(learner=learner)
            record = kb.prequential(model, X[:rows], y[:rows])
            seconds = time.process_time() - start
            print(
                f"{name:10} {title:20} {100 * record.error:6.2f} %"
                f" {record.n_support_stored:8,} SV {seconds:6.1f} s",
                flush=True,
            )


def passes(number: int) -> None:
    for name in HELD_OUT:
        try:
            X, y = rows_of(name)
        except kb.errors.KernbrookError:
            continue
        few = np.random.default_rng(0).permutation(len(y))[:MOST]
        train, test, known, asked = train_test_split(
            X[few], y[few], random_state=0, stratify=y[few]
        )
        for judged in (False, True):
            for order in ("the same order", "shuffled"):
                model, scores = kb.OnlineMKClassifier(random_state=0, judge_stored=judged), []
                for i in range(number):
                    at = np.arange(len(known))
                    if order == "shuffled":
                        at = np.random.default_rng(i).permutation(len(known))
                    model.partial_fit(train[at], known[at])
                    scores.append(f"{100 * model.score(test, asked):6.2f}")
                rule = "judged" if judged else "not judged"
                print(f"{name:14} {rule:11} {order:15} {' '.join(scores)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--passes", type=int, default=3)
    given = parser.parse_args()
    print(machine.describe())
    online(given.rows)
    passes(given.passes)


if __name__ == "__main__":
    main()
