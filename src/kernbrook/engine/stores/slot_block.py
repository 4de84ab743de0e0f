"""A block of examples, as experts that hold a fixed number of support vectors meet it.

The kernel values of every slot with the examples of a window of the block are kept, so that a score
is one sum over an expert's own slots, in their order, at the moment it is needed: nothing is ever
subtracted from a running sum, and the result does not depend on the block.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import ask_for
from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import pin, through
from kernbrook.engine.store_verbs import arrive, learn, part, parts_of, score, sound, stretch
from kernbrook.engine.stores.base import see
from kernbrook.engine.stores.meetings import TILE, meet_points, meet_row, turn_to, window_columns
from kernbrook.engine.verbs import Points, Slots, fit_in, keep_within
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.numerics.lanes import lay_across
from kernbrook.numerics.plan import Parts
from kernbrook.numerics.scores_of_classes import add_step
from kernbrook.numerics.storage import aligned
from kernbrook.numerics.upkeep import score_slots
from kernbrook.numerics.values import kernel_rows
from kernbrook.numerics.zero import finite


class BlockRows(NamedTuple):
    """The block's own features, where points are merged; else of no rows.

    features, norms : (b, d) and (b,); columns : (b d,) as of a meeting; reach : as in `Points`
    """

    features: Floats
    norms: Floats
    columns: Floats
    reach: float


class Shelf(NamedTuple):
    """Scratch of g groups of experts, for windows of w examples.

    number, which : (g, places) int, the number of each point in use, -1 for others; these points
    pairs, values : (g, channels TILE w) and (g, TILE, w), of a tile of points
    steps : (g, 2, w) of the steps of a kernel
    later_pairs, made : (g, w, channels, 1, w), pair values of each example with later ones; (g, w)
        whether these are there
    first : (1,) int, 0
    """

    number: Ints
    which: Ints
    pairs: Floats
    values: Floats
    steps: Floats
    later_pairs: Floats
    made: NDArray[np.bool_]
    first: Ints


class SlotBlock(NamedTuple):
    """A block of b examples, as m experts meet it; the experts come in groups.

    experts : (m,) int, their numbers in the pool
    parts : their kernels
    slots : what they hold
    keys, known : (n + b,) int of the n stored points and the block, equal for equal rows; (b,)
        bool, whether an expert may hold a row that is equal to one of the block
    self_pairs : (channels, 1, b) pair values of each example with itself, or (channels, 1, 0)
        where none is learned from
    diagonal : (m, b) scratch for k(x, x)
    points : see `Points`, all windows' columns one after the other; (0, d) where none are merged
    gammas : (m,) of the experts, for `points`
    window : examples that meet the slots together; 0: somebody else has filled in `values`
    each : experts of a group
    meeting : link to how points and examples meet; see `meetings`
    values : (m, window, B) kernel values of the window with the slots
    shelf : scratch of the groups
    pins : (m, ROOM) scratch
    """

    experts: Ints
    parts: Parts
    slots: Slots
    keys: Ints
    known: NDArray[np.bool_]
    self_pairs: Floats
    diagonal: Floats
    points: BlockRows
    gammas: Floats
    window: int
    each: int
    meeting: Ints
    values: Floats
    shelf: Shelf
    pins: Ints


def shelf_of(groups: int, places: int, channels: int, window: int) -> Shelf:
    """Scratch of so many groups."""
    return Shelf(
        np.full((groups, places), -1), np.empty((groups, places), dtype=np.int64),
        aligned((groups, channels * TILE * window)), aligned((groups, TILE, window)),
        aligned((groups, 2, window)), aligned((groups, window, channels, 1, window)),
        np.zeros((groups, window), dtype=bool), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


def values_of(m: int, window: int, room: int, noun: str) -> Floats:
    """(m, window, B) kernel values of a window with the slots of m experts, B at least `room`."""
    spread = 8 * (-(-room // 8) | 1)  # rows begin in different sets of the caches
    return ask_for(m * window * spread, noun).reshape(m, window, spread)


class SlotsForm(NamedTuple):
    """The compiled form: experts of one rule, to which there is a link, and what they meet."""

    rule: Any
    block: SlotBlock


class Seat(NamedTuple):
    """Expert e of the block: its number in the pool, slots, and (window, B) kernel values."""

    block: SlotBlock
    e: int
    expert: int
    slots: Slots
    values: NDArray[np.float64]


class SlotsPart(NamedTuple):
    """One part of the compiled form; `slots` are the seat's, pinned."""

    rule: Any
    seat: Seat
    slots: Any


@parts_of.of(SlotsForm)
def _parts_of(member):
    return member.block.experts.shape[0]


@part.of(SlotsForm)
def _part(member, i, board):
    seat = seat_of(member.block, i)
    return SlotsPart(member.rule, seat, pin(seat.slots, member.block.pins[i]))


@njit(cache=True, nogil=True, forceinline=True)
def seat_of(block, e):
    """The seat of one expert: views."""
    slots = block.slots
    of_expert = Slots(
        slots.alpha[e], slots.diagonal[e], slots.born[e], slots.place[e], slots.filled[e],
        slots.gram[e], slots.factor[e], slots.order[e], slots.memory[e], slots.scale[e],
        slots.points[e], slots.norms[e],
    )  # fmt: skip
    return Seat(block, e, block.experts[e], of_expert, block.values[e])


@njit(cache=True, nogil=True, forceinline=True)
def window_of(window, b, t):
    """(lo, hi): example t of b is in the window lo..hi-1."""
    if window == 0:
        return 0, b
    lo = t - t % window
    return lo, min(lo + window, b)


@stretch.of(SlotsForm)
def _stretch(member):
    return member.block.window if member.block.window > 0 else 1


@arrive.of(SlotsForm)
def _arrive(member, first, last, t):
    block = member.block
    if block.window > 0 and t % block.window == 0:
        last = min(last, block.experts.shape[0])
        for start in range(first, last, block.each):  # one group, or all of them
            open_window(block, start, min(start + block.each, last), t)


@njit(cache=True, nogil=True)
def open_window(block, first, last, lo):
    """The experts first..last-1, a group, meet the window that begins with example `lo`."""
    group, shelf, slots = first // block.each, block.shelf, block.slots
    lo, hi = window_of(block.window, block.known.shape[0], lo)
    through(turn_to, block.meeting, group, lo, hi)
    for t in range(hi - lo):
        shelf.made[group, t] = False
    if block.self_pairs.shape[2] > 0:
        fill_diagonals(block.parts, block.self_pairs, first, last, lo, hi, block.diagonal)
    number, which, count = shelf.number[group], shelf.which[group], 0
    for e in range(first, last):
        for s in range(slots.filled[e, 0]):
            place = slots.place[e, s]
            if number[place] == -1:
                number[place], which[count] = count, place
                count += 1
    channels = shelf.later_pairs.shape[2]
    for start in range(0, count, TILE):
        size = min(TILE, count - start)
        room = shelf.pairs[group, : channels * size * (hi - lo)]
        pairs = room.reshape((channels, size, hi - lo))
        through(meet_points, block.meeting, group, which[start : start + size], lo, hi, pairs)
        for e in range(first, last):
            places, rows = slots.place[e, : slots.filled[e, 0]], shelf.values[group]
            steps, out = shelf.steps[group], block.values[e]
            slot_values(block.parts, e, places, number, start, pairs, steps, rows, out)
    for i in range(count):
        number[which[i]] = -1


@njit(cache=True, nogil=True)
def slot_values(parts, e, places, number, start, pairs, steps, rows, out):
    """The values of an expert's slots whose points have the numbers from `start` on.

    places, number : (filled,) of the slots, and the number of the point at each place
    pairs : (channels, points, w) pair values of these points and the window
    steps, rows : (2, w) and (points, w) scratch; out : (w, B)
    """
    size, w = pairs.shape[1], pairs.shape[2]
    here, points, n = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), 0
    for s in range(places.shape[0]):
        point = number[places[s]] - start
        if 0 <= point < size:
            here[n], points[n] = s, point
            n += 1
    kernel_rows(parts, e, pairs, points[:n], 0, w, steps, rows)
    begin = 0
    for i in range(1, n + 1):  # neighbours go together
        if i == n or here[i] != here[i - 1] + 1:
            lay_across(rows, begin, i - begin, out, here[begin])
            begin = i


@score.of(SlotsPart)
def _score(part, t, board):
    seat = part.seat
    slots, expert = seat.slots, seat.expert
    row = seat.values[t - window_of(seat.block.window, seat.block.known.shape[0], t)[0]]
    score_slots(slots, row, board.scores[t, expert], board.sizes[t, expert])
    held, known, keys = False, seat.block.known, seat.block.keys
    if known[t]:
        key = keys[keys.shape[0] - known.shape[0] + t]
        for s in range(slots.filled[0]):
            held |= keys[slots.place[s]] == key
    board.known[t, expert] = held


@learn.of(SlotsPart)
def _learn(part, t, updates, clock, board):
    rule, seat = part.rule, part.seat
    if not updates[seat.expert] or board.importance[t] <= 0.0:
        return
    block = seat.block
    seen = see(board, t, seat.expert, block.diagonal[seat.e, t], clock)
    lo, hi = window_of(block.window, block.known.shape[0], t)
    change = through(fit_in, rule, part.slots, seen, seat.values[t - lo : hi - lo])
    if change.slot >= 0:
        fill_slot(seat, change, seen, t, lo, hi)
        later = seat.values[t + 1 - lo : hi - lo]
        points = window_points(block.points, block.gammas[seat.e], lo, hi)
        through(keep_within, rule, part.slots, seen, later, points, t - lo)


@sound.of(SlotsForm)
def _sound(member, i):
    block, slots = member.block, member.block.slots
    sound = finite(slots.alpha[i].reshape(-1)) and finite(slots.memory[i])
    return sound and 0.0 < slots.scale[i, 0] < np.inf and finite(block.diagonal[i])


@njit(cache=True, nogil=True, forceinline=True)
def fill_slot(seat, change, seen, t, lo, hi):
    """A slot now holds example t, of the window lo..hi-1, with the coefficients of the change."""
    slots, block, e, s = seat.slots, seat.block, seat.e, change.slot
    b, rows = block.known.shape[0], seat.values
    coefficients = slots.alpha[:, s]
    for c in range(coefficients.shape[0]):
        coefficients[c] = change.kept * coefficients[c] if change.kept != 0.0 else 0.0
    add_step(coefficients, seen.label, seen.rival, change.step)
    slots.diagonal[s] = seen.diagonal
    slots.place[s] = block.keys.shape[0] - b + t
    slots.born[s] = seen.clock.round
    if s == slots.filled[0]:
        slots.filled[0] += 1
    if slots.gram.shape[0] > 0:
        for other in range(slots.filled[0]):
            slots.gram[s, other] = rows[t - lo, other]
            slots.gram[other, s] = rows[t - lo, other]
        slots.gram[s, s] = seen.diagonal
    if slots.points.shape[0] > 0:  # merged points are the expert's own
        slots.place[s] = e * slots.place.shape[0] + s
        slots.norms[s] = block.points.norms[t]
        for k in range(slots.points.shape[1]):
            slots.points[s, k] = block.points.features[t, k]
    if t + 1 < hi:
        group = e // block.each
        later_pairs, made = block.shelf.later_pairs[group], block.shelf.made[group]
        pairs, column = later_pairs[t - lo], block.shelf.values[group]
        if not made[t - lo]:
            through(meet_row, block.meeting, group, t, lo, hi, pairs)
            made[t - lo] = True
        steps, first = block.shelf.steps[group], block.shelf.first
        kernel_rows(block.parts, e, pairs, first, t + 1 - lo, hi - lo, steps, column)
        slot = np.uintp(s)
        for j in range(np.uintp(t + 1 - lo), np.uintp(hi - lo)):
            rows[j, slot] = column[0, j]


@njit(cache=True, nogil=True, forceinline=True)
def window_points(near, gamma, lo, hi):
    """The features of the window lo..hi-1, where points are merged."""
    features, norms, columns = near.features, near.norms, near.features
    if features.shape[0] > 0:
        columns = window_columns(near.columns, lo, hi, features.shape[1])
        features, norms = features[lo:hi], norms[lo:hi]
    return Points(features, norms, columns, near.reach, gamma)


@njit(cache=True, nogil=True)
def fill_diagonals(parts, self_pairs, first, last, lo, hi, out):
    """out[e, t] = k_e(x_t, x_t) of the experts first..last-1 and the examples lo..hi-1.

    self_pairs : (channels, 1, b) pair values with themselves
    """
    here, steps = np.zeros(1, dtype=np.int64), np.empty((2, self_pairs.shape[2]))
    for e in range(first, last):
        kernel_rows(parts, e, self_pairs, here, lo, hi, steps, out[e : e + 1])
