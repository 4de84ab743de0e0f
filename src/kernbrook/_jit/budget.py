"""The sequential pass of experts that hold a fixed number of support vectors each.

Each expert has `budget` slots. The kernel values of every slot with the examples of the block are
kept, so that a score is one sum over an expert's own slots, in their order, at the moment it is
needed: nothing is ever subtracted from a running sum, and the result does not depend on the block.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.asking import ALL
from kernbrook._jit.borrowing import borrowed
from kernbrook._jit.classes import add_step, copies, margin_of
from kernbrook._jit.combining import update_weights
from kernbrook._jit.compiling import njit
from kernbrook._jit.learning import (
    AHPATRON,
    BOGD,
    BPAS,
    FORGETRON,
    PEGASOS,
    PROJECTRON,
    PROJECTRON_PLUS,
    RBP,
    SMALLEST_DIAGONAL,
    errs,
    step_size,
)
from kernbrook._jit.pegasos import MERGE, PROJECT, pegasos, pegasos_upkeep
from kernbrook._jit.projecting import ahpatron, projectron
from kernbrook._jit.rounds import Machine, asks, count_losses, finish_round, select, vote
from kernbrook._jit.upkeep import least, oldest, random_slot, scale, square_of
from kernbrook._jit.values import kernel_rows
from kernbrook._jit.zero import ZERO, zero_or


class Slots(NamedTuple):
    """What the experts hold; changed in place. B is the number of slots.

    alpha : (e, c, B) coefficients for c scores, see `classes`; scale : (e,) their common factor
    diagonal : (e, B) k(x, x); born : (e, B) round of arrival
    place : (e, B) number of the point, block rows counted after the stored points
    filled : (e,) slots in use; gram : (e, B, B) kernel values of slots, or (e, 0, 0)
    factor, order : (e, B, B) and (e, B) as in `projection`, or (e, 0, 0) and (e, 0)
    points, norms : (e, B, d) and (e, B) the points themselves and their squared norms, where
        points are merged, or (e, 0, 0) and (e, 0)
    memory : (e, 3) what else a learner keeps
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
    scale: NDArray[np.float64]
    points: NDArray[np.float64]
    norms: NDArray[np.float64]


class Uses(NamedTuple):
    """The learners of a run whose code is long: True, or None for those it does not have.

    Their functions take it first. Where it is None numba compiles nothing else of them: a type
    decides that, as no value can. RBP, Forgetron, BOGD, BPAS and SPARSE_PA are always there.

    projectron : PROJECTRON, PROJECTRON_PLUS; ahpatron : AHPATRON; pegasos : PEGASOS
    project, merge : upkeep of PEGASOS
    """

    projectron: bool | None
    ahpatron: bool | None
    pegasos: bool | None
    project: bool | None
    merge: bool | None


def uses(machine: Machine) -> Uses:
    """What the experts of a machine need."""
    learners = set(machine.learner.tolist())
    upkeep = set(machine.learner_parameters[machine.learner == PEGASOS, 1].tolist())
    return Uses(
        projectron=True if learners & {PROJECTRON, PROJECTRON_PLUS} else None,
        ahpatron=True if AHPATRON in learners else None,
        pegasos=True if PEGASOS in learners else None,
        project=True if PROJECT in upkeep else None,
        merge=True if MERGE in upkeep else None,
    )


@njit(cache=True, nogil=True)
def slot_values(parts, slots, pairs, start, values):
    """values[e, start + j, s] = expert e's kernel of its slot s and the j-th of some examples.

    pairs : (channels, points, n) pair values of the stored points and these n examples
    values : (e, b, B) out
    """
    none, n = np.int64(0), pairs.shape[2]  # numba compiles anew for a literal 0
    rows = np.empty((values.shape[2], n))
    for e in range(values.shape[0]):
        filled = slots.filled[e]
        kernel_rows(parts, e, pairs, slots.place[e, :filled], none, n, rows)
        out = values[e, start : start + n]
        for first in range(0, n, 8):  # eight examples at a time: whole cache lines are read
            for s in range(filled):
                for j in range(first, min(first + 8, n)):
                    out[j, s] = rows[s, j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def dot(alpha, filled, row):
    """(sum, size) of alpha[s] * row[s] over the slots in use, in an order fixed by their number."""
    total, size = 0.0, 0.0
    for s in range(filled):
        term = alpha[s] * row[s]
        total += term
        size += abs(term)
    return total, size


@njit(inline="always")
def scores_of(alpha, scale, filled, row, scores, sizes):
    """The c scores of one expert for one example; alpha : (c, B), row : (B,), others (c,) out."""
    for c in range(alpha.shape[0]):
        score, size = dot(alpha[c], filled, row)
        scores[c], sizes[c] = scale * zero_or(score, size), scale * size


@njit(cache=True, nogil=True)
def forgetron_scale(slots, e, old, label, rival, new, row):
    """The self-tuned shrinking of the Forgetron; learns Q.

    Dekel, Shalev-Shwartz, Singer (2008), section 6: the largest phi in (0, 1] with
    Q + Psi <= (15/32) M, Psi = (s phi)^2 + 2 s phi (1 - phi mu), s = |coefficient| of the
    oldest and mu its margin after the update. `new` is the step by which the example, with
    kernel values `row`, was added; memory[e] = (Q, M). With more than two classes s is the length
    of the coefficients, mu the score along them, in units of the length of an update by 1.
    """
    alpha, filled = slots.alpha[e], slots.filled[e]
    unit = copies(alpha.shape[0])
    s = math.sqrt(square_of(alpha, old) / unit)
    change = np.zeros(alpha.shape[0])
    add_step(change, label, rival, new)
    total = 0.0
    for c in range(alpha.shape[0]):
        score = change[c] * row[old]
        for other in range(filled):
            score += alpha[c, other] * slots.gram[e, old, other]
        total += alpha[c, old] * score
    mu = total / (s * unit) if s > 0.0 else 0.0
    # At least 15/32 but for the rounding of Q, whose terms are huge on unbounded kernels.
    room = max(15.0 / 32.0 * slots.memory[e, 1] - slots.memory[e, 0], 15.0 / 32.0)
    a = s * s - 2.0 * s * mu
    phi = 1.0
    if a + 2.0 * s > room:  # the root of a phi^2 + 2 s phi = room, in the form that cannot cancel
        phi = min(room / (s + math.sqrt(max(s * s + a * room, 0.0))), 1.0)
    slots.memory[e, 0] += phi * phi * a + 2.0 * s * phi
    return phi


@njit(cache=True, nogil=True)
def bpas_slot(alpha, own, born, filled, row, diagonal):
    """The slot whose removal costs least: the least |alpha_r|^2 (k_rr - k_rt^2 / k_tt).

    Wang and Vucetic (2010), simple variant; the rest of its objective is the same for every r.
    Equal costs: the oldest, or narrow kernels would replace one slot for ever.

    own : (B,) k_rr
    """
    costs = np.zeros(filled)
    for c in range(alpha.shape[0]):
        for s in range(filled):
            costs[s] += alpha[c, s] * alpha[c, s]
    for s in range(filled):
        costs[s] *= own[s] - row[s] / diagonal * row[s]
    cost = least(costs)
    best = -1
    for s in range(filled):
        if costs[s] == cost and (best < 0 or born[s] < born[best]):
            best = s
    return max(best, 0)


@njit(inline="always")
def learn_example(
    uses, code, parameters, slots, e, alpha, free, scores, sizes, rows, t, diagonal, label, weight,
    counters,
):  # fmt: skip
    """One expert's step: (slot, kept, step, rival) for the example, slot -1 where it is not added.

    Its coefficients are `kept` times those that the slot had, and an update by `step`.

    code, parameters : the learner and its row
    alpha, free : (c, B) coefficients of the expert, and the number of its slots in use
    scores, sizes : (c,) of the expert, and of the terms behind them
    rows, t : (b, B) kernel values of the block with the expert's slots, and the example's row
    diagonal : k(x, x)
    weight : importance of the example, a factor of the step
    """
    budget = alpha.shape[1]
    full = free == budget
    margin, size, rival, wrong = margin_of(scores, sizes, label)
    if code == PEGASOS:
        if alpha.shape[0] == 1:
            margin, size = 2.0 * margin, 2.0 * size
        step = pegasos(uses.pegasos, parameters, slots, e, margin, size, diagonal, weight)
        return (free if step > 0.0 else -1), 0.0, step, rival
    if code in (PROJECTRON, PROJECTRON_PLUS):
        s, step = projectron(
            uses.projectron, code, parameters, slots, e, margin, wrong, size, rows[t], diagonal,
            label, rival, weight,
        )  # fmt: skip
        return s, 0.0, step, rival
    if code == AHPATRON:
        s, step = ahpatron(
            uses.ahpatron, parameters, slots, e, margin, rows[t:], diagonal, label, rival, weight
        )
        return s, 0.0, step, rival
    if code in (RBP, FORGETRON):
        if not errs(code, parameters, margin, wrong):
            return -1, 0.0, 0.0, rival
        if code == RBP:  # Cavallanti, Cesa-Bianchi, Gentile (2007)
            return (random_slot(free, e, counters) if full else free), 0.0, weight, rival
        slots.memory[e, 1] += 1.0
        if not full:
            return free, 0.0, weight, rival
        old = oldest(slots.born[e], free)
        phi = forgetron_scale(slots, e, old, label, rival, weight, rows[t])
        scale(alpha, free, phi)
        return old, 0.0, phi * weight, rival
    loss = max(0.0, 1.0 - margin)
    if loss <= ZERO * (1.0 + size):
        return -1, 0.0, 0.0, rival
    if code == BOGD:  # Zhao, Wang, Wu, Jin, Hoi (2012), uniform removal
        step, regularization = parameters[0], parameters[1]
        scale(alpha, free, 1.0 - step * regularization)
        if not full:
            return free, 0.0, weight * step, rival
        gone = random_slot(free, e, counters)
        scale(alpha, free, budget / (budget - 1.0) if budget > 1 else 1.0)
        return gone, 0.0, weight * step, rival
    # BPAS, and SPARSE_PA with its upkeep
    if diagonal <= SMALLEST_DIAGONAL:
        return -1, 0.0, 0.0, rival
    each = copies(alpha.shape[0])
    if code == BPAS:
        step = min(weight * parameters[0], loss / (each * diagonal))
    else:
        seed, round_ = counters[0], counters[1]
        step = weight * step_size(
            code, parameters, margin, wrong, size, diagonal, each, seed, round_, e
        )
        if step == 0.0:
            return -1, 0.0, 0.0, rival
    if not full:
        return free, 0.0, step, rival
    gone = bpas_slot(alpha, slots.diagonal[e], slots.born[e], free, rows[t], diagonal)
    return gone, rows[t, gone] / diagonal, step, rival


@njit(cache=True, nogil=True)
def put(slots, e, s, kept, step, label, rival, diagonal, place, row, round_):
    """Expert e's slot s now holds the example, with the coefficients of `learn_example`."""
    coefficients = slots.alpha[e, :, s]
    for c in range(coefficients.shape[0]):
        coefficients[c] = kept * coefficients[c] if kept != 0.0 else 0.0
    add_step(coefficients, label, rival, step)
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
def holds(slots, e, keys, t):
    """Does expert e hold a row with the key of the t-th row of the block?

    keys : (n + b,) of the stored points and the block
    """
    found = False
    for s in range(slots.filled[e]):
        found |= keys[slots.place[e, s]] == keys[t]
    return found


@njit(cache=True, nogil=True)
def learn_alone(
    machine, uses, parts, slots, experts, rounds, keys, known, block, pairs, values, labels,
    importance, counters, scores, sizes,
):  # fmt: skip
    """Some experts learn from some examples of the block, whatever the others do.

    experts, rounds : (2,) each, the first and the one after the last
    counters : (seed, rounds before the block)
    scores, sizes : (e, b, c) out, before each label was seen
    others : as for `budget_rounds`
    """
    machine, parts, slots = borrowed(machine), borrowed(parts), borrowed(slots)
    pairs, values, scores, sizes = borrowed((pairs, values, scores, sizes))
    b = values.shape[1]
    stored = keys.shape[0] - b
    lo, hi = rounds
    column, diagonal = np.empty((1, b)), np.empty((1, b))
    own = np.empty((pairs.shape[0], 1, b))  # of every example with itself
    for t in range(lo, hi):
        for channel in range(pairs.shape[0]):
            own[channel, 0, t] = pairs[channel, t, t]
    here = np.zeros(1, dtype=np.int64)
    now = np.array([counters[0], counters[1]])
    filled, scales = slots.filled, slots.scale
    for e in range(experts[0], experts[1]):
        here[0] = 0
        kernel_rows(parts, e, own, here, lo, hi, diagonal)
        alpha, rows, own_scores, own_sizes = slots.alpha[e], values[e], scores[e], sizes[e]
        code, parameters = machine.learner[e], machine.learner_parameters[e]
        for t in range(lo, hi):
            now[1] = counters[1] + t
            scores_of(alpha, scales[e], filled[e], rows[t], own_scores[t], own_sizes[t])
            known[e, t] = known[e, t] and holds(slots, e, keys, stored + t)
            if importance[t] <= 0.0:
                continue
            s, kept, step, rival = learn_example(
                uses, code, parameters, slots, e, alpha, filled[e], own_scores[t], own_sizes[t],
                rows, t, diagonal[0, t], labels[t], importance[t], now,
            )  # fmt: skip
            if s >= 0:
                put(
                    slots, e, s, kept, step, labels[t], rival, diagonal[0, t], stored + t,
                    rows[t], now[1],
                )  # fmt: skip
                here[0] = t
                kernel_rows(parts, e, pairs, here, t + 1, b, column)
                for j in range(t + 1, b):
                    rows[j, s] = column[0, j]
                if code == PEGASOS:
                    gamma = parts.parameter[parts.first[e]]
                    pegasos_upkeep(
                        uses.pegasos, uses, parameters, slots, e, gamma, block, t,
                        rows[t + 1 :], now,
                    )  # fmt: skip


@njit(cache=True, nogil=True)
def budget_rounds(
    machine, progress, uses, parts, slots, keys, known, block, pairs, values, labels, importance,
    scores, sizes, decisions, asked,
):  # fmt: skip
    """One block of rounds of experts under a budget: vote, weigh, and learn where not done.

    Parameters
    ----------
    machine, progress : as for `expert_rounds`
    uses : the learners there are; None where `learn_alone` has done the learning
    parts : the experts' kernels
    slots : what the experts hold; None, too, where scores and sizes are filled in already
    keys : (n + b,) int of the n stored points and the block, equal for equal rows; block rows are
        numbered from n
    known : (e, b) bool, whether an expert holds a row that is equal to one of the block at its
        turn; on entry whether it may. The combiner does not learn from such a row
    block : (features (b, d), squared norms (b,), their transpose, reach of the kernels), with
        d = 0 where no points are merged
    pairs : (channels, b, b) pair values of the block with itself
    values : (e, b, B) as `slot_values` gives it; brought up to date where a slot changes
    labels, importance, decisions, asked : (b,) as for `expert_rounds`
    scores, sizes : (e, b, c)
    """
    machine, progress = borrowed(machine), borrowed(progress)
    held, values = borrowed(slots), borrowed(values)
    scores, sizes, decisions = borrowed((scores, sizes, decisions))
    n_experts, b, _ = values.shape
    votes_of = np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    counted = np.ones(n_experts, dtype=np.bool_)
    losses = np.empty(n_experts)
    # Of one round, in arrays of their own: for slices numba would compile the vote anew.
    current = np.empty((n_experts, scores.shape[2]))
    behind = np.empty_like(current)
    nothing = np.zeros(n_experts)
    counters = np.array([progress.counters[0], progress.counters[1]])
    for t in range(b):
        select(machine, progress, votes_of, updates)
        if slots is not None:
            for e in range(n_experts):
                scores_of(
                    held.alpha[e], held.scale[e], held.filled[e], values[e, t], scores[e, t],
                    sizes[e, t],
                )  # fmt: skip
        for e in range(n_experts):
            for c in range(current.shape[1]):
                current[e, c], behind[e, c] = scores[e, t, c], sizes[e, t, c]
        vote(machine, progress, votes_of, current, behind, decisions[t])
        asked[t] = labels[t] >= 0
        if machine.policy != ALL:
            asked[t] = asks(machine, progress, votes_of, current, behind, nothing, asked[t])
        if not asked[t]:
            finish_round(machine, progress, asked[t], decisions[t], labels[t])
            continue
        count_losses(
            machine, progress, current, behind, labels[t], importance[t], updates, losses, counted
        )
        if slots is not None:
            for e in range(n_experts):
                if updates[e]:
                    learn_alone(
                        machine, uses, parts, held, (e, e + 1), (t, t + 1), keys, known, block,
                        pairs, values, labels, importance, counters, scores, sizes,
                    )  # fmt: skip
                elif known[e, t]:
                    known[e, t] = holds(held, e, keys, keys.shape[0] - b + t)
        if not known[:, t].any():
            update_weights(
                machine.combiner, machine.combiner_parameters, progress.log_weights, losses,
                counted, progress.state,
            )  # fmt: skip
        finish_round(machine, progress, asked[t], decisions[t], labels[t])
