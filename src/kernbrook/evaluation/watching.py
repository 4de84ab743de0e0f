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
    """

    def __init__(self, stream: Stream, content: Content):
        self.content = content
        self._waiting: deque[tuple[Features, Labels, Moments | None]] = deque()
        self._tells = stream.tells
        stream.watch = self._take if stream.tells else None

    def reach(self, X: Features, y: Labels) -> None:
        """Take in the rows that the stream gave next; (n, d) with gaps filled, and (n,)."""
        if not self._tells:
            self._take(X, y, None)
        left = len(y)
        while left:
            values, labels, moments = self._waiting.popleft()
            if len(labels) > left:
                rest = slice(left, None)
                later = None if moments is None else moments[rest]
                self._waiting.appendleft((values[rest], labels[rest], later))
                values, labels = values[:left], labels[:left]
            self.content.update(values, labels)
            left -= len(labels)

    def _take(self, values: Features, y: Labels, moments: Moments | None) -> None:
        self._waiting.append((values, y, moments))
