"""The sequential pass over a block, in score space: select, vote, see the label, update."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.asking import (
    ALL,
    ASKED,
    CHOSEN,
    LABEL_BUDGET,
    ROUND,
    SEED,
    SKIPPED,
    note_error,
    note_round,
    wants,
)
from kernbrook._jit.classes import add_step, copies, log_loss, margin_of, winner
from kernbrook._jit.combining import HINGE, MISTAKES, SQUARED, update_weights
from kernbrook._jit.compiling import njit
from kernbrook._jit.draws import DRAW_UPDATE, DRAW_VOTE, PURPOSE, uniform
from kernbrook._jit.learning import errs, needs_diagonal, step_size
from kernbrook._jit.subsets import draw_subset
from kernbrook._jit.values import add_points
from kernbrook._jit.zero import zero_or

# Kernel selection: flags of what is drawn, or the best kernel of a prefix.
UPDATE_DRAWN = 1
VOTE_DRAWN = 2
VOTE_UNWEIGHTED = 4
BEST_OF_PREFIX = 8
SMOOTHING_UNSPREAD = 16
ADAPTIVE = 32


class Machine(NamedTuple):
    """What a run does, as codes: fixed during the run.

    learner : (e,) int; learner_parameters : (e, N_PARAMETERS) float
    combiner : int; combiner_parameters : (k,) float; loss : int, what the combiner looks at
    selection : int, sum of flags; smoothing : float, ADAPTIVE's ratio; prefix : int, rounds of it
    policy : int, whose labels are asked for; policy_parameters : (k,) float
    given : bool, whether labels that are there are learned from in any case
    """

    learner: NDArray[np.int64]
    learner_parameters: NDArray[np.float64]
    combiner: int
    combiner_parameters: NDArray[np.float64]
    loss: int
    selection: int
    smoothing: float
    prefix: int
    policy: int
    policy_parameters: NDArray[np.float64]
    given: bool


class Progress(NamedTuple):
    """What a run has learned besides its support vectors; changed in place.

    log_weights : (e,) log of the experts' weights, the greatest 0
    losses : (e,) mistakes of each expert so far, counted by its own rule, or squared errors
    used : (e,) bool, experts in the last vote; in the next one, where they are ADAPTIVE
    state : what else the combiner keeps
    counters : (5,) int: seed, rounds so far, the expert chosen on the prefix (-1: not yet),
        labels seen, rounds since the last one
    asking : what else the label policy keeps
    """

    log_weights: NDArray[np.float64]
    losses: NDArray[np.float64]
    used: NDArray[np.bool_]
    state: NDArray[np.float64]
    counters: NDArray[np.int64]
    asking: NDArray[np.float64]


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
    chosen = progress.counters[CHOSEN]
    return chosen if chosen >= 0 else np.argmin(progress.losses)


@njit(cache=True, nogil=True)
def select(machine, progress, votes_of, updates):
    """Draw this round's experts.

    votes_of : (e,) out, weight of each expert in the vote
    updates : (e,) out, True where the expert may be updated
    """
    counters = progress.counters
    seed, round_, chosen = counters[SEED], counters[ROUND], counters[CHOSEN]
    flags, log_weights, used = machine.selection, progress.log_weights, progress.used
    for e in range(votes_of.shape[0]):
        weight = math.exp(log_weights[e])
        p = draw_probability(flags, machine.smoothing, weight, votes_of.shape[0])
        updates[e] = True
        if not flags & ADAPTIVE:
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
def finish_round(machine, progress, asked, decision, label):
    """Count the round; after a label, choose the experts to come where that is asked for."""
    counters, flags = progress.counters, machine.selection
    if asked:
        if machine.policy == LABEL_BUDGET:
            error = squared_error(decision, label, machine.loss >= SQUARED)
            note_error(machine.policy_parameters, progress.asking, counters[ASKED], error)
        counters[ASKED] += 1
        counters[SKIPPED] = 0
        prefix_ends = counters[ASKED] >= machine.prefix
        if flags & BEST_OF_PREFIX and counters[CHOSEN] < 0 and prefix_ends:
            counters[CHOSEN] = np.argmin(progress.losses)
        if flags & ADAPTIVE:
            seed, round_ = counters[SEED], counters[ROUND]
            draw_subset(progress.log_weights, machine.smoothing, seed, round_, progress.used)
    else:
        counters[SKIPPED] += 1
    counters[ROUND] += 1


@njit(cache=True, nogil=True)
def squared_error(decision, label, regression):
    """Of a number, or 1 for a wrong class and 0 for the right one."""
    if regression:
        return (decision[0] - label) ** 2
    predicted = np.argmax(decision)
    if decision.shape[0] == 1:
        predicted = 1 if decision[0] >= 0.0 else 0
    return 0.0 if predicted == label else 1.0


@njit(cache=True, nogil=True)
def asks(machine, progress, votes_of, current, sizes, variances, known):
    """Is this round's label asked for, and there? The policy takes note of the round."""
    wanted, variance = wants(
        machine.policy, machine.policy_parameters, progress.asking, machine.loss,
        progress.log_weights, progress.used, progress.counters, votes_of, current, sizes,
        variances,
    )  # fmt: skip
    if machine.policy == LABEL_BUDGET:
        note_round(progress.asking, variance)
    return known and (wanted or machine.given)


@njit(cache=True, nogil=True)
def diagonals(plan, pairs, classes, out):
    """out[e, t] = k_e(x_t, x_t), (e, b); pairs (channels, n + b, b) of others and the block."""
    n_experts, b = out.shape
    n = pairs.shape[1] - b
    ones = np.zeros((n + b, n_experts * classes))
    ones[:, ::classes] = 1.0
    sums = np.zeros((n_experts * classes, b))
    spare = np.zeros_like(sums)
    values = np.empty((2, b))
    for t in range(b):
        add_points(plan, pairs, n + t, n + t + 1, t, t + 1, ones, sums, spare, values)
    for e in range(n_experts):
        for t in range(b):
            out[e, t] = sums[e * classes, t]


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
        elif machine.loss == HINGE:
            losses[e] = weight * max(0.0, 1.0 - margin)
        else:
            losses[e] = weight * log_loss(current[e], label, margin)


@njit(cache=True, nogil=True)
def would_ask(machine, progress, scores, sizes, variances, out):
    """out[i] = is the label of example i wanted, if it came next?

    progress : as it is, but with a copy of `used`, which is changed
    scores, sizes : (n, e, c) of the experts; variances : (n, e)
    """
    n_experts = scores.shape[1]
    votes_of = np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    select(machine, progress, votes_of, updates)
    for i in range(scores.shape[0]):
        out[i], _ = wants(
            machine.policy, machine.policy_parameters, progress.asking, machine.loss,
            progress.log_weights, progress.used, progress.counters, votes_of, scores[i], sizes[i],
            variances[i],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def expert_rounds(
    machine, progress, keys, known, plan, pairs, scores, sizes, labels, importance, decisions,
    asked, coefficients,
):  # fmt: skip
    """One block of rounds in which every expert learns from its own score.

    Parameters
    ----------
    machine, progress : what the run does and what it has learned
    keys, known : (b,) int and bool: equal for equal rows, and whether such a row is stored, from
        which the combiner does not learn; brought up to date round by round
    plan, pairs : the kernels, and the block's pair values with itself, (channels, b, b)
    scores, sizes : (e c, b) kernel sums of the support vectors before the block, the c scores of
        an expert one after the other; brought up to date round by round
    labels : (b,) int, class of each example; negative where it cannot be had
    importance : (b,) sample weights
    decisions : (b, c) out, the combined vote before the label was seen
    asked : (b,) bool out, whose label was looked at
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
    needed = False
    for e in range(n_experts):
        needed |= needs_diagonal(machine.learner[e], machine.learner_parameters[e])
    if needed:
        diagonals(plan, pairs, classes, diagonal)
    nothing = np.zeros(n_experts)
    for t in range(b):
        select(machine, progress, votes_of, updates)
        for e in range(n_experts):
            for c in range(classes):
                own_sizes[e, c] = sizes[e * classes + c, t]
                current[e, c] = zero_or(scores[e * classes + c, t], own_sizes[e, c])
        vote(machine, progress, votes_of, current, own_sizes, decisions[t])
        asked[t] = labels[t] >= 0
        if machine.policy != ALL:
            asked[t] = asks(machine, progress, votes_of, current, own_sizes, nothing, asked[t])
        if not asked[t]:
            finish_round(machine, progress, asked[t], decisions[t], labels[t])
            continue

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
                    diagonal[e, t], copies(classes), progress.counters[SEED],
                    progress.counters[ROUND], e,
                )  # fmt: skip
                if step != 0.0:
                    own = coefficients[t, e * classes : (e + 1) * classes]
                    add_step(own, labels[t], rival, step)
                    added = True
        if not known[t]:
            update_weights(
                machine.combiner, machine.combiner_parameters, progress.log_weights, losses,
                counted, progress.state,
            )  # fmt: skip
        finish_round(machine, progress, asked[t], decisions[t], labels[t])
        if added:
            for later in range(t + 1, b):
                known[later] |= keys[later] == keys[t]
            add_points(plan, pairs, t, t + 1, t + 1, b, coefficients, scores, sizes, values)
