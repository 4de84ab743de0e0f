"""The round, once: select, score, vote, ask, lose, learn, weigh, close; and passes over a block."""

import numpy as np
from numba.extending import overload

from kernbrook._jit.borrowing import borrowed
from kernbrook._jit.compiling import njit
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


def score_all(members, t, board):
    """Fill in row t of the board for the experts of all members; of none, nothing."""
    for member in members:
        for i in range(parts_of(member)):
            score(part(member, i, board), t, board)


def learn_all(members, t, updates, clock, board):
    """All members learn from the label of example t."""
    for member in members:
        for i in range(parts_of(member)):
            learn(part(member, i, board), t, updates, clock, board)


@overload(score_all, strict=False)
def _score_all(members, t, board):
    if len(members) == 0:
        return lambda members, t, board: None

    def in_turn(members, t, board):
        member = members[0]
        for i in range(parts_of(member)):
            score(part(member, i, board), t, board)
        score_all(members[1:], t, board)

    return in_turn


@overload(learn_all, strict=False)
def _learn_all(members, t, updates, clock, board):
    if len(members) == 0:
        return lambda members, t, updates, clock, board: None

    def in_turn(members, t, updates, clock, board):
        member = members[0]
        for i in range(parts_of(member)):
            learn(part(member, i, board), t, updates, clock, board)
        learn_all(members[1:], t, updates, clock, board)

    return in_turn


@njit(cache=True, nogil=True)
def rounds(choices, progress, members, board, decisions, asked):
    """One block of rounds.

    Parameters
    ----------
    choices, progress : what the run does and what it has learned
    members : tuple of the stores' compiled forms, which score and learn in turn; an empty one
        where `learner_pass` has done so already, and the board is filled in
    board : the block
    decisions : (b, c) out, the combined vote before the label was seen
    asked : (b,) bool out, whose label was looked at
    """
    progress, members, board = borrowed(progress), borrowed(members), borrowed(board)
    counters, labels = progress.counters, board.labels
    n_experts = board.scores.shape[1]
    weights, votes, losses = np.empty(n_experts), np.empty(n_experts), np.empty(n_experts)
    counted = np.empty(n_experts, dtype=np.bool_)
    loss = choices.loss
    for t in range(labels.shape[0]):
        relative_weights(choices, progress, weights)
        updates = board.updates[t]
        select(choices.selection, progress, weights, votes, updates)
        score_all(members, t, board)
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
        learn_all(members, t, updates, Clock(counters[SEED], counters[ROUND], number), board)
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
