"""The protocol of table 1 of Cortes, Goyal, Kuznetsov, Mohri (2015)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from kernbrook.errors import InputError
from kernbrook.estimators.grids import COSTS
from kernbrook.estimators.voted_grid import VotedKernelClassifierCV, pools_of, settings_of
from kernbrook.kernels import Kernel
from kernbrook.voted.examples import Examples, Floats
from kernbrook.voted.kernel_pool import values

Parts = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class FoldErrors:
    """What the paper's protocol gives, of r runs: five, or some of them.

    Attributes
    ----------
    settings : the grid, in the order of preference between equals
    validation, test : (settings, r) share of wrong labels
    n_support : (settings, r)
    weights : (settings, r, p) share of each kernel of the pool in the sum of |alpha|
    unfinished : (settings, r) where libsvm stopped at its limit of steps, or where a linear program
        is beyond its solver's precision; errors are infinite then, and the setting is never chosen
    """

    settings: list[Any]
    validation: Floats
    test: Floats
    n_support: NDArray[np.int64]
    weights: Floats
    unfinished: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[FoldErrors]) -> FoldErrors:
        """The runs of several, over the same grid."""
        names = ("validation", "test", "n_support", "weights", "unfinished")
        arrays = {name: np.concatenate([getattr(p, name) for p in parts], 1) for name in names}
        return cls(parts[0].settings, **arrays)

    @property
    def best(self) -> int:
        """The setting of least mean validation error: one for all runs."""
        return int(self.validation.mean(axis=1).argmin())

    @property
    def solvable(self) -> bool:
        """Whether any setting can be solved in all runs."""
        return bool(np.isfinite(self.validation).all(axis=1).any())


def paper_folds(n: int, random_state: Any = None) -> list[Parts]:
    """Five times (train, validation, test): fold i tests, fold i + 1 validates, three train.

    Examples
    --------
    >>> [[len(part) for part in run] for run in paper_folds(11, 0)][:2]
    [[6, 2, 3], [7, 2, 2]]
    """
    if n < 5:
        raise InputError(f"X: expected five examples or more for five folds, got {n}")
    folds = np.array_split(check_random_state(random_state).permutation(n), 5)
    return [
        (
            np.sort(np.concatenate([folds[(i + j) % 5] for j in (2, 3, 4)])),
            np.sort(folds[(i + 1) % 5]),
            np.sort(folds[i]),
        )
        for i in range(5)
    ]


def paper_protocol(
    model: VotedKernelClassifierCV | SVC, X: Any, y: Any, random_state: Any = None,
    kernels: Sequence[Kernel] = (), costs: Sequence[float] = COSTS,
) -> FoldErrors:  # fmt: skip
    """The protocol of table 1: five random folds, no refit, one setting for all five runs.

    Parameters
    ----------
    model : VotedKernelClassifierCV, whose grid is taken (its `cv` is not), or an SVC, the L2-SVM
    X, y : (n, d) examples and (n,) labels; a VotedKernelClassifierCV scales them as it is told
    random_state : of the folds
    kernels, costs : the grid of an SVC; of equals, the earlier kernel, then the earlier C

    References
    ----------
    Cortes, Goyal, Kuznetsov, Mohri (2015), section 6.

    Examples
    --------
    >>> import kernbrook as kb
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pool = [kb.Polynomial(k, offset=1) for k in (1, 2)]
    >>> model = kb.VotedKernelClassifierCV(pool, betas=[1e-3], lams=[0.1, 0.01], unit_length=True)
    >>> result = paper_protocol(model, X, y, random_state=0)
    >>> result.settings[result.best].beta, bool(result.test[result.best].mean() < 0.15)
    (0.001, True)
    """
    runs = paper_folds(len(y), random_state)
    return FoldErrors.joined([paper_run(model, X, y, run, kernels, costs) for run in runs])


def paper_run(
    model: VotedKernelClassifierCV | SVC, X: Any, y: Any, run: Parts,
    kernels: Sequence[Kernel] = (), costs: Sequence[float] = COSTS,
) -> FoldErrors:  # fmt: skip
    """One of the five runs: `run` is of `paper_folds`, all else as in `paper_protocol`."""
    if isinstance(model, SVC):
        return _svc_run(model, X, y, run, kernels, costs)
    model = clone(model)
    examples, codes = model._labelled(X, y)
    pools = pools_of(model._pool(), model.one_kernel)
    settings = settings_of(len(pools), model.lams, model.betas)
    train, *others = run
    errors, support, weights, refused = model._errors(
        examples, codes, train, others, settings, pools
    )
    unfinished = np.isin(np.arange(len(settings)), list(refused))[:, None]
    return FoldErrors(
        settings, errors[:, :1], errors[:, 1:], support[:, None], weights[:, None], unfinished
    )


def _svc_run(
    model: SVC, X: Any, y: Any, run: Parts, kernels: Sequence[Kernel], costs: Sequence[float],
) -> FoldErrors:  # fmt: skip
    examples, y = Examples(X), np.asarray(y)
    learned, *asked = (examples.take(part) for part in run)
    settings = [(kernel, cost) for kernel in kernels for cost in costs]
    errors = np.empty((len(settings), 2))
    n_support = np.empty((len(settings), 1), dtype=np.int64)
    unfinished = np.empty((len(settings), 1), dtype=bool)
    at = 0
    grams = (values(kernels, part, learned) for part in (learned, *asked))
    for gram, *others in zip(*grams, strict=True):
        for cost in costs:
            machine = clone(model).set_params(kernel="precomputed", C=cost)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine.fit(gram, y[run[0]])
            errors[at] = [
                np.mean(machine.predict(block) != y[part])
                for block, part in zip(others, run[1:], strict=True)
            ]
            n_support[at], unfinished[at] = len(machine.support_), machine.fit_status_ != 0
            at += 1
    ones = np.ones((len(settings), 1, 1))
    return FoldErrors(settings, errors[:, :1], errors[:, 1:], n_support, ones, unfinished)
