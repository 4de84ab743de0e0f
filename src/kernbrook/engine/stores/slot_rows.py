"""Slots, in arrays that are their own: all lie where compiled code finds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import LINK, ROOM, new_link, through
from kernbrook.engine.stores.in_rows import (
    MOST_TOGETHER,
    InRows,
    Row,
    in_rows,
    keep,
    meet,
    read,
    settle,
)
from kernbrook.engine.stores.meetings import DenseMeeting, Given, turn, turn_to
from kernbrook.engine.stores.slot_block import (
    Nearby,
    SlotBlock,
    SlotsForm,
    own_diagonals,
    shelf_of,
    values_of,
)
from kernbrook.engine.stores.slot_state import SlotState
from kernbrook.engine.stores.slots import SlotStore
from kernbrook.engine.verbs import Slots
from kernbrook.gram.arrays import Floats, Labels, writeable
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.keys import met_before
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.pairs import dense_manhattan, dense_squared
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, SQUARED, Plan
from kernbrook.numerics.storage import aligned, renumber, spread_coefficients
from kernbrook.numerics.values import fill
from kernbrook.numerics.vectors import copy
from kernbrook.numerics.zero import zero_or


class Stored(NamedTuple):
    """Points that slots hold, with squared norms and keys; rows that are met are the last ones."""

    X: Floats
    norms: Floats
    keys: Labels


class RowOfSlots(NamedTuple):
    """n rows, as m experts under a budget meet them.

    block : of these rows, whose places are the last of all places; its window is 0 for one row
    plan, codes : of the kernels together, and the codes of the channels
    n : (1,) points that are stored
    stored, saved : the points, and a copy of some rows before
    row : see `Row`
    before : (m,) slots in use before the rows
    column, pairs : (d, 1) and (channels * places,) scratch
    columns : (n d,) the rows transposed, as a meeting has them; (0,) for one row
    """

    block: SlotBlock
    plan: Plan
    codes: Labels
    n: Labels
    stored: Stored
    saved: Stored
    row: Row
    before: Labels
    column: Floats
    pairs: Floats
    columns: Floats


class SlotsInRows(InRows):
    """Of the experts of one learner under a budget."""

    def __init__(self, store: SlotStore, state: SlotState):
        m, _, room = state.slots.alpha.shape
        self.store, self.most, self.width = store, m * room, store.setting.width

    @staticmethod
    def reads(store: SlotStore) -> bool:
        output = store.sums.layout.plan.output
        return len(np.unique(output)) == len(output)

    @staticmethod
    def slow(store: SlotStore, state: SlotState) -> str | None:
        reads = SlotsInRows.reads(store)
        return (
            None if reads else "kernels of several parts, with which rows are predicted as chunks"
        )

    def changing(self, state: SlotState) -> list[NDArray[Any]]:
        return [*state.slots, state.points.counted]

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        *slots, self.n = arrays
        self.slots, self.stored, self.saved = Slots(*slots), self._room(), self._room()
        points = StoredPoints(0, self.width, False)
        points._X, points._norms, points._keys = self.stored
        points._coefficients, points.counted = np.zeros((len(self.stored.keys), 0)), self.n
        self.state = SlotState(self.slots, points, changes=True)

    def over(self, state: SlotState) -> None:
        *slots, self.n = map(writeable, self.changing(state))
        held = state.points._X, state.points._norms, state.points._keys
        self.slots, self.stored = Slots(*slots), Stored(*map(writeable, held))
        self.saved = self.stored

    def forms(self, row: Row, kept: list[Any]) -> tuple[SlotsForm, RowOfSlots]:
        store, most, b = self.store, self.most, len(row.x)
        m, _, room = self.slots.alpha.shape
        layout, nothing = store.sums.layout, np.zeros((0, 0))
        codes = np.array(layout.channels)
        nowhere = Nearby(nothing, np.zeros(1), np.zeros(0), np.inf)
        window, link, each, columns = 0, np.zeros(LINK, dtype=np.int64), m, np.empty(0)
        values, shelf = np.empty((m, 1, room)), shelf_of(0, 0, 0, 0)
        if b > 1:
            window, each, columns = b, self.together(b) or m, aligned((b * self.width,))
            X, norms, _ = self.stored
            common = Given(codes, layout.plan.reach, layout.plan.near, np.empty((0, 0, b)))
            meeting = DenseMeeting(common, X, norms, row.x, row.norm, columns)
            link, groups = new_link(turn_to, meeting), -(-m // each)
            values = values_of(m, window, room, "rows")
            shelf = shelf_of(groups, len(norms), len(codes), window)
            kept.append((link, meeting))
        block = SlotBlock(
            store.experts, layout.parts, self.slots, self.stored.keys, np.zeros(b, dtype=bool),
            np.zeros((len(codes), 1, b)), np.empty((m, b)), nowhere, store.gammas, window,
            each, link, values, shelf, np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        of_row = RowOfSlots(
            block, layout.plan, codes, self.n, self.stored, self.saved, row, np.empty(m, np.int64),
            np.empty((self.width, 1)), np.empty(len(codes) * most), columns,
        )  # fmt: skip
        return SlotsForm(store.link(), block), of_row

    def together(self, n: int) -> int:
        m, _, room = self.slots.alpha.shape
        threads = self.store.sums.threads(2 * n * m * room)
        return 0 if threads == 1 else -(-m // min(threads, m))

    def _room(self) -> Stored:
        most = self.most + MOST_TOGETHER
        return Stored(np.empty((most, self.width)), np.empty(most), np.zeros(most, dtype=np.int64))

    def load(self, state: SlotState) -> None:
        super().load(state)
        own, points, n = self.stored, state.points, state.points.n
        own.X[:n], own.norms[:n], own.keys[:n] = points._X[:n], points._norms[:n], points._keys[:n]
        slots = self.state.slots
        slots.place[np.arange(slots.place.shape[1]) >= slots.filled] = 0


@in_rows.register(SlotStore)
def _slots_in_rows(store: SlotStore) -> type[InRows] | str:
    if any(channel >= FIRST_GIVEN for channel in store.sums.layout.channels):
        return "kernels that are called"
    if store.merges_points:
        return "merged support vectors"
    if store.grows:
        return "support vectors without a bound"
    return "rows in CSR" if store.setting.sparse else SlotsInRows


@meet.of(RowOfSlots)
def _meet_slots(store):
    if store.block.window > 0:
        meet_rows(store)
    else:
        meet_one(store)


@njit(cache=True)
def meet_rows(store):
    """Put rows where the slots find them, as a block has them."""
    block, stored, row, n = store.block, store.stored, store.row, store.n[0]
    b = row.x.shape[0]
    if row.tells_apart:
        met_before(row.key, stored.keys[:n], True, block.known)
    put_rows(row, stored, stored.keys.shape[0] - b)
    for i in range(len(store.codes)):
        if store.codes[i] == INNER:
            copy(row.norm, block.own[i, 0])
    turn(row.x, b, store.columns)
    for e in range(store.before.shape[0]):
        store.before[e] = block.slots.filled[e, 0]


@njit(cache=True)
def put_rows(row, stored, first):
    """Rows are stored points from this number on."""
    for t in range(row.x.shape[0]):
        copy(row.x[t], stored.X[first + t])
        stored.norms[first + t], stored.keys[first + t] = row.norm[t], row.key[t]


@njit(cache=True)
def meet_one(store):
    """Meet a row, whose kernel values with the slots are the block's from now on."""
    block, stored, row, n = store.block, store.stored, store.row, store.n[0]
    slots, key, known = block.slots, row.key[0], False
    if row.tells_apart:
        for s in range(n):
            known |= stored.keys[s] == key
    block.known[0], stored.keys[stored.keys.shape[0] - 1] = known, key
    meet_pairs(store.codes, store.plan, stored, n, row, store.column, store.pairs, block.own)
    met = store.pairs[: len(store.codes) * n].reshape((len(store.codes), n))
    scratch, source = np.empty((2, block.values.shape[2])), np.empty(block.values.shape[2])
    for e in range(block.values.shape[0]):
        store.before[e] = slots.filled[e, 0]
        places = slots.place[e, : slots.filled[e, 0]]
        along_slots(block.parts, e, met, places, source, scratch, block.values[e, 0])
    own_diagonals(block.parts, block.own, 0, block.diagonal.shape[0], 0, 1, block.diagonal)


@njit(cache=True)
def meet_pairs(codes, plan, stored, n, row, column, pairs, own):
    """Pair values of n points and a row, one channel after the other, and of the row with itself.

    codes : of the channels; column : (d, 1) scratch
    pairs, own : (channels * n or more,) and (channels, 1, 1) out
    """
    x, norm = row.x, row.norm
    X, norms = stored.X[:n], stored.norms[:n]
    for k in range(x.shape[1]):
        column[k, 0] = x[0, k]
    met = pairs[: len(codes) * n].reshape((len(codes), n, 1))
    for i in range(len(codes)):
        if codes[i] == INNER:
            dense_inner(X, None, column, met[i])
            own[i, 0, 0] = norm[0]
        elif codes[i] == SQUARED:
            dense_squared(X, norms, None, x, norm, met[0], plan.reach, plan.near, met[i])
            dense_squared(x, norm, None, x, norm, own[0], plan.reach, plan.near, own[i])
        else:
            dense_manhattan(X, None, column, met[i])
            dense_manhattan(x, None, column, own[i])


@njit(cache=True)
def along_slots(parts, e, pairs, places, source, scratch, out):
    """out[s] = expert e's kernel of the point places[s] and the row; as `kernel_rows`.

    pairs : (channels, n); source, scratch : (B,) and (2, B)
    """
    parts = borrowed(parts)
    n = np.uintp(places.shape[0])
    for s in range(n):
        out[s] = 0.0
    for part in range(parts.first[e], parts.first[e + 1]):
        channel, factor = np.uintp(parts.channel[part]), parts.factor[part]
        for s in range(n):
            source[s] = pairs[channel, np.uintp(places[s])]
        if through(
            fill, parts.links[part], source, scratch, np.uintp(0), n, parts.parameter[part],
            parts.offset[part], parts.power[part],
        ):  # fmt: skip
            for s in range(n):
                out[s] = fma(factor, scratch[0, s], out[s])


@settle.of(RowOfSlots)
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
    n, d = count[0], stored.X.shape[1]
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
            for k in range(d):
                stored.X[i, k] = stored.X[s, k]
            stored.norms[i], stored.keys[i] = stored.norms[s], stored.keys[s]
    count[0] = len(used)


@keep.of(RowOfSlots)
def _keep_slots(store, back):
    source, target = (store.saved, store.stored) if back else (store.stored, store.saved)
    n, d = store.n[0], target.X.shape[1]
    for i in range(n):
        for k in range(d):
            target.X[i, k] = source.X[i, k]
        target.norms[i], target.keys[i] = source.norms[i], source.keys[i]


@read.of(RowOfSlots)
def _read_slots(store, board):
    """As `add_points` for each point in turn, but with points along the lanes."""
    block, plan, n = store.block, store.plan, store.n[0]
    slots, classes = block.slots, board.scores.shape[2]
    meet_pairs(store.codes, plan, store.stored, n, store.row, store.column, store.pairs, block.own)
    met = store.pairs[: len(store.codes) * n].reshape((len(store.codes), n))
    coefficients = np.empty((n, slots.alpha.shape[0] * classes))
    spread_coefficients(
        slots.alpha, slots.scale.reshape(-1), slots.place, slots.filled.reshape(-1), coefficients
    )
    values = np.empty((2, n))
    for o in range(coefficients.shape[1]):
        expert, c = block.experts[o // classes], o % classes
        board.scores[0, expert, c], board.sizes[0, expert, c] = 0.0, 0.0
    alive = True
    for step in range(plan.links.shape[0]):
        begins = step == 0 or plan.chain_end[step] != plan.chain_end[step - 1]
        if not (alive or begins):
            continue
        alive = through(
            fill, plan.links[step], met[plan.channel[step]], values, np.uintp(0), np.uintp(n),
            plan.parameter[step], plan.offset[step], plan.power[step],
        )  # fmt: skip
        if alive:
            for term in range(plan.first_term[step], plan.first_term[step + 1]):
                column, o = plan.column[term], plan.output[term]
                total, size = added(values[0], coefficients, column, plan.factor[term])
                expert, c = block.experts[o // classes], o % classes
                board.scores[0, expert, c] = zero_or(total, size)
                board.sizes[0, expert, c] = size


@njit(cache=True)
def added(values, coefficients, column, factor):
    """(sum, size) of coefficients * factor * values over points, one after the other."""
    total, size = 0.0, 0.0
    for p in range(values.shape[0]):
        a = coefficients[p, column] * factor
        if a != 0.0:
            total = fma(a, values[p], total)
            size = fma(abs(a), abs(values[p]), size)
    return total, size
