"""Rows that wait for their labels under keys, with what was said of them; also in a file."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import is_number, shown
from kernbrook.errors import InputError
from kernbrook.estimators.named import LARGEST, NamedColumns, check_names
from kernbrook.estimators.tasks import Learned, joined, task_of
from kernbrook.gram.arrays import check_array
from kernbrook.plain_values import expect, is_count
from kernbrook.sparse import as_csr

Key = str | int | float
Waiting = OrderedDict[Key, tuple[Any, Learned]]  # (d,) array, (1, d) CSR matrix, or record


def together(rows: Sequence[Any]) -> Any:
    """Rows as a chunk."""
    if isinstance(rows[0], dict):
        return list(rows)
    if any(sp.issparse(row) for row in rows):
        return sp.vstack([sp.csr_matrix(row) for row in rows], format="csr")
    return np.stack(rows)


def keys_of(keys: Any) -> list[Key]:
    """The keys as plain numbers and text; InputError where one is neither, or comes twice."""
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise InputError(f"keys: expected a list with one for each row, got {shown(keys)}")
    found = [key.item() if isinstance(key, np.generic) else key for key in keys]
    for key in found:
        if not (isinstance(key, str) or is_number(key)) or key != key:
            raise InputError(f"keys: expected numbers or text, got {shown(key)}")
    if (most := Counter(found).most_common(1)) and most[0][1] > 1:
        raise InputError(f"keys: {most[0][0]!r} comes {most[0][1]} times")
    return found


# -- in a file ------------------------------------------------------------------------------------


def write_waiting(there: Waiting, writer: Any, place: str) -> dict[str, Any]:
    """JSON of the rows that wait, with what was said of them; numbers become the tensors waiting.*.

    Records are rows of a CSR matrix, whose columns are all their names.
    """
    rows, said = zip(*there.values(), strict=True)
    names = None
    if isinstance(rows[0], dict):
        names = list(dict.fromkeys(name for row in rows for name in row))
        number = {name: i for i, name in enumerate(names)}
        indices = np.array([number[name] for row in rows for name in row], dtype=np.int64)
        data = np.array([value for row in rows for value in row.values()], dtype=np.float64)
        indptr = np.cumsum([0, *map(len, rows)])
        X: Any = sp.csr_matrix((data, indices, indptr), shape=(len(rows), len(names)))
    else:
        X = together(rows)
    held = {
        "keys": list(there),
        "names": names,
        "predictions": joined(said).predictions,
        **_flat("scores", [one.scores for one in said]),
        **_flat("probabilities", [one.probabilities for one in said]),
    }
    if sp.issparse(X):
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        held.update(width=X.shape[1], data=X.data, indices=indices, indptr=indptr)
    else:
        held["X"] = X
    return writer.values(held, f"{place}waiting.")


def read_waiting(model: Any, body: Any, reader: Any) -> Waiting:
    """The rows of a file, which wait for labels of a model.

    Raises
    ------
    InputError
        They do not fit each other, or the model.
    """
    expect("waiting", body, dict)
    held = {name: reader.value(value) for name, value in body.items()}
    for name in ("keys", "names", "predictions", "scores", "probabilities"):
        if name not in held:
            raise InputError(f"waiting.{name} is missing")
    expect("waiting.keys", held["keys"], list)
    keys = keys_of(held["keys"])
    n = len(keys)
    if n == 0:
        raise InputError("waiting.keys: expected one or more")
    for name in ("scores", "probabilities"):
        held[name] = _pieces(name, held, n)
    said = held["predictions"]
    _check_said(model, said, n)
    there = Waiting()
    for i, (key, row) in enumerate(zip(keys, _rows(model, held, n), strict=True)):
        scores, chances = held["scores"][i], held["probabilities"][i]
        there[key] = (
            row, Learned(said[i : i + 1].copy(), np.zeros(1, dtype=bool), scores, chances)
        )  # fmt: skip
    return there


def _check_said(model: Any, said: Any, n: int) -> None:
    """Raise InputError unless these are predictions, (n,) labels or numbers, of the model."""
    if not isinstance(said, np.ndarray) or said.shape != (n,):
        raise InputError(f"waiting.predictions: expected {n} of them")
    if task_of(model) == "regression":
        if said.dtype != np.float64 or not np.isfinite(said).all():
            raise InputError("waiting.predictions: expected finite numbers")
        return
    for label in said.tolist():
        if not (label is None or isinstance(label, (str, int, float))) or label != label:
            raise InputError(f"waiting.predictions: expected labels, got {shown(label)}")


def _rows(model: Any, held: dict[str, Any], n: int) -> list[Any]:
    """The rows that wait, as they were before."""
    names = held["names"]
    named = isinstance(model, NamedColumns)
    if not isinstance(names, list if named else type(None)):
        raise InputError("waiting.names: expected names where the model has named columns")
    if "X" in held:
        X = held["X"]
        width = X.shape[-1] if isinstance(X, np.ndarray) and X.ndim else 0
        check_array("waiting.X", X, (n, width), np.float64)
    else:
        data, indices, indptr = (held.get(k, ()) for k in ("data", "indices", "indptr"))
        width = held.get("width", -1)
        if not is_count(width):
            raise InputError(f"waiting.width: expected an integer from 0, got {shown(width)}")
        check_array("waiting.indptr", indptr, (n + 1,), np.int64)
        entries = np.shape(data)[:1]
        check_array("waiting.indices", indices, entries, np.int64)
        check_array("waiting.data", data, entries, np.float64)
        try:
            X = as_csr(sp.csr_matrix((data, indices, indptr), shape=(n, width)))
        except ValueError as error:  # of SciPy's, or ours
            raise InputError(f"waiting: {error}") from None
    if names is not None:
        check_names("waiting.names", names, width)
        if len(names) < width:
            raise InputError(f"waiting.names: {len(names)} names of {width} columns")
        if not sp.issparse(X) or (np.abs(X.data) >= LARGEST).any():  # NaN is a gap
            raise InputError("waiting: expected records of numbers below 1e154, or NaN")
        ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        pairs = [(X.indices[a:b].tolist(), X.data[a:b].tolist()) for a, b in ends]
        return [{names[j]: v for j, v in zip(*pair, strict=True)} for pair in pairs]
    gaps, expected = False, getattr(model, "n_features_in_", width)
    if hasattr(model, "_waiting_form"):
        gaps, is_sparse, expected = model._waiting_form
        if sp.issparse(X) != is_sparse:
            raise InputError("waiting: expected a sparse matrix where there are words, else none")
    values = X.data if sp.issparse(X) else X
    if np.isinf(values).any() or (np.isnan(values).any() and not gaps):
        raise InputError("waiting: NaN or infinity")
    if expected != width:
        raise InputError(f"waiting: rows of {width} features, which the model does not have")
    return [X[i].copy() for i in range(n)]


def _flat(name: str, arrays: Sequence[NDArray[np.float64] | None]) -> dict[str, Any]:
    """One row each, of any length, one after the other, and their lengths: 0 for None."""
    rows = [np.zeros(0) if array is None else array[0] for array in arrays]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return {name: np.concatenate(rows).astype(np.float64), f"{name}_lengths": lengths}


def _pieces(name: str, held: dict[str, Any], n: int) -> list[Any]:
    """What `_flat` was given."""
    flat, lengths = held[name], held.get(f"{name}_lengths")
    lengths = check_array(f"waiting.{name}_lengths", lengths, (n,), np.int64)
    flat = check_array(f"waiting.{name}", flat, np.shape(flat)[:1], np.float64)
    if lengths.min() < 0 or lengths.max() > len(flat):
        raise InputError(f"waiting.{name}_lengths: expected numbers from 0 to {len(flat)}")
    check_array(f"waiting.{name}", flat, (int(lengths.sum()),), np.float64)
    if not np.isfinite(flat).all():
        raise InputError(f"waiting.{name}: NaN or infinity")
    rows = np.split(flat, np.cumsum(lengths)[:-1])
    return [row[None].copy() if len(row) else None for row in rows]
