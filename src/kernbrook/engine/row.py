"""One row as a whole, in compiled code: what comes before and after the round, and the round.

Everything that a row needs lies in buffers that are made once, and one link says where. Whoever
calls passes the link and the rows, which are learned all or none. What was learned is changed in
place. Rows one of which ends in an overflow are undone: by a copy from some rows before, and the
rows up to these, which are learned again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import Vector, family, through
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
from kernbrook.numerics.vectors import copy
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
    """All that a row is learned with.

    committee : links to the combiner, the selection and the label policy
    due : what the calibration has not learned from yet
    failed : scores and sizes of a row that has overflowed
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
    """A view of the row: scaled, or as it is given.

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
    """Scale the row, from which the scaler learns or does not.

    Returns whether the squared norm is below its limit; `row.norm` has it then.
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
    row.norm[0] = dense_norms(row.x)[0]
    return row.norm[0] < row.limit


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


family(take, undo, look, foresee)


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
    journal = whole.journal
    if rows > 0:
        whole.row.leap[0] = NO_LEAP
        if journal.n[0] + rows > journal.X.shape[0]:
            journal.n[0] = COPY
    if not given(whole.row, x):
        return NOT_HERE
    if journal.n[0] == COPY:
        copy(whole.live, whole.saved)
        for k in range(len(whole.own)):
            through(keep, whole.own[k], False)
        journal.n[0] = 0
    end = learn(whole, label, weight)
    if end <= LEAPT:
        due, board = whole.due, whole.board
        at = (whole.progress.counters[ROUND] - 1) % due.labels.shape[0]
        copy(board.leanings[0], due.leanings[at])
        due.judged[at] = board.judged[0]
        n = journal.n[0]
        if n < journal.X.shape[0]:
            copy(x, journal.X[n])
            journal.labels[n], journal.weights[n] = label, weight
            journal.n[0] += 1
        copy(whole.decisions[0], out)
    return end


@undo.of(Whole)
def _undo(whole, rows):
    journal = whole.journal
    if journal.n[0] == COPY:
        return  # nothing has changed
    journal.n[0] -= rows
    copy(whole.saved, whole.live)
    for k in range(len(whole.own)):
        through(keep, whole.own[k], True)
    for i in range(journal.n[0]):
        copy(journal.X[i], whole.row.given[0])
        learn(whole, journal.labels[i], journal.weights[i])


@njit(cache=True)
def learn(whole, label, weight):
    """Learn the row that is given. Returns how it ends."""
    row, board, counters, stores = whole.row, whole.board, whole.progress.counters, whole.stores
    fits = True
    before, end = row.leap[0], DONE
    for k in range(len(whole.views)):
        fits &= through(sight, whole.views[k], True)
    if row.leap[0] != before:
        row.leap[1], end = counters[ROUND], LEAPT
    if not fits:
        return TOO_LARGE
    if row.tells_apart:
        row.key[0] = dense_keys(row.given)[0]
    board.labels[0], board.importance[0] = label, weight
    for k in range(len(stores)):
        through(meet, whole.own[k])
    wrong = -1  # number of a store with what is not finite
    if not whole.interleaved:
        wrong = learn_alone(whole)
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
    return end


@njit(cache=True)
def learn_alone(whole):
    """Each store goes through the row by itself.

    Returns the number of a store where that is not finite; -1: everywhere it is.
    """
    board, counters, wrong = whole.board, whole.progress.counters, -1
    clock = Clock(counters[SEED], counters[ROUND], counters[WEIGHED])
    for e in range(board.updates.shape[1]):
        board.updates[0, e] = True
    for k in range(len(whole.stores)):
        if not through(go_through, whole.stores[k], 0, whole.parts[k], clock):
            wrong = k
    return wrong


@look.of(Whole)
def _look(whole, x):
    if not given(whole.row, x):
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
def given(row, x):
    """Take a row; whether its numbers are finite, and of a size that can be dealt with."""
    copy(x, row.given[0])
    return dense_norms(row.given)[0] < row.most


@njit(cache=True)
def combined(whole):
    """Whether the decision is finite, and what is known of the experts as `flaw` has it."""
    sound = finite(whole.decisions[0]) and finite(whole.board.leanings[0])
    return sound and flaw(whole.progress) == 0


@njit(cache=True)
def board_sound(whole):
    """Whether no score of the row has overflowed; if one has, they are copied."""
    scores, sizes = whole.board.scores.reshape(-1), whole.board.sizes.reshape(-1)
    most = most_of(whole.board.numbers)
    if bounded(scores, most) and bounded(sizes, most):
        return True
    copy(scores, whole.failed[0].reshape(-1))
    copy(sizes, whole.failed[1].reshape(-1))
    return False
