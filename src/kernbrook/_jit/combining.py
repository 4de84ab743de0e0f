"""Combiners: how the experts' weights follow from their losses, as codes.

Weights are kept as logarithms, the greatest 0; -inf is a weight of 0.
"""

import math

import numpy as np

from kernbrook._jit.compiling import njit

# Each with its row of parameters, and the numbers of `state` that it needs for m experts.
UNIFORM = 0
HEDGE = 1  # (cap, log discount)
FIXED_SHARE = 2  # (cap, log discount, share)
ADA_HEDGE = 3  # (cap,); m + 1
ML_POLY = 4  # (cap, offset); 2 m
EXP = 5  # (cap, step); m + 1

# Losses that a combiner looks at; they also decide what a vote is.
MISTAKES = 0  # 0 or 1; experts vote with their signs
HINGE = 1  # max(0, 1 - y f); experts vote with their scores, from here on
LOGISTIC = 2  # log(1 + exp(-y f)), or of many classes -log softmax
SQUARED = 3  # (f - y)^2, of numbers
ABSOLUTE = 4  # |f - y|
LINEARIZED = 5  # 2 (F - y) f, with the combination's F: the slope of its squared loss

NO_CAP = 1e100  # squares of it can still be summed


@njit(cache=True, nogil=True)
def discount_losses(log_discount, log_weights, losses, counted):
    """log w_e += loss_e log discount, where counted: Freund and Schapire (1997), figure 1."""
    for e in range(losses.shape[0]):
        if counted[e]:
            log_weights[e] += log_discount * losses[e]
    greatest = np.max(log_weights)
    for e in range(losses.shape[0]):
        log_weights[e] -= greatest


@njit(cache=True, nogil=True)
def share_weights(share, log_weights):
    """Every weight gives a share, in equal parts to the others: Herbster and Warmuth (1998)."""
    m = log_weights.shape[0]
    if share == 0.0 or m == 1:
        return
    total = 0.0
    weights = np.exp(log_weights)
    for e in range(m):
        total += weights[e]
    greatest = -math.inf
    for e in range(m):
        shared = (1.0 - share) * weights[e] + share * (total - weights[e]) / (m - 1)
        log_weights[e] = math.log(shared)
        greatest = max(greatest, log_weights[e])
    for e in range(m):
        log_weights[e] -= greatest


@njit(cache=True, nogil=True)
def ada_hedge(log_weights, state, losses):
    """De Rooij, van Erven, Grunwald, Koolen (2014), section 2: eta = ln m / Delta.

    state : (m + 1,) the experts' losses so far less the least of them, then Delta, the sum of
        the mixability gaps. It is 0, and eta infinite, until losses differ for the first time.
    """
    m = losses.shape[0]
    gap = state[m]
    least = np.min(losses)
    before, loss = 0.0, 0.0  # the combination's loss, like all others here, above the least
    for e in range(m):
        weight = math.exp(log_weights[e])
        before += weight
        loss += weight * (losses[e] - least)
        state[e] += losses[e] - least
    loss /= before
    rise = np.min(state[:m])
    after = 0.0
    for e in range(m):
        state[e] -= rise
        if gap > 0.0:
            after += math.exp(-state[e] / gap * math.log(m))
    mix_loss = rise
    if gap > 0.0:
        mix_loss -= (math.log(after) - math.log(before)) * gap / math.log(m)
    state[m] = gap + max(loss - mix_loss, 0.0)
    if state[m] > 0.0:
        for e in range(m):
            log_weights[e] = -state[e] / state[m] * math.log(m)


@njit(cache=True, nogil=True)
def ml_poly(offset, log_weights, state, losses):
    """Gaillard, Stoltz, van Erven (2014): w_e = eta_e max(R_e, 0), 1 / eta_e = offset + sum r_e^2.

    r_e is the combination's loss less expert e's, R_e the sum of r_e. No R_e is positive only
    until losses differ for the first time; the weights are equal then.

    state : (2 m,) R_e, and the sums of r_e^2
    """
    m = losses.shape[0]
    least = np.min(losses)
    total, loss = 0.0, 0.0  # as in `ada_hedge`: equal losses give regrets of 0 exactly
    for e in range(m):
        weight = math.exp(log_weights[e])
        total += weight
        loss += weight * (losses[e] - least)
    loss /= total
    greatest = -math.inf
    for e in range(m):
        regret = loss - (losses[e] - least)
        state[e] += regret
        state[m + e] += regret * regret
        log_weights[e] = -math.inf
        if state[e] > 0.0 and offset + state[m + e] > 0.0:  # squares may underflow
            log_weights[e] = math.log(state[e]) - math.log(offset + state[m + e])
        greatest = max(greatest, log_weights[e])
    for e in range(m):
        log_weights[e] = log_weights[e] - greatest if greatest > -math.inf else 0.0


@njit(cache=True, nogil=True)
def exp_weights(step, log_weights, state, losses):
    """w_e = exp(-step / sqrt(t) sum of e's losses) after the t-th round.

    state : (m + 1,) the experts' losses so far less the least of them, then t
    """
    m = losses.shape[0]
    state[m] += 1.0
    least = math.inf
    for e in range(m):
        state[e] += losses[e]
        least = min(least, state[e])
    for e in range(m):
        state[e] -= least
        log_weights[e] = -step / math.sqrt(state[m]) * state[e]


@njit(cache=True, nogil=True)
def update_weights(code, parameters, log_weights, losses, counted, state):
    """Learn from one round.

    Parameters
    ----------
    code, parameters : the combiner and its row
    log_weights : (m,) changed
    losses : (m,) of this round; capped in place
    counted : (m,) bool, whose losses Hedge takes; the other combiners take all of them
    state : the combiner's own numbers, changed
    """
    if code == UNIFORM:
        return
    for e in range(losses.shape[0]):
        losses[e] = min(losses[e], parameters[0])
    if code == HEDGE:
        discount_losses(parameters[1], log_weights, losses, counted)
    elif code == FIXED_SHARE:
        discount_losses(parameters[1], log_weights, losses, np.ones(losses.shape[0], np.bool_))
        share_weights(parameters[2], log_weights)
    elif code == ADA_HEDGE:
        ada_hedge(log_weights, state, losses)
    elif code == EXP:
        exp_weights(parameters[1], log_weights, state, losses)
    else:
        ml_poly(parameters[1], log_weights, state, losses)
