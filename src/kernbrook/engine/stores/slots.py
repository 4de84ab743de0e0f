"""Slots: experts that hold a fixed number of support vectors each.

The kernel values of every slot with the examples of the block are kept, so that a score is one sum
over an expert's own slots, in their order, at the moment it is needed: nothing is ever subtracted
from a running sum, and the result does not depend on the block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import ask_for, shown
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.stores.base import (
    Pass,
    Setting,
    Spread,
    Store,
    copied,
    finite,
    look,
    met,
    summed,
)
from kernbrook.engine.verbs import (
    Points,
    Slots,
    fit_in,
    keep_within,
    learn,
    link_budgeted,
    linked,
    part,
    parts_of,
    score,
    sound,
    typed,
)
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.points import (
    Block,
    DenseRows,
    Flags,
    Floats,
    Labels,
    Rows,
    SupportVectors,
    check_array,
)
from kernbrook.gram.sums import KernelSums, share
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import POLYNOMIAL, lay_out, one_by_one
from kernbrook.numerics.classes import add_step
from kernbrook.numerics.compiling import njit
from kernbrook.numerics.linking import ROOM, pin, through
from kernbrook.numerics.plan import FIRST_GIVEN, Parts
from kernbrook.numerics.storage import renumber, spread_coefficients
from kernbrook.numerics.values import kernel_rows
from kernbrook.numerics.zero import zero_or

BUDGET_BLOCK = 128  # examples processed together: later ones see more of the block's own changes
READ_BLOCK = 4 << 20  # numbers: kernel values of slots that are held together


class SlotBlock(NamedTuple):
    """A block of b examples, as m experts meet it.

    experts : (m,) int, their numbers in the pool
    parts : their kernels
    slots : what they hold
    keys, known : (n + b,) int of the n stored points and the block, equal for equal rows; (b,)
        bool, whether an expert may hold a row that is equal to one of the block
    pairs : (channels, b, b) pair values of the block with itself
    diagonal : (m, b) k(x, x)
    values : (m, b, B) kernel values of the block with the slots
    columns : (m, b) scratch
    points : see `Points`, with a gamma for each expert in `gammas`, (m,)
    pins : (m, ROOM) scratch
    """

    experts: Labels
    parts: Parts
    slots: Slots
    keys: Labels
    known: NDArray[np.bool_]
    pairs: Floats
    diagonal: Floats
    values: Floats
    columns: Floats
    points: Points
    gammas: Floats
    pins: Labels


class Budgeted(NamedTuple):
    """The compiled form: experts of one rule, to which there is a link, and what they meet."""

    rule: Any
    block: SlotBlock


class Seat(NamedTuple):
    """Expert e of the block: its number in the pool, slots, (b, B) kernel values and points."""

    block: SlotBlock
    e: int
    expert: int
    slots: Slots
    values: NDArray[np.float64]
    points: Points


class Seated(NamedTuple):
    """One part of the compiled form; `slots` are the seat's, pinned."""

    rule: Any
    seat: Seat
    slots: Any


@parts_of.of(Budgeted)
def _parts_of(member):
    return member.block.experts.shape[0]


@part.of(Budgeted)
def _part(member, i, board):
    seat = seat_of(member.block, i)
    return Seated(member.rule, seat, pin(seat.slots, member.block.pins[i]))


@njit(cache=True, nogil=True, forceinline=True)
def seat_of(block, e):
    """The seat of one expert: views."""
    slots, points = block.slots, block.points
    own = Slots(
        slots.alpha[e], slots.diagonal[e], slots.born[e], slots.place[e], slots.filled[e],
        slots.gram[e], slots.factor[e], slots.order[e], slots.memory[e], slots.scale[e],
        slots.points[e], slots.norms[e],
    )  # fmt: skip
    points = Points(points.features, points.norms, points.columns, points.reach, block.gammas[e])
    return Seat(block, e, block.experts[e], own, block.values[e], points)


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def dot(alpha, filled, row):
    """(sum, size) of alpha[s] * row[s] over the slots in use, in an order fixed by their number."""
    total, size = 0.0, 0.0
    for s in range(filled):
        term = alpha[s] * row[s]
        total += term
        size += abs(term)
    return total, size


@score.of(Seated)
def _score(part, t, board):
    score_slots(part.seat, t, board)


@njit(cache=True, nogil=True, forceinline=True)
def score_slots(seat, t, board):
    """See `score`."""
    slots, row, expert = seat.slots, seat.values[t], seat.expert
    scale, filled = slots.scale[0], slots.filled[0]
    for c in range(slots.alpha.shape[0]):
        total, size = dot(slots.alpha[c], filled, row)
        board.scores[t, expert, c] = scale * zero_or(total, size)
        board.sizes[t, expert, c] = scale * size
    held, known, keys = False, seat.block.known, seat.block.keys
    if known[t]:
        key = keys[keys.shape[0] - known.shape[0] + t]
        for s in range(filled):
            held |= keys[slots.place[s]] == key
    board.known[t, expert] = held


@learn.of(Seated)
def _learn(part, t, updates, clock, board):
    rule, seat = part.rule, part.seat
    if not updates[seat.expert] or board.importance[t] <= 0.0:
        return
    seen = look(board, t, seat.expert, seat.block.diagonal[seat.e, t], clock)
    change = through(fit_in, rule, part.slots, seen, seat.values[t:])
    if change.slot >= 0:
        put(seat, change, seen, t)
        through(keep_within, rule, part.slots, seen, seat.values[t + 1 :], seat.points, t)


@sound.of(Budgeted)
def _sound(member, i):
    return finite(member.block.slots.alpha[i].reshape(-1))


@njit(cache=True, nogil=True, forceinline=True)
def put(seat, change, seen, t):
    """A slot now holds example t, with the coefficients of the change."""
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
            slots.gram[s, other] = rows[t, other]
            slots.gram[other, s] = rows[t, other]
        slots.gram[s, s] = seen.diagonal
    if slots.points.shape[0] > 0:  # merged points are the expert's own
        slots.place[s] = e * slots.place.shape[0] + s
        slots.norms[s] = seat.points.norms[t]
        for k in range(slots.points.shape[1]):
            slots.points[s, k] = seat.points.features[t, k]
    if t + 1 < b:
        here, column = np.full(1, t), block.columns[e : e + 1]
        kernel_rows(block.parts, e, block.pairs, here, t + 1, b, column)
        for j in range(t + 1, b):
            rows[j, s] = column[0, j]


@njit(cache=True, nogil=True)
def slot_values(parts, slots, pairs, start, values):
    """values[e, start + j, s] = expert e's kernel of its slot s and the j-th of some examples.

    pairs : (channels, points, n) pair values of the stored points and these n examples
    values : (m, b, B) out
    """
    none, n = np.int64(0), pairs.shape[2]  # numba compiles anew for a literal 0
    rows = np.empty((values.shape[2], n))
    for e in range(values.shape[0]):
        filled = slots.filled[e, 0]
        kernel_rows(parts, e, pairs, slots.place[e, :filled], none, n, rows)
        out = values[e, start : start + n]
        for first in range(0, n, 8):  # eight examples at a time: whole cache lines are read
            for s in range(filled):
                for j in range(first, min(first + 8, n)):
                    out[j, s] = rows[s, j]


@njit(cache=True, nogil=True)
def own_diagonals(parts, pairs, out):
    """out[e, t] = k_e(x_t, x_t), (m, b); pairs (channels, b, b) of the block with itself."""
    m, b = out.shape
    none, here = np.int64(0), np.zeros(1, dtype=np.int64)
    own = np.empty((pairs.shape[0], 1, b))
    for channel in range(pairs.shape[0]):
        for t in range(b):
            own[channel, 0, t] = pairs[channel, t, t]
    for e in range(m):
        kernel_rows(parts, e, own, here, none, b, out[e : e + 1])


class Kept(NamedTuple):
    """The state: the slots, and the points that they hold, without coefficients.

    changes : whether the arrays change in place, as rows are learned one at a time
    """

    slots: Slots
    points: SupportVectors
    changes: bool = False


def still(state: Kept) -> Kept:
    """The state, or a copy of one that changes, made while no row is learned."""
    if not state.changes:
        return state
    points = copy(state.points)
    slots, points.counted, points._X, points._norms, points._keys = copied_at_once(
        state.slots, points.counted, points._X, points._norms, points._keys
    )
    return Kept(slots, points)


@njit(cache=True)
def copied_at_once(slots, counted, X, norms, keys):
    """Copies; what is compiled without `nogil` runs while nothing else does that Python calls."""
    n = counted[0]
    copies = Slots(
        slots.alpha.copy(), slots.diagonal.copy(), slots.born.copy(), slots.place.copy(),
        slots.filled.copy(), slots.gram.copy(), slots.factor.copy(), slots.order.copy(),
        slots.memory.copy(), slots.scale.copy(), slots.points.copy(), slots.norms.copy(),
    )  # fmt: skip
    return copies, counted.copy(), X[:n].copy(), norms[:n].copy(), keys[:n].copy()


class SlotStore(Store):
    """Experts of one learner, each within its budget.

    Parameters
    ----------
    learner : has `slots()`, their number or None; `keeps(kernels)`, what they hold besides
    rule : of these experts
    kernels, experts : of each expert the kernel, and its number in the pool
    """

    def __init__(
        self,
        learner: Any,
        rule: Any,
        kernels: tuple[Kernel, ...],
        experts: Sequence[int],
        setting: Setting,
    ):
        self.learner, self.rule, self.kernels = learner, typed(rule), kernels
        self.experts = np.array(experts)
        self.together = BUDGET_BLOCK
        self.keeps = learner.keeps(rule)
        self.owns = "points" in self.keeps  # merged points are no rows of the data
        self.setting = setting._replace(
            sparse=setting.sparse and not self.owns,
            judges_stored=setting.judges_stored or self.owns,
        )
        self.budget = learner.slots()
        self.grows = self.budget is None
        self.sums = KernelSums(kernels, lay_out(kernels, setting.scores))
        self.parts = one_by_one(kernels, self.sums.layout)
        self._last: tuple[Any, Any] = None, None  # a state, and its support vectors
        self.gammas = np.array([getattr(kernel, "gamma", 0.0) for kernel in kernels], dtype=float)

    def begin(self) -> Kept:
        budget, m = self.budget or 0, len(self.kernels)
        squares = len(self.keeps & {"gram", "factor"})
        each = self.setting.scores + 3 + squares * budget + self.owns * (self.setting.width + 1)
        # Twice: it learns on a copy.
        ask_for(2 * m * budget * each, f"{shown(self.learner)} with {self._kernels}")
        return Kept(self._empty(budget), self._no_points())

    @property
    def _kernels(self) -> str:
        m = len(self.kernels)
        return "1 kernel" if m == 1 else f"{m} kernels"

    def _no_points(self) -> SupportVectors:
        return SupportVectors(0, self.setting.width, self.setting.sparse)

    def _empty(self, budget: int) -> Slots:
        m, d = len(self.kernels), self.setting.width
        grams = budget if "gram" in self.keeps else 0
        factors = budget if "factor" in self.keeps else 0
        return Slots(
            alpha=np.zeros((m, self.setting.scores, budget)),
            diagonal=np.zeros((m, budget)),
            born=np.zeros((m, budget), dtype=np.int64),
            place=np.zeros((m, budget), dtype=np.int64),
            filled=np.zeros((m, 1), dtype=np.int64),
            gram=np.zeros((m, grams, grams)),
            factor=np.zeros((m, factors, factors)),
            order=np.zeros((m, factors), dtype=np.int64),
            memory=np.zeros((m, 3)),
            scale=np.ones((m, 1)),
            points=np.zeros((m, budget, d) if self.owns else (m, 0, 0)),
            norms=np.zeros((m, budget if self.owns else 0)),
        )

    def prepare(self, state: Kept, rows: Rows, progress: Progress, raw: Any) -> Pass:
        stored = self._points(state)
        self._check_polynomials(rows, stored)
        slots, b, m = copied(state.slots), len(rows), len(self.kernels)
        if self.grows:
            slots = with_room(slots, int(slots.filled.max(initial=0)) + b)
        layout = self.sums.layout
        given = Block(rows, layout)
        own = given.own_pairs()
        keys, known = met(self.setting.judges_stored, rows, stored.keys, inside=True)
        nothing = np.zeros((0, 0))
        features = nothing, rows.norms, nothing, np.inf, 0.0
        if self.owns:
            features = rows.dense(), rows.norms, given.columns, layout.plan.reach, 0.0
        diagonal = np.empty((m, b))
        own_diagonals(self.parts, own, diagonal)
        block = SlotBlock(
            self.experts, self.parts, slots, np.concatenate([stored.keys, keys]), known,
            own, diagonal, self._values(slots, stored, rows), np.empty((m, b)),
            Points(*features), self.gammas, np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        member = Budgeted(self.link(), block)
        threads = self.sums.threads(2 * b * int(slots.filled.sum()))

        def finish(board: Board, asked: Flags) -> Kept:
            if not np.isfinite(slots.alpha).all():
                worst = int(np.isfinite(slots.alpha).all(axis=(1, 2)).argmin())
                raise self.overflow(worst)
            if self.owns:
                return Kept(slots, state.points)
            return Kept(slots, self._used(state.points, slots, rows, len(stored)))

        return Pass((member,), threads, finish)

    def link(self) -> Any:
        """To the rule."""
        return linked(link_budgeted, self.rule, self.compiled)

    def _values(self, slots: Slots, stored: Rows, rows: Rows) -> Floats:
        """(m, b, B) kernel values of the slots with some rows, by threads."""
        m, _, room = slots.alpha.shape
        b, layout = len(rows), self.sums.layout
        what = f"a block of {b:,} rows with {self._kernels} and {room:,} slots"
        values = ask_for(m * b * room, what).reshape(m, b, room)
        threads = self.sums.threads(2 * b * int(slots.filled.sum()))
        lanes = -(-b // (8 * threads)) * 8

        def meet(lo: int) -> None:
            part = rows.part(lo, min(lo + lanes, b))
            pairs = np.empty((len(layout.channels), len(stored), len(part)))
            Block(part, layout).pairs(stored, pairs)
            slot_values(self.parts, slots, pairs, lo, values)

        share(threads, meet, range(0, b, lanes))
        return values

    def reading(self, state: Kept, rows: Rows, raw: Any) -> Pass:
        totals, sizes = self.sums.sums(self._support(state), rows)
        return summed(self.experts, totals, sizes, state)

    def _support(self, state: Kept) -> SupportVectors:
        """The points with the experts' coefficients."""
        state, (known, found) = still(state), self._last
        if known is not state:
            points, spread = self.expansion(state)
            columns = spread.shape[1] * spread.shape[2]
            found = SupportVectors(columns, self.setting.width, False)
            if self.owns:
                every = np.arange(len(points))
                found = found.appended(points, every, spread.reshape(-1, columns))
            else:
                found = state.points.with_coefficients(spread.reshape(-1, columns))
            self._last = state, found
        return found

    def _points(self, state: Kept) -> Rows:
        """The points that `slots.place` counts from 0."""
        if not self.owns:
            return state.points.rows
        points, norms = state.slots.points, state.slots.norms.reshape(-1)
        n = len(norms)
        return DenseRows(points.reshape(n, points.shape[2]), norms, np.zeros(n, np.int64))

    def arrays(self, state: Kept) -> dict[str, NDArray[Any]]:
        state = still(state)
        held = {} if self.owns else state.points.arrays()
        return {**{name: getattr(state.slots, name) for name in self._fields()}, **held}

    def _fields(self) -> list[str]:
        """The slots' own arrays, but for those of merged points where none are merged."""
        return [name for name in Slots._fields if self.owns or name not in ("points", "norms")]

    def expansion(self, state: Kept) -> tuple[Rows, Floats]:
        state = still(state)
        slots, m, c = state.slots, len(self.kernels), self.setting.scores
        if not self.owns:
            out = np.empty((state.points.n, m * c))
            spread_coefficients(
                slots.alpha, slots.scale.reshape(-1), slots.place, slots.filled.reshape(-1), out
            )
            return state.points.rows, out.reshape(-1, m, c)
        room = slots.alpha.shape[2]
        held = np.flatnonzero(np.arange(room) < slots.filled)
        coefficients = np.zeros((len(held), m, c))
        e, s = held // room, held % room
        coefficients[np.arange(len(held)), e] = slots.scale[e] * slots.alpha[e, :, s]
        points = self._points(state)
        return DenseRows(points.dense()[held], points.norms[held], points.keys[held]), coefficients

    def overflow(self, expert: int) -> NonFiniteError:
        return NonFiniteError(
            f"kernel {self.kernels[expert]}: its sums overflowed; scale the features"
        )

    def held(self, state: Kept) -> int:
        return state.points.n

    def grown(self, arrays: Mapping[str, NDArray[Any]], spread: Spread) -> dict[str, NDArray[Any]]:
        if self.learner.remembers and len(spread.coefficients) == 1:
            raise InputError(
                f"{self.learner!r} keeps the length of one score, and cannot learn of a third class"
            )
        alpha = np.einsum("mcb,ck->mkb", arrays["alpha"], spread.coefficients)
        return {**arrays, "alpha": np.ascontiguousarray(alpha)}

    def widened(self, before: SlotStore, state: Kept) -> Kept:
        given = any(channel >= FIRST_GIVEN for channel in self.sums.layout.channels)
        if given and self.keeps & {"gram", "factor"}:
            return self.begin()  # the values that they keep may be others now
        wide: Kept = super().widened(before, state)
        return wide

    def counts(self, state: Kept) -> Labels:
        return np.count_nonzero(self.expansion(state)[1].any(axis=2), axis=0)

    def nbytes(self, state: Kept) -> int:
        state = still(state)
        return state.points.nbytes + sum(array.nbytes for array in state.slots)

    def only(self, state: Kept, expert: int) -> Kept:
        state = still(state)
        slots = copied(state.slots)
        slots.filled[self.experts != expert] = 0
        used = renumber(slots.place, slots.filled.reshape(-1), state.points.n)
        return Kept(slots, state.points if self.owns else state.points.kept(used))

    def _used(self, points: SupportVectors, slots: Slots, rows: Rows, n: int) -> SupportVectors:
        """The stored points and rows of the block that some slot holds; changes `slots.place`."""
        used = renumber(slots.place, slots.filled.reshape(-1), n + len(rows))
        slots.place[np.arange(slots.place.shape[1]) >= slots.filled] = 0  # or they tell of blocks
        kept = np.searchsorted(used, n)
        added = used[kept:] - n
        return points.kept(used[:kept]).appended(rows, added, np.zeros((len(added), 0)))

    def _check_polynomials(self, rows: Rows, stored: Rows) -> None:
        """Refuse a block, before anything is learned from it, on which a polynomial overflows."""
        largest = rows.norms.max(initial=0.0)
        largest = np.sqrt(largest) * np.sqrt(max(stored.norms.max(initial=0.0), largest))
        parts = self.parts
        for e, kernel in enumerate(self.kernels):
            for own in range(parts.first[e], parts.first[e + 1]):
                base = largest + abs(parts.parameter[own]) + 1
                if parts.code[own] == POLYNOMIAL and np.log10(base) * parts.power[own] > 300:
                    raise NonFiniteError(
                        f"kernel {kernel}: its values overflow; scale the features, or lower "
                        "its degree"
                    )

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Kept:
        shape = np.shape(arrays.get("alpha", ()))
        room = self.budget or (shape[-1] if shape else 0)
        of_each = len(self.kernels), self.setting.scores, room
        check_array("alpha", arrays.get("alpha"), of_each, np.float64)  # before so much is taken
        slots = self._empty(room)
        for name in self._fields():
            array = getattr(slots, name)
            check_array(name, arrays.get(name), array.shape, array.dtype)
            if not np.isfinite(arrays[name]).all():
                raise InputError(f"{name}: NaN or infinity")
        slots = slots._replace(**{name: arrays[name] for name in self._fields()})
        points = self._no_points()
        if not self.owns:
            points.restore(arrays)
        state = Kept(slots, points)
        self._check(state)
        return state

    def _check(self, state: Kept) -> None:
        """Raise InputError where slots point outside what is stored: compiled code trusts them."""
        slots, room = state.slots, state.slots.alpha.shape[2]
        filled = slots.filled[:, 0]
        most = room - self.learner.spare if not self.grows else room
        if ((filled < 0) | (filled > most)).any():
            raise InputError(f"filled: expected 0 to {most}")
        places = slots.place[np.arange(room) < slots.filled]
        stored = len(self._points(state))
        if ((places < 0) | (places >= stored)).any():
            raise InputError(f"place: expected 0 to {stored - 1}")
        if not (slots.scale > 0).all():
            raise InputError("scale: expected numbers above 0")
        if self.learner.remembers and (slots.memory[:, 0] < 0).any():
            raise InputError("memory: expected numbers from 0 in the first column")
        for e in range(len(filled) if slots.order.shape[1] else 0):
            n = filled[e]
            if not np.array_equal(np.sort(slots.order[e, :n]), np.arange(n)):
                raise InputError(f"order: expected the slots 0 to {n - 1}")
            for name, numbers in (
                ("diagonal", slots.diagonal[e, :n]),
                ("factor", np.diagonal(slots.factor[e])[:n]),
            ):
                if not (numbers > 0).all():
                    raise InputError(f"{name}: expected numbers above 0")


def with_room(slots: Slots, needed: int) -> Slots:
    """Slots with room for so many, at least half as many again as before."""
    room = slots.alpha.shape[2]
    if needed <= room:
        return slots
    more = max(needed, room * 3 // 2) - room

    def grown(array: Any) -> Any:
        return np.concatenate([array, np.zeros((*array.shape[:-1], more), array.dtype)], -1)

    names = ("alpha", "diagonal", "born", "place")
    return slots._replace(**{name: grown(getattr(slots, name)) for name in names})
