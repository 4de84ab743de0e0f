"""What is seen of the rows of data while a model learns them: so many rows as it has met."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from kernbrook.evaluation.history.row_digests import Content
from kernbrook.streams import Stream
from kernbrook.streams.stream import Features, Labels

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
        encoder = stream.encoder if stream.tells else None
        self._words = 0 if encoder is None else encoder.encoded.words_width
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
            left -= len(one[1])
            taken.append(one)
        self.values, labels, self.dates = taken[0]
        if len(taken) > 1:  # of tables alone
            self.values = np.concatenate([values for values, _, _ in taken])
            labels = np.concatenate([own for _, own, _ in taken])
            dates = [dates for _, _, dates in taken if dates is not None]
            self.dates = np.concatenate(dates) if dates else None
        self.content.update(self._with_words(X), labels)

    def _with_words(self, X: Features) -> Features:
        """The values, and behind them the words of the rows (n, d), where there are some."""
        if not self._tells or isinstance(X, np.ndarray):
            return self.values
        words = X[:, X.shape[1] - self._words :]
        return csr_array(hstack([csr_array(self.values), words]))

    def _take(self, values: Features, y: Labels, moments: Moments | None) -> None:
        self._waiting.append((values, y, moments))


def dates_of(stream: Stream) -> Moments | None:
    """(n,) of all rows, microseconds since 1970, by the first column of dates; None without one.

    The stream is read once.
    """
    encoder, found = stream.encoder, list[Moments]()
    if encoder is None or not stream.tells:
        return None
    if all(part.kind != "dates" for part in encoder.encoded.parts()):
        return None
    stream.watch = lambda _, __, moments: None if moments is None else found.append(moments)
    for _ in stream.chunks():
        pass
    stream.watch = None
    return np.concatenate(found)
