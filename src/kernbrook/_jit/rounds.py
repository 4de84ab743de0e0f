"""The sequential pass over a block, in score space: select, vote, see the label, update."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernbrook._jit.classes import add_step, copies, margin_of, winner
from kernbrook._jit.combining import MISTAKES, update_weights
from kernbrook._jit.draws import DRAW_UPDATE, DRAW_VOTE, PURPOSE, uniform
from kernbrook._jit.learning import errs, needs_diagonal, step_size
from kernbrook._jit.sums import add_points
from kernbrook._jit.zero import zero_or

# Kernel selection: flags of what is drawn, or the best kernel of a prefix.
UPDATE_DRAWN = 1
VOTE_DRAWN = 2
VOTE_UNWEIGHTED = 4
BEST_OF_PREFIX = 8
SMOOTHING_UNSPREAD = 16


class Machine(NamedTuple):
    """What a run does, as codes: fixed during the run.

    learner : (e,) int; learner_parameters : (e, N_PARAMETERS) float
    combiner : int; combiner_parameters : (k,) float; loss : int, what the combiner looks at
    selection : int, sum of flags; smoothing : float; prefix : int, rounds of the prefix
    """

    learner: NDArray[np.int64]
    learner_parameters: NDArray[np.float64]
    combiner: int
    combiner_parameters: NDArray[np.float64]
    loss: int
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
def draw_probability(flags, smoothing, weight, experts):
    """p = (1 - smoothing) q + smoothing / m: Hoi et al. (2013), algorithm 3.

    Unspread, smoothing is not divided by m: Lu et al. (2015), algorithm 1.
    """
    share = 1.0 if flags & SMOOTHING_UNSPREAD else experts
    return (1.0 - smoothing) * weight + smoothing / share


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
    flags, log_weights, used = machine.selection, progress.log_weights, progress.used
    for e in range(votes_of.shape[0]):
        weight = math.exp(log_weights[e])
        p = draw_probability(flags, machine.smoothing, weight, votes_of.shape[0])
        updates[e] = True
        used[e] = True
        if flags & UPDATE_DRAWN:
            updates[e] = uniform(seed, round_, DRAW_UPDATE * PURPOSE + e) < p
        if flags & VOTE_DRAWN:
            if flags & UPDATE_DRAWN:
                used[e] = updates[e]
            else:
                used[e] = uniform(seed, round_, DRAW_VOTE * PURPOSE + e) < p
        votes_of[e] = 1.0 if flags & VOTE_UNWEIGHTED else weight
    if flags & BEST_OF_PREFIX:
        best = leader(progress)
        for e in range(votes_of.shape[0]):
            used[e] = e == best
            updates[e] = chosen < 0 or e == best


@njit(cache=True, nogil=True)
def finish_round(machine, progress):
    """Count the round; at the end of a prefix, choose."""
    counters = progress.counters
    counters[1] += 1
    if machine.selection & BEST_OF_PREFIX and counters[2] < 0 and counters[1] >= machine.prefix:
        counters[2] = np.argmin(progress.losses)


@njit(cache=True, nogil=True)
def diagonals(machine, plan, pairs, classes, out):
    """out[e, t] = k_e(x_t, x_t), (e, b), if some learner looks at it."""
    needed = False
    n_experts, b = out.shape
    for e in range(n_experts):
        needed |= needs_diagonal(machine.learner[e], machine.learner_parameters[e])
    if needed:
        ones = np.zeros((b, n_experts * classes))
        ones[:, ::classes] = 1.0
        sums = np.zeros((n_experts * classes, b))
        spare = np.zeros_like(sums)
        values = np.empty((2, b))
        for t in range(b):
            add_points(plan, pairs, t, t + 1, t, t + 1, ones, sums, spare, values)
        for e in range(n_experts):
            out[e] = sums[e * classes]


@njit(cache=True, nogil=True)
def vote(machine, progress, votes_of, current, sizes, out):
    """The combined vote of the experts in use, and what is behind it.

    current, sizes : (e, c) the experts' scores
    out : (c,) out; the winner has the greatest, and classes equal to rounding have equal votes
    """
    used, on_mistakes = progress.used, machine.loss == MISTAKES
    classes = out.shape[0]
    behind = np.zeros(classes)
    out[:] = 0.0
    total = 0.0
    for e in range(votes_of.shape[0]):
        if not used[e]:
            continue
        weight = votes_of[e]
        total += weight
        if not on_mistakes:
            for c in range(classes):
                out[c] += weight * current[e, c]
                behind[c] += weight * sizes[e, c]
        elif classes == 1:
            out[0] += weight if current[e, 0] >= 0.0 else -weight
            behind[0] += weight
        else:
            c = winner(current[e], sizes[e], -1)
            out[c] += weight
            behind[c] += weight
    if total == 0.0:
        return
    if classes == 1:
        out[0] = zero_or(out[0], behind[0])
    else:
        best = winner(out, behind, -1)
        out[best] = np.max(out)
    for c in range(classes):
        out[c] /= total


@njit(cache=True, nogil=True)
def count_losses(machine, progress, current, sizes, label, weight, updates, losses, counted):
    """The experts' mistakes and, in `losses` and `counted`, what the combiner learns from."""
    learner, parameters = machine.learner, machine.learner_parameters
    total = progress.losses  # taken out of their tuples once: each taking counts references
    on_mistakes, on_prefix = machine.loss == MISTAKES, machine.selection & BEST_OF_PREFIX
    for e in range(current.shape[0]):
        losses[e] = 0.0
        if on_prefix and not updates[e]:
            continue
        margin, _, _, wrong = margin_of(current[e], sizes[e], label)
        mistake = errs(learner[e], parameters[e], margin, wrong)
        total[e] += weight * mistake
        if on_mistakes:
            losses[e] = weight * mistake
            counted[e] = updates[e]  # a discount goes with an update: Hoi et al. (2013)
        else:
            losses[e] = weight * max(0.0, 1.0 - margin)


@njit(cache=True, nogil=True)
def expert_rounds(
    machine, progress, plan, pairs, scores, sizes, labels, importance, decisions, coefficients
):
    """One block of rounds in which every expert learns from its own score.

    Parameters
    ----------
    machine, progress : what the run does and what it has learned
    plan, pairs : the kernels, and the block's pair values with itself, (channels, b, b)
    scores, sizes : (e c, b) kernel sums of the support vectors before the block, the c scores of
        an expert one after the other; brought up to date round by round
    labels : (b,) int, class of each example
    importance : (b,) sample weights
    decisions : (b, c) out, the combined vote before the label was seen
    coefficients : (b, e c) out, zeros on entry: what each example was added with
    """
    n_experts, b = machine.learner.shape[0], scores.shape[1]
    classes = scores.shape[0] // n_experts
    votes_of = np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    counted = np.ones(n_experts, dtype=np.bool_)
    current = np.empty((n_experts, classes))
    own_sizes = np.empty((n_experts, classes))
    losses = np.empty(n_experts)
    values = np.empty((2, b))
    diagonal = np.zeros((n_experts, b))
    diagonals(machine, plan, pairs, classes, diagonal)
    for t in range(b):
        select(machine, progress, votes_of, updates)
        for e in range(n_experts):
            for c in range(classes):
                own_sizes[e, c] = sizes[e * classes + c, t]
                current[e, c] = zero_or(scores[e * classes + c, t], own_sizes[e, c])
        vote(machine, progress, votes_of, current, own_sizes, decisions[t])

        added = False
        count_losses(
            machine, progress, current, own_sizes, labels[t], importance[t], updates, losses,
            counted,
        )  # fmt: skip
        for e in range(n_experts):
            if updates[e] and importance[t] > 0.0:
                margin, size, rival, wrong = margin_of(current[e], own_sizes[e], labels[t])
                step = importance[t] * step_size(
                    machine.learner[e], machine.learner_parameters[e], margin, wrong, size,
                    diagonal[e, t], copies(classes), progress.counters[0], progress.counters[1], e,
                )  # fmt: skip
                if step != 0.0:
                    own = coefficients[t, e * classes : (e + 1) * classes]
                    add_step(own, labels[t], rival, step)
                    added = True
        update_weights(
            machine.combiner, machine.combiner_parameters, progress.log_weights, losses, counted,
            progress.state,
        )  # fmt: skip
        finish_round(machine, progress)
        if added:
            add_points(plan, pairs, t, t + 1, t + 1, b, coefficients, scores, sizes, values)
