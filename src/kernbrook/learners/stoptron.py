"""The Stoptron: a perceptron that stops when its budget is full."""

from __future__ import annotations

from typing import NamedTuple

from kernbrook.engine.verbs import Change, fit_in
from kernbrook.learners.budgeted import BudgetPerceptron
from kernbrook.learners.steps import errs, mistaken_step


class Stoptron(BudgetPerceptron):
    """Perceptron that learns no more once its budget is full: what any other upkeep must beat.

    Step: 1. Admission: the score errs, and a slot is free. Upkeep: none.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    tie : "margin" or "label", as for `Perceptron`

    References
    ----------
    Orabona, Keshet, Caputo (2009), Bounded kernel-based online learning, section 6: the baseline of
    that name.

    Examples
    --------
    >>> Stoptron(budget=50)
    Stoptron(budget=50)
    """

    def rule(self) -> StoptronRule:
        """The parameters as compiled code reads them."""
        return StoptronRule(self.strict)


class StoptronRule(NamedTuple):
    """strict : whether a margin of 0 is a mistake."""

    strict: bool


@fit_in.of(StoptronRule)
def _fit_in(rule, slots, seen, rows):
    filled = slots.filled[0]
    if filled == slots.alpha.shape[1] or not errs(rule.strict, seen):
        return Change(-1, 0.0, 0.0)
    return Change(filled, 0.0, mistaken_step(seen, slots.alpha.shape[0]))
