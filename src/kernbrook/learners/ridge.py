"""Recursive ridge regression with the forecaster of Vovk, Azoury and Warmuth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import feature_learning as codes
from kernbrook.checks import number
from kernbrook.errors import InputError


class Ridge(BaseEstimator):
    """The exact minimiser of the squared loss so far, brought up to date with every example.

    In the space of features z, A = regularization I + sum z z' and b = sum y z. The prediction is
    b' (A + z z')^-1 z, with the example's own z in the matrix, which draws it towards 0 where
    little like it was seen. P = A^-1 is kept, so an example costs O(d^2) for d features.

    Parameters
    ----------
    regularization : positive float
    forgetting : float in (0, 1]
        Below 1, A and b are multiplied by it before each example: the last 1 / (1 - forgetting)
        examples count, for streams that drift. Nothing is forgotten while P is a million times
        what it began with in some direction, as it comes to be where nothing new comes.
    features : "auto", or a map such as `RandomFeatures()`; see `GradientDescent`

    Notes
    -----
    Classes are regressed on as 1 and -1. z' P z is the variance of the prediction, in units of
    the noise's: what `VarianceSampling` looks at.

    References
    ----------
    Vovk (2001), Competitive on-line statistics; Azoury and Warmuth (2001), Relative loss bounds
    for on-line density estimation with the exponential family of distributions.

    Examples
    --------
    >>> Ridge(regularization=0.01)
    Ridge(regularization=0.01)
    """

    choice = "learner"
    code = codes.RIDGE
    store = "features"
    of_numbers = True
    of_classes = True
    only_classes = False
    has_variance = True

    def __init__(
        self, regularization: float = 0.1, forgetting: float = 1.0, features: Any = "auto"
    ):
        self.regularization = regularization
        self.forgetting = forgetting
        self.features = features

    def extra_rows(self, dim: int, scores: int) -> int:
        """Rows of `dim` numbers that it keeps besides its coefficients: P."""
        return dim

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        values = number(self, "regularization", 0), number(self, "forgetting", 0, 1)
        if 0 in values:
            name = ("regularization", "forgetting")[values.index(0)]
            raise InputError(f"Ridge: {name} must be positive, got 0")
        if self.features is None:
            raise InputError("Ridge: it learns in a space of features; got features=None")
        return np.array(values)
