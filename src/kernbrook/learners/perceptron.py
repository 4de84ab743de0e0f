"""The kernel perceptron."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import learning
from kernbrook.checks import one_of

TIES = {"margin": learning.TIE_MARGIN, "label": learning.TIE_LABEL}


class Perceptron(BaseEstimator):
    """On an error, the example becomes a support vector: f <- f + y k(x, .).

    Step: 1. Admission: the score errs. Upkeep: none, the support set grows.

    Parameters
    ----------
    tie : "margin" or "label"
        What an error is. "margin": y f(x) <= 0, so a score of 0 errs for both labels. "label":
        sign(f(x)) != y with sign(0) = +1, so a score of 0 errs for the negative label only.

    References
    ----------
    Rosenblatt (1958); Freund and Schapire (1999), Large margin classification using the
    perceptron algorithm. Hoi, Jin, Zhao, Yang (2013) print the "margin" rule (algorithm 1, line 8);
    their tables were made with "label".

    Examples
    --------
    >>> Perceptron(tie="label")
    Perceptron(tie='label')
    """

    choice = "learner"
    store = "expansion"
    code = learning.PERCEPTRON

    def __init__(self, tie: str = "margin"):
        self.tie = tie

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        return np.array([TIES[one_of(self, "tie", TIES)]])
