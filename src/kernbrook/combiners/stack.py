"""Stack: what the experts' scores tell beyond a weighted vote, added to it."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook.checks import HEAVIEST, POSITIVE, Part, or_none, parameters, refusal
from kernbrook.combiners.fixed_share import FixedShare
from kernbrook.combiners.loss_combiner import LossCombiner
from kernbrook.combiners.ml_poly import MLPoly
from kernbrook.compiler.compiling import njit
from kernbrook.engine.committee import vote
from kernbrook.engine.loss_codes import LINEARIZED, MISTAKES, SQUARED, loss_of
from kernbrook.engine.progress import Progress
from kernbrook.engine.uniting import Apart, Weighing, inverse_of, weigh_together
from kernbrook.engine.verbs import correct, update, weigh_all
from kernbrook.numerics.vectors import fill_with

SURE = 1.0  # of classes: scores count up to it
FAR = 3.0  # of numbers: differences count up to it, in deviations
MEMORY = 0.999  # of the deviation, a label's factor
FREER = 10.0  # how much less the coefficient of the vote is held to 0 than those of the experts
FREE = 333.0  # the same of an expert that is one of few, far ahead
FLATTEST = 1e-3  # least curvature of a logistic loss
N_MEASURED = 4  # labels so far, their decayed count, sum of squared errors, greatest label


@parameters
class Stack(BaseEstimator):
    """A combiner that picks and adds up: a vote, and a linear model of the experts' scores.

    Another combiner, the base, picks: its vote is B(x). The scores s_e(x) of the experts are added
    to it with coefficients of any sign, which are learned:

        classes: z(x) = (1 + v_0) B(x) + sum_e v_e cut(s_e(x), 1), of each class; of two classes
            the chance of the second is 1 / (1 + exp(-2 z)).
        numbers: z(x) = B(x) + r sum_e v_e cut((s_e(x) - B(x)) / r, 3), with the base's
            deviation r so far, decaying; and |z| is at most the greatest |y| so far.

    The coefficients begin at 0. Of numbers they are a ridge regression of the base's error, of
    classes online Newton steps on the logistic loss, of more than two on that of the label's class
    and the best other one. Scores are cut so that an expert that diverges for a while, or a rare
    great label, cannot ruin them. Each round takes time and memory in proportion to the square of
    the number of experts.

    Parameters
    ----------
    base : combiner that learns from losses
        By default `FixedShare(share=0.015, variable=True)` for classes,
        `MLPoly("linearized", scale_free=True)` for numbers. Its weights are the experts'.
    regularization : float, more than 0
        How much the coefficients are held to 0; about the number of rounds before they count.

    Notes
    -----
    For numbers, with x_t the cut differences in units of r, e_t the base's cut error and p_t what
    is added: sum_t (e_t - p_t)^2 / (1 + x_t' A_t^-1 x_t) is, to rounding, the least value over v of
    sum_t (e_t - v x_t)^2 + regularization |v|^2, so that no coefficients could have done much
    better. A_t is the regression's matrix before round t.

    For classes, with x_t the label's lead in the inputs, p_t the chance of another label, g_t =
    -2 p_t, h_t = 4 p_t (1 - p_t) or .001 if that is more, A_t = L + sum_{s <= t} h_s x_s x_s' and L
    the regularization: the losses at the coefficients v_t exceed those at any v by at most
    (v' L v + sum_t g_t^2 x_t' A_t^-1 x_t + sum_t (h_t - c_t) ((v - v_t) x_t)^2) / 2, with c_t the
    least curvature between v_t and v.

    It takes all experts in each round, hence no selection but `Selection()`.

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5. Hazan, Agarwal, Kale (2007),
    Logarithmic regret algorithms for online convex optimization, Machine Learning 69: Newton
    steps. Zhdanov, Kalnishkan (2010), An identity for kernel ridge regression: the equality in
    Notes.

    Examples
    --------
    >>> Stack(regularization=30.0)
    Stack(regularization=30.0)
    """

    choice = "combiner"
    needs: ClassVar = frozenset({"all experts"})
    base: Annotated[Any, or_none(Part("combiner", "a combiner of losses such as FixedShare()"))] = (
        None
    )
    regularization: Annotated[float, POSITIVE] = 100.0

    _within = True

    def for_task(self, regression: bool) -> Stack:
        """The same with a base."""
        if self.base is not None:
            return self
        base = (
            MLPoly("linearized", scale_free=True)
            if regression
            else FixedShare(share=0.015, variable=True)
        )
        return Stack(base, self.regularization)

    def far_ahead(self, regression: bool) -> Stack:
        """The same for rows far from the last label, see `engine.horizons`.

        Few of them are judged, so that coefficients that fit these by chance are held more to 0,
        and the greatest label among them is not the greatest that has come.
        """
        far = Stack(self.base, (100.0 if regression else 2.0) * self.regularization)
        far._within = False
        return far

    def adds_freely(self, state: NDArray[np.float64], n_experts: int, few: list[int]) -> None:
        """Of a few experts coefficients are hardly held to 0; state : before the first label."""
        variances = np.ones(n_experts + 1)
        variances[np.array(few) + 1] = FREE
        np.fill_diagonal(split(state, n_experts)[3], variances / self.regularization)

    @property
    def _base(self) -> Any:
        base = self.for_task(False).base
        if isinstance(base, type) or not isinstance(base, LossCombiner):
            raise refusal(self, "base", "be None or a combiner of losses such as FixedShare()")
        return base

    @property
    def loss_code(self) -> int:
        """What the base looks at."""
        code: int = self._base.loss_code
        return code

    @property
    def corrects_votes(self) -> bool:
        """Whether it adds to votes for classes what it has learned from them."""
        return self.loss_code == MISTAKES

    def state_size(self, n_experts: int) -> int:
        base: int = self._base.state_size(n_experts)
        return base + N_MEASURED + (n_experts + 1) * (n_experts + 2)

    def rule(self) -> StackRule:
        return StackRule(self._base.rule(), self.regularization, self._within)


class StackRule(NamedTuple):
    """base : rule of the base; regularization : of the coefficients.

    within : whether numbers are held to the greatest label so far.

    State: the base's, then `N_MEASURED` numbers, the coefficients (m + 1,), and (m + 1, m + 1) the
    inverse of the regression's matrix, 0 before the first label but for `adds_freely`.
    """

    base: Any
    regularization: float
    within: bool


@njit(cache=True, nogil=True, plain=True)
def split(state, m):
    """(the base's state, what is measured, coefficients (m + 1,), matrix): views."""
    n = m + 1
    own = state.shape[0] - N_MEASURED - n - n * n
    at = own + N_MEASURED
    return state[:own], state[own:at], state[at : at + n], state[at + n :].reshape((n, n))


@njit(cache=True, nogil=True)
def cut(value, most):
    """The value, at most `most` in size."""
    return min(max(value, -most), most)


@njit(cache=True, nogil=True)
def deviation_of(measured):
    """The base's, of numbers; 0 before the first error."""
    return math.sqrt(measured[2] / measured[1]) if measured[1] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def newton_step(matrix, inputs, slope, curvature, coefficients):
    """A' = A + curvature x x', coefficients - slope A'^-1 x; matrix : A^-1 before, A'^-1 after."""
    n = inputs.shape[0]
    ahead, reach = np.empty(n), 0.0
    for i in range(n):
        ahead[i] = 0.0
        for j in range(n):
            ahead[i] += matrix[i, j] * inputs[j]
        reach += ahead[i] * inputs[i]
    scale = 1.0 + curvature * max(reach, 0.0)  # after great weights, only rounding errors
    for i in range(n):
        coefficients[i] -= slope * ahead[i] / scale
        for j in range(n):
            matrix[i, j] -= ahead[i] * ahead[j] * (curvature / scale)
        matrix[i, i] = max(matrix[i, i], 0.0)


@correct.of(StackRule)
def _correct(combiner, progress, loss, scores, decision):
    m, classes = scores.shape
    _, measured, coefficients, _ = split(progress.state, m)
    if loss >= SQUARED:
        deviation, base, added = deviation_of(measured), decision[0], 0.0
        if deviation > 0.0:
            for e in range(m):
                added += coefficients[e + 1] * cut((scores[e, 0] - base) / deviation, FAR)
            decision[0] = base + deviation * added
            if combiner.within:
                decision[0] = cut(decision[0], measured[3])
        return
    for c in range(classes):
        decision[c] *= 1.0 + coefficients[0]
        for e in range(m):
            decision[c] += coefficients[e + 1] * cut(scores[e, c], SURE)


@update.of(StackRule)
def _update(combiner, told, progress):
    m, classes = told.scores.shape
    state, measured, coefficients, matrix = split(progress.state, m)
    own = Progress(
        progress.log_weights, progress.losses, progress.used, state, progress.counters,
        progress.asking,
    )  # fmt: skip
    weights, base = np.empty(m), np.empty(classes)
    weigh_all(combiner.base, own, weights)
    everybody, mean = np.empty(m, np.bool_), np.bool_(True)
    fill_with(everybody, True)
    vote(everybody, told.loss == MISTAKES, mean, weights, told.scores, told.sizes, base)
    if measured[0] == 0.0 and matrix[0, 0] == 0.0:
        for i in range(m + 1):
            matrix[i, i] = 1.0 / combiner.regularization
        matrix[0, 0] = FREER / combiner.regularization
    measured[0] += 1.0
    if told.loss >= SQUARED:
        _regress(told, base[0], measured, coefficients, matrix)
    else:
        _tell_apart(told, base, coefficients, matrix)
    if told.loss == LINEARIZED:  # at the base's vote
        for e in range(m):
            value = loss_of(told.loss, told.scores[e], told.sizes[e], base, told.target)[0]
            told.losses[e] = told.weight * value
    update(combiner.base, told, own)


@njit(cache=True, nogil=True)
def _regress(told, base, measured, coefficients, matrix):
    """Of numbers: a step of ridge regression on the base's error, then measure it."""
    m, deviation, error = told.scores.shape[0], deviation_of(measured), told.target - base
    if deviation > 0.0:
        inputs, rest = np.zeros(m + 1), cut(error / deviation, FAR)
        for e in range(m):
            inputs[e + 1] = cut((told.scores[e, 0] - base) / deviation, FAR)
            rest -= coefficients[e + 1] * inputs[e + 1]
        newton_step(matrix, inputs, -told.weight * rest, told.weight, coefficients)
    measured[1] = MEMORY * measured[1] + told.weight
    measured[2] = MEMORY * measured[2] + told.weight * error * error
    measured[3] = max(measured[3], abs(told.target))


@njit(cache=True, nogil=True)
def _tell_apart(told, base, coefficients, matrix):
    """Of classes: a Newton step on log(1 + exp(-2 margin)), of the label and the best other one.

    As many in a row as the example weighs, the last one a part of a step: one step of all the
    weight goes farther than the curvature tells.
    """
    m, classes = told.scores.shape
    label, rival, inputs = int(told.target), -1, np.empty(m + 1)
    if classes == 1:
        side = 1.0 if label == 1 else -1.0
        inputs[0] = side * base[0]
        for e in range(m):
            inputs[e + 1] = side * cut(told.scores[e, 0], SURE)
    else:
        greatest = -math.inf
        for c in range(classes):
            value = (1.0 + coefficients[0]) * base[c]
            for e in range(m):
                value += coefficients[e + 1] * cut(told.scores[e, c], SURE)
            if c != label and value > greatest:
                greatest, rival = value, c
        inputs[0] = base[label] - base[rival]
        for e in range(m):
            own, other = told.scores[e, label], told.scores[e, rival]
            inputs[e + 1] = cut(own, SURE) - cut(other, SURE)
    left = min(told.weight, HEAVIEST)
    while left > 0.0:
        part, margin = min(left, 1.0), inputs[0]
        for i in range(m + 1):
            margin += coefficients[i] * inputs[i]
        wrong = 1.0 / (1.0 + math.exp(cut(2.0 * margin, 50.0)))
        curvature = max(4.0 * wrong * (1.0 - wrong), FLATTEST)
        newton_step(matrix, inputs, -2.0 * part * wrong, part * curvature, coefficients)
        left -= part


@weigh_together.register(StackRule)
def _together(combiner: StackRule, apart: Apart) -> Weighing:
    """The regression's matrix and moments add up, as if all had had the same experts."""
    m = len(apart.before.log_weights)
    parts = apart.over(lambda one: Parts(one.log_weights, *split(one.state, m)))
    base = weigh_together(
        combiner.base, parts.over(lambda one: Weighing(one.log_weights, one.state))
    )
    known = parts.over(lambda one: _known(combiner, one))
    measured = parts.of("measured")
    greatest = max(one[3] for one in measured.each)
    total = np.array([measured.added()[0], *measured.averaged()[1:3], greatest])
    matrices, products = (known.over(itemgetter(at)) for at in (0, 1))
    matrix, product = matrices.added(), products.added()
    if not np.linalg.eigvalsh(matrix)[0] > 0:  # older: they began with another one
        matrix, product = matrices.averaged(), products.averaged()
    inverse = inverse_of(matrix)
    coefficients = inverse @ product
    return Weighing(
        base.log_weights,
        np.concatenate([base.state, total, coefficients, (inverse + inverse.T).ravel() / 2]),
    )


class Parts(NamedTuple):
    """Weights, and the parts of the state as `split` gives them."""

    log_weights: NDArray[np.float64]
    state: NDArray[np.float64]
    measured: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    inverse: NDArray[np.float64]


def _known(combiner: StackRule, one: Parts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The regression's matrix, and its product with the coefficients."""
    if one.inverse.any():
        matrix = inverse_of(one.inverse)
    else:
        matrix = np.diag(np.full(len(one.coefficients), combiner.regularization))
        matrix[0, 0] /= FREER
    return matrix, matrix @ one.coefficients
