"""Probabilities from scores, learned as labels come: a slope, and an intercept for each score."""

import math
from typing import NamedTuple

import numpy as np

from kernbrook.numerics.borrowing import borrowed
from kernbrook.numerics.compiling import njit

RIDGE = 1.0  # curvature at the start, and the least one later
FORGET = 0.02  # of what is known, at a label that nothing was known of; less, the surer it was
BINS = 80  # a quarter wide, of logits from -10 to 10
FADE = 0.01  # of what is known of the F score, at a positive label
FOUND = 1.0  # weight of positive labels that an F score of 1 is begun with
LEAST = 1e-3  # curvature that a label has, however sure it was
CELLS = 20  # of probabilities, between which errors are spread
SHRUNK = 50.0  # labels in a cell at which half of its mean error counts
STEEPEST = 30.0  # log of the greatest ratio of two probabilities
MOST = 1e120  # size of a slope or an intercept
MOST_SIZE = 1e290  # of scores, as they count in a mean: sums over all rows are finite


class Calibrated(NamedTuple):
    """What is known, for c scores of k classes; changed in place.

    slope : (4,) the slope, its curvature, the sum of the sizes of rows of scores, and their number
    intercepts, cross, curvatures : (c,) intercepts; second derivatives with the slope, and own
    counts : (k,) labels of each class, those of weight 0 left out
    errors : (2, CELLS) of two classes: sums of label less probability, and of weights
    hits : (2, BINS) of two classes, by weight: labels, and positive ones, by the logit of the
        probability that the second class had; at the start FOUND labels, positive and sure
    """

    slope: np.ndarray
    intercepts: np.ndarray
    cross: np.ndarray
    curvatures: np.ndarray
    counts: np.ndarray
    errors: np.ndarray
    hits: np.ndarray


@njit(cache=True, nogil=True, forceinline=True)
def size_of(scores):
    """The greatest size of the scores of a row, (c,)."""
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
def held(value):
    """A slope or an intercept, not beyond MOST."""
    return min(max(value, -MOST), MOST)


@njit(cache=True, nogil=True, forceinline=True)
def probabilities_of(known, scores, out):
    """The probabilities of the classes, (k,) out, for the scores of a row, (c,)."""
    slope, intercepts = known.slope, known.intercepts
    unit = unit_of(slope[2] + size_of(scores), slope[3] + 1.0)
    if scores.shape[0] == 1:
        z = slope[0] * (scores[0] / unit) + intercepts[0]
        z = min(max(z, -STEEPEST), STEEPEST)
        out[1] = 1.0 / (1.0 + math.exp(-z))
        out[0] = 1.0 / (1.0 + math.exp(z))
        return
    greatest, total = -np.inf, 0.0
    for i in range(scores.shape[0]):
        out[i] = slope[0] * (scores[i] / unit) + intercepts[i]
        greatest = max(greatest, out[i])
    for i in range(scores.shape[0]):
        out[i] = math.exp(max(out[i] - greatest, -STEEPEST))
        total += out[i]
    for i in range(scores.shape[0]):
        out[i] /= total


@njit(cache=True, nogil=True)
def cell_of(p):
    """(cell, the next one, the share of the next one) of a probability; cells also for NaN."""
    at = p * CELLS - 0.5
    cell = min(max(math.floor(at), -1), CELLS - 1)
    return max(cell, 0), min(cell + 1, CELLS - 1), at - cell


@njit(cache=True, nogil=True, forceinline=True)
def mend(known, out):
    """Add to the probabilities of two classes the mean error that such ones have had so far.

    Neither is less than halved.
    """
    errors, p = known.errors, out[1]
    cell, following, share = cell_of(p)
    mended = p + (1.0 - share) * errors[0, cell] / (errors[1, cell] + SHRUNK)
    mended += share * errors[0, following] / (errors[1, following] + SHRUNK)
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
def all_probabilities(known, scores, out):
    """Of rows, (n, c) scores and (n, k) out."""
    for t in range(scores.shape[0]):
        probabilities_of(known, scores[t], out[t])
        if scores.shape[1] == 1:
            mend(known, out[t])


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
def learn_scores(known, scores, labels, weights, judged, probabilities, cuts):
    """Rows in turn: their probabilities, then what their labels say.

    Parameters
    ----------
    scores, labels, weights : (n, c), (n,) numbers of classes, NaN where none was seen, and (n,)
    judged : (n,) bool, which labels tell how good the scores are
    probabilities, cuts : (n, k) and (n,) out, each before the label was seen; no cuts where (0,)
    """
    rooms = np.empty((3, scores.shape[1])), np.empty(probabilities.shape[1])
    _learn_rows(known, scores, labels, weights, judged, probabilities, cuts, rooms)


@njit(cache=True, nogil=True)
def _learn_rows(known, scores, labels, weights, judged, probabilities, cuts, rooms):
    """See `learn_scores`; rooms : (3, c) and (k,) scratch."""
    known, scores, labels = borrowed(known), borrowed(scores), borrowed(labels)
    weights, judged = borrowed(weights), borrowed(judged)
    probabilities, cuts = borrowed(probabilities), borrowed(cuts)
    each, p = borrowed(rooms)
    scaled, steps, curves, c = each[0], each[1], each[2], scores.shape[1]
    for t in range(scores.shape[0]):
        probabilities_of(known, scores[t], p)
        said = probabilities[t]
        for k in range(p.shape[0]):
            said[k] = p[k]
        if c == 1:
            mend(known, said)
        if cuts.shape[0] > 0:
            cuts[t] = best_cut(known.hits) if c == 1 else 0.5
        if not (labels[t] == labels[t] and weights[t] > 0.0):
            continue
        label = int(labels[t])
        known.counts[label] += 1
        if not judged[t]:
            continue
        if c == 1:
            note_label(known.hits, said[1] / said[0], label == 1, weights[t])
            note_error(known.errors, p[1], float(label), weights[t])
        doubt = 1.0
        for k in range(p.shape[0]):
            doubt -= p[k] * p[k]
        kept, slope = 1.0 - FORGET * max(doubt, 0.0), known.slope
        slope[2], slope[3] = kept * slope[2] + size_of(scores[t]), kept * slope[3] + 1.0
        unit = unit_of(slope[2], slope[3])
        mean = 0.0
        for i in range(c):
            scaled[i] = scores[t, i] / unit
            if c == 1:
                steps[0], curves[0] = (label == 1) - p[1], p[0] * p[1]
            else:
                steps[i], curves[i] = (label == i) - p[i], p[i]
                mean += p[i] * scaled[i]
            steps[i] *= weights[t]
            curves[i] = weights[t] * max(curves[i], LEAST)
        newton(known, kept, scaled, mean, steps, curves)


@njit(cache=True, nogil=True, forceinline=True)
def newton(known, kept, scaled, mean, steps, curves):
    """One step against the gradient, by an arrow matrix of second derivatives.

    kept : of what is known
    scaled, mean : (c,) scores, and their mean by the probabilities
    steps, curves : (c,) minus the gradient by the intercepts, and their second derivatives
    """
    slope, cross, curvatures = known.slope, known.cross, known.curvatures
    slope[1] = kept * slope[1] + (1.0 - kept) * RIDGE
    pull = 0.0
    for i in range(scaled.shape[0]):
        away = scaled[i] - mean
        slope[1] += curves[i] * away * away
        cross[i] = kept * cross[i] + curves[i] * away
        curvatures[i] = kept * curvatures[i] + (1.0 - kept) * RIDGE + curves[i]
        pull += steps[i] * scaled[i]
    own = slope[1]
    for i in range(scaled.shape[0]):
        pull -= cross[i] * (steps[i] / curvatures[i])
        own -= cross[i] * (cross[i] / curvatures[i])
    step = pull / max(own, 1e-9 * slope[1])  # rounding
    slope[0] = held(slope[0] + step)
    for i in range(scaled.shape[0]):
        change = (steps[i] - cross[i] * step) / curvatures[i]
        known.intercepts[i] = held(known.intercepts[i] + change)
