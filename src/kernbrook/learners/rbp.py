"""The randomised budget perceptron."""

from __future__ import annotations

from kernbrook.engine.verbs import Change, fit_in
from kernbrook.learners.budgeted import BudgetPerceptron
from kernbrook.learners.perceptron import Perceptron, PerceptronRule
from kernbrook.learners.steps import errs, mistaken_step
from kernbrook.numerics.upkeep import random_slot


class RBP(BudgetPerceptron):
    """Randomised budget perceptron: when full, a random support vector makes room.

    Step: 1. Admission: the score errs. Upkeep: drop one uniformly.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    tie : "margin" or "label", as for `Perceptron`

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile (2007), Tracking the best hyperplane with a simple budget
    perceptron.

    Examples
    --------
    >>> RBP(budget=50)
    RBP(budget=50)
    """

    rule = Perceptron.rule


@fit_in.of(PerceptronRule)
def _fit_in(rule, slots, seen, rows):
    if not errs(rule.strict, seen):
        return Change(-1, 0.0, 0.0)
    slot = slots.filled[0]
    if slot == slots.alpha.shape[1]:
        slot = random_slot(slot, seen.expert, seen.clock)
    return Change(slot, 0.0, mistaken_step(seen, slots.alpha.shape[0]))
