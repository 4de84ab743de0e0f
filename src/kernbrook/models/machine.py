"""What the composed machine's estimators share: everything but what a label is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from kernbrook.errors import InputError
from kernbrook.kernels import resolve
from kernbrook.kernels.dictionaries import check_vectors
from kernbrook.models.making import make_run
from kernbrook.models.points import DenseRows, Flags, Floats, Rows, SparseRows, canonical, sound
from kernbrook.models.runs import Run, Setting
from kernbrook.streams.scaling import OnlineScaler


class OnlineMachine(BaseEstimator):
    """Kernels x learner x combiner x selection x labels, as an estimator; see its two kinds."""

    _run: Run
    _of_numbers: bool
    _scaler: OnlineScaler | None = None
    _learned: tuple[str, ...] = (
        "_run", "_scaler", "feature_names_in_", "kernels_", "n_features_in_",
    )  # fmt: skip

    def __init__(
        self,
        kernels: Any = "omkc16",
        learner: Any = None,
        combiner: Any = None,
        selection: Any = None,
        labels: Any = "all",
        random_state: Any = None,
        scaling: str | None = None,
    ):
        self.kernels = kernels
        self.learner = learner
        self.combiner = combiner
        self.selection = selection
        self.labels = labels
        self.random_state = random_state
        self.scaling = scaling

    # -- what a label is, for the kinds to say ------------------------------------------------

    @property
    def _scores(self) -> int:
        """Scores of each expert."""
        raise NotImplementedError

    def _numbers(self, y: NDArray[Any]) -> NDArray[Any]:
        """Labels as the run takes them."""
        raise NotImplementedError

    def _nothing(self) -> Any:
        """What the run takes for a label that cannot be had."""
        raise NotImplementedError

    def _predictions(self, decisions: Floats) -> NDArray[Any]:
        raise NotImplementedError

    # -- learning ---------------------------------------------------------------------------

    def _learn(
        self, X: Any, y: Any, sample_weight: Any = None, given: bool = False
    ) -> tuple[NDArray[Any], Flags]:
        """Test, ask, train on checked features and labels or an oracle."""
        importance = _importance(sample_weight, X.shape[0])
        labels = None if callable(y) else self._numbers(y)
        if not hasattr(self, "_run"):
            self._start(X)
        if labels is not None:
            with self._scaled(X) as rows:
                decisions, asked = self._run.learn(rows, labels, importance, given)
        else:
            decisions = np.empty((X.shape[0], self._scores))
            asked = np.zeros(X.shape[0], dtype=bool)
            for i in range(X.shape[0]):
                with self._scaled(X[i : i + 1]) as row:
                    wanted = self._run.would_ask(row)[0]
                    number = self._answer(y, X, i) if wanted else self._nothing()
                    told = self._run.learn(row, np.array([number]), importance[i : i + 1], True)
                decisions[i], asked[i] = told[0][0], told[1][0]
        return self._predictions(decisions), asked

    @contextmanager
    def _scaled(self, X: Any) -> Iterator[Rows]:
        """X as the run takes it; where it stops early, the scaler knows what the run met."""
        rows = self._rows(X)  # which checks them, before they are known to the scaler
        if self._scaler is None:
            yield rows
            return
        before = {name: array.copy() for name, array in self._scaler.arrays().items()}
        rounds = self._run.rounds
        try:
            yield self._rows(self._scaler.learn(X))
        except BaseException:
            self._scaler.restore(before)
            self._scaler.learn(X[: self._run.rounds - rounds])
            raise

    def _answer(self, oracle: Any, X: Any, i: int) -> Any:
        """The oracle's label of a row, as the run takes it."""
        label = oracle(X[i : i + 1] if sp.issparse(X) else X[i])
        return self._nothing() if label is None else self._numbers(np.array([label]))[0]

    def should_ask(self, X: Any) -> Flags:
        """(n,) bool: does the model want the label of each row of X, (n, d), if it came next?

        Nothing changes, and no draw is used up.
        """
        rows = self._rows_of(X)
        return self._run.would_ask(rows)

    def _decide(self, X: Any) -> Floats:
        rows = self._rows_of(X)
        return self._run.decide(rows)

    def _rows_of(self, X: Any) -> Rows:
        check_is_fitted(self)
        X = validate_data(
            self, sound(X), reset=False, accept_sparse="csr", dtype=np.float64, order="C"
        )
        X = canonical(X)
        rows = self._rows(X)
        return rows if self._scaler is None else self._rows(self._scaler.transform(X))

    # -- what was learned -------------------------------------------------------------------

    @property
    def n_support_stored_(self) -> int:
        return int(self._run.counts.sum())

    @property
    def n_support_active_(self) -> int:
        return self._run.n_active

    @property
    def support_vectors_(self) -> Floats:
        return self._expansion().support.rows.dense().copy()

    @property
    def dual_coef_(self) -> Floats:
        coefficients = self._expansion().coefficients.copy()
        return coefficients[:, :, 0] if self._run.scores == 1 else coefficients

    def _expansion(self) -> Any:
        if not hasattr(self._run, "support"):
            raise AttributeError("a model on features has no support vectors")
        return self._run

    @property
    def labels_asked_(self) -> int:
        return self._run.asked

    @property
    def n_rounds_(self) -> int:
        return self._run.rounds

    @property
    def expert_weights_(self) -> Floats:
        return self._run.weights()

    @property
    def kernel_weights_(self) -> Floats:
        return self._run.weights().reshape(-1, len(self.kernels_)).sum(axis=0)

    @property
    def memory_bytes_(self) -> int:
        return self._run.nbytes

    # -- inside -----------------------------------------------------------------------------

    def _forget(self) -> None:
        for name in self._learned:
            self.__dict__.pop(name, None)

    @contextmanager
    def _nothing_half_done(self) -> Iterator[None]:
        """A first call that fails before it has learned anything leaves no trace."""
        try:
            yield
        except Exception:
            if not hasattr(self, "_run") or self._run.rounds == 0:
                self._forget()
            raise

    def _start(self, X: Any) -> None:
        """Set everything up for the first example."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kernels = resolve(self.kernels)
        if self.scaling is not None:
            check_vectors("scaling", kernels)
        sparse = sp.issparse(X) and self.scaling != "moments"
        self._run = make_run(
            kernels, self.learner, self.combiner, self.selection, self.labels,
            Setting(X.shape[1], sparse, self._scores, seed, self._of_numbers),
        )  # fmt: skip
        self._scaler = None if self.scaling is None else OnlineScaler(self.scaling, X.shape[1])
        self.kernels_ = kernels
        self.n_features_in_ = X.shape[1]

    def _validated(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Features and labels, with all of scikit-learn's checks."""
        X, y = validate_data(
            self, sound(X), y, reset=not hasattr(self, "_run"), accept_sparse="csr",
            dtype=np.float64, order="C", y_numeric=self._of_numbers,
        )  # fmt: skip
        return self._features(X), y

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Features, and labels or an oracle, with checks that are quick on short chunks too."""
        X = self._features(X)
        if callable(y):
            return X, y
        y = as_labels(y)
        if X.shape[0] != len(y):
            raise InputError(f"X has {X.shape[0]} rows but y has {len(y)} labels")
        return X, y

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
        return canonical(X)

    def _rows(self, X: Any) -> Rows:
        """X in the form that the run keeps rows in."""
        if self._run.sparse:
            return SparseRows.of(X if sp.issparse(X) else sp.csr_matrix(X))
        return DenseRows.of(np.ascontiguousarray(X.toarray()) if sp.issparse(X) else X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def as_labels(y: Any) -> NDArray[Any]:
    return y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y)


def check_some_weight(sample_weight: Any) -> None:
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise InputError("sample_weight: all weights are zero, there is nothing to learn")


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
