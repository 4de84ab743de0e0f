"""What one expert does with one example in a space of explicit features.

An expert has coefficients theta (c, d), one row a score, for features z (d,).
"""

import math

import numpy as np

from kernbrook._jit.classes import log_loss, margin_of
from kernbrook._jit.compiling import njit
from kernbrook._jit.zero import ZERO

# Learners, with their rows of parameters; codes go on from `learning`.
GRADIENT = 11  # (loss, epsilon, step, schedule, regularization, restart)
RIDGE = 12  # (regularization, forgetting)

# Losses of gradient descent.
SQUARED_LOSS, LOGISTIC_LOSS, HINGE_LOSS, EPSILON_LOSS = 0.0, 1.0, 2.0, 3.0
CONSTANT, BY_ROOT, ADAGRAD, NORMALIZED = 0.0, 1.0, 2.0, 3.0

LARGEST_GROWTH = 1e6  # of a variance in P under forgetting, beyond its first value


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def product(a, i, b, k):
    """a[i] . b[k], in an order fixed by their length."""
    total = 0.0
    for j in range(np.uintp(a.shape[1])):
        total += a[i, j] * b[k, j]
    return total


@njit(cache=True, nogil=True)
def loss_gradient(loss, epsilon, scores, sizes, target, regression, out):
    """d loss / d score, (c,) out.

    sizes : (c,) of the terms behind the scores: a hinge loss within their rounding is none
    target : the number, or the class; of two classes with one score, 1 is the positive one
    """
    n = scores.shape[0]
    if regression:
        error = scores[0] - target
        if loss == EPSILON_LOSS:
            out[0] = 0.0 if abs(error) <= epsilon else (1.0 if error > 0.0 else -1.0)
        else:
            out[0] = 2.0 * error
        return
    label = int(target)
    if loss == SQUARED_LOSS:  # towards 1 for the label's class and -1 for the others
        for c in range(n):
            out[c] = 2.0 * (scores[c] - sign_of(n, c, label))
    elif (
        loss == HINGE_LOSS
    ):  # of many, Crammer and Singer (2003): the label's class, the best other
        margin, size, rival, _ = margin_of(scores, sizes, label)
        step = 1.0 if 1.0 - margin > ZERO * (1.0 + size) else 0.0
        if n == 1:
            out[0] = -step * sign_of(n, 0, label)
        else:
            out[:] = 0.0
            out[label], out[rival] = -step, step
    elif n == 1:
        sign = sign_of(n, 0, label)
        out[0] = -sign / (1.0 + math.exp(min(sign * scores[0], 700.0)))
    else:
        normaliser = log_loss(scores, label, 0.0) + scores[label]
        for c in range(n):
            out[c] = math.exp(scores[c] - normaliser) - (1.0 if c == label else 0.0)


@njit(inline="always")
def sign_of(scores, c, label):
    """What score c should be for that label: 1 or -1."""
    right = label == 1 if scores == 1 else label == c
    return 1.0 if right else -1.0


@njit(cache=True, nogil=True)
def root_step(parameters, square, round_):
    """step / sqrt(round_); for the squared loss no longer than makes the error 0, 1 / (2 k(x, x)).

    square : k(x, x)
    """
    step = parameters[2] / math.sqrt(round_)
    # An infinite square is left to be found in the sums.
    if parameters[0] == SQUARED_LOSS and 2.0 * square * step > 1.0 and square < math.inf:
        return 0.5 / square
    return step


@njit(cache=True, nogil=True)
def gradient_step(parameters, theta, sums, z, t, gradient, weight, round_):
    """One step of online gradient descent on loss + regularization |theta|^2.

    theta : (c, d) changed; sums : (c, d) of squared gradients for ADAGRAD, changed, or (0, d)
    z, t : (b, d) features, of which row t is the example's
    weight : of the example's loss
    round_ : number of this step, from 1 after a restart
    """
    step, schedule, regularization = parameters[2], parameters[3], parameters[4]
    d = np.uintp(theta.shape[1])
    if schedule == ADAGRAD:  # Duchi, Hazan, Singer (2011), figure 1, diagonal
        for c in range(theta.shape[0]):
            slope = weight * gradient[c]
            for j in range(d):
                g = slope * z[t, j] + 2.0 * regularization * theta[c, j]
                sums[c, j] += g * g
                if g != 0.0:
                    theta[c, j] -= step * g / math.sqrt(sums[c, j])
        return
    if schedule == BY_ROOT:
        step = root_step(parameters, product(z, t, z, t), round_)
    elif schedule == NORMALIZED:
        square = product(z, t, z, t)
        step = step / square if square > 0.0 else 0.0
    shrink = 1.0 - 2.0 * step * regularization
    for c in range(theta.shape[0]):
        slope = step * weight * gradient[c]
        for j in range(d):
            theta[c, j] = shrink * theta[c, j] - slope * z[t, j]


@njit(cache=True, nogil=True)
def ridge_gain(inverse, z, t, gains, e):
    """z' P z for the inverse P of the regularised moment matrix; gains[e] = P z."""
    for j in range(inverse.shape[0]):
        gains[e, j] = product(inverse, j, z, t)
    return product(z, t, gains, e)


@njit(cache=True, nogil=True)
def forgetting_now(parameters, inverse):
    """The forgetting, or 1 where P has grown too far in a direction that does not come."""
    regularization, forgetting = parameters[0], parameters[1]
    if forgetting < 1.0:
        for j in range(inverse.shape[0]):
            if inverse[j, j] * regularization > LARGEST_GROWTH:
                return 1.0
    return forgetting


@njit(cache=True, nogil=True)
def ridge_step(parameters, theta, inverse, gains, e, variance, residuals, weight):
    """Recursive least squares: theta and P after one more example.

    With A <- forgetting A + weight z z', P its inverse; variance = z' P z and gains[e] = P z of
    before, changed. residuals : (c,) target - theta . z
    """
    forgetting = forgetting_now(parameters, inverse)
    total = forgetting / weight + variance
    d = np.uintp(inverse.shape[0])
    for c in range(theta.shape[0]):
        step = residuals[c] / total
        for j in range(d):
            theta[c, j] += step * gains[e, j]
    root = math.sqrt(total)
    for j in range(d):  # P stays symmetric to the last bit: by forgetting, the rest would grow
        gains[e, j] /= root
    for i in range(d):
        factor = gains[e, i]
        if forgetting == 1.0:
            for j in range(d):
                inverse[i, j] -= factor * gains[e, j]
        else:
            for j in range(d):
                inverse[i, j] = (inverse[i, j] - factor * gains[e, j]) / forgetting
