"""Voted kernel regularization and what its paper compares it with, as named recipes.

In table mode every example is divided by its length first, as in the paper's tables.

Solvers and grids are imported when one is built: whoever lists or runs other recipes does not wait.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kernbrook.estimators.pool import COSTS, POWERS
from kernbrook.kernels import Polynomial, resolve
from kernbrook.recipes.catalogue import Recipe

if TYPE_CHECKING:
    from sklearn.model_selection import GridSearchCV

    from kernbrook.estimators.voted import VotedKernelClassifierCV

PATIENCE = 10**5  # steps of libsvm: at C = 10^7 it might not end


def _polynomials(kernels: Any) -> Any:
    return [Polynomial(k, offset=1) for k in range(1, 11)] if kernels is None else kernels


def _vkr(
    complexity: str,
    kernels: Any = None,
    random_state: Any = None,
    lams: Any = POWERS,
    betas: Any = POWERS,
    s: float = 0.1,
    cv: Any = 5,
    unit_length: bool = True,
) -> VotedKernelClassifierCV:
    from kernbrook.estimators.voted import VotedKernelClassifierCV

    return VotedKernelClassifierCV(
        _polynomials(kernels), complexity, lams, betas, s=s, cv=cv, unit_length=unit_length
    )


def _l1_svm(
    kernels: Any = None,
    random_state: Any = None,
    betas: Any = POWERS,
    cv: Any = 5,
    unit_length: bool = True,
) -> VotedKernelClassifierCV:
    from kernbrook.estimators.voted import VotedKernelClassifierCV

    pool = _polynomials(kernels)
    return VotedKernelClassifierCV(
        pool, "max", [0.0], betas, one_kernel=True, cv=cv, unit_length=unit_length
    )


def _l2_svm(
    kernels: Any = None,
    random_state: Any = None,
    costs: Any = COSTS,
    cv: Any = 5,
    unit_length: bool = True,
) -> GridSearchCV:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, Normalizer
    from sklearn.svm import SVC

    scaling = Normalizer() if unit_length else FunctionTransformer()
    grid = {"svc__kernel": list(resolve(_polynomials(kernels))), "svc__C": list(costs)}
    return GridSearchCV(make_pipeline(scaling, SVC(max_iter=PATIENCE)), grid, cv=cv)


RECIPES: dict[str, Recipe] = {
    "vkr-trace": (partial(_vkr, "trace"), {"unit_length": False}),
    "vkr-pdim": (partial(_vkr, "pdim"), {"unit_length": False}),
    "vkr-local": (partial(_vkr, "local"), {"unit_length": False}),
    "l1-svm": (_l1_svm, {"unit_length": False}),
    "l2-svm": (_l2_svm, {"unit_length": False}),
}
