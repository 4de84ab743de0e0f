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
    """Herbster, Warmuth (1998), Fixed-Share: loss update, then share update."""

    def __init__(self, m, discount=0.8, share=0.01):
        self.w = np.ones(m, EXACT) / m
        self.discount, self.share = discount, share

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
        pool = self.share * middle.sum()
        self.w = (1 - self.share) * middle + (pool - self.share * middle) / (m - 1)


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
        self.r.append(self.weights() @ losses - losses)


def run(combiner, losses):
    """(T + 1, m) weights before each round, and after the last."""
    rows = [combiner.weights()]
    for loss in losses:
        combiner.learn(loss)
        rows.append(combiner.weights())
    return np.array(rows, dtype=float)
