"""Features scaled by what has come: each row by the rows before it and itself, from scratch."""

import numpy as np


def maximum(X):
    """x / max |x|."""
    largest = np.array([np.abs(X[: t + 1]).max(axis=0) for t in range(len(X))])
    return np.divide(X, largest, out=np.zeros_like(X), where=largest > 0)


def moments(X):
    """(x - mean) / deviation; 0 where the deviation is no more than rounding."""
    out = np.zeros_like(X)
    for t, x in enumerate(X):
        past = X[: t + 1].astype(np.longdouble)
        mean, deviation = past.mean(axis=0), past.std(axis=0)
        varies = deviation > 1e-12 * np.maximum(np.abs(x), np.abs(mean))
        out[t, varies] = ((x - mean) / np.where(varies, deviation, 1))[varies]
    return out


def ranks(X, window=1000):
    """(r - 1/2) sqrt(12): r the share of smaller values, and half of equal ones, of the last."""
    out = np.empty_like(X)
    for t, x in enumerate(X):
        known = X[max(0, t - window + 1) : t + 1]
        share = ((known < x).sum(axis=0) + 0.5 * (known == x).sum(axis=0)) / len(known)
        out[t] = (share - 0.5) * np.sqrt(12)
    return out
