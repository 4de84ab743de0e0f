"""What a machine has learned, as attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernbrook.engine.model import Model
from kernbrook.engine.pool import Expert, experts_of
from kernbrook.engine.session import RowSession
from kernbrook.gram.arrays import Floats
from kernbrook.turns import in_turn


class LearnedAttributes:
    """The attributes that both kinds of machines share."""

    n_features_in_: int
    kernels_: Any
    _model: Model
    _scores: Any  # of each expert, a number
    _pool: Any

    @property
    @in_turn
    def n_support_stored_(self) -> int:
        return int(self._model.counts.sum())

    @property
    @in_turn
    def n_support_active_(self) -> int:
        return self._model.n_active

    @property
    @in_turn
    def support_vectors_(self) -> Floats:
        return self._model.expansion()[0].copy()

    @property
    @in_turn
    def dual_coef_(self) -> Floats:
        coefficients = self._model.expansion()[1].copy()
        return coefficients[:, :, 0] if self._scores == 1 else coefficients

    @property
    def labels_asked_(self) -> int:
        return self._model.asked

    @property
    def n_rounds_(self) -> int:
        return self._model.rounds

    @property
    @in_turn
    def expert_weights_(self) -> Floats:
        return self._model.weights()

    @property
    def experts_(self) -> tuple[Expert, ...]:
        pool = self._pool(self.n_features_in_)
        return experts_of(pool.kernels, pool.members)

    @property
    @in_turn
    def kernel_weights_(self) -> Floats:
        of, weights = self._model.kernel_of, self._model.weights()
        return np.asarray(np.bincount(of[of >= 0], weights[of >= 0], len(self.kernels_)))

    @property
    @in_turn
    def memory_bytes_(self) -> int:
        return self._model.nbytes

    @property
    def why_not_quick_(self) -> str | None:
        return RowSession.slow(self._model)
