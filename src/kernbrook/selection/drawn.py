"""All experts, or draws of them for updates and for the vote: Hoi et al. (2013)."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.checks import Flag, Number, OneOf, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.progress import ROUND, SEED
from kernbrook.engine.verbs import expect, select
from kernbrook.numerics.draws import DRAW_UPDATE, DRAW_VOTE, PURPOSE, uniform


@parameters
class Selection(BaseEstimator):
    """All experts, or experts drawn by their weights, for the update and for the vote.

    With q_i = w_i / max_j w_j and p_i = (1 - smoothing) q_i + smoothing / m, an expert is drawn
    with probability p_i: c_i ~ Bernoulli(p_i).

    ======== ======== ================================ ==========================
    update   vote     drawn                            prediction
    ======== ======== ================================ ==========================
    "all"    "all"    nothing                          sign(sum q_i sign f_i)
    "all"    "drawn"  c_i for the vote                 sign(sum c_i q_i sign f_i)
    "drawn"  "all"    c_i for the update               sign(sum q_i sign f_i)
    "drawn"  "drawn"  one c_i for both                 sign(sum c_i q_i sign f_i)
    ======== ======== ================================ ==========================

    A vote of nobody predicts the second class.

    Parameters
    ----------
    update, vote : "all" or "drawn"
    smoothing : float in [0, 1], delta of the paper
    spread : bool
        False does not divide smoothing by m: p_i = (1 - smoothing) q_i + smoothing, as SPA
        (Lu et al., 2015) has it.
    weighted : bool
        False leaves q_i out of the sums: every vote counts the same.

    Notes
    -----
    Algorithm 2 of the paper, (D,S), prints an unweighted vote drawn with q_i: that is
    `Selection(vote="drawn", smoothing=0, weighted=False)`. The paper's tables were made with the
    weighted vote drawn with p_i: on w5a that gives the printed 3.78 +- 0.10 % of mistakes where
    the printed rule gives 3.5.

    References
    ----------
    Hoi, Jin, Zhao, Yang (2013), algorithms 1 to 4.

    Examples
    --------
    >>> Selection(update="drawn")
    Selection(update='drawn')
    """

    choice = "selection"
    update: Annotated[str, OneOf(("all", "drawn"))] = "all"
    vote: Annotated[str, OneOf(("all", "drawn"))] = "all"
    smoothing: Annotated[float, Number(0, 1)] = 0.01
    weighted: Annotated[bool, Flag()] = True
    spread: Annotated[bool, Flag()] = True

    @property
    def gives(self) -> frozenset[str]:
        """Experts to compare; all of them in each vote where nothing is drawn."""
        takes_all = not self.draws_updates and self.vote == "all" and self.weighted
        return frozenset({"several experts", "all experts"} if takes_all else {"several experts"})

    @property
    def draws_updates(self) -> bool:
        """Whether which experts learn depends on the others."""
        return bool(self.update == "drawn")

    def rule(self) -> SelectionRule:
        update, vote = self.update == "drawn", self.vote == "drawn"
        return SelectionRule(update, vote, self.smoothing, self.weighted, self.spread)


class SelectionRule(NamedTuple):
    """update, vote : whether they are drawn; smoothing, weighted, spread : as for `Selection`."""

    update: bool
    vote: bool
    smoothing: float
    weighted: bool
    spread: bool


@njit(cache=True, nogil=True)
def draw_probability(selection, weight, experts):
    """p = (1 - smoothing) q + smoothing / m: Hoi et al. (2013), algorithm 3.

    Unspread, smoothing is not divided by m: Lu et al. (2015), algorithm 1.
    """
    parts = experts if selection.spread else 1.0
    return (1.0 - selection.smoothing) * weight + selection.smoothing / parts


@select.of(SelectionRule)
def _select(selection, progress, weights, votes, updates):
    used, m = progress.used, votes.shape[0]
    seed, round_ = progress.counters[SEED], progress.counters[ROUND]
    for e in range(m):
        used[e] = updates[e] = True
        votes[e] = weights[e] if selection.weighted else 1.0
        if selection.update or selection.vote:
            p = draw_probability(selection, weights[e], float(m))
            if selection.update:
                updates[e] = uniform(seed, round_, DRAW_UPDATE * PURPOSE + e) < p
            if selection.vote and selection.update:
                used[e] = updates[e]
            elif selection.vote:
                used[e] = uniform(seed, round_, DRAW_VOTE * PURPOSE + e) < p


@expect.of(SelectionRule)
def _expect(selection, progress, weights, votes):
    m = votes.shape[0]
    for e in range(m):
        votes[e] = weights[e] if selection.weighted else 1.0
        if selection.vote:
            votes[e] *= draw_probability(selection, weights[e], float(m))
    return m == 1
