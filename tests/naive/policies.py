"""Whether a label is asked for, from what is known before it: one function a policy.

Each is called with a `Known`; the first label of all is always asked for.
"""

from typing import NamedTuple

import numpy as np

from . import draws

LABEL = 4  # the purpose of these draws


class Known(NamedTuple):
    q: np.ndarray  # (e,) weights, the greatest 1
    votes: np.ndarray  # (e,) weights in this vote; 0 where an expert is not in it
    used: np.ndarray  # (e,) bool, who is in it
    opinions: list  # of each expert, (c,): what its vote says
    asked: int  # labels so far
    skipped: int  # rounds since the last one
    seed: int
    t: int

    def drawn(self):
        return draws.uniform(self.seed, self.t, LABEL * 2**20)


def everything(known):
    return True


def at_random(rate):
    return lambda known: known.drawn() < rate


def disagreement(threshold=0.0005, window=1, weights="used", compared="used"):
    """Hong, Chae (2020), algorithm 2 and equation 33, every j in turn."""

    def wants(known):
        if known.skipped >= window:  # a_{t-1} + ... + a_{t-M} = 0
            return True
        w = known.votes if weights == "used" else known.q
        if w.sum() == 0:
            return False
        p = w / w.sum()
        among = [j for j in range(len(p)) if compared == "all" or known.used[j]]
        f = known.opinions
        worst = max(
            (sum(p[i] * np.sum((f[i] - f[j]) ** 2) for i in range(len(p))) for j in among),
            default=0.0,
        )
        return bool(worst > threshold)

    return wants


def margin(smoothing=0.2):
    """Cesa-Bianchi, Gentile, Zaniboni (2006), figure 1: Z_t = 1 with chance b / (b + |margin|).

    The margin of the experts' mean opinion.
    """

    def wants(known):
        lead = 0.0
        if known.votes.any():
            mean = known.votes @ np.array(known.opinions) / known.votes.sum()
            ordered = np.sort(mean)[::-1]
            lead = abs(mean[0]) if len(mean) == 1 else ordered[0] - ordered[1]
        return known.drawn() < smoothing / (smoothing + lead)

    return wants


class LabelBudget:
    """At most a share `rate` of the labels, where v > exp(gain (n - rate t)).

    v = t/2 (e / sum e + d / sum d) at round t, from 0, n labels asked so far: e a running mean of
    the squared errors on labels, d the variance of the opinions; the sums with this round's.
    """

    def __init__(self, rate=0.5, window=3, memory=0.5, gain=0.02):
        self.rate, self.window, self.memory, self.gain = rate, window, memory, gain
        self.e, self.errors, self.variances = 0.0, [], []

    def __call__(self, known):
        w, f = known.votes, np.array(known.opinions)
        d = 0.0
        if w.any():
            mean = w @ f / w.sum()
            d = float(w @ ((f - mean) ** 2).sum(axis=1) / w.sum())
        self.errors.append(self.e)
        self.variances.append(d)
        if known.asked + 1 > self.rate * (known.t + 1):
            return False
        parts = [
            values[-1] / sum(values) if sum(values) > 0 else 0.0
            for values in (self.errors, self.variances)
        ]
        worth = known.t / 2 * sum(parts)
        behind = known.asked - self.rate * known.t
        return known.skipped >= self.window or worth > np.exp(self.gain * behind)

    def note(self, number, error):
        """The combination's squared error on the label of that number, from 1."""
        if number > 1:
            self.e = self.memory * self.e + (1 - self.memory) * error
