"""Kernel selection: which experts are updated, and which vote."""

from __future__ import annotations

from typing import NamedTuple

from sklearn.base import BaseEstimator

from kernbrook._jit.compiling import njit
from kernbrook._jit.draws import DRAW_UPDATE, DRAW_VOTE, PURPOSE, uniform
from kernbrook._jit.subsets import draw_subset
from kernbrook.checks import flag, one_of, share, whole_number
from kernbrook.engine.progress import ASKED, CHOSEN, ROUND, SEED
from kernbrook.engine.verbs import choose_next, expect, lead_on, select


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

    def __init__(
        self,
        update: str = "all",
        vote: str = "all",
        smoothing: float = 0.01,
        weighted: bool = True,
        spread: bool = True,
    ):
        self.update = update
        self.vote = vote
        self.smoothing = smoothing
        self.weighted = weighted
        self.spread = spread

    @property
    def takes_all(self) -> bool:
        """Whether all experts learn, and vote with their weights."""
        return self.rule() == Selection().rule()

    @property
    def draws_updates(self) -> bool:
        """Whether which experts learn depends on the others."""
        return bool(self.update == "drawn")

    def rule(self) -> Drawn:
        """The parameters as compiled code reads them."""
        update, vote = (one_of(self, name, ("all", "drawn")) for name in ("update", "vote"))
        return Drawn(
            update == "drawn",
            vote == "drawn",
            share(self, "smoothing", "[0, 1]"),
            flag(self, "weighted"),
            flag(self, "spread"),
        )


class BestOfPrefix(BaseEstimator):
    """The kernel with the fewest mistakes on the first rounds, alone from then on.

    During the first rounds every expert is updated and the best so far votes. Afterwards the
    support vectors of the others are dropped.

    Parameters
    ----------
    rounds : int, length of the prefix
    fraction : None or float in (0, 1]
        Where the length T of the stream is known beforehand, as in `prequential` on arrays, the
        choice is made on the first fraction * T examples before the pass begins: the protocol
        of the paper, which looks ahead. None never looks ahead.

    References
    ----------
    Hoi, Jin, Zhao, Yang (2013), section 5.1, "Perceptron(*)". Ties: the lowest index.

    Examples
    --------
    >>> BestOfPrefix(rounds=50)
    BestOfPrefix(rounds=50)
    """

    choice = "selection"
    draws_updates = True

    def __init__(self, rounds: int = 100, fraction: float | None = None):
        self.rounds = rounds
        self.fraction = fraction

    def rule(self) -> Prefix:
        """The parameters as compiled code reads them."""
        prefix = whole_number(self, "rounds")
        if self.fraction is not None:
            share(self, "fraction", "(0, 1]")
        return Prefix(prefix)


class AdaptiveSelection(BaseEstimator):
    """AKS: the prediction is formed by a subset of the experts, drawn anew after every label.

    With w_i relative to the greatest weight and K = #{i : w_i > ratio}, a subset is drawn with
    probability in proportion to the sum of its weights: out of all subsets of size K, where there
    are at most 2 m of them, else out of 2 m bins into which each expert was put 2 K times, the bins
    drawn uniformly and all different. Within the subset the weights count as they are. All experts
    learn.

    Parameters
    ----------
    ratio : float in [0, 1), delta of the paper

    References
    ----------
    Hong and Chae (2020), Active learning with multiple kernels, algorithm 1 and remark 1, with
    gamma as in equation 58.

    Examples
    --------
    >>> AdaptiveSelection(ratio=0.5)
    AdaptiveSelection(ratio=0.5)
    """

    choice = "selection"
    draws_updates = False

    def __init__(self, ratio: float = 0.8):
        self.ratio = ratio

    def rule(self) -> Adaptive:
        """The parameters as compiled code reads them."""
        return Adaptive(share(self, "ratio", "[0, 1)"))


# -- drawn -----------------------------------------------------------------------------------------


class Drawn(NamedTuple):
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


@select.of(Drawn)
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


@expect.of(Drawn)
def _expect(selection, progress, weights, votes):
    m = votes.shape[0]
    for e in range(m):
        votes[e] = weights[e] if selection.weighted else 1.0
        if selection.vote:
            votes[e] *= draw_probability(selection, weights[e], float(m))
    return m == 1


# -- the best of a prefix --------------------------------------------------------------------------


class Prefix(NamedTuple):
    """rounds : of the prefix."""

    rounds: int


@njit(cache=True, nogil=True)
def leader(progress):
    """The expert that votes: the chosen one, else the one with the least losses so far."""
    best = progress.counters[CHOSEN]
    if best < 0:
        best = 0
        for e in range(1, progress.losses.shape[0]):
            if progress.losses[e] < progress.losses[best]:
                best = e
    return best


@lead_on.of(Prefix)
def _lead_on(selection, progress, weights):
    best = leader(progress)
    for e in range(weights.shape[0]):
        weights[e] = 1.0 if e == best else 0.0


@select.of(Prefix)
def _select_best(selection, progress, weights, votes, updates):
    chosen = progress.counters[CHOSEN]
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
        progress.used[e] = weights[e] > 0.0
        updates[e] = chosen < 0 or e == chosen


@expect.of(Prefix)
def _expect_best(selection, progress, weights, votes):
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
    return True


@choose_next.of(Prefix)
def _choose_best(selection, progress):
    counters = progress.counters
    if counters[CHOSEN] < 0 and counters[ASKED] >= selection.rounds:
        counters[CHOSEN] = leader(progress)


# -- adaptive --------------------------------------------------------------------------------------


class Adaptive(NamedTuple):
    """ratio : to the greatest weight."""

    ratio: float


@select.of(Adaptive)
def _select_drawn_before(selection, progress, weights, votes, updates):
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
        updates[e] = True


@expect.of(Adaptive)
def _expect_drawn_before(selection, progress, weights, votes):
    for e in range(votes.shape[0]):
        votes[e] = weights[e] if progress.used[e] else 0.0
    return votes.shape[0] == 1


@choose_next.of(Adaptive)
def _draw_next(selection, progress):
    seed, round_ = progress.counters[SEED], progress.counters[ROUND]
    draw_subset(progress.log_weights, selection.ratio, seed, round_, progress.used)
