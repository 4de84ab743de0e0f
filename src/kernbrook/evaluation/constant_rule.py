"""A rule that says the same of every row: what a model has to beat."""

from __future__ import annotations

from collections import Counter
from typing import Any


class ConstantRule:
    """The constant that fits the labels so far best: the most frequent one, or the mean.

    It is known only afterwards, which is to its favour.

    Parameters
    ----------
    numbers : whether labels are numbers

    Examples
    --------
    >>> rule = ConstantRule(numbers=False)
    >>> for label in ("no", "yes", "yes"):
    ...     rule.meet(label)
    >>> rule.says, rule.loss
    ('yes', 1)
    """

    def __init__(self, numbers: bool):
        self.numbers = numbers
        self._labels: Counter[Any] = Counter()
        self._rows, self._mean, self._squares = 0, 0.0, 0.0

    def meet(self, label: Any) -> None:
        """Take in one more label."""
        self._rows += 1
        if not self.numbers:
            self._labels[label] += 1
            return
        away = label - self._mean
        self._mean += away / self._rows
        self._squares += away * (label - self._mean)

    @property
    def says(self) -> Any:
        """The label; None before the first. Of equally frequent ones the first that came."""
        if self._rows == 0:
            return None
        return self._mean if self.numbers else self._labels.most_common(1)[0][0]

    @property
    def loss(self) -> float:
        """On all labels: mistakes, or squared errors."""
        if self.numbers:
            return self._squares
        return self._rows - max(self._labels.values(), default=0)
