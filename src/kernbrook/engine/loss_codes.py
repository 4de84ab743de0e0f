"""Losses that a combiner looks at; they also decide what a vote is."""

from kernbrook.compiler.compiling import njit
from kernbrook.numerics.scores_of_classes import log_loss, margin_of

MISTAKES = 0  # 0 or 1; experts vote with their signs
HINGE = 1  # max(0, 1 - y f); experts vote with their scores, from here on
LOGISTIC = 2  # log(1 + exp(-y f)), or of many classes -log softmax
SQUARED = 3  # (f - y)^2, of numbers
ABSOLUTE = 4  # |f - y|
LINEARIZED = 5  # 2 (F - y) f, with the combination's F: the slope of its squared loss

NO_CAP = 1e100  # squares of it can still be summed


@njit(cache=True, nogil=True, forceinline=True)
def loss_of(loss, scores, sizes, combined, target):
    """(what the combiner looks at, margin, wrong): of one expert's scores, (c,).

    combined : (c,) the combination's; target : the number, or the number of the class
    Of numbers the margin is |f - y|.
    """
    if loss >= SQUARED:
        error = abs(scores[0] - target)
        if loss == LINEARIZED:
            return 2.0 * (combined[0] - target) * scores[0], error, False
        return (error if loss == ABSOLUTE else error * error), error, False
    margin, _, _, wrong = margin_of(scores, sizes, int(target))
    if loss == MISTAKES:
        return (1.0 if wrong else 0.0), margin, wrong
    if loss == HINGE:
        return max(0.0, 1.0 - margin), margin, wrong
    return log_loss(scores, int(target), margin), margin, wrong


@njit(cache=True, nogil=True, forceinline=True)
def squared_error(decision, label, loss):
    """The squared error of a number; of a class 1 if it is wrong, else 0."""
    if loss >= SQUARED:
        return (decision[0] - label) ** 2
    predicted = 0
    for c in range(1, decision.shape[0]):
        predicted = c if decision[c] > decision[predicted] else predicted
    if decision.shape[0] == 1:
        predicted = 1 if decision[0] >= 0.0 else 0
    return 0.0 if predicted == label else 1.0
