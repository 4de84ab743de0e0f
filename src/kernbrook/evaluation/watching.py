"""What is seen of the rows of data while a model learns them: so many rows as it has met."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from kernbrook.evaluation.row_digests import Content
from kernbrook.streams import Stream
from kernbrook.streams.base import Features, Labels

Moments = NDArray[np.int64]


class Watched:
    """The rows of one pass over a stream, before gaps are filled.

    A stream may read ahead of who learns: `reach` says how far that is.

    Parameters
    ----------
    stream : about to be read

    Attributes
    ----------
    content : of the rows that were reached
    values, dates : of the rows that were reached last, (n, d) and (n,) or None
    """

    values: Features
    dates: Moments | None = None

    def __init__(self, stream: Stream, content: Content):
        self.content = content
        self._waiting: deque[tuple[Features, Labels, Moments | None]] = deque()
        self._tells = stream.tells
        stream.watch = self._take if stream.tells else None

    def reach(self, X: Features, y: Labels) -> None:
        """Take in the rows that the stream gave next; (n, d) with gaps filled, and (n,)."""
        if not self._tells:
            self._take(X, y, None)
        left, taken = len(y), []
        while left:
            one = self._waiting.popleft()
            if len(one[1]) > left:
                own, rest = (
                    tuple(None if part is None else part[rows] for part in one)
                    for rows in (slice(left), slice(left, None))
                )
                self._waiting.appendleft(rest)  # type: ignore[arg-type]
                one = own  # type: ignore[assignment]
            self.content.update(*one[:2])
            left -= len(one[1])
            taken.append(one)
        self.values, _, self.dates = taken[0]
        if len(taken) > 1:  # of tables alone
            self.values = np.concatenate([values for values, _, _ in taken])
            dates = [dates for _, _, dates in taken if dates is not None]
            self.dates = np.concatenate(dates) if dates else None

    def _take(self, values: Features, y: Labels, moments: Moments | None) -> None:
        self._waiting.append((values, y, moments))
