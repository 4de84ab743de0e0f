"""One row at a time: what a block does, in buffers that are made once.

Two sets of buffers take turns: a row is learned in the set that the model does not hold, and the
model takes it over in one step. So a row is learned as a whole or not at all, as a block is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook.engine.model import Follow, Model, clock_of
from kernbrook.engine.progress import empty_board
from kernbrook.engine.stores.base import copied
from kernbrook.engine.stores.linear import Learned, Linear, OnFeatures
from kernbrook.engine.stores.slots import (
    Budgeted,
    Kept,
    SlotBlock,
    SlotStore,
    own_diagonals,
)
from kernbrook.engine.verbs import Points, parts_of
from kernbrook.errors import NonFiniteError
from kernbrook.gram.points import DenseRows, Floats, SupportVectors
from kernbrook.numerics.arithmetic import fma
from kernbrook.numerics.borrowing import borrowed
from kernbrook.numerics.compiling import njit
from kernbrook.numerics.keys import dense_keys
from kernbrook.numerics.linking import ROOM
from kernbrook.numerics.pairs import dense_inner, dense_manhattan, dense_norms, dense_squared
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, SQUARED
from kernbrook.numerics.storage import renumber
from kernbrook.numerics.values import fill_by_code


class QuickRows:
    """A model of slots and features that learns dense rows one by one.

    Parameters
    ----------
    model : whose progress and states are replaced by each row; others may replace them meanwhile
    """

    def __init__(self, model: Model):
        self.model = model
        m, c = model.n_experts, model.setting.scores
        self.label, self.importance = np.empty(1), np.empty(1)
        self.board = empty_board(1, m, c, self.label, self.importance, model.setting.regression)
        self.decisions, self.asked = np.empty((1, c)), np.zeros(1, dtype=bool)
        self.progress = [copied(model.progress), copied(model.progress)]
        self.committee = model.passes.committee(model.choices)
        kinds = {SlotStore: _QuickSlots, Linear: _QuickLinear}
        self.stores = [kinds[type(store)](store) for store in model.stores]
        self.terms = model.choices.terms._replace(given=True)
        self.turn = 0

    @staticmethod
    def takes(model: Model) -> bool:
        """Whether a model can learn so."""
        return all(
            (type(store) is SlotStore and _QuickSlots.takes(store)) or type(store) is Linear
            for store in model.stores
        )

    def learn(
        self,
        x: Floats,
        raw: Floats,
        label: float,
        weight: float,
        follow: Follow | None = None,
        **others: Any,
    ) -> Floats:
        """(c,) the decision on a row, (1, d), before its label, NaN: none, is learned from.

        raw : the row before it was scaled
        follow, others : as for `Model.learn_block`
        """
        model, board = self.model, self.board
        self.turn = turn = 1 - self.turn
        progress = self.progress[turn]
        if progress is model.progress:  # whoever holds it must not see it change
            self.turn = turn = 1 - turn
            progress = self.progress[turn]
        _copy(model.progress, progress)
        norm = dense_norms(x)
        if not norm[0] < np.inf:
            raise NonFiniteError("x: expected finite values of size below 1e154")
        self.label[0], self.importance[0] = label, weight
        key = np.zeros(1, dtype=np.int64) if model.setting.judges_stored else dense_keys(raw)
        row = x, norm, key
        pairs = zip(self.stores, model.states, strict=True)
        members = [store.prepare(state, row, turn) for store, state in pairs]
        if not model.interferes:
            clock = clock_of(model.progress)
            for member in members:
                model.passes.learner_pass(member, board, 0, parts_of(member), clock)
        model.go_through(
            self.committee, self.terms, progress, members, board, self.decisions, self.asked
        )
        states = model.chosen_of(progress, tuple(store.finish(row) for store in self.stores))
        if follow is not None:
            others.update(follow(board, self.asked))
        model.__dict__.update(progress=progress, states=states, **others)
        return self.decisions[0]


def _copy(source: tuple[Any, ...], target: tuple[Any, ...]) -> None:
    for one, other in zip(source, target, strict=True):
        if one.size:
            np.copyto(other, one)


class _QuickSlots:
    """Of the experts of one learner under a budget."""

    def __init__(self, store: SlotStore):
        self.store, self.link, begun = store, store.link(), store.begin()
        m, room, d = len(store.kernels), begun.slots.alpha.shape[2], store.setting.width
        channels = store.sums.layout.channels
        most = m * room
        self.codes = np.array(channels)
        self.slots = [copied(begun.slots), copied(begun.slots)]
        self.X = [np.empty((most, d)), np.empty((most, d))]
        self.norms = [np.empty(most), np.empty(most)]
        self.keys = [np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)]
        self.none = np.zeros((most, 0))  # coefficients
        self.pairs = np.empty(len(channels) * most)
        self.own = np.empty((len(channels), 1, 1))
        self.diagonal, self.columns = np.empty((m, 1)), np.empty((m, 1))
        self.values, self.pins = np.empty((m, 1, room)), np.empty((m, ROOM), dtype=np.int64)
        nothing = np.zeros((0, 0))
        self.points = Points(nothing, np.zeros(1), nothing, np.inf, 0.0)
        self.turn = 0

    @staticmethod
    def takes(store: SlotStore) -> bool:
        given = any(channel >= FIRST_GIVEN for channel in store.sums.layout.channels)
        return not (given or store.owns or store.grows or store.setting.sparse)

    def prepare(self, state: Kept, row: Any, turn: int) -> Budgeted:
        x, norm, key = row
        slots, store = self.slots[turn], self.store
        if slots.alpha is state.slots.alpha:  # taken over by the model the other way round
            turn = 1 - turn
            slots = self.slots[turn]
        self.turn = turn
        _copy(state.slots, slots)
        points = state.points
        self.held = n = points.n
        self.before = points
        known = np.zeros(1, dtype=bool)
        meet_row(
            (self.codes, store.sums.layout.plan.reach), (points._X, points._norms), n, (x, norm),
            self.pairs, self.own, store.parts, slots, self.values, self.diagonal,
        )  # fmt: skip
        if store.setting.judges_stored:
            keys = np.arange(n + 1)
        else:
            keys = np.append(points._keys[:n], key)
            known[0] = (points._keys[:n] == key[0]).any()
        block = SlotBlock(
            store.experts, store.parts, slots, keys, known, self.own, self.diagonal, self.values,
            self.columns, self.points, store.gammas, self.pins,
        )  # fmt: skip
        return Budgeted(self.link, block)

    def finish(self, row: Any) -> Kept:
        turn, before = self.turn, self.before
        slots, (x, norm, key) = self.slots[turn], row
        if not np.isfinite(slots.alpha).all():
            raise self.store.overflow(0)
        X, norms, keys = self.X[turn], self.norms[turn], self.keys[turn]
        n = settle(
            slots.place, slots.filled.reshape(-1), (before._X, before._norms, before._keys),
            self.held, (x, norm, key), (X, norms, keys),
        )  # fmt: skip
        points = SupportVectors.__new__(SupportVectors)
        points.__dict__.update(before.__dict__, n=n, _X=X, _norms=norms, _keys=keys)
        points._coefficients = self.none[:n]
        return Kept(slots, points)


class _QuickLinear:
    """Of experts on features."""

    def __init__(self, store: Linear):
        self.store = store
        begun = store.begin()
        self.theta = [begun.theta, begun.theta.copy()]
        self.extra = [begun.extra, begun.extra.copy()]
        self.features, scratch = begun.pool.empty(1), store.scratch()
        pairs = zip(self.theta, self.extra, strict=True)
        self.members = [store.member(self.features, *pair, scratch) for pair in pairs]

    def prepare(self, state: Learned, row: Any, turn: int) -> OnFeatures:
        x, norm, key = row
        if self.theta[turn] is state.theta:
            turn = 1 - turn
        theta, extra = self.theta[turn], self.extra[turn]
        np.copyto(theta, state.theta)
        np.copyto(extra, state.extra)
        self.after = state._replace(theta=theta, extra=extra)
        state.pool.fill(DenseRows(x, norm, key), self.features)
        return self.members[turn]

    def finish(self, row: Any) -> Learned:
        if not (np.isfinite(self.after.theta).all() and np.isfinite(self.after.extra).all()):
            raise self.store.overflow(0)
        return self.after


@njit(cache=True, nogil=True)
def meet_row(channels, stored, n, row, pairs, own, parts, slots, values, diagonal):
    """Fill in what a block of one row is for slots.

    channels : their codes, and the kernels' reach
    stored, n : features and squared norms of stored points, of which n are in use
    row : (1, d) and its squared norm, (1,)
    pairs : scratch; own, values, diagonal : out, as for `SlotBlock`
    """
    codes, reach = channels
    X, norms = stored
    x, norm = row
    column = np.ascontiguousarray(x.T)
    met = pairs[: len(codes) * n].reshape((len(codes), n, 1))
    for i in range(len(codes)):
        if codes[i] == INNER:
            dense_inner(X[:n], column, met[i])
            dense_inner(x, column, own[i])
        elif codes[i] == SQUARED:
            dense_squared(X[:n], norms[:n], x, norm, met[0], reach, met[i])
            dense_squared(x, norm, x, norm, own[0], reach, own[i])
        else:
            dense_manhattan(X[:n], column, met[i])
            dense_manhattan(x, column, own[i])
    scratch = np.empty((2, values.shape[2]))
    source = np.empty(values.shape[2])
    for e in range(values.shape[0]):
        along_slots(
            parts, e, met, slots.place[e, : slots.filled[e, 0]], source, scratch, values[e, 0]
        )
    own_diagonals(parts, own, diagonal)


@njit(cache=True, nogil=True)
def along_slots(parts, e, pairs, places, source, scratch, out):
    """out[s] = expert e's kernel of the point places[s] and the row; as `kernel_rows`.

    pairs : (channels, n, 1); source, scratch : (B,) and (2, B)
    """
    parts = borrowed(parts)
    n = np.uintp(places.shape[0])
    for s in range(n):
        out[s] = 0.0
    for part in range(parts.first[e], parts.first[e + 1]):
        channel, factor = np.uintp(parts.channel[part]), parts.factor[part]
        for s in range(n):
            source[s] = pairs[channel, np.uintp(places[s]), 0]
        if fill_by_code(
            parts.kinds, parts.code[part], source, scratch, np.uintp(0), n, parts.parameter[part],
            parts.offset[part], parts.power[part],
        ):  # fmt: skip
            for s in range(n):
                out[s] = fma(factor, scratch[0, s], out[s])


@njit(cache=True, nogil=True)
def settle(place, filled, stored, n, row, kept):
    """Keep the points that slots hold; how many they are. Changes `place`.

    stored, row, kept : features, squared norms and keys, of n points, of one, and out
    """
    used = renumber(place, filled, n + 1)
    for i in range(len(used)):
        s = used[i]
        if s < n:
            for k in range(stored[0].shape[1]):
                kept[0][i, k] = stored[0][s, k]
            kept[1][i], kept[2][i] = stored[1][s], stored[2][s]
        else:
            for k in range(stored[0].shape[1]):
                kept[0][i, k] = row[0][0, k]
            kept[1][i], kept[2][i] = row[1][0], row[2][0]
    return len(used)
