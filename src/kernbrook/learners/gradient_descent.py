"""Online gradient descent, on kernel expansions or on explicit features."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import (
    HEAVIEST,
    NON_NEGATIVE,
    POSITIVE,
    Number,
    OneOf,
    Or,
    Whole,
    or_none,
    parameters,
)
from kernbrook.compiler.compiling import njit
from kernbrook.engine.uniting import Apart, descend_together
from kernbrook.engine.verbs import Change, Seen, after_label, descend, expand, fit_in, predict
from kernbrook.errors import InputError
from kernbrook.features.base import MAP
from kernbrook.gram.arrays import Floats
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.steps import product, sign_of
from kernbrook.numerics.scores_of_classes import log_loss, margin_of
from kernbrook.numerics.upkeep import oldest, score_slots, shrink_slots
from kernbrook.numerics.zero import ZERO

LOSSES = ("squared", "logistic", "hinge")
SQUARED, LOGISTIC, HINGE = range(3)
SCHEDULES = ("root", "constant", "normalized", "adagrad")
BY_ROOT, CONSTANT, NORMALIZED, ADAGRAD = range(4)
LEAST = 1e-300  # sum of squared gradients that a step is divided by


@parameters
class GradientDescent(Budgeted):
    """f <- (1 - 2 eta lambda) f - eta l'(f(x), y) k(x, .): a step down each example's loss.

    Parameters
    ----------
    step : positive float
        eta is `step` times what the schedule says.
    schedule : "root", "constant", "normalized" or "adagrad"
        "root": 1 / sqrt(horizon), or 1 / sqrt(t) at the t-th label where no horizon is given, and
        for the squared loss then never more than makes the error on the example 0.
        "constant": 1. "normalized", on features only: 1 / k(x, x); for the squared loss a step of
        1/2 then makes the error on the example 0, and smaller ones a part of it. "adagrad", on
        features only: for each coordinate 1 / sqrt(sum of its squared gradients).
    horizon : int or None, the number T of labels to come, if it is known
    regularization : non-negative float, lambda: of lambda ||f||^2, which is added to the loss
    loss : "squared", "logistic" or "hinge"
        "squared", (f - y)^2, is for numbers, and for classes as 1 and -1. "logistic" and "hinge"
        are for classes; of many, the softmax and the best wrong class.
    features : "auto", a map such as `RandomFeatures()`, or None
        The space in which it learns, of fixed size. "auto": 50 random frequencies for kernels of
        x - z, all products of features for polynomials. None: f is a sum over all examples.
    budget : int or None, where features is None
        f is a sum over the last so many examples that were learned from: those before have shrunk
        most.
    restart : int or None, on features only
        After every so many labels all that was learned is forgotten, and t begins at 1 again.

    References
    ----------
    Zinkevich (2003). On kernel expansions: Kivinen, Smola, Williamson (2004), Online learning
    with kernels; the budget is their truncation. On random features: Shen, Chen, Giannakis (2019),
    Random feature-based online multi-kernel learning. AdaGrad: Duchi, Hazan, Singer (2011).

    Examples
    --------
    >>> GradientDescent(step=0.5, schedule="constant")
    GradientDescent(schedule='constant', step=0.5)
    """

    of_numbers = of_classes = True
    step: Annotated[float, POSITIVE] = 1.0
    schedule: Annotated[str, OneOf(SCHEDULES)] = "root"
    horizon: Annotated[int | None, or_none(Number(1))] = None
    regularization: Annotated[float, NON_NEGATIVE] = 0.0
    loss: Annotated[str, OneOf(LOSSES)] = "squared"
    features: Annotated[Any, Or(("auto", None), MAP)] = "auto"
    budget: Annotated[int | None, or_none(Whole())] = None
    restart: Annotated[int | None, or_none(Whole())] = None

    @property
    def store(self) -> str:
        if self.features is not None:
            return "features"
        return "expansion" if self.budget is None else "slots"

    @property
    def only_classes(self) -> bool:
        return self.loss in ("logistic", "hinge")

    def extra_rows(self, dim: int, scores: int) -> int:
        return scores if self.schedule == "adagrad" else 0

    def fill_extra(self, extra: NDArray[Any]) -> None:
        """Set what the learner begins with in these rows: zeros."""

    def rule(self) -> GradientRule:
        schedule, step, code = self.schedule, float(self.step), SCHEDULES.index(self.schedule)
        if self.horizon is not None and schedule == "root":
            step, code = step / math.sqrt(self.horizon), CONSTANT
        if schedule in ("adagrad", "normalized") and self.features is None:
            raise InputError(
                f"GradientDescent: schedule {schedule!r} needs features, got features=None"
            )
        if self.budget is not None and self.features is not None:
            raise InputError("GradientDescent: a budget needs features=None: a sum of examples")
        if self.restart is not None and self.features is None:
            raise InputError("GradientDescent: a restart needs features, got features=None")
        if self.features is None and 2 * step * self.regularization >= 1:
            raise InputError(
                "GradientDescent: 2 * step * regularization must be below 1, got "
                f"{2 * step * self.regularization:g}"
            )
        loss, restart = LOSSES.index(self.loss), 0 if self.restart is None else self.restart
        return GradientRule(loss, step, code, self.regularization, restart)


class GradientRule(NamedTuple):
    """loss, schedule : numbers in `LOSSES` and `SCHEDULES`; the others as for `GradientDescent`."""

    loss: int
    step: float
    schedule: int
    regularization: float
    restart: int


@njit(cache=True, nogil=True)
def loss_gradient(rule, seen, scores, out):
    """d loss / d score, (c,) out; a hinge loss within the rounding of the scores' terms is none."""
    n = scores.shape[0]
    loss, label = rule.loss, seen.label
    if seen.numbers:
        out[0] = 2.0 * (scores[0] - seen.target)
        return
    if loss == SQUARED:  # towards 1 for the label's class and -1 for the others
        for c in range(n):
            out[c] = 2.0 * (scores[c] - sign_of(n, c, label))
    elif loss == HINGE:
        # Of many, Crammer and Singer (2003): the label's class, the best other.
        step = 1.0 if 1.0 - seen.margin > ZERO * (1.0 + seen.size) else 0.0
        if n == 1:
            out[0] = -step * sign_of(n, 0, label)
        else:
            for c in range(n):
                out[c] = 0.0
            out[label], out[seen.rival] = -step, step
    elif n == 1:
        sign = sign_of(n, 0, label)
        out[0] = -sign / (1.0 + math.exp(min(sign * scores[0], 700.0)))
    else:
        normaliser = log_loss(scores, label, 0.0) + scores[label]
        for c in range(n):
            out[c] = math.exp(scores[c] - normaliser) - (1.0 if c == label else 0.0)


@njit(cache=True, nogil=True)
def root_step(rule, square, number):
    """step / sqrt(number); for the squared loss no longer than makes the error 0, 1 / (2 k(x, x)).

    square : k(x, x)
    """
    step = rule.step / math.sqrt(number)
    # An infinite square is left to be found in the sums.
    if rule.loss == SQUARED and 2.0 * square * step > 1.0 and square < math.inf:
        return 0.5 / square
    return step


# -- on kernel expansions --------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def gradient_change(rule, seen, scores, change):
    """Coefficients of an example, (c,) out, and the factor for all others.

    Kivinen, Smola, Williamson (2004).
    """
    step = rule.step
    if rule.schedule == BY_ROOT:
        step = root_step(rule, seen.diagonal, seen.clock.number)
    loss_gradient(rule, seen, scores, change)
    classes, left = change.shape[0], min(seen.weight, HEAVIEST)
    first = change.copy()
    for c in range(classes):
        if change[c] != 0.0:
            change[c] = -step * min(left, 1.0) * change[c]
    if left > 1.0:
        now, gradient = np.empty(classes), np.empty(classes)
        while left > 1.0:
            left -= 1.0
            for c in range(classes):
                now[c] = scores[c] + change[c] * seen.diagonal
            loss_gradient(rule, update_seen(seen, now), now, gradient)
            if not leads_on(first, gradient):
                break
            for c in range(classes):
                change[c] -= step * min(left, 1.0) * gradient[c]
    return 1.0 - 2.0 * step * rule.regularization


@njit(cache=True, nogil=True)
def update_seen(seen, scores):
    """The example once a step has changed its scores; of numbers nothing changes."""
    if seen.numbers:
        return seen
    margin, _, rival, wrong = margin_of(scores, np.zeros(scores.shape[0]), seen.label)
    return Seen(
        seen.label, seen.target, seen.weight, margin, seen.size, rival, wrong, seen.diagonal, False,
        seen.clock, seen.expert,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def leads_on(first, gradient):
    """Whether a gradient, (c,), still leads where the first one did: not past the least loss."""
    along = 0.0
    for c in range(first.shape[0]):
        along += first[c] * gradient[c]
    return along > 0.0


@expand.of(GradientRule)
def _expand(rule, seen, scores, sizes, change):
    return gradient_change(rule, seen, scores, change)


@fit_in.of(GradientRule)
def _fit_in(rule, slots, seen, rows):
    """The example takes the place of the oldest one, even where its loss is 0."""
    classes, budget = slots.alpha.shape
    scores, sizes, change = np.empty(classes), np.empty(classes), np.zeros(classes)
    score_slots(slots, rows[0], scores, sizes)
    shrink, filled = gradient_change(rule, seen, scores, change), slots.filled[0]
    if shrink != 1.0:
        shrink_slots(slots.alpha, filled, shrink)
    slot = filled if filled < budget else oldest(slots.born, filled)
    for c in range(classes):
        slots.alpha[c, slot] = change[c]
    return Change(slot, 1.0, 0.0)


# -- on features -----------------------------------------------------------------------------------


@predict.of(GradientRule)
def _predict(rule, held, z, t, out):
    for c in range(out.shape[0]):
        out[c] = product(held.theta, c, z, t)
    return 0.0


@descend.of(GradientRule)
def _descend(rule, held, z, t, seen, scores, variance):
    """Take as many steps in a row as the example weighs, the last one a part of a step."""
    classes, left = scores.shape[0], min(seen.weight, HEAVIEST)
    gradient = np.empty(classes)
    loss_gradient(rule, seen, scores, gradient)
    number = seen.clock.number
    if rule.restart > 0:
        number = (number - 1) % rule.restart + 1
    gradient_step(rule, held, z, t, min(left, 1.0), gradient, number)
    if not left > 1.0:
        return
    first, now = gradient.copy(), np.empty(classes)
    while left > 1.0:
        left -= 1.0
        for c in range(classes):
            now[c] = product(held.theta, c, z, t)
        loss_gradient(rule, update_seen(seen, now), now, gradient)
        if not leads_on(first, gradient):
            return
        gradient_step(rule, held, z, t, min(left, 1.0), gradient, number)


@njit(cache=True, nogil=True)
def gradient_step(rule, held, z, t, weight, gradient, number):
    """One step of online gradient descent on loss + regularization |theta|^2.

    held : theta, (c, d), changed; extra, (c, d) sums of squared gradients for ADAGRAD, changed
    weight : of the step, at most 1
    number : of this step, from 1 after a restart
    """
    step, schedule, regularization = rule.step, rule.schedule, rule.regularization
    theta, sums = held.theta, held.extra
    d = np.uintp(theta.shape[1])
    if schedule == ADAGRAD:  # Duchi, Hazan, Singer (2011), figure 1, diagonal
        for c in range(theta.shape[0]):
            slope = weight * gradient[c]
            for j in range(d):
                g = slope * z[t, j] + 2.0 * regularization * theta[c, j]
                sums[c, j] += g * g
                theta[c, j] -= step * g / math.sqrt(max(sums[c, j], LEAST))
        return
    if schedule == BY_ROOT:
        step = root_step(rule, product(z, t, z, t), number)
    elif schedule == NORMALIZED:
        square = product(z, t, z, t)
        step = step / square if square > 0.0 else 0.0
    shrink = 1.0 - 2.0 * step * regularization
    for c in range(theta.shape[0]):
        slope = step * weight * gradient[c]
        for j in range(d):
            theta[c, j] = shrink * theta[c, j] - slope * z[t, j]


@after_label.of(GradientRule)
def _after_label(rule, held, number):
    if rule.restart > 0 and number % rule.restart == 0:
        for numbers in (held.theta, held.extra):
            for i in range(numbers.shape[0]):
                for j in range(numbers.shape[1]):
                    numbers[i, j] = 0.0


@descend_together.register(GradientRule)
def _together(rule: GradientRule, apart: Apart) -> tuple[Floats, Floats]:
    """Coefficients are averaged, squared gradients add up."""
    return apart.of("theta").averaged(), apart.of("extra").added()
