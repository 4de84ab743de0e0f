"""The trivial baselines that every comparison carries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernbrook.errors import InputError


class TrivialClassifier(ClassifierMixin, BaseEstimator):
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

    n_support_stored_ = 0
    n_support_active_ = 0
    kernels_ = ()

    def __init__(self, strategy: str = "majority"):
        self.strategy = strategy

    def fit(self, X: Any, y: Any) -> TrivialClassifier:
        """Forget everything, then learn the labels."""
        for name in ("classes_", "counts_", "last_", "labels_asked_"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> TrivialClassifier:
        """Learn the labels y, (n,)."""
        self.learn(X, y, classes=classes)
        return self

    def learn(self, X: Any, y: Any, classes: Any = None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Test, ask, train; see `OnlineMKClassifier.learn`."""
        if self.strategy not in ("majority", "last-label"):
            raise InputError(
                f"strategy: expected 'majority' or 'last-label', got {self.strategy!r}"
            )
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
        if self.strategy == "last-label":
            predicted = np.concatenate([[self.last_], codes[:-1]])
        else:
            ones = np.zeros((len(y) + 1, len(self.classes_)), dtype=np.int64)
            ones[0] = self.counts_
            ones[np.arange(1, len(y) + 1), codes] = 1
            predicted = _last_greatest(ones.cumsum(axis=0)[:-1])
        self.counts_ += np.bincount(codes, minlength=len(self.classes_))
        self.last_ = int(codes[-1])
        self.labels_asked_ += len(y)
        return self.classes_[predicted], np.ones(len(y), dtype=bool)

    def predict(self, X: Any) -> NDArray[Any]:
        """The one label, for each row of X."""
        check_is_fitted(self)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        code = self.last_
        if self.strategy == "majority":
            code = int(_last_greatest(self.counts_[None, :])[0])
        return np.full(n, self.classes_[code])

    @property
    def kernel_weights_(self) -> NDArray[np.float64]:
        return np.empty(0)


def _last_greatest(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) the last index of the greatest count in each row."""
    return counts.shape[1] - 1 - np.argmax(counts[:, ::-1], axis=1)
