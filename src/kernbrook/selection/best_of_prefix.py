"""The expert that is best on the first rounds, alone from then on."""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.checks import Number, Whole, or_none, parameters
from kernbrook.compiler.compiling import njit
from kernbrook.engine.progress import CHOSEN, WEIGHED
from kernbrook.engine.verbs import choose_next, expect, lead_on, select


@parameters
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
    gives: ClassVar = frozenset[str]()  # one expert is in use
    rounds: Annotated[int, Whole()] = 100
    fraction: Annotated[float | None, or_none(Number(0, 1, "(]"))] = None

    def rule(self) -> BestOfPrefixRule:
        return BestOfPrefixRule(self.rounds)


class BestOfPrefixRule(NamedTuple):
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


@lead_on.of(BestOfPrefixRule)
def _lead_on(selection, progress, weights):
    best = leader(progress)
    for e in range(weights.shape[0]):
        weights[e] = 1.0 if e == best else 0.0


@select.of(BestOfPrefixRule)
def _select_best(selection, progress, weights, votes, updates):
    chosen = progress.counters[CHOSEN]
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
        progress.used[e] = weights[e] > 0.0
        updates[e] = chosen < 0 or e == chosen


@expect.of(BestOfPrefixRule)
def _expect_best(selection, progress, weights, votes):
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
    return True


@choose_next.of(BestOfPrefixRule)
def _choose_best(selection, progress):
    counters = progress.counters
    if counters[CHOSEN] < 0 and counters[WEIGHED] >= selection.rounds:
        counters[CHOSEN] = leader(progress)
