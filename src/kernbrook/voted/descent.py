"""Greedy coordinate descent on the objective of voted kernel regularization.

Cortes, Goyal, Kuznetsov, Mohri (2015), appendix C: in each round the coordinate in whose direction
the objective falls most steeply is moved to its least value, by an exact line search.

The objective has kinks, at which no single coordinate may lead down although several together do:
coordinate descent can end above the optimum, and its gap says by how much at most. The paper's
derivative counts the examples of margin below 1; an example of margin 1, which every step leaves
behind, is counted here where the step would bring its margin below 1, so that each chosen step
leads down.
"""

from __future__ import annotations

from collections.abc import Callable as Function

import numpy as np
from scipy.optimize import lsq_linear

from kernbrook.checks import is_whole
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.voted.columns import Columns
from kernbrook.voted.examples import LARGEST, Floats
from kernbrook.voted.program import SAFETY, Solution
from kernbrook.voted.steps import exact_step

EDGE = 1e-10  # margins as near to 1 as this count as 1
FLAT = 1e-9  # a slope of this share of a coordinate's penalty is none
LOOKED = 50  # base functions made in a round, where they are made one after the other

Source = Function[[int], tuple[Floats, float]]


def descend(columns: Columns, y: Floats, penalties: Floats, max_rounds: int = 1000) -> Solution:
    """Coordinate descent over the p n base functions of a pool of kernels.

    Parameters
    ----------
    columns : the base functions
    y : (n,) labels +1 and -1
    penalties : (p,) Lambda_k > 0
    max_rounds : steps at most

    Returns
    -------
    Solution
        Its `gap` is the distance to a feasible dual over all p n base functions.
    """
    n = columns.n
    state = _State(y, np.repeat(penalties, n))
    inside, below = np.zeros((len(penalties), n)), np.zeros(n)
    for _ in range(max_rounds):
        # Only the examples that crossed the margin change the sums.
        now = np.where(state.margins < 1.0 - EDGE, y / n, 0.0)
        inside += columns.scores(now - below)
        below = now
        on = np.abs(state.margins - 1.0) <= EDGE
        signed, size = np.zeros_like(inside), np.zeros_like(inside)
        if on.any():
            signed = columns.scores(np.where(on, y / n, 0.0))
            size = columns.scores(np.where(on, 1.0 / n, 0.0), absolute=True)
        slopes = state.slopes(inside.ravel(), signed.ravel(), size.ravel(), state.penalties)
        which = int(slopes.argmin())
        if slopes[which] >= 0.0:
            break
        if not state.move(which, columns.take(np.array([which]))[0]):
            break
    used = state.used()
    rows = columns.take(used) * y
    dual = state.dual(rows)
    use = np.abs(columns.scores(dual * y)).ravel() / state.penalties
    return state.solution(rows, dual, float(use.max()))


def descend_over(source: Source, y: Floats, count: int, max_rounds: int = 1000) -> Solution:
    """Coordinate descent over base functions that are made one after the other, without end.

    A round looks at the next few functions and at those in use, and after the last of them begins
    anew with the first. Only the columns that a round looks at are held.

    Parameters
    ----------
    source : function of the number i = 0, 1, ... of a base function; gives its values on the
        training points, (n,), and its penalty Lambda_i > 0. It is asked for the same i again.
    y : (n,) labels +1 and -1
    count : base functions looked at; as many as one has time for
    max_rounds : steps at most

    Returns
    -------
    Solution
        `columns` are numbers of base functions. Its `gap` is with respect to the first `count`
        of them: nothing is known of the others.

    Raises
    ------
    InputError
        The source gives something else.

    Examples
    --------
    Thresholds at random places:

    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 8)
    >>> def threshold(i):
    ...     place = np.random.default_rng(i).uniform(-1, 1)
    ...     return np.where(x > place, 1.0, -1.0), 0.01
    >>> solution = descend_over(threshold, np.where(x > 0, 1.0, -1.0), count=100)
    >>> round(solution.objective, 6), bool(solution.gap < 1e-6)
    (0.01, True)
    """
    if not (is_whole(count) and count > 0):
        raise InputError(f"count: expected an integer from 1, got {count!r}")
    n = len(y)
    state = _State(y, np.empty(0))
    held: dict[int, tuple[Floats, float]] = {}
    looked = idle = 0
    for _ in range(max_rounds):
        held = {i: held[i] for i in state.used().tolist()}
        for i in range(looked, looked + min(LOOKED, count)):
            if i % count not in held:
                held[i % count] = _checked(source(i % count), i % count, n)
        looked += min(LOOKED, count)
        numbers = list(held)
        values = np.array([held[i][0] for i in numbers])
        prices = np.array([held[i][1] for i in numbers])
        below = np.where(state.margins < 1.0 - EDGE, y / n, 0.0)
        on = np.abs(state.margins - 1.0) <= EDGE
        signed = values @ np.where(on, y / n, 0.0)
        size = np.abs(values) @ np.where(on, 1.0 / n, 0.0)
        slopes = state.slopes(values @ below, signed, size, prices, np.array(numbers))
        best = int(slopes.argmin())
        moved = slopes[best] < 0.0 and state.move(numbers[best], values[best], prices[best])
        idle = 0 if moved else idle + LOOKED
        if idle >= count:
            break
    used = state.used()
    state.penalties = np.ones(count)
    for i in used.tolist():
        state.penalties[i] = held[i][1]
    rows = np.array([held[i][0] for i in used.tolist()]).reshape(len(used), n) * y
    dual = state.dual(rows)
    worst = 0.0
    for i in range(count):
        values, penalty = _checked(source(i), i, n)
        worst = max(worst, abs(float(values @ (dual * y))) / penalty)
    return state.solution(rows, dual, worst)


def _checked(given: tuple[Floats, float], i: int, n: int) -> tuple[Floats, float]:
    values, penalty = np.asarray(given[0], dtype=np.float64), float(given[1])
    if values.shape != (n,) or not 0 < penalty < np.inf:
        raise InputError(
            f"base function {i}: expected ({n},) values and a positive penalty, got shape "
            f"{values.shape} and {penalty:g}"
        )
    if not np.abs(values).max() < LARGEST:
        raise NonFiniteError(f"base function {i}: expected values below 1e100 in size")
    return values, penalty


class _State:
    """Coefficients, and the margins y_i f(x_i) that they make."""

    def __init__(self, y: Floats, penalties: Floats):
        self.y, self.penalties = y, penalties
        self.alpha: dict[int, float] = {}
        self.margins = np.zeros(len(y))
        self.rounds = 0

    def used(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        return np.array(sorted(self.alpha), dtype=np.intp)

    def slopes(
        self, inside: Floats, signed: Floats, size: Floats, penalties: Floats,
        numbers: np.ndarray[tuple[int], np.dtype[np.intp]] | None = None,
    ) -> Floats:  # fmt: skip
        """The steeper of the two slopes of each coordinate; 0 where neither leads down.

        inside : (1/n) sum of y_i h(x_i) over the examples of margin below 1
        signed, size : the same, and (1/n) sum of |h(x_i)|, over those of margin 1
        """
        sign = np.zeros(len(inside))
        place = {int(i): at for at, i in enumerate(numbers)} if numbers is not None else None
        for i, value in self.alpha.items():
            sign[i if place is None else place[i]] = np.sign(value)
        up = -inside + (size - signed) / 2 + np.where(sign < 0, -penalties, penalties)
        down = inside + (size + signed) / 2 + np.where(sign > 0, -penalties, penalties)
        steeper = np.minimum(up, down)
        return np.where(steeper < -FLAT * penalties, steeper, 0.0)

    def move(self, which: int, values: Floats, penalty: float | None = None) -> bool:
        """Minimise over one coefficient; False if that changes nothing."""
        penalty = float(self.penalties[which]) if penalty is None else penalty
        moves = values * self.y
        before = self.alpha.get(which, 0.0)
        step = exact_step(self.margins, moves, before, penalty)
        after = 0.0 if step == -before else before + step
        margins = self.margins + step * moves
        gain = (np.maximum(1 - self.margins, 0).mean() - np.maximum(1 - margins, 0).mean()) + (
            penalty * (abs(before) - abs(after))
        )
        if not gain > 0.0:
            return False
        self.margins = margins
        if after == 0.0:
            self.alpha.pop(which, None)
        else:
            self.alpha[which] = after
        self.rounds += 1
        return True

    def dual(self, rows: Floats) -> Floats:
        """(n,) u, not yet feasible: 1/n below the margin 1 and 0 above it; at 1, what comes
        nearest to sum_i u_i y_i h(x_i) = Lambda sign(alpha) for the functions in use.

        rows : y_i h(x_i) of the functions in use
        """
        n = len(self.y)
        u = np.where(self.margins < 1.0 - EDGE, 1.0 / n, 0.0)
        on = np.flatnonzero(np.abs(self.margins - 1.0) <= EDGE)
        if len(on) and len(rows):
            used = self.used()
            wanted = self.penalties[used] * np.sign([self.alpha[i] for i in used.tolist()])
            weight = 1.0 / self.penalties[used]
            fit = lsq_linear(
                rows[:, on] * weight[:, None] / n, (wanted - rows @ u) * weight, (0.0, 1.0)
            )
            u[on] = np.clip(fit.x, 0.0, 1.0) / n
        return u

    def solution(self, rows: Floats, dual: Floats, worst: float) -> Solution:
        """worst : the greatest |sum_i u_i y_i h(x_i)| / Lambda over all base functions."""
        used = self.used()
        alpha = np.array([self.alpha[i] for i in used.tolist()])
        hinge = np.maximum(1.0 - alpha @ rows, 0.0).mean()
        objective = float(hinge + np.abs(alpha) @ self.penalties[used])
        dual = dual * ((1 - SAFETY) / max(worst, 1.0))
        return Solution(used, alpha, dual, objective, objective - float(dual.sum()), self.rounds)
