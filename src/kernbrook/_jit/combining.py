"""Combiners: how the experts' weights follow from their losses, as codes."""

import numpy as np
from numba import njit

UNIFORM = 0
HEDGE = 1  # (log discount, cap on a loss; 0: none)

# Losses that a combiner looks at; they also decide what a vote is.
MISTAKES = 0  # 0 or 1; experts vote with their signs
HINGE = 1  # max(0, 1 - y f); experts vote with their scores


@njit(cache=True, nogil=True)
def update_weights(code, parameters, log_weights, losses, counted):
    """Learn log_weights, (e,), from this round's losses, (e,), where counted, (e,) bool."""
    if code == HEDGE:
        for e in range(losses.shape[0]):
            if counted[e]:
                loss = min(losses[e], parameters[1]) if parameters[1] > 0.0 else losses[e]
                log_weights[e] += parameters[0] * loss
        greatest = np.max(log_weights)
        for e in range(losses.shape[0]):
            log_weights[e] -= greatest
