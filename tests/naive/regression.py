"""Learners of numbers, and of classes by scores, one example at a time.

Gradient descent: Zinkevich (2003), Online convex programming, on features; Kivinen, Smola,
Williamson (2004), Online learning with kernels, equation 7, on kernel expansions. AdaGrad: Duchi,
Hazan, Singer (2011), figure 1. The forecaster of Vovk (2001), Competitive on-line statistics, and
Azoury, Warmuth (2001), every system solved anew. EXP: Hong, Chae (2020), equation 22.

A label is a number, or a class 0 ... C - 1. Two classes have one score, positive for class 1;
more have one each.
"""

import math

import numpy as np

from . import combiners
from .kernels import Values
from .multiclass import winner
from .omkc import zero_or


def scores_of(C):
    return 1 if C in (None, 2) else C


def sides(label, C):
    """(scores,) 1 where a score is of the label's class, else -1."""
    if C == 2:
        return np.array([1.0 if label == 1 else -1.0])
    return np.array([1.0 if c == label else -1.0 for c in range(C)])


def slopes(loss, scores, label, C, sizes=None):
    """d loss / d score, (scores,); C : number of classes, None for numbers.

    sizes : of the terms behind the scores of an expansion; what is within their rounding is equal
    """
    behind = np.zeros(len(scores)) if sizes is None else sizes
    if C is None:
        return 2 * (scores - label)
    if loss == "squared":
        return 2 * (scores - sides(label, C))
    if C == 2:
        y = sides(label, C)[0]
        if loss == "hinge":
            return np.array([-y if 1 - y * scores[0] > no_loss(behind[0]) else 0.0])
        return np.array([-y / (1 + math.exp(y * scores[0]))])
    if loss == "hinge":
        others = [c for c in range(C) if c != label]
        rival = winner(scores, behind, others)
        out = np.zeros(C)
        if 1 - (scores[label] - scores[rival]) > no_loss(behind[label] + behind[rival]):
            out[label], out[rival] = -1.0, 1.0
        return out
    likely = np.exp(scores - scores.max())
    return likely / likely.sum() - np.eye(C)[label]


def no_loss(size):
    """A hinge loss no larger is none, or an example that comes again would be added for ever."""
    return 1e-12 * (1 + size)


def step_of(step, schedule, horizon, t, loss, own):
    """eta at the t-th label, from 1, where it is the same for all coordinates; own = k(x, x)."""
    if schedule != "root":
        return step
    if horizon is None and loss == "squared" and own > 0:
        return min(step / math.sqrt(t), 1 / (2 * own))
    return step / math.sqrt(horizon or t)


class Descent:
    """Gradient descent on loss + regularization |theta|^2 in a space of features."""

    def __init__(
        self, d, C=None, step=1.0, schedule="root", horizon=None, regularization=0.0,
        loss="squared",
    ):  # fmt: skip
        self.C, self.loss = C, loss
        self.step, self.schedule, self.horizon = step, schedule, horizon
        self.regularization = regularization
        self.theta = np.zeros((scores_of(C), d))
        self.squares = np.zeros_like(self.theta)

    def scores(self, z):
        return (self.theta * z).sum(axis=1)  # classes that never came stay equal

    def learn(self, z, label, weight, t):
        """As many steps in a row as it weighs, the last a part, while the slope leads on."""
        first = None
        while weight > 0:
            slope = slopes(self.loss, self.scores(z), label, self.C)
            first = slope if first is None else first
            if slope is not first and not first @ slope > 0:
                return
            self.descend(min(weight, 1.0) * np.outer(slope, z), z, t)
            weight -= 1.0

    def descend(self, gradient, z, t):
        gradient = gradient + 2 * self.regularization * self.theta
        if self.schedule == "adagrad":
            self.squares += gradient**2
            moved = gradient != 0
            self.theta[moved] -= self.step * gradient[moved] / np.sqrt(self.squares[moved])
        elif self.schedule == "normalized":
            self.theta -= (self.step / (z @ z) if z.any() else 0.0) * gradient
        else:
            self.theta -= (
                step_of(self.step, self.schedule, self.horizon, t, self.loss, z @ z) * gradient
            )


class Ridge:
    """b' (A + z z')^-1 z, with A = regularization I + sum z z' and b = sum y z.

    Forgetting multiplies A and b before each example, but where an element on the diagonal of
    A^-1 is more than a million times what it was at first.
    """

    def __init__(self, d, C=None, regularization=0.1, forgetting=1.0):
        self.C, self.regularization, self.forgetting = C, regularization, forgetting
        self.A = regularization * np.eye(d)
        self.b = np.zeros((scores_of(C), d))

    def factor(self):
        if self.forgetting == 1 or np.diag(np.linalg.inv(self.A)).max() * self.regularization > 1e6:
            return 1.0
        return self.forgetting

    def scores(self, z):
        factor = self.factor()
        gain = np.linalg.solve(factor * self.A + np.outer(z, z), z)
        return factor * (self.b * gain).sum(axis=1)

    def learn(self, z, label, weight, t):
        targets = np.array([label]) if self.C is None else sides(label, self.C)
        factor = self.factor()
        self.A = factor * self.A + weight * np.outer(z, z)
        self.b = factor * self.b + weight * np.outer(targets, z)


class OnFeatures:
    """An expert that learns by `Descent` or `Ridge` from the features Z, (T, d)."""

    def __init__(self, Z, learner):
        self.Z, self.learner = Z, learner

    def see(self, t):
        """Scores, and the sizes of the terms behind them: none, only 0 counts as 0."""
        scores = self.learner.scores(self.Z[t])
        return scores, np.zeros_like(scores)

    def learn(self, t, label, weight, number, seed):
        if weight > 0:
            self.learner.learn(self.Z[t], label, weight, number)


class Expansion:
    """Gradient descent on f = sum_j alpha_j k(x_j, .): rows and (n, scores) coefficients.

    Under a budget the sum is over the last so many examples that the expert has learned from: the
    truncation of Kivinen et al. (2004), section IV.
    """

    def __init__(
        self, X, kernel, C=None, step=1.0, schedule="root", horizon=None, regularization=0.0,
        loss="squared", budget=None,
    ):  # fmt: skip
        self.values, self.C, self.budget = Values(kernel, X), C, budget
        self.step, self.schedule, self.horizon = step, schedule, horizon
        self.regularization, self.loss = regularization, loss
        self.rows, self.alphas = [], np.zeros((0, scores_of(C)))

    def see(self, t):
        if not self.rows:
            return np.zeros(self.alphas.shape[1]), np.zeros(self.alphas.shape[1])
        terms = self.alphas * self.values[t][self.rows][:, None]
        return np.array([zero_or(own) for own in terms.T]), np.abs(terms).sum(axis=0)

    def learn(self, t, label, weight, number, seed):
        if weight > 0:
            self.descend(t, label, weight, number)

    def descend(self, t, label, weight, number):
        own = self.values[t][t]
        step = step_of(self.step, self.schedule, self.horizon, number, self.loss, own)
        scores, sizes = self.see(t)
        slope = slopes(self.loss, scores, label, self.C, sizes)
        self.alphas = (1 - 2 * step * self.regularization) * self.alphas
        if slope.any() or self.budget is not None:
            self.rows.append(t)
            change, first = np.zeros(len(slope)), slope
            while weight > 0 and (slope is first or first @ slope > 0):
                change -= step * min(weight, 1.0) * slope
                weight -= 1.0
                after = scores + change * own
                slope = slopes(self.loss, after, label, self.C, sizes)
            self.alphas = np.vstack([self.alphas, change])
        if self.budget is not None:
            self.rows, self.alphas = self.rows[-self.budget :], self.alphas[-self.budget :]


class EXP:
    """w_i = exp(-eta sum of i's losses), eta = step / sqrt(T), or step / sqrt(t) so far."""

    def __init__(self, m, step=1.0, horizon=None):
        self.losses, self.t = np.zeros(m, np.longdouble), 0
        self.step, self.horizon = step, horizon

    def weights(self):
        eta = self.step / math.sqrt(self.horizon or max(self.t, 1))
        w = np.exp(-eta * (self.losses - self.losses.min()))
        return w / w.sum()

    def learn(self, losses):
        self.losses, self.t = self.losses + losses, self.t + 1


class Uniform:
    def __init__(self, m):
        self.m = m

    def weights(self):
        return np.ones(self.m) / self.m

    def learn(self, losses):
        pass


class MLPoly(combiners.MLPoly):
    """Without the 1 in the rates."""

    def weights(self):
        r = np.array(self.r, np.longdouble).reshape(-1, self.m)
        ahead = r.sum(axis=0) > 0
        w = np.where(ahead, r.sum(axis=0), 0) / np.where(ahead, (r**2).sum(axis=0), 1)
        return w / w.sum() if w.any() else np.ones(self.m) / self.m
