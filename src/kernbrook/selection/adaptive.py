"""Experts drawn ahead of a round by their weights: adaptive kernel selection."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sklearn.base import BaseEstimator

from kernbrook.checks import Number, parameters
from kernbrook.engine.progress import ROUND, SEED
from kernbrook.engine.verbs import choose_next, expect, select
from kernbrook.selection.subsets import draw_subset


@parameters
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
    ratio: Annotated[float, Number(0, 1, "[)")] = 0.8

    def rule(self) -> AdaptiveRule:
        return AdaptiveRule(self.ratio)


class AdaptiveRule(NamedTuple):
    """ratio : to the greatest weight."""

    ratio: float


@select.of(AdaptiveRule)
def _select_drawn_before(selection, progress, weights, votes, updates):
    for e in range(votes.shape[0]):
        votes[e] = weights[e]
        updates[e] = True


@expect.of(AdaptiveRule)
def _expect_drawn_before(selection, progress, weights, votes):
    for e in range(votes.shape[0]):
        votes[e] = weights[e] if progress.used[e] else 0.0
    return votes.shape[0] == 1


@choose_next.of(AdaptiveRule)
def _draw_next(selection, progress):
    seed, round_ = progress.counters[SEED], progress.counters[ROUND]
    draw_subset(progress.log_weights, selection.ratio, seed, round_, progress.used)
