"""What the checks cost: of the arrays of sparse rows, and of a large model file.

Rows: the check of the index arrays of a CSR matrix (2,000 rows of 1,000 features, 3 % of them
there), beside learning from the same rows. File: loading a model of 100 MB, all of its checks
included, beside reading the bytes and their SHA-256.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
import numpy as np
import scipy.sparse as sp

import kernbrook as kb
from kernbrook.sparse import as_csr

LEARNERS = {
    "the default": kb.OnlineMKClassifier(random_state=0),
    "BPAS(100), 16 kernels": kb.OnlineMKClassifier("omkc16", kb.BPAS(100), scaling=None),
    "Perceptron(), linear": kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), scaling=None),
}


def main() -> None:
    print(machine.describe())
    rng = np.random.default_rng(0)
    X = sp.random(2000, 1000, 0.03, format="csr", rng=rng)
    y = (X @ rng.normal(size=1000) > 0).astype(int)
    check = machine.least_seconds(lambda: as_csr(X), 7)
    lines = []
    for name, model in LEARNERS.items():
        model.fit(X, y)  # compiled
        learn = machine.least_seconds(lambda model=model: model.fit(X, y), 3)
        lines.append(
            [name, f"{1e6 * check:.0f}", f"{1e3 * learn:.1f}", f"{100 * check / learn:.2f}"]
        )
    print(machine.table(["learner", "check, us", "learning, ms", "check %"], lines))
    X = rng.normal(size=(20_500, 600))
    y = rng.integers(0, 2, len(X))
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), scaling=None)
    for start in range(0, len(X), 500):
        model.partial_fit(X[start : start + 500], y[start : start + 500], classes=[0, 1])
        model.partial_fit(X[start : start + 500], 1 - y[start : start + 500])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        kb.save(model, path)
        size = path.stat().st_size / 1e6
        load, read = (
            machine.least_seconds(lambda: kb.load(path), 3),
            machine.least_seconds(lambda: path.read_bytes(), 3),
        )
        digest = machine.least_seconds(lambda: sha256(path.read_bytes()), 3)
    print()
    print(
        machine.table(
            ["MB", "loading, s", "reading, s", "reading and SHA-256, s"],
            [[f"{size:.0f}", f"{load:.2f}", f"{read:.2f}", f"{digest:.2f}"]],
        )
    )


if __name__ == "__main__":
    main()
