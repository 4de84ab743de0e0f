"""The sequential pass of experts that hold a fixed number of support vectors each.

Each expert has `budget` slots. The kernel values of every slot with the examples of the block are
kept, so that a score is one sum over an expert's own slots, in their order, at the moment it is
needed: nothing is ever subtracted from a running sum, and the result does not depend on the block.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernbrook._jit.arithmetic import exp_negative, fma
from kernbrook._jit.combining import update_weights
from kernbrook._jit.learning import (
    AHPATRON,
    BOGD,
    FORGETRON,
    PROJECTRON,
    PROJECTRON_PLUS,
    RBP,
    SMALLEST_DIAGONAL,
    SPARSE_PA,
    coefficient,
    errs,
)
from kernbrook._jit.plan import CAUCHY, EXPONENTIAL, GIVEN, POLYNOMIAL, TANH
from kernbrook._jit.projecting import ahpatron, projectron
from kernbrook._jit.rounds import count_losses, finish_round, select, vote
from kernbrook._jit.upkeep import oldest, random_slot, scale
from kernbrook._jit.zero import ZERO, zero_or


class Parts(NamedTuple):
    """The experts' kernels one by one: parts first[e] .. first[e+1]-1 are expert e's.

    code, channel, power : (p,) int; parameter, offset, factor : (p,) float; first : (e+1,) int
    """

    code: NDArray[np.int64]
    channel: NDArray[np.int64]
    power: NDArray[np.int64]
    parameter: NDArray[np.float64]
    offset: NDArray[np.float64]
    factor: NDArray[np.float64]
    first: NDArray[np.int64]


class Slots(NamedTuple):
    """What the experts hold; changed in place. B is the budget.

    alpha : (e, B) coefficients; diagonal : (e, B) k(x, x); born : (e, B) round of arrival
    place : (e, B) number of the point, block rows counted after the stored points
    filled : (e,) slots in use; gram : (e, B, B) kernel values of slots, or (e, 0, 0)
    factor, order : (e, B, B) and (e, B) as in `projection`, or (e, 0, 0) and (e, 0)
    memory : (e, 2) what else a learner keeps
    """

    alpha: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    born: NDArray[np.int64]
    place: NDArray[np.int64]
    filled: NDArray[np.int64]
    gram: NDArray[np.float64]
    factor: NDArray[np.float64]
    order: NDArray[np.int64]
    memory: NDArray[np.float64]


@njit(cache=True, nogil=True)
def kernel_rows(parts, e, pairs, points, lo, hi, out):
    """out[s, lo:hi] = expert e's kernel of points[s] and the examples lo..hi-1."""
    n, lo, hi = np.uintp(points.shape[0]), np.uintp(lo), np.uintp(hi)
    for s in range(n):
        for j in range(lo, hi):
            out[s, j] = 0.0
    for part in range(parts.first[e], parts.first[e + 1]):
        code = parts.code[part]
        values = pairs[parts.channel[part]]
        parameter, factor = parts.parameter[part], parts.factor[part]
        for s in range(n):
            point = np.uintp(points[s])
            if code == EXPONENTIAL:
                for j in range(lo, hi):
                    value = exp_negative(-parameter * values[point, j])
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == POLYNOMIAL:
                for j in range(lo, hi):
                    base = values[point, j] + parameter
                    value = base
                    for _ in range(parts.power[part] - 1):
                        value *= base
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == CAUCHY:
                for j in range(lo, hi):
                    value = 1.0 / (1.0 + parameter * values[point, j])
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == TANH:
                for j in range(lo, hi):
                    value = math.tanh(fma(parameter, values[point, j], parts.offset[part]))
                    out[s, j] = fma(factor, value, out[s, j])
            elif code == GIVEN:
                for j in range(lo, hi):
                    out[s, j] = fma(factor, values[point, j], out[s, j])


@njit(cache=True, nogil=True)
def slot_values(parts, slots, pairs, start, values):
    """values[e, start + j, s] = expert e's kernel of its slot s and the j-th of some examples.

    pairs : (channels, points, n) pair values of the stored points and these n examples
    values : (e, b, B) out
    """
    n = pairs.shape[2]
    rows = np.empty((values.shape[2], n))
    for e in range(values.shape[0]):
        filled = slots.filled[e]
        kernel_rows(parts, e, pairs, slots.place[e, :filled], 0, n, rows)
        out = values[e, start : start + n]
        for first in range(0, n, 8):  # eight examples at a time: whole cache lines are read
            for s in range(filled):
                for j in range(first, min(first + 8, n)):
                    out[j, s] = rows[s, j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def score_of(alpha, filled, row):
    """(sum, size) of alpha[s] * row[s] over the slots in use, in an order fixed by their number."""
    total, size = 0.0, 0.0
    for s in range(filled):
        term = alpha[s] * row[s]
        total += term
        size += abs(term)
    return total, size


@njit(cache=True, nogil=True)
def forgetron_scale(slots, e, old, new, label, row, diagonal):
    """The self-tuned shrinking of the Forgetron; learns Q.

    Dekel, Shalev-Shwartz, Singer (2008), section 6: the largest phi in (0, 1] with
    Q + Psi <= (15/32) M, Psi = (s phi)^2 + 2 s phi (1 - phi mu), s = |coefficient| of the
    oldest and mu its margin after the update. `new` was the example's coefficient, with kernel
    values `row` and `diagonal`; memory[e] = (Q, M).
    """
    s = abs(slots.alpha[e, old])
    sign = 1.0 if slots.alpha[e, old] >= 0.0 else -1.0
    total = new * row[old]
    for other in range(slots.filled[e]):
        total += slots.alpha[e, other] * slots.gram[e, old, other]
    mu = sign * total
    # At least 15/32 but for the rounding of Q, whose terms are huge on unbounded kernels.
    room = max(15.0 / 32.0 * slots.memory[e, 1] - slots.memory[e, 0], 15.0 / 32.0)
    a = s * s - 2.0 * s * mu
    phi = 1.0
    if a + 2.0 * s > room:  # the root of a phi^2 + 2 s phi = room, in the form that cannot cancel
        phi = min(room / (s + math.sqrt(max(s * s + a * room, 0.0))), 1.0)
    slots.memory[e, 0] += phi * phi * a + 2.0 * s * phi
    return phi


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def least(values, n):
    """The least of the first n values; none is NaN."""
    found = np.inf
    for s in range(n):
        found = min(found, values[s])
    return found


@njit(cache=True, nogil=True)
def bpas_slot(slots, e, row, diagonal):
    """The slot whose removal costs least: the least alpha_r^2 (k_rr - k_rt^2 / k_tt).

    Wang and Vucetic (2010), simple variant; the rest of its objective is the same for every r.
    Equal costs: the oldest, or narrow kernels would replace one slot for ever.
    """
    filled, alpha, own, born = slots.filled[e], slots.alpha[e], slots.diagonal[e], slots.born[e]
    costs = np.empty(filled)
    for s in range(filled):
        costs[s] = alpha[s] * alpha[s] * (own[s] - row[s] / diagonal * row[s])
    cost = least(costs, filled)
    best = -1
    for s in range(filled):
        if costs[s] == cost and (best < 0 or born[s] < born[best]):
            best = s
    return max(best, 0)


@njit(inline="always")
def learn_example(machine, slots, e, score, size, later, diagonal, label, weight, counters):
    """One expert's step: (slot, coefficient) for the example, slot -1 where it is not added.

    size : of the terms behind the score; a loss within its rounding is none
    later : (n, B) kernel values of the example and those after it with the expert's slots
    diagonal : k(x, x)
    weight : importance of the example, a factor of the step
    """
    code, parameters = machine.learner[e], machine.learner_parameters[e]
    budget = slots.alpha.shape[1]
    full = slots.filled[e] == budget
    free = slots.filled[e]
    row = later[0]
    if code in (PROJECTRON, PROJECTRON_PLUS):
        return projectron(code, parameters, slots, e, score, size, row, diagonal, label, weight)
    if code == AHPATRON:
        return ahpatron(parameters, slots, e, score, later, diagonal, label, weight)
    if code in (RBP, FORGETRON):
        if not errs(code, parameters, score, label):
            return -1, 0.0
        new = weight * label
        if code == RBP:  # Cavallanti, Cesa-Bianchi, Gentile (2007)
            return (random_slot(slots, e, counters) if full else free), new
        slots.memory[e, 1] += 1.0
        if not full:
            return free, new
        old = oldest(slots, e)
        phi = forgetron_scale(slots, e, old, new, label, row, diagonal)
        scale(slots, e, phi)
        return old, phi * new
    loss = max(0.0, 1.0 - label * score)
    if loss <= ZERO * (1.0 + size):
        return -1, 0.0
    if code == SPARSE_PA:
        if diagonal <= SMALLEST_DIAGONAL:
            return -1, 0.0
        seed, round_ = counters[0], counters[1]
        step = coefficient(code, parameters, score, size, diagonal, label, seed, round_, e)
        if step == 0.0:
            return -1, 0.0
        if not full:
            return free, weight * step
        gone = bpas_slot(slots, e, row, diagonal)
        return gone, slots.alpha[e, gone] * (row[gone] / diagonal) + weight * step
    if code == BOGD:  # Zhao, Wang, Wu, Jin, Hoi (2012), uniform removal
        step, regularization = parameters[0], parameters[1]
        scale(slots, e, 1.0 - step * regularization)
        if not full:
            return free, weight * step * label
        gone = random_slot(slots, e, counters)
        scale(slots, e, budget / (budget - 1.0) if budget > 1 else 1.0)
        return gone, weight * step * label
    # BPAS
    if diagonal <= SMALLEST_DIAGONAL:
        return -1, 0.0
    step = label * min(weight * parameters[0], loss / diagonal)
    if not full:
        return free, step
    gone = bpas_slot(slots, e, row, diagonal)
    return gone, slots.alpha[e, gone] * (row[gone] / diagonal) + step


@njit(cache=True, nogil=True)
def put(slots, e, s, alpha, diagonal, place, row, round_):
    """Expert e's slot s now holds the example with coefficient alpha."""
    slots.alpha[e, s] = alpha
    slots.diagonal[e, s] = diagonal
    slots.place[e, s] = place
    slots.born[e, s] = round_
    if s == slots.filled[e]:
        slots.filled[e] += 1
    if slots.gram.shape[1] > 0:
        for other in range(slots.filled[e]):
            slots.gram[e, s, other] = row[other]
            slots.gram[e, other, s] = row[other]
        slots.gram[e, s, s] = diagonal


@njit(cache=True, nogil=True)
def learn_alone(
    machine, parts, slots, experts, rounds, stored, pairs, values, labels, importance, counters,
    scores, sizes,
):  # fmt: skip
    """Some experts learn from some examples of the block, whatever the others do.

    experts, rounds : (2,) each, the first and the one after the last
    counters : (seed, rounds before the block)
    scores, sizes : (e, b) out, before each label was seen
    others : as for `budget_rounds`
    """
    b = values.shape[1]
    lo, hi = rounds
    column, diagonal = np.empty((1, b)), np.empty((1, b))
    own = np.empty((pairs.shape[0], 1, b))  # of every example with itself
    for t in range(lo, hi):
        own[:, 0, t] = pairs[:, t, t]
    here = np.zeros(1, dtype=np.int64)
    now = np.array([counters[0], counters[1]])
    filled = slots.filled
    for e in range(experts[0], experts[1]):
        here[0] = 0
        kernel_rows(parts, e, own, here, lo, hi, diagonal)
        coefficients, rows = slots.alpha[e], values[e]
        for t in range(lo, hi):
            now[1] = counters[1] + t
            row = rows[t]
            score, sizes[e, t] = score_of(coefficients, filled[e], row)
            scores[e, t] = zero_or(score, sizes[e, t])
            if importance[t] <= 0.0:
                continue
            s, alpha = learn_example(
                machine, slots, e, scores[e, t], sizes[e, t], rows[t:], diagonal[0, t], labels[t],
                importance[t], now,
            )  # fmt: skip
            if s >= 0:
                put(slots, e, s, alpha, diagonal[0, t], stored + t, row, now[1])
                here[0] = t
                kernel_rows(parts, e, pairs, here, t + 1, b, column)
                for j in range(t + 1, b):
                    rows[j, s] = column[0, j]


@njit(cache=True, nogil=True)
def budget_rounds(
    machine, progress, parts, slots, stored, pairs, values, labels, importance, alone, scores,
    sizes, decisions,
):  # fmt: skip
    """One block of rounds of experts under a budget: vote, weigh, and learn where not done.

    Parameters
    ----------
    machine, progress : as for `expert_rounds`
    parts : the experts' kernels
    slots : what the experts hold
    stored : number of stored points; block rows are numbered from there
    pairs : (channels, b, b) pair values of the block with itself
    values : (e, b, B) as `slot_values` gives it; brought up to date where a slot changes
    labels, importance, decisions : (b,) as for `expert_rounds`
    alone : whether `learn_alone` has done the learning, and filled in scores and sizes
    scores, sizes : (e, b)
    """
    n_experts, b, _ = values.shape
    votes_of = np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    counted = np.ones(n_experts, dtype=np.bool_)
    current = np.empty(n_experts)
    behind = np.empty(n_experts)
    losses = np.empty(n_experts)
    counters = np.array([progress.counters[0], progress.counters[1]])
    for t in range(b):
        select(machine, progress, votes_of, updates)
        for e in range(n_experts):
            if not alone:
                score, sizes[e, t] = score_of(slots.alpha[e], slots.filled[e], values[e, t])
                scores[e, t] = zero_or(score, sizes[e, t])
            current[e], behind[e] = scores[e, t], sizes[e, t]
        decisions[t] = vote(machine, progress, votes_of, current, behind)
        count_losses(machine, progress, current, labels[t], importance[t], updates, losses, counted)
        for e in range(n_experts):
            if not alone and updates[e]:
                learn_alone(
                    machine, parts, slots, (e, e + 1), (t, t + 1), stored, pairs, values, labels,
                    importance, counters, scores, sizes,
                )  # fmt: skip
        update_weights(
            machine.combiner, machine.combiner_parameters, progress.log_weights, losses, counted,
            progress.state,
        )  # fmt: skip
        finish_round(machine, progress)
