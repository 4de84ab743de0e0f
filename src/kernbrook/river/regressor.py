"""`OnlineMKRegressor` as a regressor of River."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from river import base

from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian
from kernbrook.learners import Ridge
from kernbrook.river.wrapper import Features, Machine, weights_of
from kernbrook.turns import changes, in_turn


class MKRegressor(Machine, base.MiniBatchRegressor):
    """Online learning with many kernels, as a regressor of River.

    `OnlineMKRegressor` on dicts; of features that come and vanish see `MKClassifier`.

    Parameters
    ----------
    kernels, learner, combiner, selection, labels, scaling, center, judge_stored :
        As of `OnlineMKRegressor`; all have its defaults, which need no settings
    seed : int or None, of all draws

    Attributes
    ----------
    estimator : the `OnlineMKRegressor`, with `kernel_weights_`, `memory_bytes_` and so on

    Notes
    -----
    The defaults have other parts from 129 and from 513 features on, and scale in another way from
    4,097 on: all is learned anew when so many have come.

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, evaluate, metrics
    >>> model = kb.river.MKRegressor(seed=0)
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> bool(error.get() < 0.3)
    True
    """

    kind = OnlineMKRegressor

    def __init__(
        self,
        kernels: Any = "auto",
        learner: Any = None,
        combiner: Any = None,
        selection: Any = None,
        labels: Any = "all",
        scaling: str | None = "auto",
        center: bool = True,
        judge_stored: bool = False,
        seed: int | None = None,
    ):
        self.kernels = kernels
        self.learner = learner
        self.combiner = combiner
        self.selection = selection
        self.labels = labels
        self.scaling = scaling
        self.center = center
        self.judge_stored = judge_stored
        self.seed = seed
        self._begin()

    @changes
    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn from a row and its number; None is a round without a label.

        Parameters
        ----------
        x : dict of numbers
        y : number
        w : weight of the row
        """
        y = y.item() if isinstance(y, np.generic) else y
        self.estimator.learn_one(self._met(x), y, sample_weight=weights_of(w, 1))

    @in_turn
    def predict_one(self, x: Features, **kwargs: Any) -> float:
        """The number expected for a row; 0 before the first label.

        Parameters
        ----------
        x : dict of numbers
        """
        return float(self.estimator.predict_one(self._seen(x))) if self._begun else 0.0

    @changes
    def learn_many(self, X: Any, y: Any, w: float = 1.0) -> None:
        """Learn from the rows of a frame of pandas and a series of numbers, one by one."""
        rows = self._all_met(X)
        self.estimator.partial_fit(rows, np.asarray(y), sample_weight=weights_of(w, len(rows)))

    @in_turn
    def predict_many(self, X: Any) -> Any:
        """A series with the number expected for each row of a frame."""
        import pandas as pd

        said = self.estimator.predict(self._all_seen(X)) if self._begun else np.zeros(len(X))
        return pd.Series(said, index=X.index)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"kernels": Gaussian(sigma=2.0), "learner": Ridge(features=RandomFeatures(10))}
