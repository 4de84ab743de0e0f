"""Label policies: whose label is asked for, decided before it is known."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import asking
from kernbrook.checks import number, one_of, whole_number
from kernbrook.errors import InputError


class _Policy(BaseEstimator):
    """A label policy. The first label is always asked for.

    of_classes : it looks at the margin between classes
    of_opinions : it looks at how experts differ
    of_variances : it looks at the variances of `Ridge`
    """

    choice = "labels"
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

    code = asking.ALL

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.zeros(asking.N_POLICY_PARAMETERS)


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

    code = asking.RANDOM

    def __init__(self, rate: float = 0.5):
        self.rate = rate

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([self._number("rate", 0, 1), 0.0, 0.0, 0.0])


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

    code = asking.DISAGREEMENT
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

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        names = (one_of(self, name, ("used", "all")) for name in ("weights", "compared"))
        whole = [float(name == "all") for name in names]
        return np.array([self._number("threshold", 0), whole_number(self, "window"), *whole])


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

    code = asking.MARGIN
    of_classes = True

    def __init__(self, smoothing: float = 0.2):
        self.smoothing = smoothing

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        if self._number("smoothing", 0) == 0:
            raise InputError("MarginSampling: smoothing must be positive, got 0")
        return np.array([float(self.smoothing), 0.0, 0.0, 0.0])


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

    code = asking.VARIANCE
    of_variances = True

    def __init__(self, threshold: float = 0.1, window: int = 100):
        self.threshold = threshold
        self.window = window

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([self._number("threshold", 0), whole_number(self, "window"), 0.0, 0.0])


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

    code = asking.LABEL_BUDGET
    of_opinions = True

    def __init__(self, rate: float = 0.5, window: int = 3, memory: float = 0.5, gain: float = 0.02):
        self.rate = rate
        self.window = window
        self.memory = memory
        self.gain = gain

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        rate, memory = self._number("rate", 0, 1), self._number("memory", 0, 1)
        if rate == 0 or memory == 1:
            raise InputError("LabelBudget: expected a positive rate and a memory below 1")
        return np.array([rate, whole_number(self, "window"), memory, self._number("gain", 0)])
