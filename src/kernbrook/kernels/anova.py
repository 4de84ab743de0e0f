"""The ANOVA kernel of Gaussians: interactions of few inputs at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernbrook.checks import Whole, check_values
from kernbrook.compiler.compiling import njit
from kernbrook.kernels.base import Matrix, Values, Width, dense
from kernbrook.kernels.gaussian import Gaussian
from kernbrook.kernels.spectra import Floats, ShiftInvariant, over_subsets
from kernbrook.numerics.arithmetic import exp_negative, fma

LARGEST_ORDER = 100  # compiled loops, which nothing stops, go up to it for each input


@dataclass(frozen=True, init=False, repr=False)
class ANOVA(Width, ShiftInvariant):
    """The mean, over all sets S of `order` inputs, of the Gaussian of the inputs in S.

    mean over |S| = order of exp(-gamma sum_{i in S} (x_i - z_i)^2). What is learned is a sum of
    functions of `order` inputs each: order 1 is an additive model, order 2 has all interactions
    of two inputs. `RandomFeatures` approximates it by frequencies that look at `order` inputs.

    Parameters
    ----------
    order : int from 1 to 100
        Inputs in a set; all inputs, which is the Gaussian, where there are no more.
    sigma : width, in the unit of the features; or
    gamma : 1 / (2 sigma^2)

    Raises
    ------
    InputError
        The order is no such integer, or the width is not one positive number.

    Notes
    -----
    With u_i = exp(-gamma (x_i - z_i)^2) the mean over sets of j among the first i inputs is
    M(i, j) = M(i-1, j) + (M(i-1, j-1) u_i - M(i-1, j)) j / i: the recursion of elementary
    symmetric polynomials, divided by their numbers of terms, so that nothing overflows. A value
    costs an exponential and `order` steps for each input, zeros too: sparse rows are made dense,
    a few hundred at a time.

    References
    ----------
    Stitson, Gammerman, Vapnik, Vovk, Watkins, Weston (1997), Support vector regression with ANOVA
    decomposition kernels. Shawe-Taylor and Cristianini (2004), Kernel methods for pattern
    analysis, section 9.2.

    Examples
    --------
    >>> print(ANOVA(2, sigma=4))
    mean exp(-||x_S-z_S||^2 / (2 * 4^2)), |S| = 2
    >>> ANOVA(1, gamma=0.5)([[0.0, 0.0]], [[0.0, 1.0]]).round(4)  # (1 + 0.6065) / 2
    array([[0.8033]])
    """

    by_threads = True
    parameter_ranges: ClassVar = {"order": Whole(1, LARGEST_ORDER)}

    order: int

    def __init__(
        self,
        order: int = 2,
        *unnamed: Any,
        sigma: float | None = None,
        gamma: float | None = None,
    ):
        check_values(type(self), {"order": order})
        super().__init__(*unnamed, sigma=sigma, gamma=gamma)
        object.__setattr__(self, "order", int(order))

    @staticmethod
    def _gamma_of(sigma: np.float64) -> np.float64:
        return 1.0 / (2.0 * sigma * sigma)

    def parameters(self) -> dict[str, Any]:
        return {"order": self.order, **super().parameters()}

    def __call__(self, X: Matrix, Z: Matrix) -> Values:
        X, Z = dense(X), dense(Z)
        order = min(self.order, X.shape[1])
        means = np.zeros((order + 1, len(X), len(Z)))
        means[0] = 1.0
        for i in range(X.shape[1]):
            u = np.exp(-self.gamma * np.subtract.outer(X[:, i], Z[:, i]) ** 2)
            for j in range(min(i + 1, order), 0, -1):
                means[j] += (means[j - 1] * u - means[j]) * (j / (i + 1))
        return means[order]

    def between(self, points: Any, rows: Any, out: Values) -> None:
        columns = np.ascontiguousarray(rows.dense().T)
        anova(points.dense(), columns, self.gamma, min(self.order, len(columns)), out)

    def frequencies(self, n: int, width: int, way: str, generator: np.random.Generator) -> Floats:
        """The Gaussian's, of `order` inputs each."""
        return over_subsets(Gaussian(gamma=self.gamma), self.order, n, width, way, generator)

    def __str__(self) -> str:
        gaussian = self._formula("exp(-||x_S-z_S||^2 / (2 * %^2))", "exp(-% ||x_S-z_S||^2)")
        return f"mean {gaussian}, |S| = {self.order}"

    def __repr__(self) -> str:
        width = f"gamma={self.gamma:g}" if self.sigma is None else f"sigma={self.sigma:g}"
        return f"ANOVA({self.order}, {width})"


@njit(cache=True, nogil=True)
def anova(points, columns, gamma, order, out):
    """out[s, t] = the kernel of points[s] and columns[:, t]; order from 1 to the inputs, d.

    points : (n, d); columns : (d, b); out : (n, b)
    """
    d, b = np.uintp(columns.shape[0]), np.uintp(columns.shape[1])
    means, u = np.empty((order + 1, b)), np.empty(b)
    for t in range(b):
        means[0, t] = 1.0
    for s in range(np.uintp(out.shape[0])):
        for j in range(order):
            for t in range(b):
                means[j + 1, t] = 0.0
        for i in range(d):
            value, met = points[s, i], np.int64(i) + 1
            for t in range(b):
                difference = value - columns[i, t]
                u[t] = exp_negative(-gamma * (difference * difference))
            for j in range(min(met, order), 0, -1):
                share = j / met
                for t in range(b):
                    mean = means[j, t]
                    means[j, t] = fma(means[j - 1, t] * u[t] - mean, share, mean)
        for t in range(b):
            out[s, t] = means[order, t]
