"""Recursive ridge regression with the forecaster of Vovk, Azoury and Warmuth."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import POSITIVE, Number, Or
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, descend_together
from kernbrook.engine.verbs import descend, predict
from kernbrook.errors import NonFiniteError
from kernbrook.features.base import MAP, Floats
from kernbrook.learners.steps import product, sign_of

LARGEST_GROWTH = 1e6  # of a variance in P under forgetting, beyond its first value


class Ridge(BaseEstimator):
    """The exact minimiser of the squared loss so far, brought up to date with every example.

    In the space of features z, A = regularization I + sum z z' and b = sum y z. The prediction is
    b' (A + z z')^-1 z, with the example's own z in the matrix, which draws it towards 0 where
    little like it was seen. P = A^-1 is kept, so an example costs O(d^2) for d features.

    Parameters
    ----------
    regularization : positive float
    forgetting : float in (0, 1]
        Below 1, A and b are multiplied by it before each example: the last 1 / (1 - forgetting)
        examples count, for streams that drift. Nothing is forgotten while P is a million times
        what it began with in some direction, as it comes to be where nothing new comes.
    features : "auto", or a map such as `RandomFeatures()`; see `GradientDescent`

    Notes
    -----
    Classes are regressed on as 1 and -1. z' P z is the variance of the prediction, in units of
    the noise's: what `VarianceSampling` looks at.

    References
    ----------
    Vovk (2001), Competitive on-line statistics; Azoury and Warmuth (2001), Relative loss bounds
    for on-line density estimation with the exponential family of distributions.

    Examples
    --------
    >>> Ridge(regularization=0.01)
    Ridge(regularization=0.01)
    """

    choice = "learner"
    store = "features"
    of_numbers = True
    of_classes = True
    only_classes = False
    gives: ClassVar = frozenset({"variances"})
    parameter_ranges: ClassVar = {
        "regularization": POSITIVE,
        "forgetting": Number(0, 1, "(]"),
        "features": Or(("auto",), MAP),
    }

    def __init__(
        self, regularization: float = 0.1, forgetting: float = 1.0, features: Any = "auto"
    ):
        self.regularization = regularization
        self.forgetting = forgetting
        self.features = features

    def extra_rows(self, dim: int, scores: int) -> int:
        """Rows of `dim` numbers that it keeps besides its coefficients: P, below the diagonal."""
        return dim

    def fill_extra(self, extra: NDArray[Any]) -> None:
        """P before the first example."""
        np.fill_diagonal(extra, 1.0 / float(self.regularization))

    def rule(self) -> RidgeRule:
        """The parameters as compiled code reads them."""
        return RidgeRule(self.regularization, self.forgetting)


class RidgeRule(NamedTuple):
    """regularization, forgetting : as for `Ridge`."""

    regularization: float
    forgetting: float


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def along(z, t, gains):
    """z[t] . gains, in an order fixed by their length."""
    total = 0.0
    for j in range(np.uintp(z.shape[1])):
        total += z[t, j] * gains[j]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def ridge_gain(inverse, z, t, gains):
    """z' P z for the inverse P of the regularised moment matrix; gains = P z.

    P is symmetric: what lies below its diagonal is read once, for both halves.
    Not below 0, where after great weights P is only rounding errors.
    """
    for j in range(np.uintp(inverse.shape[0])):
        own, total = z[t, j], 0.0
        for i in range(j):
            total += inverse[j, i] * z[t, i]
            gains[i] += inverse[j, i] * own
        gains[j] = total + inverse[j, j] * own
    return max(0.0, along(z, t, gains))


@njit(cache=True, nogil=True)
def forgetting_now(rule, inverse):
    """The forgetting, or 1 where P has grown too far in a direction that does not come."""
    regularization, forgetting = rule.regularization, rule.forgetting
    if forgetting < 1.0:
        for j in range(inverse.shape[0]):
            if inverse[j, j] * regularization > LARGEST_GROWTH:
                return 1.0
    return forgetting


@predict.of(RidgeRule)
def _predict(rule, held, z, t, out):
    """Vovk, Azoury, Warmuth: with the example's own z in the matrix."""
    variance = ridge_gain(held.extra, z, t, held.gains)
    beyond = 1.0 + variance / forgetting_now(rule, held.extra)
    for c in range(out.shape[0]):
        out[c] = product(held.theta, c, z, t) / beyond
    return variance


@descend.of(RidgeRule)
def _descend(rule, held, z, t, seen, scores, variance):
    """Recursive least squares: theta and P after one more example.

    With A <- forgetting A + weight z z', P its inverse, of which half is kept up to date;
    variance = z' P z and gains = P z of before, changed.
    """
    theta, inverse, gains = held.theta, held.extra, held.gains
    forgetting = forgetting_now(rule, inverse)
    total = forgetting / seen.weight + variance
    d = np.uintp(inverse.shape[0])
    for c in range(theta.shape[0]):
        target = seen.target if seen.numbers else sign_of(theta.shape[0], c, seen.label)
        step = (target - product(theta, c, z, t)) / total
        for j in range(d):
            theta[c, j] += step * gains[j]
    root, grown = math.sqrt(total), 1.0 / forgetting
    for j in range(d):
        gains[j] /= root
    for i in range(d):
        factor = gains[i]
        if forgetting == 1.0:
            for j in range(i + np.uintp(1)):
                inverse[i, j] -= factor * gains[j]
        else:
            for j in range(i + np.uintp(1)):
                inverse[i, j] = (inverse[i, j] - factor * gains[j]) * grown


@descend_together.register(RidgeRule)
def _together(rule: RidgeRule, apart: Apart) -> tuple[Floats, Floats]:
    """A and b are sums over examples, so that theta is exactly that of all of them.

    Under forgetting they count the last ones, and are averaged.
    """
    matrices = apart.over(lambda one: inverse_of(whole(one.extra)))
    matrix = matrices.averaged() if rule.forgetting < 1.0 else matrices.added()
    own = apart.over(lambda one: one.theta @ inverse_of(whole(one.extra)))
    moments = own.averaged() if rule.forgetting < 1.0 else own.added()
    inverse = inverse_of(matrix)
    return moments @ inverse, np.tril(inverse)


def whole(lower: Floats) -> Floats:
    """A symmetric matrix, of which what lies on and below the diagonal counts."""
    below = np.tril(lower, -1)
    return np.asarray(below + below.T + np.diag(np.diagonal(lower)))


def inverse_of(matrix: Floats) -> Floats:
    """Of a symmetric matrix, symmetric to the last bit."""
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise NonFiniteError("merge: the moments of a ridge regression are singular") from None
    return np.asarray((inverse + inverse.T) / 2)
