"""The round, once: select, score, vote, ask, lose, learn, weigh, close; and passes over a block."""

import numpy as np

from kernbrook._jit.borrowing import borrowed
from kernbrook._jit.compiling import njit
from kernbrook._jit.linking import address, place, step
from kernbrook.engine.committee import (
    ask,
    learn_weights,
    lose,
    note_answer,
    note_asking,
    pick,
    pick_ahead,
    vote,
    weigh,
)
from kernbrook.engine.losses import MISTAKES
from kernbrook.engine.progress import ASKED, CHOSEN, ROUND, SEED, SKIPPED
from kernbrook.engine.verbs import Clock, learn, part, parts_of, score

STORE = 3  # ints of a link to a store


@step(1)
def score_step(store, t):
    """A store's experts score example t."""
    member, board = store
    for i in range(parts_of(member)):
        score(part(member, i, board), t, board)


@step(2)
def learn_step(store, t, seed, now, number):
    """A store's experts learn from example t."""
    member, board = store
    clock = Clock(seed, now, number)
    for i in range(parts_of(member)):
        learn(part(member, i, board), t, board.updates[t], clock, board)


@njit(cache=True, nogil=True)
def link_store(store, link):
    """Fill in the link to a store's compiled form, with the block; returns what must outlive it."""
    link[1], link[2] = address(score_step, store), address(learn_step, store)
    return place(store, link)


@njit(cache=True, nogil=True)
def rounds(committee, terms, progress, stores, board, talk, asked):
    """One block of rounds.

    Parameters
    ----------
    committee : links to the combiner, the selection and the label policy
    terms, progress : what the run does and what it has learned
    stores : links to the stores, which score and learn in turn; none where `learner_pass` has done
        so already, and the board is filled in
    board, talk : the block
    asked : (b,) bool out, whose label was looked at
    """
    progress, board, talk = borrowed(progress), borrowed(board), borrowed(talk)
    counters, labels = progress.counters, board.labels
    combiner, selection, policy = committee[0], committee[1], committee[2]
    for t in range(labels.shape[0]):
        weigh(combiner)
        pick(selection, t)
        for k in range(len(stores)):
            score_step(stores[k], t)
        scores, sizes, decision = board.scores[t], board.sizes[t], talk.decisions[t]
        on_mistakes = terms.loss == MISTAKES
        vote(progress.used, on_mistakes, terms.mean, talk.votes, scores, sizes, decision)
        ask(policy, t)
        asked[t] = labels[t] == labels[t] and (talk.answers[0] != 0.0 or terms.given)
        note_asking(policy)
        if not asked[t]:
            counters[SKIPPED] += 1
            counters[ROUND] += 1
            continue
        lose(terms, progress, board, t, talk)
        number = counters[ASKED] + 1
        for k in range(len(stores)):
            learn_step(stores[k], t, counters[SEED], counters[ROUND], number)
        known, chosen = board.known[t], counters[CHOSEN]
        if not (known.any() if chosen < 0 else known[chosen]):
            learn_weights(combiner, t, number)
        note_answer(policy, t)
        counters[ASKED] = number
        counters[SKIPPED] = 0
        pick_ahead(selection)
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
