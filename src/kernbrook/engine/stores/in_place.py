"""Arrays too large to be copied before each block: an expert that learns in place.

A table has a million numbers, of which a row changes some hundred. To copy the table before each
block, as other stores do, would take longer than to learn. So the table is changed in place, and a
state says how it came to be: by a copy of the table at some row, and the rows since. The last state
has the table itself. Any other, after a block that failed or where somebody goes on from an old
one, is made again: the rows are learned once more from the copy, which gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.compiler.compiling import Verb, is_theirs
from kernbrook.compiler.links import Vector, family, new_link
from kernbrook.engine.needs import check_content
from kernbrook.engine.progress import SEED, Board, Progress, empty_board
from kernbrook.engine.rounds import StorePass, run_parts, run_pass
from kernbrook.engine.state import (
    Packed,
    copy_arrays,
    drop_rows,
    load_packing,
    pack,
    unpack,
    walk_arrays,
    with_arrays,
)
from kernbrook.engine.store_verbs import learn, score
from kernbrook.engine.stores.base import Prepared, Setting, Spread, Store
from kernbrook.engine.stores.in_rows import InRows, Row, in_rows, meet
from kernbrook.engine.uniting import Apart
from kernbrook.engine.verbs import Clock
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Flags, Floats, Ints, check_array, writeable
from kernbrook.gram.rows import Rows

BLOCK = 4096  # examples
COPIED = 512  # rows between two copies of a table


@Verb
def say(form: Any, x: Vector, out: Vector) -> None:
    """Score a row as it was given; nothing is learned, and no array changes but `out`.

    x : (d,), or a `SparseRow` where the content is sparse; out : (c,) the scores, all of them
    """
    raise NotImplementedError


@Verb
def follow(
    form: Any,
    x: Vector,
    scores: Vector,
    label: int,
    target: float,
    weight: float,
    number: int,
    seed: int,
) -> None:
    """Learn from a row that was scored just before.

    The same rows after the same arrays lead to the same arrays, bit for bit, and to finite ones.

    scores : (c,) as `say` gave them; label, target : number of the class, and the label as a float
    weight : above 0; number : of the label, from 1; seed : of draws
    """
    raise NotImplementedError


family(say, follow)


class Content:
    """The arrays of a learner without kernels. `first`, `form` and `check` have to be there.

    looks : whether rows are looked at; else they come without features
    sparse : whether rows come as those of their features that are not 0
    passing : names of arrays that have no rows any more once nothing will ask for them
    """

    looks = True
    sparse = False
    passing: tuple[str, ...] = ()

    @property
    def first(self) -> Any:
        """Arrays before the first row, in NamedTuples, made when they are asked for."""
        raise NotImplementedError

    def form(self, arrays: Any) -> Any:
        """The compiled form, with the two verbs, on arrays like `first`, changed in place."""
        raise NotImplementedError

    def check(self, arrays: Any) -> None:
        """Raise InputError where numbers are beyond what compiled code can take."""
        raise NotImplementedError

    def what_says(self, arrays: Any) -> Any:
        """The arrays by which `say` scores; the others have no rows. They may be views.

        Axes after the first one are as long whatever was learned.
        """
        return arrays

    def check_what_says(self, arrays: Any) -> None:
        """The same as `check` for these."""
        self.check(arrays)

    def as_today(self, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Arrays of a file, which may be older, by name; by default as they are."""
        return arrays

    def has_passed(self, arrays: Any) -> bool:
        """Whether nothing will ask for the arrays that are `passing`."""
        return False

    def with_classes(self, before: Any, spread: Spread) -> Any:
        """Arrays as those of fewer scores; InputError where no class can come later."""
        raise InputError("not every part of this model can learn of a class that appears later")

    def with_features(self, before: Any) -> Any:
        """Arrays as those of fewer features; None: it begins anew."""
        return None


class Dense(NamedTuple):
    """Rows, (n, d)."""

    X: Floats


class Sparse(NamedTuple):
    """Rows as in CSR."""

    data: Floats
    indices: Ints
    indptr: Ints


class SparseRow(NamedTuple):
    """The values of a row that are not 0, and their features."""

    values: Floats
    features: Ints


@Verb
def row_of(rows: Any, t: int) -> Any:
    """Row t as `say` takes it; of `Dense` rows by default."""
    return rows.X[t]


@row_of.of(Sparse)
def _sparse_row(rows, t):
    first, last = rows.indptr[t], rows.indptr[t + 1]
    return SparseRow(rows.data[first:last], rows.indices[first:last])


def rows_among(rows: Dense | Sparse, where: slice) -> Dense | Sparse:
    """Some of the rows, one after the other."""
    if isinstance(rows, Dense):
        return Dense(rows.X[where])
    return rows._replace(indptr=rows.indptr[where.start : where.stop + 1])


class Chunk(NamedTuple):
    """Rows that were learned, `Dense` or `Sparse`, and (n,) labels, weights, numbers from 1.

    seed : of draws
    """

    rows: Any
    labels: Floats
    weights: Floats
    numbers: Ints
    seed: int


class InPlaceTable:
    """Arrays that are changed in place.

    version : an object, the version of the state that they are; None while a block is learned
    """

    def __init__(self, arrays: Any):
        self.arrays = arrays
        self.version: object | None = object()


class State:
    """What an expert has learned, as arrays, or as a copy of arrays and the rows since.

    copy : the arrays at some row, never changed; None: single rows change the table
    since : the rows learned since then
    table, version : the arrays that are this state, as long as their version is this one
    """

    def __init__(self, copy: Any, since: tuple[Chunk, ...] = (), table: InPlaceTable | None = None):
        self.copy, self.since, self.table = copy, since, table
        self.version = None if table is None else table.version

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        if self.table is not None and self.table.version == self.version:
            return State(copy_arrays(self.table.arrays))  # which is to learn nothing again
        return State(self.copy, self.since)

    def __reduce__(self) -> Any:
        other = self.__deepcopy__({})
        return State, (other.copy, other.since)


class InPlaceForm(NamedTuple):
    """The compiled form for rounds.

    expert : (1,) its number
    rows : of the block as they were given, `Dense` or `Sparse`
    form : see `say`
    numbers : (b,) out, of the labels that were learned from; 0: not learned from
    """

    expert: Ints
    rows: Any
    form: Any
    numbers: Ints


@score.of(InPlaceForm)
def _score(part, t, board):
    out = board.scores[t, part.expert[0]]
    say(part.form, row_of(part.rows, t), out)
    for c in range(out.shape[0]):
        board.sizes[t, part.expert[0], c] = abs(out[c])


@learn.of(InPlaceForm)
def _learn(part, t, updates, clock, board):
    expert, target, weight = part.expert[0], board.labels[t], board.importance[t]
    if updates[expert] and weight > 0.0:
        label = 0 if board.numbers else int(target)
        x, scores = row_of(part.rows, t), board.scores[t, expert]
        follow(part.form, x, scores, label, target, weight, clock.number, clock.seed)
        part.numbers[t] = clock.number


class InPlace(Store):
    """A store of one expert, which stands alone. A file's learner has to equal this one."""

    def __init__(self, learner: Any, content: Content, first: int, setting: Setting):
        self.learner, self._content, self.setting = learner, content, setting
        self.experts, self.block_rows = np.array([first]), BLOCK
        self.overflows = f"{shown(learner)}: its scores overflowed; scale the labels"
        if is_theirs(type(content)):
            row = SparseRow(np.empty(0), np.empty(0, np.int64))
            check_content(content, Content, (say, follow), **{"x": row} if content.sparse else {})
        if setting.scores > 1:  # tables are large
            load_packing()

    @property
    def content(self) -> Content:
        return self._content

    def begin(self) -> State:
        return State(self.content.first)

    # -- states and tables ------------------------------------------------------------------

    def _table(self, state: State) -> InPlaceTable:
        """The arrays of a state, made again where they have gone on."""
        table = state.table
        if table is None or table.version != state.version:
            table = InPlaceTable(copy_arrays(state.copy))
            for chunk in state.since:
                self._learn_again(table.arrays, chunk)
            state.table, state.version = table, table.version
        return table

    def _learn_again(self, arrays: Any, chunk: Chunk) -> None:
        """Learn rows that were learned before, by the pass of a block."""
        numbers = chunk.numbers
        gaps = np.flatnonzero(np.diff(numbers) != 1) + 1  # the pass counts labels by itself
        for first, last in pairwise([0, *gaps.tolist(), len(numbers)]):
            where = slice(first, last)
            member = self.member(rows_among(chunk.rows, where), last - first, arrays)
            board = empty_board(
                last - first, 1, self.setting.scores, chunk.labels[where], chunk.weights[where],
                self.setting.regression,
            )  # fmt: skip
            chunk_pass = StorePass(member._replace(expert=np.zeros(1, dtype=np.int64)), board)
            clock = Clock(chunk.seed, 0, int(numbers[first]) - 1)
            run_pass(new_link(run_parts, chunk_pass), 0, 1, clock)

    def now(self, state: State | Packed) -> Any:
        """The arrays of a state, or of a snapshot, to be read only."""
        if isinstance(state, Packed):
            return unpack(state)
        if state.copy is None or state.since:
            return self._table(state).arrays
        return state.copy

    def lighter(self, arrays: Any) -> Any:
        """The arrays, but for those that nothing will ask for again."""
        passing = self.content.passing
        return drop_rows(arrays, passing) if passing and self.content.has_passed(arrays) else arrays

    def snapshot(self, state: State) -> Packed:
        return pack(self.content.what_says(self.now(state)))

    def restored_snapshot(self, arrays: Mapping[str, NDArray[Any]]) -> Packed:
        first, arrays = self.content.first, self.content.as_today(arrays)
        least, found, packs = self.content.what_says(first), [], {}
        for (name, array), (_, most) in zip(walk_arrays(least), walk_arrays(first), strict=True):
            given: Any = arrays.get(name)
            bits, rows = arrays.get(f"{name}.rows"), len(array)
            if bits is not None and np.shape(given)[:1] != (rows,):
                check_array(f"{name}.rows", bits, (-(-rows // 8),), np.uint8)
                packs[name] = bits, rows
                rows = int(np.count_nonzero(np.unpackbits(bits, count=rows)))
            elif rows and np.ndim(given):
                rows = min(max(len(given), rows), len(most))
            found.append(check_array(name, given, (rows, *array.shape[1:]), array.dtype))
        held = Packed(with_arrays(least, iter(found)), packs)
        self.content.check_what_says(unpack(held))
        return held

    # -- learning ---------------------------------------------------------------------------

    def prepare(self, state: State, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        if state.copy is None:
            state = State(copy_arrays(self.now(state)))
        elif sum(len(chunk.labels) for chunk in state.since) >= COPIED:
            state.copy, state.since = copy_arrays(self.now(state)), ()
        table = self._table(state)
        table.arrays = self.lighter(table.arrays)
        member = self.member(self._rows(raw), len(rows), table.arrays)
        table.version, seed = None, int(progress.counters[SEED])

        def finish(board: Board, asked: Flags) -> State:
            learned = np.flatnonzero(member.numbers)
            chunk = Chunk(
                self._rows(raw[learned]), board.labels[learned], board.importance[learned],
                member.numbers[learned], seed,
            )  # fmt: skip
            table.version = object()
            return State(state.copy, (*state.since, chunk) if len(learned) else state.since, table)

        return Prepared((member,), 1, finish)

    def reading(self, state: State, rows: Rows, raw: Any) -> Prepared:
        member = self.member(self._rows(raw), len(rows), self.now(state))
        return Prepared((member,), 1, lambda *_: state)

    def member(self, rows: Any, n: int, arrays: Any) -> InPlaceForm:
        """The compiled form on n rows and arrays."""
        return InPlaceForm(self.experts, rows, self.content.form(arrays), np.zeros(n, np.int64))

    def _rows(self, raw: Any) -> Dense | Sparse:
        """Rows as they were given, (n, d)."""
        if not self.content.looks:
            return Dense(np.empty((raw.shape[0], 0)))
        if not self.content.sparse:
            X = np.ascontiguousarray(raw.toarray() if sp.issparse(raw) else raw)
            return Dense(writeable(X))
        X = sp.csr_matrix(raw)
        return Sparse(writeable(X.data), X.indices.astype(np.int64), X.indptr.astype(np.int64))

    # -- as arrays --------------------------------------------------------------------------

    def arrays(self, state: State | Packed) -> dict[str, NDArray[Any]]:
        if isinstance(state, Packed):
            bits = {f"{name}.rows": bits for name, (bits, _) in state.rows.items()}
            return {**dict(walk_arrays(state.arrays)), **bits}
        return dict(walk_arrays(self.lighter(self.now(state))))

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> State:
        first, arrays = self.content.first, self.content.as_today(arrays)
        for name, array in walk_arrays(first):
            given = arrays.get(name)
            passed = name in self.content.passing and given is not None and len(given) == 0
            check_array(name, given, array[:0].shape if passed else array.shape, array.dtype)
        found = with_arrays(first, iter([arrays[name] for name, _ in walk_arrays(first)]))
        self.content.check(found)
        return State(found)

    def with_classes(self, before: InPlace, state: State, spread: Spread) -> State:
        return State(self.content.with_classes(before.now(state), spread))

    def with_features(self, before: Any, state: State) -> State:
        wide = self.content.with_features(before.now(state))
        return self.begin() if wide is None else State(wide)

    def merged(self, apart: Apart) -> State:
        """The state that has learned from most labels."""
        state: State = apart.each[int(apart.shares.argmax())]
        return State(copy_arrays(self.now(state)))

    def nbytes(self, state: State) -> int:
        chunks = [(*rows, *others) for rows, *others, _ in state.since]
        every = (*self.arrays(state).values(), *(array for chunk in chunks for array in chunk))
        return sum(array.nbytes for array in every)


# -- row by row ----------------------------------------------------------------------------------


class RowInPlace(NamedTuple):
    """The form for rounds; given : (n, d) the rows."""

    member: InPlaceForm
    given: Floats


class InPlaceInRows(InRows):
    """An `InPlace` store row by row, on arrays of its own."""

    def __init__(self, store: InPlace, state: State):
        self.store, self.state, self.now = store, state, store.lighter(store.now(state))

    def changing(self, state: State) -> list[NDArray[Any]]:
        now = self.now if state is self.state else self.store.lighter(self.store.now(state))
        return [array for _, array in walk_arrays(now)]

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.now = with_arrays(self.now, iter(arrays))
        self.state = State(None, (), InPlaceTable(self.now))

    def forms(self, row: Row, kept: list[Any]) -> tuple[InPlaceForm, RowInPlace]:
        given, (n, d) = row.given, row.given.shape
        rows: Any = Dense(given)
        if self.store.content.sparse:
            rows = Sparse(np.zeros(n * d), np.zeros(n * d, np.int64), np.zeros(n + 1, np.int64))
        member = self.store.member(rows, n, self.now)
        return member, RowInPlace(member, given)

    def load(self, state: State) -> None:
        for (_, here), other in zip(walk_arrays(self.now), self.changing(state), strict=True):
            if len(here) == len(other):  # or it has passed
                np.copyto(here, other)


@in_rows.register(InPlace)
def _in_rows(store: InPlace, state: Any) -> type[InRows]:
    return InPlaceInRows


@Verb
def gather(rows: Any, X: Any) -> None:
    """Take over rows, (n, d). By default the rows are there."""


@gather.of(Sparse)
def _gather(rows, X):
    count = 0
    for t in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[t, j] != 0.0:
                rows.data[count], rows.indices[count] = X[t, j], j
                count += 1
        rows.indptr[t + 1] = count


@meet.of(RowInPlace)
def _meet(store):
    gather(store.member.rows, store.given)
