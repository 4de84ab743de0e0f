"""Slots: experts that hold a fixed number of support vectors each.

The kernel values of every slot with the examples of a window of the block are kept, so that a score
is one sum over an expert's own slots, in their order, at the moment it is needed: nothing is ever
subtracted from a running sum, and the result does not depend on the block.
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
from kernbrook.engine.stores.windows import (
    TILE,
    DenseMeeting,
    followed,
    link_meeting,
    meet_points,
    meet_row,
    meeting_of,
    turn_to,
    window_columns,
)
from kernbrook.engine.verbs import (
    Points,
    Slots,
    arrive,
    fit_in,
    keep_within,
    learn,
    link_budgeted,
    linked,
    part,
    parts_of,
    score,
    sound,
    stretch,
    typed,
)
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.points import (
    DenseRows,
    Flags,
    Floats,
    Labels,
    Rows,
    SupportVectors,
    check_array,
)
from kernbrook.gram.sums import KernelSums
from kernbrook.kernels import Kernel
from kernbrook.kernels.planning import POLYNOMIAL, lay_out, one_by_one
from kernbrook.numerics.classes import add_step
from kernbrook.numerics.compiling import njit
from kernbrook.numerics.linking import ROOM, new_link, pin, through
from kernbrook.numerics.plan import FIRST_GIVEN, INNER, Parts
from kernbrook.numerics.storage import renumber, spread_coefficients
from kernbrook.numerics.values import kernel_rows
from kernbrook.numerics.zero import zero_or

BUDGET_BLOCK = 1024  # examples processed together, of which each costs less Python
WINDOW = 128  # of these, examples whose kernel values with the slots are computed together
CALLED_BLOCK = 128  # examples processed together with kernels that are called


class SlotBlock(NamedTuple):
    """A block of b examples, as m experts meet it; the experts come in groups.

    experts : (m,) int, their numbers in the pool
    parts : their kernels
    slots : what they hold
    keys, known : (n + b,) int of the n stored points and the block, equal for equal rows; (b,)
        bool, whether an expert may hold a row that is equal to one of the block
    diagonal : (m, b) k(x, x)
    points : see `Points`, all windows' columns one after the other; (0, d) where none are merged
    gammas : (m,) of the experts, for `points`
    window : examples that meet the slots together; 0: somebody else has filled in `values`
    each : experts of a group
    meeting : link to how points and examples meet; see `windows`
    values : (m, window, B) kernel values of the window with the slots
    shelf : scratch of the groups
    pins : (m, ROOM) scratch
    """

    experts: Labels
    parts: Parts
    slots: Slots
    keys: Labels
    known: NDArray[np.bool_]
    diagonal: Floats
    points: Nearby
    gammas: Floats
    window: int
    each: int
    meeting: Labels
    values: Floats
    shelf: Shelf
    pins: Labels


class Nearby(NamedTuple):
    """The block's own features, where points are merged; else of no rows.

    features, norms : (b, d) and (b,); columns : (b d,), see `turned`; reach : as in `Points`
    """

    features: Floats
    norms: Floats
    columns: Floats
    reach: float


class Shelf(NamedTuple):
    """Scratch of g groups of experts, for windows of w examples.

    number, which : (g, places) int, the number of each point in use, -1 for others; these points
    pairs, values : (g, channels TILE w) and (g, TILE, w), of a tile of points
    own, made : (g, w, channels, 1, w), pair values of each example with later ones; (g, w) whether
        these are there
    first : (1,) int, 0
    """

    number: Labels
    which: Labels
    pairs: Floats
    values: Floats
    own: Floats
    made: NDArray[np.bool_]
    first: Labels


def shelf_of(groups: int, places: int, channels: int, window: int) -> Shelf:
    """Scratch of so many groups."""
    return Shelf(
        np.full((groups, places), -1), np.empty((groups, places), dtype=np.int64),
        np.empty((groups, channels * TILE * window)), np.empty((groups, TILE, window)),
        np.empty((groups, window, channels, 1, window)), np.zeros((groups, window), dtype=bool),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip


class Budgeted(NamedTuple):
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
    slots = block.slots
    own = Slots(
        slots.alpha[e], slots.diagonal[e], slots.born[e], slots.place[e], slots.filled[e],
        slots.gram[e], slots.factor[e], slots.order[e], slots.memory[e], slots.scale[e],
        slots.points[e], slots.norms[e],
    )  # fmt: skip
    return Seat(block, e, block.experts[e], own, block.values[e])


@njit(cache=True, nogil=True, forceinline=True)
def window_of(block, t):
    """(lo, hi): example t is in the window lo..hi-1."""
    b = block.known.shape[0]
    if block.window == 0:
        return 0, b
    lo = t - t % block.window
    return lo, min(lo + block.window, b)


@stretch.of(Budgeted)
def _stretch(member):
    return member.block.window if member.block.window > 0 else 1


@arrive.of(Budgeted)
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
    lo, hi = window_of(block, lo)
    through(turn_to, block.meeting, group, lo, hi)
    for t in range(hi - lo):
        shelf.made[group, t] = False
    number, which, count = shelf.number[group], shelf.which[group], 0
    for e in range(first, last):
        for s in range(slots.filled[e, 0]):
            place = slots.place[e, s]
            if number[place] < 0:
                number[place], which[count] = count, place
                count += 1
    channels = shelf.own.shape[2]
    for start in range(0, count, TILE):
        size = min(TILE, count - start)
        room = shelf.pairs[group, : channels * size * (hi - lo)]
        pairs = room.reshape((channels, size, hi - lo))
        through(meet_points, block.meeting, group, which[start : start + size], lo, hi, pairs)
        for e in range(first, last):
            slot_values(block, e, group, start, pairs)
    for i in range(count):
        number[which[i]] = -1


@njit(cache=True, nogil=True)
def slot_values(block, e, group, start, pairs):
    """The values of expert e's slots whose points have the numbers from `start` on.

    pairs : (channels, points, w) pair values of these points and the window
    """
    slots, number, out = block.slots, block.shelf.number[group], block.values[e]
    size, w = pairs.shape[1], pairs.shape[2]
    here, points, n = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64), 0
    for s in range(slots.filled[e, 0]):
        point = number[slots.place[e, s]] - start
        if 0 <= point < size:
            here[n], points[n] = s, point
            n += 1
    rows = block.shelf.values[group]
    none = np.int64(0)  # numba compiles anew for a literal 0
    kernel_rows(block.parts, e, pairs, points[:n], none, w, rows)
    for i in range(np.uintp(n)):
        s = np.uintp(here[i])
        for j in range(np.uintp(w)):
            out[j, s] = rows[i, j]


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
    slots, expert = seat.slots, seat.expert
    row = seat.values[t - window_of(seat.block, t)[0]]
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
    block = seat.block
    seen = look(board, t, seat.expert, block.diagonal[seat.e, t], clock)
    lo, hi = window_of(block, t)
    change = through(fit_in, rule, part.slots, seen, seat.values[t - lo : hi - lo])
    if change.slot >= 0:
        put(seat, change, seen, t)
        later, points = seat.values[t + 1 - lo : hi - lo], nearby(block, seat.e, lo, hi)
        through(keep_within, rule, part.slots, seen, later, points, t - lo)


@sound.of(Budgeted)
def _sound(member, i):
    return finite(member.block.slots.alpha[i].reshape(-1))


@njit(cache=True, nogil=True, forceinline=True)
def put(seat, change, seen, t):
    """A slot now holds example t, with the coefficients of the change."""
    slots, block, e, s = seat.slots, seat.block, seat.e, change.slot
    b, rows = block.known.shape[0], seat.values
    lo, hi = window_of(block, t)
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
        pairs, column = own_pairs(block, group, t, lo, hi), block.shelf.values[group]
        kernel_rows(block.parts, e, pairs, block.shelf.first, t + 1 - lo, hi - lo, column)
        for j in range(t + 1 - lo, hi - lo):
            rows[j, s] = column[0, j]


@njit(cache=True, nogil=True, forceinline=True)
def own_pairs(block, group, t, lo, hi):
    """(channels, 1, window) pair values of example t and later ones of its window."""
    shelf = block.shelf
    pairs = shelf.own[group, t - lo]
    if not shelf.made[group, t - lo]:
        through(meet_row, block.meeting, group, t, lo, hi, pairs)
        shelf.made[group, t - lo] = True
    return pairs


@njit(cache=True, nogil=True, forceinline=True)
def nearby(block, e, lo, hi):
    """The features of the window lo..hi-1, where points are merged."""
    near, gamma = block.points, block.gammas[e]
    features, norms, columns = near.features, near.norms, near.features
    if features.shape[0] > 0:
        columns = window_columns(near.columns, lo, hi, features.shape[1])
        features, norms = features[lo:hi], norms[lo:hi]
    return Points(features, norms, columns, near.reach, gamma)


@njit(cache=True, nogil=True)
def own_diagonals(parts, own, out):
    """out[e, t] = k_e(x_t, x_t), (m, b); own : (channels, 1, b) pair values with themselves."""
    none, here = np.int64(0), np.zeros(1, dtype=np.int64)
    for e in range(out.shape[0]):
        kernel_rows(parts, e, own, here, none, out.shape[1], out[e : e + 1])


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
        called = bool(self.sums.layout.given)
        self.together = min(BUDGET_BLOCK, CALLED_BLOCK) if called else BUDGET_BLOCK
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
        slots, b, m = copied(state.slots), len(rows), len(self.kernels)
        stored = self._points(Kept(slots, state.points))
        self._check_polynomials(rows, stored)
        if self.grows:
            slots = with_room(slots, int(slots.filled.max(initial=0)) + b)
        keys, known = met(self.setting.judges_stored, rows, stored.keys, inside=True)
        threads = self.sums.threads(2 * b * int(slots.filled.sum()))
        block, kept = self._block(slots, stored, rows, known, -(-m // min(threads, m)))
        block = block._replace(keys=np.concatenate([stored.keys, keys]))
        member = Budgeted(self.link(), block)

        def finish(board: Board, asked: Flags) -> Kept:
            if not np.isfinite(slots.alpha).all():
                worst = int(np.isfinite(slots.alpha).all(axis=(1, 2)).argmin())
                raise self.overflow(worst)
            if self.owns:
                return Kept(slots, state.points)
            return Kept(slots, self._used(state.points, slots, rows, len(stored)))

        return Pass((member,), threads, finish, pieces=1, outlives=kept)

    def link(self) -> Any:
        """To the rule."""
        return linked(link_budgeted, self.rule, self.compiled)

    def _block(
        self, slots: Slots, stored: Rows, rows: Rows, known: Flags, each: int
    ) -> tuple[SlotBlock, Any]:
        """What the experts meet, and what must outlive it. The keys are those of the points."""
        (m, _, room), b, layout = slots.alpha.shape, len(rows), self.sums.layout
        window, groups = min(WINDOW, b), -(-m // each)
        points = stored if self.owns else followed(stored, rows)
        given = self._given(points, rows)
        meeting = meeting_of(points, rows, layout, given, window, groups)
        link, kept = new_link(link_meeting, meeting)
        nothing = np.zeros((0, self.setting.width)), np.zeros(0), np.zeros(0)
        if isinstance(meeting, DenseMeeting) and self.owns:
            nothing = meeting.rows, meeting.row_norms, meeting.columns
        channels, n = len(layout.channels), len(points)
        own = np.zeros((channels, 1, b))
        for i, channel in enumerate(layout.channels):
            if channel == INNER:
                own[i, 0] = rows.norms
            elif channel >= FIRST_GIVEN:
                own[i, 0] = np.diagonal(given[channel - FIRST_GIVEN, n - b :])
        diagonal = np.empty((m, b))
        own_diagonals(self.parts, own, diagonal)
        what = f"a block of {window:,} rows with {self._kernels} and {room:,} slots"
        spread = 8 * (-(-room // 8) | 1)  # rows begin in different sets of the caches
        values = ask_for(m * window * spread, what).reshape(m, window, spread)
        shelf = shelf_of(groups, n, channels, window)
        block = SlotBlock(
            self.experts, self.parts, slots, points.keys, known, diagonal,
            Nearby(*nothing, layout.plan.reach), self.gammas, window, each, link, values, shelf,
            np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        return block, (kept, meeting)

    def _given(self, points: Rows, rows: Rows) -> Floats:
        """(k, n, b) values of kernels that are called, of points and rows."""
        kernels = self.sums.layout.given
        given = np.empty((len(kernels), len(points) if kernels else 0, len(rows)))
        for kernel, out in zip(kernels, given, strict=True):
            kernel.between(points, rows, out)
            if not np.isfinite(out).all():
                raise NonFiniteError(f"kernel {kernel}: it gave NaN or infinity")
        return given

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
        for e in range(len(filled)):
            if len(np.unique(slots.place[e, : filled[e]])) < filled[e]:
                raise InputError("place: expected another point in each slot of an expert")
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
