"""Label policies: does the machine want this round's label? Everything is known before it."""

import math

import numpy as np

from kernbrook._jit.classes import winner
from kernbrook._jit.combining import HINGE, MISTAKES
from kernbrook._jit.compiling import njit
from kernbrook._jit.draws import DRAW_LABEL, PURPOSE, uniform

# Each with its row of parameters.
ALL = 0
DISAGREEMENT = 1  # (threshold, window, weights of all, compare with all)
MARGIN = 2  # (smoothing,)
VARIANCE = 3  # (threshold, window)
RANDOM = 4  # (rate,)
LABEL_BUDGET = 5  # (rate, window, memory, gain); 3 numbers of state
N_POLICY_PARAMETERS = 4
N_POLICY_STATE = 3

# What `counters` of a run's progress holds.
SEED, ROUND, CHOSEN, ASKED, SKIPPED = 0, 1, 2, 3, 4
N_COUNTERS = 5


@njit(cache=True, nogil=True)
def mean_of(weights, total, opinions):
    """(c,) the mean opinion, (e, c), under weights of a positive total."""
    mean = np.zeros(opinions.shape[1])
    for e in range(opinions.shape[0]):
        for c in range(opinions.shape[1]):
            mean[c] += weights[e] * opinions[e, c] / total
    return mean


@njit(cache=True, nogil=True)
def spread(weights, total, compared, opinions):
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
def opinions(loss, current, sizes):
    """(e, c) what the experts' votes say: signs, or scores no larger than the loss can tell."""
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
def worth(state, variance, rounds):
    """What LABEL_BUDGET takes a label to be worth, about 1 on average: recent error, disagreement.

    state : (3,) running mean of squared errors; sums so far of it, and of the variance
    """
    errors, variances = state[1] + state[0], state[2] + variance
    value = state[0] / errors if errors > 0.0 else 0.0
    value += variance / variances if variances > 0.0 else 0.0
    return 0.5 * rounds * value


@njit(cache=True, nogil=True)
def wants(
    policy, parameters, state, loss, log_weights, used, counters, votes_of, current, sizes,
    variances,
):  # fmt: skip
    """(is the label asked for, variance of the opinions). From what is known; nothing changes.

    Parameters
    ----------
    policy, parameters, state : the policy, its row, its numbers
    loss : what the combiner looks at
    log_weights, used, counters : of the run's progress
    votes_of : (e,) weight of each expert in the vote, where `used`
    current, sizes : (e, c) the experts' scores
    variances : (e,) the experts' own, where their learner has one
    """
    variance = 0.0
    if policy == ALL:
        return True, variance
    rounds, asked, skipped = counters[ROUND], counters[ASKED], counters[SKIPPED]
    if policy == RANDOM:
        draw = uniform(counters[SEED], rounds, DRAW_LABEL * PURPOSE)
        return asked == 0 or draw < parameters[0], variance
    n_experts = votes_of.shape[0]
    weights, total = np.zeros(n_experts), 0.0
    compared = np.empty(n_experts, dtype=np.bool_)
    weigh_all = policy == DISAGREEMENT and parameters[2] != 0.0
    compare_all = policy == DISAGREEMENT and parameters[3] != 0.0
    for e in range(n_experts):
        if weigh_all:
            weights[e] = math.exp(log_weights[e])
        elif used[e]:
            weights[e] = votes_of[e]
        compared[e] = used[e] or compare_all
        total += weights[e]
    if policy == VARIANCE:
        variance = math.inf
        if total > 0.0:
            variance = 0.0
            for e in range(n_experts):
                variance += weights[e] * variances[e] / total
        return asked == 0 or skipped >= parameters[1] or variance > parameters[0], variance
    said = opinions(loss, current, sizes)
    if policy == MARGIN:  # Cesa-Bianchi, Gentile, Zaniboni (2006), figure 1
        draw = uniform(counters[SEED], rounds, DRAW_LABEL * PURPOSE)
        chance = parameters[0] / (parameters[0] + lead(weights, total, said))
        return asked == 0 or draw < chance, variance
    variance, farthest = spread(weights, total, compared, said)
    if asked == 0:
        return True, variance
    if policy == DISAGREEMENT:
        return skipped >= parameters[1] or variance + farthest > parameters[0], variance
    if asked + 1 > parameters[0] * (rounds + 1):
        return False, variance
    threshold = math.exp(min(parameters[3] * (asked - parameters[0] * rounds), 700.0))
    return skipped >= parameters[1] or worth(state, variance, rounds) > threshold, variance


@njit(cache=True, nogil=True)
def note_round(state, variance):
    """A round of LABEL_BUDGET, whether its label is seen or not."""
    state[1] += state[0]
    state[2] += variance


@njit(cache=True, nogil=True)
def note_error(parameters, state, asked, error):
    """The combination's squared error on a label of LABEL_BUDGET, for classes 1 or 0."""
    if asked > 0:
        state[0] = parameters[2] * state[0] + (1.0 - parameters[2]) * error
