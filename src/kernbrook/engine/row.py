"""Rows one by one, in compiled code: the round, and what comes before and after it.

All that a row or a chunk of rows needs lies in buffers that are made once, and one link says where.
The caller passes the link and the rows: all of them are learned, or none. Arrays change in place.
Rows are undone if one of them overflows: the arrays go back to a copy from some rows before, and
the rows since the copy are learned again.
"""

from typing import Any, NamedTuple

from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import Matrix, Vector, family, through
from kernbrook.engine.committee import decide
from kernbrook.engine.progress import (
    CHOSEN,
    ROUND,
    SEED,
    WEIGHED,
    Board,
    Due,
    Progress,
    Terms,
    find_flaw,
)
from kernbrook.engine.rounds import ALL_PARTS, Scratch, check_parts, play_rounds, run_parts
from kernbrook.engine.stores.base import all_below, most_of
from kernbrook.engine.stores.in_rows import Row, meet, score_only, settle_rows
from kernbrook.engine.verbs import Clock
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.numerics.keys import dense_keys
from kernbrook.numerics.pairs import dense_norms
from kernbrook.numerics.scaling import NO_LEAP, RANKS, rank_each, rank_rows, scale_each, scale_rows
from kernbrook.numerics.vectors import copy, fill_with
from kernbrook.numerics.zero import finite

# How a row can end.
# From OVERFLOWED + 1 on: a store's number.
# LEAPT: as DONE, and it has made the deviation of a feature leap.
DONE, LEAPT, NOT_HERE, TOO_LARGE, NOT_COMBINED, OVERFLOWED = range(6)
AS_GIVEN = -1  # instead of a method of scaling
NONE = -1  # instead of a number of rows since the last copy


class Journal(NamedTuple):
    """The rows since the last copy: their features, labels and weights.

    n : (2,) how many, NONE where a copy comes before the next row; how many before the rows that
        are being learned, NONE where none is, or they have changed nothing
    """

    n: Ints
    X: Floats
    labels: Floats
    weights: Floats


class Workspace(NamedTuple):
    """All that n rows are learned with; n is 1 but for `begin` and `close`.

    committee : links to the combiner, the selection and the label policy
    terms, progress, board : as for `play_rounds`; decisions, asked, scratch : its out, and scratch
    due : what the calibration has not learned from yet
    failed : scores and sizes of rows that have overflowed
    row : as it is given; scaled, it is that of each view
    views : (v, LINK) links to the views
    stores, parts : (s, LINK) links to the stores, which score and learn; (s,) the parts of each
    row_forms : (s, LINK) links to what they do before and after
    live, saved : (words,) int, where all arrays lie that a row changes, and the last copy
    journal : the rows since that copy
    interleaved : whether who learns depends on the other experts
    """

    committee: tuple[Ints, Ints, Ints]
    terms: Terms
    progress: Progress
    board: Board
    due: Due
    failed: tuple[Floats, Floats]
    decisions: Floats
    asked: Any
    scratch: Scratch
    row: Row
    views: Ints
    stores: Ints
    parts: Ints
    row_forms: Ints
    live: Ints
    saved: Ints
    journal: Journal
    interleaved: bool


# -- what views do -------------------------------------------------------------------------------


class View(NamedTuple):
    """A view of the rows: scaled, or as they are given.

    method : of scaling, as in `scale_rows`; RANKS; or AS_GIVEN, where `row.x` is `row.given`
    seen, first, second : the scaler's state, as in `rank_rows`; else (1,), (1, d) and (1, d)
    """

    row: Row
    method: int
    seen: Ints
    first: Floats
    second: Floats


@Verb
def scale_view(view: Any, learns: bool) -> bool:
    """Scale the rows, from which the scaler learns or does not.

    Returns whether the squared norms are finite; `row.norm` has them then.
    """
    row, method = view.row, view.method
    if method == RANKS and learns:
        rank_rows(row.given, view.seen, view.first, view.second, row.x)
    elif method == RANKS:
        rank_each(row.given, view.seen, view.first, view.second, row.x)
    elif method != AS_GIVEN and learns:
        leap = scale_rows(method, row.given, view.seen, view.first[0], view.second[0], row.x)
        if row.leap[0] == NO_LEAP:
            row.leap[0] = leap
    elif method != AS_GIVEN:
        scale_each(method, row.given, view.seen, view.first[0], view.second[0], row.x)
    copy(dense_norms(row.x), row.norm)
    return finite(row.norm)


family(scale_view)


# -- rows as a whole -------------------------------------------------------------------------------


@Verb
def take(space: Any, x: Vector, label: float, weight: float, rows: int, out: Vector) -> int:
    """Learn a row; out : (c,) out, the decision before. Returns how it ends.

    rows : how many, this one among them, are still to be learned, all of its chunk or none

    `undo` has to follow if a row ends neither in DONE nor in LEAPT, or is broken off.
    """
    if space.journal.n[1] == NONE:
        make_room(space, rows)
    if not copy_rows(space.row, x.reshape((1, -1))):
        return NOT_HERE
    keep_copy(space)
    space.board.labels[0], space.board.importance[0] = label, weight
    end = learn_given(space)
    if end <= LEAPT:
        note_rows(space, rows == 1)
        copy(space.decisions[0], out)
    return end


@Verb
def undo(space: Any) -> None:
    """Go back to the last copy, and learn the rows since then, but none of those of now."""
    journal, board = space.journal, space.board
    if journal.n[1] == NONE:
        return
    journal.n[0], journal.n[1] = journal.n[1], NONE
    copy(space.saved, space.live)
    for i in range(journal.n[0]):
        copy(journal.X[i], space.row.given[0])
        board.labels[0], board.importance[0] = journal.labels[i], journal.weights[i]
        learn_given(space)


@Verb
def decide_row(space: Any, x: Vector, out: Vector, leanings: Vector) -> int:
    """The decision on a row, (c,) out, and what the experts lean to; nothing is learned.

    Returns how it ends.
    """
    if not copy_rows(space.row, x.reshape((1, -1))):
        return NOT_HERE
    for k in range(len(space.views)):
        if not through(scale_view, space.views[k], False):
            return TOO_LARGE
    for k in range(len(space.row_forms)):
        through(score_only, space.row_forms[k], space.board)
    if not board_sound(space):
        return OVERFLOWED
    decide(
        space.committee, space.terms, space.progress, space.board, space.decisions,
        space.scratch.room,
    )  # fmt: skip
    if not decision_sound(space):
        return NOT_COMBINED
    copy(space.decisions[0], out)
    copy(space.board.leanings[0], leanings)
    return DONE


@Verb
def begin(space: Any, X: Matrix, labels: Vector, weights: Vector) -> int:
    """Prepare the next n rows, which are learned all or none. Returns how it ends.

    Stores then learn by themselves, unless the model is interleaved; then `close` is called.
    `undo` has to follow if a step ends neither in DONE nor in LEAPT, or is broken off.
    """
    make_room(space, X.shape[0])
    if not copy_rows(space.row, X):
        return NOT_HERE
    keep_copy(space)
    copy(labels, space.board.labels)
    copy(weights, space.board.importance)
    return prepare_rows(space)


@Verb
def close(space: Any, out: Matrix) -> int:
    """Learn all else from the rows of `begin`; out : (n, c) out, the decisions before.

    Returns how it ends.
    """
    end = finish_rows(space, -1)
    if end <= LEAPT:
        note_rows(space, True)
        copy(space.decisions.reshape(-1), out.reshape(-1))
    return end


family(take, undo, decide_row)
family(begin, close)


@njit(cache=True)
def learn_rows(link, X, labels, weights, out):
    """`take` some rows, up to one that cannot be learned; out : (n, c) out. Returns how it ends."""
    n, ends = X.shape[0], DONE
    for i in range(n):
        end = through(take, link, X[i], labels[i], weights[i], n - i, out[i])
        ends = max(ends, end)
        if end > LEAPT:
            through(undo, link)
            break
    return ends


@njit(cache=True)
def learn_row(link, x, label, weight, out):
    """`take` one row, (d,), alone; out : (c,) out."""
    end = through(take, link, x, label, weight, 1, out)
    if end > LEAPT:
        through(undo, link)
    return end


@njit(cache=True)
def begin_rows(link, X, labels, weights):
    """See `begin`."""
    return through(begin, link, X, labels, weights)


@njit(cache=True)
def close_rows(link, out):
    """See `close`."""
    return through(close, link, out)


@njit(cache=True)
def go_back(link):
    """See `undo`."""
    through(undo, link)


@njit(cache=True)
def decide_rows(link, X, out, leanings):
    """`decide_row` for each row, up to one that does not end well. Returns how that one ends."""
    end = DONE
    for i in range(X.shape[0]):
        end = through(decide_row, link, X[i], out[i], leanings[i])
        if end != DONE:
            break
    return end


@njit(cache=True, forceinline=True)
def make_room(space, rows):
    """Have room in the journal for rows that are learned all or none; else it begins anew."""
    journal = space.journal
    space.row.leap[0] = NO_LEAP
    if journal.n[0] + rows > journal.X.shape[0]:
        journal.n[0] = NONE


@njit(cache=True)
def keep_copy(space):
    """Before a row changes anything: copy all that was learned, if it is time."""
    n = space.journal.n
    if n[0] == NONE:
        copy(space.live, space.saved)
        n[0] = 0
    if n[1] == NONE:
        n[1] = n[0]


@njit(cache=True)
def note_rows(space, last):
    """Note the rows that were learned: for the calibration, and to learn them again.

    last : whether these are the last of their chunk
    """
    due, board, journal = space.due, space.board, space.journal
    n = board.labels.shape[0]
    for t in range(n):
        at = (space.progress.counters[ROUND] - n + t) % due.labels.shape[0]
        copy(board.leanings[t], due.leanings[at])
        due.judged[at] = board.judged[t]
        k = journal.n[0]
        copy(space.row.given[t], journal.X[k])
        journal.labels[k], journal.weights[k] = board.labels[t], board.importance[t]
        journal.n[0] += 1
    if last:
        journal.n[1] = NONE


@njit(cache=True)
def learn_given(space):
    """Learn the row that is given. Returns how it ends."""
    end = prepare_rows(space)
    if end > LEAPT:
        return end
    after = finish_rows(space, -1 if space.interleaved else learn_alone(space))
    return end if after == DONE else after


@njit(cache=True)
def prepare_rows(space):
    """Scale the rows that are given, and have all stores meet them. Returns how it ends."""
    row, counters = space.row, space.progress.counters
    fits = True
    before, end = row.leap[0], DONE
    for k in range(len(space.views)):
        fits &= through(scale_view, space.views[k], True)
    if row.leap[0] != before:
        value, d = row.leap[0], row.given.shape[1]
        row.leap[0], row.leap[1], end = value % d, counters[ROUND] + value // d, LEAPT
    if not fits:
        return TOO_LARGE
    if row.tells_apart:
        copy(dense_keys(row.given), row.key)
    if not space.interleaved:
        fill_with(space.board.updates.reshape(-1), True)
    for k in range(len(space.row_forms)):
        through(meet, space.row_forms[k])
    return end


@njit(cache=True)
def finish_rows(space, wrong):
    """Learn from the scores of the rows. Returns how it ends.

    wrong : number of a store with what is not finite; -1: there is none
    """
    board, counters, stores = space.board, space.progress.counters, space.stores
    if not space.interleaved:
        stores = stores[:0]
    alone = counters[CHOSEN]
    play_rounds(
        space.committee, space.terms, space.progress, stores, board, space.decisions, space.asked,
        space.scratch,
    )  # fmt: skip
    if not board_sound(space):
        return OVERFLOWED
    for k in range(len(stores)):
        if not through(check_parts, stores[k], 0, ALL_PARTS):
            wrong = k
    if wrong >= 0:
        return OVERFLOWED + 1 + wrong
    if not decision_sound(space):
        return NOT_COMBINED
    chosen = counters[CHOSEN] if alone < 0 else -1
    for k in range(len(space.row_forms)):
        through(settle_rows, space.row_forms[k], chosen)
    return DONE


@njit(cache=True)
def learn_alone(space):
    """Each store goes through the row by itself.

    Returns the number of a store where that is not finite; -1: everywhere it is.
    """
    counters, wrong = space.progress.counters, -1
    clock = Clock(counters[SEED], counters[ROUND], counters[WEIGHED])
    for k in range(len(space.stores)):
        if not through(run_parts, space.stores[k], 0, space.parts[k], clock):
            wrong = k
    return wrong


@njit(cache=True, forceinline=True)
def copy_rows(row, X):
    """Take rows; whether their squared norms are finite."""
    copy(X.reshape(-1), row.given.reshape(-1))
    return finite(dense_norms(row.given))


@njit(cache=True)
def decision_sound(space):
    """Whether the decision is finite, and what is known of the experts as `find_flaw` has it."""
    decisions, leanings = space.decisions.reshape(-1), space.board.leanings.reshape(-1)
    sound = finite(decisions) and finite(leanings)
    return sound and find_flaw(space.progress) == 0


@njit(cache=True)
def board_sound(space):
    """Whether no score of the rows has overflowed; if one has, they are copied."""
    scores, sizes = space.board.scores.reshape(-1), space.board.sizes.reshape(-1)
    most = most_of(space.board.numbers)
    if all_below(scores, most) and all_below(sizes, most):
        return True
    copy(scores, space.failed[0].reshape(-1))
    copy(sizes, space.failed[1].reshape(-1))
    return False
