"""AdaRaker: experts form instances, one for each length of interval, weighed against each other."""

import math

import numpy as np

from kernbrook._jit.classes import log_loss, margin_of
from kernbrook._jit.combining import ABSOLUTE, HINGE, SQUARED
from kernbrook._jit.compiling import njit

ADA_RAKER = 6  # (cap, step, levels, restart); m + levels numbers of state for m experts


@njit(cache=True, nogil=True)
def loss_of(loss, scores, sizes, label):
    """Of one function's scores (c,), as `expert_losses` has it; sizes : (c,) behind them."""
    if loss >= SQUARED:
        error = abs(scores[0] - label)
        return error if loss == ABSOLUTE else error * error
    margin, _, _, _ = margin_of(scores, sizes, int(label))
    return max(0.0, 1.0 - margin) if loss == HINGE else log_loss(scores, int(label), margin)


@njit(cache=True, nogil=True)
def ada_raker(
    parameters, loss, log_weights, state, losses, current, decision, label, weight, seen
):  # fmt: skip
    """Learn from one round: Shen, Chen, Giannakis (2019), algorithm 2.

    Parameters
    ----------
    parameters : the combiner's row
    log_weights : (m,) out, of an expert in the whole; -inf where its instance has not begun
    state : (m + levels,) log of each expert's weight in its instance, the greatest 0; log of each
        instance's weight beside its rate, which it begins with
    losses : (m,) of this round, capped in place
    current, decision : (m, c) the experts' scores, (c,) the combined ones
    seen : labels before this one
    """
    cap, step, levels = parameters[0], parameters[1], int(parameters[2])
    m, c = losses.shape[0], decision.shape[0]
    each = m // levels
    own, sizes = np.empty(c), np.zeros(c)
    combined = min(weight * loss_of(loss, decision, sizes, label), cap)
    greatest = -math.inf
    for j in range(levels):
        length = 1 << j
        rate = min(0.5, step / math.sqrt(length))
        first, last = j * each, (j + 1) * each
        own[:] = 0.0
        total = 0.0
        for e in range(first, last):
            share = math.exp(state[e])
            total += share
            for k in range(c):
                own[k] += share * current[e, k]
        for k in range(c):
            own[k] /= total
        if j == 0 or seen >= length:
            state[m + j] -= rate * (min(weight * loss_of(loss, own, sizes, label), cap) - combined)
        top = -math.inf
        for e in range(first, last):
            losses[e] = min(losses[e], cap)
            state[e] -= rate * losses[e]
            top = max(top, state[e])
        ends = (seen + 1) % length == 0
        if ends:
            state[m + j] = 0.0
        total = 0.0
        for e in range(first, last):
            state[e] = 0.0 if ends and parameters[3] != 0.0 else state[e] - top
            total += math.exp(state[e])
        log_instance = -math.inf
        if j == 0 or seen + 1 >= length:
            log_instance = math.log(rate) + state[m + j] - math.log(total)
        for e in range(first, last):
            log_weights[e] = log_instance + state[e]
            greatest = max(greatest, log_weights[e])
    for e in range(m):
        log_weights[e] -= greatest
