"""Voted classifiers in a model file: the sum that was found as tensors, or its objects as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernbrook.errors import InputError
from kernbrook.estimators.voted import VotedClassifier, VotedKernelClassifier
from kernbrook.estimators.voted_grid import VotedKernelClassifierCV
from kernbrook.gram.points import SupportVectors, check_array, within
from kernbrook.kernels import Kernel
from kernbrook.persistence.encoding import Reader, Writer, expect
from kernbrook.persistence.file_checks import check_classes
from kernbrook.voted import Examples
from kernbrook.voted.examples import LARGEST
from kernbrook.voted.expansion import Expansion


def write_expansion(model: VotedClassifier, writer: Writer) -> dict[str, Any]:
    """JSON of what a fitted model predicts by; its arrays become the tensors support.*."""
    found = model._expansion
    q, p, c = found.coefficients.shape
    items = found.points.items
    arrays = {
        "numbers": found.support.astype(np.int64),
        "coefficients": found.coefficients.reshape(q, p * c),
    }
    if not found.points.are_objects:
        arrays["norms"] = found.points.norms
    if sp.issparse(items):
        indices, indptr = items.indices.astype(np.int64), items.indptr.astype(np.int64)
        arrays.update(data=items.data, indices=indices, indptr=indptr)
    elif not found.points.are_objects:
        arrays["X"] = items
    for name, array in arrays.items():
        writer.array(array, f"support.{name}")
    return {
        "kernels": writer.value(list(found.kernels), "kernels_"),
        "sparse": sp.issparse(items),
        "objects": writer.value(items, "support_vectors_") if found.points.are_objects else None,
    }


def read_expansion(model: VotedClassifier, body: dict[str, Any], reader: Reader) -> None:
    """Let a model that has its parameters and fitted attributes predict.

    Raises
    ------
    InputError
        They do not fit each other, or the arrays.
    """
    if not isinstance(model, VotedKernelClassifier):
        raise InputError(f"expansion: {type(model).__name__} has none")
    expect("expansion", body, dict)
    expect("expansion, kernels", body.get("kernels"), list)
    kernels = tuple(reader.value(body["kernels"]))
    if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
        raise InputError(f"expansion: expected kernels, got {kernels!r}")
    c = _check_fitted(model, len(kernels))
    q, columns = len(reader.array("support.numbers")), len(kernels) * c
    objects = reader.value(body.get("objects"))
    if objects is None:
        items = _vectors(model, columns, bool(body.get("sparse")), reader)
    elif not isinstance(objects, list) or hasattr(model, "n_features_in_"):
        raise InputError("objects: expected a list, and no features")
    else:
        items = objects
    points = Examples(items)
    coefficients = reader.array("support.coefficients")
    check_array("support.coefficients", coefficients, (len(points), columns), np.float64)
    if not (np.abs(coefficients) < LARGEST).all():  # or sums of them are no numbers
        raise InputError("support.coefficients: expected sizes below 1e100")
    numbers = reader.array("support.numbers")
    check_array("support.numbers", numbers, (len(points),), np.int64)
    ends = np.concatenate([[-1], numbers, [len(model.dual_)]])
    if not (ends[:-1] < ends[1:]).all():
        raise InputError("support.numbers: expected rising numbers of the training points")
    coefficients = coefficients.reshape(q, len(kernels), c)
    model._expansion = Expansion(kernels, numbers, points, coefficients)
    model.kernels_ = kernels


def _vectors(model: VotedClassifier, columns: int, sparse: bool, reader: Reader) -> Any:
    """The support vectors, (q, d), dense or CSR."""
    width = getattr(model, "n_features_in_", 0)
    if width < 1:
        raise InputError(f"n_features_in_: expected an integer from 1, got {width}")
    stored = SupportVectors(columns, width, sparse)
    arrays = {k: reader.array(f"support.{k}") for k in stored.arrays() if k != "keys"}
    with within("support."):
        stored.restore({**arrays, "keys": np.zeros(len(arrays["norms"]), dtype=np.int64)})
    arrays = stored.arrays()
    if not sparse:
        return arrays["X"]
    csr = arrays["data"], arrays["indices"], arrays["indptr"]
    return sp.csr_matrix(csr, shape=(stored.n, width))


def _check_fitted(model: VotedClassifier, p: int) -> int:
    """The number of functions that the fitted attributes are of; they must fit each other."""
    learned = vars(model)
    for name in ("classes_", "dual_", "complexities_", "penalties_"):
        if not isinstance(learned.get(name), np.ndarray) or learned[name].ndim == 0:
            raise InputError(f"{name}: expected an array, got {learned.get(name)!r}")
    classes, dual = learned["classes_"], learned["dual_"]
    check_classes(classes)
    c = 1 if len(classes) == 2 else len(classes)
    check_array("dual_", dual, (len(dual),) if c == 1 else (len(dual), c), np.float64)
    for name in ("complexities_", "penalties_"):
        check_array(name, learned[name], (p,), np.float64)
    for name in ("objective_", "gap_"):
        value = np.asarray(learned.get(name))
        check_array(name, value, () if c == 1 else (c,), np.float64)
    if type(learned.get("n_iter_")) is not int:
        raise InputError(f"n_iter_: expected an integer, got {learned.get('n_iter_')!r}")
    return c


def read_best(grid: VotedKernelClassifierCV, best: Any) -> None:
    """Let a grid that has its own fitted attributes predict as its best model.

    Raises
    ------
    InputError
        They are not those of a grid and its best model.
    """
    if not isinstance(grid, VotedKernelClassifierCV) or not isinstance(
        getattr(best, "_expansion", None), Expansion
    ):
        raise InputError("best: expected a fitted VotedKernelClassifier within a grid of them")
    for name in ("errors_", "n_support_"):
        if not isinstance(vars(grid).get(name), np.ndarray):
            raise InputError(f"{name}: expected an array, got {vars(grid).get(name)!r}")
    expect("grid_", vars(grid).get("grid_"), list)
    shape = len(grid.grid_), grid.errors_.shape[-1]
    check_array("errors_", grid.errors_, shape, np.float64)
    check_array("n_support_", grid.n_support_, shape, np.int64)
    grid.best_estimator_ = best
    grid._take_over(best)
