"""The sequential pass of OM-2: kernels that share their support vectors, weighed by their norms."""

import numpy as np
from numba import njit

from kernbrook._jit.sums import add_points
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
    q, progress, plan, pairs, scores, sizes, labels, importance, decisions, coefficients
):
    """One block of rounds of OM-2; arguments as `expert_rounds`, one column of coefficients.

    q : exponent of the dual group norm
    progress : its `state` holds the squared norms of the m dual vectors
    """
    m, b = scores.shape
    weights = np.empty(m)
    values = np.empty((2, b))
    ones = np.ones((b, 1))
    diagonal = np.zeros((m, b))  # k_j(x_t, x_t), filled in where an example is added
    spare = np.zeros((m, b))
    squared_norms = progress.state
    for t in range(b):
        group_norm_weights(squared_norms, q, weights)
        total = 0.0
        size = 0.0
        for j in range(m):
            total += weights[j] * scores[j, t]
            size += weights[j] * sizes[j, t]
            score = zero_or(scores[j, t], sizes[j, t])
            if (score >= 0.0) != (labels[t] > 0.0):
                progress.losses[j] += importance[t]
        decisions[t] = zero_or(total, size)
        if 2.0 * labels[t] * decisions[t] <= 1.0 and importance[t] > 0.0:
            step = importance[t] * labels[t]
            coefficients[t, 0] = step
            add_points(plan, pairs, t, t + 1, t, t + 1, ones, diagonal, spare, values)
            for j in range(m):
                grown = 2.0 * step * scores[j, t] + step * step * diagonal[j, t]
                squared_norms[j] = max(squared_norms[j] + grown, 0.0)
            add_points(plan, pairs, t, t + 1, t + 1, b, coefficients, scores, sizes, values)
        progress.counters[1] += 1
