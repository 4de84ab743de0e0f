"""One row at a time: what a block does, in buffers that are made once.

The model's own arrays are these buffers, and compiled code changes them in place. No interruption
comes into compiled code, and a row that overflows there is undone there. So a row is learned as a
whole or not at all, as a block is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn
from weakref import ref

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.links import LINK, ROOM, naming, new_link, through
from kernbrook.compiler.verbs import njit, stamp
from kernbrook.engine import verbs
from kernbrook.engine.model import COMBINED, Model, check_rounds
from kernbrook.engine.progress import MOST_ROUNDS, Due, Progress, empty_board
from kernbrook.engine.rounds import Met, link_store, scratch_of
from kernbrook.engine.row import (
    COPY,
    DONE,
    NOT_COMBINED,
    NOT_HERE,
    OVERFLOWED,
    RAISED,
    TOO_LARGE,
    AsGiven,
    InRows,
    Journal,
    Ranked,
    Row,
    Scaled,
    Whole,
    decide_rows,
    in_rows,
    keep,
    learn_rows,
    link_own,
    link_view,
    link_whole,
    look_at_row,
    meet,
    read,
    settle,
)
from kernbrook.engine.stores.ahead import ahead_of
from kernbrook.engine.stores.linear import Learned, Linear, OnFeatures
from kernbrook.engine.stores.slot_block import Budgeted, Nearby, SlotBlock, own_diagonals, shelf_of
from kernbrook.engine.stores.slots import Kept, SlotStore
from kernbrook.engine.verbs import Slots, parts_of
from kernbrook.errors import NonFiniteError
from kernbrook.features.base import link_features, write_row
from kernbrook.gram.points import RANGES, DenseRows, Floats, Labels, SupportVectors, range_of
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.lanes import dense_inner
from kernbrook.numerics.pairs import dense_manhattan, dense_squared
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, SQUARED, Plan
from kernbrook.numerics.scaling import METHODS, RANKS
from kernbrook.numerics.storage import renumber, spread_coefficients
from kernbrook.numerics.values import fill
from kernbrook.numerics.zero import zero_or

JOURNAL = 256  # rows between two copies of all that was learned
MOST_DUE = 256  # rows that the calibration learns from later
FEW = 12  # rows of a chunk that are quicker one by one
SOME = 8  # chunks of few rows before they are taken so

_decide_rows = naming(decide_rows)


class QuickRows:
    """A model that learns dense rows one by one, and decides on them.

    Parameters
    ----------
    model : its progress, states and scaler are in use here from now on, and change in place; others
        may replace them meanwhile
    """

    def __init__(self, model: Model):
        self._model, self.stamp, setting = ref(model), stamp(), model.setting
        m, c, d = model.n_experts, setting.scores, setting.width
        self.width, self.scores = d, c
        given, key, tells = np.empty((1, d)), np.zeros(1, dtype=np.int64), not setting.judges_stored
        methods, limit = model.scaler.methods, RANGES[setting.dtype].norms
        most = range_of(methods, setting.dtype).norms
        rows = [
            Row(
                given, given if way is None else np.empty((1, d)), np.empty(1), key, tells, most,
                limit,
            )
            for way in methods
        ]  # fmt: skip
        stores: list[InRows] = [
            in_rows(store)(store, state, rows[store.view])  # type: ignore[misc]
            for store, state in zip(model.stores, model.states, strict=True)
        ]
        self.stores, self.reads = stores, all(own.reads for own in stores)
        self.by_parts = [own for own in stores if not own.compiled]
        groups: list[Any] = [model.progress, [*model.scaler.arrays().values()]]
        groups += [own.changing(state) for own, state in zip(stores, model.states, strict=True)]
        live, (progress, scaling, *arrays) = together(groups)
        self.progress, self.scaler = Progress(*progress), model.scaler.on(scaling)
        forms = [own.use(its) for own, its in zip(stores, arrays, strict=True)]
        self.states = tuple(own.state for own in stores)
        board = empty_board(1, m, c, np.empty(1), np.empty(1), setting.regression, model.inputs)
        self.failed = board._replace(scores=board.scores.copy(), sizes=board.sizes.copy())
        long = 0 if self.by_parts else JOURNAL  # what Python fills in is not filled in again
        self.journal = Journal(
            np.zeros(1, dtype=np.int64), np.empty((long, d)), np.empty(long), np.empty(long)
        )
        self.due = Due(
            np.empty((MOST_DUE, model.inputs * c)),
            np.empty(MOST_DUE),
            np.empty(MOST_DUE),
            np.zeros(MOST_DUE, dtype=bool),
        )
        self.one = np.empty(1), np.empty(1)  # label and weight of a row
        self.kept: list[Any] = []  # what is behind the addresses in links
        parts = np.array([parts_of(member) for member, _ in forms])
        whole = Whole(
            model.passes.committee(model.choices), model.choices.terms._replace(given=True),
            self.progress, board, self.due, (self.failed.scores, self.failed.sizes),
            np.empty((1, c)), np.zeros(1, dtype=bool), scratch_of(m), rows[0],
            self._linked(link_view, views(methods, rows, scaling)),
            self._linked(link_store, [Met(member, board) for member, _ in forms]), parts,
            self._linked(link_own, [own for _, own in forms]),
            live, np.empty_like(live), self.journal, model.interferes,
        )  # fmt: skip
        self.link = self._linked(link_whole, [whole])[0]
        self._take_over()

    def _linked(self, maker: Any, forms: Sequence[Any]) -> Labels:
        """(n, LINK) links to forms, which are kept."""
        made = [new_link(maker, form) for form in forms]
        self.kept.append((made, forms))
        return np.array([link for link, _ in made], dtype=np.int64).reshape(-1, LINK)

    @staticmethod
    def of(model: Model | None) -> QuickRows | None:
        """That of a model, begun where there is none; None where it cannot learn so."""
        if model is None:
            return None
        quick: QuickRows | None = model.session
        if quick is None or quick.stamp != stamp():
            if not model.compiled or not all(in_rows(store) for store in model.stores):
                return None
            model.session = quick = QuickRows(model)
        return quick

    @staticmethod
    def for_few(model: Model, X: Any) -> QuickRows | None:
        """The same for rows of a chunk, (n, d), where they are few enough; and not at first.

        What takes rows one by one is compiled, or loaded, by itself: for a short chunk or two, at
        the end of a file, that would not be worth while.
        """
        if sp.issparse(X) or not 0 < len(X) <= FEW:
            return None
        if model.session is None:
            model.met_few += 1
            if model.met_few < SOME:
                return None
        return QuickRows.of(model)

    @property
    def model(self) -> Model:
        """The model, which holds this."""
        model = self._model()
        assert model is not None
        return model

    def learn(self, x: Floats, label: float, weight: float, given: float) -> Floats | None:
        """(c,) the decision on a row before its label, NaN: none, is learned from.

        weight, given : of the row, as it is learned with, and as it was given
        None where the row, (d,), is to be refused or has numbers of a size dealt with elsewhere.
        """
        if x.shape != (self.width,):
            return None
        self._look()
        out = np.empty((1, self.scores))
        end = self._fill(x)
        if end == DONE:
            self._expect(1, label, given)
            self.one[0][0], self.one[1][0] = label, weight
            end = learn_rows(self.link, x[None], *self.one, out)
        return self._answer(end, out)

    def learn_few(self, X: Floats, labels: Floats, weights: Floats, given: Floats) -> Floats | None:
        """(n, c) as `learn` for few rows, all or none; None where there is one to be refused."""
        if len(X) > len(self.journal.X) or X.shape[1] != self.width:
            return None
        self._look()
        self._expect(len(X), labels, given)
        out = np.empty((len(X), self.scores))
        end = learn_rows(self.link, np.require(X, requirements="W"), labels, weights, out)
        return out if end == DONE else None

    def _expect(self, n: int, labels: Any, weights: Any) -> None:
        """The calibration will learn from the next rows later, with their weights as given."""
        at, calibration = self.model.rounds, self.model.__dict__["calibration"]
        if at + n > MOST_ROUNDS:
            check_rounds(at + n)
        if calibration is not None and at + n - calibration.rounds > MOST_DUE:
            _ = self.model.calibration  # it learns what is due
        several = isinstance(labels, np.ndarray)
        where = np.arange(at, at + n) % MOST_DUE if several else at % MOST_DUE
        self.due.labels[where], self.due.weights[where] = labels, weights

    def decide(self, x: Floats) -> tuple[Floats, Floats] | None:
        """(1, c) the decision on a row, (d,), without learning, and what the experts lean to.

        None as for `learn`.
        """
        if x.shape != (self.width,) or not self.reads:
            return None
        self._look()
        end = self._fill(x)
        out, leanings = self._room(1)
        if end == DONE:
            end = _decide_rows(self.link, x[None], out, leanings)
        return None if self._answer(end, out) is None else (out, leanings)

    def decide_few(self, X: Floats) -> tuple[Floats, Floats] | None:
        """As `decide` for few rows; None where there is one to be refused."""
        if self.by_parts or X.shape[1] != self.width or not self.reads:
            return None
        self._look()
        out, leanings = self._room(len(X))
        end = _decide_rows(self.link, np.require(X, requirements="W"), out, leanings)
        return (out, leanings) if end == DONE else None

    def leanings(self, n: int) -> Floats:
        """(n, ...) what the experts leant to before the labels of the last few rows."""
        rounds = self.model.rounds
        return self.due.leanings[np.arange(rounds - n, rounds) % MOST_DUE]

    def _room(self, n: int) -> tuple[Floats, Floats]:
        return np.empty((n, self.scores)), np.empty((n, self.due.leanings.shape[1]))

    def _fill(self, x: Floats) -> int:
        """What is not compiled looks at a row. Returns how that ends."""
        end = DONE
        if self.by_parts and (end := look_at_row(self.link, x)) == DONE:
            for store in self.by_parts:
                store.fill()
        return end

    def _answer(self, end: int, out: Floats) -> Floats | None:
        """(c,) the decision, once a row has ended somehow; raises what says how."""
        if end == DONE:
            own: Floats = out[0]
            return own
        if end in (NOT_HERE, RAISED):  # a block says what the error was
            return None
        if end == TOO_LARGE:
            raise NonFiniteError(f"x: expected {RANGES[self.model.setting.dtype].told}")
        if end == NOT_COMBINED:
            raise NonFiniteError(COMBINED)
        self._overflowed(end)

    def _overflowed(self, end: int) -> NoReturn:
        if end == OVERFLOWED:
            self.model.check(self.failed)
        raise self.model.stores[end - OVERFLOWED - 1].overflow(0)

    def _look(self) -> None:
        """Take over what the model holds, if others have replaced it."""
        model = self.model
        if not (
            model.states is self.states
            and model.progress is self.progress
            and model.scaler is self.scaler
        ):
            self._take_over()

    def _take_over(self) -> None:
        """Copy what the model holds into the arrays in use here, which it then holds.

        Until then it holds others, or what is copied already lies here.
        """
        model = self.model
        self.journal.n[0] = COPY
        for own, other in zip(self.progress, model.progress, strict=True):
            np.copyto(own, other)
        for store, state in zip(self.stores, model.states, strict=True):
            store.load(state)
        self.scaler.restore(model.scaler.arrays())
        calibration = model.calibration  # up to date, before what was due is forgotten
        model.__dict__.update(
            progress=self.progress, states=self.states, scaler=self.scaler, due=self.due,
            calibration=calibration,
        )  # fmt: skip


def views(
    methods: Sequence[str | None], rows: Sequence[Row], arrays: Sequence[NDArray[Any]]
) -> list[Any]:
    """The compiled form of each view; arrays : three of each one that is scaled."""
    found: list[Any] = []
    for method, row in zip(methods, rows, strict=True):
        if method is None:
            found.append(AsGiven(row))
            continue
        (seen, first, second), arrays = arrays[:3], arrays[3:]
        code = METHODS[method]
        ranked = code == RANKS
        state = seen, first, second
        found.append(Ranked(row, *state) if ranked else Scaled(row, code, *state))
    return found


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


# -- under a budget ------------------------------------------------------------------------------


class Stored(NamedTuple):
    """Points that slots hold, with squared norms and keys, and room for one more."""

    X: Floats
    norms: Floats
    keys: Labels


class RowOfSlots(NamedTuple):
    """A row, as m experts under a budget meet it.

    block : of one row; its place is the last of all places
    plan, codes : of the kernels together, and the codes of the channels
    n : (1,) points that are stored
    stored, saved : the points, and a copy of some rows before
    row : see `Row`
    before : (m,) slots in use before the row
    column, pairs : (d, 1) and (channels * places,) scratch, of the type of pair values
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


class SlotsInRows(InRows):
    """Of the experts of one learner under a budget."""

    def __init__(self, store: SlotStore, state: Kept, row: Row):
        self.store, self.row = store, row
        m, _, room = state.slots.alpha.shape
        layout = store.sums.layout
        self.most, self.width = m * room, store.setting.width
        self.reads = len(np.unique(layout.plan.output)) == len(layout.plan.output)

    def changing(self, state: Kept) -> list[NDArray[Any]]:
        return [*state.slots, state.points.counted]

    def use(self, arrays: Sequence[NDArray[Any]]) -> tuple[Budgeted, RowOfSlots]:
        *slots, n = arrays
        own, store, most = Slots(*slots), self.store, self.most
        m, _, room = own.alpha.shape
        layout, nothing = store.sums.layout, np.zeros((0, 0))
        codes, kind = np.array(layout.channels), layout.dtype
        self.stored, saved = self._room(), self._room()
        points = SupportVectors(0, self.width, False)
        points._X, points._norms, points._keys = self.stored
        points._coefficients, points.counted = np.zeros((most + 1, 0)), n
        self.state = Kept(own, points, changes=True)
        nowhere = Nearby(nothing, np.zeros(1), np.zeros(0), np.inf)
        block = SlotBlock(
            store.experts, layout.parts, own, self.stored.keys, np.zeros(1, dtype=bool),
            np.empty((len(codes), 1, 1), kind), np.empty((m, 1)), nowhere, store.gammas, 0, m,
            np.zeros(LINK, dtype=np.int64), np.empty((m, 1, room)), shelf_of(0, 0, 0, 0, kind),
            ahead_of(0, 0, 0, kind), np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        of_row = RowOfSlots(
            block, layout.plan, codes, n, self.stored, saved, self.row, np.empty(m, np.int64),
            np.empty((self.width, 1), kind), np.empty(len(codes) * most, kind),
        )  # fmt: skip
        return Budgeted(store.link(), block), of_row

    def _room(self) -> Stored:
        most = self.most + 1
        return Stored(np.empty((most, self.width)), np.empty(most), np.zeros(most, dtype=np.int64))

    def load(self, state: Kept) -> None:
        super().load(state)
        own, points, n = self.stored, state.points, state.points.n
        own.X[:n], own.norms[:n], own.keys[:n] = points._X[:n], points._norms[:n], points._keys[:n]
        slots = self.state.slots
        slots.place[np.arange(slots.place.shape[1]) >= slots.filled] = 0


@in_rows.register(SlotStore)
def _slots_in_rows(store: SlotStore) -> type[InRows] | None:
    given = any(channel >= FIRST_GIVEN for channel in store.sums.layout.channels)
    return None if given or store.owns or store.grows or store.setting.sparse else SlotsInRows


@meet.of(RowOfSlots)
def _meet_slots(store):
    block, stored, row, n = store.block, store.stored, store.row, store.n[0]
    slots, key, known = block.slots, row.key[0], False
    if row.tells_apart:
        for s in range(n):
            known |= stored.keys[s] == key
    block.known[0], stored.keys[stored.keys.shape[0] - 1] = known, key
    meet_pairs(store.codes, store.plan, stored, n, row, store.column, store.pairs, block.own)
    met = store.pairs[: len(store.codes) * n].reshape((len(store.codes), n))
    scratch = np.empty((2, block.values.shape[2]), store.pairs.dtype)
    source = np.empty(block.values.shape[2], store.pairs.dtype)
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

    pairs : (channels, n); source, scratch : (B,) and (2, B), of the type of `pairs`
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
    slots, last = store.block.slots, store.block.keys.shape[0] - 1
    added = changed = False
    for e in range(slots.place.shape[0]):
        changed |= slots.filled[e, 0] != store.before[e]
        for s in range(slots.place.shape[1]):  # a slot may have been filled, and emptied again
            added |= slots.place[e, s] == last
    if added or changed:  # else no slot holds another point than before
        compact(slots, store.n, store.stored, store.row, last)
    if chosen >= 0:
        for e in range(slots.place.shape[0]):
            if store.block.experts[e] != chosen:
                slots.filled[e, 0] = 0
        compact(slots, store.n, store.stored, store.row, last)


@njit(cache=True)
def compact(slots, count, stored, row, last):
    """Keep the points that slots hold, and the row, whose place is the last, if one holds it."""
    n, d = count[0], stored.X.shape[1]
    for e in range(slots.place.shape[0]):
        for s in range(slots.place.shape[1]):
            if s >= slots.filled[e, 0]:
                slots.place[e, s] = 0
            elif slots.place[e, s] == last:
                slots.place[e, s] = n
    for k in range(d):
        stored.X[n, k] = row.x[0, k]
    stored.norms[n], stored.keys[n] = row.norm[0], row.key[0]
    used = renumber(slots.place, slots.filled.reshape(-1), n + 1)
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
    values = np.empty((2, n), met.dtype)
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


class FeaturesInRows(InRows):
    """Of experts on features."""

    def __init__(self, store: Linear, state: Learned, row: Row):
        self.store, self.pool = store, state.pool
        self.rows = DenseRows(row.x, row.norm, row.key)
        self.features = state.pool.empty(1)
        rules = state.pool.rules()
        self.compiled = all(rule is not None for rule in rules)
        made = [new_link(link_features, rule) for rule in rules] if self.compiled else []
        self.maps = np.array([link for link, _ in made], dtype=np.int64).reshape(-1, LINK)
        self.kept = made, rules

    def changing(self, state: Learned) -> tuple[Floats, Floats]:
        return state.theta, state.extra

    def use(self, arrays: Sequence[NDArray[Any]]) -> tuple[OnFeatures, RowOfFeatures]:
        theta, extra = arrays
        self.state = Learned(theta, extra, self.pool)
        member = self.store.member(self.features, theta, extra, self.store.scratch())
        return member, RowOfFeatures(member, self.rows.X, self.maps)

    def fill(self) -> None:
        self.pool.fill(self.rows, self.features)


@in_rows.register(Linear)
def _features_in_rows(store: Linear) -> type[InRows]:
    return FeaturesInRows


@meet.of(RowOfFeatures)
def _meet_features(store):
    for k in range(len(store.maps)):
        through(write_row, store.maps[k], store.x, store.member.block.features)


@read.of(RowOfFeatures)
def _read_features(store, board):
    meet(store)
    for i in range(parts_of(store.member)):
        verbs.score(verbs.part(store.member, i, board), 0, board)
