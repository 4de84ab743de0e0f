"""The composed machine as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from kernbrook.combiners import BestOfPrefix
from kernbrook.errors import InputError
from kernbrook.kernels import resolve
from kernbrook.models.points import DenseRows, Floats, Labels, Rows, SparseRows
from kernbrook.models.runs import ExpertRun, Run, Setting, make_run

_LEARNED = (
    "_run", "classes_", "feature_names_in_", "kernels_",
    "n_features_in_",
)  # fmt: skip


class OnlineMKClassifier(ClassifierMixin, BaseEstimator):
    """Online learning with many kernels: kernels x learner x combiner x selection x labels.

    One learner for each kernel learns from a stream; a combiner weighs their votes. The result
    never depends on how the stream is cut into chunks. With more than two classes, an update goes
    to the label's class and to the best other one (Crammer and Singer, 2003).

    Parameters
    ----------
    kernels : str, kernel, function or list of these
        "omkc16" and "amkl17" are the papers' pools. A function takes two arrays, (n, d) and
        (m, d), and gives an (n, m) array.
    learner : learner of each kernel; `Perceptron()` by default
    combiner : what weighs the learners; `FixedShare()` by default
    selection : which learners are updated and vote; all of them by default
    labels : "all"
        Every label is asked for.
    random_state : int, RandomState or None
        Seeds the draws of `selection`. Draws depend on the seed and the round alone.

    Attributes
    ----------
    classes_ : (c,) labels; of two, the second is the positive class, and wins ties
    kernels_ : (m,) tuple of kernels
    kernel_weights_ : (m,) weights, summing to 1
    expert_weights_ : (m,) the same, by expert
    expert_mistakes_ : (m,) mistakes of each expert so far, each example by its weight
    n_support_stored_ : sum over the kernels of the support vectors they hold
    n_support_active_ : the same sum over the kernels that took part in the last vote
    support_vectors_ : (s, d) distinct support vectors, in the order of their arrival
    dual_coef_ : (s, m) their coefficients, one column a kernel, (s, 1) under GroupNorm; for more
        than two classes (s, m, c)
    labels_asked_ : labels seen so far
    memory_bytes_ : bytes held by the support vectors
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, Machine Learning 90.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X = [[0.0], [1.0], [2.0], [3.0]] * 5
    >>> y = [0, 1, 0, 1] * 5
    >>> model = kb.OnlineMKClassifier(kernels=[kb.Linear(), kb.Gaussian(sigma=0.5)]).fit(X, y)
    >>> model.predict([[1.0], [2.0]])
    array([1, 0])
    >>> int(model.kernel_weights_.argmax())
    1
    """

    def __init__(
        self,
        kernels: Any = "omkc16",
        learner: Any = None,
        combiner: Any = None,
        selection: Any = None,
        labels: str = "all",
        random_state: Any = None,
    ):
        self.kernels = kernels
        self.learner = learner
        self.combiner = combiner
        self.selection = selection
        self.labels = labels
        self.random_state = random_state

    # -- learning ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineMKClassifier:
        """Forget everything, then learn from X in the order given, one pass.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : (n,) labels, two classes or more
        sample_weight : (n,) or None; scales each example's step and loss

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        y = column_or_1d(y, warn=True)
        if sample_weight is not None and not np.any(np.asarray(sample_weight)):
            raise InputError("sample_weight: all weights are zero, there is nothing to learn")
        return self.partial_fit(X, y, classes=np.unique(y), sample_weight=sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineMKClassifier:
        """Learn from X in the order given, after what was learned before.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : (n,) labels
        classes : all labels; needed on the first call unless y has them
        sample_weight : (n,) or None; scales each example's step and loss

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        with self._nothing_half_done():
            X, y = validate_data(
                self, X, y, reset=not hasattr(self, "classes_"), accept_sparse="csr",
                dtype=np.float64, order="C",
            )  # fmt: skip
            self.learn(X, y, classes=classes, sample_weight=sample_weight)
        return self

    def learn(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Test, ask, train: each label is predicted before it is looked at.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
        y : (n,) labels
        classes : all labels; needed on the first call unless y has them
        sample_weight : (n,) or None

        Returns
        -------
        predictions : (n,) labels, each from the examples before its own
        asked : (n,) bool, whose label was looked at
        """
        with self._nothing_half_done():
            X = self._features(X)
            y = _labels(y)
            if X.shape[0] != len(y):
                raise InputError(f"X has {X.shape[0]} rows but y has {len(y)} labels")
            self._set_classes(y, classes)
            labels = self._numbers(y)
            importance = _importance(sample_weight, len(y))
            if not hasattr(self, "_run"):
                self._start(X)
            decisions = self._run.learn(self._rows(X), labels, importance)
        return self._labels_of(decisions), np.ones(len(y), dtype=bool)

    def choose_kernel(self, X: Any, y: Any, classes: Any = None) -> int:
        """Choose the kernel of `BestOfPrefix` on these examples, without learning from them.

        Only before the first example is learned from. `prequential` calls it where
        `BestOfPrefix(fraction=)` asks for it.

        Returns
        -------
        index of the kernel with the fewest mistakes, the lowest if several
        """
        if hasattr(self, "_run"):
            raise InputError("choose_kernel: the model has already learned from a stream")
        if not isinstance(self.selection, BestOfPrefix):
            raise InputError(
                f"choose_kernel: needs selection=BestOfPrefix(), got {self.selection!r}"
            )
        trial = OnlineMKClassifier(self.kernels, self.learner, self.combiner)
        trial.learn(X, y, classes=classes)
        with self._nothing_half_done():
            X = self._features(X)
            self._set_classes(_labels(y), classes)
            self._start(X)
        best = int(np.argmin(trial.expert_mistakes_))
        assert isinstance(self._run, ExpertRun)
        self._run.choose(best)
        return best

    # -- prediction -------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """The combined vote; drawn votes count by their expectation.

        Of size up to 1 where experts vote for classes, unbounded where their scores are added.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix

        Returns
        -------
        (n,) for two classes, positive for classes_[1]; (n, c) for more, one vote a class
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X, (n, d).

        Of two classes, a decision of 0 gives classes_[1]; of more, equal votes give the first.
        """
        return self._labels_of(self._decide(X))

    def _decide(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64, order="C")
        return self._run.decide(self._rows(self._canonical(X)))

    def should_ask(self, X: Any) -> NDArray[np.bool_]:
        """(n,) bool: does the model want the label of each row, if it came next? All of them."""
        check_is_fitted(self)
        return np.ones(X.shape[0] if hasattr(X, "shape") else len(X), dtype=bool)

    # -- what was learned -------------------------------------------------------------------

    @property
    def n_support_stored_(self) -> int:
        return int(self._run.counts.sum())

    @property
    def n_support_active_(self) -> int:
        return self._run.n_active

    @property
    def support_vectors_(self) -> Floats:
        return self._run.support.rows.dense().copy()

    @property
    def dual_coef_(self) -> Floats:
        coefficients = self._run.coefficients.copy()
        return coefficients[:, :, 0] if self._run.scores == 1 else coefficients

    @property
    def labels_asked_(self) -> int:
        return self._run.rounds

    @property
    def expert_weights_(self) -> Floats:
        return self._run.weights()

    @property
    def kernel_weights_(self) -> Floats:
        return self._run.weights()

    @property
    def expert_mistakes_(self) -> Floats:
        return self._run.progress.losses.copy()

    @property
    def memory_bytes_(self) -> int:
        return self._run.nbytes

    # -- inside -----------------------------------------------------------------------------

    @contextmanager
    def _nothing_half_done(self) -> Iterator[None]:
        """A first call that fails before it has learned anything leaves no trace."""
        try:
            yield
        except Exception:
            if not hasattr(self, "_run") or self._run.rounds == 0:
                for name in _LEARNED:
                    self.__dict__.pop(name, None)
            raise

    _run: Run
    classes_: NDArray[Any]

    def _start(self, X: Any) -> None:
        """Set everything up for the first example."""
        if self.labels != "all":
            raise InputError(f"labels: expected 'all', got {self.labels!r}")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kernels = resolve(self.kernels)
        self._run = make_run(
            kernels, self.learner, self.combiner, self.selection,
            Setting(X.shape[1], sp.issparse(X), self._scores, seed),
        )  # fmt: skip
        self.kernels_ = kernels
        self.n_features_in_ = X.shape[1]

    @property
    def _scores(self) -> int:
        """Scores of each kernel: two classes share one."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _features(self, X: Any) -> Any:
        """X as a C-ordered float64 array or a canonical CSR matrix, of the right width."""
        if not (isinstance(X, np.ndarray) or sp.issparse(X)):
            X = validate_data(
                self, X, reset=not hasattr(self, "n_features_in_"), accept_sparse="csr",
                dtype=np.float64, order="C",
            )  # fmt: skip
        if np.iscomplexobj(X):
            raise InputError("X: complex data not supported, expected real numbers")
        if X.ndim != 2:
            raise InputError(f"X: expected an array of shape (n, d), got {X.ndim} dimension(s)")
        width = getattr(self, "n_features_in_", X.shape[1])
        if X.shape[1] != width:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} "
                f"is expecting {width} features as input"
            )
        return self._canonical(X)

    def _canonical(self, X: Any) -> Any:
        if sp.issparse(X):
            X = X.tocsr().astype(np.float64, copy=False)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            return X
        return np.ascontiguousarray(X, dtype=np.float64)

    def _rows(self, X: Any) -> Rows:
        """X in the form that the support vectors are stored in."""
        if self._run.support.sparse:
            return SparseRows.of(X if sp.issparse(X) else sp.csr_matrix(X))
        return DenseRows.of(np.ascontiguousarray(X.toarray()) if sp.issparse(X) else X)

    def _set_classes(self, y: NDArray[Any], classes: Any) -> None:
        if hasattr(self, "classes_"):
            if classes is None or np.array_equal(classes, self.classes_):
                return
            if not np.array_equal(found := np.unique(classes), self.classes_):
                raise InputError(
                    f"classes={found} is not the same as on last call to partial_fit, "
                    f"was: {self.classes_}"
                )
            return
        found = np.unique(y if classes is None else classes)
        # Once each, many labels would look like the values of a number.
        check_classification_targets(np.repeat(found, 3))
        if len(found) < 2:
            raise InputError(
                f"y: expected two classes or more, found one class, {_some(found)}; name "
                "all of them with classes="
            )
        self.classes_ = found

    def _numbers(self, y: NDArray[Any]) -> Labels:
        """The number of each label's class."""
        numbers = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[numbers] != y
        if unknown.any():
            raise InputError(
                f"y: label {y[unknown.argmax()]!s} (row {unknown.argmax()} of the chunk) is not "
                f"one of the classes {_some(self.classes_)}"
            )
        return np.asarray(numbers, dtype=np.int64)

    def _labels_of(self, decisions: Floats) -> NDArray[Any]:
        if decisions.shape[1] == 1:
            return self.classes_[(decisions[:, 0] >= 0).astype(np.intp)]
        return self.classes_[decisions.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _labels(y: Any) -> NDArray[Any]:
    return y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y)


def _importance(sample_weight: Any, rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(rows)
    weights = np.array(sample_weight, dtype=np.float64)  # read-only would be compiled for anew
    weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight: got an array of shape {weights.shape}, expected ({rows},)"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        wrong = weights[int(np.argmin(np.isfinite(weights) & (weights >= 0)))]
        found = "NaN" if np.isnan(wrong) else f"{wrong:g}"
        raise InputError(
            f"sample_weight: negative values, infinity and NaN are not allowed, got {found}"
        )
    return weights


def _some(labels: NDArray[Any]) -> str:
    shown = ", ".join(str(label) for label in labels[:10])
    return shown + (", ..." if len(labels) > 10 else "")
