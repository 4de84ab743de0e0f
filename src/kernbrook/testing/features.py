"""What every map of features must be able to do."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.features.pools import draw
from kernbrook.gram.rows import DenseRows, SparseRows
from kernbrook.kernels import Gaussian, Kernel
from kernbrook.learners import Ridge
from kernbrook.testing.properties import (
    Subject,
    Task,
    check_model,
    check_object,
    expect,
    model_of,
    tasks,
)

Floats = NDArray[np.float64]

DRAWS = 60  # maps, over which inner products are averaged


def check_features(recipe: Any, kernel: Kernel | None = None) -> None:
    """Check a recipe of features for one kernel.

    - Its arrays have the shapes and types that `shapes` says, pass `check`, and are drawn from the
      generator alone.
    - A row's features do not depend on the rows beside it, nor on whether rows are dense or CSR, to
      the last bit; they are finite on rows of size 1e3.
    - Inner products of features are the kernel's values, up to chance and a twentieth of the
      greatest, on average over many maps.
    - Models of `Ridge` on them, of two classes, three and numbers, have the properties that
      `check_learner` lists: chunks, files, interruptions.
    - Its clone is equal to it, it prints without an address, and for each parameter that is a
      number it refuses NaN, -1 and a text with InputError.

    Parameters
    ----------
    recipe : such as `RandomFeatures()`
    kernel : None: a Gaussian

    Raises
    ------
    AssertionError
        The recipe does not have one of these properties; the message says which.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_features(kb.RandomFeatures(20))
    """
    kernel = Gaussian(sigma=1.0) if kernel is None else kernel
    expect(getattr(recipe, "choice", None) == "features", recipe, 'choice = "features" is missing')
    own = list(tasks())
    check_object(recipe, lambda other: _model(own[0], other, kernel).learn(own[0].X, own[0].y))
    _check_maps(recipe, kernel, own[0].X)
    _check_values(recipe, kernel, own[0].X[:6])
    for task in own:
        check_model(Subject(recipe, task, partial(_model, task, recipe, kernel)))


def _model(task: Task, recipe: Any, kernel: Kernel) -> Any:
    return model_of(task, kernels=[kernel], learner=Ridge(features=recipe))


def _check_maps(recipe: Any, kernel: Kernel, X: Floats) -> None:
    one, again = (draw(kernel, recipe, X.shape[1], 0) for _ in "ab")
    arrays, shapes = one.arrays(), recipe.shapes(kernel, X.shape[1])
    expect(arrays.keys() == shapes.keys(), recipe, "`shapes` names other arrays than `draw` gives")
    for name, (shape, kind) in shapes.items():
        found = arrays[name].shape, arrays[name].dtype
        expect(found == (shape, np.dtype(kind)), recipe, f"{name}: `shapes` says another shape")
        same = np.array_equal(arrays[name], again.arrays()[name])
        expect(same, recipe, f"{name}: equal generators give other numbers")
    recipe.check(arrays)
    dense = one.transform(DenseRows.of(X))
    sparse = one.transform(SparseRows.of(sp.csr_matrix(X)))
    expect(dense.shape == (len(X), one.dim), recipe, "`dim` is not the number of features")
    expect(np.array_equal(dense, sparse), recipe, "rows in CSR have other features")
    for size in (1, 7):
        parts = [one.transform(DenseRows.of(X[a : a + size])) for a in range(0, len(X), size)]
        told = f"rows {size} at a time have other features"
        expect(np.array_equal(np.concatenate(parts), dense), recipe, told)
    large = one.transform(DenseRows.of(1e3 * X))
    expect(np.isfinite(large).all(), recipe, "features of rows of size 1e3 are not finite")


def _check_values(recipe: Any, kernel: Kernel, X: Floats) -> None:
    values, rows = kernel(X, X), DenseRows.of(X)
    maps = (draw(kernel, recipe, X.shape[1], seed) for seed in range(DRAWS))
    found = np.array([features @ features.T for features in (one.transform(rows) for one in maps)])
    chance = 5 * found.std(axis=0) / np.sqrt(DRAWS)
    far = np.abs(found.mean(axis=0) - values) > chance + 0.05 * np.abs(values).max()
    expect(not far.any(), recipe, f"inner products are not those of {kernel}, on average")
