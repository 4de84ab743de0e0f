"""Probabilities from scores, learned as labels come: slopes, and an intercept for each score."""

import math
from typing import NamedTuple

import numpy as np

from kernbrook.checks import COUNTED, HEAVIEST
from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import njit

RIDGE = 1.0  # curvature at the start, and the least one later
BINS = 80  # a quarter wide, of logits from -10 to 10
FADE = 0.01  # of what is known of the F score, at a positive label
FOUND = 1.0  # weight of positive labels that an F score of 1 is begun with
LEAST = 1e-3  # curvature that a label has, however sure it was
CELLS = 20  # of probabilities, between which errors are spread
STEEPEST = 30.0  # log of the greatest ratio of two probabilities
MOST = 1e120  # size of a slope or an intercept
MOST_SIZE = 1e290  # of scores, as they count in a mean: sums over all rows are finite


class Pace(NamedTuple):
    """How fast a calibration follows the stream.

    recent : by how much what is usual follows each row, or more
    forget : of what is known, at a label that nothing was known of; less, the surer it was
    shrunk : labels in a cell at which half of its mean error counts
    """

    recent: float
    forget: float
    shrunk: float


class Calibrated(NamedTuple):
    """The state of a calibration, for c scores of k classes; changed in place.

    Rows of scores are (c,), or (2 c,) with a vote behind each score, which has a slope of its own.

    slope : (4,) the slope, its curvature, the sum of the sizes of rows of scores, and their number
    intercepts, cross, curvatures : (c,) intercepts; second derivatives with the slope, and own
    counts : (k,) labels of each class, those of weight 0 left out
    means : (k,) the mean probability of each class of late
    middle : (c,) or (2 c,) the mean row of scores of late
    errors : (2, CELLS) of two classes: sums of label less probability, and of weights
    vote : (3 + c,) of the votes, (0,) where there are none: their slope, its curvature, and second
        derivatives with the other slope and with the intercepts
    hits : (2, BINS) of two classes, by weight: labels, and positive ones, by the logit of the
        probability that the second class had; at the start FOUND labels, positive and sure
    """

    slope: np.ndarray
    intercepts: np.ndarray
    cross: np.ndarray
    curvatures: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    middle: np.ndarray
    errors: np.ndarray
    hits: np.ndarray
    vote: np.ndarray


@njit(cache=True, nogil=True, forceinline=True)
def size_of(scores):
    """The greatest size of the scores of a row."""
    size = 0.0
    for i in range(scores.shape[0]):
        size = max(size, abs(scores[i]))
    return min(size, MOST_SIZE)


@njit(cache=True, nogil=True, forceinline=True)
def unit_of(total, rows):
    """The mean size of so many rows of scores; 1 where it is 0, or too small for a number."""
    unit = total / rows if total > 0.0 else 1.0
    return unit if unit > 0.0 else 1.0


@njit(cache=True, nogil=True, forceinline=True)
def limit(value):
    """A slope or an intercept, not beyond MOST."""
    return min(max(value, -MOST), MOST)


@njit(cache=True, nogil=True, forceinline=True)
def logit_of(known, scores, unit, i):
    """The logit of class i by its score and its vote; of several classes, up to a constant."""
    logit = known.slope[0] * (scores[i] / unit) + known.intercepts[i]
    if known.vote.shape[0] > 0:
        logit += known.vote[0] * (scores[known.intercepts.shape[0] + i] / unit)
    return logit


@njit(cache=True, nogil=True, forceinline=True)
def probabilities_of(known, scores, out):
    """The probabilities of the classes, (k,) out, for the scores of a row."""
    slope, c = known.slope, known.intercepts.shape[0]
    unit = unit_of(slope[2] + size_of(scores), slope[3] + 1.0)
    if c == 1:
        z = min(max(logit_of(known, scores, unit, 0), -STEEPEST), STEEPEST)
        out[1] = 1.0 / (1.0 + math.exp(-z))
        out[0] = 1.0 / (1.0 + math.exp(z))
        return
    greatest, total = -np.inf, 0.0
    for i in range(c):
        out[i] = logit_of(known, scores, unit, i)
        greatest = max(greatest, out[i])
    for i in range(c):
        out[i] = math.exp(max(out[i] - greatest, -STEEPEST))
        total += out[i]
    for i in range(c):
        out[i] /= total


@njit(cache=True, nogil=True)
def cell_of(p):
    """(cell, the next one, the share of the next one) of a probability; cells also for NaN."""
    at = p * CELLS - 0.5
    cell = min(max(math.floor(at), -1), CELLS - 1)
    return max(cell, 0), min(cell + 1, CELLS - 1), at - cell


@njit(cache=True, nogil=True, forceinline=True)
def mend(known, shrunk, out):
    """Add to the probabilities of two classes the mean error that such ones have had so far.

    Neither is less than halved.
    """
    errors, p = known.errors, out[1]
    cell, following, share = cell_of(p)
    mended = p + (1.0 - share) * errors[0, cell] / (errors[1, cell] + shrunk)
    mended += share * errors[0, following] / (errors[1, following] + shrunk)
    if mended == p:
        return
    if mended < p:
        out[1] = max(mended, 0.5 * p)
        out[0] = 1.0 - out[1]
    else:
        out[0] = max(1.0 - mended, 0.5 * out[0])
        out[1] = 1.0 - out[0]


@njit(cache=True, nogil=True, forceinline=True)
def note_error(errors, p, label, weight):
    """Count the error of a probability, for `mend`."""
    cell, following, share = cell_of(p)
    for at, part in ((cell, 1.0 - share), (following, share)):
        errors[0, at] += weight * part * (label - p)
        errors[1, at] += weight * part


@njit(cache=True, nogil=True)
def usual_probabilities(known, shrunk, out):
    """From which each class is more probable than usual, (k,) out.

    The mean of late, and what is said now of the mean row: where scores tell nothing, probabilities
    are nearly the same for all rows, and go up and down with the labels.
    """
    probabilities_of(known, known.middle, out)
    if known.intercepts.shape[0] == 1:
        mend(known, shrunk, out)
    for k in range(out.shape[0]):
        out[k] = max(out[k], known.means[k])


@njit(cache=True, nogil=True)
def all_probabilities(known, shrunk, scores, out):
    """Fill in the probabilities of rows of scores, (n, k) out."""
    for t in range(scores.shape[0]):
        probabilities_of(known, scores[t], out[t])
        if known.intercepts.shape[0] == 1:
            mend(known, shrunk, out[t])


@njit(cache=True, nogil=True)
def best_cut(hits):
    """The probability from which a row is best called positive: half of the best F score."""
    positives = 0.0
    for i in range(BINS):
        positives += hits[1, i]
    best, found, called = 0.0, 0.0, 0.0
    for i in range(BINS - 1, -1, -1):  # rows from here on are called positive
        called += hits[0, i]
        found += hits[1, i]
        if found > 0.0:
            best = max(best, found / (positives + called))
    return best


@njit(cache=True, nogil=True, forceinline=True)
def note_label(hits, odds, positive, weight):
    """Count a label, whose class had these odds, for `best_cut`."""
    if positive:
        for i in range(BINS):
            hits[0, i] *= 1.0 - FADE
            hits[1, i] *= 1.0 - FADE
    at = int((math.log(odds) + 10.0) * BINS / 20.0)  # below the first one: cut off below
    at = min(max(at, 0), BINS - 1)
    hits[0, at] += weight
    hits[1, at] += weight * positive


@njit(cache=True, nogil=True)
def learn_scores(known, pace, scores, labels, weights, judged, probabilities, cuts, usual):
    """Rows in turn: their probabilities, then what their labels say.

    Parameters
    ----------
    pace : see `Pace`
    scores, labels, weights : n rows, (n,) numbers of classes, NaN where none was seen, and (n,)
    judged : (n,) bool, which labels tell how good the scores are
    probabilities, cuts, usual : (n, k), (n,) and (n, k) out, each before the label was seen; no
        cuts where (0,)
    """
    c = known.intercepts.shape[0]
    spare = np.zeros(3 + c)  # as of votes of 0, which change nothing
    spare[1] = RIDGE
    rooms = np.zeros((4, c)), np.empty(probabilities.shape[1]), spare
    found = probabilities, cuts, usual
    _learn_rows(known, pace, scores, labels, weights, judged, found, rooms)


@njit(cache=True, nogil=True)
def _learn_rows(known, pace, scores, labels, weights, judged, found, rooms):
    """See `learn_scores`, of which `found` is all that is out.

    rooms : (4, c) zeros, (k,) scratch, and what is known of no votes
    """
    known, scores, labels = borrowed(known), borrowed(scores), borrowed(labels)
    weights, judged = borrowed(weights), borrowed(judged)
    probabilities, cuts, usual = borrowed(found)
    each, p, spare = borrowed(rooms)
    c = each.shape[1]
    vote = known.vote if known.vote.shape[0] > 0 else spare
    for t in range(scores.shape[0]):
        probabilities_of(known, scores[t], p)
        chance = probabilities[t]
        for k in range(p.shape[0]):
            chance[k] = p[k]
        if c == 1:
            mend(known, pace.shrunk, chance)
        usual_probabilities(known, pace.shrunk, usual[t])
        if cuts.shape[0] > 0:
            cuts[t] = best_cut(known.hits) if c == 1 else 0.5
        if not (labels[t] == labels[t] and weights[t] > 0.0):
            continue
        label = int(labels[t])
        known.counts[label] = min(known.counts[label] + 1, COUNTED)
        if not judged[t]:
            continue
        seen = 0.0
        for k in range(p.shape[0]):
            seen += known.counts[k]
        rate = max(pace.recent, 4.0 / (seen + 3.0))
        for k in range(p.shape[0]):
            known.means[k] += (chance[k] - known.means[k]) * rate
        for i in range(known.middle.shape[0]):
            known.middle[i] += (scores[t, i] - known.middle[i]) * rate
        if c == 1:
            note_label(known.hits, chance[1] / chance[0], label == 1, weights[t])
            note_error(known.errors, p[1], float(label), weights[t])
        left = min(weights[t], HEAVIEST)
        while left > 0.0:  # as many steps in a row as the row weighs, the last one a part of one
            part = min(left, 1.0)
            take_step(known, vote, scores[t], label, part, p, pace.forget, each)
            left -= part
            if left > 0.0:
                probabilities_of(known, scores[t], p)


@njit(cache=True, nogil=True)
def take_step(known, vote, scores, label, weight, p, forget, rooms):
    """One step for a row of scores; p : (k,) their probabilities; rooms : as of `_learn_rows`."""
    scaled, voted, steps, curves, c = rooms[0], rooms[1], rooms[2], rooms[3], rooms.shape[1]
    doubt = 1.0
    for k in range(p.shape[0]):
        doubt -= p[k] * p[k]
    kept, slope = 1.0 - forget * max(doubt, 0.0), known.slope
    slope[2], slope[3] = kept * slope[2] + size_of(scores), kept * slope[3] + 1.0
    unit = unit_of(slope[2], slope[3])
    mean, mean_voted = 0.0, 0.0
    for i in range(c):
        scaled[i] = scores[i] / unit
        if known.vote.shape[0] > 0:
            voted[i] = scores[c + i] / unit
        if c == 1:
            steps[0], curves[0] = (label == 1) - p[1], p[0] * p[1]
        else:
            steps[i], curves[i] = (label == i) - p[i], p[i]
            mean += p[i] * scaled[i]
            mean_voted += p[i] * voted[i]
        steps[i] *= weight
        curves[i] = weight * max(curves[i], LEAST)
    newton(known, vote, kept, (scaled, mean), (voted, mean_voted), steps, curves)


@njit(cache=True, nogil=True, forceinline=True)
def newton(known, vote, kept, scores, votes, steps, curves):
    """One step against the gradient, by second derivatives: an arrow matrix with two slopes.

    vote : of `known`; kept : of what is known
    scores, votes : (c,) in units, and their mean by the probabilities
    steps, curves : (c,) minus the gradient by the intercepts, and their second derivatives
    """
    slope, cross, curvatures, crossed = known.slope, known.cross, known.curvatures, vote[3:]
    (scaled, mean), (voted, mean_voted) = scores, votes
    slope[1] = kept * slope[1] + (1.0 - kept) * RIDGE
    vote[1] = kept * vote[1] + (1.0 - kept) * RIDGE
    vote[2] *= kept
    pull, pull_vote = 0.0, 0.0
    for i in range(scaled.shape[0]):
        away, aside = scaled[i] - mean, voted[i] - mean_voted
        slope[1] += curves[i] * away * away
        vote[1] += curves[i] * aside * aside
        vote[2] += curves[i] * away * aside
        cross[i] = kept * cross[i] + curves[i] * away
        crossed[i] = kept * crossed[i] + curves[i] * aside
        curvatures[i] = kept * curvatures[i] + (1.0 - kept) * RIDGE + curves[i]
        pull += steps[i] * scaled[i]
        pull_vote += steps[i] * voted[i]
    slope_part, own_vote, both = slope[1], vote[1], vote[2]
    for i in range(scaled.shape[0]):  # without the intercepts
        pull -= cross[i] * (steps[i] / curvatures[i])
        slope_part -= cross[i] * (cross[i] / curvatures[i])
        pull_vote -= crossed[i] * (steps[i] / curvatures[i])
        own_vote -= crossed[i] * (crossed[i] / curvatures[i])
        both -= cross[i] * (crossed[i] / curvatures[i])
    own_vote = max(own_vote, 1e-9 * vote[1])  # rounding
    share = both / own_vote
    pull -= share * pull_vote
    slope_part -= share * both
    step = limit(pull / max(slope_part, 1e-9 * slope[1]))  # rounding
    step_vote = limit(pull_vote / own_vote - share * step)
    slope[0], vote[0] = limit(slope[0] + step), limit(vote[0] + step_vote)
    for i in range(scaled.shape[0]):
        change = (steps[i] - cross[i] * step - crossed[i] * step_vote) / curvatures[i]
        known.intercepts[i] = limit(known.intercepts[i] + change)


@njit(cache=True)
def agreeing_of_two(probabilities, numbers, scores):
    """(n, 2) probabilities by which the classes of these numbers are the most probable.

    scores : (n,) whose sizes keep those in order that would be below a half
    """
    agreed = np.empty(probabilities.shape)
    for i in range(len(numbers)):
        size = abs(scores[i])
        least = 0.5 + 1e-6 * (size + 1e-9) / (size + 1.0)
        chance = max(probabilities[i, numbers[i]], least)
        agreed[i, 1] = chance if numbers[i] == 1 else 1.0 - chance
        agreed[i, 0] = 1.0 - agreed[i, 1]
    return agreed
