"""Voted kernel regularization as scikit-learn classifiers."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from reprlib import repr as shortened
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernbrook.checks import (
    NON_NEGATIVE,
    POSITIVE,
    Flag,
    Number,
    Other,
    check,
    is_number,
    or_none,
    parameters,
    shown,
)
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.estimators.base import Kept, checked
from kernbrook.estimators.labels import check_as_many, check_kept_classes, chosen
from kernbrook.estimators.pool import POWERS
from kernbrook.gram.arrays import check_array, within
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.kernels import Kernel, NormalizedPolynomial, resolve
from kernbrook.kernels.dictionaries import check_vectors
from kernbrook.plain_values import expect
from kernbrook.voted import Columns, Program, complexities, penalties
from kernbrook.voted.examples import Examples, Floats
from kernbrook.voted.found_sum import Expansion
from kernbrook.voted.kernel_pool import LARGEST, SCALING

_KERNELS = Other("a dictionary's name, a kernel, a function, or a list of these")
_COMPLEXITY = Other("one of trace, pdim, local, max, or a number a kernel, or a function")


@parameters
class VotedParameters:
    """What both classifiers are given; see `VotedKernelClassifier`."""

    kernels: Annotated[Any, or_none(_KERNELS)] = None
    complexity: Annotated[Any, _COMPLEXITY] = "trace"
    _: KW_ONLY
    s: Annotated[float, Number(0, 1, "(]")] = 0.1
    tol: Annotated[float, POSITIVE] = 1e-7
    unit_length: Annotated[bool, Flag()] = False
    cache_size: Annotated[float, NON_NEGATIVE] = 1000


class VotedClassifier(Kept, VotedParameters, ClassifierMixin, BaseEstimator):
    """What the classifiers of voted kernel regularization share: input, scores, attributes."""

    kernels_: tuple[Kernel, ...]
    dual_: Floats
    _expansion: Expansion

    def decision_function(self, X: Any) -> Floats:
        """Scores of the rows of X, (n, d), or of n objects.

        Returns
        -------
        (n,) scores of `classes_[1]`, or (n, c) for c > 2 classes
        """
        check_is_fitted(self)
        examples = self._examples(X, fitting=False)
        scores = self._expansion.scores(examples)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) labels; a score of 0 counts as positive."""
        decisions = self.decision_function(X)
        return self.classes_[chosen(decisions.reshape(len(decisions), -1))]

    # -- what was learned -------------------------------------------------------------------

    support_ = property(lambda self: self._expansion.support.copy())
    support_vectors_ = property(lambda self: self._expansion.points.items.copy())
    n_support_stored_ = property(lambda self: len(self._expansion.support))
    n_terms_ = property(lambda self: int(np.count_nonzero(self._expansion.coefficients)))
    kernel_weights_ = property(lambda self: self._expansion.weights)

    @property
    def dual_coef_(self) -> Floats:
        coefficients = self._expansion.coefficients.copy()
        return coefficients[:, :, 0] if coefficients.shape[2] == 1 else coefficients

    # -- inside -----------------------------------------------------------------------------

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") or name == "_expansion"]:
            del self.__dict__[name]

    @contextmanager
    def _anew(self) -> Iterator[None]:
        """Forget what was learned; what does not come to an end leaves no trace either."""
        self._forget()
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _pool(self) -> tuple[Kernel, ...]:
        if self.kernels is None:
            return tuple(NormalizedPolynomial(degree) for degree in range(1, 11))
        pool = resolve(self.kernels)
        if self.unit_length:
            check_vectors("unit_length", pool)
        return pool

    def _labelled(self, X: Any, y: Any) -> tuple[Examples, NDArray[np.intp]]:
        """The training examples, and the numbers of their classes; sets `classes_`."""
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        examples = self._examples(X, fitting=True)
        y = column_or_1d(y, warn=True)
        check_as_many(len(examples), y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"y: expected two classes or more, found one class: {self.classes_}")
        return examples, codes

    def _examples(self, X: Any, fitting: bool) -> Examples:
        objects = as_objects(X)
        if not fitting and self._expansion.points.are_objects != (objects is not None):
            expected = "a list of objects" if objects is None else "an array of numbers"
            raise InputError(f"X: expected what `fit` was given, {expected}, got {shortened(X)}")
        if objects is not None:
            if self.unit_length:
                raise InputError("unit_length: is for vectors, but X is a list of objects")
            return Examples(objects)
        X = checked(X, self, reset=fitting)
        if not fitting and sp.issparse(X) != sp.issparse(self._expansion.points.items):
            X = X.toarray() if sp.issparse(X) else sp.csr_matrix(X)  # as the support vectors are
        try:
            return Examples(of_unit_length(X) if self.unit_length else X)
        except NonFiniteError as error:
            raise NonFiniteError(f"{error}; {SCALING}") from None


@parameters
class VotedKernelClassifier(VotedClassifier):
    """Voted kernel regularization: f(x) = sum_kj alpha_kj K_k(x, x_j), with few alpha_kj.

    Minimises (1/n) sum_i max(0, 1 - y_i f(x_i)) + sum_kj (lam r_k + beta) |alpha_kj|, where r_k is
    the complexity of kernel k: complex kernels may be used, at a price. Of more than two classes
    each has a function of its own, against the rest.

    Parameters
    ----------
    kernels : str, kernel, function or list of these
        As `kernels` of `OnlineMKClassifier`; by default `NormalizedPolynomial(k)`, k = 1 ... 10.
        They need not be positive definite, nor symmetric. Where X is a list of objects, functions
        of two lists, which give an (n, m) array. Of matrices of kernel values, one or several
        `Precomputed(matrix)`: X is then one column, the row numbers of the examples.
    complexity : "trace", "pdim", "local", "max", (p,) numbers, or function
        "trace": kappa_k sqrt(Tr K_k) / n, with kappa_k^2 = max K_k(x, x). "pdim", for polynomials:
        kappa_k^2 sqrt(C(d + k, k)). "local": sqrt((2/n) sum_j min(s lambda_1, lambda_j)) with the
        eigenvalues of K_k / n. These three bound positive definite kernels; "max", which is
        max |K_k| / sqrt(n), is for any. A function takes a kernel and the training X.
    lam, beta : float, 0 or more, not both 0
        lam = 0 is the norm-1 SVM.
    s : float in (0, 1], for "local"
    tol : float
        Stop at a duality gap of `tol` times the objective.
    unit_length : bool
        Divide every example by its length first, as in the paper's tables.
    cache_size : float, megabytes
        Inner products, distances and values of functions to keep; what has no room is computed
        again when needed.

    Attributes
    ----------
    classes_ : (c,) labels; a score is that of `classes_[1]`, or of each class where c > 2
    kernels_ : (p,) tuple of kernels
    complexities_, penalties_ : (p,) r_k and lam r_k + beta
    support_ : (q,) numbers of the training points in use; support_vectors_ : these points
    dual_coef_ : (q, p) coefficients alpha, or (q, p, c) for c > 2 classes
    n_support_stored_, n_terms_ : points in use, and nonzero coefficients
    kernel_weights_ : (p,) share of each kernel in the sum of |alpha|
    objective_, gap_ : the objective, and its distance to the dual: floats, or (c,) for c > 2
    dual_ : (n,) u, or (n, c): 0 <= u_i <= 1/n and |sum_i u_i y_i K_k(x_i, x_j)| <= penalties_[k]
        for all k, j, so that no alpha has an objective below sum u
    n_iter_ : linear programs solved
    n_features_in_, feature_names_in_ : as in scikit-learn; not for objects

    Raises
    ------
    InputError
        A parameter is not what was expected, y has one class, kernel values are not finite or
        beyond the solver's precision: the message names the kernel and how to scale.

    References
    ----------
    Cortes, Goyal, Kuznetsov, Mohri (2015), Voted Kernel Regularization: equation 1, lemmas 3 and
    4, section 5, appendix C. In equation 1 y_j belongs inside the sum over j, and the linear
    program needs xi >= 0.

    Examples
    --------
    >>> import kernbrook as kb
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = kb.VotedKernelClassifier().fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.n_support_stored_ < 40, bool(model.gap_ < 1e-6)
    (True, True, True)
    """

    _kept_entries = ("expansion",)
    lam: Annotated[float, NON_NEGATIVE] = 0.05
    beta: Annotated[float, NON_NEGATIVE] = 0.001

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        """JSON of what a fitted model predicts by; its arrays become the tensors support.*."""
        if (found := vars(self).get("_expansion")) is None:
            return {}
        q, p, c = found.coefficients.shape
        items = found.points.items
        arrays = {
            "numbers": found.support.astype(np.int64),
            "coefficients": found.coefficients.reshape(q, p * c),
        }
        if found.points.rows is not None:
            arrays["norms"] = found.points.rows.norms
        if sp.issparse(items):
            indices, indptr = items.indices.astype(np.int64), items.indptr.astype(np.int64)
            arrays.update(data=items.data, indices=indices, indptr=indptr)
        elif not found.points.are_objects:
            arrays["X"] = items
        for name, array in arrays.items():
            writer.tensor(array, f"support.{name}")
        objects = items if found.points.are_objects else None
        expansion = {
            "kernels": writer.value(list(found.kernels), "kernels_"),
            "sparse": sp.issparse(items),
            "objects": writer.value(objects, "support_vectors_"),
        }
        return {"expansion": expansion}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        if not self._check_has("expansion", body):
            return
        body = body["expansion"]
        expect("expansion", body, dict)
        expect("expansion, kernels", body.get("kernels"), list)
        kernels = tuple(reader.value(body["kernels"]))
        if not kernels or not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise InputError(f"expansion: expected kernels, got {shown(kernels)}")
        check_kept_classes(vars(self).get("classes_"))
        c = 1 if len(self.classes_) == 2 else len(self.classes_)
        columns = len(kernels) * c
        objects = reader.value(body.get("objects"))
        if objects is None:
            items = self._kept_vectors(columns, bool(body.get("sparse")), reader)
        elif not isinstance(objects, list) or hasattr(self, "n_features_in_"):
            raise InputError("objects: expected a list, and no features")
        else:
            items = objects
        points = Examples(items)
        coefficients = reader.array("support.coefficients")
        check_array("support.coefficients", coefficients, (len(points), columns), np.float64)
        if not (np.abs(coefficients) < LARGEST).all():  # or sums of them are no numbers
            raise InputError("support.coefficients: expected sizes below 1e100")
        numbers = reader.array("support.numbers")
        check_array("support.numbers", numbers, (len(points),), np.int64)
        coefficients = coefficients.reshape(len(points), len(kernels), c)
        self._expansion = Expansion(kernels, numbers, points, coefficients)
        self.kernels_ = kernels

    def _kept_vectors(self, columns: int, sparse: bool, reader: Any) -> Any:
        """The support vectors, (q, d), dense or CSR."""
        width = getattr(self, "n_features_in_", 0)
        if width < 1:
            raise InputError(f"n_features_in_: expected an integer from 1, got {width}")
        stored = StoredPoints(columns, width, sparse)
        arrays = {k: reader.array(f"support.{k}") for k in stored.arrays() if k != "keys"}
        with within("support."):
            stored.restore({**arrays, "keys": np.zeros(len(arrays["norms"]), dtype=np.int64)})
        arrays = stored.arrays()
        if not sparse:
            return arrays["X"]
        csr = arrays["data"], arrays["indices"], arrays["indptr"]
        return sp.csr_matrix(csr, shape=(stored.n, width))

    def fit(self, X: Any, y: Any) -> VotedKernelClassifier:
        """Solve for all coefficients.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix, or list of n objects
        y : (n,) labels
        """
        with self._anew():
            check(self)
            examples, codes = self._labelled(X, y)
            columns = Columns(self._pool(), examples, 1e6 * self.cache_size)
            sizes = complexities(self.complexity, columns, self.s)
            prices = penalties(sizes, self.lam, self.beta)
            solutions = [Program(columns, sign, self.tol).solve(prices) for sign in signs(codes)]
            self.kernels_ = columns.kernels
            self.complexities_, self.penalties_ = sizes, prices
            self._expansion = Expansion.of(columns, solutions)
            self.objective_ = single([solution.objective for solution in solutions])
            self.gap_ = single([solution.gap for solution in solutions])
            self.dual_ = single([solution.dual for solution in solutions])
            self.n_iter_ = max(solution.rounds for solution in solutions)
        return self


def as_objects(X: Any) -> list[Any] | None:
    """Objects that are no vectors, as a list: strings, or whatever is no number; else None."""
    if hasattr(X, "to_numpy") and getattr(X, "ndim", 2) == 1:
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        return X.tolist() if X.ndim == 1 and X.dtype.kind in "OUST" else None
    if not isinstance(X, (list, tuple)) or len(X) == 0:
        return None
    first = X[0]
    numeric = isinstance(first, numbers.Number) or hasattr(first, "__array__")
    if numeric or (isinstance(first, Sequence) and not isinstance(first, (str, bytes))):
        return None
    return list(X)


def of_unit_length(X: Any) -> Any:
    """The rows of X divided by their lengths; rows of zeros stay."""
    if sp.issparse(X):
        X = X.copy()
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        sizes = np.zeros(X.shape[0])
        np.maximum.at(sizes, row, np.abs(X.data))
        X.data /= np.where(sizes > 0, sizes, 1.0)[row]
        lengths = np.sqrt(np.bincount(row, X.data**2, minlength=X.shape[0]))
        X.data /= np.where(lengths > 0, lengths, 1.0)[row]
        return X
    largest = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    X = X / np.where(largest > 0, largest, 1.0)  # no overflow, and no underflow, in the squares
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)


def signs(codes: NDArray[np.intp]) -> list[Floats]:
    """The labelling by +1 and -1 for two classes, or that of each class against the rest."""
    count = int(codes.max()) + 1
    positive = [1] if count == 2 else range(count)
    return [np.where(codes == c, 1.0, -1.0) for c in positive]


def single(values: Sequence[Any]) -> Any:
    """One value, or the last axis of an array of several."""
    return values[0] if len(values) == 1 else np.stack(values, axis=-1)


# -- over a grid of (lam, beta): every point starts from the last one ------------------------------


Parts = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Setting:
    """One point of a grid: which pool of kernels, and (lam, beta)."""

    pool: int
    lam: float
    beta: float


def settings_of(pools: int, lams: Iterable[float], betas: Iterable[float]) -> list[Setting]:
    """A grid in the order of preference between equals: the larger lam, then the larger beta."""
    falling = []
    for name, grid in (("lams", lams), ("betas", betas)):
        found = list(grid) if isinstance(grid, Iterable) else []
        if not found or not all(map(is_number, found)):
            raise InputError(f"{name}: expected a sequence of numbers, got {shown(grid)}")
        falling.append(sorted(found, reverse=True))
    lams, betas = falling
    return [Setting(i, lam, beta) for lam in lams for beta in betas for i in range(pools)]


def solve_grid(
    columns: Columns, codes: NDArray[np.intp], settings: Sequence[Setting], pool: int,
    complexity: Any, s: float, tol: float,
) -> Iterator[tuple[int, Expansion | InputError]]:  # fmt: skip
    """Solve the settings of one pool: their numbers, each with what it found, or why it cannot be.

    Along the path lam falls, and beta goes up and down: neighbours differ in one of them. A gap
    that stays above `tol` is no matter here: a choice does not hang on it.
    """
    sizes = complexities(complexity, columns, s)
    programs = [Program(columns, sign, tol) for sign in signs(codes)]
    lams = sorted({setting.lam for setting in settings}, reverse=True)

    def place(number: int) -> tuple[int, float]:
        row = lams.index(settings[number].lam)
        return row, settings[number].beta if row % 2 else -settings[number].beta

    for number in sorted((i for i, at in enumerate(settings) if at.pool == pool), key=place):
        prices = penalties(sizes, settings[number].lam, settings[number].beta)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                solutions = [program.solve(prices) for program in programs]
        except InputError as error:
            at = settings[number]
            yield number, InputError(f"lam={at.lam:g}, beta={at.beta:g}: {error}")
        else:
            yield number, Expansion.of(columns, solutions)


_SEVERAL = Other("a sequence of numbers from 0")
_FOLDS = Other("an integer from 2, a splitter, or pairs of training and test rows")


@parameters
class VotedKernelClassifierCV(VotedClassifier):
    """Voted kernel regularization with (lam, beta) chosen by cross-validation.

    The whole grid of a fold is one path of warm-started linear programs. Only the last fit, to all
    the data, warns where its gap stays above `tol`.

    Parameters
    ----------
    kernels, complexity, s, tol, unit_length, cache_size : as in `VotedKernelClassifier`
    lams, betas : sequences of numbers; by default 10^0, 10^-1, ... 10^-6 each
        lams=[0] is the norm-1 SVM.
    one_kernel : bool
        Use a single kernel, and choose which, too.
    cv : int, splitter or iterable of (train, test), as in scikit-learn

    Attributes
    ----------
    lam_, beta_ : the choice of least mean error; of equals, the larger lam, then the larger beta
    best_estimator_ : VotedKernelClassifier with these, fitted to all the data
    grid_ : list of dicts with lam, beta, and kernel where one is chosen
    errors_ : (settings, folds) share of wrong labels; infinite where the setting is beyond the
        solver's precision: it is left out then, with a FitFailedWarning
    n_support_ : (settings, folds) training points in use
    and those of `VotedKernelClassifier`

    Examples
    --------
    >>> import kernbrook as kb
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = kb.VotedKernelClassifierCV([kb.Gaussian(sigma=1)], lams=[0.1, 0.01], cv=3)
    >>> model = model.fit(X, y)
    >>> model.errors_.shape, bool(model.score(X, y) > 0.95)
    ((14, 3), True)
    """

    _kept_entries = ("best",)
    lams: Annotated[Any, _SEVERAL] = POWERS
    betas: Annotated[Any, _SEVERAL] = POWERS
    _: KW_ONLY
    one_kernel: Annotated[bool, Flag()] = False
    cv: Annotated[Any, _FOLDS] = 5

    def _kept_elsewhere(self) -> set[str]:
        best = vars(self).get("best_estimator_")
        inside = set() if best is None else set(vars(best))
        return super()._kept_elsewhere() | {"best_estimator_"} | inside

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        best = vars(self).get("best_estimator_")
        return {} if best is None else {"best": writer.model(best, "best.")}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        if not self._check_has("best", body):
            return
        best = reader.model(body["best"])
        if not (type(best) is VotedKernelClassifier and hasattr(best, "_expansion")):
            raise InputError("best: expected a fitted VotedKernelClassifier within a grid of them")
        self.best_estimator_ = best
        self._take_over(best)

    def fit(self, X: Any, y: Any) -> VotedKernelClassifierCV:
        """Choose (lam, beta), then solve for all the data; see `VotedKernelClassifier.fit`."""
        with self._anew():
            check(self)
            examples, codes = self._labelled(X, y)
            pools = pools_of(self._pool(), self.one_kernel)
            settings = settings_of(len(pools), self.lams, self.betas)
            splitter = check_cv(self.cv, codes, classifier=True)
            folds = list(splitter.split(np.zeros((len(examples), 1)), codes))
            self.errors_ = np.empty((len(settings), len(folds)))
            self.n_support_ = np.empty((len(settings), len(folds)), dtype=np.int64)
            refused: dict[int, InputError] = {}
            for fold, (train, test) in enumerate(folds):
                errors, support, _, out = self._errors(
                    examples, codes, train, [test], settings, pools
                )
                self.errors_[:, fold], self.n_support_[:, fold] = errors[:, 0], support
                refused |= out
            if len(refused) == len(settings):
                raise refused[0]
            if refused:
                warnings.warn(
                    f"{len(refused)} of {len(settings)} settings are left out, such as "
                    f"{next(iter(refused.values()))}", FitFailedWarning, stacklevel=2,
                )  # fmt: skip
            best = settings[int(self.errors_.mean(axis=1).argmin())]
            self.lam_, self.beta_ = best.lam, best.beta
            self.grid_ = [
                {"lam": at.lam, "beta": at.beta}
                | ({"kernel": pools[at.pool][0]} if self.one_kernel else {})
                for at in settings
            ]
            shared = {name: getattr(self, name) for name in signature(VotedParameters).parameters}
            if self.one_kernel:
                shared["kernels"] = list(pools[best.pool])
            self.best_estimator_ = VotedKernelClassifier(**shared, lam=best.lam, beta=best.beta)
            self._take_over(self.best_estimator_.fit(X, y))
        return self

    def _take_over(self, best: VotedKernelClassifier) -> None:
        """Predict as the best model does, and show what it learned."""
        self._expansion = best._expansion
        for name, value in vars(best).items():
            if name.endswith("_"):
                setattr(self, name, value)

    def _errors(
        self, examples: Examples, codes: NDArray[np.intp], train: NDArray[np.intp],
        tests: Sequence[NDArray[np.intp]], settings: Sequence[Setting],
        pools: Sequence[Sequence[Kernel]],
    ) -> tuple[Floats, NDArray[np.int64], Floats, dict[int, InputError]]:  # fmt: skip
        """Errors (settings, tests), support points (settings,), shares of kernels (settings, p).

        They are of one training set; the errors of what cannot be solved are infinite, with why.
        """
        if len(np.unique(codes[train])) < len(np.unique(codes)):
            raise InputError("y: a training part of the cross-validation lacks one of the classes")
        learned, asked = examples.take(train), [examples.take(test) for test in tests]
        errors = np.full((len(settings), len(tests)), np.inf)
        support = np.zeros(len(settings), dtype=np.int64)
        weights = np.zeros((len(settings), len(pools[0])))
        refused: dict[int, InputError] = {}
        for i, pool in enumerate(pools):
            columns = Columns(pool, learned, 1e6 * self.cache_size)
            path = solve_grid(columns, codes[train], settings, i, self.complexity, self.s, self.tol)
            for number, found in path:
                if isinstance(found, InputError):
                    refused[number] = found
                    continue
                support[number], weights[number] = len(found.support), found.weights
                for t, test in enumerate(tests):
                    errors[number, t] = np.mean(chosen(found.scores(asked[t])) != codes[test])
        return errors, support, weights, refused


def pools_of(kernels: Sequence[Kernel], one_kernel: bool) -> list[tuple[Kernel, ...]]:
    """The pools to choose from: each kernel by itself, or all of them."""
    return [(kernel,) for kernel in kernels] if one_kernel else [tuple(kernels)]
