"""The trivial baselines that every comparison carries."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernbrook.checks import LARGEST, OneOf, check, counted
from kernbrook.errors import InputError
from kernbrook.estimators.labelled import (
    as_labels,
    check_present,
    class_numbers,
    distinct,
    is_empty,
    named,
)
from kernbrook.estimators.validating import in_words
from kernbrook.gram.points import sound
from kernbrook.snapshots import Snapshots
from kernbrook.turns import in_turn


class _Trivial(Snapshots, BaseEstimator):
    """What both kinds share: neither looks at X, though `fit` and `predict` check it."""

    n_support_stored_ = 0
    n_support_active_ = 0
    kernels_ = ()
    labels_asked_: int

    _of_numbers: bool
    _learned: tuple[str, ...]

    def __init__(self, strategy: str):
        self.strategy = strategy

    def _learn_all(self, X: Any, y: Any, **named: Any) -> Any:
        """Learn, with all of scikit-learn's checks; a first call that fails leaves no trace."""
        try:
            self.learn(*self._validated(X, y), **named)
        except BaseException:
            if not hasattr(self, "labels_asked_"):
                self._forget()
            raise
        return self

    def _forget(self) -> None:
        for name in self._learned:
            self.__dict__.pop(name, None)

    def _validated(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        if y is None:
            name = type(self).__name__
            raise InputError(f"{name} requires y to be passed, but the target y is None")
        labels = as_labels(y, warn=True)
        with in_words(X):
            X, y = validate_data(
                self, sound(X), labels, reset=not hasattr(self, "n_features_in_"),
                accept_sparse="csr", y_numeric=self._of_numbers,
            )  # fmt: skip
        return X, y

    def _rows(self, X: Any) -> int:
        """Rows of X, checked where `fit` has seen what they are like."""
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and not is_empty(X):
            with in_words(X):
                X = validate_data(self, sound(X), reset=False, accept_sparse="csr")
        return int(X.shape[0] if hasattr(X, "shape") else len(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

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

    parameter_ranges: ClassVar = {"strategy": OneOf(("majority", "last-label"))}
    _learned = (
        "classes_", "counts_", "last_", "labels_asked_", "n_features_in_", "feature_names_in_",
    )  # fmt: skip
    _of_numbers = False

    def __init__(self, strategy: str = "majority"):
        super().__init__(strategy)

    @in_turn
    def fit(self, X: Any, y: Any) -> TrivialClassifier:
        """Forget everything, then learn the labels."""
        self._forget()
        return self._learn_all(X, y)

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> TrivialClassifier:
        """Learn the labels y, (n,)."""
        return self if is_empty(X) else self._learn_all(X, y, classes=classes)

    @in_turn
    def learn(self, X: Any, y: Any, classes: Any = None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Test, ask, train; see `OnlineMKClassifier.learn`. Every row needs its label."""
        check(self)
        y = as_labels(y)
        check_present(y, "a baseline needs them all")
        if hasattr(self, "classes_"):
            known, counts, last, asked = self.classes_, self.counts_, self.last_, self.labels_asked_
        else:
            if len(y) == 0:
                return y, np.ones(0, dtype=bool)
            known = distinct(y if classes is None else as_labels(classes))
            check_classification_targets(np.repeat(known, 3))
            counts, last, asked = np.zeros(len(known), dtype=np.int64), len(known) - 1, 0
        codes = class_numbers(known, y)
        if (codes < 0).any():
            unknown = y[codes < 0][:1]
            raise InputError(f"y: label {named(unknown)} is not one of the classes {named(known)}")
        asked, before = counted("y", asked, len(y)), np.concatenate([[last], codes])
        if self.strategy == "last-label":
            predicted = before[:-1]
        else:
            ones = np.zeros((len(y) + 1, len(known)), dtype=np.int64)
            ones[0] = counts
            ones[np.arange(1, len(y) + 1), codes] = 1
            predicted = _last_greatest(ones.cumsum(axis=0)[:-1])
        counts = counts + np.bincount(codes, minlength=len(known))
        self.__dict__.update(  # in one call, so that no interruption comes between
            classes_=known, counts_=counts, last_=int(before[-1]), labels_asked_=asked
        )
        return known[predicted], np.ones(len(y), dtype=bool)

    @in_turn
    def predict(self, X: Any) -> NDArray[Any]:
        """The one label, for each row of X."""
        rows = self._rows(X)
        code = self.last_
        if self.strategy == "majority":
            code = int(_last_greatest(self.counts_[None, :])[0])
        return np.full(rows, self.classes_[code])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


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

    parameter_ranges: ClassVar = {"strategy": OneOf(("mean", "last-value"))}
    _learned = ("total_", "last_", "labels_asked_", "n_features_in_", "feature_names_in_")
    _of_numbers = True

    def __init__(self, strategy: str = "mean"):
        super().__init__(strategy)

    @in_turn
    def fit(self, X: Any, y: Any) -> TrivialRegressor:
        """Forget everything, then learn the labels."""
        self._forget()
        return self._learn_all(X, y)

    @in_turn
    def partial_fit(self, X: Any, y: Any) -> TrivialRegressor:
        """Learn the labels y, (n,)."""
        return self if is_empty(X) else self._learn_all(X, y)

    @in_turn
    def learn(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Test, ask, train; see `OnlineMKRegressor.learn`."""
        check(self)
        y = as_labels(y)
        if y.dtype.kind not in "biuf":
            raise InputError(f"y: expected numbers, got {y.dtype}")
        y = y.astype(np.float64)
        if (wrong := ~(np.abs(y) < LARGEST)).any():
            raise InputError(f"y: expected numbers of size below 1e100, found {y[wrong][0]:g}")
        if len(y) == 0:
            return y, np.ones(0, dtype=bool)
        total, last, asked = 0.0, 0.0, 0
        if hasattr(self, "total_"):
            total, last, asked = self.total_, self.last_, self.labels_asked_
        now, before = counted("y", asked, len(y)), np.concatenate([[last], y])
        # One after the other, so that the length of a chunk does not matter.
        totals = np.add.accumulate(np.concatenate([[total], y]))
        counts = asked + np.arange(len(y))
        predicted = totals[:-1] / np.maximum(counts, 1) if self.strategy == "mean" else before[:-1]
        self.__dict__.update(  # in one call, so that no interruption comes between
            total_=float(totals[-1]), last_=float(before[-1]), labels_asked_=now
        )
        return predicted, np.ones(len(y), dtype=bool)

    @in_turn
    def predict(self, X: Any) -> NDArray[np.float64]:
        """The one number, for each row of X."""
        rows = self._rows(X)
        mean = self.total_ / max(self.labels_asked_, 1)
        return np.full(rows, mean if self.strategy == "mean" else self.last_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def _last_greatest(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) the last index of the greatest count in each row."""
    return counts.shape[1] - 1 - np.argmax(counts[:, ::-1], axis=1)
