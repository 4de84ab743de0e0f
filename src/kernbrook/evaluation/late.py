"""Labels that come late, in an evaluation: what is said of each row before its label is there."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import check_count
from kernbrook.engine.horizons.laps import FAR
from kernbrook.estimators.late import LateLabels, rows_waiting
from kernbrook.estimators.tasks import Outputs, joined, predict_outputs
from kernbrook.gram.arrays import Ints

HORIZONS = (1, 16, FAR)  # the last place of each class of horizons but the farthest


class Lateness(NamedTuple):
    """How late labels come.

    delay : rows that come between a row and its label
    every : labels come after each so many rows, all that there are by then
    """

    delay: int = 0
    every: int = 1

    def check(self) -> None:
        check_count("delay", self.delay, 0)
        check_count("every", self.every, 1)

    @property
    def at_once(self) -> bool:
        """Whether each label comes before the next row."""
        return self == Lateness()

    def known(self, rows: int) -> int:
        """Of so many rows that were predicted, those whose labels are there."""
        return max(rows - rows % self.every - self.delay, 0)


class LatePass:
    """An estimator that is told labels late, of `told` rows by now.

    Before the first label it is asked what it says of a first row, as `LateLabels` does.

    learn : what it learns with, called with rows and labels
    """

    def __init__(self, estimator: Any, learn: Any, classes: Any, lateness: Lateness):
        self.estimator, self._learn, self.lateness = estimator, learn, lateness
        self._late = LateLabels(estimator, classes=classes)
        self._waiting: deque[tuple[Any, NDArray[Any]]] = deque()
        self._seen = self.n_learned = 0

    def __call__(self, X: Any, y: NDArray[Any]) -> tuple[Outputs, Ints]:
        """Predict rows, and learn from the labels that come meanwhile.

        Returns what was said of them, and (n,) how far each was from the last label known, from 1.
        """
        parts, places, at = [], [], 0
        while at < len(y):
            end = min(at + self.lateness.every - self._seen % self.lateness.every, len(y))
            part, ahead = X[at:end], self._seen - self.n_learned
            with rows_waiting(ahead):
                if self.n_learned > 0:  # else it takes longer: a new model predicts, too
                    parts.append(predict_outputs(self.estimator, part))
                else:
                    parts.append(self._late.predict_scored(part, ahead))
            places.append(ahead + np.arange(1, end - at + 1))
            self._waiting.append((part, y[at:end]))
            self._seen += end - at
            self._learn_known()
            at = end
        return joined(parts), np.concatenate(places)

    def _learn_known(self) -> None:
        known = self.lateness.known(self._seen)
        while self.n_learned < known:
            X, y = self._waiting.popleft()
            n = min(known - self.n_learned, len(y))
            self._learn(X[:n], y[:n])
            self.n_learned += n
            if n < len(y):
                self._waiting.appendleft((X[n:], y[n:]))
