"""`KernelFeatures` as a transformer of River."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from river import base

from kernbrook.errors import InputError
from kernbrook.estimators.by_name import Columns
from kernbrook.estimators.transformer import KernelFeatures as Estimator
from kernbrook.features import Nystroem
from kernbrook.gram.arrays import Floats
from kernbrook.river.models import Features
from kernbrook.snapshots import Snapshots
from kernbrook.turns import changes, in_turn


class KernelFeatures(Snapshots, base.MiniBatchTransformer):
    """Features whose inner products are near kernels, as a transformer of River.

    `kernbrook.KernelFeatures` on dicts. What a row does not have, and None or NaN, counts as 0.
    Random features of Gaussians and Laplacians, and sketches, get new draws for a name that comes
    later: features of rows without it stay as they are. Other maps ignore such names.

    Parameters
    ----------
    kernel, features : as of `kernbrook.KernelFeatures`
    seed : int or None, of the draws

    Attributes
    ----------
    estimator : the `kernbrook.KernelFeatures`

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, evaluate, linear_model, metrics, optim, preprocessing
    >>> waves = kb.river.KernelFeatures(kb.Gaussian(sigma=4), kb.RandomFeatures(100), seed=0)
    >>> logistic = linear_model.LogisticRegression(optim.SGD(1.0))
    >>> model = preprocessing.StandardScaler() | waves | logistic
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> bool(accuracy.get() > 0.85)
    True
    """

    def __init__(self, kernel: Any = None, features: Any = None, seed: int | None = None):
        self.kernel = kernel
        self.features = features
        self.seed = seed
        self.estimator = Estimator(kernel, features, random_state=seed)
        self._columns, self._grows = Columns(), True
        self._names: list[str] = []  # of what comes out

    @changes
    def learn_one(self, x: Features) -> None:
        """Draw for the names of a row that are new."""
        self._meet(x)

    @changes
    def learn_many(self, X: Any) -> None:
        """Draw for the columns of a frame that are new."""
        self._meet(X.columns)

    def _meet(self, names: Iterable[Hashable]) -> None:
        new = [name for name in names if name not in self._columns]
        if not (new and self._grows):
            return
        needed = len(self._columns) + len(new)
        if not self._names:
            given = self.features if isinstance(self.features, (list, tuple)) else [self.features]
            if any(isinstance(one, Nystroem) and one.landmarks is None for one in given):
                raise InputError("features: on a stream Nystroem needs landmarks")
            self.estimator.fit(np.zeros((1, needed)))
            self._names = self.estimator.get_feature_names_out().tolist()
        elif needed > self._width:
            self._grows = self.estimator._widen(max(needed, self._width * 3 // 2))
        if self._grows:
            self._columns.add(new)

    @property
    def _width(self) -> int:
        return int(self.estimator.n_features_in_)

    @in_turn
    def transform_one(self, x: Features) -> dict[Hashable, float]:
        """The features of a row, by name; none before any name is known."""
        if not self._names:
            return {}
        values = self.estimator.transform(self._columns.row(x, self._width, adds=False)[None])
        return dict(zip(self._names, values[0].tolist(), strict=True))

    @in_turn
    def transform_many(self, X: Any) -> Any:
        """A frame of the features of each row of a frame."""
        import pandas as pd

        if not self._names:
            return pd.DataFrame(index=X.index)
        values: Floats = self.estimator.transform(self._columns.rows(X, self._width, adds=False))
        return pd.DataFrame(values, index=X.index, columns=self._names)
