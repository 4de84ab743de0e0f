"""The self-tuned Forgetron."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.engine.verbs import Change, fit_in
from kernbrook.learners.budgeted import BudgetPerceptron
from kernbrook.learners.steps import errs, mistaken_step
from kernbrook.numerics.scores_of_classes import add_step, copies
from kernbrook.numerics.upkeep import oldest, shrink_slots, square_of


class Forgetron(BudgetPerceptron):
    """The self-tuned Forgetron: old support vectors shrink, and the oldest makes room.

    Step: 1. Admission: the score errs. Upkeep: shrink all by the largest phi that keeps the
    damage within (15/32) of the mistakes, then drop the oldest.

    Parameters
    ----------
    budget : int, support vectors of each kernel
    tie : "margin" or "label", as for `Perceptron`

    References
    ----------
    Dekel, Shalev-Shwartz, Singer (2008), The Forgetron: a kernel-based perceptron on a budget,
    section 6.

    Examples
    --------
    >>> Forgetron(budget=50)
    Forgetron(budget=50)
    """

    def keeps(self, rule: Any) -> set[str]:
        return {"gram"}

    def rule(self) -> ForgetronRule:
        return ForgetronRule(self.strict)


class ForgetronRule(NamedTuple):
    """strict : whether a margin of 0 is a mistake."""

    strict: bool


@njit(cache=True, nogil=True)
def tune_scale(slots, old, seen, row, step):
    """The self-tuned shrinking of the Forgetron; learns Q.

    Dekel, Shalev-Shwartz, Singer (2008), section 6: the largest phi in (0, 1] with
    Q + Psi <= (15/32) M, Psi = (s phi)^2 + 2 s phi (1 - phi mu), s = |coefficient| of the
    oldest and mu its margin after the update, by which the example, with kernel values
    `row`, was added by `step`; memory = (Q, M). With more than two classes s is the length
    of the coefficients, mu the score along them, in units of the length of an update by 1.
    """
    alpha, filled = slots.alpha, slots.filled[0]
    unit = copies(alpha.shape[0])
    s = math.sqrt(square_of(alpha, old) / unit)
    change = np.zeros(alpha.shape[0])
    add_step(change, seen.label, seen.rival, step)
    total = 0.0
    for c in range(alpha.shape[0]):
        score = change[c] * row[old]
        for other in range(filled):
            score += alpha[c, other] * slots.gram[old, other]
        total += alpha[c, old] * score
    mu = total / (s * unit) if s > 0.0 else 0.0
    # At least 15/32 but for the rounding of Q, whose terms are huge on unbounded kernels.
    room = max(15.0 / 32.0 * slots.memory[1] - slots.memory[0], 15.0 / 32.0)
    a = s * s - 2.0 * s * mu
    phi = 1.0
    if a + 2.0 * s > room:  # the root of a phi^2 + 2 s phi = room, in the form that cannot cancel
        phi = min(room / (s + math.sqrt(max(s * s + a * room, 0.0))), 1.0)
    slots.memory[0] += phi * phi * a + 2.0 * s * phi
    return phi


@fit_in.of(ForgetronRule)
def _fit_in(rule, slots, seen, rows):
    if not errs(rule.strict, seen):
        return Change(-1, 0.0, 0.0)
    filled, step = slots.filled[0], mistaken_step(seen, slots.alpha.shape[0])
    slots.memory[1] += 1.0
    if filled < slots.alpha.shape[1]:
        return Change(filled, 0.0, step)
    old = oldest(slots.born, filled)
    phi = tune_scale(slots, old, seen, rows[0], step)
    shrink_slots(slots.alpha, filled, phi)
    return Change(old, 0.0, phi * step)
