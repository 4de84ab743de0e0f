"""Label policies on kernel expansions: mistakes against labels asked, beside asking at random.

SPA with 16 kernels, one pass, the same seeded orders for every policy. Each policy is followed by
`RandomLabels` at the rate it came to, run by run. Mistakes are counted on every round, whether its
label was asked or not. Data sets come from the folder KERNBROOK_DATA.
"""

from __future__ import annotations

import argparse
import warnings

import machine
import numpy as np

import kernbrook as kb
from kernbrook.errors import KernbrookError

DATA = ("a9a", "magic04", "cod-rna")
POLICIES = (
    *(kb.Disagreement(threshold, window=50) for threshold in (0.1, 0.3, 1.0)),
    *(kb.MarginSampling(smoothing) for smoothing in (0.3, 0.1, 0.03)),
    *(kb.LabelBudget(rate, window=50) for rate in (0.5, 0.25, 0.1)),
)


def run(labels: object, X: object, y: np.ndarray, order: np.ndarray) -> tuple[float, float]:
    """(mistakes in per cent, share of labels asked)."""
    model = kb.recipes.make("spa", random_state=0).set_params(labels=labels)
    record = kb.prequential(model, X, y, order)
    return 100.0 * record.error, record.labels_asked / len(y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--rows", type=int, default=20_000, help="of each data set, at most")
    parser.add_argument("--permutations", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine.describe())
    for name in arguments.data.split(","):
        try:
            X, y = kb.open_stream(name).read()
        except KernbrookError as error:
            print(f"\n{name}: skipped, {error}")
            continue
        orders = [
            np.random.default_rng(seed).permutation(len(y))[: arguments.rows]
            for seed in range(arguments.permutations)
        ]
        parts = [(X[order], y[order], np.arange(len(order))) for order in orders]
        everything = [run("all", *part)[0] for part in parts]
        print(f"\n{name}, {len(orders[0]):,} rows, {len(orders)} orders")
        print(f"{'policy':44} {'labels %':>8} {'mistakes %':>10} {'at random':>10}")
        print(f"{'all labels':44} {100:8.1f} {np.mean(everything):10.2f}")
        for policy in POLICIES:
            own = [run(policy, *part) for part in parts]
            random = [
                run(kb.RandomLabels(rate), *part)[0]
                for (_, rate), part in zip(own, parts, strict=True)
            ]
            error, rate = np.mean(own, axis=0)
            print(
                f"{policy!r:44} {100 * rate:8.1f} {error:10.2f} {np.mean(random):10.2f}", flush=True
            )


if __name__ == "__main__":
    main()
