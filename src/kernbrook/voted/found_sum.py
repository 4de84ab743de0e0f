"""Sparse sums of kernels, sum_kj alpha_kj K_k(x, x_j): what was found, and its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernbrook.kernels import Kernel
from kernbrook.voted.examples import Examples, Floats, Indices
from kernbrook.voted.kernel_columns import TILE, Columns
from kernbrook.voted.kernel_pool import values
from kernbrook.voted.program import Solution


@dataclass(frozen=True)
class Expansion:
    """c sums over the same kernels and support points.

    Attributes
    ----------
    kernels : p kernels
    support : (q,) numbers of the training points with a nonzero coefficient
    points : these q examples
    coefficients : (q, p, c)
    """

    kernels: tuple[Kernel, ...]
    support: Indices
    points: Examples
    coefficients: Floats

    @classmethod
    def of(cls, columns: Columns, solutions: Sequence[Solution]) -> Expansion:
        """The sums that c solutions over the same columns found."""
        parts = [np.divmod(solution.columns, columns.n) for solution in solutions]
        support = np.unique(np.concatenate([examples for _, examples in parts]))
        coefficients = np.zeros((len(support), len(columns.kernels), len(solutions)))
        for c, (kernels, examples) in enumerate(parts):
            at = np.searchsorted(support, examples)
            coefficients[at, kernels, c] = solutions[c].coefficients
        return cls(columns.kernels, support, columns.examples.take(support), coefficients)

    @property
    def weights(self) -> Floats:
        """(p,) share of each kernel in the sum of all |alpha|; 0 where all are 0."""
        sizes = np.abs(self.coefficients).sum(axis=(0, 2))
        return np.asarray(sizes / max(sizes.sum(), np.finfo(float).tiny))

    def scores(self, examples: Examples) -> Floats:
        """(n, c) values of the sums."""
        result = np.zeros((len(examples), self.coefficients.shape[2]))
        used = np.flatnonzero(self.coefficients.any(axis=(0, 2)))
        if len(used) == 0:
            return result
        pool = [self.kernels[k] for k in used]
        step = max(1, TILE // max(len(self.support), 1))
        for lo in range(0, len(examples), step):
            some = examples.take(slice(lo, lo + step))
            for k, block in zip(used, values(pool, some, self.points), strict=True):
                result[lo : lo + step] += block @ self.coefficients[:, k]
        return result
