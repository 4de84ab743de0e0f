"""Probabilities and intervals learned online, one label at a time, from their definitions."""

import copy
import math

import numpy as np


def agreeing(p, said, score):
    """Chances of two classes by which what was said, 0 or 1, is the likelier one.

    It gets a half where its own chance is less, and a millionth of the score more.
    """
    size = abs(score)
    chance = max(p[said], 0.5 + 1e-6 * (size + 1e-9) / (size + 1.0))
    of_second = chance if said == 1 else 1.0 - chance
    return 1.0 - of_second, of_second


class Probabilities:
    """sigmoid(a s + b) of one score, softmax(a s_k + b_k) of several, by Newton steps.

    With votes v behind the scores: sigmoid(a s + a' v + b), softmax(a s_k + a' v_k + b_k).
    The second derivatives of the intercepts with each other are left out, but for their own.
    """

    def __init__(self, scores, inputs=1, far=False):
        self.scores, self.inputs = scores, inputs
        paces = (0.01, 0.001, 1600) if far else (0.001, 0.02, 50)
        self.recent, self.forget, self.shrunk = paces
        self.parameters = np.zeros(inputs + scores)
        self.parameters[0] = 1.0
        self.hessian = np.eye(inputs + scores)
        self.sizes = []  # of all scores so far, each with its weight
        self.past = [(79, 1, 1.0)]  # of two classes: (bin of the logit, label, weight)
        self.counts = [0] * max(2, scores)
        self.means = np.full(max(2, scores), 1 / max(2, scores))
        self.middle = np.zeros(inputs * scores)
        self.errors = []  # of two classes: (probability, label, weight)

    def far(self):
        """One for rows far ahead, whose second input is another one; it goes on from the first."""
        other = copy.deepcopy(self)
        other.recent, other.forget, other.shrunk = Probabilities(1, far=True).paces
        other.middle[self.scores :] = 0.0
        other.parameters[1] = 0.5 * other.parameters[0]
        other.hessian[1, :] = other.hessian[:, 1] = 0.0
        other.hessian[1, 1] = 10.0
        return other

    @property
    def paces(self):
        return self.recent, self.forget, self.shrunk

    def scaled(self, s, sizes):
        total = sum(weight * size for size, weight in sizes)
        count = sum(weight for _, weight in sizes)
        s = np.asarray(s, dtype=float).reshape(self.inputs, self.scores)
        return s / (total / count if total > 0 else 1.0)

    def probabilities(self, s):
        sizes = [*self.sizes, (np.max(np.abs(s)), 1.0)]
        slopes, intercepts = np.split(self.parameters, [self.inputs])
        z = slopes @ self.scaled(s, sizes) + intercepts
        if self.scores == 1:
            positive = 1 / (1 + math.exp(-min(max(z[0], -30), 30)))
            return np.array([1 - positive, positive])
        z = np.exp(np.maximum(z - z.max(), -30))
        return z / z.sum()

    def mended(self, p):
        """Two probabilities, and the mean error of the nearest cells of twenty, shrunk."""
        cells = np.zeros((20, 2))
        for past, label, weight in self.errors:
            for at, share in self.cells(past):
                cells[at] += weight * share * np.array([label - past, 1.0])
        moved = p[1] + sum(
            share * cells[at, 0] / (cells[at, 1] + self.shrunk) for at, share in self.cells(p[1])
        )
        moved = min(max(moved, p[1] / 2), 1 - p[0] / 2)
        return np.array([1 - moved, moved])

    @staticmethod
    def cells(p):
        at = math.floor(20 * p - 0.5)
        share = 20 * p - 0.5 - at
        return (max(at, 0), 1 - share), (min(at + 1, 19), share)

    def said(self, s):
        p = self.probabilities(s)
        return self.mended(p) if self.scores == 1 else p

    def usual(self):
        """The mean probabilities, but at least what is said of the mean row."""
        return np.maximum(self.means, self.said(self.middle))

    def cut(self):
        """Half of the best F1 = 2 found / (positive + called), of all bins to call from."""
        positive = sum(w for _, label, w in self.past if label)
        if self.scores > 1:
            return 0.5
        halves = []
        for least in range(80):
            called = [(label, w) for at, label, w in self.past if at >= least]
            found = sum(w for label, w in called if label)
            halves.append(found / (positive + sum(w for _, w in called)))
        return max(halves)

    def learn(self, s, label, weight=1.0, judged=True):
        p = self.probabilities(s)
        if weight <= 0:
            return
        self.counts[label] += 1
        if not judged:
            return
        rate = max(self.recent, 4 / (sum(self.counts) + 3))
        self.means = self.means + (self.said(s) - self.means) * rate
        self.middle = self.middle + (np.asarray(s, float) - self.middle) * rate
        if len(p) == 2:
            if label == 1:
                self.past = [(at, known, 0.99 * w) for at, known, w in self.past]
            mended = self.mended(p)
            at = math.floor((math.log(mended[1] / mended[0]) + 10) * 4)
            self.past.append((min(max(at, 0), 79), label, weight))
            self.errors.append((p[1], label, weight))
        while weight > 0:  # as many steps in a row, the last one a part of one
            self.step(s, label, min(weight, 1.0))
            weight -= 1.0

    def step(self, s, label, weight):
        p = self.probabilities(s)
        kept = 1 - self.forget * (1 - np.sum(p**2))
        self.sizes = [(size, kept * w) for size, w in self.sizes]
        self.sizes.append((np.max(np.abs(s)), 1.0))
        z = self.scaled(s, self.sizes)
        hessian = np.zeros_like(self.hessian)
        if self.scores == 1:
            error = np.array([float(label == 1) - p[1]])
            curve, away = np.maximum([p[0] * p[1]], 1e-3), z
        else:
            error = np.eye(self.scores)[label] - p
            curve, away = np.maximum(p, 1e-3), z - (z @ p)[:, None]
        n = self.inputs
        hessian[:n, :n] = (curve * away) @ away.T
        hessian[:n, n:] = curve * away
        hessian[n:, :n] = hessian[:n, n:].T
        hessian[n:, n:] = np.diag(curve)
        self.hessian = kept * self.hessian + (1 - kept) * np.eye(len(hessian)) + weight * hessian
        gradient = weight * np.append(z @ error, error)
        self.parameters = self.parameters + np.linalg.solve(self.hessian, gradient)


def half_width(errors, coverage, far=False):
    """Of an interval: one path, for 90 %, and the quantiles of the errors beside it.

    far : no less than the geometric mean of the path before the last 100 errors
    """
    sizes = np.abs(errors)
    rank, followed = (math.ceil((len(sizes) + 1) * share) for share in (coverage, 0.9))
    if rank > len(sizes):
        return math.inf
    followed = min(followed, len(sizes))
    width = sorted(sizes)[followed - 1]
    beside, path = [], []
    for size in sizes:
        beside.append(size / width)
        path.append(width)
        width *= math.exp(0.2 * 0.9 if size > width else -0.2 * (1 - 0.9))
    if far:
        width = max(width, math.exp(np.mean(np.log(path[-100:]))))
    return width * sorted(beside)[rank - 1] / sorted(beside)[followed - 1]


def deviation(errors):
    """The root of the mean square, each error 0.99 times the next."""
    if not len(errors):
        return math.inf
    weights = 0.99 ** np.arange(len(errors))[::-1]
    return math.sqrt(np.sum(weights * np.square(errors)) / weights.sum())
