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
from kernbrook._jit.draws import DRAW_REMOVAL, PURPOSE, uniform
from kernbrook._jit.learning import BOGD, FORGETRON, RBP, SMALLEST_DIAGONAL, errs
from kernbrook._jit.plan import CAUCHY, EXPONENTIAL, GIVEN, POLYNOMIAL, TANH
from kernbrook._jit.rounds import count_loss, finish_round, select, vote
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
    memory : (e, 2) what else a learner keeps
    """

    alpha: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    born: NDArray[np.int64]
    place: NDArray[np.int64]
    filled: NDArray[np.int64]
    gram: NDArray[np.float64]
    memory: NDArray[np.float64]


@njit(cache=True, nogil=True)
def kernel_row(parts, e, pairs, point, lo, hi, out, row):
    """out[row, lo:hi] = expert e's kernel of a point and the examples lo..hi-1."""
    for j in range(lo, hi):
        out[row, j] = 0.0
    for part in range(parts.first[e], parts.first[e + 1]):
        code = parts.code[part]
        channel = np.uintp(parts.channel[part])
        parameter, factor = parts.parameter[part], parts.factor[part]
        if code == EXPONENTIAL:
            for j in range(lo, hi):
                value = exp_negative(-parameter * pairs[channel, point, j])
                out[row, j] = fma(factor, value, out[row, j])
        elif code == POLYNOMIAL:
            for j in range(lo, hi):
                base = pairs[channel, point, j] + parameter
                value = base
                for _ in range(parts.power[part] - 1):
                    value *= base
                out[row, j] = fma(factor, value, out[row, j])
        elif code == CAUCHY:
            for j in range(lo, hi):
                value = 1.0 / (1.0 + parameter * pairs[channel, point, j])
                out[row, j] = fma(factor, value, out[row, j])
        elif code == TANH:
            for j in range(lo, hi):
                value = math.tanh(fma(parameter, pairs[channel, point, j], parts.offset[part]))
                out[row, j] = fma(factor, value, out[row, j])
        elif code == GIVEN:
            for j in range(lo, hi):
                out[row, j] = fma(factor, pairs[channel, point, j], out[row, j])


@njit(cache=True, nogil=True)
def slot_values(parts, slots, pairs, values):
    """values[e, j, s] = expert e's kernel of its slot s and example j, (e, b, B) out.

    pairs : (channels, points, b) pair values of the stored points and the examples
    """
    n_experts, b, budget = values.shape
    lo, hi = np.uintp(0), np.uintp(b)
    rows = np.empty((budget, b))
    for e in range(n_experts):
        filled = slots.filled[e]
        for s in range(filled):
            point = np.uintp(slots.place[e, s])
            kernel_row(parts, e, pairs, point, lo, hi, rows, np.uintp(s))
        for start in range(0, b, 8):  # eight examples at a time: whole cache lines are read
            for s in range(filled):
                for j in range(start, min(start + 8, b)):
                    values[e, j, s] = rows[s, j]


@njit(cache=True, nogil=True)
def score_of(alpha, filled, row):
    """(sum, size) of alpha[s] * row[s] over the slots in use, in four interleaved sums."""
    a = b = c = d = 0.0
    u = v = w = x = 0.0
    whole = filled - filled % 4
    for s in range(0, whole, 4):
        p, q = alpha[s] * row[s], alpha[s + 1] * row[s + 1]
        r, t = alpha[s + 2] * row[s + 2], alpha[s + 3] * row[s + 3]
        a, b, c, d = a + p, b + q, c + r, d + t
        u, v, w, x = u + abs(p), v + abs(q), w + abs(r), x + abs(t)
    for s in range(whole, filled):
        p = alpha[s] * row[s]
        a += p
        u += abs(p)
    return (a + b) + (c + d), (u + v) + (w + x)


@njit(cache=True, nogil=True)
def oldest(slots, e):
    """Expert e's slot that came first."""
    found = 0
    for s in range(1, slots.filled[e]):
        if slots.born[e, s] < slots.born[e, found]:
            found = s
    return found


@njit(cache=True, nogil=True)
def scale(slots, e, factor):
    """Shrink: every coefficient of expert e times a factor."""
    for s in range(slots.filled[e]):
        slots.alpha[e, s] *= factor


@njit(cache=True, nogil=True)
def random_slot(slots, e, counters):
    """A slot of expert e, uniformly."""
    u = uniform(counters[0], counters[1], DRAW_REMOVAL * PURPOSE + e)
    return min(int(u * slots.filled[e]), slots.filled[e] - 1)


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


@njit(cache=True, nogil=True)
def bpas_slot(slots, e, row, diagonal):
    """The slot whose removal costs least: the least alpha_r^2 (k_rr - k_rt^2 / k_tt).

    Wang and Vucetic (2010), simple variant; the rest of its objective is the same for every r.
    Equal costs: the oldest, or narrow kernels would replace one slot for ever.
    """
    best, cost = 0, np.inf
    for s in range(slots.filled[e]):
        alpha = slots.alpha[e, s]
        value = alpha * alpha * (slots.diagonal[e, s] - row[s] / diagonal * row[s])
        if value < cost or (value == cost and slots.born[e, s] < slots.born[e, best]):
            best, cost = s, value
    return best


@njit(cache=True, nogil=True)
def learn_example(machine, slots, e, score, size, row, diagonal, label, weight, counters):
    """One expert's step: (slot, coefficient) for the example, slot -1 where it is not added.

    size : of the terms behind the score; a loss within its rounding is none
    row : (B,) kernel values of the example with the expert's slots; diagonal : k(x, x)
    weight : importance of the example, a factor of the step
    """
    code, parameters = machine.learner[e], machine.learner_parameters[e]
    budget = slots.alpha.shape[1]
    full = slots.filled[e] == budget
    free = slots.filled[e]
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
def budget_rounds(
    machine, progress, parts, slots, stored, pairs, values, labels, importance, decisions
):
    """One block of rounds of experts under a budget.

    Parameters
    ----------
    machine, progress : as for `expert_rounds`
    parts : the experts' kernels
    slots : what the experts hold
    stored : number of stored points; block rows are numbered from there
    pairs : (channels, b, b) pair values of the block with itself
    values : (e, b, B) as `slot_values` gives it; brought up to date where a slot changes
    labels, importance, decisions : (b,) as for `expert_rounds`
    """
    n_experts, b, _ = values.shape
    votes_of = np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    counted = np.ones(n_experts, dtype=np.bool_)
    current = np.empty(n_experts)
    sizes = np.empty(n_experts)
    losses = np.empty(n_experts)
    column = np.empty((1, b))
    zero = np.uintp(0)
    for t in range(b):
        select(machine, progress, votes_of, updates)
        for e in range(n_experts):
            score, sizes[e] = score_of(slots.alpha[e], slots.filled[e], values[e, t])
            current[e] = zero_or(score, sizes[e])
        decisions[t] = vote(machine, progress, votes_of, current, sizes)

        label = labels[t]
        for e in range(n_experts):
            count_loss(
                machine, progress, e, current[e], label, importance[t], updates[e], losses, counted
            )
            if not updates[e] or importance[t] <= 0.0:
                continue
            kernel_row(parts, e, pairs, np.uintp(t), np.uintp(t), np.uintp(t + 1), column, zero)
            diagonal = column[0, t]
            s, alpha = learn_example(
                machine, slots, e, current[e], sizes[e], values[e, t], diagonal, label,
                importance[t], progress.counters,
            )  # fmt: skip
            if s >= 0:
                row = values[e, t]
                put(slots, e, s, alpha, diagonal, stored + t, row, progress.counters[1])
                lo, hi = np.uintp(t + 1), np.uintp(b)
                kernel_row(parts, e, pairs, np.uintp(t), lo, hi, column, zero)
                for j in range(t + 1, b):
                    values[e, j, s] = column[0, j]
        update_weights(
            machine.combiner, machine.combiner_parameters, progress.log_weights, losses, counted,
            progress.state,
        )  # fmt: skip
        finish_round(machine, progress)
