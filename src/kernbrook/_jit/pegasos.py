"""The steps of multi-class Pegasos on a budget: Wang, Crammer, Vucetic (2010).

Coefficients are kept without the factor `slots.scale`, so that shrinking and the projection on the
ball cost nothing. Two classes share one score, half the margin between them.
memory[e] = (examples so far, squared length of w, rounds since it was last summed afresh).
"""

import math

import numpy as np

from kernbrook._jit.arithmetic import exp_negative, fma
from kernbrook._jit.compiling import njit
from kernbrook._jit.learning import SMALLEST_DIAGONAL
from kernbrook._jit.merging import choose_partner, lost, smallest
from kernbrook._jit.pairs import dense_inner, dense_squared
from kernbrook._jit.projection import SMALLEST_PIVOT, append, project, reduce, remove
from kernbrook._jit.upkeep import copy, random_slot, scale, square_of
from kernbrook._jit.zero import ZERO, zero_or

KEEP_ALL, REMOVE_RANDOM, REMOVE_SMALLEST, PROJECT, MERGE = -1.0, 0.0, 1.0, 2.0, 3.0

TINY = 2.0**-200  # a smaller scale is moved into the coefficients: by a power of two, exactly
AFRESH = 1024  # learned examples between two sums of |w|^2 from the Gram matrix


@njit(cache=True, nogil=True)
def pegasos(used, parameters, slots, e, margin, size, diagonal, weight):
    """Shrink; the step by which the example is added, in units of the scale, or 0.

    used : see `Uses`
    margin, size : between the two classes, before the shrinking, and what is behind it
    """
    if used is None:
        return 0.0
    regularization, ball = parameters[0], parameters[2] != 0.0
    memory = slots.memory[e]
    memory[0] += 1.0
    t = memory[0]
    shrink = 1.0 - 1.0 / t
    if slots.filled[e] > 0 and shrink > 0.0:
        slots.scale[e] *= shrink
        if slots.scale[e] < TINY:
            slots.scale[e] /= TINY
            scale(slots.alpha[e], slots.filled[e], TINY)
    memory[1] *= shrink * shrink
    if 1.0 - margin <= ZERO * (1.0 + size) or diagonal <= SMALLEST_DIAGONAL:
        return 0.0
    step = weight / (regularization * t)
    if ball:
        memory[1] += 2.0 * step * (shrink * margin + step * diagonal)
    return step / slots.scale[e]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def dot(alpha, row, n):
    """The sum of alpha[s] * row[s] over s < n, in an order fixed by n."""
    total = 0.0
    for s in range(n):
        total += alpha[s] * row[s]
    return total


@njit(cache=True, nogil=True)
def product(slots, e, p, row):
    """<a_p k(z, .), w> over the scale squared, for coefficients of slot p and z's kernel row."""
    alpha, n, total = slots.alpha[e], slots.filled[e], 0.0
    for c in range(alpha.shape[0]):
        total += alpha[c, p] * dot(alpha[c], row, n)
    return total


@njit(cache=True, nogil=True)
def squared_length(slots, e, classes):
    """|w|^2 from the Gram matrix."""
    total = 0.0
    for s in range(slots.filled[e]):
        total += product(slots, e, s, slots.gram[e, s])
    return max(total, 0.0) * slots.scale[e] * slots.scale[e] * classes


@njit(cache=True, nogil=True)
def drop(slots, e, p, later):
    """Slot p is free: the last one moves there, with its kernel values of later examples."""
    last = slots.filled[e] - 1
    slots.filled[e] = last
    if p == last:
        return
    copy(slots.alpha[e, :, last], slots.alpha[e, :, p])
    slots.diagonal[e, p] = slots.diagonal[e, last]
    slots.born[e, p] = slots.born[e, last]
    if slots.points.shape[1] > 0:
        copy(slots.points[e, last], slots.points[e, p])
        slots.norms[e, p] = slots.norms[e, last]
    else:
        slots.place[e, p] = slots.place[e, last]
    gram = slots.gram[e]
    for s in range(last):
        gram[p, s] = gram[last, s]
        gram[s, p] = gram[s, last]
    gram[p, p] = slots.diagonal[e, p]
    for i in range(slots.order.shape[1]):
        if slots.order[e, i] == last:
            slots.order[e, i] = p
    for j in range(later.shape[0]):
        later[j, p] = later[j, last]


@njit(cache=True, nogil=True)
def pegasos_upkeep(used, uses, parameters, slots, e, gamma, block, t, later, counters):
    """After an example has joined as the last slot: room within the budget, and the ball.

    used : see `Uses`
    gamma : of the Gaussian kernel, where points are merged
    block, t : features of the examples, as `learn_alone` has them, and the example's row
    later : (n, B) kernel values of the examples to come with the slots
    """
    if used is None:
        return
    regularization, upkeep, ball = parameters[0], parameters[1], parameters[2] != 0.0
    memory, gram = slots.memory[e], slots.gram[e]
    classes = 2.0 if slots.alpha.shape[1] == 1 else 1.0  # one score stands for two classes
    square = classes * slots.scale[e] * slots.scale[e]
    n = slots.filled[e]
    if slots.points.shape[1] > 0:
        copy(block[0][t], slots.points[e, n - 1])
        slots.norms[e, n - 1] = block[1][t]
        slots.place[e, n - 1] = e * slots.place.shape[1] + n - 1
    over = upkeep != KEEP_ALL and n == slots.alpha.shape[2]
    if upkeep == PROJECT:
        memory[1] -= square * project_out(uses.project, slots, e, over, later)
    elif over and upkeep == MERGE:
        gained = merge(uses.merge, parameters, slots, e, gamma, block, t + 1, later)
        memory[1] -= square * gained
    elif over:
        if upkeep == REMOVE_RANDOM:
            gone = random_slot(n, e, counters)
        else:
            gone = smallest(squares_of(slots, e), slots.diagonal[e], slots.born[e], n)
        lost = square_of(slots.alpha[e], gone) * slots.diagonal[e, gone]
        memory[1] -= square * (2.0 * product(slots, e, gone, gram[gone]) - lost)
        drop(slots, e, gone, later)
    if not ball:
        return
    memory[2] += 1.0
    if memory[2] >= AFRESH and upkeep != KEEP_ALL:
        memory[1] = squared_length(slots, e, classes)
        memory[2] = 0.0
    memory[1] = max(memory[1], 0.0)
    if regularization * memory[1] > 1.0:
        slots.scale[e] /= math.sqrt(regularization * memory[1])
        memory[1] = 1.0 / regularization


@njit(cache=True, nogil=True)
def squares_of(slots, e):
    """(n,) squared lengths of the coefficients of the slots in use."""
    alpha = slots.alpha[e]
    squares = np.zeros(slots.filled[e])
    for c in range(alpha.shape[0]):
        for s in range(len(squares)):
            squares[s] = fma(alpha[c, s], alpha[c, s], squares[s])
    return squares


@njit(cache=True, nogil=True)
def project_out(used, slots, e, over, later):
    """The smallest slot gives way to its projection on the others, if the budget demands it.

    So does the newest, in any case, where it lies in the span of the others. Returns what |w|^2
    loses, over the scale squared.
    """
    if used is None:
        return 0.0
    n = slots.filled[e]
    factor, order, gram, alpha = slots.factor[e], slots.order[e], slots.gram[e], slots.alpha[e]
    newest = n - 1
    reduced, shares = np.empty(n), np.zeros(n)
    inside = reduce(factor, order, newest, gram[newest], reduced)
    far = slots.diagonal[e, newest] - inside
    gone = newest
    if far > SMALLEST_PIVOT * slots.diagonal[e, newest]:
        append(factor, order, newest, newest, reduced, far)
        if not over:
            return 0.0
        gone = smallest(squares_of(slots, e), slots.diagonal[e], slots.born[e], n)
        remove(factor, order, n, gone)
        far = slots.diagonal[e, gone] - reduce(factor, order, newest, gram[gone], reduced)
    project(factor, order, newest, reduced, shares)
    lost = square_of(alpha, gone) * max(far, 0.0)
    for c in range(alpha.shape[0]):
        weight = alpha[c, gone]
        for s in range(n):
            if s != gone:
                alpha[c, s] = fma(weight, shares[s], alpha[c, s])
    drop(slots, e, gone, later)
    return lost


@njit(cache=True, nogil=True)
def merge(used, parameters, slots, e, gamma, block, start, later):
    """The smallest slot and its best partner become one; what |w|^2 loses, over the scale squared.

    z = h x_m + (1 - h) x_n, alpha_z = u alpha_m + v alpha_n, u = kappa^((1-h)^2), v = kappa^(h^2).
    """
    if used is None:
        return 0.0
    n = slots.filled[e]
    alpha, gram, points = slots.alpha[e], slots.gram[e], slots.points[e]
    squares, printed = squares_of(slots, e), parameters[3] != 0.0
    m = smallest(squares, slots.diagonal[e], slots.born[e], n)
    partner, h = choose_partner(alpha, n, m, squares, gram[m], slots.born[e], printed)
    kappa = gram[m, partner]
    u, v = kappa ** ((1.0 - h) ** 2), kappa ** (h * h)
    before = product(slots, e, m, gram[m]) + product(slots, e, partner, gram[partner])
    g = 0.0
    for c in range(alpha.shape[0]):
        g += alpha[c, m] * alpha[c, partner]
    gone = lost(squares[m], squares[partner], g, kappa, h)
    d = points.shape[1]
    norm = 0.0
    for k in range(d):
        points[partner, k] = h * points[m, k] + (1.0 - h) * points[partner, k]
        norm = fma(points[partner, k], points[partner, k], norm)
    slots.norms[e, partner] = norm
    row = np.empty(n)
    for s in range(n):
        row[s] = math.exp(-gamma * squared_distance(points[partner], points[s]))
    # <w, z k(z, .)> with w as it was: its own points m and n among the rest.
    row[m], row[partner] = u, v
    after = 0.0
    for c in range(alpha.shape[0]):
        after += (u * alpha[c, m] + v * alpha[c, partner]) * dot(alpha[c], row, n)
    for c in range(alpha.shape[0]):
        first, second = u * alpha[c, m], v * alpha[c, partner]
        alpha[c, partner] = zero_or(first + second, abs(first) + abs(second))
    slots.born[e, partner] = min(slots.born[e, m], slots.born[e, partner])
    for s in range(n):
        gram[partner, s] = row[s]
        gram[s, partner] = row[s]
    gram[partner, partner] = 1.0
    features, norms, columns, reach = block
    if later.shape[0] > 0:
        inner = np.empty((1, columns.shape[1]))
        square = np.empty((1, columns.shape[1]))
        point = points[partner : partner + 1]
        dense_inner(point, columns, inner)
        dense_squared(
            point, slots.norms[e, partner : partner + 1], features, norms, inner, reach, square
        )
        for j in range(later.shape[0]):
            later[j, partner] = exp_negative(-gamma * square[0, start + j])
    drop(slots, e, m, later)
    return 2.0 * (before - after) - gone  # |w|^2 - |w - lost|^2


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def squared_distance(x, z):
    """||x - z||^2, from the differences."""
    total = 0.0
    for k in range(x.shape[0]):
        difference = x[k] - z[k]
        total += difference * difference
    return total
