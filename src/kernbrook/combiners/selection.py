"""Kernel selection: which experts are updated, and which vote."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import rounds
from kernbrook.checks import flag, one_of, share, whole_number


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

    def codes(self) -> tuple[int, float, int]:
        """(flags, smoothing, rounds of the prefix) for the compiled pass."""
        update, vote = (one_of(self, name, ("all", "drawn")) for name in ("update", "vote"))
        smoothing = share(self, "smoothing", "[0, 1]")
        flags = rounds.UPDATE_DRAWN * (update == "drawn")
        flags += rounds.VOTE_DRAWN * (vote == "drawn")
        flags += rounds.VOTE_UNWEIGHTED * (not flag(self, "weighted"))
        flags += rounds.SMOOTHING_UNSPREAD * (not flag(self, "spread"))
        return flags, smoothing, 0

    def expected_votes(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) each expert's weight in the vote, in expectation over the draws; q as above."""
        votes = q if self.weighted else np.ones_like(q)
        if self.vote == "drawn":
            share = len(q) if self.spread else 1
            votes = votes * ((1 - self.smoothing) * q + self.smoothing / share)
        return votes


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

    def __init__(self, rounds: int = 100, fraction: float | None = None):
        self.rounds = rounds
        self.fraction = fraction

    def codes(self) -> tuple[int, float, int]:
        """(flags, smoothing, rounds of the prefix) for the compiled pass."""
        prefix = whole_number(self, "rounds")
        if self.fraction is not None:
            share(self, "fraction", "(0, 1]")
        return rounds.BEST_OF_PREFIX, 0.0, prefix

    def expected_votes(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) each expert's weight in the vote; q is 1 for the chosen one and 0 elsewhere."""
        return q


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

    def __init__(self, ratio: float = 0.8):
        self.ratio = ratio

    def codes(self) -> tuple[int, float, int]:
        """(flags, ratio, rounds of a prefix) for the compiled pass."""
        return rounds.ADAPTIVE, share(self, "ratio", "[0, 1)"), 0
