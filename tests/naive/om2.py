"""OM-2, one example at a time, with every norm from scratch; it may ask for labels.

Jie, Orabona, Fornoni, Caputo, Cesa-Bianchi (2010), OM-2: an online multi-class multi-kernel
learning algorithm, algorithm 1.
"""

import numpy as np

from . import multiclass, policies
from .omkc import zero_or
from .weights import relative


def group_weights(squared_norms, q):
    """The gradient of (1/2q) ||theta||_{2,q}^2 is w_j theta_j with these w_j."""
    norms = np.sqrt(squared_norms)
    if not norms.any():
        return np.full(len(norms), 1 / q)
    whole = np.sum((norms / norms.max()) ** q) ** (1 / q) * norms.max()
    return (norms / whole) ** (q - 2) / q


def om2(X, y, kernels, C, q, policy=policies.everything, seed=0, importance=None):
    """Predictions, asked and (T, C) coefficients, which kernels share.

    Two classes share one score, half of the margin between them.
    """
    T, m, half = len(y), len(kernels), C == 2
    importance = relative(importance, T)
    order = [1, 0] if half else range(C)
    coefficients, predictions = np.zeros((T, C)), np.zeros(T, dtype=int)
    asked, count, skipped = np.zeros(T, dtype=bool), 0, 0
    grams = [np.array([kernel(X, x) for x in X]) for kernel in kernels]
    for t in range(T):
        past = coefficients[:t]
        squares = [np.sum(past * (K[:t, :t] @ past)) for K in grams]
        if half:  # of the one score
            squares = [square / 2 for square in squares]
        weights = group_weights(np.maximum(squares, 0), q)
        own = [past * K[t, :t, None] for K in grams]
        terms = np.concatenate([w * part for w, part in zip(weights, own, strict=True)])
        scores, sizes, seen = multiclass.see(terms, y[t], order)
        predictions[t] = multiclass.winner(scores, sizes, order)
        outputs = [np.array([zero_or(column) for column in part.T]) for part in own]
        if half:
            outputs = [out[1:] for out in outputs]
        known = policies.Known(
            np.ones(m), weights, np.ones(m, dtype=bool), outputs, count, skipped, seed, t
        )
        if not (policy(known) or count == 0):
            skipped += 1
            continue
        asked[t], count, skipped = True, count + 1, 0
        if hasattr(policy, "note"):
            policy.note(count, float(predictions[t] != y[t]))
        if seen.margin <= 1:
            coefficients[t, [seen.y, seen.r]] = importance[t], -importance[t]
    return predictions, asked, coefficients
