"""Streams to test learners on: (X, y) with y in {+1, -1}, drawn, bundled or read from files."""

import lzma
import os
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_svmlight_file,
    load_wine,
)


def gaussian_clouds(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


def far_apart(n=40, d=3, seed=0):
    """Two classes with a wide gap between them, all within a box of side 2."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] = (X[:, 0] + y) / 2
    return X, y


def sparse_counts(n=150, d=30, seed=1):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.15, rng.integers(1, 4, (n, d)), 0).astype(float)
    return X, np.where(X[:, :10].sum(axis=1) > X[:, 10:20].sum(axis=1), 1.0, -1.0)


def binary_features(n=300, d=25, seed=2):
    """Many equal distances: scores cancel exactly."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.3).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.normal(size=n) > 0.3, 1.0, -1.0)


def duplicates(n=300, seed=3):
    """Few distinct rows, each with both labels."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(25, 5))
    return rows[rng.integers(25, size=n)], np.where(rng.random(n) < 0.5, 1.0, -1.0)


def duplicates_afar(n=300, seed=4):
    """As `duplicates`, where squared norms are large beside distances, but not too large."""
    X, y = duplicates(n, seed)
    return X + 200.0, y


def near_duplicates(n=300, seed=5):
    """Rows that differ by 1e-9."""
    rng = np.random.default_rng(seed)
    X, y = duplicates(n, seed)
    return X + 1e-9 * rng.normal(size=X.shape), y


def offset(n=300, seed=6):
    X, y = gaussian_clouds(n, 5, seed)
    return X + 1e5, y


def offset_duplicates(n=300, seed=7):
    X, y = near_duplicates(n, seed)
    return X + 1e5, y


def with_zero_rows(n=200, seed=8):
    X, y = sparse_counts(n, 12, seed)
    X[::5] = 0.0
    y[::10] *= -1
    return X, y


def one_class_prefix(n=150, seed=9):
    X, y = gaussian_clouds(n, 3, seed)
    y[:60] = -1.0
    return X, y


def wdbc(n=569):
    """Raw features, malignant = +1."""
    X, target = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(10).permutation(len(X))[:n]
    return X[order], np.where(target[order] == 0, 1.0, -1.0)


def classes_of(X, C, seed=11, noise=0.25):
    """Labels 0 ... C - 1: where X lies along a direction, in equal parts, and some at random."""
    rng = np.random.default_rng(seed)
    along = (X - X.mean(axis=0)) @ rng.normal(size=X.shape[1])
    ranks = np.searchsorted(np.sort(along), along)
    return np.where(rng.random(len(X)) < noise, rng.integers(C, size=len(X)), ranks * C // len(X))


def clouds_of(C, n=100, seed=0):
    """`gaussian_clouds` with C classes, from 0; of C = None with numbers."""
    X, y = gaussian_clouds(n, 4, seed)
    if C is None:
        return X, np.sin(X[:, 0]) + 0.3 * X[:, 1]
    return X, (y > 0).astype(int) if C == 2 else classes_of(X, C)


def many_classes(name, n=150, C=5):
    """A drawn stream, or wdbc, with C classes; a prefix of one class stays one."""
    X, y = (DRAWN | {"wdbc": wdbc})[name]()
    X = X[:n]
    labels = classes_of(X, C)
    if name == "one_class_prefix":
        labels[: np.flatnonzero(y[:n] > 0)[0]] = C - 1
    return X, labels


def scaled(X):
    """Mean 0, deviation 1; constant columns stay 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def of_scikit_learn(name, n=150):
    """iris, wine or digits, scaled, in an order of its own; labels from 0."""
    X, y = {"iris": load_iris, "wine": load_wine, "digits": load_digits}[name](return_X_y=True)
    order = np.random.default_rng(12).permutation(len(X))[:n]
    return scaled(X)[order], y[order]


def with_classes(name, C, n):
    """A stream by its name, with C classes from 0; those of scikit-learn have their own."""
    if name in ("iris", "wine", "digits"):
        return of_scikit_learn(name, n)
    if C > 2:
        return many_classes(name, n, C)
    X, y = (DRAWN | {"wdbc": wdbc})[name]()
    return X[:n], (y[:n] > 0).astype(int)


DRAWN = {
    function.__name__: function
    for function in (
        *(gaussian_clouds, sparse_counts, binary_features, duplicates, duplicates_afar),
        *(near_duplicates, offset, offset_duplicates, with_zero_rows, one_class_prefix),
    )
}


READS_DATA = False  # the test that runs is marked so: conftest.py


def data_folder():
    """The folder of the papers' data, for a test that is marked `data`; skipped where none is."""
    assert READS_DATA, "a test that reads the papers' data is marked `data`"
    folder = os.environ.get("KERNBROOK_DATA")
    if not folder:
        pytest.skip("KERNBROOK_DATA names no folder of real files")
    return Path(folder)


def real(name, rows=None):
    """A data set of the folder as (CSR, y), or its first rows; skipped by name if not there."""
    path = data_folder() / f"{name}.libsvm.xz"
    if not path.exists():
        pytest.skip(f"KERNBROOK_DATA has no {path.name}")
    with lzma.open(path) as file:
        X, y = load_svmlight_file(BytesIO(b"".join(islice(file, rows))))
    return sp.csr_matrix(X), y


def printed_orders(name):
    """The (20, n) permutations that the authors of OMKC ran."""
    path = data_folder() / "omkc_permutations.npz"
    if not path.exists():
        pytest.skip(f"KERNBROOK_DATA has no {path.name}")
    with np.load(path) as archive:
        return archive[name]


def dense(X):
    """Rows as an array, where they are in CSR."""
    return X.toarray() if hasattr(X, "toarray") else X
