"""Models around a model in a model file: rows that wait for labels, and columns by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import COUNTED, shown
from kernbrook.errors import InputError
from kernbrook.estimators.late import LateLabels, keys_of, together
from kernbrook.estimators.named import LARGEST, NamedColumns
from kernbrook.estimators.table_model import TableModel
from kernbrook.estimators.tasks import Learned, joined, task_of
from kernbrook.gram.points import check_array
from kernbrook.persistence.encoding import Reader, Writer, expect
from kernbrook.persistence.file_checks import is_count
from kernbrook.sparse import as_csr
from kernbrook.streams import TableEncoder


def write_waiting(late: LateLabels, writer: Writer, place: str) -> dict[str, Any]:
    """JSON of the rows that wait, with what was said of them; numbers become the tensors waiting.*.

    Records are rows of a CSR matrix, whose columns are all their names.
    """
    rows, said = zip(*late._waiting.values(), strict=True)
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
        "keys": list(late._waiting),
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


def read_waiting(late: Any, body: Any, reader: Reader) -> None:
    """Let the rows of a file wait again.

    Raises
    ------
    InputError
        They do not fit each other, or the model.
    """
    expect("waiting", body, dict)
    if not isinstance(late, LateLabels):
        raise InputError(f"waiting: {type(late).__name__} has none")
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
    _check_said(late, said, n)
    late._waiting = OrderedDict()
    for i, (key, row) in enumerate(zip(keys, _rows(late, held, n), strict=True)):
        scores, chances = held["scores"][i], held["probabilities"][i]
        late._waiting[key] = (
            row, Learned(said[i : i + 1].copy(), np.zeros(1, dtype=bool), scores, chances)
        )  # fmt: skip


def _check_said(late: LateLabels, said: Any, n: int) -> None:
    """Raise InputError unless these are predictions, (n,) labels or numbers, of the model."""
    if not isinstance(said, np.ndarray) or said.shape != (n,):
        raise InputError(f"waiting.predictions: expected {n} of them")
    if task_of(late.model) == "regression":
        if said.dtype != np.float64 or not np.isfinite(said).all():
            raise InputError("waiting.predictions: expected finite numbers")
        return
    for label in said.tolist():
        if not (label is None or isinstance(label, (str, int, float))) or label != label:
            raise InputError(f"waiting.predictions: expected labels, got {shown(label)}")


def _rows(late: LateLabels, held: dict[str, Any], n: int) -> list[Any]:
    """The rows that wait, as they were before."""
    names = held["names"]
    named = isinstance(late.model, NamedColumns)
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
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise InputError("waiting: NaN or infinity")
    if getattr(late.model, "n_features_in_", width) != width:
        raise InputError(f"waiting: rows of {width} features, which the model does not have")
    return [X[i].copy() for i in range(n)]


def check_around(model: Any) -> None:
    """Raise InputError where what it has learned is of no stream, or not of the model inside."""
    learned = vars(model)
    dropped = learned.get("n_dropped_", 0)
    if not is_count(dropped):
        raise InputError(f"n_dropped_: expected an integer from 0, got {shown(dropped)}")
    if not isinstance(model, NamedColumns) or "names_" not in learned:
        return
    totals, counts = learned.get("totals_"), learned.get("counts_")
    width = getattr(model.model, "n_features_in_", np.size(totals))
    if not (type(width) is int and width >= 1):
        raise InputError("totals_: expected one column or more")
    check_array("totals_", totals, (width,), np.float64)
    check_array("counts_", counts, (width,), np.int64)
    names, ignored = learned["names_"], learned.get("ignored_")
    expect("names_", names, list)
    check_names("names_", names, width)
    if counts.min() < 0 or counts.max() > COUNTED or counts[len(names) :].any():
        raise InputError("counts_: expected numbers of values, 0 of columns without a name")
    if not (np.abs(totals) <= 2 * LARGEST * counts).all():  # in spite of rounding
        raise InputError("totals_: expected sums of as many values as counts_ says")
    expect("ignored_", ignored, dict)
    check_names("ignored_", list(ignored), len(ignored))
    if not all(map(is_count, ignored.values())):
        raise InputError("ignored_: expected numbers of rows")


def encoder_of(model: TableModel, parameters: dict[str, Any]) -> dict[str, Any]:
    """What the encoder of a model of tables is; the parameter is taken out, for it follows."""
    parameters.pop("encoder")
    if "encoder_" not in vars(model):
        raise InputError("save: a TableModel that has learned nothing; learn a table before")
    return model.encoder_.described()


def read_encoder(model: TableModel, described: Any) -> None:
    """Set the encoder of a model of tables; InputError where it is none, or not of its rows."""
    encoder = TableEncoder.from_description(described)
    width = len(encoder.get_feature_names_out())
    found = getattr(model.model, "n_features_in_", None)
    if found != width:
        raise InputError(f"encoder: {width} columns, and the model has {shown(found)}")
    expect("label_", vars(model).get("label_"), str)
    if model.label_ in encoder.columns_:
        raise InputError("label_: a column that is learned from")
    model.encoder_, model.encoder = encoder, clone(encoder)


def check_names(what: str, names: Sequence[Any], most: int) -> None:
    """Raise InputError unless these are names, each once, of so many columns at most."""
    if not all(type(name) in (str, int) for name in names) or len(set(names)) < len(names):
        raise InputError(f"{what}: expected text or whole numbers, each once")
    if len(names) > most:
        raise InputError(f"{what}: {len(names)} names of {most} columns")


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
