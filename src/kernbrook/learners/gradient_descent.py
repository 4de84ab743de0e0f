"""Online gradient descent, on kernel expansions or on explicit features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernbrook._jit import feature_learning as codes
from kernbrook.checks import number, one_of, whole_number
from kernbrook.errors import InputError

LOSSES = {
    "squared": codes.SQUARED_LOSS,
    "logistic": codes.LOGISTIC_LOSS,
    "hinge": codes.HINGE_LOSS,
    "epsilon-insensitive": codes.EPSILON_LOSS,
}
SCHEDULES = {
    "root": codes.BY_ROOT,
    "constant": codes.CONSTANT,
    "normalized": codes.NORMALIZED,
    "adagrad": codes.ADAGRAD,
}


class GradientDescent(BaseEstimator):
    """f <- (1 - 2 eta lambda) f - eta l'(f(x), y) k(x, .): a step down each example's loss.

    Parameters
    ----------
    step : positive float
        eta is `step` times what the schedule says.
    schedule : "root", "constant", "normalized" or "adagrad"
        "root": 1 / sqrt(horizon), or 1 / sqrt(t) at the t-th label where no horizon is given, and
        for the squared loss then never more than makes the error on the example 0.
        "constant": 1. "normalized", on features only: 1 / k(x, x); for the squared loss a step of
        1/2 then makes the error on the example 0, and smaller ones a part of it. "adagrad", on
        features only: for each coordinate 1 / sqrt(sum of its squared gradients).
    horizon : int or None, the number T of labels to come, if it is known
    regularization : non-negative float, lambda: of lambda ||f||^2, which is added to the loss
    loss : "squared", "logistic", "hinge" or "epsilon-insensitive"
        "squared", (f - y)^2, is for numbers, and for classes as 1 and -1. "logistic" and "hinge"
        are for classes; of many, the softmax and the best wrong class. "epsilon-insensitive",
        max(0, |f - y| - epsilon), is for numbers.
    epsilon : non-negative float, in the unit of y
    features : "auto", a map such as `RandomFeatures()`, or None
        The space in which it learns, of fixed size. "auto": 50 random frequencies for kernels of
        x - z, all products of features for polynomials. None: f is a sum over all examples.
    budget : int or None, where features is None
        f is a sum over the last so many examples with labels: those before have shrunk most.
    restart : int or None, on features only
        After every so many labels all that was learned is forgotten, and t begins at 1 again.

    References
    ----------
    Zinkevich (2003). On kernel expansions: Kivinen, Smola, Williamson (2004), Online learning
    with kernels; the budget is their truncation. On random features: Shen, Chen, Giannakis (2019),
    Random feature-based online multi-kernel learning. AdaGrad: Duchi, Hazan, Singer (2011).

    Examples
    --------
    >>> GradientDescent(step=0.5, schedule="constant")
    GradientDescent(schedule='constant', step=0.5)
    """

    choice = "learner"
    code = codes.GRADIENT
    of_numbers = True

    def __init__(
        self,
        step: float = 1.0,
        schedule: str = "root",
        horizon: int | None = None,
        regularization: float = 0.0,
        loss: str = "squared",
        epsilon: float = 0.1,
        features: Any = "auto",
        budget: int | None = None,
        restart: int | None = None,
    ):
        self.step = step
        self.schedule = schedule
        self.horizon = horizon
        self.regularization = regularization
        self.loss = loss
        self.epsilon = epsilon
        self.features = features
        self.budget = budget
        self.restart = restart

    @property
    def store(self) -> str:
        """What it learns in."""
        return "expansion by gradients" if self.features is None else "features"

    @property
    def of_classes(self) -> bool:
        """Whether its loss is for classes."""
        return one_of(self, "loss", LOSSES) != "epsilon-insensitive"

    @property
    def only_classes(self) -> bool:
        """Whether its loss is for classes alone."""
        return one_of(self, "loss", LOSSES) in ("logistic", "hinge")

    def extra_rows(self, dim: int, scores: int) -> int:
        """Rows of `dim` numbers that it keeps besides its coefficients."""
        return scores if self.schedule == "adagrad" else 0

    def row(self) -> NDArray[np.float64]:
        """The parameters as the compiled pass reads them."""
        loss, schedule = LOSSES[one_of(self, "loss", LOSSES)], one_of(self, "schedule", SCHEDULES)
        step, code = number(self, "step", 0), SCHEDULES[schedule]
        if step == 0:
            raise InputError("GradientDescent: step must be positive, got 0")
        if self.horizon is not None:
            horizon = number(self, "horizon", 1)
            if schedule == "root":
                step, code = step / math.sqrt(horizon), codes.CONSTANT
        if schedule in ("adagrad", "normalized") and self.features is None:
            raise InputError(
                f"GradientDescent: schedule {schedule!r} needs features, got features=None"
            )
        for name in ("budget", "restart"):
            if getattr(self, name) is not None:
                whole_number(self, name)
        if self.budget is not None and self.features is not None:
            raise InputError("GradientDescent: a budget needs features=None: a sum of examples")
        if self.restart is not None and self.features is None:
            raise InputError("GradientDescent: a restart needs features, got features=None")
        regularization, epsilon = number(self, "regularization", 0), number(self, "epsilon", 0)
        restart = 0 if self.restart is None else self.restart
        return np.array([loss, epsilon, step, code, regularization, restart])
