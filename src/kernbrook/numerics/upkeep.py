"""Slots: their scores, which one makes room, shrinking, keeping some. Shared by the learners."""

import numpy as np

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import njit
from kernbrook.numerics.draws import DRAW_REMOVAL, PURPOSE, uniform
from kernbrook.numerics.vectors import least
from kernbrook.numerics.zero import zero_or


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def dot(alpha, filled, row):
    """(sum, size) of alpha[s] * row[s] over the slots in use, in an order fixed by their number."""
    total, size = 0.0, 0.0
    for s in range(filled):
        term = alpha[s] * row[s]
        total += term
        size += abs(term)
    return total, size


@njit(cache=True, nogil=True, forceinline=True)
def score_slots(slots, row, scores, sizes):
    """Scores and the sizes of their terms, (c,) each out, of an expert on an example.

    row : (B,) kernel values of the slots with the example
    """
    scale, filled = slots.scale[0], slots.filled[0]
    for c in range(slots.alpha.shape[0]):
        total, size = dot(slots.alpha[c], filled, row)
        scores[c], sizes[c] = scale * zero_or(total, size), scale * size


@njit(cache=True, nogil=True)
def find_equal(values, wanted, filled):
    """(first, count) of the slots whose value is the one wanted; first = `filled` where none is."""
    first, count = np.int64(filled), np.int64(0)
    for s in range(np.int64(filled)):
        same = np.int64(values[s] == wanted)
        first = min(first, filled - same * (filled - s))
        count += same
    return first, count


@njit(cache=True, nogil=True)
def oldest(born, filled):
    """The slot that came first."""
    first = born[0]
    for s in range(filled):
        first = min(first, born[s])
    return find_equal(born, first, filled)[0]


@njit(cache=True, nogil=True)
def cheapest(costs, born):
    """The slot of the least cost; of equal ones the oldest."""
    costs, born = borrowed(costs), borrowed(born)
    n, cost = len(costs), least(costs)
    found, count = find_equal(costs, cost, n)
    if count > 1:
        for s in range(found + 1, n):
            if costs[s] == cost and born[s] < born[found]:
                found = s
    return found if count > 0 else 0  # none where they are not finite


@njit(cache=True, nogil=True)
def shrink_slots(alpha, filled, factor):
    """Shrink: every coefficient times a factor; alpha : (c, B)."""
    for c in range(alpha.shape[0]):
        for s in range(filled):
            alpha[c, s] *= factor


@njit(cache=True, nogil=True)
def random_slot(filled, expert, clock):
    """A slot of an expert, uniformly."""
    u = uniform(clock.seed, clock.round, DRAW_REMOVAL * PURPOSE + expert)
    return min(int(u * filled), filled - 1)


@njit(cache=True, nogil=True)
def keep_slots(slots, kept, later):
    """The expert holds the slots kept[0] < kept[1] < ... alone, moved to 0, 1, ...

    later : (n, B) the slots' kernel values with examples to come, moved with them
    """
    for i in range(len(kept)):
        s = kept[i]
        for c in range(slots.alpha.shape[0]):
            slots.alpha[c, i] = slots.alpha[c, s]
        slots.diagonal[i] = slots.diagonal[s]
        slots.born[i] = slots.born[s]
        slots.place[i] = slots.place[s]
        if slots.gram.shape[0] > 0:
            for j in range(len(kept)):
                slots.gram[i, j] = slots.gram[s, kept[j]]
    for t in range(later.shape[0]):
        for i in range(len(kept)):
            later[t, i] = later[t, kept[i]]
    slots.filled[0] = len(kept)


@njit(cache=True, nogil=True)
def square_of(alpha, s):
    """Squared length of slot s's coefficients; alpha : (c, B)."""
    total = 0.0
    for c in range(alpha.shape[0]):
        total += alpha[c, s] * alpha[c, s]
    return total
