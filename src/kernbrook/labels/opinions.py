"""The experts' opinions on an example, for label policies."""

from __future__ import annotations

import math

import numpy as np

from kernbrook.compiler.compiling import njit
from kernbrook.engine.loss_codes import HINGE, MISTAKES
from kernbrook.numerics.scores_of_classes import winner


@njit(cache=True, nogil=True)
def mean_of(weights, total, opinions):
    """(c,) the mean opinion, (e, c), under weights of a positive total."""
    mean = np.zeros(opinions.shape[1])
    for e in range(opinions.shape[0]):
        for c in range(opinions.shape[1]):
            mean[c] += weights[e] * opinions[e, c] / total
    return mean


@njit(cache=True, nogil=True)
def measure_spread(weights, total, compared, opinions):
    """(variance of f under the weights, greatest distance of an f_j from their mean).

    Their sum is max over j of sum_i p_i |f_i - f_j|^2, p the weights normalised, the criterion of
    Hong and Chae (2020): one look at each expert is enough, twice.

    weights : (e,) with their total, 0 where an expert does not count
    compared : (e,) bool, the experts j; opinions : (e, c)
    """
    if total == 0.0:
        return 0.0, 0.0
    mean = mean_of(weights, total, opinions)
    variance, farthest = 0.0, 0.0
    for e in range(opinions.shape[0]):
        distance = 0.0
        for c in range(opinions.shape[1]):
            distance += (opinions[e, c] - mean[c]) ** 2
        variance += weights[e] * distance
        if compared[e]:
            farthest = max(farthest, distance)
    return variance / total, farthest


@njit(cache=True, nogil=True)
def views(opinions):
    """(e, c) what the experts' votes say: signs, or scores no larger than the loss can tell."""
    current, sizes, loss = opinions.scores, opinions.sizes, opinions.loss
    n_experts, classes = current.shape
    out = np.zeros((n_experts, classes))
    for e in range(n_experts):
        if loss == MISTAKES and classes > 1:
            out[e, winner(current[e], sizes[e], -1)] = 1.0
            continue
        for c in range(classes):
            out[e, c] = current[e, c]
            if loss == MISTAKES:
                out[e, c] = 1.0 if current[e, c] >= 0.0 else -1.0
            elif loss == HINGE:
                out[e, c] = min(max(current[e, c], -1.0), 1.0)
    return out


@njit(cache=True, nogil=True)
def lead(weights, total, opinions):
    """How far the first class is ahead of the second in the mean opinion, (e, c)."""
    if total == 0.0:
        return 0.0
    mean = mean_of(weights, total, opinions)
    if mean.shape[0] == 1:
        return abs(mean[0])
    first, second = -math.inf, -math.inf
    for c in range(mean.shape[0]):
        if mean[c] > first:
            first, second = mean[c], first
        else:
            second = max(second, mean[c])
    return first - second


@njit(cache=True, nogil=True)
def weights_in_use(progress, opinions):
    """((e,) weights of the votes, 0 where an expert is not in use; their sum)."""
    weights, total = np.zeros(opinions.votes.shape[0]), 0.0
    for e in range(weights.shape[0]):
        if progress.used[e]:
            weights[e] = opinions.votes[e]
        total += weights[e]
    return weights, total
