"""Labels that come late: rows wait under keys, with what was said of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from kernbrook.checks import Other, Whole, check, counted, refusal, shown
from kernbrook.engine.horizons.committees import waiting
from kernbrook.errors import InputError
from kernbrook.estimators.base import Kept, checked, rows_met
from kernbrook.estimators.labelled import as_labels, is_empty
from kernbrook.estimators.named import NamedColumns, records_of
from kernbrook.estimators.tasks import Learned, joined, read, task_of
from kernbrook.estimators.waiting import Waiting, keys_of, read_waiting, together, write_waiting
from kernbrook.gram.arrays import Flags
from kernbrook.plain_values import is_count
from kernbrook.snapshots import Snapshots
from kernbrook.turns import changes


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
        "model": Other("a model of ours that learns from a stream"),
        "limit": Whole(),
        "classes": Other("None or a list of labels"),
    }
    n_dropped_: int
    _waiting: Waiting
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

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    @changes
    def predict_proba(self, X: Any, keys: Any) -> NDArray[np.float64]:
        """(n, c) the probabilities of the model's classes, as `predict`."""
        said = self._wait(X, keys, chances=True).probabilities
        assert said is not None
        return said

    def _wait(self, X: Any, keys: Any, chances: bool = False) -> Learned:
        """What the model says now of rows, which wait from now on; chances : if it gives some."""
        check(self)
        keys, there = keys_of(keys), self._there()
        rows = self._rows(X)
        if (n := rows.shape[0] if hasattr(rows, "shape") else len(rows)) != len(keys):
            raise InputError(f"X has {n} rows but there are {len(keys)} keys")
        if again := [key for key in keys if key in there]:
            raise InputError(f"keys: {again[0]!r} waits for its label already")
        over = max(len(there) + n - self.limit, 0)
        dropped = counted("n_dropped_", vars(self).get("n_dropped_", 0), over)
        with so_many_wait(len(there)):
            said = self._said(rows, n)
        if chances and said.probabilities is None:
            raise NotFittedError("LateLabels: nothing was learned yet, and `classes` names none")
        for i, key in enumerate(keys):
            there[key] = (rows[i].copy(), said.of([i]))  # copied, as a slice would not be
        self.__dict__.update(_waiting=there, n_dropped_=dropped)
        for _ in range(over):
            there.popitem(last=False)
        return said

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
    def learn_scored(self, keys: Any, y: Any) -> Learned:
        """`learn`, with what metrics of scores take: a tuple with names, all of then but `asked`.

        `scores` are (n, c), or (n, 1) for the second of two classes, and `probabilities` (n, c);
        None where one of the rows has none, or has them of other classes.
        """
        return self._learned(keys, y)

    def _learned(self, keys: Any, y: Any) -> Learned:
        keys, there = keys_of(keys), self._there()
        labels = as_labels([None] * len(keys) if y is None else y)
        if len(labels) != len(keys):
            raise InputError(f"there are {len(keys)} keys but y has {len(labels)} labels")
        if unknown := [key for key in keys if key not in there]:
            hint = "it was never predicted, has its label, or was dropped as the oldest"
            raise InputError(f"keys: {unknown[0]!r} does not wait: {hint}")
        if not keys:
            return Learned(labels[:0], np.zeros(0, dtype=bool), None)
        rows, said = zip(*(there[key] for key in keys), strict=True)
        before, learned = rows_met(self.model), keys
        try:
            learn = getattr(self.model, "_learn_waiting", None) or self.model.learn
            asked = learn(together(rows), labels, **self._named())[1]
        except BaseException:  # some blocks are learned as a whole, the others not
            learned = keys[: max(rows_met(self.model) - before, 0)]
            raise
        finally:
            self.__dict__.pop("_begun", None)
            for key in learned:
                del there[key]
        return joined(said)._replace(asked=asked)

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        there = self._there()
        return {"waiting": write_waiting(there, writer, place)} if there else {}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        if not is_count(dropped := vars(self).get("n_dropped_", 0)):
            raise InputError(f"n_dropped_: expected an integer from 0, got {shown(dropped)}")
        if "waiting" in body:
            self._waiting = read_waiting(self.model, body["waiting"], reader)

    waiting_ = property(lambda self: self._there().keys())

    def _there(self) -> Waiting:
        return vars(self).get("_waiting", OrderedDict())

    def _rows(self, X: Any) -> Any:
        """The rows, checked: records, an array or a CSR matrix."""
        learns = hasattr(self.model, "learn") or hasattr(self.model, "_learn_waiting")
        if isinstance(self.model, (LateLabels, type)) or not learns:
            raise refusal(self, "model", "be one that learns from a stream")
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
        width = next((row.shape[-1] for row, _ in self._there().values()), X.shape[1])
        if X.shape[1] != width:
            raise InputError(f"X has {X.shape[1]} features, but the rows that wait have {width}")
        return sp.csr_matrix(X) if sp.issparse(X) else X

    def _said(self, X: Any, n: int) -> Learned:
        """What the model says of n rows; nobody was asked."""
        model, none = self.model, np.zeros(n, dtype=bool)
        if n == 0:
            return Learned(as_labels([]), none, None)
        try:
            return read(model, X)
        except NotFittedError:
            if self.classes is None and task_of(model) == "classification":
                return Learned(np.full(n, None), none)
            if (model := vars(self).get("_begun")) is None:  # made once: it takes long
                model = clone(self.model)
                model.learn(X[:1], [None], **self._named())
            self._begun = model
            return read(model, X)

    def _named(self) -> dict[str, Any]:
        if self.classes is not None and task_of(self.model) == "regression":
            raise refusal(self, "classes", "be None where the model predicts numbers")
        return {} if self.classes is None else {"classes": self.classes}


@contextmanager
def so_many_wait(rows: int) -> Iterator[None]:
    """What is predicted here is farther from the last label by so many rows."""
    token = waiting.set(rows)
    try:
        yield
    finally:
        waiting.reset(token)
