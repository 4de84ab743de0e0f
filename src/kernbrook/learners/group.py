"""Learners with kernels, or a view of the rows, of their own."""

from __future__ import annotations

from typing import Annotated, Any

from sklearn.base import BaseEstimator

from kernbrook.checks import OneOf, Other, or_none, parameters, refusal
from kernbrook.engine.pool import Member
from kernbrook.errors import InputError
from kernbrook.kernels import resolve
from kernbrook.kernels.dictionaries import check_vectors
from kernbrook.numerics.scaling import METHODS


@parameters
class Group(BaseEstimator):
    """Learners of a pool that have kernels, or a scaling of the rows, of their own.

    Everything else is as without: one combiner weighs all experts of the pool.

    Parameters
    ----------
    learner : a learner, or a list of learners
    kernels : as of `OnlineMKClassifier`; None: those of the pool
    scaling : "moments", "maximum" or "ranks", of the rows that these learners see; None: as the
        rest of the pool

    Examples
    --------
    Passive-aggressive steps on 16 kernels, beside ridge regressions on one, of ranks:

    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ridges = kb.Group([kb.Ridge(), kb.Ridge(forgetting=0.98)], kb.Gaussian(sigma=2.0), "ranks")
    >>> model = kb.OnlineMKClassifier("omkc16", [kb.BPAS(50), ridges], random_state=0)
    >>> model.fit(X, X[:, 0] > 0).expert_weights_.shape
    (18,)
    """

    choice = "learner"
    learner: Annotated[Any, Other("a learner such as Ridge(), or a list of learners")]
    kernels: Annotated[
        Any, or_none(Other("a dictionary's name, a kernel or a list of kernels", resolve))
    ] = None
    scaling: Annotated[str | None, or_none(OneOf(tuple(METHODS)))] = None

    def members(self) -> list[Member]:
        """The members of the pool, one for each learner."""
        pool = self.learner if isinstance(self.learner, (list, tuple)) else [self.learner]
        if not pool or any(isinstance(learner, Group) for learner in pool):
            raise refusal(self, "learner", "be a learner such as Ridge(), or a list of learners")
        kernels = None if self.kernels is None else resolve(self.kernels)
        if self.scaling is not None:
            check_vectors("scaling", kernels or ())
        for part in pool:
            if hasattr(part, "n_experts") and (kernels is not None or self.scaling is not None):
                raise InputError(f"Group: {part!r} has neither kernels nor scaling; leave them out")
        return [Member(learner, kernels, self.scaling) for learner in pool]
