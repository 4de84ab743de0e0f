"""What the classifier and the regressor of River share.

A machine of ours has rows of a fixed width. So names of features get columns in the order in which
they first come, and the machine is widened when there are more: by half, so that this is seldom.
All kernels are functions of inner products and distances, and all scaling is column by column: a
column that was 0 in all rows so far changes nothing of what was learned on kernels. The result is
that of a machine that has had all columns from the beginning. On features, random ones of all
inputs get frequencies for the new ones; the others (of few inputs; monomials) are drawn anew, and
experts on them begin anew.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from river import base

from kernbrook import recipes
from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats
from kernbrook.river.feature_columns import Columns
from kernbrook.snapshots import Snapshots

Features = Mapping[Hashable, Any]


class Machine(Snapshots, base.Estimator):
    """See `MKClassifier` and `MKRegressor`."""

    kind: ClassVar[type[Any]]
    estimator: Any

    @classmethod
    def of(cls, model: Any, seed: int | None = None) -> Self:
        """A machine with the parameters of an estimator, or with those of a recipe by its name.

        Parameters
        ----------
        model : `OnlineMKClassifier` or `OnlineMKRegressor`; what it has learned is left behind
        seed : its `random_state`, if that is a number, by default
        """
        model = recipes.make(model) if isinstance(model, str) else model
        if type(model) is not cls.kind:
            raise InputError(f"model: expected {cls.kind.__name__}, got {shown(model)}")
        given = model.get_params(deep=False)
        random_state = given.pop("random_state")
        seed = random_state if seed is None and isinstance(random_state, int) else seed
        names = set(inspect.signature(cls).parameters)
        fresh = cls.kind().get_params(deep=False)
        for name in given.keys() - names:
            if given[name] != fresh[name]:
                raise InputError(f"model: {cls.__name__} has no parameter {name}")
        return cls(**{name: given[name] for name in names - {"seed"}}, seed=seed)

    def _begin(self) -> None:
        """Make the estimator, of the parameters by their names."""
        names = inspect.signature(type(self)).parameters.keys() - {"seed"}
        own = {name: getattr(self, name) for name in names}
        self.estimator = self.kind(**own, random_state=self.seed)
        self._columns = Columns()

    @property
    def _begun(self) -> bool:
        return "n_features_in_" in vars(self.estimator)

    @property
    def _width(self) -> int:
        return self.estimator.n_features_in_ if self._begun else max(1, len(self._columns))

    def _met(self, x: Features) -> Floats:
        """A row to learn from."""
        return self._fitting(self._columns.row(x, self._width, adds=True))

    def _all_met(self, X: Any) -> Floats:
        """The rows of a frame to learn from."""
        return self._fitting(self._columns.rows(X, self._width, adds=True))

    def _fitting(self, rows: Floats) -> Floats:
        """Rows, for which the machine is widened."""
        width, own = rows.shape[-1], self._width
        if width <= own:
            return rows
        self.estimator._widen(max(width, own * 3 // 2))
        more = self._width - width
        return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, more)])

    def _seen(self, x: Features) -> Floats:
        return self._columns.row(x, self._width, adds=False)

    def _all_seen(self, X: Any) -> Floats:
        return self._columns.rows(X, self._width, adds=False)


def weights_of(w: float, n: int) -> Floats | None:
    """The weight of one row, or of each of n, as our estimators take it."""
    return None if w == 1.0 else np.full(n, w)
