"""Gradients of the losses of a sum of weights, and how long an implicit step is.

The sum of numbers is in units of the labels: `levels` holds the mean of the labels, the sum of
their distances from it, how many there were; the offset and the unit of the sum; the mean size of
residuals, in units; of classes the mean error, the same with a longer memory, and how many labels
there were since errors have leapt.
"""

import math

import numpy as np

from kernbrook.checks import COUNTED
from kernbrook.compiler.compiling import njit
from kernbrook.errors import InputError
from kernbrook.numerics.vectors import greatest_of

HALVINGS = 6  # of the interval in which the implicit step is looked for
CUT = 4.0  # residuals are cut at so many of their mean sizes
MOST_WEIGHT = 1e6  # of an example
MOST_LABEL = 1e150
MOST_LEVEL = 1e170  # of what is kept of labels
UNIT, LATEST_UNIT = 1e-6, 1 << 20  # least change of a unit; labels after which it stays
SLOWLY, SLOWER = 0.003, 0.0003  # the two mean errors follow each error by so much
ALARM = 4.0  # deviations of the mean error, above the other one: errors have leapt
REST = 2000.0  # labels in which they have not leapt again
MEAN, SPAN, LABELS, OFFSET, SCALE, SIZE, ERROR, USUAL, SINCE = range(9)  # what `levels` holds


def no_levels():
    """Before the first label."""
    levels = np.zeros(9)
    levels[ERROR] = levels[USUAL] = levels[SIZE] = 1.0
    return levels


def check_levels(levels):
    """Raise InputError where these are beyond their ranges."""
    least, most = np.zeros(9), np.full(9, MOST_LEVEL)
    least[[MEAN, OFFSET]], most[[LABELS, SINCE]], most[[ERROR, USUAL]] = -MOST_LEVEL, COUNTED, 1
    if not ((levels >= least) & (levels <= most)).all():  # NaN is not
        raise InputError("levels: expected means and sizes within their ranges")


@njit(cache=True, nogil=True)
def in_labels(levels, total):
    """The sum in the unit of the labels."""
    return levels[OFFSET] + levels[SCALE] * total


@njit(cache=True, nogil=True)
def slope_of_class(scores, label, slopes):
    """The gradient of the logistic loss, or of the softmax, and the sum of its curvatures, out."""
    c = scores.shape[0]
    if c == 1:
        chance = 1.0 / (1.0 + math.exp(min(max(-scores[0], -700.0), 700.0)))
        slopes[0], slopes[1] = chance - label, chance * (1.0 - chance)
        return
    most, total, curvature = greatest_of(scores), 0.0, 0.0
    for q in range(c):
        slopes[q] = math.exp(scores[q] - most)
        total += slopes[q]
    for q in range(c):
        slopes[q] /= total
        curvature += slopes[q] * (1.0 - slopes[q])
    slopes[label] -= 1.0
    slopes[c] = curvature


@njit(cache=True, nogil=True)
def follow_error(levels, error):
    """Take an error, from 0 to 1, into the means. Returns whether errors have leapt of late.

    The mean of n errors, from 0 to 1, deviates by at most the root of their mean / n. A mean that
    follows by `SLOWLY` is as of 2 / SLOWLY errors.
    """
    levels[SINCE] += 1.0
    levels[ERROR] += (error - levels[ERROR]) * SLOWLY
    levels[USUAL] += (levels[ERROR] - levels[USUAL]) * max(SLOWER, 1.0 / levels[SINCE])
    usual = levels[USUAL]
    if not levels[ERROR] > usual + ALARM * math.sqrt(usual * 0.5 * SLOWLY):
        return False
    if levels[SINCE] < REST:
        return False
    levels[USUAL], levels[SINCE] = levels[ERROR], 0.0
    return True


@njit(cache=True, nogil=True)
def slope_of_number(levels, score, target, slopes):
    """The residual in units of the sum, cut, and the curvature 1, out; units follow the labels.

    Returns what the weights are to be multiplied by: the unit changes after 1, 2, 4, 8, ... labels.
    """
    residual, ratio = 0.0, 1.0
    target = min(max(target, -MOST_LABEL), MOST_LABEL)
    levels[LABELS] += 1.0
    levels[MEAN] += (target - levels[MEAN]) / levels[LABELS]
    if levels[LABELS] > 1.0:
        levels[SPAN] = min(levels[SPAN] + abs(target - levels[MEAN]), MOST_LEVEL)
    if levels[SCALE] > 0.0:
        residual = min(max((score - target) / levels[SCALE], -1e3), 1e3)
        most = CUT * levels[SIZE]
        slowly = max(0.002, 1.0 / (levels[LABELS] + 1.0))
        levels[SIZE] += (min(abs(residual), 3.0 * most) - levels[SIZE]) * slowly
        residual = min(max(residual, -most), most)
    slopes[0], slopes[1] = residual, 1.0
    number = np.int64(levels[LABELS])  # others may have met more
    if number & (number - 1) == 0 and number <= LATEST_UNIT:
        unit, before = levels[SPAN] / levels[LABELS], levels[SCALE]
        levels[OFFSET] = levels[MEAN]
        if unit > 0.0:
            levels[SCALE] = unit
            ratio = min(max(before / unit, UNIT), 1.0 / UNIT) if before > 0.0 else 1.0
    return ratio


@njit(cache=True, nogil=True)
def measure_anew(numbers, ratio, most):
    """The first of the numbers of each row, in other units; of sizes up to `most`."""
    for i in range(numbers.shape[0]):
        numbers[i, 0] = min(max(numbers[i, 0] * ratio, -most), most)


@njit(cache=True, nogil=True)
def implicit_part(numbers, scores, label, whole, weight, slopes, squared, trial):
    """The part of a step after which the gradient would have made just this step.

    whole : how far the scores go by the whole step, for a gradient of 1. Along the gradient p from
    the scores s, the part t has p . p(s - t whole p) = t p . p
    slopes : (c + 1,) the gradient, times the weight; squared : of its length; trial : scratch
    """
    c = scores.shape[0]
    if numbers:
        return 1.0 / (1.0 + whole * weight)
    if not squared > 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        part, along = 0.5 * (low + high), 0.0
        if c == 1:
            score = min(max(whole * part * slopes[0] - scores[0], -700.0), 700.0)
            along = slopes[0] * (1.0 / (1.0 + math.exp(score)) - label)
        else:
            most, total = -math.inf, 0.0
            for q in range(c):
                trial[q] = scores[q] - whole * part * slopes[q]
                most = max(most, trial[q])
            for q in range(c):
                trial[q] = math.exp(trial[q] - most)
                total += trial[q]
                along += trial[q] * slopes[q]
            along = along / total - slopes[label]
        if weight * along > part * squared:
            low = part
        else:
            high = part
    return 0.5 * (low + high)
