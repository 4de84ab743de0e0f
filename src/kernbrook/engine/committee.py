"""The vote of the experts, for learning and for prediction, and their losses."""

from typing import Any, NamedTuple

import numpy as np

from kernbrook._jit.classes import winner
from kernbrook._jit.compiling import njit
from kernbrook._jit.linking import address, place, step
from kernbrook._jit.zero import zero_or
from kernbrook.engine.losses import MISTAKES, loss_of, squared_error
from kernbrook.engine.progress import CHOSEN, Board, Progress, Talk
from kernbrook.engine.verbs import (
    Opinions,
    Told,
    choose_next,
    expect,
    lead_on,
    note_error,
    note_round,
    select,
    update,
    wants,
    weigh_all,
)


@njit(cache=True, nogil=True)
def vote(used, on_mistakes, mean, votes, scores, sizes, out):
    """The combined vote of the experts in use.

    votes : (e,) their weights; scores, sizes : (e, c) their scores
    mean : whether the votes are divided by their weights
    out : (c,) out; the winner has the greatest, and classes equal to rounding have equal votes
    """
    classes = out.shape[0]
    behind = np.zeros(classes)
    total = 0.0
    for c in range(classes):
        out[c] = 0.0
    for e in range(votes.shape[0]):
        if not used[e]:
            continue
        weight = votes[e]
        total += weight
        if not on_mistakes:
            for c in range(classes):
                out[c] += weight * scores[e, c]
                behind[c] += weight * sizes[e, c]
        elif classes == 1:
            out[0] += weight if scores[e, 0] >= 0.0 else -weight
            behind[0] += weight
        else:
            c = winner(scores[e], sizes[e], np.int64(-1))
            out[c] += weight
            behind[c] += weight
    if total == 0.0:
        return
    if classes == 1:
        out[0] = zero_or(out[0], behind[0])
    else:
        best = winner(out, behind, np.int64(-1))
        greatest = out[0]
        for c in range(1, classes):
            greatest = max(greatest, out[c])
        out[best] = greatest
    if mean:
        for c in range(classes):
            out[c] /= total


@njit(cache=True, nogil=True)
def lose(terms, progress, board, t, talk):
    """Count the experts' mistakes on example t, and say what the combiner learns from."""
    loss, decision, losses, counted = terms.loss, talk.decisions[t], talk.losses, talk.counted
    errors, chosen = progress.losses, progress.counters[CHOSEN]
    scores, sizes, updates = board.scores[t], board.sizes[t], board.updates[t]
    target, weight = board.labels[t], board.importance[t]
    for e in range(losses.shape[0]):
        if chosen >= 0 and e != chosen:  # dropped, at the latest with the next block
            losses[e], counted[e] = 0.0, True
            continue
        value, margin, wrong = loss_of(loss, scores[e], sizes[e], decision, target)
        if board.numbers:
            errors[e] += weight * margin * margin
            counted[e] = True
        else:
            mistake = margin <= 0.0 if terms.strict[e] else wrong
            errors[e] += weight * mistake
            # A discount goes with an update: Hoi et al. (2013).
            counted[e] = updates[e] or loss != MISTAKES
            if loss == MISTAKES:
                value = 1.0 if mistake else 0.0
        losses[e] = weight * value


class Seat(NamedTuple):
    """What a combiner, a selection or a label policy is told of a block."""

    rule: Any
    loss: int
    progress: Progress
    board: Board
    talk: Talk


@step(1)
def weigh(seat):
    """The combiner's weights, into the talk."""
    weigh_all(seat.rule, seat.progress, seat.talk.weights)


@step(2)
def learn_weights(seat, t, number):
    """The combiner learns from example t, whose label is the number-th."""
    board, talk = seat.board, seat.talk
    told = Told(
        talk.losses, talk.counted, board.scores[t], board.sizes[t], talk.decisions[t],
        board.labels[t], board.importance[t], number, seat.loss,
    )  # fmt: skip
    update(seat.rule, told, seat.progress)


@step(1)
def pick(seat, t):
    """The selection's experts for example t: their votes, into the talk, and who may learn."""
    talk = seat.talk
    lead_on(seat.rule, seat.progress, talk.weights)
    select(seat.rule, seat.progress, talk.weights, talk.votes, seat.board.updates[t])


@step(2)
def pick_ahead(seat):
    """The selection's experts for examples to come."""
    choose_next(seat.rule, seat.progress)


@step(3)
def expect_votes(seat):
    """Votes in expectation, into the talk; the first answer: does one vote alone?"""
    talk = seat.talk
    lead_on(seat.rule, seat.progress, talk.weights)
    talk.answers[0] = 1.0 if expect(seat.rule, seat.progress, talk.weights, talk.votes) else 0.0


@step(1)
def ask(seat, t):
    """Answers: does the policy want the label of example t; the variance of the opinions."""
    board, talk = seat.board, seat.talk
    opinions = Opinions(talk.votes, board.scores[t], board.sizes[t], board.variances[t], seat.loss)
    wanted, variance = wants(seat.rule, seat.progress, opinions)
    talk.answers[0], talk.answers[1] = 1.0 if wanted else 0.0, variance


@step(2)
def note_asking(seat):
    """The policy is told that a round begins, and its last answers."""
    note_round(seat.rule, seat.progress, seat.talk.answers[1])


@step(3)
def note_answer(seat, t):
    """The policy is told how wrong the committee was."""
    error = squared_error(seat.talk.decisions[t], seat.board.labels[t], seat.loss)
    note_error(seat.rule, seat.progress, error)


SEAT = 4  # ints of a link to a seat


@njit(cache=True, nogil=True)
def seat_combiner(seat, link):
    """Fill in the link to a combiner; returns what must outlive it."""
    link[1], link[2] = address(weigh, seat), address(learn_weights, seat)
    return place(seat, link)


@njit(cache=True, nogil=True)
def seat_selection(seat, link):
    """Fill in the link to a selection; returns what must outlive it."""
    link[1], link[2], link[3] = (
        address(pick, seat),
        address(pick_ahead, seat),
        address(expect_votes, seat),
    )
    return place(seat, link)


@njit(cache=True, nogil=True)
def seat_policy(seat, link):
    """Fill in the link to a label policy; returns what must outlive it."""
    link[1], link[2], link[3] = (
        address(ask, seat),
        address(note_asking, seat),
        address(note_answer, seat),
    )
    return place(seat, link)


@njit(cache=True, nogil=True)
def decide(committee, terms, board, talk):
    """Decisions on a block, into the talk, without learning and without using up a draw.

    Where experts vote for classes, one that votes alone decides by its score: the same class, and
    how sure it is.

    committee : links to the combiner, the selection and the label policy
    """
    weigh(committee[0])
    expect_votes(committee[1])
    everybody = np.ones(talk.votes.shape[0], dtype=np.bool_)
    on_mistakes = terms.loss == MISTAKES and talk.answers[0] == 0.0
    for t in range(board.labels.shape[0]):
        vote(
            everybody, on_mistakes, terms.mean, talk.votes, board.scores[t], board.sizes[t],
            talk.decisions[t],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def would_ask(committee, board, talk, out):
    """out[t] = is the label of example t wanted, if it came next? `progress.used` changes."""
    weigh(committee[0])
    pick(committee[1], 0)
    for t in range(board.labels.shape[0]):
        ask(committee[2], t)
        out[t] = talk.answers[0] != 0.0
