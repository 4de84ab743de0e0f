"""The sequential pass of gradient descent on kernel expansions."""

import numpy as np

from kernbrook._jit.asking import ALL, ASKED
from kernbrook._jit.combining import MISTAKES, SQUARED, update_weights
from kernbrook._jit.compiling import njit
from kernbrook._jit.feature_learning import BY_ROOT, loss_gradient, root_step
from kernbrook._jit.feature_rounds import expert_losses
from kernbrook._jit.rounds import asks, diagonals, finish_round, select, vote
from kernbrook._jit.values import add_points
from kernbrook._jit.zero import zero_or

SMALL = 2.0**-64  # a smaller scale moves into the coefficients: a power of 2, so exactly


@njit(cache=True, nogil=True)
def gradient_rounds(
    machine, progress, keys, known, scale, shifts, budget, plan, pairs, scores, sizes, labels,
    importance, decisions, asked, coefficients,
):  # fmt: skip
    """One block of rounds in which every expert descends its own loss.

    An expert's coefficients, and so its sums, are `scale` times those that are stored: shrinking
    them all is one product.

    Parameters
    ----------
    keys : (n + b,) int of the n and the block, equal for equal rows
    known : (b,) bool, whether a row is equal to one that the experts sum over; on entry whether it
        is under no budget, or may be under one. The combiner does not learn from it
    scale : (e,) changed
    shifts : (e,) out: how often `scale` grew by 1 / SMALL, and coefficients shrank by SMALL; those
        of the support vectors that are not in `coefficients` are still to be
    budget : examples that every expert sums over, the last with labels; 0: all of them
    pairs : (channels, n + b, b), the n examples in the budget before the block and the block, with
        the block; n = 0 without a budget, and scores and sizes are then those of all before
    labels : (b,) float, targets or numbers of classes; NaN where the label cannot be had
    coefficients : (n + b, e c), of the n and, zeros on entry, of the block; changed
    others : as for `expert_rounds`
    """
    n_experts, b = machine.learner.shape[0], scores.shape[1]
    classes = scores.shape[0] // n_experts
    votes_of, losses = np.empty(n_experts), np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    counted = np.ones(n_experts, dtype=np.bool_)
    current, own_sizes = np.empty((n_experts, classes)), np.empty((n_experts, classes))
    gradient = np.empty(classes)
    nothing = np.zeros(n_experts)
    values = np.empty((2, b))
    regression = machine.loss >= SQUARED
    n = coefficients.shape[0] - b
    labelled = np.arange(n + b)
    count = n
    diagonal = np.zeros((n_experts, b))
    if (machine.learner_parameters[:, 3] == BY_ROOT).any():
        diagonals(plan, pairs, classes, diagonal)
    for t in range(b):
        if budget > 0:
            first = labelled[max(count - budget, 0)] if count > 0 else n + t
            for k in range(scores.shape[0]):
                scores[k, t] = sizes[k, t] = 0.0
            add_points(plan, pairs, first, n + t, t, t + 1, coefficients, scores, sizes, values)
        select(machine, progress, votes_of, updates)
        for e in range(n_experts):
            for c in range(classes):
                size = sizes[e * classes + c, t]
                current[e, c] = scale[e] * zero_or(scores[e * classes + c, t], size)
                own_sizes[e, c] = scale[e] * size
        vote(machine, progress, votes_of, current, own_sizes, decisions[t])
        asked[t] = labels[t] == labels[t]
        if machine.policy != ALL:
            asked[t] = asks(machine, progress, votes_of, current, own_sizes, nothing, asked[t])
        if not asked[t]:
            finish_round(machine, progress, asked[t], decisions[t], labels[t])
            continue
        if budget > 0 and known[t]:
            known[t] = False
            for j in range(max(count - budget, 0), count):
                s = labelled[j]
                known[t] |= keys[s] == keys[n + t] and coefficients[s].any()
        labelled[count] = n + t
        count += 1
        expert_losses(
            machine, progress, current, own_sizes, decisions[t], labels[t], importance[t], losses
        )
        added = False
        for e in range(n_experts):
            counted[e] = updates[e] or machine.loss != MISTAKES
            if not updates[e] or importance[t] <= 0.0:
                continue
            parameters = machine.learner_parameters[e]
            step = parameters[2]
            if parameters[3] == BY_ROOT:
                step = root_step(parameters, diagonal[e, t], progress.counters[ASKED] + 1)
            loss_gradient(
                parameters[0], parameters[1], current[e], own_sizes[e], labels[t], regression,
                gradient,
            )  # fmt: skip
            scale[e] *= 1.0 - 2.0 * step * parameters[4]
            if scale[e] < SMALL:
                scale[e] /= SMALL
                shifts[e] += 1
                for k in range(e * classes, (e + 1) * classes):
                    for later in range(t + 1, b):
                        scores[k, later] *= SMALL
                        sizes[k, later] *= SMALL
                    for s in range(n + t):
                        coefficients[s, k] *= SMALL
            for c in range(classes):
                if gradient[c] != 0.0:
                    change = -step * importance[t] * gradient[c] / scale[e]
                    coefficients[n + t, e * classes + c] = change
                    added = True
        if not known[t]:
            update_weights(
                machine.combiner, machine.combiner_parameters, progress.log_weights, losses,
                counted, progress.state,
            )  # fmt: skip
        finish_round(machine, progress, asked[t], decisions[t], labels[t])
        if added and budget == 0:
            for later in range(t + 1, b):
                known[later] |= keys[later] == keys[t]
            add_points(plan, pairs, t, t + 1, t + 1, b, coefficients, scores, sizes, values)
