"""Scores of two classes or more.

Two classes share one score, positive for class 1, which wins ties. More have one score each, and
the first of equals wins. A coefficient of a support vector goes where its score does: an update by
`step` adds it to the class of the label and takes it from the best other class; with one score for
both it is added with the label's sign.
"""

import math

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.zero import ZERO


@njit(cache=True, nogil=True)
def winner(scores, sizes, other_than):
    """The class with the greatest score but for one, the first of those equal to rounding.

    scores, sizes : (c,), c >= 2; other_than : class left out, or -1
    """
    best = -1
    for c in range(scores.shape[0]):
        if c != other_than and (best < 0 or scores[c] > scores[best]):
            best = c
    for c in range(best):
        near = scores[best] - scores[c] <= ZERO * (sizes[best] + sizes[c])
        if near and c != other_than:
            return c
    return best


@njit(inline="always")
def margin_of(scores, sizes, label):
    """(margin, size, rival, wrong): how far the label's class is ahead of the best other class.

    margin : 0 within the rounding of its terms
    size : of the terms behind the margin
    rival : the best other class
    wrong : whether another class is predicted
    """
    if scores.shape[0] == 1:
        wrong = (scores[0] >= 0.0) != (label == 1)
        return (scores[0] if label == 1 else -scores[0]), sizes[0], 1 - label, wrong
    rival = winner(scores, sizes, label)
    size = sizes[label] + sizes[rival]
    margin = scores[label] - scores[rival]
    if abs(margin) <= ZERO * size:
        margin = 0.0
    return margin, size, rival, winner(scores, sizes, -1) != label


@njit(inline="always")
def copies(scores):
    """Squared length of an update by 1: it goes to one score, or to two."""
    return 1.0 if scores == 1 else 2.0


@njit(inline="always")
def add_step(coefficients, label, rival, step):
    """An update by `step`; coefficients : (c,) of one support vector."""
    if coefficients.shape[0] == 1:
        coefficients[0] += step if label == 1 else -step
    else:
        coefficients[label] += step
        coefficients[rival] -= step


@njit(cache=True, nogil=True)
def log_loss(scores, label, margin):
    """-log of the label's probability under the logistic model, by softmax for many classes."""
    if scores.shape[0] == 1:
        return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
    greatest = scores[0]
    for c in range(1, scores.shape[0]):
        greatest = max(greatest, scores[c])
    total = 0.0
    for c in range(scores.shape[0]):
        total += math.exp(scores[c] - greatest)
    return math.log(total) + greatest - scores[label]
