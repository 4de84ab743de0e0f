"""Labels that come late: rows wait under keys, with what was said of them."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from kernbrook.checks import Other, Such, Whole, check, counted, is_number, refusal, shown
from kernbrook.errors import InputError
from kernbrook.estimators.base import LEARNS, Kept, checked, if_model_has, rows_seen
from kernbrook.estimators.by_name import LARGEST, NamedColumns, check_names, records_of
from kernbrook.estimators.labels import as_labels, is_empty, number_of_rows
from kernbrook.estimators.tasks import Outputs, joined, predict_outputs, task_of, waiting
from kernbrook.gram.arrays import Flags, check_array
from kernbrook.plain_values import expect, is_count
from kernbrook.snapshots import Snapshots
from kernbrook.sparse import as_csr
from kernbrook.turns import changes

Key = str | int | float
Pending = OrderedDict[Key, tuple[Any, Outputs]]  # (d,) array, (1, d) CSR matrix, or record


class LateLabels(Kept, Snapshots, BaseEstimator):
    """A model whose labels come late: it predicts now, and learns when they come.

    Rows wait under their keys. When a label comes its row is learned, and what was said then is
    given back: test, then train, with a delay. A row is so much farther from the last label as rows
    wait already, see `delay` of the model. Before anything was learned, that is what `learn` says
    of a first row; None where a classifier does not know its classes.

    Parameters
    ----------
    model : one of ours that learns from a stream; it learns in place
        Of a `NamedColumns` or a `TableModel` records wait; where their gaps are filled by means,
        those are the means when the label comes. A `TableModel` has learned a table before.
    limit : int, rows that wait at most, so that memory is bounded; then the oldest is dropped
    classes : all labels of a classifier, which labels are then held to
        None: those of the first call of `learn`, two or more; others may come later

    Attributes
    ----------
    waiting_ : the keys that wait, oldest first; `len` of them is quick
    n_dropped_ : rows that were dropped

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> late = kb.LateLabels(kb.OnlineMKClassifier(random_state=0), classes=["down", "up"])
    >>> said = late.predict(X, keys=range(200))
    >>> _ = late.learn(range(150), np.where(X[:150, 0] > 0, "up", "down"))
    >>> print(len(late.waiting_), late.predict([[3.0, 0.0]], keys=["next"]))
    50 ['up']
    """

    parameter_ranges: ClassVar = {
        "model": Such(
            LEARNS.words,
            lambda model: (
                not isinstance(model, (LateLabels, type))
                and (hasattr(model, "learn") or hasattr(model, "_learn_waiting"))
            ),
        ),
        "limit": Whole(),
        "classes": Other("None or a list of labels"),
    }
    n_dropped_: int
    _waiting: Pending
    _kept_around = True
    _kept_entries = ("waiting",)

    def __init__(self, model: Any, limit: int = 100_000, classes: Any = None):
        self.model = model
        self.limit = limit
        self.classes = classes

    @changes
    def predict(self, X: Any, keys: Any) -> NDArray[Any]:
        """(n,) what the model says now of rows, which wait from now on.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; of a `NamedColumns` a frame or records, of a `TableModel`
            a table or records
        keys : (n,) numbers or text, one for each row; none of them may wait already
        """
        return self._wait(X, keys).predictions

    @if_model_has("predict_proba")
    @changes
    def predict_proba(self, X: Any, keys: Any) -> NDArray[np.float64]:
        """(n, c) the probabilities of the model's classes, as `predict`."""
        probabilities = self._wait(X, keys, chances=True).probabilities
        assert probabilities is not None
        return probabilities

    @changes
    def predict_scored(self, X: Any, waiting: int | None = None) -> Outputs:
        """All that the model says now of rows, which do not wait: as `learn_scored` gives it.

        waiting : rows that stand between the last label and these; None: as many as wait here
        """
        check(self)
        ahead = len(self._pending()) if waiting is None else waiting
        return self._predict_now(self._rows(X), ahead)

    say = predict_scored  # its name until the next release

    def _wait(self, X: Any, keys: Any, chances: bool = False) -> Outputs:
        """What the model says now of rows, which wait from now on; chances : if it gives some."""
        check(self)
        keys, pending = keys_of(keys), self._pending()
        rows = self._rows(X)
        if (n := number_of_rows(rows)) != len(keys):
            raise InputError(f"X has {n} rows but there are {len(keys)} keys")
        if again := [key for key in keys if key in pending]:
            raise InputError(f"keys: {shown(again[0])} waits for its label already")
        over = max(len(pending) + n - self.limit, 0)
        dropped = counted("n_dropped_", vars(self).get("n_dropped_", 0), over)
        outputs = self._predict_now(rows, len(pending))
        if chances and outputs.probabilities is None:
            raise NotFittedError("LateLabels: nothing was learned yet, and `classes` names none")
        for i, key in enumerate(keys):
            pending[key] = (rows[i].copy(), outputs.of([i]))  # copied, as a slice would not be
        self.__dict__.update(_waiting=pending, n_dropped_=dropped)
        for _ in range(over):
            pending.popitem(last=False)
        return outputs

    @changes
    def learn(self, keys: Any, y: Any) -> tuple[NDArray[Any], Flags]:
        """Learn rows in this order: their predictions of then, and (n,) bool, who was asked.

        Parameters
        ----------
        keys : (n,) of rows that wait; they do no longer
        y : (n,) labels; None or NaN is a round without one, None instead of them all too

        Raises
        ------
        InputError
            A key does not wait, or a label is not what was expected: then nothing is learned.
        """
        return self._learned(keys, y)[:2]

    @changes
    def learn_scored(self, keys: Any, y: Any) -> Outputs:
        """`learn`, with what metrics of scores take: a tuple with names, all of then but `asked`.

        `scores` are (n, c), or (n, 1) for the second of two classes, and `probabilities` (n, c);
        None where one of the rows has none, or has them of other classes.
        """
        return self._learned(keys, y)

    def _learned(self, keys: Any, y: Any) -> Outputs:
        keys, pending = keys_of(keys), self._pending()
        labels = as_labels([None] * len(keys) if y is None else y)
        if len(labels) != len(keys):
            raise InputError(f"there are {len(keys)} keys but y has {len(labels)} labels")
        if unknown := [key for key in keys if key not in pending]:
            hint = "it was never predicted, has its label, or was dropped as the oldest"
            raise InputError(f"keys: {shown(unknown[0])} does not wait: {hint}")
        if not keys:
            return Outputs(labels[:0], np.zeros(0, dtype=bool), None)
        rows, outputs = zip(*(pending[key] for key in keys), strict=True)
        before, learned = rows_seen(self.model), keys
        try:
            learn = getattr(self.model, "_learn_waiting", None) or self.model.learn
            asked = learn(together(rows), labels, **self._named())[1]
        except BaseException:  # some blocks are learned as a whole, the others not
            learned = keys[: max(rows_seen(self.model) - before, 0)]
            raise
        finally:
            self.__dict__.pop("_begun", None)
            for key in learned:
                del pending[key]
        return joined(outputs)._replace(asked=asked)

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        pending = self._pending()
        return {"waiting": write_waiting(pending, writer, place)} if pending else {}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        if not is_count(dropped := vars(self).get("n_dropped_", 0)):
            raise InputError(f"n_dropped_: expected an integer from 0, got {shown(dropped)}")
        if "waiting" in body:
            self._waiting = read_waiting(self.model, body["waiting"], reader)

    waiting_ = property(lambda self: self._pending().keys())

    def _pending(self) -> Pending:
        return vars(self).get("_waiting", OrderedDict())

    def _rows(self, X: Any) -> Any:
        """The rows, checked: records, an array or a CSR matrix."""
        if isinstance(self.model, NamedColumns):
            return records_of(X)
        if is_empty(X):
            return []
        if hasattr(self.model, "_waiting_rows"):
            X = self.model._waiting_rows(X)
            return sp.csr_matrix(X) if sp.issparse(X) else X
        if hasattr(X, "columns") or (isinstance(X, list) and X and isinstance(X[0], dict)):
            wanted = "LateLabels(NamedColumns(model)), and for text LateLabels(TableModel(model))"
            raise InputError(f"X: has names, for which there is {wanted}")
        X = checked(X)
        width = next((row.shape[-1] for row, _ in self._pending().values()), X.shape[1])
        if X.shape[1] != width:
            raise InputError(f"X has {X.shape[1]} features, but the rows that wait have {width}")
        return sp.csr_matrix(X) if sp.issparse(X) else X

    def _predict_now(self, rows: Any, waiting: int) -> Outputs:
        """What the model says of rows, before which so many wait; nobody was asked."""
        model, n = self.model, number_of_rows(rows)
        if n == 0:
            return Outputs(as_labels([]), np.zeros(0, dtype=bool), None)
        with rows_waiting(waiting):
            try:
                return predict_outputs(model, rows)
            except NotFittedError:
                if self.classes is None and task_of(model) == "classification":
                    return Outputs(np.full(n, None), np.zeros(n, dtype=bool))
                if (model := vars(self).get("_begun")) is None:  # made once: it takes long
                    model = clone(self.model)
                    model.learn(rows[:1], [None], **self._named())
                self._begun = model
                return predict_outputs(model, rows)

    def _named(self) -> dict[str, Any]:
        if self.classes is not None and task_of(self.model) == "regression":
            raise refusal(self, "classes", "be None where the model predicts numbers")
        return {} if self.classes is None else {"classes": self.classes}


@contextmanager
def rows_waiting(rows: int) -> Iterator[None]:
    """What is predicted here is farther from the last label by so many rows."""
    token = waiting.set(rows)
    try:
        yield
    finally:
        waiting.reset(token)


# -- rows that wait --------------------------------------------------------------------------------


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
        raise InputError(f"keys: {shown(most[0][0])} comes {most[0][1]} times")
    return found


def write_waiting(pending: Pending, writer: Any, place: str) -> dict[str, Any]:
    """JSON of the rows that wait, with what was said of them; numbers become the tensors waiting.*.

    Records are rows of a CSR matrix, whose columns are all their names.
    """
    rows, outputs = zip(*pending.values(), strict=True)
    names, X = None, together(rows)
    if isinstance(X, list):
        names = list(dict.fromkeys(name for row in rows for name in row))
        number = {name: i for i, name in enumerate(names)}
        indices = np.array([number[name] for row in rows for name in row], dtype=np.int64)
        data = np.array([value for row in rows for value in row.values()], dtype=np.float64)
        indptr = np.cumsum([0, *map(len, rows)])
        X = sp.csr_matrix((data, indices, indptr), shape=(len(rows), len(names)))
    held = {"keys": list(pending), "names": names, "predictions": joined(outputs).predictions}
    for name in ("scores", "probabilities"):  # a row each of any length, which is 0 for None
        arrays = [getattr(output, name) for output in outputs]
        flat = [np.zeros(0) if array is None else array[0] for array in arrays]
        held[name] = np.concatenate(flat).astype(np.float64)
        held[f"{name}_lengths"] = np.array([len(row) for row in flat], dtype=np.int64)
    if sp.issparse(X):
        indices, indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        held.update(width=X.shape[1], data=X.data, indices=indices, indptr=indptr)
    else:
        held["X"] = X
    return writer.values(held, f"{place}waiting.")


def read_waiting(model: Any, body: Any, reader: Any) -> Pending:
    """The rows of a file, which wait for labels of a model."""
    expect("waiting", body, dict)
    held = {name: reader.value(value) for name, value in body.items()}
    for name in ("keys", "names", "predictions", "scores", "probabilities"):
        if name not in held:
            raise InputError(f"waiting.{name} is missing")
    expect("waiting.keys", held["keys"], list)
    keys = keys_of(held["keys"])
    if not keys:
        raise InputError("waiting.keys: expected one or more")
    n, predictions = len(keys), held["predictions"]
    if not isinstance(predictions, np.ndarray) or predictions.shape != (n,):
        raise InputError(f"waiting.predictions: expected {n} of them")
    if task_of(model) == "regression":
        check_array("waiting.predictions", predictions, (n,), np.float64)
    scores, chances = (_pieces(name, held, n) for name in ("scores", "probabilities"))
    none, pending = np.zeros(1, dtype=bool), Pending()
    for i, (key, row) in enumerate(zip(keys, _rows(model, held, n), strict=True)):
        pending[key] = row, Outputs(predictions[i : i + 1].copy(), none, scores[i], chances[i])
    return pending


def _rows(model: Any, held: dict[str, Any], n: int) -> list[Any]:
    """The rows that wait, as they were before."""
    names, width = held["names"], held.get("width", -1)
    if not isinstance(names, list if isinstance(model, NamedColumns) else type(None)):
        raise InputError("waiting.names: expected names where the model has named columns")
    if (X := held.get("X")) is not None:
        width = X.shape[-1] if isinstance(X, np.ndarray) and X.ndim else 0
        check_array("waiting.X", X, (n, width), np.float64)
    else:
        if not is_count(width):
            raise InputError(f"waiting.width: expected an integer from 0, got {shown(width)}")
        data, indices, indptr = (held.get(k, ()) for k in ("data", "indices", "indptr"))
        check_array("waiting.indptr", indptr, (n + 1,), np.int64)
        check_array("waiting.indices", indices, np.shape(data)[:1], np.int64)
        check_array("waiting.data", data, np.shape(data)[:1], np.float64)
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
        entries = list(zip((names[j] for j in X.indices.tolist()), X.data.tolist(), strict=True))
        return [dict(entries[a:b]) for a, b in pairwise(X.indptr.tolist())]
    gaps, is_sparse, expected = False, sp.issparse(X), getattr(model, "n_features_in_", width)
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


def _pieces(name: str, held: dict[str, Any], n: int) -> list[Any]:
    """What was said of each row, which stands one behind the other."""
    flat, lengths = held[name], held.get(f"{name}_lengths")
    lengths = check_array(f"waiting.{name}_lengths", lengths, (n,), np.int64)
    if lengths.min() < 0 or lengths.max() > np.size(flat):
        raise InputError(f"waiting.{name}_lengths: expected numbers from 0 to {np.size(flat)}")
    flat = check_array(f"waiting.{name}", flat, (int(lengths.sum()),), np.float64)
    if not np.isfinite(flat).all():
        raise InputError(f"waiting.{name}: NaN or infinity")
    rows = np.split(flat, np.cumsum(lengths)[:-1])
    return [row[None].copy() if len(row) else None for row in rows]
