"""The base of all stores."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.compiling import njit
from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.state import count_filled
from kernbrook.engine.uniting import Apart
from kernbrook.engine.verbs import Seen
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.arrays import Flags, Floats, Ints, pad
from kernbrook.gram.rows import Rows
from kernbrook.numerics.keys import mark_known
from kernbrook.numerics.scores_of_classes import margin_of

Array = NDArray[Any]
PIECES = 4  # tasks for each thread


class Setting(NamedTuple):
    """The data and the seed of a run, beside its choices.

    width, sparse : of the features
    scores : of each kernel: 1 for numbers and for two classes, else the number of classes
    seed : of the draws
    regression : whether labels are numbers
    judges_stored : whether the combiner learns from a row that is stored like from others
    """

    width: int
    sparse: bool
    scores: int
    seed: int
    regression: bool = False
    judges_stored: bool = True


class Prepared(NamedTuple):
    """A store before a block: compiled forms on copies, of which it makes its state after it.

    members : compiled forms; each has parts, see `parts_of`
    threads : how many are worth while
    finish : gives the state after the pass; NonFiniteError where something overflowed
    look : of experts from outside: fills in the board
    go : of experts from outside: fills in the board, and learns on the way
    pieces : tasks for each thread
    outlives : what must outlive the members
    """

    members: tuple[Any, ...]
    threads: int
    finish: Callable[[Board, Flags], Any]
    look: Callable[[Board], None] | None = None
    go: Callable[[Board], None] | None = None
    pieces: int = PIECES
    outlives: Any = None


class Spread(NamedTuple):
    """The way from the scores of a model to those of a model of more classes.

    coefficients : (c, k) what each of the c scores gives to each of the k: two classes with one
        score have half of it each, with opposite signs; a new class has nothing
    origin : (k,) the score that each comes from; -1: it is new
    """

    coefficients: Floats
    origin: Ints

    def along(self, array: Array, axis: int) -> Array:
        """An array of which an axis has the scores, as one of more classes.

        Numbers are moved, many at a time: a product of matrices would take as long as learning from
        a hundred rows. Rows at the end that hold nothing are left out.
        """
        shape, axis = list(array.shape), axis % array.ndim
        shape[axis] = len(self.origin)
        found, n = np.zeros(shape, array.dtype), count_filled(array) if axis > 0 else None
        if len(self.coefficients) == 1:
            each = np.moveaxis(found[:n], axis, -1)
            moved = np.moveaxis(array[:n], axis, -1)
            np.multiply(moved, self.coefficients[0].astype(array.dtype), out=each)
            each += 0.0  # no zero of the other sign
            return found
        known = np.flatnonzero(self.origin >= 0)
        steps = (np.diff(known) != 1) | (np.diff(self.origin[known]) != 1)
        for run in np.split(known, np.flatnonzero(steps) + 1):
            new, first = slice(run[0], run[-1] + 1), self.origin[run[0]]
            old, before = slice(first, first + len(run)), (slice(None),) * (axis - 1)
            rows = () if axis == 0 else (slice(n), *before)
            found[(*rows, new)] = array[(*rows, old)]
        return found


def spread_of(scores: int, positions: Ints, classes: int) -> Spread:
    """From so many scores to those of k classes; positions : of the old classes among them."""
    coefficients, origin = np.zeros((scores, classes)), np.full(classes, -1)
    origin[positions] = 0 if scores == 1 else np.arange(scores)
    coefficients[origin[positions], positions] = [-0.5, 0.5] if scores == 1 else 1.0
    return Spread(coefficients, origin)


class Store:
    """A store of what some experts of a pool learn.

    The store itself never changes: its state is given, and given back.

    Attributes
    ----------
    experts : (m,) numbers of its experts in the pool
    block_rows : of a block
    view : number of the view of rows that it sees
    kernels : of the experts, where each has one
    overflows : what to do where scores have overflowed, in words
    stands_alone : whether its experts learn whatever the committee does
    grows : whether nothing bounds the points that it holds, `state.points`
    looks_outside : whether its experts are not compiled, and look at the rows as they were given
    by_block : what its experts have that takes no rows one by one, in words; see `in_rows`
    """

    setting: Setting
    experts: Ints
    block_rows: int
    view = 0
    kernels: Sequence[Any] = ()
    overflows = "the scores of an expert from outside overflowed; scale them"
    stands_alone = True
    grows = False
    looks_outside = False
    by_block = ""

    def begin(self) -> Any:
        """The state before the first example. Called for a new model, and to begin experts anew."""
        raise NotImplementedError

    def prepare(self, state: Any, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        """The means to learn a block of rows. Called before each block.

        The pass works on copies of the state's arrays, and its `finish` gives the next state: the
        state given never changes, so that a block is learned as a whole or not at all. Arrays that
        no verb changes may be shared.

        progress : of the run, a copy that the pass changes
        raw : the rows as they were given, before they were scaled
        """
        raise NotImplementedError

    def reading(self, state: Any, rows: Rows, raw: Any) -> Prepared:
        """The means to score rows. Called before rows are predicted; nothing is learned.

        The pass may share all arrays with the state.
        """
        raise NotImplementedError

    def arrays(self, state: Any) -> dict[str, NDArray[Any]]:
        """Every array of the state, by name: what a file holds. Called by `save` and by merging.

        The arrays may be the state's own; the caller does not change them.
        """
        raise NotImplementedError

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """The state with these arrays, which belong to the state from now on. Called by `load`.

        InputError where an array is missing, has a shape or type that no state of the store has, or
        numbers beyond what compiled code can take: this trusts what passes, and looks no more.
        """
        raise NotImplementedError

    def with_classes(self, before: Any, state: Any, spread: Spread) -> Any:
        """The state of the same store with fewer scores, as this one's. Called for a new class.

        InputError where the experts cannot learn of a class that appears later.
        """
        raise InputError("not every part of this model can learn of a class that appears later")

    def with_features(self, before: Any, state: Any) -> Any:
        """The state of the same store on rows of fewer features, as this one's: all had 0 there."""
        arrays, width = before.arrays(state), self.setting.width
        new = {name: pad(arrays[name], -1, width) for name in ("X", "points") if name in arrays}
        return self.restored({**arrays, **new})

    def merged(self, apart: Apart) -> Any:
        """The state that stands for those of several models; InputError where none can."""
        raise InputError("merge: not all parts of this model can be merged")

    def expansion(self, state: Any) -> tuple[Rows, Floats] | None:
        """The points of its expansions, and (n, m, c) coefficients; None where it has none."""
        return None

    def nbytes(self, state: Any) -> int:
        """Bytes that the state takes."""
        return sum(array.nbytes for array in self.arrays(state).values())

    def nbytes_beside(self, snapshot: Any, state: Any) -> int:
        """Bytes that a snapshot takes beside the state now."""
        known, held = self.arrays(state), self.arrays(snapshot)
        return sum(array.nbytes for name, array in held.items() if array is not known.get(name))

    def snapshot(self, state: Any) -> Any:
        """The state as one that is read while learning goes on. Called at the start of a lap.

        It is given to `reading` and `arrays` alone: what only learning asks for may be left out. By
        default the state itself, which no block changes.
        """
        return state

    def restored_snapshot(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """The snapshot with these arrays. Called by `load`; InputError as of `restored`."""
        return self.restored(arrays)

    def only(self, state: Any, expert: int) -> Any:
        """The state once all experts but one are given up; `expert` is its number in the pool."""
        return state


def overflow(store: Store, expert: int | None = None) -> NonFiniteError:
    """The error if scores of an expert, numbered in the store, or of any have overflowed."""
    named = expert is not None and len(store.kernels) > 0
    where = f"kernel {store.kernels[expert]}: " if named else ""  # type: ignore[index]
    return NonFiniteError(where + store.overflows)


def find_known(judged: bool, rows: Rows, stored: Ints, inside: bool) -> tuple[Ints, Flags]:
    """Keys of rows, and (n,) bool: is a row like one of those stored?

    judged : whether stored rows are judged like others: then all keys differ, and none is known
    inside : whether a row like one before it in the block is known, too
    """
    known = np.zeros(len(rows), dtype=bool)
    if judged:
        return np.arange(len(rows)), known
    mark_known(rows.keys, stored, inside, known)
    return rows.keys, known


@njit(cache=True, nogil=True, plain=True)
def most_of(numbers):
    """Scores from here on have overflowed: sums of them do, and of numbers those of squares."""
    return 1e150 if numbers else 1e290


@njit(cache=True, nogil=True)
def all_below(scores, most):
    """Whether all of a vector's are of a size below `most`."""
    sound = True
    for i in range(np.uintp(scores.shape[0])):
        sound &= abs(scores[i]) < most
    return sound


@njit(cache=True, nogil=True, forceinline=True)
def see(board, t, expert, diagonal, clock):
    """Example t as a learner meets it, after the expert has scored it."""
    target, weight = board.labels[t], board.importance[t]
    if board.numbers:
        nothing = np.int64(0)
        return Seen(
            nothing, target, weight, 0.0, 0.0, nothing, False, diagonal, True, clock, expert
        )
    label = int(target)
    margin, size, rival, wrong = margin_of(board.scores[t, expert], board.sizes[t, expert], label)
    return Seen(label, target, weight, margin, size, rival, wrong, diagonal, False, clock, expert)
