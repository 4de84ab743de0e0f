"""Signs, ties, and perceptrons of one kernel, one example at a time.

Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, Machine Learning 90.
"""

import numpy as np

from .kernels import Values


def zero_or(terms):
    """The sum of the terms; 0 where it is within 1e-12 of the sum of their sizes."""
    terms = np.asarray(terms)
    total = float(terms.sum())
    return 0.0 if abs(total) <= 1e-12 * float(np.abs(terms).sum()) else total


def sign(value):
    """sign(0) = +1."""
    return 1.0 if value >= 0 else -1.0


def errs(score, label, tie):
    """Algorithm 1, line 8, as printed ("margin"), or as in the tables ("label")."""
    return label * score <= 0 if tie == "margin" else sign(score) != label


def score_of(values, coefficients, t):
    """f(x_t) = sum_j alpha_j k(x_j, x_t), over the support vectors among the rows before t."""
    mine = np.flatnonzero(coefficients[:t])
    return zero_or(coefficients[mine] * values[t][mine]) if len(mine) else 0.0


def perceptron(X, y, kernel, tie="margin"):
    """One kernel alone: predictions, coefficients."""
    predictions, coefficients, values = np.zeros(len(y)), np.zeros(len(y)), Values(kernel, X)
    for t in range(len(y)):
        score = score_of(values, coefficients, t)
        predictions[t] = sign(score)
        if errs(score, y[t], tie):
            coefficients[t] = y[t]
    return predictions, coefficients


def best_kernel(X, y, kernels, tie="margin"):
    """Section 5.1, Perceptron(*): the fewest mistakes of its own, the lowest index if several."""
    missed = []
    for kernel in kernels:
        _, coefficients = perceptron(X, y, kernel, tie)
        missed.append(np.count_nonzero(coefficients))
    return int(np.argmin(missed))


def best_of_prefix(X, y, kernels, rounds, tie="margin"):
    """As `best_kernel` on the first rounds, without looking ahead: the best so far predicts.

    Returns predictions, the chosen kernel and its coefficients.
    """
    runs = [perceptron(X, y, kernel, tie) for kernel in kernels]
    predictions = np.zeros(len(y))
    for t in range(len(y)):
        seen = min(t, rounds)
        missed = [np.count_nonzero(coefficients[:seen]) for _, coefficients in runs]
        predictions[t] = runs[int(np.argmin(missed))][0][t]
    best = best_kernel(X[:rounds], y[:rounds], kernels, tie)
    return predictions, best, runs[best][1]
