"""A voted classifier in a model's file: the sum that was found as tensors, or objects as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.estimators.labelled import check_kept_classes
from kernbrook.gram.arrays import check_array, within
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.kernels import Kernel
from kernbrook.plain_values import expect
from kernbrook.voted import Examples
from kernbrook.voted.found_sum import Expansion
from kernbrook.voted.kernel_pool import LARGEST

if TYPE_CHECKING:
    from kernbrook.estimators.voted import VotedClassifier


def write_expansion(model: VotedClassifier, writer: Any) -> dict[str, Any]:
    """JSON of what a fitted model predicts by; its arrays become the tensors support.*."""
    found = model._expansion
    q, p, c = found.coefficients.shape
    items = found.points.items
    arrays = {
        "numbers": found.support.astype(np.int64),
        "coefficients": found.coefficients.reshape(q, p * c),
    }
    if found.points.rows is not None:
        arrays["norms"] = found.points.rows.norms
    if sp.issparse(items):
        indices, indptr = items.indices.astype(np.int64), items.indptr.astype(np.int64)
        arrays.update(data=items.data, indices=indices, indptr=indptr)
    elif not found.points.are_objects:
        arrays["X"] = items
    for name, array in arrays.items():
        writer.tensor(array, f"support.{name}")
    return {
        "kernels": writer.value(list(found.kernels), "kernels_"),
        "sparse": sp.issparse(items),
        "objects": writer.value(items, "support_vectors_") if found.points.are_objects else None,
    }


def read_expansion(model: VotedClassifier, body: Any, reader: Any) -> None:
    """Let a model that has its parameters and fitted attributes predict."""
    expect("expansion", body, dict)
    expect("expansion, kernels", body.get("kernels"), list)
    kernels = tuple(reader.value(body["kernels"]))
    if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
        raise InputError(f"expansion: expected kernels, got {shown(kernels)}")
    check_kept_classes(vars(model).get("classes_"))
    c = 1 if len(model.classes_) == 2 else len(model.classes_)
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
    coefficients = coefficients.reshape(q, len(kernels), c)
    model._expansion = Expansion(kernels, numbers, points, coefficients)
    model.kernels_ = kernels


def _vectors(model: VotedClassifier, columns: int, sparse: bool, reader: Any) -> Any:
    """The support vectors, (q, d), dense or CSR."""
    width = getattr(model, "n_features_in_", 0)
    if width < 1:
        raise InputError(f"n_features_in_: expected an integer from 1, got {width}")
    stored = StoredPoints(columns, width, sparse)
    arrays = {k: reader.array(f"support.{k}") for k in stored.arrays() if k != "keys"}
    with within("support."):
        stored.restore({**arrays, "keys": np.zeros(len(arrays["norms"]), dtype=np.int64)})
    arrays = stored.arrays()
    if not sparse:
        return arrays["X"]
    csr = arrays["data"], arrays["indices"], arrays["indptr"]
    return sp.csr_matrix(csr, shape=(stored.n, width))
