"""How the parameters of a machine become a model, before the first row."""

from __future__ import annotations

import warnings
from typing import Any

import scipy.sparse as sp
from sklearn.utils import check_random_state

from kernbrook.checks import ask_for, check, shown
from kernbrook.engine.model import Model
from kernbrook.engine.same import same
from kernbrook.engine.scalers import LARGEST_FILLED, Scalers
from kernbrook.engine.stores.base import Setting
from kernbrook.engine.stores.linear import Linear
from kernbrook.engine.widening import widen
from kernbrook.errors import KernbrookWarning
from kernbrook.estimators.pool_making import Pool, make_model, pool_of, shared_kernels
from kernbrook.kernels.dictionaries import check_vectors, of_vectors
from kernbrook.telling import calls_inside

_MANY = 2**22  # numbers that each label goes over: some milliseconds


class SetsUp:
    """The choices of a machine, and the model that they ask for."""

    kernels: Any
    learner: Any
    combiner: Any
    selection: Any
    labels: Any
    random_state: Any
    scaling: str | None
    judge_stored: bool
    dtype: str
    delay: float | None
    n_features_in_: int
    kernels_: Any
    _model: Model
    _of_numbers: bool
    _scores: Any  # of each expert, a number
    _new_calibration: Any

    def _start(self, X: Any) -> None:
        """Set everything up for the first example."""
        check(self)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        model = self._new_model(X.shape[1], sp.issparse(X), seed)
        _ = model.states  # they take the memory that they need, or are refused
        _warn_of_many(model)
        self._model, self.kernels_, self.n_features_in_ = model, model.kernels, X.shape[1]

    def _scaling(self, width: int) -> str | None:
        """The method of scaling rows of so many features, or None."""
        kernels = shared_kernels(self.kernels, self._of_numbers)
        auto = isinstance(self.scaling, str) and self.scaling == "auto"
        if self.scaling is None or (auto and not of_vectors(kernels)):
            return None
        check_vectors("scaling", kernels)
        if not auto:
            return self.scaling
        return "moments" if width <= LARGEST_FILLED else "maximum"

    def _widen(self, width: int) -> None:
        """Take rows of so many features from now on; those so far had 0 where they had none.

        What cannot go on begins anew: all, where the default has other parts for so many.
        """
        old = self._model
        model = self._new_model(width, old.sparse, old.setting.seed)
        if same(self._pool(old.setting.width), self._pool(width)):
            widen(model, old)
        self.__dict__.update(_model=model, n_features_in_=width)

    def _pool(self, width: int) -> Pool:
        """The learners and their kernels, on rows of so many features; all of it is checked."""
        check(self)
        return pool_of(
            self.kernels, self.learner, self.combiner, self._of_numbers, width,
            self._scaling(width), self._scores,
        )  # fmt: skip

    def _new_model(self, width: int, sparse: bool, seed: int) -> Model:
        """The model that the parameters ask for, before its first example."""
        pool = self._pool(width)
        scaled = sum(method is not None for method in pool.scalings)
        ask_for(2 * scaled * width, f"scaling of {width:,} features")  # there is a copy
        scaler = Scalers(pool.scalings, width)
        setting = self._setting(width, sparse and not scaler.fills, seed)
        model = make_model(pool, self.combiner, self.selection, self.labels, setting, self.delay)
        model.scaler, model.calibration = scaler, self._new_calibration(model.inputs)
        return model

    def _setting(self, width: int, sparse: bool, seed: int) -> Setting:
        return Setting(
            width, sparse, self._scores, seed, self._of_numbers, self.judge_stored, self.dtype
        )


def _warn_of_many(model: Model) -> None:
    """Warn where learners keep matrices for so many features that each label takes long."""
    for store in model.stores:
        if not isinstance(store, Linear):
            continue
        kept = store.rows * store.dims
        most = int(kept.argmax())
        if kept[most] > _MANY:
            learner, kernel = store.learners[most], store.kernels[most]
            warnings.warn(
                KernbrookWarning(
                    f"learner: {shown(learner)} keeps {kept[most]:,} numbers for "
                    f"{store.dims[most]:,} features of {kernel}, and each label goes over all of "
                    "them, which takes long; kernels such as kb.Gaussian(sigma=1), or the learner "
                    "on features=kb.RandomFeatures(100), take fewer"
                ),
                stacklevel=calls_inside(),
            )
