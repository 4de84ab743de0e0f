"""Voted kernel regularization: a grid against linprog, beside SVC, and 10,000 examples.

grid: the paper's 49 points on the training part of one fold of ocr49 (1,194 examples of length 1,
the polynomials (x.z + 1)^k, k = 1 ... 10, trace penalty), solved along one path; and the whole
linear program of a few of these points by scipy.optimize.linprog from nothing, each stopped after
LIMIT seconds. The ratio is extrapolated: 49 times the mean of those few (a stopped one counts as
LIMIT, so it is a lower bound).

svc: magic04, standardised, at n = 1,000, 2,000 and 4,000 with the defaults, beside scikit-learn's
SVC with a polynomial of degree 3; processor time, the least of three runs, taken in turns. And
madelon as it is.

large: 10,000 examples of the paper's waveform01 and 10 kernels, to a certified gap.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

import machine
import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernbrook as kb
from kernbrook.estimators.voted import settings_of, solve_grid
from kernbrook.papers.vkr import paper_folds, waveform01
from kernbrook.recipes.vkr import POWERS
from kernbrook.voted import Columns, Examples, Program, complexities, penalties

POINTS = [(1.0, 0.1), (0.1, 0.1), (0.01, 0.01), (0.001, 0.0001)]
POLYNOMIALS = [kb.Polynomial(k, offset=1) for k in range(1, 11)]
GAUSSIANS = [kb.Gaussian(gamma=10.0**i) for i in np.linspace(-3, 1, 10)]


def ocr49() -> tuple[Any, Any]:
    """The training part of the first of the paper's runs."""
    X, y = kb.open_stream("ocr49").read()
    X = machine.dense(X)
    train = paper_folds(len(y), 0)[0][0]
    X = X[train] / np.linalg.norm(X[train], axis=1, keepdims=True)
    return X, np.where(y[train] == y.max(), 1.0, -1.0)


def by_linprog(lam: float, beta: float) -> None:
    """Solve one point whole and print its objective and its seconds; columns are scaled."""
    from scipy.optimize import linprog

    X, y = ocr49()
    n = len(y)
    columns = Columns(POLYNOMIALS, Examples(X), 1e9)
    prices = np.repeat(penalties(complexities("trace", columns), lam, beta), n)
    sizes = columns.sizes.ravel()
    signed = (columns.take(np.arange(columns.sizes.size)) / sizes[:, None] * y).T
    del columns
    start = time.perf_counter()
    result = linprog(
        np.concatenate([prices / sizes, prices / sizes, np.full(n, 1 / n)]),
        A_ub=np.concatenate([-signed, signed, -np.eye(n)], axis=1), b_ub=-np.ones(n),
        bounds=(0, None), method="highs-ds",
    )  # fmt: skip
    print(result.fun, time.perf_counter() - start)


def grid(limit: float) -> None:
    if machine.data_missing("ocr49"):
        return
    X, y = ocr49()
    start = time.perf_counter()
    columns = Columns(POLYNOMIALS, Examples(X), 1e9)
    codes = (y > 0).astype(int)
    settings = settings_of(1, POWERS, POWERS)
    found = list(solve_grid(columns, codes, settings, 0, "trace", 0.1, 1e-7))
    seconds = time.perf_counter() - start
    print(f"\nocr49, n = {len(y)}, 10 polynomials, 49 points: {seconds:.1f} s for all of them")
    support = [len(expansion.support) for _, expansion in found]
    print(f"support points from {min(support)} to {max(support)}")

    rows, total = [], 0.0
    for lam, beta in POINTS:
        sizes = complexities("trace", columns)
        start = time.perf_counter()
        ours = Program(columns, y).solve(penalties(sizes, lam, beta))
        alone = time.perf_counter() - start
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--linprog", str(lam), str(beta)],
                capture_output=True, text=True, timeout=limit, check=True,
            )  # fmt: skip
            objective, taken = map(float, done.stdout.split())
            difference, shown = f"{abs(objective / ours.objective - 1):.0e}", f"{taken:.0f}"
        except subprocess.TimeoutExpired:
            taken, difference, shown = limit, "", f"> {limit:.0f}"
        total += taken
        rows.append([f"{lam:g}, {beta:g}", f"{ours.objective:.6f}", difference,
                     f"{ours.gap:.0e}", f"{alone:.1f}", shown])  # fmt: skip
    header = ["lam, beta", "objective", "linprog differs", "gap", "alone s", "linprog s"]
    print(machine.table(header, rows))
    mean = total / len(POINTS)
    print(
        f"linprog at all 49 points, extrapolated: {49 * mean:.0f} s, {49 * mean / seconds:.0f} "
        "times as long"
    )


def fitting(model: Any, X: Any, y: Any) -> float:
    """Processor seconds."""
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def beside_svc() -> None:
    if machine.data_missing("magic04"):
        return
    X, y = kb.open_stream("magic04").read()
    X, order = machine.dense(X), np.random.default_rng(0).permutation(len(y))
    rows = []
    for n in (1000, 2000, 4000):
        A, b = StandardScaler().fit_transform(X[order[:n]]), y[order[:n]]
        ours, svc = kb.VotedKernelClassifier(), SVC(kernel="poly", degree=3, coef0=1)
        taken = [(fitting(ours, A, b), fitting(svc, A, b)) for _ in range(4)][1:]
        a, c = (min(column) for column in zip(*taken, strict=True))
        rows.append([f"{n}", f"{a:.2f}", f"{c:.3f}", f"{a / c:.1f}", f"{ours.gap_:.0e}",
                     f"{ours.n_support_stored_}", f"{svc.n_support_.sum()}"])  # fmt: skip
    header = ["n", "voted s", "SVC s", "ratio", "gap", "voted support", "SVC support"]
    print("\nmagic04, standardised, the defaults\n" + machine.table(header, rows))
    if machine.data_missing("madelon"):
        return
    X, y = kb.open_stream("madelon").read()
    X, model = machine.dense(X), kb.VotedKernelClassifier()
    print(f"madelon, raw, {X.shape}: {fitting(model, X, y):.1f} s, gap {model.gap_:.0e}")


def large(n: int) -> None:
    X, y = waveform01(n, seed=0).read()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for name, kernels in (("polynomials, length 1", POLYNOMIALS), ("Gaussians", GAUSSIANS)):
        for lam, beta in ((0.1, 0.01), (0.01, 0.01), (0.001, 0.001)):
            start = time.perf_counter()
            model = kb.VotedKernelClassifier(
                kernels, lam=lam, beta=beta, unit_length="length" in name
            ).fit(X, y)
            seconds = time.perf_counter() - start
            print(
                f"n = {n}, 10 {name}, lam {lam:g}, beta {beta:g}: {seconds:.0f} s, "
                f"{model.n_iter_} programs, gap {model.gap_:.0e} at objective "
                f"{model.objective_:.4f}, {model.n_support_stored_} support points, "
                f"peak memory {machine.peak_megabytes():.0f} MB",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["grid", "svc", "large"])
    parser.add_argument("--limit", type=float, default=600, help="seconds for one linprog")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--linprog", nargs=2, type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.linprog:
        by_linprog(*arguments.linprog)
        return
    print(machine.describe())
    if arguments.only in (None, "grid"):
        grid(arguments.limit)
    if arguments.only in (None, "svc"):
        beside_svc()
    if arguments.only in (None, "large"):
        large(arguments.rows)


if __name__ == "__main__":
    main()
