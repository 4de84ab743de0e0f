"""Sparse passive-aggressive learning: an example is added by chance, by the size of its loss."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from kernbrook.checks import POSITIVE, Flag, Whole, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.verbs import Change, expand, fit_in
from kernbrook.errors import InputError
from kernbrook.learners.bpas import replace_cheapest
from kernbrook.learners.budgeted import Budgeted
from kernbrook.learners.steps import SMALLEST_DIAGONAL, hinge_loss, weigh_step
from kernbrook.numerics.draws import DRAW_ADMISSION, PURPOSE, uniform
from kernbrook.numerics.scores_of_classes import add_step, copies


@parameters
class SparsePA(Budgeted):
    """The component learner of SPA: f <- f + tau y k(x, .) with probability rho.

    With the hinge loss l = max(0, 1 - y f(x)) and rho = min(cap, l) / divisor. Step: tau =
    min(step / rho, l / k(x, x)). Admission: drawn with probability rho, so that the expected number
    of support vectors is at most cap / divisor for each round. Upkeep: none, or under a budget
    that of `BPAS`.

    Parameters
    ----------
    step : positive float, eta of the paper
    cap : positive float, alpha of the paper
    divisor : float, at least cap; beta of the paper
    unit_diagonal : bool
        Take k(x, x) as 1, whatever it is, as the paper's tables did for every kernel. The
        passive-aggressive step demands the division.
    budget : int or None
        Support vectors that each kernel may hold, for streams without an end. Until a kernel
        holds so many, nothing differs; from then on each one drawn replaces another.

    Notes
    -----
    The divisor that keeps the bound cap / divisor T at the budget after T rounds would leave most
    of the budget empty: most losses are below the cap, and most kernels are rarely drawn.

    References
    ----------
    Lu, Hoi, Sahoo, Zhao (2015), Budget online multiple kernel learning, algorithm 1. Examples
    with k(x, x) <= 1e-12 are not added.

    Examples
    --------
    >>> SparsePA(divisor=30)
    SparsePA(divisor=30)
    """

    step: Annotated[float, POSITIVE] = 0.1
    cap: Annotated[float, POSITIVE] = 1.0
    divisor: Annotated[float, POSITIVE] = 3.0
    unit_diagonal: Annotated[bool, Flag()] = False
    budget: Annotated[int | None, or_none(Whole())] = None

    @property
    def store(self) -> str:
        return "expansion" if self.budget is None else "slots"

    def rule(self) -> SparsePARule:
        if self.divisor < self.cap:
            raise InputError(
                f"SparsePA: divisor must be at least cap ({self.cap}), got {self.divisor}"
            )
        return SparsePARule(self.step, self.cap, self.divisor, self.unit_diagonal)


class SparsePARule(NamedTuple):
    """step, cap, divisor, unit_diagonal : as for `SparsePA`."""

    step: float
    cap: float
    divisor: float
    unit_diagonal: bool


@njit(cache=True, nogil=True)
def drawn_step(rule, seen, classes):
    """The step by which an example is added, 0 where it is not: Lu et al. (2015), proposition 1."""
    loss = hinge_loss(seen)
    if loss == 0.0:
        return 0.0
    square = copies(classes) * (1.0 if rule.unit_diagonal else seen.diagonal)
    chance = min(rule.cap, loss) / rule.divisor
    slot = DRAW_ADMISSION * PURPOSE + seen.expert
    drawn = uniform(seen.clock.seed, seen.clock.round, slot) < chance
    if square <= SMALLEST_DIAGONAL or not drawn:
        return 0.0
    return weigh_step(seen.weight, min(rule.step / chance, loss / square), loss, square)


@expand.of(SparsePARule)
def _expand(rule, seen, scores, sizes, change):
    step = drawn_step(rule, seen, len(change))
    if step != 0.0:
        add_step(change, seen.label, seen.rival, step)
    return 1.0


@fit_in.of(SparsePARule)
def _fit_in(rule, slots, seen, rows):
    step = 0.0
    if seen.diagonal > SMALLEST_DIAGONAL:
        step = drawn_step(rule, seen, slots.alpha.shape[0])
    if step == 0.0:
        return Change(-1, 0.0, 0.0)
    return replace_cheapest(slots, seen, rows[0], step)
