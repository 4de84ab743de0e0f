"""The sequential pass of OM-2: kernels that share their support vectors, weighed by their norms."""

import numpy as np

from kernbrook._jit.asking import ALL
from kernbrook._jit.classes import add_step, margin_of, winner
from kernbrook._jit.compiling import njit
from kernbrook._jit.rounds import asks, finish_round
from kernbrook._jit.values import add_points
from kernbrook._jit.zero import zero_or


@njit(cache=True, nogil=True)
def group_norm_weights(squared_norms, q, weights):
    """w_j = (1/q) (||theta_j|| / ||theta||_{2,q})^(q-2), (m,) out; 1/q before the first update."""
    m = squared_norms.shape[0]
    greatest = np.max(squared_norms)
    if greatest <= 0.0:
        weights[:] = 1.0 / q
        return
    total = 0.0
    for j in range(m):  # relative to the greatest norm: powers of it cannot overflow
        total += (squared_norms[j] / greatest) ** (0.5 * q)
    norm = total ** (1.0 / q)
    for j in range(m):
        weights[j] = (np.sqrt(squared_norms[j] / greatest) / norm) ** (q - 2.0) / q


@njit(cache=True, nogil=True)
def group_norm_rounds(
    q, machine, progress, plan, pairs, scores, sizes, labels, importance, decisions, asked,
    coefficients,
):  # fmt: skip
    """One block of rounds of OM-2; arguments as `expert_rounds`, one column of coefficients.

    q : exponent of the dual group norm
    machine : of which only the label policy counts
    progress : its `state` holds the squared norms of the m dual vectors
    """
    m, b = progress.losses.shape[0], scores.shape[1]
    classes = scores.shape[0] // m
    weights = np.empty(m)
    values = np.empty((2, b))
    current, behind = np.empty((m, classes)), np.empty((m, classes))
    nothing = np.zeros(m)
    total, size = np.empty(classes), np.empty(classes)
    change = np.empty(classes)
    ones = np.zeros((b, classes))
    ones[:, 0] = 1.0
    diagonal = np.zeros((m * classes, b))  # k_j(x_t, x_t), filled in where an example is added
    spare = np.zeros((m * classes, b))
    squared_norms = progress.state
    for t in range(b):
        group_norm_weights(squared_norms, q, weights)
        total[:] = 0.0
        size[:] = 0.0
        for j in range(m):
            for c in range(classes):
                score, behind[j, c] = scores[j * classes + c, t], sizes[j * classes + c, t]
                current[j, c] = zero_or(score, behind[j, c])
                total[c] += weights[j] * score
                size[c] += weights[j] * behind[j, c]
        for c in range(classes):
            total[c] = zero_or(total[c], size[c])
        decisions[t] = total
        if classes > 1:
            decisions[t, winner(total, size, -1)] = np.max(total)
        asked[t] = labels[t] >= 0
        if machine.policy != ALL:
            asked[t] = asks(machine, progress, weights, current, behind, nothing, asked[t])
        finish_round(machine, progress, asked[t], decisions[t], labels[t])
        if not asked[t]:
            continue
        for j in range(m):
            if margin_of(current[j], behind[j], labels[t])[3]:
                progress.losses[j] += importance[t]
        margin, _, rival, _ = margin_of(total, size, labels[t])
        if classes == 1:
            margin *= 2.0  # two classes, each with half of the score
        if margin <= 1.0 and importance[t] > 0.0:
            change[:] = 0.0
            add_step(change, labels[t], rival, importance[t])
            coefficients[t] = change
            add_points(plan, pairs, t, t + 1, t, t + 1, ones, diagonal, spare, values)
            for j in range(m):
                own = diagonal[j * classes, t]
                grown = 0.0
                for c in range(classes):
                    grown += 2.0 * change[c] * scores[j * classes + c, t] + change[c] ** 2 * own
                squared_norms[j] = max(squared_norms[j] + grown, 0.0)
            add_points(plan, pairs, t, t + 1, t + 1, b, coefficients, scores, sizes, values)
