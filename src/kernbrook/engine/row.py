"""Rows as a whole, in compiled code: what comes before and after the round, and the round.

Everything that a row needs lies in buffers that are made once, and one link says where. So does
what a chunk of rows needs. Whoever calls passes the link and the rows, which are learned all or
none. What was learned is changed in place. Rows one of which ends in an overflow are undone: by a
copy from some rows before, and the rows up to these, which are learned again.
"""

from __future__ import annotations

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
    flaw,
)
from kernbrook.engine.rounds import EVERY, Scratch, check_some, go_through, rounds
from kernbrook.engine.stores.base import bounded, most_of
from kernbrook.engine.stores.in_rows import Row, keep, meet, read, settle
from kernbrook.engine.verbs import Clock
from kernbrook.gram.arrays import Floats, Labels
from kernbrook.numerics.keys import dense_keys
from kernbrook.numerics.pairs import dense_norms
from kernbrook.numerics.scaling import NO_LEAP, RANKS, rank_each, rank_rows, scale_each, scale_rows
from kernbrook.numerics.vectors import copy, fill_with
from kernbrook.numerics.zero import finite

# How a row can end.
# From OVERFLOWED + 1 on: a store's number.
# LEAPT: as DONE, and it has made the deviation of a feature leap.
DONE, LEAPT, NOT_HERE, TOO_LARGE, RAISED, NOT_COMBINED, OVERFLOWED = range(7)
AS_GIVEN = -1  # instead of a method of scaling
COPY = -1  # instead of a number of rows since the last copy: there is one before the next row


class Journal(NamedTuple):
    """The rows since the last copy: n, (1,), or COPY; their features, labels and weights."""

    n: Labels
    X: Floats
    labels: Floats
    weights: Floats


class Whole(NamedTuple):
    """All that n rows are learned with; n is 1 where `take` or `look` is called.

    committee : links to the combiner, the selection and the label policy
    due : what the calibration has not learned from yet
    failed : scores and sizes of rows that have overflowed
    row : as it is given; scaled, it is that of each view
    views : (v, LINK) links to the views
    stores, parts : (s, LINK) links to the stores, which score and learn; (s,) the parts of each
    own : (s, LINK) links to what they do before and after
    live, saved : (words,) int, where all arrays lie that a row changes, and the last copy
    interleaved : whether who learns depends on the other experts
    """

    committee: tuple[Labels, Labels, Labels]
    terms: Terms
    progress: Progress
    board: Board
    due: Due
    failed: tuple[Floats, Floats]
    decisions: Floats
    asked: Any
    scratch: Scratch
    row: Row
    views: Labels
    stores: Labels
    parts: Labels
    own: Labels
    live: Labels
    saved: Labels
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
    seen: Labels
    first: Floats
    second: Floats


@Verb
def sight(view: Any, learns: bool) -> bool:
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


family(sight)


# -- the whole -----------------------------------------------------------------------------------


@Verb
def take(whole: Any, x: Vector, label: float, weight: float, rows: int, out: Vector) -> int:
    """Learn a row; out : (c,) out, the decision before. Returns how it ends.

    rows : how many from this one on are learned all or none; 0: it is not the first of these

    Where it ends neither in DONE nor in LEAPT, `undo` has to follow.
    """
    raise NotImplementedError


@Verb
def undo(whole: Any, rows: int) -> None:
    """Go back to the last copy, and learn the rows since then, but not the last few."""
    raise NotImplementedError


@Verb
def look(whole: Any, x: Vector) -> int:
    """Scale a row in each view; nothing is learned. Returns how it ends."""
    raise NotImplementedError


@Verb
def foresee(whole: Any, x: Vector, out: Vector, leanings: Vector) -> int:
    """The decision on a row, (c,) out, and what the experts lean to; nothing is learned.

    Returns how it ends.
    """
    raise NotImplementedError


@Verb
def begin(whole: Any, X: Matrix, labels: Vector, weights: Vector) -> int:
    """Meet the next n rows, all or none of which are learned. Returns how it ends.

    What stores learn follows, each by itself, where the model is not interleaved; then `close`.
    Where something ends neither in DONE nor in LEAPT, or is broken off, `undo` has to follow.
    """
    raise NotImplementedError


@Verb
def close(whole: Any, out: Matrix) -> int:
    """Learn all else from the rows that `begin` has met; out : (n, c) out, the decisions before.

    Returns how it ends.
    """
    raise NotImplementedError


family(take, undo, look, foresee)
family(begin, close)


@njit(cache=True)
def learn_rows(link, X, labels, weights, out):
    """Learn some rows, all or none; out : (n, c) out. Returns how they end."""
    n, ends = X.shape[0], DONE
    for i in range(n):
        end = taken(link, X[i], labels[i], weights[i], n if i == 0 else 0, out[i])
        if end > LEAPT:
            if i > 0 or end != NOT_HERE:
                through(undo, link, i)
            return end
        ends = max(ends, end)
    return ends


@njit(cache=True)
def learn_row(link, x, label, weight, out):
    """The same of one row, (d,); out : (c,) out."""
    end = taken(link, x, label, weight, 1, out)
    if end > LEAPT and end != NOT_HERE:  # else nothing has changed
        through(undo, link, 0)
    return end


@njit(cache=True)
def taken(link, x, label, weight, rows, out):
    """See `take`."""
    try:
        end = through(take, link, x, label, weight, rows, out)
    except Exception:
        end = RAISED
    return end


@njit(cache=True)
def begin_rows(link, X, labels, weights):
    """See `begin`."""
    try:
        end = through(begin, link, X, labels, weights)
    except Exception:
        end = RAISED
    return end


@njit(cache=True)
def close_rows(link, out):
    """See `close`."""
    try:
        end = through(close, link, out)
    except Exception:
        end = RAISED
    return end


@njit(cache=True)
def go_back(link):
    """See `undo`: after rows that `begin` has met, or after none."""
    through(undo, link, 0)


@njit(cache=True)
def look_at_row(link, x):
    """See `look`."""
    return through(look, link, x)


@njit(cache=True)
def decide_rows(link, X, out, leanings):
    """`foresee` for each row, up to one that does not end well. Returns how the last one ends."""
    end = DONE
    for i in range(X.shape[0]):
        end = through(foresee, link, X[i], out[i], leanings[i])
        if end != DONE:
            break
    return end


@take.of(Whole)
def _take(whole, x, label, weight, rows, out):
    if rows > 0:
        make_room(whole, rows)
    if not given(whole.row, x.reshape((1, -1))):
        return NOT_HERE
    keep_copy(whole)
    whole.board.labels[0], whole.board.importance[0] = label, weight
    end = learn(whole)
    if end <= LEAPT:
        note(whole)
        copy(whole.decisions[0], out)
    return end


@begin.of(Whole)
def _begin(whole, X, labels, weights):
    make_room(whole, X.shape[0])
    if not given(whole.row, X):
        return NOT_HERE
    keep_copy(whole)
    copy(labels, whole.board.labels)
    copy(weights, whole.board.importance)
    return met(whole)


@close.of(Whole)
def _close(whole, out):
    end = closed(whole, -1)
    if end <= LEAPT:
        note(whole)
        copy(whole.decisions.reshape(-1), out.reshape(-1))
    return end


@undo.of(Whole)
def _undo(whole, rows):
    journal, board = whole.journal, whole.board
    if journal.n[0] == COPY:
        return  # nothing has changed
    journal.n[0] -= rows
    copy(whole.saved, whole.live)
    for k in range(len(whole.own)):
        through(keep, whole.own[k], True)
    for i in range(journal.n[0]):
        copy(journal.X[i], whole.row.given[0])
        board.labels[0], board.importance[0] = journal.labels[i], journal.weights[i]
        learn(whole)


@njit(cache=True, forceinline=True)
def make_room(whole, rows):
    """Before rows that are learned all or none: the journal has room for them, or begins anew."""
    journal = whole.journal
    whole.row.leap[0] = NO_LEAP
    if journal.n[0] + rows > journal.X.shape[0]:
        journal.n[0] = COPY


@njit(cache=True)
def keep_copy(whole):
    """Copy all that was learned, if it is time."""
    if whole.journal.n[0] == COPY:
        copy(whole.live, whole.saved)
        for k in range(len(whole.own)):
            through(keep, whole.own[k], False)
        whole.journal.n[0] = 0


@njit(cache=True)
def note(whole):
    """Note the rows that were learned: for the calibration, and to learn them again."""
    due, board, journal = whole.due, whole.board, whole.journal
    n = board.labels.shape[0]
    for t in range(n):
        at = (whole.progress.counters[ROUND] - n + t) % due.labels.shape[0]
        copy(board.leanings[t], due.leanings[at])
        due.judged[at] = board.judged[t]
        k = journal.n[0]
        if k < journal.X.shape[0]:
            copy(whole.row.given[t], journal.X[k])
            journal.labels[k], journal.weights[k] = board.labels[t], board.importance[t]
            journal.n[0] += 1


@njit(cache=True)
def learn(whole):
    """Learn the row that is given. Returns how it ends."""
    end = met(whole)
    if end > LEAPT:
        return end
    after = closed(whole, -1 if whole.interleaved else learn_alone(whole))
    return end if after == DONE else after


@njit(cache=True)
def met(whole):
    """Scale the rows that are given, and have all stores look at them. Returns how it ends."""
    row, counters = whole.row, whole.progress.counters
    fits = True
    before, end = row.leap[0], DONE
    for k in range(len(whole.views)):
        fits &= through(sight, whole.views[k], True)
    if row.leap[0] != before:
        value, d = row.leap[0], row.given.shape[1]
        row.leap[0], row.leap[1], end = value % d, counters[ROUND] + value // d, LEAPT
    if not fits:
        return TOO_LARGE
    if row.tells_apart:
        copy(dense_keys(row.given), row.key)
    if not whole.interleaved:
        fill_with(whole.board.updates.reshape(-1), True)
    for k in range(len(whole.own)):
        through(meet, whole.own[k])
    return end


@njit(cache=True)
def closed(whole, wrong):
    """Learn from what the experts have said of the rows. Returns how it ends.

    wrong : number of a store with what is not finite; -1: there is none
    """
    board, counters, stores = whole.board, whole.progress.counters, whole.stores
    if not whole.interleaved:
        stores = stores[:0]
    alone = counters[CHOSEN]
    rounds(
        whole.committee, whole.terms, whole.progress, stores, board, whole.decisions, whole.asked,
        whole.scratch,
    )  # fmt: skip
    if not board_sound(whole):
        return OVERFLOWED
    for k in range(len(stores)):
        if not through(check_some, stores[k], 0, EVERY):
            wrong = k
    if wrong >= 0:
        return OVERFLOWED + 1 + wrong
    if not combined(whole):
        return NOT_COMBINED
    chosen = counters[CHOSEN] if alone < 0 else -1
    for k in range(len(whole.own)):
        through(settle, whole.own[k], chosen)
    return DONE


@njit(cache=True)
def learn_alone(whole):
    """Each store goes through the row by itself.

    Returns the number of a store where that is not finite; -1: everywhere it is.
    """
    counters, wrong = whole.progress.counters, -1
    clock = Clock(counters[SEED], counters[ROUND], counters[WEIGHED])
    for k in range(len(whole.stores)):
        if not through(go_through, whole.stores[k], 0, whole.parts[k], clock):
            wrong = k
    return wrong


@look.of(Whole)
def _look(whole, x):
    if not given(whole.row, x.reshape((1, -1))):
        return NOT_HERE
    for k in range(len(whole.views)):
        if not through(sight, whole.views[k], False):
            return TOO_LARGE
    return DONE


@foresee.of(Whole)
def _foresee(whole, x, out, leanings):
    end = look(whole, x)
    if end != DONE:
        return end
    for k in range(len(whole.own)):
        through(read, whole.own[k], whole.board)
    if not board_sound(whole):
        return OVERFLOWED
    decide(
        whole.committee, whole.terms, whole.progress, whole.board, whole.decisions,
        whole.scratch.room,
    )  # fmt: skip
    if not combined(whole):
        return NOT_COMBINED
    copy(whole.decisions[0], out)
    copy(whole.board.leanings[0], leanings)
    return DONE


@njit(cache=True, forceinline=True)
def given(row, X):
    """Take rows; whether their squared norms are finite."""
    copy(X.reshape(-1), row.given.reshape(-1))
    return finite(dense_norms(row.given))


@njit(cache=True)
def combined(whole):
    """Whether the decision is finite, and what is known of the experts as `flaw` has it."""
    decisions, leanings = whole.decisions.reshape(-1), whole.board.leanings.reshape(-1)
    sound = finite(decisions) and finite(leanings)
    return sound and flaw(whole.progress) == 0


@njit(cache=True)
def board_sound(whole):
    """Whether no score of the rows has overflowed; if one has, they are copied."""
    scores, sizes = whole.board.scores.reshape(-1), whole.board.sizes.reshape(-1)
    most = most_of(whole.board.numbers)
    if bounded(scores, most) and bounded(sizes, most):
        return True
    copy(scores, whole.failed[0].reshape(-1))
    copy(sizes, whole.failed[1].reshape(-1))
    return False
