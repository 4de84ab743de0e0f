"""Voted kernel regularization over a grid of (lam, beta): every point starts from the last one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import check_cv

from kernbrook.checks import Flag, Other, check, is_number, shown
from kernbrook.errors import InputError
from kernbrook.estimators.grids import POWERS
from kernbrook.estimators.voted import (
    VotedClassifier,
    VotedKernelClassifier,
    chosen,
    signs,
)
from kernbrook.kernels import Kernel
from kernbrook.voted import Columns, Program, complexities, penalties
from kernbrook.voted.examples import Examples, Floats
from kernbrook.voted.found_sum import Expansion

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

    parameter_ranges: ClassVar = {
        "lams": Other("a sequence of numbers from 0"),
        "betas": Other("a sequence of numbers from 0"),
        "one_kernel": Flag(),
        "cv": Other("an integer from 2, a splitter, or pairs of training and test rows"),
    }

    _kept_entries = ("best",)

    def __init__(
        self,
        kernels: Any = None,
        complexity: Any = "trace",
        lams: Any = POWERS,
        betas: Any = POWERS,
        s: float = 0.1,
        one_kernel: bool = False,
        cv: Any = 5,
        tol: float = 1e-7,
        unit_length: bool = False,
        cache_size: float = 1000,
    ):
        self.kernels = kernels
        self.complexity = complexity
        self.lams = lams
        self.betas = betas
        self.s = s
        self.one_kernel = one_kernel
        self.cv = cv
        self.tol = tol
        self.unit_length = unit_length
        self.cache_size = cache_size

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
        """Choose (lam, beta), then solve for all the data.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix, or list of n objects
        y : (n,) labels
        """
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
            self.best_estimator_ = VotedKernelClassifier(
                self.kernels if not self.one_kernel else list(pools[best.pool]),
                self.complexity, best.lam, best.beta, self.s, tol=self.tol,
                unit_length=self.unit_length, cache_size=self.cache_size,
            )  # fmt: skip
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
        """(settings, tests) errors, (settings,) support points and (settings, p) shares of the
        kernels, of one training set; of what cannot be solved infinite errors, and why."""
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
                    scores = found.scores(asked[t])
                    scores = scores[:, 0] if scores.shape[1] == 1 else scores
                    errors[number, t] = np.mean(chosen(scores) != codes[test])
        return errors, support, weights, refused


def pools_of(kernels: Sequence[Kernel], one_kernel: bool) -> list[tuple[Kernel, ...]]:
    return [(kernel,) for kernel in kernels] if one_kernel else [tuple(kernels)]
