"""The steps of the learners that project: Projectron, Projectron++, Ahpatron."""

import math

import numpy as np

from kernbrook._jit.classes import add_step, copies
from kernbrook._jit.compiling import njit
from kernbrook._jit.learning import PROJECTRON_PLUS, SMALLEST_DIAGONAL, errs
from kernbrook._jit.projection import SMALLEST_PIVOT, append, project, reduce
from kernbrook._jit.upkeep import keep, scale, square_of
from kernbrook._jit.zero import ZERO, zero_or


@njit(cache=True, nogil=True)
def projectron(
    used, code, parameters, slots, e, margin, wrong, size, row, diagonal, label, rival, weight
):
    """Projectron and, on margin errors too, Projectron++; as `learn_example`.

    Orabona, Keshet, Caputo (2009), algorithms 2 and 3: with P the projection of k(x, .) on the
    span and delta sqrt(k(x, x)) its distance to it, a mistake adds y k(x, .), projected where
    delta <= threshold or no slot is free. A margin error of loss l adds tau y P, where
    l > delta / threshold, with tau = min(1, l / |P|^2, 2 (l - delta / threshold) / |P|^2).
    """
    if used is None:
        return -1, 0.0
    threshold = parameters[1]
    mistake = errs(code, parameters, margin, wrong)
    loss = 1.0 - margin
    margin_error = code == PROJECTRON_PLUS and loss > ZERO * (1.0 + size)
    if diagonal <= SMALLEST_DIAGONAL or not (mistake or margin_error):
        return -1, 0.0
    filled, budget = slots.filled[e], slots.alpha.shape[2]
    factor, order = slots.factor[e], slots.order[e]
    reduced, shares = np.empty(filled), np.empty(filled)
    inside = reduce(factor, order, filled, row, reduced)
    square = diagonal - inside
    step = weight
    if mistake:
        far = square > max(threshold * threshold, SMALLEST_PIVOT) * diagonal
        if far and filled < budget:
            append(factor, order, filled, filled, reduced, square)
            return filled, step
    else:
        room = threshold * loss - math.sqrt(max(square, 0.0) / diagonal)
        if room <= 0.0 or inside <= 0.0:
            return -1, 0.0
        inside *= copies(slots.alpha.shape[1])
        step = min(weight, min(loss, 2.0 * room / threshold) / inside)
    project(factor, order, filled, reduced, shares)
    change = np.zeros(slots.alpha.shape[1])
    add_step(change, label, rival, step)
    for c in range(len(change)):
        alpha = slots.alpha[e, c]
        for s in range(filled):
            old, new = alpha[s], change[c] * shares[s]
            rounding = abs(change[c]) * math.sqrt(diagonal / slots.diagonal[e, s])
            alpha[s] = zero_or(old + new, abs(old) + rounding)
    return -1, 0.0


@njit(cache=True, nogil=True)
def ahpatron(used, parameters, slots, e, ahead, later, diagonal, label, rival, weight):
    """A step of Ahpatron; as `learn_example`, with the slots' kernel values as `halve` takes them.

    Liao et al. (2024), algorithm 2: where y f(x) < margin, the step y k(x, .) is added, room made
    for it by halving, and f scaled back into the ball of the radius; memory[e, 0] = |f|^2.
    """
    if used is None:
        return -1, 0.0
    margin, step, radius, ridge = parameters
    if ahead >= margin or diagonal <= SMALLEST_DIAGONAL:
        return -1, 0.0
    change = np.zeros(slots.alpha.shape[1])
    new = weight * step
    add_step(change, label, rival, new)
    if slots.filled[e] == slots.alpha.shape[2]:
        halve(slots, e, ridge, later)
    square = slots.memory[e, 0] + copies(len(change)) * new * new * diagonal
    for c in range(len(change)):
        score = 0.0
        for s in range(slots.filled[e]):
            score += slots.alpha[e, c, s] * later[0, s]
        square += 2.0 * change[c] * score
    square = max(square, 0.0)
    if square > radius * radius:
        factor = radius / math.sqrt(square)
        scale(slots.alpha[e], slots.filled[e], factor)
        new *= factor
        square = radius * radius
    slots.memory[e, 0] = square
    return slots.filled[e], new


@njit(cache=True, nogil=True)
def halve(slots, e, ridge, later):
    """The slots of the greater |coefficient|, half of them, take on the rest; of equals the older.

    Their share of the rest is theta = (K + ridge diag K)^-1 K' a, K the Gram matrix of the half,
    K' that with the rest and a the coefficients of the rest; then f is scaled to its old norm.
    The paper's K + ridge I is the same where k(x, x) = 1.

    later : (n, B) the slots' kernel values with examples to come; moved with the slots
    """
    filled = slots.filled[e]
    alpha, gram = slots.alpha[e], slots.gram[e]
    squares = np.empty(filled)
    for s in range(filled):
        squares[s] = square_of(alpha, s)
    stays = np.empty(filled, dtype=np.bool_)
    for s in range(filled):
        before = 0
        for other in range(filled):
            larger = squares[other] > squares[s]
            before += larger or (other < s and squares[other] == squares[s])
        stays[s] = before < filled // 2
    kept = np.flatnonzero(stays)
    half = len(kept)
    factor, order = np.empty((half, half)), np.empty(half, dtype=np.int64)
    reduced, shares, rest = np.empty(half), np.zeros(filled), np.zeros(filled)
    n = 0
    for s in kept:
        square = (1.0 + ridge) * gram[s, s] - reduce(factor, order, n, gram[s], reduced)
        if square > SMALLEST_PIVOT * gram[s, s]:  # else it is in the others' span: no share for it
            append(factor, order, n, s, reduced, square)
            n += 1
    square = 0.0
    for c in range(alpha.shape[0]):
        for s in kept:
            rest[s] = 0.0
            for other in range(filled):
                if not stays[other]:
                    rest[s] += gram[s, other] * alpha[c, other]
        reduce(factor, order, n, rest, reduced)
        project(factor, order, n, reduced, shares)
        for s in kept:
            alpha[c, s] += shares[s]
        for s in kept:
            value = 0.0
            for other in kept:
                value += gram[s, other] * alpha[c, other]
            square += alpha[c, s] * value
    keep(slots, e, kept, later)
    if square > 0.0:
        scale(alpha, half, math.sqrt(slots.memory[e, 0] / square))
    else:
        slots.memory[e, 0] = 0.0
