"""The vote of the experts, for learning and for prediction, and their losses."""

import numpy as np

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import pin, through
from kernbrook.engine.loss_codes import MISTAKES, loss_of
from kernbrook.engine.progress import CHOSEN, MOST_LOSS
from kernbrook.engine.verbs import Opinions, correct, expect, lead_on, select, wants, weigh_all
from kernbrook.numerics.scores_of_classes import winner
from kernbrook.numerics.vectors import copy, fill_with
from kernbrook.numerics.zero import zero_or


@njit(cache=True, nogil=True)
def vote(used, on_mistakes, mean, votes, scores, sizes, out):
    """The combined vote of the experts in use.

    votes : (e,) their weights; scores, sizes : (e, c) their scores
    mean : whether the votes are divided by their weights
    out : (c,) out; the winner has the greatest, and classes equal to rounding have equal votes
    """
    classes = out.shape[0]
    if classes == 1:
        out[0] = vote_on_one(used, on_mistakes, mean, votes, scores, sizes)
        return
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
        else:
            c = winner(scores[e], sizes[e], -1)
            out[c] += weight
            behind[c] += weight
    if total == 0.0:
        return
    best = winner(out, behind, -1)
    greatest = out[0]
    for c in range(1, classes):
        greatest = max(greatest, out[c])
    out[best] = greatest
    if mean:
        for c in range(classes):
            out[c] /= total


@njit(cache=True, nogil=True, forceinline=True)
def vote_on_one(used, on_mistakes, mean, votes, scores, sizes):
    """`vote` for one score."""
    decision = behind = total = 0.0
    for e in range(votes.shape[0]):
        if used[e]:
            weight = votes[e]
            total += weight
            if on_mistakes:
                decision += weight if scores[e, 0] >= 0.0 else -weight
                behind += weight
            else:
                decision += weight * scores[e, 0]
                behind += weight * sizes[e, 0]
    if total == 0.0:
        return decision
    decision = zero_or(decision, behind)
    return decision / total if mean else decision


@njit(cache=True, nogil=True, forceinline=True)
def all_vote(used, votes, shares):
    """Whether all experts are in use, with the weights that they have in expectation."""
    n = 0
    for e in range(votes.shape[0]):
        n += 1 if used[e] and votes[e] == shares[e] else 0
    return n == votes.shape[0]


@Verb
def combine(combiner, terms, progress, board, t, on_mistakes, used, votes, shares, decision):
    """The vote on example t, (c,) out, and what the experts lean to, `board.leanings`, corrected.

    on_mistakes, used, votes : of the vote
    shares : (e,) weights in expectation over the draws. All experts lean, by their scores even
        if they vote for classes: scores are finer. The vote comes behind, if there is room for
        it, because a correction was learned on the vote
    """
    scores, sizes, leanings = board.scores[t], board.sizes[t], board.leanings[t]
    classes = decision.shape[0]
    leaning = leanings[:classes]
    vote(used, on_mistakes, terms.mean, votes, scores, sizes, decision)
    through(correct, combiner, progress, terms.loss, scores, decision)
    if terms.loss == MISTAKES or not all_vote(used, votes, shares):
        everybody, by_scores = np.empty(shares.shape[0], np.bool_), np.bool_(False)
        fill_with(everybody, True)
        mean = terms.mean or terms.loss == MISTAKES
        vote(everybody, by_scores, mean, shares, scores, sizes, leaning)
        through(correct, combiner, progress, terms.loss, scores, leaning)
    else:
        copy(decision, leaning)
    if leanings.shape[0] > classes:
        voted = leanings[classes:]
        copy(decision, voted)
        if not on_mistakes:  # who decides alone does so by the score, and learns from the vote
            vote(used, np.bool_(True), terms.mean, votes, scores, sizes, voted)
            through(correct, combiner, progress, terms.loss, scores, voted)


@njit(cache=True, nogil=True, forceinline=True)
def count_losses(terms, progress, board, t, decision, losses, counted):
    """Count the experts' mistakes on example t, and fill in what the combiner learns from.

    decision : (c,) the combined vote; losses, counted : (e,) out, see `Told`
    """
    loss = terms.loss
    errors, chosen = progress.losses, progress.counters[CHOSEN]
    scores, sizes, updates = board.scores[t], board.sizes[t], board.updates[t]
    target, weight = board.labels[t], board.importance[t]
    for e in range(losses.shape[0]):
        if chosen >= 0 and e != chosen:  # dropped, at the latest with the next block
            losses[e], counted[e] = 0.0, True
            continue
        value, margin, wrong = loss_of(loss, scores[e], sizes[e], decision, target)
        if board.numbers:
            errors[e] = min(errors[e] + weight * margin * margin, MOST_LOSS)
            counted[e] = True
        else:
            mistake = margin <= 0.0 if terms.strict[e] else wrong
            errors[e] += weight * mistake
            # A discount goes with an update: Hoi et al. (2013).
            counted[e] = updates[e] or loss != MISTAKES
            if loss == MISTAKES:
                value = 1.0 if mistake else 0.0
        losses[e] = weight * value


@Verb
def weigh_experts(combiner, selection, progress, weights):
    """Weights of the experts, (e,) out, as they count; links to the two, or their rules."""
    through(weigh_all, combiner, progress, weights)
    through(lead_on, selection, progress, weights)


@njit(cache=True, nogil=True)
def decide(committee, terms, progress, board, decisions, room):
    """Decisions on a block, without learning and without using up a draw.

    Where experts vote for classes, one that votes alone decides by its score: the same class, and
    how sure it is.

    committee : links to the combiner, the selection and the label policy
    decisions : (b, c) out; `board.leanings` too
    room : (ROOM,) int, the caller's: one of its own would be freed while `progress` lies there
    """
    terms, progress, board = borrowed(terms), borrowed(progress), borrowed(board)
    decisions, room = borrowed(decisions), borrowed(room)
    combiner, selection, _ = borrowed(committee)
    n_experts = board.scores.shape[1]
    weights, votes = np.empty(n_experts), np.empty(n_experts)
    everybody = np.empty(n_experts, np.bool_)
    fill_with(everybody, True)
    pinned = pin(progress, room)
    weigh_experts(combiner, selection, pinned, weights)
    alone = through(expect, selection, pinned, weights, votes)
    on_mistakes = terms.loss == MISTAKES and not alone
    for t in range(board.labels.shape[0]):
        combine(
            combiner, terms, pinned, board, t, on_mistakes, everybody, votes, votes, decisions[t]
        )


@njit(cache=True, nogil=True)
def would_ask(committee, terms, progress, board, out, room):
    """out[t] = is the label of example t wanted, if it came next? `progress.used` changes.

    room : as for `decide`
    """
    terms, progress, board = borrowed(terms), borrowed(progress), borrowed(board)
    (combiner, selection, policy), room = borrowed(committee), borrowed(room)
    n_experts = board.scores.shape[1]
    weights, votes = np.empty(n_experts), np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    pinned = pin(progress, room)
    weigh_experts(combiner, selection, pinned, weights)
    through(select, selection, pinned, weights, votes, updates)
    for t in range(board.labels.shape[0]):
        opinions = Opinions(votes, board.scores[t], board.sizes[t], terms.loss)
        out[t] = through(wants, policy, pinned, opinions)[0]
