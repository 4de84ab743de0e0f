"""One row at a time: what a block does, in buffers that are made once.

Two sets of buffers take turns: a row is learned in the set that the model does not hold, and the
model takes it over in one step. So a row is learned as a whole or not at all, as a block is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine import verbs
from kernbrook.engine.model import Follow, Model
from kernbrook.engine.passes import COMPILED
from kernbrook.engine.progress import Progress, empty_board
from kernbrook.engine.rounds import Met, link_store
from kernbrook.engine.row import (
    DONE,
    NOT_HERE,
    OVERFLOWED,
    TOO_LARGE,
    Row,
    Scaling,
    Whole,
    begin_row,
    decide_row,
    finite,
    go_on_row,
    learn_row,
    link_own,
    link_whole,
    meet,
    read,
    settle,
)
from kernbrook.engine.stores.linear import Learned, Linear, OnFeatures
from kernbrook.engine.stores.slots import (
    Budgeted,
    Kept,
    SlotBlock,
    SlotStore,
    own_diagonals,
)
from kernbrook.engine.verbs import Points, Slots, parts_of
from kernbrook.errors import NonFiniteError
from kernbrook.features.base import link_features, write_row
from kernbrook.gram.points import DenseRows, Floats, Labels, SupportVectors
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.borrowing import borrowed
from kernbrook.numerics.compiling import njit
from kernbrook.numerics.linking import LINK, ROOM, new_link, through
from kernbrook.numerics.pairs import dense_inner, dense_manhattan, dense_squared
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, SQUARED, Plan
from kernbrook.numerics.scaling import METHODS
from kernbrook.numerics.storage import renumber, spread_coefficients
from kernbrook.numerics.values import fill_by_code
from kernbrook.numerics.zero import zero_or


class QuickRows:
    """A model of slots and features that learns dense rows one by one, and decides on them.

    Parameters
    ----------
    model : whose progress and states are replaced by each row; others may replace them meanwhile
    """

    def __init__(self, model: Model):
        self.model, setting = model, model.setting
        self.held: tuple[Any, tuple[Any, ...], Any]
        m, c, d = model.n_experts, setting.scores, setting.width
        self.width, self.scores = d, c
        key = np.zeros(1, dtype=np.int64)
        row = Row(np.empty((1, d)), np.empty((1, d)), np.empty(1), key, not setting.judges_stored)
        self.board = empty_board(1, m, c, np.empty(1), np.empty(1), setting.regression)
        kinds: dict[Any, Any] = {SlotStore: _QuickSlots, Linear: _QuickLinear}
        self.stores = [
            kinds[type(store)](store, state, row)
            for store, state in zip(model.stores, model.states, strict=True)
        ]
        self.reads = all(store.reads for store in self.stores)
        self.by_parts = [store for store in self.stores if not store.compiled]
        groups: list[Any] = [model.progress]
        groups += [
            own.changing(state) for own, state in zip(self.stores, model.states, strict=True)
        ]
        memories, copies = zip(*(together(groups) for _ in "ab"), strict=True)
        self.progress = [Progress(*copies[turn][0]) for turn in (0, 1)]
        self.scalers = [model.scaler.copy() for _ in "ab"]
        scalings = [scaling_of(scaler) for scaler in self.scalers]
        self.asked = np.zeros(1, dtype=bool)
        shared = np.empty((1, c)), self.asked, row
        committee = model.passes.committee(model.choices)
        terms = model.choices.terms._replace(given=True)
        self.kept: list[Any] = []  # what is behind the addresses in links
        self.links = []
        for turn in (0, 1):
            forms = [
                store.forms(turn, own)
                for store, own in zip(self.stores, copies[turn][1:], strict=True)
            ]
            whole = Whole(
                committee, terms, self.progress[turn], self.board, *shared,
                memories[turn], memories[1 - turn], scalings[turn], scalings[1 - turn],
                self._linked(link_store, [Met(member, self.board) for member, _ in forms]),
                self._linked(link_own, [own for _, own in forms]),
                model.interferes,
            )  # fmt: skip
            self.links.append(self._linked(link_whole, [whole])[0])
        self.turn, self.held = 0, (None, (), None)
        self._take_over()

    def _linked(self, maker: Any, forms: Sequence[Any]) -> Labels:
        """(n, LINK) links to forms, which are kept."""
        made = [new_link(maker, form) for form in forms]
        self.kept.append((made, forms))
        return np.array([link for link, _ in made], dtype=np.int64).reshape(-1, LINK)

    @staticmethod
    def takes(model: Model) -> bool:
        """Whether a model can learn so."""
        return (
            model.passes is COMPILED
            and len(model.views) == 1
            and "ranks" not in model.scaler.methods
            and all(
                (type(store) is SlotStore and _QuickSlots.takes(store)) or type(store) is Linear
                for store in model.stores
            )
        )

    def learn(
        self, x: Floats, label: float, weight: float, follow: Follow | None = None
    ) -> Floats | None:
        """(c,) the decision on a row before its label, NaN: none, is learned from.

        follow : as for `Model.learn_block`
        None where the row, (d,), is to be refused or has numbers of a size dealt with elsewhere.
        """
        if x.shape != (self.width,):
            return None
        self._look()
        turn, model, out = 1 - self.turn, self.model, np.empty(self.scores)
        link = self.links[turn]
        if not self.by_parts:
            end = learn_row(link, x, label, weight, out)
        elif (end := begin_row(link, x)) == DONE:
            for store in self.by_parts:
                store.fill()
            end = go_on_row(link, label, weight, out)
        if end == NOT_HERE:
            return None
        if end != DONE:
            self._fail(end)
        others = {} if follow is None else follow(self.board, self.asked)
        progress, scaler = self.progress[turn], self.scalers[turn]
        states = tuple([store.state(turn) for store in self.stores])
        self.turn, self.held = turn, (progress, states, scaler)
        states = model.chosen_of(progress, states)
        model.__dict__.update(progress=progress, states=states, scaler=scaler, **others)
        return out

    def decide(self, x: Floats) -> Floats | None:
        """(c,) the decision on a row, (d,), without learning; None as for `learn`."""
        if x.shape != (self.width,) or not self.reads:
            return None
        self._look()
        out = np.empty(self.scores)
        end = decide_row(self.links[self.turn], x, out)
        if end == NOT_HERE:
            return None
        if end != DONE:
            self._fail(end)
        return out

    def _look(self) -> None:
        """Take over what the model holds, if others have replaced it."""
        model, (progress, states, scaler) = self.model, self.held
        if not (model.states is states and model.progress is progress and model.scaler is scaler):
            self._take_over()

    def _take_over(self) -> None:
        """Copy what the model holds, into buffers that it does not hold, or its own."""
        model, turn = self.model, 0
        own = [*zip(self.stores, model.states, strict=True)]
        if model.progress is self.progress[1] or any(s.holds(1, state) for s, state in own):
            turn = 1
        for one, other in zip(model.progress, self.progress[turn], strict=True):
            np.copyto(other, one)
        for store, state in own:
            store.load(turn, state)
        self.scalers[turn].restore(model.scaler.arrays())
        self.turn, self.held = turn, (model.progress, model.states, model.scaler)

    def _fail(self, end: int) -> NoReturn:
        """Raise what says how a row has ended."""
        if end == TOO_LARGE:
            raise NonFiniteError("x: expected finite values of size below 1e154")
        self.model.check(self.board)
        raise self.stores[end - OVERFLOWED - 1].store.overflow(0)


def together(groups: Sequence[Sequence[NDArray[Any]]]) -> tuple[Labels, list[list[NDArray[Any]]]]:
    """One flat array, (words,), and parts of it, each of a shape and type like one in `groups`."""
    words = [[-(-array.nbytes // 8) for array in group] for group in groups]
    memory = np.zeros(sum(map(sum, words)), dtype=np.int64)
    at = 0
    parts: list[list[NDArray[Any]]] = []
    for group, sizes in zip(groups, words, strict=True):
        parts.append([])
        for array, size in zip(group, sizes, strict=True):
            own = memory[at : at + size].view(np.uint8)[: array.nbytes]
            parts[-1].append(own.view(array.dtype).reshape(array.shape))
            at += size
    return memory, parts


def scaling_of(scaler: Any) -> Scaling:
    """The compiled form of a scaler of one view, whose arrays it shares."""
    (method,) = scaler.methods
    if method is None:
        return Scaling(-1, np.zeros(1, dtype=np.int64), np.zeros(0), np.zeros(0))
    return Scaling(METHODS[method], *scaler.arrays().values())


# -- under a budget ------------------------------------------------------------------------------


class Stored(NamedTuple):
    """Points that slots hold: n, (1,), of them, with squared norms and keys."""

    n: Labels
    X: Floats
    norms: Floats
    keys: Labels


class RowOfSlots(NamedTuple):
    """A row, as m experts under a budget meet it.

    block : of one row; its place is the last of all places
    plan, codes : of the kernels together, and the codes of the channels
    stored, before : points of this turn and of the other
    row : see `Row`
    pairs : (channels * places,) scratch
    """

    block: SlotBlock
    plan: Plan
    codes: Labels
    stored: Stored
    before: Stored
    row: Row
    pairs: Floats


class _QuickSlots:
    """Of the experts of one learner under a budget."""

    compiled = True

    def __init__(self, store: SlotStore, state: Kept, row: Row):
        self.store, self.row = store, row
        m, _, room = state.slots.alpha.shape
        self.most, d, layout = m * room, store.setting.width, store.sums.layout
        self.reads = len(np.unique(layout.plan.output)) == len(layout.plan.output)
        self.codes = np.array(layout.channels)
        self.points = [self._room(d), self._room(d)]
        self.slots: list[Any] = [None, None]
        self.pairs = np.empty(len(self.codes) * self.most)
        nothing = np.zeros((0, 0))
        self.scratch = (
            np.empty(self.most + 1, dtype=np.int64), np.zeros(1, dtype=bool),
            np.empty((len(self.codes), 1, 1)), np.empty((m, 1)), np.empty((m, 1, room)),
            np.empty((m, 1)), Points(nothing, np.zeros(1), nothing, np.inf, 0.0), store.gammas,
            np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        self.none = np.zeros((self.most, 0))  # coefficients

    def _room(self, d: int) -> Stored:
        most = self.most
        keys = np.zeros(most, dtype=np.int64)
        return Stored(np.zeros(1, dtype=np.int64), np.empty((most, d)), np.empty(most), keys)

    @staticmethod
    def takes(store: SlotStore) -> bool:
        given = any(channel >= FIRST_GIVEN for channel in store.sums.layout.channels)
        return not (given or store.owns or store.grows or store.setting.sparse)

    @staticmethod
    def changing(state: Kept) -> Slots:
        """Arrays that a row changes."""
        return state.slots

    def forms(self, turn: int, own: Sequence[Any]) -> tuple[Budgeted, RowOfSlots]:
        """The compiled forms of a turn: for the rounds, and for before and after."""
        store, points = self.store, self.points
        slots = self.slots[turn] = Slots(*own)
        block = SlotBlock(store.experts, store.parts, slots, *self.scratch)
        plan, row = store.sums.layout.plan, self.row
        of_row = RowOfSlots(
            block, plan, self.codes, points[turn], points[1 - turn], row, self.pairs
        )
        return Budgeted(store.link(), block), of_row

    def holds(self, turn: int, state: Kept) -> bool:
        """Whether a state lies in the buffers of a turn."""
        return state.slots is self.slots[turn] or state.points._X is self.points[turn].X

    def load(self, turn: int, state: Kept) -> None:
        """Copy a state into the buffers of a turn."""
        own, points, n = self.points[turn], state.points, state.points.n
        for one, other in zip(state.slots, self.slots[turn], strict=True):
            np.copyto(other, one)
        own.n[0], own.X[:n] = n, points._X[:n]
        own.norms[:n], own.keys[:n] = points._norms[:n], points._keys[:n]

    def state(self, turn: int) -> Kept:
        """The state in the buffers of a turn."""
        own = self.points[turn]
        points = SupportVectors(0, self.store.setting.width, False)
        points.n = n = int(own.n[0])
        points._X, points._norms, points._keys = own.X, own.norms, own.keys
        points._coefficients = self.none[:n]
        return Kept(self.slots[turn], points)


@meet.of(RowOfSlots)
def _meet_slots(store):
    block, before, row = store.block, store.before, store.row
    n, slots = before.n[0], block.slots
    block.known[0] = False
    key, last = row.key[0], block.keys.shape[0] - 1
    block.keys[last] = key
    for s in range(n):
        block.keys[s] = before.keys[s]
        block.known[0] |= row.tells_apart and before.keys[s] == key
    meet_pairs(store.codes, store.plan.reach, before, row, store.pairs, block.pairs)
    met = store.pairs[: len(store.codes) * n].reshape((len(store.codes), n))
    scratch = np.empty((2, block.values.shape[2]))
    source = np.empty(block.values.shape[2])
    for e in range(block.values.shape[0]):
        places = slots.place[e, : slots.filled[e, 0]]
        along_slots(block.parts, e, met, places, source, scratch, block.values[e, 0])
    own_diagonals(block.parts, block.pairs, block.diagonal)


@njit(cache=True)
def meet_pairs(codes, reach, stored, row, pairs, own):
    """Pair values of points and a row, one channel after the other, and of the row with itself.

    codes : of the channels; pairs, own : (channels * n or more,) and (channels, 1, 1) out
    """
    n, x, norm = stored.n[0], row.x, row.norm
    X, norms = stored.X[:n], stored.norms[:n]
    column = x.reshape((x.shape[1], 1))
    met = pairs[: len(codes) * n].reshape((len(codes), n, 1))
    for i in range(len(codes)):
        if codes[i] == INNER:
            dense_inner(X, column, met[i])
            dense_inner(x, column, own[i])
        elif codes[i] == SQUARED:
            dense_squared(X, norms, x, norm, met[0], reach, met[i])
            dense_squared(x, norm, x, norm, own[0], reach, own[i])
        else:
            dense_manhattan(X, column, met[i])
            dense_manhattan(x, column, own[i])


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
        if fill_by_code(
            parts.kinds, parts.code[part], source, scratch, np.uintp(0), n, parts.parameter[part],
            parts.offset[part], parts.power[part],
        ):  # fmt: skip
            for s in range(n):
                out[s] = fma(factor, scratch[0, s], out[s])


@settle.of(RowOfSlots)
def _settle_slots(store):
    slots, before, own, row = store.block.slots, store.before, store.stored, store.row
    n, d = before.n[0], own.X.shape[1]
    used = renumber(slots.place, slots.filled.reshape(-1), store.block.keys.shape[0])
    own.n[0] = len(used)
    for i in range(len(used)):
        s = used[i]
        if s < n:
            for k in range(d):
                own.X[i, k] = before.X[s, k]
            own.norms[i], own.keys[i] = before.norms[s], before.keys[s]
        else:
            for k in range(d):
                own.X[i, k] = row.x[0, k]
            own.norms[i], own.keys[i] = row.norm[0], row.key[0]
    for e in range(slots.place.shape[0]):
        for s in range(slots.filled[e, 0], slots.place.shape[1]):
            slots.place[e, s] = 0
    return finite(slots.alpha.reshape(-1))


@read.of(RowOfSlots)
def _read_slots(store, board):
    """As `add_points` for each point in turn, but with points along the lanes."""
    block, plan, n = store.block, store.plan, store.stored.n[0]
    slots, classes = block.slots, board.scores.shape[2]
    meet_pairs(store.codes, plan.reach, store.stored, store.row, store.pairs, block.pairs)
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
    for step in range(plan.code.shape[0]):
        begins = step == 0 or plan.chain_end[step] != plan.chain_end[step - 1]
        if not (alive or begins):
            continue
        alive = fill_by_code(
            plan.kinds, plan.code[step], met[plan.channel[step]], values, np.uintp(0),
            np.uintp(n), plan.parameter[step], plan.offset[step], plan.power[step],
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


# -- on features ---------------------------------------------------------------------------------


class RowOfFeatures(NamedTuple):
    """A row, as experts on features meet it.

    member : the form for the rounds
    x : (1, d) the row
    maps : (k, LINK) links to the maps; none where they are not compiled
    """

    member: OnFeatures
    x: Floats
    maps: Labels


class _QuickLinear:
    """Of experts on features."""

    def __init__(self, store: Linear, state: Learned, row: Row):
        self.store, self.pool = store, state.pool
        self.rows = DenseRows(row.x, row.norm, row.key)
        self.features, self.scratch = state.pool.empty(1), store.scratch()
        rules = state.pool.rules()
        self.reads = self.compiled = all(rule is not None for rule in rules)
        made = [new_link(link_features, rule) for rule in rules] if self.compiled else []
        self.maps = np.array([link for link, _ in made], dtype=np.int64).reshape(-1, LINK)
        self.kept = made, rules
        self.learned: list[Any] = [None, None]

    @staticmethod
    def changing(state: Learned) -> tuple[Floats, Floats]:
        return state.theta, state.extra

    def forms(self, turn: int, own: Sequence[Any]) -> tuple[OnFeatures, RowOfFeatures]:
        theta, extra = own
        self.learned[turn] = Learned(theta, extra, self.pool)
        member = self.store.member(self.features, theta, extra, self.scratch)
        return member, RowOfFeatures(member, self.rows.X, self.maps)

    def holds(self, turn: int, state: Learned) -> bool:
        return state is self.learned[turn]

    def load(self, turn: int, state: Learned) -> None:
        own = self.learned[turn]
        np.copyto(own.theta, state.theta)
        np.copyto(own.extra, state.extra)

    def fill(self) -> None:
        """The features of the row, by maps that are not compiled."""
        self.pool.fill(self.rows, self.features)

    def state(self, turn: int) -> Learned:
        state: Learned = self.learned[turn]
        return state


@meet.of(RowOfFeatures)
def _meet_features(store):
    for k in range(len(store.maps)):
        through(write_row, store.maps[k], store.x, store.member.block.features)


@settle.of(RowOfFeatures)
def _settle_features(store):
    block = store.member.block
    return finite(block.theta) and finite(block.extra)


@read.of(RowOfFeatures)
def _read_features(store, board):
    meet(store)
    for i in range(parts_of(store.member)):
        verbs.score(verbs.part(store.member, i, board), 0, board)
