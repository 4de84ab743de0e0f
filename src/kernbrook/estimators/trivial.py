"""The trivial baselines that every comparison carries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernbrook.checks import LARGEST, OneOf, check, counted, parameters, shown
from kernbrook.engine.model import Model
from kernbrook.errors import InputError
from kernbrook.estimators.base import Kept, checked
from kernbrook.estimators.confidence import Residuals, check_coverage, covering, intervals_of
from kernbrook.estimators.labels import (
    agreeing,
    as_labels,
    as_numbers,
    check_discrete,
    check_kept_classes,
    distinct,
    is_empty,
    known_numbers,
    number_of_rows,
    present,
)
from kernbrook.estimators.tasks import Outputs
from kernbrook.gram.arrays import Flags, Floats, check_array
from kernbrook.plain_values import is_count
from kernbrook.snapshots import Snapshots
from kernbrook.turns import in_turn


class _Trivial(Kept, Snapshots, BaseEstimator):
    """What both kinds share: neither looks at X, though `fit` and `predict` check it."""

    n_support_stored_ = 0
    n_support_active_ = 0
    kernels_ = ()
    kernel_weights_ = property(lambda self: np.empty(0))
    labels_asked_: int

    strategy: str
    _of_numbers: bool
    _learned: tuple[str, ...]  # names of what is known of the labels so far

    @in_turn
    def fit(self, X: Any, y: Any) -> Self:
        self._forget()
        return self._learn_all(X, y, None)

    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn the labels y, (n,); classes : all labels of a classifier."""
        return self if is_empty(X) else self._learn_all(X, y, classes)

    @in_turn
    def learn(self, X: Any, y: Any, classes: Any = None) -> tuple[NDArray[Any], Flags]:
        """Test, ask, train; see `OnlineMKClassifier.learn`."""
        return self._learn_scored(X, y, classes)[:2]

    @in_turn
    def _learn_scored(self, X: Any, y: Any, classes: Any = None) -> Outputs:
        check(self)
        y = as_labels(y)
        labelled = present(y)
        known, labels = self.__dict__, int(labelled.sum())
        outputs, sums = self._predict_each(y[labelled], labelled.cumsum() - labelled, classes)
        if sums:
            asked = counted("y", known.get("labels_asked_", 0), labels)
            passed = counted("y", known.get("n_unlabelled_", 0), len(labelled) - labels)
            known.update(  # in one call, so that no interruption comes between
                sums, labels_asked_=asked, **({"n_unlabelled_": passed} if passed else {})
            )
        return outputs._replace(asked=labelled)

    def _predict_each(
        self, labels: NDArray[Any], so_far: NDArray[Any], classes: Any
    ) -> tuple[Outputs, dict[str, Any]]:
        """What is said of rows, and what is known after their labels: by their names.

        labels : (k,) those that are there; so_far : (n,) how many of them come before each row
        """
        raise NotImplementedError

    @in_turn
    def predict(self, X: Any) -> NDArray[Any]:
        return self._predict_outputs(X).predictions

    def _predict_outputs(self, X: Any) -> Outputs:
        """What is said of rows, which `fit` has seen the like of where it was called."""
        check_is_fitted(self)
        if hasattr(self, "n_features_in_") and not is_empty(X):
            X = checked(X, self)
        outputs = self._predict_each(np.empty(0), np.zeros(1, dtype=np.int64), None)[0]
        every = np.zeros(number_of_rows(X), dtype=np.intp)
        return outputs._replace(asked=np.zeros(1, dtype=bool)).of(every)

    def _learn_all(self, X: Any, y: Any, classes: Any) -> Self:
        """Learn, with all of scikit-learn's checks; a first call that fails leaves no trace."""
        try:
            if y is None:
                name = type(self).__name__
                raise InputError(f"{name} requires y to be passed, but the target y is None")
            labels = as_labels(y, warn=True)
            X, y = checked(X, self, not hasattr(self, "n_features_in_"), labels)
            self.learn(X, y, classes)
        except BaseException:
            if not hasattr(self, "labels_asked_"):
                self._forget()
            raise
        return self

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            del self.__dict__[name]

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        self.check_learned({name: vars(self)[name] for name in body["fitted"]})

    def check_learned(self, learned: Mapping[str, Any]) -> None:
        if not learned:
            return
        for name in self._learned:
            if name not in learned and name != "n_unlabelled_":  # most data have all labels
                raise InputError(f"{name} is missing")
        for name in ("labels_asked_", "n_unlabelled_"):
            if not is_count(found := learned.get(name, 0)):
                raise InputError(f"{name}: expected an integer from 0, got {shown(found)}")
        self._check_sums(learned)

    def _check_sums(self, learned: Mapping[str, Any]) -> None:
        """The same of what the kinds have of so many labels."""
        raise NotImplementedError

    @property
    def n_rounds_(self) -> int:
        return self.labels_asked_ + getattr(self, "n_unlabelled_", 0)


@parameters
class TrivialClassifier(ClassifierMixin, _Trivial):
    """Predicts without looking at X: what a learner must beat.

    Parameters
    ----------
    strategy : "majority" or "last-label"
        The most frequent label so far (ties, and the first round: the last of the classes), or
        the label just before.

    Notes
    -----
    "majority" has probabilities: the shares of the labels so far, with one more of each class (the
    rule of succession).

    Examples
    --------
    >>> X, y = [[0.0]] * 4, [0, 0, 1, 1]
    >>> predictions, asked = TrivialClassifier("last-label").learn(X, y)
    >>> predictions
    array([1, 0, 0, 1])
    """

    strategy: Annotated[str, OneOf(("majority", "last-label"))] = "majority"
    _learned = ("classes_", "counts_", "last_", "labels_asked_", "n_unlabelled_")
    _of_numbers = False

    def _predict_each(
        self, labels: NDArray[Any], so_far: NDArray[Any], classes: Any
    ) -> tuple[Outputs, dict[str, Any]]:
        if hasattr(self, "classes_"):
            known, counts, last = self.classes_, self.counts_, self.last_
        elif len(so_far) == 0:
            return Outputs(labels, so_far, None), {}
        else:
            known = distinct(labels if classes is None else as_labels(classes))
            if len(known) == 0:
                raise InputError("y: no row has a label: expected one, or classes")
            check_discrete(known)
            counts, last = np.zeros(len(known), dtype=np.int64), len(known) - 1
        codes = known_numbers(known, labels)
        before = np.concatenate([[last], codes])
        predicted, chances = before[so_far], None
        if self.strategy == "majority":
            ones = np.zeros((len(codes) + 1, len(known)), dtype=np.int64)
            ones[0] = counts
            ones[np.arange(1, len(codes) + 1), codes] = 1
            predicted, chances = _majority(ones.cumsum(axis=0)[so_far])
        counts = counts + np.bincount(codes, minlength=len(known))
        outputs = Outputs(known[predicted], so_far, None, chances)
        return outputs, {"classes_": known, "counts_": counts, "last_": int(before[-1])}

    @available_if(lambda self: self.strategy == "majority")
    @in_turn
    def predict_proba(self, X: Any) -> Floats:
        """(n, c) the shares of the labels so far, for each row of X."""
        chances = self._predict_outputs(X).probabilities
        assert chances is not None
        return chances

    def _check_sums(self, learned: Mapping[str, Any]) -> None:
        classes, counts = learned["classes_"], learned["counts_"]
        last, asked = learned["last_"], learned["labels_asked_"]
        check_kept_classes(classes, 1)
        check_array("counts_", counts, (len(classes),), np.int64)
        if counts.min() < 0 or sum(counts.tolist()) != asked:
            raise InputError(f"counts_: expected numbers from 0, {asked} together")
        if not (type(last) is int and 0 <= last < len(classes)):
            raise InputError(f"last_: expected the number of one of {len(classes)} classes")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@parameters
class TrivialRegressor(RegressorMixin, _Trivial):
    """Predicts a number without looking at X: what a learner must beat.

    Parameters
    ----------
    strategy : "mean" or "last-value"
        The mean of the labels so far, or the label just before; 0 in the first round.

    Notes
    -----
    "mean" has intervals: those of a further label where the labels are normal and independent, by
    Student's distribution. Other labels they cover more or less often.

    Examples
    --------
    >>> X, y = [[0.0]] * 4, [2.0, 4.0, 3.0, 1.0]
    >>> predictions, asked = TrivialRegressor("mean").learn(X, y)
    >>> predictions
    array([0., 2., 3., 3.])
    """

    strategy: Annotated[str, OneOf(("mean", "last-value"))] = "mean"
    _learned = ("total_", "first_", "squares_", "last_", "labels_asked_", "n_unlabelled_")
    _of_numbers = True

    def _predict_each(
        self, labels: NDArray[Any], so_far: NDArray[Any], classes: Any
    ) -> tuple[Outputs, dict[str, Any]]:
        if classes is not None:
            raise InputError("classes: expected None where numbers are predicted")
        y = as_numbers(labels).astype(np.float64)
        if (wrong := ~(np.abs(y) < LARGEST)).any():
            raise InputError(f"y: expected numbers of size below 1e100, found {y[wrong][0]:g}")
        if len(so_far) == 0:
            return Outputs(y, so_far, None), {}
        total, first, squares, last = (getattr(self, k, 0.0) for k in self._learned[:4])
        asked = getattr(self, "labels_asked_", 0)
        if asked == 0 and len(y):
            first = float(y[0])
        before = np.concatenate([[last], y])
        # One after the other, so that the length of a chunk does not matter.
        totals = np.add.accumulate(np.concatenate([[total], y]))
        sums = np.add.accumulate(np.concatenate([[squares], (y - first) ** 2]))
        counts, predicted, half = asked + so_far, before[so_far], None
        if self.strategy == "mean":
            predicted = totals[so_far] / np.maximum(counts, 1)
            if (coverage := covering.get()) is not None:
                half = _half_widths(counts, predicted - first, sums[so_far], coverage)
        known = float(totals[-1]), first, float(sums[-1]), float(before[-1])
        outputs = Outputs(predicted, so_far, None, half_widths=half)
        return outputs, dict(zip(self._learned, known, strict=False))

    @available_if(lambda self: self.strategy == "mean")
    @in_turn
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """(n, 2) the one interval, for each row of X; infinite before the second label."""
        check_coverage("coverage", coverage)
        with intervals_of(coverage):
            intervals = self._predict_outputs(X).intervals
        assert intervals is not None
        return intervals

    def _check_sums(self, learned: Mapping[str, Any]) -> None:
        for name in self._learned[:4]:
            if not (type(learned[name]) is float and math.isfinite(learned[name])):
                raise InputError(f"{name}: expected a number, got {shown(learned[name])}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def rule_of(model: Any) -> TrivialClassifier | TrivialRegressor | None:
    """The majority or the mean of the labels that a model has learned, each label once.

    None of a model that has learned none or does not know them, such as one that learns from all
    data at once.
    """
    rule: Any = None
    learned = getattr(model, "_model", None)
    calibration = learned.certain() if isinstance(learned, Model) else None
    if isinstance(model, _Trivial):
        rule = TrivialRegressor() if model._of_numbers else TrivialClassifier()
        vars(rule).update({k: vars(model)[k] for k in model._learned if k in vars(model)})
    elif isinstance(calibration, Residuals):
        count, total, squares = calibration.summed()
        first, rule = getattr(model, "offset_", 0.0), TrivialRegressor()
        vars(rule).update(
            labels_asked_=count, total_=total + count * first, first_=first, squares_=squares,
            last_=first,
        )  # fmt: skip
    elif calibration is not None:
        counts, rule = calibration.counts, TrivialClassifier()
        vars(rule).update(
            labels_asked_=int(counts.sum()), counts_=counts.copy(), classes_=model.classes_, last_=0
        )
    return rule if getattr(rule, "labels_asked_", 0) else None


def _majority(counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], Floats]:
    """(n,) the last index of the greatest count in each row, and (n, c) shares that agree."""
    last = counts.shape[1] - 1 - np.argmax(counts[:, ::-1], axis=1)
    more: Floats = counts.astype(np.float64) + 1.0
    shares: Floats = more / more.sum(axis=1, keepdims=True)
    if shares.shape[1] > 1:
        shares = agreeing(shares, last, np.zeros((len(last), 1)))
    return last, shares


def _half_widths(counts: Any, means: Floats, squares: Any, coverage: float) -> Floats:
    """(n,) half widths of intervals for one label more; infinite where there are not two.

    counts : (n,) labels so far; means : of these, less the first one; squares : sums of their
    squares, less the first one
    """
    free = np.maximum(counts - 1.0, 1.0)
    variance = np.maximum(squares - counts * means**2, 0.0) / free
    half = stdtrit(free, (1 + coverage) / 2) * np.sqrt(variance * (1 + 1 / np.maximum(counts, 1)))
    return np.where(counts > 1, half, np.inf)
