"""Rows that nothing can be learned from: NaN, infinity, what is no number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from kernbrook.checks import check, counted, placed
from kernbrook.errors import InputError
from kernbrook.estimators.input_checks import importance_of
from kernbrook.estimators.labelled import as_labels, is_empty
from kernbrook.estimators.tasks import Learned
from kernbrook.gram.arrays import Flags, sound


def good_rows(X: Any, most: float = np.inf) -> Flags:
    """(n,) bool: rows of finite numbers, the sum of whose squares is below `most`.

    Examples
    --------
    >>> good_rows([[1, 2], [3, "four"], [float("nan"), 5]])
    array([ True, False, False])
    """
    X = sound(X)
    if sp.issparse(X):
        sizes = np.abs(X.data.astype(np.float64))
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        with np.errstate(over="ignore"):
            return np.asarray(np.bincount(rows, sizes**2, X.shape[0]) < most)
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        each = X.to_numpy(dtype=object) if hasattr(X, "to_numpy") else X
        return np.array([_is_good(row, most) for row in each], dtype=bool)
    with np.errstate(over="ignore"):
        return np.asarray((numbers**2).sum(axis=-1) < most)


def _is_good(row: Any, most: float) -> bool:
    try:
        return bool(good_rows(np.asarray(row, dtype=np.float64)[None], most)[0])
    except (TypeError, ValueError, OverflowError):
        return False


def runs(good: Flags) -> Iterator[tuple[slice, bool]]:
    """Slices of rows that are all good, or all bad, in their order."""
    ends = np.flatnonzero(np.diff(good)) + 1
    for start, end in zip([0, *ends], [*ends, len(good)], strict=True):
        yield slice(int(start), int(end)), bool(good[start])


def rows_met(model: Any) -> int:
    """Rows that a model has learned from or skipped: how far it is in what it was given."""
    rows: int = getattr(model, "n_rounds_", 0) + getattr(model, "n_rows_skipped_", 0)
    return rows


class SkipsBadRows:
    """What a machine does with such rows where they are to be skipped."""

    on_bad_rows: str
    n_rows_skipped_: int
    _allowed: Any  # of these the machine says what they do
    _learn_rows: Any

    def _uninformed(self) -> Any:
        """What is said of a row that says nothing."""
        raise NotImplementedError

    def _skip(self, X: Any) -> Flags | None:
        """(n,) bool, the rows to learn from; None where they are all."""
        check(self)
        if self.on_bad_rows == "error" or is_empty(X):
            return None
        self.__dict__.setdefault("n_rows_skipped_", 0)
        good = good_rows(X, self._allowed(X).norms)
        return None if good.ndim != 1 or good.all() else good

    def _left_out(self, rows: int) -> None:
        before: int = vars(self)["n_rows_skipped_"]
        self.n_rows_skipped_ = counted("n_rows_skipped_", before, rows)

    @contextmanager
    def _good_ones(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Of rows, labels and weights, those to learn from; the others count as far as it came."""
        good = self._skip(X)
        if good is None or y is None:
            yield X, y, sample_weight
            return
        there, y = np.flatnonzero(good), as_labels(y)
        if len(y) != len(good):
            raise InputError(f"X has {len(good)} rows but y has {len(y)} labels")
        weights = None if sample_weight is None else importance_of(sample_weight, len(y))[there]
        counted("n_rows_skipped_", vars(self)["n_rows_skipped_"], len(y) - len(there))
        places, before = [*there.tolist(), len(y)], getattr(self, "n_rounds_", 0)
        try:
            with placed(places):
                yield _safe_indexing(X, there), y[there], weights
        finally:
            learned = max(getattr(self, "n_rounds_", 0) - before, 0)
            self._left_out(places[learned] - learned)

    def _learn_between(
        self, good: Flags, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> Learned:
        """`learn` where some rows are skipped, of which is said what says nothing of them."""
        n = len(good)
        weights, labels = importance_of(sample_weight, n), y
        if y is not None and not callable(y):
            labels = as_labels(y)
            if len(labels) != n:
                raise InputError(f"X has {n} rows but y has {len(labels)} labels")
        parts = []
        for where, is_good in runs(good):
            if is_good:
                own = labels if labels is None or callable(labels) else labels[where]
                rows = _safe_indexing(X, np.arange(where.start, where.stop))
                with placed(range(where.start, where.stop)):
                    parts.append(self._learn_rows(rows, own, classes, weights[where])[:2])
            else:
                count = where.stop - where.start
                self._left_out(count)
                parts.append((np.array([self._uninformed()] * count), np.zeros(count, dtype=bool)))
        predictions, asked = zip(*parts, strict=True)
        return Learned(np.concatenate(predictions), np.concatenate(asked), None)
