"""One row as a whole, in compiled code: what comes before and after the round, and the round.

Everything that a row needs lies in buffers that are made once, and one link says where. Whoever
calls passes the link and the row.
"""

from typing import Any, NamedTuple

import numpy as np

from kernbrook.engine.committee import decide
from kernbrook.engine.progress import ASKED, ROUND, SEED, Board, Progress, Terms
from kernbrook.engine.rounds import learn_all, rounds, score_all
from kernbrook.engine.verbs import Clock
from kernbrook.gram.points import Floats, Labels
from kernbrook.numerics.compiling import Verb, njit
from kernbrook.numerics.keys import dense_keys
from kernbrook.numerics.linking import Vector, family, fill_in, through
from kernbrook.numerics.pairs import dense_norms
from kernbrook.numerics.scaling import scale_each, scale_rows

# How a row can end.
DONE, NOT_HERE, TOO_LARGE, OVERFLOWED = 0, 1, 2, 3  # from OVERFLOWED + 1 on: in a store, by number


class Row(NamedTuple):
    """A row as it is given, (1, d), and scaled; the squared norm, and the key, (1,) each.

    tells_apart : whether a row that is stored is known again, by its key
    """

    given: Floats
    x: Floats
    norm: Floats
    key: Labels
    tells_apart: bool


class Scaling(NamedTuple):
    """What a scaler knows, as in `scale_rows`; method : -1: rows are not scaled."""

    method: int
    seen: Labels
    first: Floats
    second: Floats


class Whole(NamedTuple):
    """All that a row is learned with, in one of two turns.

    committee : links to the combiner, the selection and the label policy
    progress, scaling : of the turn
    memory, before : (words,) int of this turn, where all arrays lie that a row changes, and of the
        other turn
    scaling_before : of the other turn
    stores : (s, LINK) links to the stores, which score and learn
    own : (s, LINK) links to what they do before and after
    interferes : whether who learns depends on the other experts
    """

    committee: tuple[Labels, Labels, Labels]
    terms: Terms
    progress: Progress
    board: Board
    decisions: Floats
    asked: Any
    row: Row
    memory: Labels
    before: Labels
    scaling: Scaling
    scaling_before: Scaling
    stores: Labels
    own: Labels
    interferes: bool


# -- what stores do ------------------------------------------------------------------------------


@Verb
def meet(store: Any) -> None:
    """Look at a row, before any expert scores it."""
    raise NotImplementedError


@Verb
def settle(store: Any) -> bool:
    """After the row: keep what is to be kept. Returns whether everything is finite."""
    raise NotImplementedError


@Verb
def read(store: Any, board: Board) -> None:
    """Fill in the board as for rows that are scored only."""
    raise NotImplementedError


family(meet, settle, read)


@njit(cache=True)
def link_own(store, link):
    """Fill in the link to what a store does with one row."""
    fill_in(meet, store, link)


# -- the whole -----------------------------------------------------------------------------------


@Verb
def begin(whole: Any, x: Vector) -> int:
    """A row comes: it is scaled. Returns how that ends."""
    raise NotImplementedError


@Verb
def go_on(whole: Any, label: float, weight: float, out: Vector) -> int:
    """The rest of the round; out : (c,) out, the decision. Returns how it ends."""
    raise NotImplementedError


@Verb
def foresee(whole: Any, x: Vector, out: Vector) -> int:
    """The decision on a row, (c,) out; nothing changes. Returns how it ends."""
    raise NotImplementedError


family(begin, go_on, foresee)


@njit(cache=True)
def link_whole(whole, link):
    """Fill in the link to all of it."""
    fill_in(begin, whole, link)


@njit(cache=True)
def begin_row(link, x):
    """See `begin`."""
    return through(begin, link, x)


@njit(cache=True)
def go_on_row(link, label, weight, out):
    """See `go_on`."""
    return through(go_on, link, label, weight, out)


@njit(cache=True)
def learn_row(link, x, label, weight, out):
    """Both."""
    end = through(begin, link, x)
    return end if end != DONE else through(go_on, link, label, weight, out)


@njit(cache=True)
def decide_row(link, x, out):
    """See `foresee`."""
    return through(foresee, link, x, out)


@begin.of(Whole)
def _begin(whole, x):
    row, scaling, before = whole.row, whole.scaling, whole.scaling_before
    if not given(row, x):
        return NOT_HERE
    copy(whole.before, whole.memory)
    if scaling.method >= 0:
        copy(before.seen, scaling.seen)
        copy(before.first, scaling.first)
        copy(before.second, scaling.second)
        scale_rows(scaling.method, row.given, scaling.seen, scaling.first, scaling.second, row.x)
    else:
        copy(x, row.x[0])
    if row.tells_apart:
        row.key[0] = dense_keys(row.given)[0]
    return DONE if small(row) else TOO_LARGE


@go_on.of(Whole)
def _go_on(whole, label, weight, out):
    board, counters, stores = whole.board, whole.progress.counters, whole.stores
    board.labels[0], board.importance[0] = label, weight
    for k in range(len(stores)):
        through(meet, whole.own[k])
    if not whole.interferes:
        for e in range(board.updates.shape[1]):
            board.updates[0, e] = True
        for k in range(len(stores)):
            through(score_all, stores[k], 0)
        if label == label:
            clock = Clock(counters[SEED], counters[ROUND], counters[ASKED] + 1)
            for k in range(len(stores)):
                through(learn_all, stores[k], 0, clock)
        stores = stores[:0]
    rounds(
        whole.committee, whole.terms, whole.progress, stores, board, whole.decisions, whole.asked
    )
    if not sound(board):
        return OVERFLOWED
    for k in range(len(whole.own)):
        if not through(settle, whole.own[k]):
            return OVERFLOWED + 1 + k
    copy(whole.decisions[0], out)
    return DONE


@foresee.of(Whole)
def _foresee(whole, x, out):
    row, scaling, board = whole.row, whole.scaling, whole.board
    if not given(row, x):
        return NOT_HERE
    if scaling.method >= 0:
        scale_each(scaling.method, row.given, scaling.seen, scaling.first, scaling.second, row.x)
    else:
        copy(x, row.x[0])
    if not small(row):
        return TOO_LARGE
    for k in range(len(whole.own)):
        through(read, whole.own[k], board)
    if not sound(board):
        return OVERFLOWED
    decide(whole.committee, whole.terms, whole.progress, board, whole.decisions)
    copy(whole.decisions[0], out)
    return DONE


@njit(cache=True, forceinline=True)
def copy(source, target):
    """target[:] = source, vectors."""
    for i in range(np.uintp(target.shape[0])):
        target[i] = source[i]


@njit(cache=True, forceinline=True)
def given(row, x):
    """Take a row; whether its numbers are finite, and of a size that can be dealt with."""
    copy(x, row.given[0])
    return dense_norms(row.given)[0] < np.inf


@njit(cache=True, forceinline=True)
def small(row):
    """Whether the scaled row's squared norm is finite; it is then known."""
    row.norm[0] = dense_norms(row.x)[0]
    return row.norm[0] < np.inf


@njit(cache=True)
def sound(board):
    """Whether all scores of one row are finite."""
    return finite(board.scores.reshape(-1)) and finite(board.sizes.reshape(-1))


@njit(cache=True)
def finite(numbers):
    """Whether all of a vector's are."""
    wrong = 0
    for i in range(np.uintp(numbers.shape[0])):
        wrong += not abs(numbers[i]) < np.inf
    return wrong == 0
