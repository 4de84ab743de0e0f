"""AdaRaker, one example at a time, with instances that are made and thrown away.

Shen, Chen, Giannakis (2019), algorithm 2, on the intervals of Daniely, Gonen, Shalev-Shwartz
(2015). The first label is number 0.
"""

import math
from typing import NamedTuple

import numpy as np

from . import draws, subsets
from .regression import OnFeatures
from .rounds import loss_of, vote
from .weights import relative

EXACT = np.longdouble


class Instance:
    """Raker on an interval: kernels with a learner each, and weights exp(-rate sum of losses)."""

    def __init__(self, learners, rate):
        self.learners, self.rate = learners, rate
        self.losses, self.log_h = np.zeros(len(learners), EXACT), np.log(EXACT(rate))

    def weights(self):
        w = np.exp(-EXACT(self.rate) * (self.losses - self.losses.min()))
        return w / w.sum()


class Result(NamedTuple):
    predictions: np.ndarray  # (T,) numbers, or numbers of classes
    weights: np.ndarray  # (levels m,) at the end, summing to 1
    losses: np.ndarray  # (levels m,) squared errors, or mistakes
    thetas: list  # of the experts, (c, d) each
    used: np.ndarray  # (levels m,) bool, the subset of the next vote


def run(
    labels, features, learner, loss, levels, step=1.0, restart=True, carried=False, C=None,
    importance=None, cap=np.inf, ratio=None, drawn=None, seed=0,
):  # fmt: skip
    """
    Parameters
    ----------
    labels : (T,) numbers or classes
    features : of each kernel, (T, d)
    learner : function of a rate and d
    restart : whether the kernels' weights begin afresh with an interval
    carried : whether the coefficients do not
    ratio : of the adaptive selection; drawn : smoothing of drawn updates, or None
    """
    T, m, numbers = len(labels), len(features), C is None
    importance = relative(importance, T)
    rates = [min(0.5, step / math.sqrt(2**j)) for j in range(levels)]
    instances = [Instance([learner(rate, Z.shape[1]) for Z in features], rate) for rate in rates]
    predictions, losses = [], np.zeros(levels * m)
    subset = np.ones(levels * m, dtype=bool)
    n = 0  # labels of a weight above 0

    def weights():
        """Of all experts; a level is silent until its first interval with k = 1."""
        if n == 0:  # they are of no consequence: every function is 0
            return np.ones(levels * m) / (levels * m)
        begun = [one for j, one in enumerate(instances) if j == 0 or n >= 2**j]
        top = max(one.log_h for one in begun)
        whole = np.zeros((levels, m), EXACT)
        for j, one in enumerate(begun):
            whole[j] = np.exp(one.log_h - top) * one.weights()
        return (whole / whole.sum()).astype(float).ravel()

    for t in range(T):
        zs = [Z[t] for Z in features]
        scores = [
            np.array([own.scores(z) for own, z in zip(one.learners, zs, strict=True)])
            for one in instances
        ]
        current = np.concatenate(scores)
        zeros = np.zeros_like(current)
        q = weights()
        f = vote(loss, np.where(subset, q, 0.0), current, zeros)
        predictions.append(f[0] if numbers else int(f[0] >= 0) if len(f) == 1 else int(f.argmax()))
        if importance[t] == 0:
            continue
        suffered = [
            importance[t] * loss_of(loss, own, own * 0, labels[t], False, f)
            for own in [*current, f]
        ]
        suffered = np.minimum(suffered, cap)
        for e, own in enumerate(current):
            if numbers:
                losses[e] += importance[t] * (own[0] - labels[t]) ** 2
            else:
                said = int(own[0] >= 0) if len(own) == 1 else int(own.argmax())
                losses[e] += importance[t] * (said != labels[t])
        for j, one in enumerate(instances):
            f_j = one.weights().astype(float) @ scores[j]
            loss_j = min(importance[t] * loss_of(loss, f_j, f_j * 0, labels[t], False, f), cap)
            one.log_h -= EXACT(one.rate) * (loss_j - suffered[-1])
            one.losses = one.losses + suffered[j * m : (j + 1) * m]
            for i, own in enumerate(one.learners):
                p = q[j * m + i] / q.max()
                chance = 1.0 if drawn is None else (1 - drawn) * p + drawn / (levels * m)
                updated = draws.bernoulli(seed, t, draws.UPDATE, j * m + i, chance)
                if drawn is None or updated:
                    own.learn(zs[i], labels[t], importance[t], n + 1)
        n += 1
        for j, one in enumerate(instances):
            if n % 2**j == 0:  # the interval ends
                fresh = [learner(one.rate, Z.shape[1]) for Z in features]
                instances[j] = Instance(one.learners if carried else fresh, one.rate)
                if not restart:
                    instances[j].losses = one.losses
        if ratio is not None:
            subset = subsets.draw(weights(), ratio, seed, t)
    thetas = [own.theta for one in instances for own in one.learners]
    return Result(np.array(predictions), weights(), losses, thetas, subset)


class Restarting(OnFeatures):
    """An expert that begins afresh after so many labels, for `rounds.run`."""

    def __init__(self, Z, make, restart):
        super().__init__(Z, make())
        self.make, self.restart = make, restart

    def learn(self, t, label, weight, number, seed):
        super().learn(t, label, weight, (number - 1) % self.restart + 1, seed)

    def forget(self, labelled):
        if len(labelled) % self.restart == 0:
            self.learner = self.make()
