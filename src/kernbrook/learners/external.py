"""Experts from outside: models of scikit-learn and River, and forecasts that come with the rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from sklearn.utils import get_tags

from kernbrook.checks import Other, Whole, or_none, parameters, shown
from kernbrook.engine.stores.base import Setting, Store
from kernbrook.engine.stores.outside import Forecasts, OutsideModel
from kernbrook.errors import InputError
from kernbrook.learners.without_kernel import WithoutKernel


@parameters
class External(WithoutKernel):
    """One expert that is a model of another library: weighed, drawn and asked about like others.

    It sees the rows as they are given, and the numbers of the classes as labels; of a regressor
    that centres its labels, the differences. Until it has learned for the first time its score is
    0. The model given is copied and never changed.

    Parameters
    ----------
    model : of scikit-learn, with `partial_fit`, or `fit` where a window is given; or of River, with
        `learn_one`. Its score is `predict_proba`, or what it predicts.
    every : int, 1 or more
        It learns after so many labels: from each of them once, or afresh from the window.
    window : int or None
        A number: it is fitted afresh on the last so many examples with labels.

    Examples
    --------
    A tree that is grown afresh on the last 200 examples, every 50, beside kernels:

    >>> import numpy as np
    >>> import kernbrook as kb
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> tree = kb.External(DecisionTreeClassifier(random_state=0), every=50, window=200)
    >>> model = kb.OnlineMKClassifier("omkc16", [kb.BPAS(50), tree], random_state=0)
    >>> model.fit(X, X[:, 0] > 0).expert_weights_.shape
    (17,)
    """

    n_experts = 1
    model: Annotated[Any, Other("a model of scikit-learn or River")]
    every: Annotated[int, Whole()] = 1
    window: Annotated[int | None, or_none(Whole())] = None

    @property
    def of_numbers(self) -> bool:
        return kind_of(self.model) != "classifier"

    @property
    def of_classes(self) -> bool:
        return kind_of(self.model) != "regressor"

    def make_store(self, first: int, setting: Setting) -> Store:
        if isinstance(self.model, type):
            raise InputError(
                f"External: model must be an object, got the class {shown(self.model)}"
            )
        learns = hasattr(self.model, "learn_one") or hasattr(self.model, "partial_fit")
        if self.window is None and not learns:
            raise InputError(
                "External: model must have partial_fit or learn_one, or a window to be fitted on: "
                f"External(model, every=500, window=2000); got {shown(self.model)}"
            )
        if self.window is not None and not hasattr(self.model, "fit"):
            raise InputError(f"External: a window needs a model with fit, got {shown(self.model)}")
        return OutsideModel(self.model, self.every, self.window, first, setting)


def kind_of(model: Any) -> str | None:
    """What a model says that it is: "classifier" or "regressor"; else None."""
    river = sys.modules.get("river.base")
    if river is not None and isinstance(model, river.Regressor):  # a pipeline has all methods
        return "regressor"
    if hasattr(model, "predict_proba_one"):  # as all classifiers of River have
        return "classifier"
    try:
        kind: str | None = get_tags(model).estimator_type
    except (AttributeError, TypeError):  # none of scikit-learn
        return None
    return kind


@parameters
class Advice(WithoutKernel):
    """Experts that are columns of X: forecasts that somebody else has made.

    Of numbers each is a prediction of the label, of two classes a score, positive for the second.
    The columns are taken as they are given, unscaled, and are features like the others as well.

    Parameters
    ----------
    columns : list of ints from 0

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 1] + 0.1
    >>> model = kb.OnlineMKRegressor(learner=kb.Advice([0, 1]), center=False).fit(X, y)
    >>> model.expert_weights_.round(2)
    array([0., 1.])
    """

    columns: Annotated[Sequence[int], Other("a list of integers from 0")]

    @property
    def n_experts(self) -> int:
        return len(self._numbers())

    def _numbers(self) -> Any:
        columns = np.asarray(self.columns)
        if columns.ndim != 1 or not len(columns) or columns.dtype.kind not in "iu":
            raise InputError(
                f"Advice: columns must be a list of numbers, got {shown(self.columns)}"
            )
        if columns.min() < 0:
            raise InputError(f"Advice: columns must be from 0, got {columns.min()}")
        return columns

    def make_store(self, first: int, setting: Setting) -> Store:
        return Forecasts(self._numbers(), first, setting)
