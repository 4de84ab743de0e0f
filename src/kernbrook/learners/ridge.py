"""Recursive ridge regression with the forecaster of Vovk, Azoury and Warmuth."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import POSITIVE, Number, Or, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, descend_together, inverse_of
from kernbrook.engine.verbs import descend, is_finite, predict
from kernbrook.features.base import MAP
from kernbrook.gram.arrays import Floats
from kernbrook.learners.steps import product, sign_of
from kernbrook.numerics.symmetric import diagonal, halves, multiply, pack, take_off, unpack
from kernbrook.numerics.vectors import fill_with
from kernbrook.numerics.zero import finite

LARGEST_GROWTH = 1e6  # of a variance in P under forgetting, beyond its first value
STEPS = 8  # that wait until P is brought up to date with all of them
MOST_SCALE = 2.0  # of P beside the matrix that is kept, after which none waits
N_NUMBERS = 3  # how many steps wait, the scale, the greatest number on the matrix's diagonal


@parameters
class Ridge(BaseEstimator):
    """The exact minimiser of the squared loss so far, brought up to date with every example.

    In the space of features z, A = regularization I + sum z z' and b = sum y z. The prediction is
    b' (A + z z')^-1 z, with the example's own z in the matrix, which draws it towards 0 where
    little like it was seen. Half of P = A^-1 is kept; an example costs O(d^2) for d features.

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
    Classes are regressed on as 1 and -1.

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
    regularization: Annotated[float, POSITIVE] = 0.1
    forgetting: Annotated[float, Number(0, 1, "(]")] = 1.0
    features: Annotated[Any, Or(("auto",), MAP)] = "auto"

    def extra_rows(self, dim: int, scores: int) -> int:
        return rows_of_matrix(dim) + STEPS + -(-N_NUMBERS // dim)

    def fill_extra(self, extra: NDArray[Any]) -> None:
        store_matrix(extra, np.eye(extra.shape[1]) / float(self.regularization))

    def rule(self) -> RidgeRule:
        return RidgeRule(self.regularization, self.forgetting)


class RidgeRule(NamedTuple):
    """regularization, forgetting : as for `Ridge`."""

    regularization: float
    forgetting: float


class Inverse(NamedTuple):
    """P, the inverse of the regularised moment matrix: views of `extra`.

    P = scale (matrix - steps' steps). A step is one number a feature; some wait, and go into the
    matrix together, which is then read and written once for all of them.

    half : (halves(d),) of the matrix, see `numerics.symmetric`
    steps : (STEPS, d) of which the first ones wait, and the others are 0
    numbers : (N_NUMBERS,) how many wait, the scale, the greatest number on the matrix's diagonal
    """

    half: Floats
    steps: Floats
    numbers: Floats


@njit(cache=True, nogil=True, plain=True)
def rows_of_matrix(d):
    """Of `extra`, which half of a matrix takes."""
    return -(-halves(d) // d)


@njit(cache=True, nogil=True, plain=True)
def view_inverse(extra):
    """`extra` by its parts."""
    d = extra.shape[1]
    first, flat = rows_of_matrix(d), extra.reshape(-1)
    last = first + STEPS
    numbers = flat[last * d : last * d + N_NUMBERS]
    return Inverse(flat[: halves(d)], extra[first:last], numbers)


@njit(cache=True, nogil=True)
def count_waiting(kept):
    """How many steps wait; a file may say anything."""
    return np.uintp(min(max(kept.numbers[0], 0.0), STEPS - 1.0))


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def ridge_gain(kept, z, t, gains):
    """z' P z, in an order fixed by its length; gains = P z.

    Not below 0, where after great weights P is only rounding errors.
    """
    steps, n, d = kept.steps, count_waiting(kept), np.uintp(z.shape[1])
    multiply(kept.half, z, t, gains)
    for k in range(np.uintp(0), n, np.uintp(2)):  # two at a time: what waits not is 0
        first = second = 0.0
        for j in range(d):
            first += steps[k, j] * z[t, j]
            second += steps[k + np.uintp(1), j] * z[t, j]
        for j in range(d):
            gains[j] -= first * steps[k, j] + second * steps[k + np.uintp(1), j]
    scale, total = kept.numbers[1], 0.0
    for j in range(d):
        gains[j] *= scale
    for j in range(d):
        total += z[t, j] * gains[j]
    return max(0.0, total)


@njit(cache=True, nogil=True)
def forgetting_now(rule, kept):
    """The forgetting, or 1 where P has grown too far in a direction that does not come."""
    most, scale = LARGEST_GROWTH / rule.regularization, kept.numbers[1]
    if rule.forgetting < 1.0 and kept.numbers[2] * scale > most:
        for j in range(kept.steps.shape[1]):
            entry = diagonal(kept.half, kept.steps.shape[1], j)
            for k in range(count_waiting(kept)):
                entry -= kept.steps[k, j] * kept.steps[k, j]
            if entry * scale > most:
                return 1.0
    return rule.forgetting


@predict.of(RidgeRule)
def _predict(rule, held, z, t, out):
    """Vovk, Azoury, Warmuth: with the example's own z in the matrix."""
    kept = view_inverse(held.extra)
    variance = ridge_gain(kept, z, t, held.gains)
    beyond = 1.0 + variance / forgetting_now(rule, kept)
    for c in range(out.shape[0]):
        out[c] = product(held.theta, c, z, t) / beyond
    return variance


@descend.of(RidgeRule)
def _descend(rule, held, z, t, seen, scores, variance):
    """Recursive least squares: theta and P after one more example.

    With A <- forgetting A + weight z z', P its inverse; variance = z' P z and gains = P z of
    before.
    """
    theta, gains, kept = held.theta, held.gains, view_inverse(held.extra)
    forgetting = forgetting_now(rule, kept)
    total = forgetting / seen.weight + variance
    d = np.uintp(theta.shape[1])
    for c in range(theta.shape[0]):
        target = seen.target if seen.numbers else sign_of(theta.shape[0], c, seen.label)
        step = (target - product(theta, c, z, t)) / total
        for j in range(d):
            theta[c, j] += step * gains[j]
    n, root = count_waiting(kept), math.sqrt(total * kept.numbers[1])
    for j in range(d):
        kept.steps[n, j] = gains[j] / root
    kept.numbers[0] = n + 1.0
    kept.numbers[1] /= forgetting
    if n + 1.0 == STEPS or kept.numbers[1] > MOST_SCALE:
        apply_waiting(kept)


@is_finite.of(RidgeRule)
def _is_finite(rule, held):
    """The matrix where no step waits: a step after it is made with all of its numbers."""
    kept = view_inverse(held.extra)
    fine = finite(held.theta.reshape(-1)) and finite(kept.steps.reshape(-1))
    fine &= finite(kept.numbers)
    return fine and (kept.numbers[0] > 0.0 or finite(kept.half))


@njit(cache=True, nogil=True)
def apply_waiting(kept):
    """The steps that wait go into the matrix, and the scale."""
    half, steps, numbers = kept.half, kept.steps, kept.numbers
    d, greatest = steps.shape[1], 0.0
    take_off(half, steps, STEPS, numbers[1])
    for j in range(d):
        greatest = max(greatest, diagonal(half, d, j))
    fill_with(steps.reshape(-1), 0.0)
    numbers[0], numbers[1], numbers[2] = 0.0, 1.0, greatest


def store_matrix(extra: Floats, matrix: Floats) -> None:
    """P is this matrix, (d, d)."""
    kept = view_inverse(extra)
    kept.half[:], kept.steps[:], kept.numbers[:] = pack(matrix), 0.0, 0.0
    kept.numbers[1:] = 1.0, matrix.diagonal().max()


def matrix_of(extra: Floats) -> Floats:
    """P, (d, d)."""
    half, steps, numbers = view_inverse(extra)
    return np.asarray(numbers[1] * (unpack(half, extra.shape[1]) - steps.T @ steps))


@descend_together.register(RidgeRule)
def _together(rule: RidgeRule, apart: Apart) -> tuple[Floats, Floats]:
    """A and b are sums over examples, so that theta is exactly that of all of them.

    Under forgetting they count the last ones, and are averaged.
    """
    matrices = apart.over(lambda learned: symmetric(matrix_of(learned.extra)))
    matrix = matrices.averaged() if rule.forgetting < 1.0 else matrices.added()
    products = apart.over(lambda learned: learned.theta @ symmetric(matrix_of(learned.extra)))
    moments = products.averaged() if rule.forgetting < 1.0 else products.added()
    inverse, extra = symmetric(matrix), np.zeros_like(apart.before.extra)
    store_matrix(extra, inverse)
    return moments @ inverse, extra


def symmetric(matrix: Floats) -> Floats:
    """The inverse of a symmetric matrix, symmetric to the last bit."""
    inverse = inverse_of(matrix)
    return np.asarray((inverse + inverse.T) / 2)
