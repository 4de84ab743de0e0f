"""The sequential pass over a block, in score space: select, vote, see the label, update."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernbrook._jit.draws import DRAW_UPDATE, DRAW_VOTE, PURPOSE, uniform
from kernbrook._jit.sums import add_points
from kernbrook._jit.zero import zero_or

# Learners: codes and their rows of parameters.
PERCEPTRON = 0  # (tie,)
TIE_MARGIN = 0.0  # errs where y f <= 0
TIE_LABEL = 1.0  # errs where sign(f) != y, with sign(0) = +1

# Combiners.
UNIFORM = 0
HEDGE_MISTAKES = 1  # (log discount,)

# Kernel selection: flags of what is drawn, or the best kernel of a prefix.
UPDATE_DRAWN = 1
VOTE_DRAWN = 2
VOTE_UNWEIGHTED = 4
BEST_OF_PREFIX = 8


class Machine(NamedTuple):
    """What a run does, as codes: fixed during the run.

    learner : (e,) int; learner_parameters : (e, 1) float
    combiner : int; combiner_parameters : (1,) float
    selection : int, sum of flags; smoothing : float; prefix : int, rounds of the prefix
    """

    learner: NDArray[np.int64]
    learner_parameters: NDArray[np.float64]
    combiner: int
    combiner_parameters: NDArray[np.float64]
    selection: int
    smoothing: float
    prefix: int


class Progress(NamedTuple):
    """What a run has learned besides its support vectors; changed in place.

    log_weights : (e,) log of the experts' weights, the greatest 0
    losses : (e,) mistakes of each expert so far, counted by its own rule
    used : (e,) bool, experts in the last vote
    state : what else the combiner keeps
    counters : (3,) int: seed, rounds so far, the expert chosen on the prefix (-1: not yet)
    """

    log_weights: NDArray[np.float64]
    losses: NDArray[np.float64]
    used: NDArray[np.bool_]
    state: NDArray[np.float64]
    counters: NDArray[np.int64]


@njit(cache=True, nogil=True)
def learner_step(code, parameters, score, label):
    """(loss, coefficient of the example) of one expert."""
    by_label = parameters[0] == TIE_LABEL
    errs = (score >= 0.0) != (label > 0.0) if by_label else label * score <= 0.0
    return (1.0, label) if errs else (0.0, 0.0)


@njit(cache=True, nogil=True)
def draw_probability(machine, weight):
    """p = (1 - smoothing) q + smoothing / m: Hoi et al. (2013), algorithm 3."""
    return (1.0 - machine.smoothing) * weight + machine.smoothing / machine.learner.shape[0]


@njit(cache=True, nogil=True)
def leader(progress):
    """The expert that BEST_OF_PREFIX votes with: the chosen one, else the least losses so far."""
    chosen = progress.counters[2]
    return chosen if chosen >= 0 else np.argmin(progress.losses)


@njit(cache=True, nogil=True)
def select(machine, progress, votes_of, updates):
    """Draw this round's experts.

    votes_of : (e,) out, weight of each expert in the vote
    updates : (e,) out, True where the expert may be updated
    """
    seed, round_, chosen = progress.counters
    for e in range(votes_of.shape[0]):
        weight = math.exp(progress.log_weights[e])
        p = draw_probability(machine, weight)
        updates[e] = True
        progress.used[e] = True
        if machine.selection & UPDATE_DRAWN:
            updates[e] = uniform(seed, round_, DRAW_UPDATE * PURPOSE + e) < p
        if machine.selection & VOTE_DRAWN:
            if machine.selection & UPDATE_DRAWN:
                progress.used[e] = updates[e]
            else:
                progress.used[e] = uniform(seed, round_, DRAW_VOTE * PURPOSE + e) < p
        votes_of[e] = 1.0 if machine.selection & VOTE_UNWEIGHTED else weight
    if machine.selection & BEST_OF_PREFIX:
        best = leader(progress)
        for e in range(votes_of.shape[0]):
            progress.used[e] = e == best
            updates[e] = chosen < 0 or e == best


@njit(cache=True, nogil=True)
def combine(machine, progress, losses, updates):
    """Learn the experts' weights from their losses, (e,); `updates` as `select` gives it."""
    log_weights = progress.log_weights
    if machine.combiner == HEDGE_MISTAKES:
        for e in range(losses.shape[0]):
            if updates[e]:
                log_weights[e] += machine.combiner_parameters[0] * losses[e]
        greatest = np.max(log_weights)
        for e in range(losses.shape[0]):
            log_weights[e] -= greatest
    counters = progress.counters
    counters[1] += 1
    if machine.selection & BEST_OF_PREFIX and counters[2] < 0 and counters[1] >= machine.prefix:
        counters[2] = np.argmin(progress.losses)


@njit(cache=True, nogil=True)
def expert_rounds(
    machine, progress, plan, pairs, scores, sizes, labels, importance, decisions, coefficients
):
    """One block of rounds in which every expert learns from its own score.

    Parameters
    ----------
    machine, progress : what the run does and what it has learned
    plan, pairs : the kernels, and the block's pair values with itself, (channels, b, b)
    scores, sizes : (e, b) kernel sums of the support vectors before the block; brought up to
        date round by round
    labels : (b,) +1 or -1
    importance : (b,) sample weights
    decisions : (b,) out, the combined vote before the label was seen, in [-1, 1]
    coefficients : (b, e) out, zeros on entry: what each example was added with
    """
    n_experts, b = scores.shape
    votes_of = np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    losses = np.empty(n_experts)
    values = np.empty((2, b))
    for t in range(b):
        select(machine, progress, votes_of, updates)
        total = 0.0
        size = 0.0
        for e in range(n_experts):
            if progress.used[e]:
                positive = zero_or(scores[e, t], sizes[e, t]) >= 0.0
                total += votes_of[e] if positive else -votes_of[e]
                size += votes_of[e]
        decisions[t] = zero_or(total, size) / size if size > 0.0 else 0.0

        added = False
        for e in range(n_experts):
            losses[e] = 0.0
            if machine.selection & BEST_OF_PREFIX and not updates[e]:
                continue
            score = zero_or(scores[e, t], sizes[e, t])
            loss, coefficient = learner_step(
                machine.learner[e], machine.learner_parameters[e], score, labels[t]
            )
            losses[e] = importance[t] * loss
            progress.losses[e] += losses[e]
            if updates[e] and coefficient != 0.0 and importance[t] > 0.0:
                coefficients[t, e] = importance[t] * coefficient
                added = True
        combine(machine, progress, losses, updates)
        if added:
            add_points(plan, pairs, t, t + 1, t + 1, b, coefficients, scores, sizes, values)
