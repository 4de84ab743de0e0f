"""The round, once: select, score, vote, ask, lose, learn, weigh, close; and passes over a block."""

import numpy as np
from numba.extending import overload

from kernbrook._jit.borrowing import borrowed
from kernbrook._jit.compiling import njit
from kernbrook._jit.linking import call, put, size_of, step
from kernbrook.engine.committee import lose, relative_weights, vote
from kernbrook.engine.losses import MISTAKES, squared_error
from kernbrook.engine.progress import ASKED, ROUND, SEED, SKIPPED
from kernbrook.engine.verbs import (
    Clock,
    Opinions,
    Told,
    choose_next,
    learn,
    note_error,
    note_round,
    part,
    parts_of,
    score,
    select,
    update,
    wants,
)

# A link is how a pass reaches a store's compiled form: for compiled passes a row of four ints, as
# `link` makes them, so that a pass is compiled once and not once a store; for Python the form.
SCORE, LEARN, PARTS, WHERE = 0, 1, 2, 3
LINK = 4


def parts_in(link):
    """In how many parts a linked store's experts fall."""
    return parts_of(link)


def score_part(link, i, t, board):
    """Part i of a linked store fills in row t of the board for its experts."""
    score(part(link, i, board), t, board)


def learn_part(link, i, t, clock, board):
    """Part i of a linked store learns from the label of example t."""
    learn(part(link, i, board), t, board.updates[t], clock, board)


@overload(parts_in)
def _parts_in(link):
    return lambda link: link[PARTS]


@overload(score_part)
def _score_part(link, i, t, board):
    def through(link, i, t, board):
        if call(link[SCORE], link[WHERE], (i, t, 0, 0, 0)):
            raise RuntimeError("a compiled verb has raised; `compiled = False` shows where")

    return through


@overload(learn_part)
def _learn_part(link, i, t, clock, board):
    def through(link, i, t, clock, board):
        if call(link[LEARN], link[WHERE], (i, t, clock.seed, clock.round, clock.number)):
            raise RuntimeError("a compiled verb has raised; `compiled = False` shows where")

    return through


def _score_step(linked, i, t, seed, now, number):
    member, board = borrowed(linked)
    score(part(member, i, board), t, board)


def _learn_step(linked, i, t, seed, now, number):
    member, board = borrowed(linked)
    learn(part(member, i, board), t, board.updates[t], Clock(seed, now, number), board)


score_step, learn_step = step(_score_step), step(_learn_step)


@njit(cache=True, nogil=True)
def link(member, board, out):
    """Fill in `out`, (4,) int, the link of a store's compiled form to passes over a block.

    Returns memory that must outlive the passes, as the arguments must.
    """
    linked = member, board
    memory = np.empty(size_of(linked), np.uint8)
    out[WHERE] = memory.ctypes.data
    put(linked, out[WHERE])
    out[SCORE], out[LEARN], out[PARTS] = score_step(linked), learn_step(linked), parts_of(member)
    return memory


@njit(cache=True, nogil=True)
def rounds(choices, progress, links, board, decisions, asked):
    """One block of rounds.

    Parameters
    ----------
    choices, progress : what the run does and what it has learned
    links : to the stores, which score and learn in turn; none where `learner_pass` has done so
        already, and the board is filled in
    board : the block
    decisions : (b, c) out, the combined vote before the label was seen
    asked : (b,) bool out, whose label was looked at
    """
    progress, links, board = borrowed(progress), borrowed(links), borrowed(board)
    counters, labels = progress.counters, board.labels
    n_experts = board.scores.shape[1]
    weights, votes, losses = np.empty(n_experts), np.empty(n_experts), np.empty(n_experts)
    counted = np.empty(n_experts, dtype=np.bool_)
    loss = choices.loss
    for t in range(labels.shape[0]):
        relative_weights(choices, progress, weights)
        updates = board.updates[t]
        select(choices.selection, progress, weights, votes, updates)
        for k in range(len(links)):
            for i in range(parts_in(links[k])):
                score_part(links[k], i, t, board)
        scores, sizes, decision = board.scores[t], board.sizes[t], decisions[t]
        vote(progress.used, loss == MISTAKES, choices.mean, votes, scores, sizes, decision)
        wanted, variance = wants(
            choices.policy, progress, Opinions(votes, scores, sizes, board.variances[t], loss)
        )
        note_round(choices.policy, progress, variance)
        asked[t] = labels[t] == labels[t] and (wanted or choices.given)
        if not asked[t]:
            counters[SKIPPED] += 1
            counters[ROUND] += 1
            continue
        lose(loss, choices.strict, progress, board, t, decision, losses, counted)
        number = counters[ASKED] + 1
        clock = Clock(counters[SEED], counters[ROUND], number)
        for k in range(len(links)):
            for i in range(parts_in(links[k])):
                learn_part(links[k], i, t, clock, board)
        if not board.known[t].any():
            told = Told(
                losses, counted, scores, sizes, decision, labels[t], board.importance[t], number,
                loss,
            )  # fmt: skip
            update(choices.combiner, told, progress)
        note_error(choices.policy, progress, squared_error(decision, labels[t], loss))
        counters[ASKED] = number
        counters[SKIPPED] = 0
        choose_next(choices.selection, progress)
        counters[ROUND] += 1


@njit(cache=True, nogil=True)
def learner_pass(member, board, first, last, clock):
    """Some parts of a store go through a block by themselves, and learn from every label there is.

    first, last : of the parts; clock : before the block, with the labels so far
    """
    member, board = borrowed(member), borrowed(board)
    labels = board.labels
    everybody = np.ones(board.scores.shape[1], dtype=np.bool_)
    for i in range(first, last):
        own = part(member, i, board)
        number = clock.number
        for t in range(labels.shape[0]):
            score(own, t, board)
            if labels[t] == labels[t]:
                number += 1
                learn(own, t, everybody, Clock(clock.seed, clock.round + t, number), board)
