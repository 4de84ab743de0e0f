"""Slots: experts that hold a fixed number of support vectors each."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import ask_for, shown
from kernbrook.compiler.links import ROOM, links_to, new_link
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.rules import cast_rule
from kernbrook.engine.state import Field, Table, copy_arrays, drop_rows
from kernbrook.engine.stores.base import Prepared, Setting, Spread, Store, find_known, overflow
from kernbrook.engine.stores.meetings import DenseMeeting, join_rows, meeting_of, turn_to
from kernbrook.engine.stores.slot_block import BlockRows, SlotBlock, SlotsForm, shelf_of, values_of
from kernbrook.engine.stores.slot_union import merge_slots
from kernbrook.engine.uniting import Apart
from kernbrook.engine.verbs import Slots, fit_in
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.arrays import Flags, Floats, Ints, check_array, pad, writeable
from kernbrook.gram.rows import DenseRows, Rows, SparseRows, call
from kernbrook.gram.stored_points import StoredPoints
from kernbrook.gram.sums import KernelSums
from kernbrook.kernels import Kernel
from kernbrook.kernels.base import check_symmetric
from kernbrook.kernels.callable import is_given
from kernbrook.kernels.planning import Layout
from kernbrook.kernels.polynomial import PolynomialStep
from kernbrook.numerics.plan import FIRST_GIVEN, INNER
from kernbrook.numerics.storage import renumber

BUDGET_BLOCK = 2048  # examples processed together, of which each costs less Python
WINDOW = 64  # of these, examples whose kernel values with the slots are computed together
CALLED_BLOCK = 128  # examples processed together with kernels that are called


SLOTS = Table(
    Slots,
    alpha=Field(("expert", "score", "slot")),
    diagonal=Field(("expert", "slot")),
    born=Field(("expert", "slot"), int),
    place=Field(("expert", "slot"), int),
    filled=Field(("expert", 1), int),
    gram=Field(("expert", "gram", "gram")),
    factor=Field(("expert", "factor", "factor")),
    order=Field(("expert", "factor"), int),
    memory=Field(("expert", 3)),
    scale=Field(("expert", 1), start=1.0, above=0.0, most=1.0),
    points=Field(("expert", "merged", "feature")),
    norms=Field(("expert", "merged")),
)
MERGED = "points", "norms"  # fields where points are merged
LEARNING = "gram", "factor", "order"  # fields by which nothing is predicted


class SlotState(NamedTuple):
    """The state: the slots, and the points that they hold, without coefficients.

    changes : whether the arrays change in place, as rows are learned one at a time
    """

    slots: Slots
    points: StoredPoints
    changes: bool = False

    def __reduce__(self) -> Any:
        """The state without room for more."""
        return SlotState, tuple(settled(self))


def settled(state: SlotState) -> SlotState:
    """The state, or a copy of one that changes, made while no row is learned."""
    if not state.changes:
        return state
    return SlotState(copy_arrays(state.slots), state.points.copied())


class SlotStore(Store):
    """Experts of one learner, each within its budget.

    Parameters
    ----------
    learner : has `slots()`, their number or None; `keeps(rule)`, what they hold besides
    rule : of these experts
    kernels, experts : of each expert the kernel, and its number in the pool
    """

    overflows = "its sums overflowed; scale the features"

    def __init__(
        self,
        learner: Any,
        rule: Any,
        kernels: tuple[Kernel, ...],
        experts: Sequence[int],
        setting: Setting,
    ):
        self.learner, self.rule, self.kernels = learner, cast_rule(rule), kernels
        self.experts = np.array(experts)
        self.keeps = learner.keeps(rule)
        self.merges_points = merges = "points" in self.keeps  # they are no rows of the data
        self.setting = setting._replace(
            sparse=setting.sparse and not merges,
            judges_stored=setting.judges_stored or merges,
        )
        self.budget = learner.slots()
        self.grows = self.budget is None
        self.sums = KernelSums(kernels, Layout(kernels, setting.scores))
        self._polynomials = [
            (kernel, step) for kernel in kernels for _, part in kernel.parts()
            if (step := part.step()) and (step.kind, step.channel) == (PolynomialStep, INNER)
        ]  # fmt: skip
        called = bool(self.sums.layout.given)
        self.block_rows = min(BUDGET_BLOCK, CALLED_BLOCK) if called else BUDGET_BLOCK
        self.gammas = np.array([getattr(kernel, "gamma", 0.0) for kernel in kernels], dtype=float)

    def begin(self) -> SlotState:
        budget, m = self.budget or 0, len(self.kernels)
        squares = len(self.keeps & {"gram", "factor"})
        each = self.setting.scores + 3 + squares * budget
        each += self.merges_points * (self.setting.width + 1)
        # Twice: it learns on a copy.
        ask_for(2 * m * budget * each, f"{shown(self.learner)} with {self._kernels}")
        return SlotState(self._empty(budget), self._no_points())

    @property
    def _kernels(self) -> str:
        m = len(self.kernels)
        return "1 kernel" if m == 1 else f"{m} kernels"

    def _no_points(self) -> StoredPoints:
        return StoredPoints(0, self.setting.width, self.setting.sparse)

    def _empty(self, budget: int) -> Slots:
        slots: Slots = SLOTS.begun(
            expert=len(self.kernels), score=self.setting.scores, slot=budget,
            gram=budget * ("gram" in self.keeps), factor=budget * ("factor" in self.keeps),
            merged=budget * self.merges_points, feature=self.setting.width * self.merges_points,
        )  # fmt: skip
        return slots

    def prepare(self, state: SlotState, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        slots, b = copy_arrays(state.slots), len(rows)
        stored = self.points_of(SlotState(slots, state.points))
        self._check_polynomials(rows, stored)
        if self.grows:
            slots = with_room(slots, int(slots.filled.max(initial=0)) + b)
        keys, known = find_known(self.setting.judges_stored, rows, stored.keys, inside=True)

        def finish(board: Board, asked: Flags) -> SlotState:
            if not (sound := are_finite(slots)).all():
                raise overflow(self, int(sound.argmin()))
            if self.merges_points:
                return SlotState(slots, state.points)
            return SlotState(slots, self._used(state.points, slots, rows, len(stored)))

        seen = np.concatenate([stored.keys, keys]), known
        return self._prepared(slots, stored, rows, finish, seen)

    def reading(self, state: SlotState, rows: Rows, raw: Any) -> Prepared:
        slots, stored = Slots(*map(writeable, state.slots)), self.points_of(state)
        return self._prepared(slots, stored.part(0, len(stored)), rows, lambda *_: state)

    def link(self) -> Any:
        """To the rule."""
        return links_to(fit_in, (self.rule,))[0]

    def _prepared(
        self,
        slots: Slots,
        stored: Rows,
        rows: Rows,
        finish: Any,
        seen: tuple[Ints, Flags] | None = None,
    ) -> Prepared:
        """Before the experts meet rows.

        finish : see `Prepared`
        seen : the block's `keys` and `known`; None: the rows are scored only, and join nothing
        """
        (m, _, room), b, layout = slots.alpha.shape, len(rows), self.sums.layout
        threads = self.sums.threads(2 * b * int(slots.filled.sum()))
        each = -(-m // min(threads, m))
        sparse, joins = isinstance(rows, SparseRows), seen is not None
        points = join_rows(stored, rows) if sparse or (joins and not self.merges_points) else stored
        window = min(2 * WINDOW if sparse else WINDOW, b)  # a point's entries are found once
        groups = -(-m // each)
        given = self._given(points if joins else stored, rows, joins)
        meeting = meeting_of(points, rows, layout, given, window, groups)
        link = new_link(turn_to, meeting)
        nothing = np.zeros((0, self.setting.width)), np.zeros(0), np.zeros(0)
        if isinstance(meeting, DenseMeeting) and self.merges_points:
            nothing = meeting.rows, meeting.row_norms, meeting.columns
        channels, n = len(layout.channels), len(points)
        self_pairs = np.zeros((channels, 1, b if joins else 0))
        for i, channel in enumerate(layout.channels if joins else ()):
            if channel == INNER:
                self_pairs[i, 0] = rows.norms
            elif channel >= FIRST_GIVEN:
                self_pairs[i, 0] = np.diagonal(given[channel - FIRST_GIVEN, n - b :])
        keys, known = seen or (np.empty(0, dtype=np.int64), np.zeros(b, dtype=bool))
        noun = f"a block of {window:,} rows with {self._kernels} and {room:,} slots"
        values = values_of(m, window, room, noun)
        shelf = shelf_of(groups, n, channels, window)
        block = SlotBlock(
            self.experts, layout.parts, slots, keys, known, self_pairs, np.empty((m, b)),
            BlockRows(*nothing, layout.plan.reach), self.gammas, window, each, link, values,
            shelf, np.empty((m, ROOM), dtype=np.int64),
        )  # fmt: skip
        form = SlotsForm(self.link(), block)
        return Prepared((form,), threads, finish, pieces=1, outlives=(link, meeting))

    def _given(self, points: Rows, rows: Rows, joins: bool) -> Floats:
        """(k, n, b) values of kernels that are called, of points and rows.

        joins : whether the rows are the last of the points
        """
        kernels = self.sums.layout.given
        given = np.empty((len(kernels), len(points) if kernels else 0, len(rows)))
        for kernel, out in zip(kernels, given, strict=True):
            call(kernel, points, rows, out)
            if joins and is_given(kernel):
                check_symmetric(f"kernel {kernel}", out[len(points) - len(rows) :])
        return given

    def points_of(self, state: SlotState) -> Rows:
        """The points that `slots.place` counts from 0."""
        if not self.merges_points:
            return state.points.rows
        points, norms = state.slots.points, state.slots.norms.reshape(-1)
        n = len(norms)
        return DenseRows(points.reshape(n, points.shape[2]), norms, np.zeros(n, np.int64))

    def arrays(self, state: SlotState) -> dict[str, NDArray[Any]]:
        state = settled(state)
        held = {} if self.merges_points else state.points.arrays()
        slots = state.slots._asdict()
        return {**{name: slots[name] for name in slots if name not in self._without}, **held}

    @property
    def _without(self) -> tuple[str, ...]:
        """Fields that the slots do not have."""
        return () if self.merges_points else MERGED

    def expansion(self, state: SlotState) -> tuple[Rows, Floats]:
        state = settled(state)
        slots, m, c = state.slots, len(self.kernels), self.setting.scores
        e, s = np.nonzero(np.arange(slots.alpha.shape[2]) < slots.filled)
        rows, place = self.points_of(state), slots.place[e, s]
        if self.merges_points:
            held, place = e * slots.alpha.shape[2] + s, np.arange(len(e))
            rows = DenseRows(rows.dense()[held], rows.norms[held], rows.keys[held])
        coefficients = np.zeros((len(rows), m, c))
        coefficients[place, e] = slots.scale[e] * slots.alpha[e, :, s]
        return rows, coefficients

    def with_classes(self, before: Self, state: SlotState, spread: Spread) -> SlotState:
        if self.learner.remembers and len(spread.coefficients) == 1:
            raise InputError(
                f"{self.learner!r} keeps the length of one score, and cannot learn of a third class"
            )
        found = SLOTS.along("score", before.arrays(state), spread.along)
        if np.shape(found["alpha"])[2] < (self.budget or 0):  # the default has more
            found = SLOTS.along("slot", found, partial(pad, size=self.budget))
        return self.restored(found)

    def merged(self, apart: Apart) -> SlotState:
        return SlotState(*merge_slots(self, apart.over(settled)))

    def with_features(self, before: Self, state: SlotState) -> SlotState:
        given = any(channel >= FIRST_GIVEN for channel in self.sums.layout.channels)
        if given and self.keeps & {"gram", "factor"}:
            return self.begin()  # the values that they keep may be others now
        wide: SlotState = super().with_features(before, state)
        return wide

    def nbytes(self, state: SlotState) -> int:
        state = settled(state)
        return state.points.nbytes + sum(array.nbytes for array in state.slots)

    def only(self, state: SlotState, expert: int) -> SlotState:
        state = settled(state)
        slots = copy_arrays(state.slots)
        slots.filled[self.experts != expert] = 0
        used = renumber(slots.place, slots.filled.reshape(-1), state.points.n)
        return SlotState(slots, state.points if self.merges_points else state.points.kept(used))

    def _used(self, points: StoredPoints, slots: Slots, rows: Rows, n: int) -> StoredPoints:
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
        for kernel, step in self._polynomials:
            if np.log10(largest + abs(step.parameter) + 1) * step.power > 300:
                raise NonFiniteError(
                    f"kernel {kernel}: its values overflow; scale the features, or lower its degree"
                )

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> SlotState:
        shape = np.shape(arrays.get("alpha", ()))
        room = self.budget or (shape[-1] if shape else 0)
        of_each = len(self.kernels), self.setting.scores, room
        check_array("alpha", arrays.get("alpha"), of_each, np.float64)  # before so much is taken
        return self._restored(self._empty(room), arrays)

    def _restored(self, like: Slots, arrays: Mapping[str, NDArray[Any]]) -> SlotState:
        slots, points = SLOTS.restored(like, arrays, self._without), self._no_points()
        if not self.merges_points:
            points.restore(arrays)
        state = SlotState(slots, points)
        SLOTS.check(slots, self._without)
        check_slots(self, state)
        return state

    def snapshot(self, state: SlotState) -> SlotState:
        return SlotState(copy_arrays(drop_rows(state.slots, LEARNING)), state.points.copied())

    def restored_snapshot(self, arrays: Mapping[str, NDArray[Any]]) -> SlotState:
        room = self.budget or np.shape(arrays.get("alpha", np.empty(0)))[-1]
        return self._restored(drop_rows(self._empty(room), LEARNING), arrays)


def are_finite(slots: Slots) -> Flags:
    """(m,) bool: is what each expert holds finite, and its scale above 0?"""
    sound: Flags = (slots.scale[:, 0] > 0) & np.isfinite(slots.scale[:, 0])
    for array in (slots.alpha, slots.diagonal, slots.gram, slots.factor, slots.memory, slots.norms):
        sound &= np.isfinite(array).reshape(len(sound), -1).all(axis=1)
    return sound


def with_room(slots: Slots, needed: int) -> Slots:
    """Slots with room for so many, at least half as many again as before."""
    room = slots.alpha.shape[2]
    if needed <= room:
        return slots
    longer = partial(pad, size=max(needed, room * 3 // 2))
    return Slots(**SLOTS.along("slot", slots._asdict(), longer))


def check_slots(store: SlotStore, state: SlotState) -> None:
    """Raise InputError where numbers are no places."""
    slots, room = state.slots, state.slots.alpha.shape[2]
    filled = slots.filled[:, 0]
    most = room - store.learner.spare if not store.grows else room
    if ((filled < 0) | (filled > most)).any():
        raise InputError(f"filled: expected 0 to {most}")
    places = slots.place[np.arange(room) < slots.filled]
    stored = len(store.points_of(state))
    if ((places < 0) | (places >= stored)).any():
        raise InputError(f"place: expected 0 to {stored - 1}")
    for order, n in zip(slots.order, filled.tolist(), strict=False):  # a snapshot has none
        if len(order) and not np.array_equal(np.sort(order[:n]), np.arange(n)):
            raise InputError(f"order: expected the slots 0 to {n - 1}")
    in_use = np.flatnonzero(np.arange(room) < slots.filled)
    if store.merges_points and not (places == in_use).all():
        raise InputError("place: expected each slot's own point")
