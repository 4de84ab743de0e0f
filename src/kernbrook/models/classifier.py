"""The composed machine as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .._jit.rounds import ZERO, Machine, Progress, expert_rounds
from ..combiners import BestOfPrefix, Hedge, Selection
from ..errors import InputError
from ..kernels import Kernel, resolve
from ..kernels.planning import lay_out
from ..learners import Perceptron
from .engine import BLOCK, Engine
from .points import DenseRows, Floats, Rows, SparseRows, SupportVectors

_LEARNED = (
    "_engine", "_machine", "_progress", "_selection", "classes_", "feature_names_in_", "kernels_",
    "labels_asked_", "n_features_in_",
)  # fmt: skip


class OnlineMKClassifier(ClassifierMixin, BaseEstimator):
    """Online learning with many kernels: kernels x learner x combiner x selection x labels.

    One learner for each kernel learns from a stream; a combiner weighs their votes. The result
    never depends on how the stream is cut into chunks. Two classes for now.

    Parameters
    ----------
    kernels : str, kernel, function or list of these
        "omkc16" and "amkl17" are the papers' pools. A function takes two arrays, (n, d) and
        (m, d), and gives an (n, m) array.
    learner : learner of each kernel; `Perceptron()` by default
    combiner : what weighs the learners; `Hedge()` by default
    selection : which learners are updated and vote; all of them by default
    labels : "all"
        Every label is asked for.
    random_state : int, RandomState or None
        Seeds the draws of `selection`. Draws depend on the seed and the round alone.

    Attributes
    ----------
    classes_ : (2,) labels; the second is the positive class, and wins ties
    kernels_ : (m,) tuple of kernels
    kernel_weights_ : (m,) weights, summing to 1
    expert_weights_ : (m,) the same, by expert
    expert_mistakes_ : (m,) mistakes of each expert so far, each example by its weight
    n_support_stored_ : sum over the kernels of the support vectors they hold
    n_support_active_ : the same sum over the kernels that took part in the last vote
    support_vectors_ : (s, d) distinct support vectors, in the order of their arrival
    dual_coef_ : (s, m) their coefficients, one column a kernel
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
        y : (n,) labels, two classes
        sample_weight : (n,) or None; scales each example's step and loss

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        for name in _LEARNED:
            vars(self).pop(name, None)
        y = column_or_1d(y, warn=True)
        return self.partial_fit(X, y, classes=np.unique(y), sample_weight=sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineMKClassifier:
        """Learn from X in the order given, after what was learned before.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : (n,) labels
        classes : the two labels; needed on the first call unless y has both
        sample_weight : (n,) or None; scales each example's step and loss

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        first = not hasattr(self, "classes_")
        X, y = validate_data(
            self, X, y, reset=first, accept_sparse="csr", dtype=np.float64, order="C"
        )
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
        classes : the two labels; needed on the first call unless y has both
        sample_weight : (n,) or None

        Returns
        -------
        predictions : (n,) labels, each from the examples before its own
        asked : (n,) bool, whose label was looked at
        """
        X = self._features(X)
        y = _labels(y)
        if X.shape[0] != len(y):
            raise InputError(f"X has {X.shape[0]} rows but y has {len(y)} labels")
        self._set_classes(y, classes)
        signs = self._signs(y)
        if sample_weight is None:
            importance = np.ones(len(y))
        else:
            importance = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if not hasattr(self, "_engine"):
            self._start(X)
        rows = self._rows(X)
        decisions = np.zeros(len(y))
        plan = self._engine.layout.plan

        def experts(
            pairs: Floats, scores: Floats, sizes: Floats, coefficients: Floats, where: slice
        ) -> None:
            expert_rounds(
                self._machine, self._progress, plan, pairs, scores, sizes,
                signs[where], importance[where], decisions[where], coefficients,
            )  # fmt: skip

        undecided = self._progress.counters[2] < 0
        self._engine.learn(rows, experts)
        self.labels_asked_ += len(y)
        if undecided and self._progress.counters[2] >= 0:
            self._engine.support.keep_columns([int(self._progress.counters[2])])
        return self._labels_of(decisions), np.ones(len(y), dtype=bool)

    def choose_kernel(self, X: Any, y: Any, classes: Any = None) -> int:
        """Choose the kernel of `BestOfPrefix` on these examples, without learning from them.

        Only before the first example is learned from. `prequential` calls it where
        `BestOfPrefix(fraction=)` asks for it.

        Returns
        -------
        index of the kernel with the fewest mistakes, the lowest if several
        """
        if hasattr(self, "_engine"):
            raise InputError("choose_kernel: the model has already learned from a stream")
        if not isinstance(self.selection, BestOfPrefix):
            raise InputError(
                f"choose_kernel: needs selection=BestOfPrefix(), got {self.selection!r}"
            )
        trial = OnlineMKClassifier(self.kernels, self.learner, self.combiner)
        trial.learn(X, y, classes=classes)
        X = self._features(X)
        self._set_classes(_labels(y), classes)
        self._start(X)
        best = int(np.argmin(trial.expert_mistakes_))
        self._progress.counters[2] = best
        return best

    # -- prediction -------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """The combined vote, in [-1, 1]; positive for classes_[1]. Drawn votes: the expectation.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64, order="C")
        rows = self._rows(self._canonical(X))
        weights = self._selection.expected_votes(self._q())
        decisions = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            scores, sizes = self._engine.sums(rows.part(start, min(start + BLOCK, len(rows))))
            signs = np.where((scores >= 0) | (np.abs(scores) <= ZERO * sizes), 1.0, -1.0)
            votes = weights @ signs
            votes[np.abs(votes) <= ZERO * weights.sum()] = 0.0
            decisions[start : start + len(votes)] = votes / weights.sum()
        return decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X, (n, d); a decision of 0 gives classes_[1]."""
        return self._labels_of(self.decision_function(X))

    def should_ask(self, X: Any) -> NDArray[np.bool_]:
        """(n,) bool: does the model want the label of each row, if it came next? All of them."""
        check_is_fitted(self)
        return np.ones(X.shape[0] if hasattr(X, "shape") else len(X), dtype=bool)

    # -- what was learned -------------------------------------------------------------------

    @property
    def _counts(self) -> NDArray[np.int64]:
        """(m,) support vectors of each expert."""
        return np.count_nonzero(self._engine.support.coefficients, axis=0)

    @property
    def n_support_stored_(self) -> int:
        return int(self._counts.sum())

    @property
    def n_support_active_(self) -> int:
        return int(self._counts[self._progress.used].sum())

    @property
    def support_vectors_(self) -> Floats:
        return self._engine.support.rows.dense()

    @property
    def dual_coef_(self) -> Floats:
        return self._engine.support.coefficients

    @property
    def expert_weights_(self) -> Floats:
        weights = self._q()
        return weights / weights.sum()

    @property
    def kernel_weights_(self) -> Floats:
        return self.expert_weights_

    @property
    def expert_mistakes_(self) -> Floats:
        return self._progress.losses.copy()

    @property
    def memory_bytes_(self) -> int:
        return self._engine.support.nbytes

    # -- inside -----------------------------------------------------------------------------

    def _q(self) -> Floats:
        """(m,) weights with the greatest 1; one-hot once a kernel is chosen."""
        chosen = self._progress.counters[2]
        if isinstance(self._selection, BestOfPrefix):
            best = chosen if chosen >= 0 else int(np.argmin(self._progress.losses))
            return np.eye(len(self.kernels_))[best]
        return np.exp(self._progress.log_weights)

    def _start(self, X: Any) -> None:
        """Set everything up for the first example."""
        if self.labels != "all":
            raise InputError(f"labels: expected 'all', got {self.labels!r}")
        kernels: tuple[Kernel, ...] = resolve(self.kernels)
        learner = _factor("learner", self.learner, Perceptron)
        combiner = _factor("combiner", self.combiner, Hedge)
        selection = _factor("selection", self.selection, Selection, ("codes", "expected_votes"))
        flags, smoothing, prefix = selection.codes()
        m = len(kernels)
        machine = Machine(
            learner=np.full(m, learner.code),
            learner_parameters=np.tile(learner.row(), (m, 1)),
            combiner=combiner.code,
            combiner_parameters=combiner.row(),
            selection=flags,
            smoothing=smoothing,
            prefix=prefix,
        )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        layout = lay_out(kernels)
        support = SupportVectors(m, X.shape[1], sp.issparse(X))
        self.kernels_ = kernels
        self.n_features_in_ = X.shape[1]
        self.labels_asked_ = 0
        self._machine = machine
        self._selection = selection
        self._progress = Progress(
            np.zeros(m), np.zeros(m), np.ones(m, dtype=bool), np.array([seed, 0, -1])
        )
        self._engine = Engine(kernels, layout, support)

    def _features(self, X: Any) -> Any:
        """X as a C-ordered float64 array or a canonical CSR matrix, of the right width."""
        if not (isinstance(X, np.ndarray) or sp.issparse(X)):
            X = validate_data(
                self, X, reset=not hasattr(self, "n_features_in_"), accept_sparse="csr",
                dtype=np.float64, order="C",
            )  # fmt: skip
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
            X = X.tocsr().astype(np.float64)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            return X
        return np.ascontiguousarray(X, dtype=np.float64)

    def _rows(self, X: Any) -> Rows:
        """X in the form that the support vectors are stored in."""
        if self._engine.support.sparse:
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
        check_classification_targets(found)
        if len(found) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(found)}: {len(found)} classes, {_some(found)}"
            )
        if len(found) < 2:
            raise InputError(
                f"y: expected two classes, found one class, {_some(found)}; name both with classes="
            )
        self.classes_ = found

    def _signs(self, y: NDArray[Any]) -> Floats:
        """+1 for classes_[1], -1 for classes_[0]."""
        positive = y == self.classes_[1]
        unknown = ~positive & (y != self.classes_[0])
        if unknown.any():
            raise InputError(
                f"y: label {y[unknown.argmax()]!s} (row {unknown.argmax()} of the chunk) is not "
                f"one of the classes {_some(self.classes_)}"
            )
        return np.where(positive, 1.0, -1.0)

    def _labels_of(self, decisions: Floats) -> NDArray[Any]:
        return self.classes_[(decisions >= 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def _labels(y: Any) -> NDArray[Any]:
    return y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y)


def _some(labels: NDArray[Any]) -> str:
    shown = ", ".join(str(label) for label in labels[:10])
    return shown + (", ..." if len(labels) > 10 else "")


def _factor(name: str, given: Any, default: type, verbs: tuple[str, ...] = ("row",)) -> Any:
    """The object given for one of the five choices, or the default one."""
    factor = default() if given is None else given
    if isinstance(factor, type) or not all(hasattr(factor, verb) for verb in verbs):
        raise InputError(f"{name}: expected an object such as {default()!r}, got {given!r}")
    return factor
