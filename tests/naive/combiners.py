"""Combiners of experts, one round at a time: `weights`, then `learn(losses)`.

In extended precision where numpy has it, so that what is compared is the other's rounding.
"""

import numpy as np

EXACT = np.longdouble


class Hedge:
    """Freund, Schapire (1997), figure 1, Hedge(beta): w_i <- w_i beta^loss_i."""

    def __init__(self, m, discount=0.8):
        self.log_weights = np.zeros(m, EXACT)
        self.discount = discount

    def weights(self):
        w = np.exp(self.log_weights - self.log_weights.max())
        return w / w.sum()

    def learn(self, losses):
        self.log_weights = self.log_weights + losses * np.log(EXACT(self.discount))


class FixedShare:
    """Herbster, Warmuth (1998), Fixed-Share or Variable-Share: loss update, then share update."""

    def __init__(self, m, discount=0.8, share=0.01, variable=False):
        self.w = np.ones(m, EXACT) / m
        self.discount, self.share, self.variable = discount, share, variable

    def weights(self):
        return self.w / self.w.sum()

    def learn(self, losses):
        m = len(self.w)
        # The factor discount^min(losses) is the same for all: leaving it out keeps 1e6 in range.
        middle = self.weights() * EXACT(self.discount) ** (losses - np.min(losses))
        if middle.sum() == 0:  # the best expert's weight was below the smallest number
            raise AssertionError("a share keeps every weight above share / m")
        if m == 1:
            return
        part = np.full(m, EXACT(self.share))
        if self.variable:
            part = 1 - (1 - EXACT(self.share)) ** losses
        pool = (part * middle).sum()
        self.w = (1 - part) * middle + (pool - part * middle) / (m - 1)
        self.w = np.maximum(self.w, EXACT(1e-300) * middle.max())


class MLPoly:
    """Gaillard, Stoltz, van Erven (2014), ML-Poly with rates 1 / (1 + sum of r^2)."""

    def __init__(self, m):
        self.r = []
        self.m = m

    def weights(self):
        r = np.array(self.r, EXACT).reshape(-1, self.m)
        w = np.maximum(r.sum(axis=0), 0) / (1 + (r**2).sum(axis=0))
        return w / w.sum() if w.any() else np.ones(self.m, EXACT) / self.m

    def learn(self, losses):
        losses = np.array(losses, EXACT)
        losses -= losses.min()  # regrets are differences; equal losses then give 0 exactly
        loss = self.weights() @ losses
        self.r.append(np.where(abs(loss - losses) > 1e-13 * loss, loss - losses, 0))


def run(combiner, losses):
    """(T + 1, m) weights before each round, and after the last."""
    rows = [combiner.weights()]
    for loss in losses:
        combiner.learn(loss)
        rows.append(combiner.weights())
    return np.array(rows, dtype=float)
