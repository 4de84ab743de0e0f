"""What every kernel must be able to do."""

from __future__ import annotations

import copy
import math
import pickle
import tempfile
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.compiler.compiling import bounds_checked, is_theirs
from kernbrook.errors import InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.features import RandomFeatures
from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows, Rows, SparseRows
from kernbrook.kernels import Gaussian, Kernel, Linear, Mean, Polynomial
from kernbrook.kernels.dictionaries import of_vectors
from kernbrook.kernels.planning import Layout
from kernbrook.kernels.spectra import WAYS, ShiftInvariant
from kernbrook.numerics.values import add_points, kernel_rows
from kernbrook.persistence.saving import load, save
from kernbrook.testing.parts import expect, name_of

Floats = NDArray[np.float64]

CLOSE = 1e-10  # the most by which values may differ, as a share of the largest
FREQUENCIES = 20_000


def check_kernel(kernel: Kernel, X: Any = None) -> None:
    """Check a kernel on examples: what it gives, what the engine makes of it, what it is told.

    - Its values are finite, (n, m) for n and m examples, and symmetric.
    - The engine's values are those of calling it: alone, in a pool and in a mean with others, for
      growing expansions and for slots, dense and sparse.
    - A row's values do not depend on the rows beside it, to the last bit.
    - It is immutable, prints without an address, equals its copies and what its `parameters` make,
      and refuses NaN for a parameter that is a number.
    - A model with it can be cloned; saved and loaded, where a file can hold the kernel.
    - Compiled with NUMBA_BOUNDSCHECK=1, its steps use no index outside of an array.
    - Features drawn from its spectrum, where it has one, have the kernel as inner products.

    Parameters
    ----------
    kernel : the kernel
    X : (n, d) array of at least 4 examples, by default 40 normal ones of 5 features, half of the
        numbers 0

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_kernel(kb.Gaussian(sigma=2))
    """
    A = _examples() if X is None else np.array(X, dtype=np.float64, ndmin=2)
    _check_values(kernel, A)
    with bounds_checked() if is_theirs(type(kernel)) else nullcontext():
        _check_engine(kernel, A)
    _check_value(kernel)
    _check_refusals(kernel)
    _check_models(kernel)
    if isinstance(kernel, ShiftInvariant):
        _check_spectrum(kernel, A[:12])


def _examples() -> Floats:
    generator = np.random.default_rng(0)
    return np.where(generator.random((40, 5)) < 0.5, 0.0, generator.normal(size=(40, 5)))


def _close(found: Floats, expected: Floats) -> bool:
    largest = np.abs(expected).max(initial=0.0)
    return found.shape == expected.shape and bool(
        np.all(np.abs(found - expected) <= CLOSE * largest)
    )


def _check_values(kernel: Kernel, X: Floats) -> None:
    Z = X[: len(X) // 2]
    K = np.asarray(kernel(X, Z))
    expect(K.shape == (len(X), len(Z)), kernel, f"(n, m) values expected, got shape {K.shape}")
    expect(np.isfinite(K).all(), kernel, "gave NaN or infinity")
    expect(_close(np.asarray(kernel(Z, X)).T, K), kernel, "not symmetric")
    for A, B in ((X[:1], Z), (X, Z[:1]), (X, Z[:0])):
        shape = np.asarray(kernel(A, B)).shape
        expect(
            shape == (len(A), len(B)), kernel,
            f"of {len(A)} and {len(B)} examples, expected shape {(len(A), len(B))}, got {shape}",
        )  # fmt: skip


def _check_engine(kernel: Kernel, X: Floats) -> None:
    points = X[: len(X) // 2]
    others = (Gaussian(gamma=0.5), Polynomial(2), Mean([kernel, Linear()]), Gaussian(gamma=2))
    pools = (kernel,), (kernel, *others) if of_vectors([kernel]) else (kernel, kernel)
    forms: tuple[tuple[str, Rows, Rows], ...] = (
        ("dense", DenseRows.of(X), DenseRows.of(points)),
        ("CSR", SparseRows.of(sp.csr_matrix(X)), SparseRows.of(sp.csr_matrix(points))),
    )
    for pool, (storage, rows, stored) in product(pools, forms):
        sums, slots = _by_engine(Layout(pool), len(pool), rows, stored)
        for i, pooled in enumerate(pool):
            K = np.asarray(pooled(X, points)).T
            difference = f"of {storage} rows are not those of calling {pooled!r}"
            total = K.T @ _coefficients(len(points), len(pool))[:, i]
            scale = np.abs(K).sum(axis=0).max()
            near = np.abs(sums[i] - total).max() <= CLOSE * scale
            expect(near, kernel, f"the engine's sums {difference}")
            expect(_close(slots[i], K), kernel, f"the engine's values {difference}")
    layout, (_, _, stored) = Layout((kernel,)), forms[0]
    _, (among,) = _by_engine(layout, 1, DenseRows.of(X), stored)
    for i in range(len(X)):
        _, (alone,) = _by_engine(layout, 1, DenseRows.of(X[i : i + 1]), stored)
        message = "a row by itself has other last bits than among others: is it a product by BLAS?"
        expect(np.array_equal(alone[:, 0], among[:, i]), kernel, message)


def _coefficients(points: int, kernels: int) -> Floats:
    """(points, kernels), some of them 0, none above 1 in size."""
    generator = np.random.default_rng(1)
    uniform = generator.uniform(-1.0, 1.0, (points, kernels))
    return np.where(generator.random((points, kernels)) < 0.3, 0.0, uniform)


def _by_engine(layout: Layout, m: int, rows: Rows, points: Rows) -> tuple[Floats, list[Floats]]:
    """Sums of m kernels over points, (m, n), and values as slots have them, m of (points, n)."""
    pairs = rows.pairs(layout, points)
    n, b = len(points), len(rows)
    scores, sizes, scratch = np.zeros((m, b)), np.zeros((m, b)), np.empty((2, b))
    coefficients = _coefficients(n, m)
    add_points(layout.plan, pairs, 0, n, 0, b, coefficients, scores, sizes, scratch)
    slots = [np.empty((n, b)) for _ in range(m)]
    for e in range(m):
        kernel_rows(layout.parts, e, pairs, np.arange(n), 0, b, scratch, slots[e])
    return scores, slots


def _check_value(kernel: Kernel) -> None:
    twin = type(kernel)(**kernel.parameters())
    for source, other in (("what its parameters make", twin), ("its copy", copy.deepcopy(kernel))):
        expect(other == kernel, kernel, f"not equal to {source}")
        expect(hash(other) == hash(kernel), kernel, f"of another hash than {source}")
    expect(" at 0x" not in str(kernel), kernel, "prints as an address; define __repr__ or __str__")
    for name, value in kernel.parameters().items():
        try:
            setattr(kernel, name, value)
        except AttributeError:
            continue
        raise AssertionError(f"{kernel!r}: its {name} can be set, but kernels are immutable")
    try:
        pickled = pickle.dumps(kernel)
    except (pickle.PicklingError, AttributeError, TypeError):  # a function without a name
        return
    expect(pickle.loads(pickled) == kernel, kernel, "not equal to itself pickled and unpickled")


def _check_refusals(kernel: Kernel) -> None:
    parameters = kernel.parameters()
    for name, value in parameters.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                type(kernel)(**{**parameters, name: math.nan})
            except (TypeError, ValueError):
                continue
            raise AssertionError(f"{kernel!r}: takes NaN for {name}")


def _check_models(kernel: Kernel) -> None:
    model = OnlineMKClassifier([kernel])
    expect(clone(model).kernels == [kernel], kernel, "not equal to itself in a cloned model")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        try:
            save(model, path)
        except InputError:  # a kernel that no file can hold
            return
        inside = [value for value in kernel.parameters().values() if isinstance(value, Kernel)]
        loaded = load(path, allow=[*map(name_of, (kernel, *inside))])
        expect(loaded.kernels == [kernel], kernel, "not equal to itself from a saved model")


def _check_spectrum(kernel: Kernel, X: Floats) -> None:
    assert isinstance(kernel, ShiftInvariant)
    K = np.asarray(kernel(X, X))
    expect(
        np.abs(np.diagonal(K) - 1.0).max() <= CLOSE,
        kernel,
        "has a spectrum, but is not 1 at 0",
    )
    for way in WAYS:
        if way == "orthogonal" and not kernel.isotropic:
            continue
        Z = draw(kernel, RandomFeatures(FREQUENCIES, way), X.shape[1], 0).transform(DenseRows.of(X))
        far = np.abs(Z @ Z.T - K).max()
        expect(
            far <= 6.0 / math.sqrt(FREQUENCIES), kernel,
            f"inner products of features from {way} frequencies are {far:.2g} from the kernel",
        )  # fmt: skip
