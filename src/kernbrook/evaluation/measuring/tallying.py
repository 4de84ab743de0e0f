"""What predictions of data come to whose labels may be there, and may be none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.estimators.tasks import Learned
from kernbrook.evaluation.measuring.measures import RULES, Measures
from kernbrook.streams.stream import has_label, is_label
from kernbrook.streams.tables.levels import LevelCounts

if TYPE_CHECKING:
    from kernbrook.evaluation.history.judging import Judge


@dataclass
class Tally:
    """Predictions of a model that learns no more against the labels of some data.

    Attributes
    ----------
    measures : the model's, beside those of the majority or the mean of what it has learned, and of
        these rows, and of the last label before them
    positive : the label that is +1, all others being -1; None to take labels as they are
    level_counts : of each column of declared levels, how often each came
    """

    measures: Measures
    positive: str | None = None
    level_counts: Sequence[LevelCounts] = ()
    _placeholders: bool = field(default=True, repr=False)
    _first: Any = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        model: Any,
        positive: str | None,
        coverage: float | None,
        judge: Judge | None = None,
    ) -> Tally:
        """An empty one for a model that has learned, and its intervals, if it gives some.

        judge : of what it has learned; None where nobody judged that
        """
        classes = getattr(model, "classes_", None)
        names = RULES["regression" if classes is None else "classification"]
        last = None if judge is None else judge.measures.last_known()
        return cls(Measures(classes, coverage, model, names[:1], last), positive)

    def add(self, y: NDArray[Any], said: Learned) -> None:
        """Count more rows: labels (n,), some of which may be missing, or none, and what was said.

        Labels that are missing are None, or NaN.
        """
        if not len(y):
            return
        there = has_label(y)
        if self.positive is not None:
            try:
                here = is_label(y, self.positive)
            except ValueError:
                here = np.zeros(len(y), dtype=bool)
            self._placeholders = self._placeholders and not here.any()
            y = np.where(there, np.where(here, 1.0, -1.0), np.nan)
        elif there.any():
            self._first = y[there][0] if self._first is None else self._first
            self._placeholders = self._placeholders and bool((y[there] == self._first).all())
        self.measures.add(y, said)

    @property
    def judged(self) -> Measures | None:
        """The measures; None where the data only have something in the place of labels.

        Data without a single positive label are taken to have placeholders, and so are numbers, and
        labels that the model does not know, that are all the same.
        """
        known = self.measures.model.rows > 0 and self.measures.classes is not None
        if self._placeholders and not (known and self.positive is None):
            return None
        return self.measures
