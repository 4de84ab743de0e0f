"""Stacking of experts' scores, one round at a time, with the inverse of the whole matrix."""

import numpy as np


def cut(values, most):
    return np.clip(values, -most, most)


class Classes:
    """Newton steps on log(1 + exp(-2 margin)): `base` (c,) the vote, `scores` (m, c)."""

    def __init__(self, m, regularization=100.0):
        self.v = np.zeros(m + 1)
        self.A = np.diag([regularization / 10] + [regularization] * m)
        self.curvatures = []

    def decide(self, base, scores):
        inputs = np.vstack([base[None], cut(scores, 1.0)])
        return base + self.v @ inputs

    def learn(self, base, scores, label, weight=1.0):
        """As many steps in a row as the example weighs, the last one a part of one."""
        inputs, z = np.vstack([base[None], cut(scores, 1.0)]), self.decide(base, scores)
        if len(z) == 1:
            x = (1.0 if label == 1 else -1.0) * inputs[:, 0]
        else:
            others = np.where(np.arange(len(z)) == label, -np.inf, z)
            x = inputs[:, label] - inputs[:, int(np.argmax(others))]
        while weight > 0:
            self.step(x, min(weight, 1.0))
            weight -= 1.0

    def step(self, x, weight):
        p = 1 / (1 + np.exp(cut(2 * (x[0] + self.v @ x), 50.0)))
        slope, curvature = -2 * weight * p, weight * max(4 * p * (1 - p), 1e-3)
        self.A += curvature * np.outer(x, x)
        self.curvatures.append(curvature)
        self.v -= np.linalg.solve(self.A, slope * x)


class Numbers:
    """Ridge regression of the base's error on differences from it, in its deviations."""

    held = True  # to the greatest label so far

    def __init__(self, m, regularization=100.0):
        self.regularization = regularization
        self.v = np.zeros(m)
        self.A = regularization * np.eye(m)
        self.b = np.zeros(m)
        self.count = self.squares = self.greatest = 0.0

    @property
    def deviation(self):
        return np.sqrt(self.squares / self.count) if self.count else 0.0

    def decide(self, base, scores):
        r = self.deviation
        if r == 0:
            return base
        said = base + r * self.v @ cut((scores - base) / r, 3.0)
        return cut(said, self.greatest) if self.held else said

    def learn(self, base, scores, y, weight=1.0):
        if weight == 0:
            return
        r = self.deviation
        if r > 0:
            x, target = cut((scores - base) / r, 3.0), cut((y - base) / r, 3.0)
            self.A += weight * np.outer(x, x)
            self.b += weight * target * x
            self.v = np.linalg.solve(self.A, self.b)
        self.count = 0.999 * self.count + weight
        self.squares = 0.999 * self.squares + weight * (y - base) ** 2
        self.greatest = max(self.greatest, abs(y))
