"""Losses over time, in windows whose number is bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.evaluation.tasks import added

MOST = 16  # windows
FIRST = 16  # rows of each, at first
_LENGTHS = [FIRST << doubled for doubled in range(60)]


@dataclass
class Windows:
    """Losses summed in windows of one length; the last one may not be full.

    Where 16 are full and one more row comes, each two become one. So from the 129th row on there
    are 9 to 16 of them, and they do not depend on where chunks end.

    Attributes
    ----------
    rows : whose losses were added
    length : rows of a window
    sums : of the losses in each window

    Examples
    --------
    >>> windows = Windows()
    >>> windows.add(np.arange(300) < 30)
    >>> windows.length, windows.sums
    (32, [30, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> [round(mean, 2) for mean in windows.means()[:2]]
    [0.94, 0.0]
    """

    rows: int = 0
    length: int = FIRST
    sums: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        whole = type(self.rows) is type(self.length) is int and self.rows >= 0
        if not whole or not isinstance(self.sums, list):
            raise TypeError("windows: expected rows, length and a list of sums")
        fits = self.rows <= MOST * self.length and self.length in _LENGTHS
        if not fits or (self.length > FIRST and 2 * self.rows <= MOST * self.length):
            raise TypeError(f"windows: not of {self.length} rows where there are {self.rows}")
        if len(self.sums) != -(-self.rows // self.length):
            raise TypeError(f"windows: {len(self.sums)} sums of {self.rows} rows")
        if not all(type(s) in (int, float) and 0 <= s < math.inf for s in self.sums):
            raise TypeError(f"windows: expected sums of losses, got {self.sums!r:.60}")

    def add(self, losses: NDArray[Any]) -> None:
        """Take in the losses of more rows, (n,): mistakes, or squared errors."""
        while len(losses):
            if self.rows == MOST * self.length:
                pairs = zip(self.sums[::2], self.sums[1::2], strict=True)
                self.sums, self.length = (
                    [first + second for first, second in pairs],
                    2 * self.length,
                )
            filled = self.rows % self.length
            if filled == 0:
                self.sums.append(0)
            here, losses = np.split(losses, [self.length - filled])
            self.sums[-1] = added(self.sums[-1], here)
            self.rows += len(here)

    def ends(self) -> list[int]:
        """The number of the last row of each window, from 1."""
        return [min(self.rows, (i + 1) * self.length) for i in range(len(self.sums))]

    def means(self) -> list[float]:
        """The mean loss of each window."""
        lengths = np.diff(self.ends(), prepend=0).tolist()
        return [total / rows for total, rows in zip(self.sums, lengths, strict=True)]
