"""Online multiple kernel classification, one example at a time.

Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, Machine Learning 90.
"""

from typing import NamedTuple

import numpy as np

from . import draws
from .kernels import Values
from .weights import relative, weighed


class Result(NamedTuple):
    predictions: np.ndarray  # (T,) +1 or -1
    votes: np.ndarray  # (T,) the combined vote over the sum of its weights
    coefficients: np.ndarray  # (T, m) what each example was added with
    log_weights: np.ndarray  # (m,) the greatest 0
    mistakes: np.ndarray  # (m,) of each component, by its own rule
    used: np.ndarray  # (m,) bool, who took part in the last vote


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


def omkc(
    X,
    y,
    kernels,
    tie="margin",
    discount=0.8,
    smoothing=0.01,
    update="all",
    vote="all",
    weighted=True,
    seed=0,
    importance=None,
):
    """Algorithms 1 to 4: (D,D), (D,S), (S,D), (S,S), y in {+1, -1}.

    Algorithm 2 prints an unweighted vote drawn with q_i: weighted=False and smoothing=0.
    """
    T, m = len(y), len(kernels)
    importance = relative(importance, T)
    log_weights = np.zeros(m)
    values = [Values(kernel, X) for kernel in kernels]
    coefficients = np.zeros((T, m))
    predictions, votes, mistakes = np.zeros(T), np.zeros(T), np.zeros(m)
    used = np.ones(m, dtype=bool)
    for t in range(T):
        q = np.exp(log_weights)
        p = (1 - smoothing) * q + smoothing / m
        updated = np.ones(m, dtype=bool)
        used = np.ones(m, dtype=bool)
        for i in range(m):
            if update == "drawn":
                updated[i] = draws.bernoulli(seed, t, draws.UPDATE, i, p[i])
            if vote == "drawn" and update == "drawn":
                used[i] = updated[i]
            elif vote == "drawn":
                used[i] = draws.bernoulli(seed, t, draws.VOTE, i, p[i])
        f = [score_of(values[i], coefficients[:, i], t) for i in range(m)]
        weights = np.where(used, q if weighted else 1.0, 0.0)
        vote_sum = zero_or(weights * [sign(f_i) for f_i in f])
        votes[t] = vote_sum / weights.sum() if used.any() else 0.0
        predictions[t] = sign(vote_sum)
        for i in range(m):
            if errs(f[i], y[t], tie):
                mistakes[i] += importance[t]
                if updated[i]:
                    lacks = values[i][t][t] - y[t] * f[i]
                    step = weighed(importance[t], 1.0, lacks, values[i][t][t])
                    coefficients[t, i] = step * y[t]
                    log_weights[i] += importance[t] * np.log(discount)
        log_weights -= log_weights.max()
    return Result(predictions, votes, coefficients, log_weights, mistakes, used)


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
