"""The tighter budget perceptron: what is removed is what costs the fewest mistakes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.learners.budgeted import BudgetPerceptron
from kernbrook.learners.steps import errs, mistaken_step
from kernbrook.numerics.scores_of_classes import add_step
from kernbrook.numerics.zero import ZERO


class TighterPerceptron(BudgetPerceptron):
    """Perceptron that removes the support vector without which the others are told apart best.

    Step: 1. Admission: the score errs. Upkeep: with the example among them, the one goes whose
    removal leaves the fewest mistakes on all of them, its own included; of equals the oldest. So
    noise that only holds itself up goes first.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    tie : "margin" or "label", as for `Perceptron`

    Notes
    -----
    O(budget^2) for each example that is added once the budget is full. The paper counts mistakes on
    a set of examples that is kept for it; here that set is the support vectors.

    References
    ----------
    Weston, Bordes, Bottou (2005), Online (and offline) on an even tighter budget.

    Examples
    --------
    >>> TighterPerceptron(budget=50)
    TighterPerceptron(budget=50)
    """

    def keeps(self, rule: Any) -> set[str]:
        """The kernel values of the slots."""
        return {"gram"}

    def rule(self) -> TighterRule:
        """The parameters as compiled code reads them."""
        return TighterRule(self.strict)


class TighterRule(NamedTuple):
    """strict : whether a margin of 0 is a mistake."""

    strict: bool


@fit_in.of(TighterRule)
def _fit_in(rule, slots, seen, rows):
    if not errs(rule.strict, seen):
        return Change(-1, 0.0, 0.0)
    filled, step = slots.filled[0], mistaken_step(seen, slots.alpha.shape[0])
    if filled < slots.alpha.shape[1]:
        return Change(filled, 0.0, step)
    return Change(least_missed(slots, seen, rows[0], step), 0.0, step)


@njit(cache=True, nogil=True)
def least_missed(slots, seen, row, step):
    """The slot whose removal leaves the fewest mistakes; -1: the example's own.

    row : (B,) kernel values of the slots with the example; step : by which it is added
    """
    n, classes = slots.filled[0], slots.alpha.shape[0]
    gram, alpha = np.empty((n + 1, n + 1)), np.zeros((classes, n + 1))  # the example comes last
    for s in range(n):
        gram[s, n] = gram[n, s] = row[s]
        for other in range(n):
            gram[s, other] = slots.gram[s, other]
        for c in range(classes):
            alpha[c, s] = slots.alpha[c, s]
    gram[n, n] = seen.diagonal
    add_step(alpha[:, n], seen.label, seen.rival, step)
    scores, sizes = np.zeros((n + 1, classes)), np.zeros((n + 1, classes))
    for s in range(n + 1):
        for c in range(classes):
            for other in range(n + 1):
                term = alpha[c, other] * gram[s, other]
                scores[s, c] += term
                sizes[s, c] += abs(term)
    best, fewest = -1, n + 2
    for gone in range(n + 1):
        mistakes = 0
        for s in range(n + 1):
            mistakes += is_wrong(scores[s], sizes[s], alpha, s, gone, gram[s, gone])
        older = gone < n and best >= 0 and slots.born[gone] < slots.born[best]
        if mistakes < fewest or (mistakes == fewest and older):
            best, fewest = gone, mistakes
    return best if best < n else -1


@njit(cache=True, nogil=True)
def is_wrong(scores, sizes, alpha, s, gone, value):
    """Is the s-th example told wrong without the one that goes? A tie is wrong.

    scores, sizes : (c,) of the example with it, and of the terms behind them
    alpha : (c, n) coefficients; value : of the kernel between the two
    """
    if len(scores) == 1:
        left = alpha[0, s] * (scores[0] - alpha[0, gone] * value)
        return left <= ZERO * sizes[0] * abs(alpha[0, s])
    label = alpha[:, s].argmax()
    own = scores[label] - alpha[label, gone] * value
    for c in range(len(scores)):
        ahead = own - (scores[c] - alpha[c, gone] * value)
        if c != label and ahead <= ZERO * (sizes[label] + sizes[c]):
            return True
    return False
