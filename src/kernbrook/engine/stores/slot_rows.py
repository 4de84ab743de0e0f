"""Slots for rows one by one, in arrays that lie where compiled code finds them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import ROOM, new_link, through
from kernbrook.engine.stores.in_rows import (
    MOST_TOGETHER,
    InRows,
    Row,
    in_rows,
    meet,
    score_only,
    settle_rows,
)
from kernbrook.engine.stores.meetings import Common, DenseMeeting, meet_points, transpose, turn_to
from kernbrook.engine.stores.slot_block import (
    BlockRows,
    SlotBlock,
    SlotsForm,
    fill_diagonals,
    seat_of,
    shelf_of,
    values_of,
)
from kernbrook.engine.stores.slots import SlotState, SlotStore
from kernbrook.engine.verbs import Slots
from kernbrook.gram.arrays import Floats, Ints, writeable
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.numerics.keys import mark_known
from kernbrook.numerics.plan import FIRST_GIVEN, INNER
from kernbrook.numerics.storage import aligned, renumber
from kernbrook.numerics.upkeep import score_slots
from kernbrook.numerics.values import kernel_rows
from kernbrook.numerics.vectors import copy


class Stored(NamedTuple):
    """Points that slots hold, with squared norms and keys; the rows that come are the last."""

    X: Floats
    norms: Floats
    keys: Ints


class RowOfSlots(NamedTuple):
    """n rows, as m experts under a budget meet them.

    block : of these rows, whose places are the last of all places; its window is 0 for one row
    codes : of the channels of pair values
    n : (1,) points that are stored
    stored : the points
    row : see `Row`
    before : (m,) slots in use before the rows
    pairs : (channels * places,) scratch
    columns : (n d,) the rows transposed, as a meeting has them
    every : (places,) numbers from 0
    """

    block: SlotBlock
    codes: Ints
    n: Ints
    stored: Stored
    row: Row
    before: Ints
    pairs: Floats
    columns: Floats
    every: Ints


class SlotsInRows(InRows):
    """A `SlotStore` row by row, on arrays of its own."""

    def __init__(self, store: SlotStore, state: SlotState):
        m, _, room = state.slots.alpha.shape
        self.store, self.most, self.width = store, m * room, store.setting.width

    def changing(self, state: SlotState) -> list[NDArray[Any]]:
        most = self.most + MOST_TOGETHER
        room = np.empty((most, self.width)), np.empty(most), np.empty(most, dtype=np.int64)
        return [*state.slots, state.points.counted, *room]

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        *slots, self.n, X, norms, keys = arrays
        self.slots, self.stored = Slots(*slots), Stored(X, norms, keys)
        points = StoredPoints(0, self.width, False)
        points._X, points._norms, points._keys = self.stored
        points._coefficients, points.counted = np.zeros((len(keys), 0)), self.n
        self.state = SlotState(self.slots, points, changes=True)

    def over(self, state: SlotState) -> None:
        points = state.points
        held = *state.slots, points.counted, points._X, points._norms, points._keys
        self.use([writeable(array) for array in held])

    def forms(self, row: Row, kept: list[Any]) -> tuple[SlotsForm, RowOfSlots]:
        store, b = self.store, len(row.x)
        m, _, room = self.slots.alpha.shape
        layout, X, norms = store.sums.layout, self.stored.X, self.stored.norms
        codes, columns = np.array(layout.channels), aligned((b * self.width,))
        common = Common(codes, layout.plan.reach, np.empty((0, 0, b)))
        meeting = DenseMeeting(common, X, norms, row.x, row.norm, columns)
        link = new_link(turn_to, meeting)
        kept.append((link, meeting))
        window, each, places = (0, m, 0) if b == 1 else (b, self.together(b) or m, len(norms))
        values = np.empty((m, 1, room)) if b == 1 else values_of(m, b, room, "rows")
        block = SlotBlock(
            store.experts, layout.parts, self.slots, self.stored.keys, np.zeros(b, dtype=bool),
            np.zeros((len(codes), 1, b)), np.empty((m, b)),
            BlockRows(np.zeros((0, 0)), np.zeros(1), np.zeros(0), np.inf), store.gammas, window,
            each, link, values, shelf_of(-(-m // each), places, len(codes), window),
            np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        of_row = RowOfSlots(
            block, codes, self.n, self.stored, row, np.empty(m, np.int64),
            np.empty(len(codes) * self.most), columns, np.arange(self.most),
        )  # fmt: skip
        return SlotsForm(store.link(), block), of_row

    def together(self, n: int) -> int:
        m, _, room = self.slots.alpha.shape
        threads = self.store.sums.threads(2 * n * m * room)
        return 0 if threads == 1 else -(-m // min(threads, m))

    def load(self, state: SlotState) -> None:
        for here, other in zip(self.slots, state.slots, strict=True):
            np.copyto(here, other)
        points, n = state.points, state.points.n
        self.n[0] = n
        for here, other in zip(self.stored, (points._X, points._norms, points._keys), strict=True):
            here[:n] = other[:n]
        self.slots.place[np.arange(self.slots.place.shape[1]) >= self.slots.filled] = 0


@in_rows.register(SlotStore)
def _slots_in_rows(store: SlotStore, state: SlotState) -> type[InRows] | str:
    if any(channel >= FIRST_GIVEN for channel in store.sums.layout.channels):
        return "kernels that are called"
    if store.merges_points:
        return "merged support vectors"
    if store.grows:
        return "support vectors without a bound"
    return "rows in CSR" if store.setting.sparse else SlotsInRows


@meet.of(RowOfSlots)
def _meet_slots(store):
    block = store.block
    for e in range(store.before.shape[0]):
        store.before[e] = block.slots.filled[e, 0]
    for i in range(len(store.codes)):
        if store.codes[i] == INNER:
            copy(store.row.norm, block.self_pairs[i, 0])
    if block.window > 0:
        meet_rows(store)
    else:
        meet_row_alone(store)


@njit(cache=True)
def meet_rows(store):
    """Put rows where the slots find them, as a block has them."""
    block, stored, row, n = store.block, store.stored, store.row, store.n[0]
    b = row.x.shape[0]
    if row.tells_apart:
        mark_known(row.key, stored.keys[:n], True, block.known)
    put_rows(row, stored, stored.keys.shape[0] - b)
    transpose(row.x, b, store.columns)


@njit(cache=True)
def put_rows(row, stored, first):
    """Rows are stored points from this number on."""
    for t in range(row.x.shape[0]):
        copy(row.x[t], stored.X[first + t])
        stored.norms[first + t], stored.keys[first + t] = row.norm[t], row.key[t]


@njit(cache=True)
def meet_row_alone(store):
    """Meet a row, whose kernel values with the slots are the block's from now on."""
    block, stored, row, n = store.block, store.stored, store.row, store.n[0]
    key, known = row.key[0], False
    if row.tells_apart:
        for s in range(n):
            known |= stored.keys[s] == key
    block.known[0], stored.keys[stored.keys.shape[0] - 1] = known, key
    values_of_row(store)
    fill_diagonals(block.parts, block.self_pairs, 0, block.diagonal.shape[0], 0, 1, block.diagonal)


@njit(cache=True)
def values_of_row(store):
    """The kernel values of all slots with the row: as of a window, but with slots along the lanes.

    A store's points are all met, one after the other.
    """
    block, slots, n = store.block, store.block.slots, store.n[0]
    channels, (m, _, room) = len(store.codes), block.values.shape
    copy(store.row.x[0], store.columns)
    pairs = store.pairs[: channels * n].reshape((channels, n, 1))
    through(meet_points, block.meeting, 0, store.every[:n], 0, 1, pairs)
    near, steps = np.empty((channels, 1, room)), np.empty((2, room))
    for e in range(m):
        filled, places = slots.filled[e, 0], slots.place[e]
        for i in range(channels):
            for s in range(filled):
                near[i, 0, s] = pairs[i, places[s], 0]
        kernel_rows(block.parts, e, near, store.every[:1], 0, filled, steps, block.values[e])


@settle_rows.of(RowOfSlots)
def _settle_slots(store, chosen):
    slots, first = store.block.slots, store.block.keys.shape[0] - store.row.x.shape[0]
    added = changed = False
    for e in range(slots.place.shape[0]):
        changed |= slots.filled[e, 0] != store.before[e]
        for s in range(slots.place.shape[1]):  # a slot may have been filled, and emptied again
            added |= slots.place[e, s] >= first
    if added or changed:  # else no slot holds another point than before
        compact(slots, store.n, store.stored, store.row, first)
    if chosen >= 0:
        for e in range(slots.place.shape[0]):
            if store.block.experts[e] != chosen:
                slots.filled[e, 0] = 0
        compact(slots, store.n, store.stored, store.row, first)


@njit(cache=True)
def compact(slots, count, stored, row, first):
    """Keep the points that slots hold, rows among them, whose places begin at `first`."""
    n = count[0]
    for e in range(slots.place.shape[0]):
        for s in range(slots.place.shape[1]):
            if s >= slots.filled[e, 0]:
                slots.place[e, s] = 0
            elif slots.place[e, s] >= first:
                slots.place[e, s] += n - first
    put_rows(row, stored, n)
    used = renumber(slots.place, slots.filled.reshape(-1), n + row.x.shape[0])
    for i in range(len(used)):
        s = used[i]
        if s != i:
            copy(stored.X[s], stored.X[i])
            stored.norms[i], stored.keys[i] = stored.norms[s], stored.keys[s]
    count[0] = len(used)


@score_only.of(RowOfSlots)
def _read_slots(store, board):
    block = store.block
    values_of_row(store)
    for e in range(block.experts.shape[0]):
        seat = seat_of(block, e)
        expert = seat.expert
        score_slots(seat.slots, seat.values[0], board.scores[0, expert], board.sizes[0, expert])
