"""The trivial baselines that every comparison carries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernbrook.errors import InputError


class _Trivial(BaseEstimator):
    """What both kinds share: neither looks at X."""

    n_support_stored_ = 0
    n_support_active_ = 0
    kernels_ = ()
    labels_asked_: int

    _strategies: tuple[str, ...]
    _learned: tuple[str, ...]

    def __init__(self, strategy: str):
        self.strategy = strategy

    def _forget(self) -> None:
        for name in self._learned:
            self.__dict__.pop(name, None)

    def _check_strategy(self) -> None:
        if self.strategy not in self._strategies:
            raise InputError(
                f"strategy: expected {' or '.join(map(repr, self._strategies))}, "
                f"got {self.strategy!r}"
            )

    @property
    def n_rounds_(self) -> int:
        return self.labels_asked_

    @property
    def kernel_weights_(self) -> NDArray[np.float64]:
        return np.empty(0)


class TrivialClassifier(ClassifierMixin, _Trivial):
    """Predicts without looking at X: what a learner must beat.

    Parameters
    ----------
    strategy : "majority" or "last-label"
        The most frequent label so far (ties, and the first round: the last of the classes), or
        the label just before.

    Examples
    --------
    >>> X, y = [[0.0]] * 4, [0, 0, 1, 1]
    >>> predictions, asked = TrivialClassifier("last-label").learn(X, y)
    >>> predictions
    array([1, 0, 0, 1])
    """

    _strategies = ("majority", "last-label")
    _learned = ("classes_", "counts_", "last_", "labels_asked_")

    def __init__(self, strategy: str = "majority"):
        super().__init__(strategy)

    def fit(self, X: Any, y: Any) -> TrivialClassifier:
        """Forget everything, then learn the labels."""
        self._forget()
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> TrivialClassifier:
        """Learn the labels y, (n,)."""
        self.learn(X, y, classes=classes)
        return self

    def learn(self, X: Any, y: Any, classes: Any = None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Test, ask, train; see `OnlineMKClassifier.learn`."""
        self._check_strategy()
        y = column_or_1d(y)
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(y if classes is None else classes)
            self.counts_ = np.zeros(len(self.classes_), dtype=np.int64)
            self.last_ = len(self.classes_) - 1
            self.labels_asked_ = 0
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if (self.classes_[codes] != y).any():
            unknown = y[(self.classes_[codes] != y).argmax()]
            raise InputError(f"y: label {unknown!s} is not one of the classes {self.classes_}")
        before = np.concatenate([[self.last_], codes])
        if self.strategy == "last-label":
            predicted = before[:-1]
        else:
            ones = np.zeros((len(y) + 1, len(self.classes_)), dtype=np.int64)
            ones[0] = self.counts_
            ones[np.arange(1, len(y) + 1), codes] = 1
            predicted = _last_greatest(ones.cumsum(axis=0)[:-1])
        self.counts_ += np.bincount(codes, minlength=len(self.classes_))
        self.last_ = int(before[-1])
        self.labels_asked_ += len(y)
        return self.classes_[predicted], np.ones(len(y), dtype=bool)

    def predict(self, X: Any) -> NDArray[Any]:
        """The one label, for each row of X."""
        check_is_fitted(self)
        code = self.last_
        if self.strategy == "majority":
            code = int(_last_greatest(self.counts_[None, :])[0])
        return np.full(_rows(X), self.classes_[code])


class TrivialRegressor(RegressorMixin, _Trivial):
    """Predicts a number without looking at X: what a learner must beat.

    Parameters
    ----------
    strategy : "mean" or "last-value"
        The mean of the labels so far, or the label just before; 0 in the first round.

    Examples
    --------
    >>> X, y = [[0.0]] * 4, [2.0, 4.0, 3.0, 1.0]
    >>> predictions, asked = TrivialRegressor("mean").learn(X, y)
    >>> predictions
    array([0., 2., 3., 3.])
    """

    _strategies = ("mean", "last-value")
    _learned = ("total_", "last_", "labels_asked_")

    def __init__(self, strategy: str = "mean"):
        super().__init__(strategy)

    def fit(self, X: Any, y: Any) -> TrivialRegressor:
        """Forget everything, then learn the labels."""
        self._forget()
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any) -> TrivialRegressor:
        """Learn the labels y, (n,)."""
        self.learn(X, y)
        return self

    def learn(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Test, ask, train; see `OnlineMKRegressor.learn`."""
        self._check_strategy()
        y = column_or_1d(y)
        if y.dtype.kind not in "biuf":
            raise InputError(f"y: expected numbers, got {y.dtype}")
        y = y.astype(np.float64)
        if (wrong := ~(np.abs(y) < 1e100)).any():
            raise InputError(f"y: expected numbers of size below 1e100, found {y[wrong][0]:g}")
        if not hasattr(self, "total_"):
            self.total_ = self.last_ = 0.0
            self.labels_asked_ = 0
        before = np.concatenate([[self.last_], y])
        # One after the other, so that the length of a chunk does not matter.
        totals = np.add.accumulate(np.concatenate([[self.total_], y]))
        counts = self.labels_asked_ + np.arange(len(y))
        predicted = totals[:-1] / np.maximum(counts, 1) if self.strategy == "mean" else before[:-1]
        self.total_, self.last_ = float(totals[-1]), float(before[-1])
        self.labels_asked_ += len(y)
        return predicted, np.ones(len(y), dtype=bool)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The one number, for each row of X."""
        check_is_fitted(self)
        mean = self.total_ / max(self.labels_asked_, 1)
        return np.full(_rows(X), mean if self.strategy == "mean" else self.last_)


def _rows(X: Any) -> int:
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def _last_greatest(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) the last index of the greatest count in each row."""
    return counts.shape[1] - 1 - np.argmax(counts[:, ::-1], axis=1)
