"""What a machine says of rows, by how far each is from the last label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from kernbrook.engine.blocks import Views
from kernbrook.engine.deciding import Leant, lean, rows_of, views_of, would_ask
from kernbrook.engine.horizons.committees import waiting
from kernbrook.engine.model import Model
from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.engine.session import RowSession
from kernbrook.estimators.input_checks import row_of
from kernbrook.estimators.labelled import is_empty
from kernbrook.estimators.validating import in_words
from kernbrook.gram.arrays import Flags, Floats, Labels, canonical, sound
from kernbrook.gram.rows import Rows, check_range
from kernbrook.turns import in_turn


class Reads:
    """Decisions that change nothing."""

    delay: float | None
    _model: Model
    _prediction: Any  # of these the machine says what they do
    _allowed: Any
    _features: Any
    _is_plain: Any

    @in_turn
    def predict_one(self, x: Any) -> Any:
        """The prediction for one row, given as (d,) numbers; see `learn_one`."""
        return self._prediction(self._lean_one(x)[0][0])

    def _lean_one(self, x: Any) -> Leant:
        """As `_lean` for one row, given as (d,) numbers."""
        row, quick = row_of(x), RowSession.of(vars(self).get("_model"))
        said: Leant | None = None
        if quick is not None and self._next_alone(1):
            said = quick.decide(row)
        elif quick is not None and row.ndim == 1:
            said = quick.lean(row[None], self._places(1))
        if said is None:
            check_is_fitted(self)
            return self._leant(self._features(np.atleast_2d(row)))
        return said

    @in_turn
    def should_ask(self, X: Any) -> Flags:
        """(n,) bool: does the model want the label of each row of X, (n, d), if it came next?

        Nothing changes, and no draw is used up.
        """
        X = self._given(X)
        return would_ask(self._model, *self._seen(X))

    def _decide(self, X: Any) -> Floats:
        return self._lean(X).decisions

    def _lean(self, X: Any) -> Leant:
        """What the experts say of rows, by how far each is from the last label."""
        X = self._given(X)
        quick = RowSession.for_few(self._model, X)
        places = None if self._next_alone(X.shape[0]) else self._places(X.shape[0])
        few = None if quick is None else quick.lean(X, places)
        return self._leant(X) if few is None else few

    def _leant(self, X: Any) -> Leant:
        return lean(self._model, *self._seen(X), self._places(X.shape[0]))

    def _places(self, n: int) -> Labels | None:
        """(n,) how far each of n rows is from the last label, from 1; None: all are the next."""
        if self._model.horizons is None:
            return None
        if self.delay is not None:
            return np.full(n, self._place(n))
        return self._place(0) + np.arange(1, n + 1)

    def _place(self, n: int) -> int:
        """How far the last of n rows is from the last label."""
        return waiting.get() + n if self.delay is None else int(min(self.delay, MOST_ROUNDS)) + 1

    def _by_horizon(self, leant: Leant) -> Iterator[tuple[Flags, Any]]:
        """Which rows are far from the last label, by horizon, and the calibration of these."""
        if leant.kinds is not None:
            calibrations = self._model.calibrations()
            for kind in np.unique(leant.kinds[leant.kinds > 0]):
                yield leant.kinds == kind, calibrations[kind]

    def _next_alone(self, n: int) -> bool:
        """Whether the committee for the next row decides on all of n rows."""
        return self._model.next_alone(self._place(n))

    def _seen(self, X: Any) -> tuple[Views, Any]:
        """Rows as they would be seen if they came next, and as they are given."""
        rows = self._rows(X)
        check_range(rows.norms, self._allowed(X))
        return views_of(self._model, self._model.scaler.transform(X), rows), X

    def _given(self, X: Any) -> Any:
        """Rows to predict, checked, of a model that has learned."""
        check_is_fitted(self)
        if self._is_plain(X):
            return X
        if is_empty(X):
            return np.empty((0, self._model.setting.width))
        with in_words(X):
            X = validate_data(
                self, sound(X), reset=False, accept_sparse="csr", dtype=np.float64, order="C"
            )
        return canonical(X)

    def _rows(self, X: Any) -> Rows:
        return rows_of(self._model, X)
