"""Label policies: whose label is asked for, decided before it is known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from kernbrook._jit.classes import winner
from kernbrook._jit.compiling import njit
from kernbrook._jit.draws import DRAW_LABEL, PURPOSE, uniform
from kernbrook.checks import number, one_of, whole_number
from kernbrook.engine.losses import HINGE, MISTAKES
from kernbrook.engine.progress import ASKED, ROUND, SEED, SKIPPED
from kernbrook.engine.verbs import note_error, note_round, wants
from kernbrook.errors import InputError


class _Policy(BaseEstimator):
    """A label policy. The first label is always asked for.

    asks : whether it leaves labels out
    of_classes : it looks at the margin between classes
    of_opinions : it looks at how experts differ
    of_variances : it looks at the variances of `Ridge`
    """

    choice = "labels"
    asks = True
    of_classes = False
    of_opinions = False
    of_variances = False

    def _number(self, name: str, least: float, most: float = math.inf) -> float:
        return number(self, name, least, most, "a number")


class AllLabels(_Policy):
    """Every label is asked for.

    Examples
    --------
    >>> AllLabels()
    AllLabels()
    """

    asks = False

    def rule(self) -> Every:
        """The parameters as compiled code reads them."""
        return Every()


class RandomLabels(_Policy):
    """Labels drawn at a rate, whatever the example: what any other policy must beat.

    Parameters
    ----------
    rate : float in [0, 1], the share of labels asked for

    Examples
    --------
    >>> RandomLabels(0.25)
    RandomLabels(rate=0.25)
    """

    def __init__(self, rate: float = 0.5):
        self.rate = rate

    def rule(self) -> AtRandom:
        """The parameters as compiled code reads them."""
        return AtRandom(self._number("rate", 0, 1))


class Disagreement(_Policy):
    """A label is asked for where the experts disagree, the criterion of AMKL.

    With experts f_i of weights p_i that sum to 1, the label of x is not asked for if one of the
    last `window` labels was, and max_j sum_i p_i |f_i(x) - f_j(x)|^2 <= threshold.

    Experts that vote with signs count as 1 or -1, or 1 for their class and 0 for the others;
    scores under the hinge loss are cut at -1 and 1.

    Parameters
    ----------
    threshold : non-negative float, eta_c of the paper; in the unit of the squared label
    window : int, 1 or more; M of the paper. At least one label in window + 1 is asked for.
    weights : "used" or "all"
        p over the experts that form the prediction, or over all of them, as printed.
    compared : "used" or "all"
        j over the experts that form the prediction, or over all of them, as printed.

    References
    ----------
    Hong and Chae (2020), Active learning with multiple kernels, algorithm 2.

    Examples
    --------
    >>> Disagreement(window=2)
    Disagreement(window=2)
    """

    of_opinions = True

    def __init__(
        self,
        threshold: float = 0.0005,
        window: int = 1,
        weights: str = "used",
        compared: str = "used",
    ):
        self.threshold = threshold
        self.window = window
        self.weights = weights
        self.compared = compared

    def rule(self) -> Spread:
        """The parameters as compiled code reads them."""
        names = (one_of(self, name, ("used", "all")) for name in ("weights", "compared"))
        whole = (name == "all" for name in names)
        return Spread(self._number("threshold", 0), whole_number(self, "window"), *whole)


class MarginSampling(_Policy):
    """A label is asked for with probability b / (b + margin): where classes are close.

    The margin is how far the first class is ahead of the second in the experts' mean opinion, by
    their weights; for opinions see `Disagreement`. Of two classes it is |f(x)| of the mean.

    Parameters
    ----------
    smoothing : positive float, b of the paper: the margin at which every second label is asked

    References
    ----------
    Cesa-Bianchi, Gentile, Zaniboni (2006), Worst-case analysis of selective sampling for linear
    classification, figure 1.

    Examples
    --------
    >>> MarginSampling(0.1)
    MarginSampling(smoothing=0.1)
    """

    of_classes = True

    def __init__(self, smoothing: float = 0.2):
        self.smoothing = smoothing

    def rule(self) -> Close:
        """The parameters as compiled code reads them."""
        smoothing = self._number("smoothing", 0)
        if smoothing == 0:
            raise InputError("MarginSampling: smoothing must be positive, got 0")
        return Close(smoothing)


class VarianceSampling(_Policy):
    """A label is asked for where the experts' ridge regressions have seen little like it.

    That is where the mean of z(x)' P z(x) over the experts in use, by their weights, is above the
    threshold; P is the inverse of `Ridge`. In units of the noise's variance it is the variance of
    the prediction.

    Parameters
    ----------
    threshold : non-negative float
    window : int, 1 or more
        A label is asked for after so many in a row were not.

    Examples
    --------
    >>> VarianceSampling(0.05)
    VarianceSampling(threshold=0.05)
    """

    of_variances = True

    def __init__(self, threshold: float = 0.1, window: int = 100):
        self.threshold = threshold
        self.window = window

    def rule(self) -> Uncertain:
        """The parameters as compiled code reads them."""
        return Uncertain(self._number("threshold", 0), whole_number(self, "window"))


class LabelBudget(_Policy):
    """At most a share of the labels, where recent errors and the experts' disagreement are large.

    What the label is worth after t rounds is v = t/2 (e / sum e + d / sum d), about 1 on average,
    with sums over the rounds so far and this one. e is a running mean of the squared error on the
    labels seen, for classes of the mistakes. d is the variance of the experts' opinions under
    their weights; for opinions see `Disagreement`. With n labels asked, the label is asked for
    where v > exp(gain (n - rate t)), or where `window` in a row were not, but never so that more
    than rate t are asked in t rounds, but for the first.

    Parameters
    ----------
    rate : float in (0, 1], the share of labels
    window : int, 1 or more
        At least one label in window + 1 is asked for, if the rate lets it.
    memory : float in [0, 1), weight of the past in the running mean of errors at each label
    gain : non-negative float, how hard the threshold steers towards the rate

    Notes
    -----
    Ours, not from a paper. On streams that drift a label is worth most just after large errors,
    on others where the experts disagree; each part counts relative to its own mean, so that the
    unit of the labels does not matter. Without a window the rule can stop asking for ever. On
    shuffled data it asks no better than at random.

    Examples
    --------
    >>> LabelBudget(0.1, window=50)
    LabelBudget(rate=0.1, window=50)
    """

    of_opinions = True

    def __init__(self, rate: float = 0.5, window: int = 3, memory: float = 0.5, gain: float = 0.02):
        self.rate = rate
        self.window = window
        self.memory = memory
        self.gain = gain

    def rule(self) -> Within:
        """The parameters as compiled code reads them."""
        rate, memory = self._number("rate", 0, 1), self._number("memory", 0, 1)
        if rate == 0 or memory == 1:
            raise InputError("LabelBudget: expected a positive rate and a memory below 1")
        return Within(rate, whole_number(self, "window"), memory, self._number("gain", 0))


# -- all, and at random ----------------------------------------------------------------------------


class Every(NamedTuple):
    """Nothing to know."""


@wants.of(Every)
def _wants_every(policy, progress, opinions):
    return True, 0.0


class AtRandom(NamedTuple):
    """rate : share of the labels."""

    rate: float


@wants.of(AtRandom)
def _wants_at_random(policy, progress, opinions):
    counters = progress.counters
    draw = uniform(counters[SEED], counters[ROUND], DRAW_LABEL * PURPOSE)
    return counters[ASKED] == 0 or draw < policy.rate, 0.0


# -- what experts say of an example ----------------------------------------------------------------


@njit(cache=True, nogil=True)
def mean_of(weights, total, opinions):
    """(c,) the mean opinion, (e, c), under weights of a positive total."""
    mean = np.zeros(opinions.shape[1])
    for e in range(opinions.shape[0]):
        for c in range(opinions.shape[1]):
            mean[c] += weights[e] * opinions[e, c] / total
    return mean


@njit(cache=True, nogil=True)
def spread(weights, total, compared, opinions):
    """(variance of f under the weights, greatest distance of an f_j from their mean).

    Their sum is max over j of sum_i p_i |f_i - f_j|^2, p the weights normalised, the criterion of
    Hong and Chae (2020): one look at each expert is enough, twice.

    weights : (e,) with their total, 0 where an expert does not count
    compared : (e,) bool, the experts j; opinions : (e, c)
    """
    if total == 0.0:
        return 0.0, 0.0
    mean = mean_of(weights, total, opinions)
    variance, farthest = 0.0, 0.0
    for e in range(opinions.shape[0]):
        distance = 0.0
        for c in range(opinions.shape[1]):
            distance += (opinions[e, c] - mean[c]) ** 2
        variance += weights[e] * distance
        if compared[e]:
            farthest = max(farthest, distance)
    return variance / total, farthest


@njit(cache=True, nogil=True)
def views(opinions):
    """(e, c) what the experts' votes say: signs, or scores no larger than the loss can tell."""
    current, sizes, loss = opinions.scores, opinions.sizes, opinions.loss
    n_experts, classes = current.shape
    out = np.zeros((n_experts, classes))
    for e in range(n_experts):
        if loss == MISTAKES and classes > 1:
            out[e, winner(current[e], sizes[e], np.int64(-1))] = 1.0
            continue
        for c in range(classes):
            out[e, c] = current[e, c]
            if loss == MISTAKES:
                out[e, c] = 1.0 if current[e, c] >= 0.0 else -1.0
            elif loss == HINGE:
                out[e, c] = min(max(current[e, c], -1.0), 1.0)
    return out


@njit(cache=True, nogil=True)
def lead(weights, total, opinions):
    """How far the first class is ahead of the second in the mean opinion, (e, c)."""
    if total == 0.0:
        return 0.0
    mean = mean_of(weights, total, opinions)
    if mean.shape[0] == 1:
        return abs(mean[0])
    first, second = -math.inf, -math.inf
    for c in range(mean.shape[0]):
        if mean[c] > first:
            first, second = mean[c], first
        else:
            second = max(second, mean[c])
    return first - second


@njit(cache=True, nogil=True)
def weights_in_use(progress, opinions):
    """((e,) weights of the votes, 0 where an expert is not in use; their sum)."""
    weights, total = np.zeros(opinions.votes.shape[0]), 0.0
    for e in range(weights.shape[0]):
        if progress.used[e]:
            weights[e] = opinions.votes[e]
        total += weights[e]
    return weights, total


class Spread(NamedTuple):
    """threshold, window : as for `Disagreement`; weigh_all, compare_all : not only those in use."""

    threshold: float
    window: int
    weigh_all: bool
    compare_all: bool


@wants.of(Spread)
def _wants_where_spread(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    compared = progress.used.copy()
    if policy.weigh_all:
        total = 0.0
        for e in range(weights.shape[0]):
            weights[e] = math.exp(progress.log_weights[e])
            total += weights[e]
    if policy.compare_all:
        for e in range(weights.shape[0]):
            compared[e] = True
    variance, farthest = spread(weights, total, compared, views(opinions))
    counters = progress.counters
    due = counters[ASKED] == 0 or counters[SKIPPED] >= policy.window
    return due or variance + farthest > policy.threshold, variance


class Close(NamedTuple):
    """smoothing : the margin at which every second label is asked."""

    smoothing: float


@wants.of(Close)
def _wants_where_close(policy, progress, opinions):
    """Cesa-Bianchi, Gentile, Zaniboni (2006), figure 1."""
    weights, total = weights_in_use(progress, opinions)
    counters = progress.counters
    draw = uniform(counters[SEED], counters[ROUND], DRAW_LABEL * PURPOSE)
    chance = policy.smoothing / (policy.smoothing + lead(weights, total, views(opinions)))
    return counters[ASKED] == 0 or draw < chance, 0.0


class Uncertain(NamedTuple):
    """threshold, window : as for `VarianceSampling`."""

    threshold: float
    window: int


@wants.of(Uncertain)
def _wants_where_uncertain(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    variance = math.inf
    if total > 0.0:
        variance = 0.0
        for e in range(weights.shape[0]):
            variance += weights[e] * opinions.variances[e] / total
    counters = progress.counters
    due = counters[ASKED] == 0 or counters[SKIPPED] >= policy.window
    return due or variance > policy.threshold, variance


# -- within a budget of labels ---------------------------------------------------------------------


class Within(NamedTuple):
    """rate, window, memory, gain : as for `LabelBudget`.

    `progress.asking` holds a running mean of squared errors; sums so far of it, and of the variance
    """

    rate: float
    window: int
    memory: float
    gain: float


@njit(cache=True, nogil=True)
def worth(state, variance, rounds):
    """What `LabelBudget` takes a label to be worth, about 1 on average: recent error, disagreement.

    state : (3,) running mean of squared errors; sums so far of it, and of the variance
    """
    errors, variances = state[1] + state[0], state[2] + variance
    value = state[0] / errors if errors > 0.0 else 0.0
    value += variance / variances if variances > 0.0 else 0.0
    return 0.5 * rounds * value


@wants.of(Within)
def _wants_within(policy, progress, opinions):
    weights, total = weights_in_use(progress, opinions)
    variance, _ = spread(weights, total, progress.used, views(opinions))
    counters = progress.counters
    rounds, asked = counters[ROUND], counters[ASKED]
    if asked == 0:
        return True, variance
    if asked + 1 > policy.rate * (rounds + 1):
        return False, variance
    threshold = math.exp(min(policy.gain * (asked - policy.rate * rounds), 700.0))
    due = counters[SKIPPED] >= policy.window
    return due or worth(progress.asking, variance, rounds) > threshold, variance


@note_round.of(Within)
def _note_round(policy, progress, variance):
    progress.asking[1] += progress.asking[0]
    progress.asking[2] += variance


@note_error.of(Within)
def _note_error(policy, progress, error):
    if progress.counters[ASKED] > 0:
        asking = progress.asking
        asking[0] = policy.memory * asking[0] + (1.0 - policy.memory) * error
