"""OM-2, one example at a time.

Jie, Orabona, Fornoni, Caputo, Cesa-Bianchi (2010), OM-2: an online multi-class multi-kernel
learning algorithm, algorithm 1, for two classes.
"""

import numpy as np

from .omkc import sign
from .weights import relative


def group_weights(squared_norms, q):
    """The gradient of (1/2q) ||theta||_{2,q}^2 is w_j theta_j with these w_j."""
    norms = np.sqrt(squared_norms)
    if not norms.any():
        return np.full(len(norms), 1 / q)
    whole = np.sum((norms / norms.max()) ** q) ** (1 / q) * norms.max()
    return (norms / whole) ** (q - 2) / q


def om2(X, y, kernels, q, importance=None):
    """Predictions, decisions and coefficients; norms from scratch in every round."""
    T = len(y)
    importance = relative(importance, T)
    coefficients, decisions = np.zeros(T), np.zeros(T)
    grams = [np.array([kernel(X, x) for x in X]) for kernel in kernels]
    for t in range(T):
        terms = np.array([coefficients[:t] * K[t, :t] for K in grams])
        squares = [coefficients[:t] @ K[:t, :t] @ coefficients[:t] for K in grams]
        weights = group_weights(np.maximum(squares, 0), q)
        total = weights @ terms.sum(axis=1)
        size = weights @ np.abs(terms).sum(axis=1)
        decisions[t] = 0.0 if abs(total) <= 1e-12 * size else total
        # The margin between the two classes is 2 y sum_j w_j f_j(x).
        if 2 * y[t] * decisions[t] <= 1:
            coefficients[t] = importance[t] * y[t]
    return np.array([sign(value) for value in decisions]), decisions, coefficients
