"""The round, once: select, score, vote, ask, lose, learn, weigh, close; and passes over a block."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import ROOM, family, pin, through
from kernbrook.engine.committee import combine, count_losses, weigh_experts
from kernbrook.engine.loss_codes import MISTAKES, squared_error
from kernbrook.engine.progress import ASKED, CHOSEN, ROUND, SEED, SKIPPED, WEIGHED, Board
from kernbrook.engine.store_verbs import arrive, learn, part, parts_of, score, sound, stretch
from kernbrook.engine.verbs import (
    Clock,
    Opinions,
    Told,
    choose_next,
    expect,
    note_error,
    note_round,
    select,
    update,
    wants,
)
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.numerics.vectors import any_of

ALL_PARTS = 1 << 30  # no store has so many parts


class StorePass(NamedTuple):
    """A store's compiled form, and the block that it meets."""

    member: Any
    board: Board


@Verb
def score_parts(store: Any, first: int, last: int, t: int) -> None:
    """Some parts of a store score example t."""
    arrive(store.member, first, last, t)
    for i in range(first, min(last, parts_of(store.member))):
        score(part(store.member, i, store.board), t, store.board)


@Verb
def learn_parts(store: Any, first: int, last: int, t: int, clock: Clock) -> None:
    """Some parts of a store learn from the label of example t."""
    updates = store.board.updates[t]
    for i in range(first, min(last, parts_of(store.member))):
        learn(part(store.member, i, store.board), t, updates, clock, store.board)


@Verb
def check_parts(store: Any, first: int, last: int) -> bool:
    """Whether what some parts of a store have learned is finite."""
    fine = True
    for i in range(first, min(last, parts_of(store.member))):
        fine &= sound(store.member, i)
    return fine


@Verb
def run_parts(store: Any, first: int, last: int, clock: Clock) -> bool:
    """Some parts of a store go through a block by themselves, and learn from every label there is.

    clock : before the block, with the labels so far that were learned from
    Returns whether all is finite that the parts have learned.
    """
    member, board = store.member, store.board
    labels = board.labels
    n, before = labels.shape[0], clock.number
    step = min(stretch(member), max(n, 1))
    for lo in range(0, n, step):
        arrive(member, first, last, lo)
        number = before
        for i in range(first, last):
            store_part = part(member, i, board)
            number = before
            for t in range(lo, min(lo + step, n)):
                score(store_part, t, board)
                if labels[t] == labels[t] and board.importance[t] > 0.0:
                    number += 1
                    own_clock = Clock(clock.seed, clock.round + t, number)
                    learn(store_part, t, board.updates[t], own_clock, board)
        before = number
    fine = True
    if before > clock.number:
        for i in range(first, last):
            fine &= sound(member, i)
    return fine


family(score_parts, learn_parts, check_parts)
family(run_parts)


@njit(cache=True, nogil=True)
def run_pass(link, first, last, clock):
    """See `run_parts`."""
    return through(run_parts, link, first, last, clock)


class Scratch(NamedTuple):
    """(e,) of experts: their weights by the combiner, in the vote, and there in expectation; their
    losses, and which of these count. room : (ROOM,) for what is pinned."""

    weights: Floats
    votes: Floats
    shares: Floats
    losses: Floats
    counted: NDArray[np.bool_]
    room: Ints


def scratch_of(e: int) -> Scratch:
    """For e experts."""
    every = np.empty(e), np.empty(e), np.empty(e), np.empty(e), np.empty(e, dtype=bool)
    return Scratch(*every, np.empty(ROOM, dtype=np.int64))


@njit(cache=True, nogil=True)
def play_rounds(committee, terms, progress, stores, board, decisions, asked, scratch):
    """One block of rounds.

    Parameters
    ----------
    committee : links to the combiner, the selection and the label policy
    terms, progress : what the run does and what it has learned
    stores : links to the stores, which score and learn in turn; none where `run_pass` has done
        so already, and the board is filled in
    board : the block
    decisions : (b, c) out, the combined vote before the label was seen
    asked : (b,) bool out, whose label was looked at
    scratch : see `Scratch`
    """
    terms, progress, board = borrowed(terms), borrowed(progress), borrowed(board)
    decisions, asked = borrowed(decisions), borrowed(asked)
    combiner, selection, policy = borrowed(committee)
    scratch = borrowed(scratch)
    weights, votes, shares = scratch.weights, scratch.votes, scratch.shares
    losses, counted = scratch.losses, scratch.counted
    counters, labels, loss = progress.counters, board.labels, terms.loss
    pinned = pin(progress, scratch.room)
    for t in range(labels.shape[0]):
        weigh_experts(combiner, selection, pinned, weights)
        through(expect, selection, pinned, weights, shares)
        through(select, selection, pinned, weights, votes, board.updates[t])
        for k in range(len(stores)):
            through(score_parts, stores[k], 0, ALL_PARTS, t)
        scores, sizes, decision = board.scores[t], board.sizes[t], decisions[t]
        combine(
            combiner, terms, pinned, board, t, loss == MISTAKES, progress.used, votes, shares,
            decision,
        )  # fmt: skip
        opinions = Opinions(votes, scores, sizes, loss)
        wanted, variance = through(wants, policy, pinned, opinions)
        through(note_round, policy, pinned, variance)
        asked[t] = labels[t] == labels[t] and (wanted or terms.given)
        board.judged[t] = False
        if not asked[t]:
            counters[SKIPPED] += 1
            counters[ROUND] += 1
            continue
        # A store forgets points of experts that are dropped when its block ends, so which rows are
        # known depends on blocks from then on: the combiner learns from all rows instead.
        board.judged[t] = counters[CHOSEN] >= 0 or not any_of(board.known[t])
        if board.importance[t] > 0.0:
            count_losses(terms, progress, board, t, decision, losses, counted)
            counters[WEIGHED] += 1
            number = counters[WEIGHED]
            clock = Clock(counters[SEED], counters[ROUND], number)
            for k in range(len(stores)):
                through(learn_parts, stores[k], 0, ALL_PARTS, t, clock)
            if board.judged[t]:
                lesson = Told(
                    losses, counted, scores, sizes, decision, labels[t], board.importance[t],
                    number, loss,
                )  # fmt: skip
                through(update, combiner, lesson, pinned)
            through(note_error, policy, pinned, squared_error(decision, labels[t], loss))
            through(choose_next, selection, pinned)
        counters[ASKED] += 1
        counters[SKIPPED] = 0
        counters[ROUND] += 1
