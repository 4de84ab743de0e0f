"""Which rows a stream gave: told from others by a few letters, before gaps are filled, and when."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from kernbrook.streams import Stream
from kernbrook.streams.stream import Features, Labels

Moments = NDArray[np.int64]


class RowDigest:
    """SHA-256 of rows and their labels, by value: dense or sparse, in chunks of any length."""

    def __init__(self) -> None:
        self._parts = [sha256() for _ in range(4)]

    def update(self, X: Features, y: Labels) -> None:
        X = csr_array(X)
        if not (X.has_canonical_format and X.data.all()):
            X = X.copy()
            X.sum_duplicates()  # and sorts them
            X.eliminate_zeros()
        values = X.data.astype("<f8")
        values[np.isnan(values)] = np.nan  # whatever bits it had
        if y.dtype.kind in "UO":
            labels = b"".join(map(_in_a_line, y.tolist()))
        else:
            labels = y.astype("<f8").tobytes()
        lengths, indices = np.diff(X.indptr).astype("<i8"), X.indices.astype("<i8")
        for part, data in zip(
            self._parts, (values.tobytes(), indices.tobytes(), lengths.tobytes(), labels),
            strict=True,
        ):  # fmt: skip
            part.update(data)

    def hexdigest(self) -> str:
        return sha256(b"".join(part.digest() for part in self._parts)).hexdigest()


def _in_a_line(label: str | None) -> bytes:
    """A label as no other is written, with a line end; UTF-8 has neither byte 254 nor 255."""
    if label is None:
        return b"\xfe\n"
    return label.encode(errors="surrogatepass").replace(b"\n", b"\xff") + b"\n"


def digest_of(X: Features, y: Labels) -> str:
    """The digest of all rows and labels."""
    digest = RowDigest()
    digest.update(X, y)
    return digest.hexdigest()


class Content:
    """What data are, whatever a model has learned before: rows with gaps that are not filled.

    marks : numbers of rows after which to remember the digest, in `marked`; after one, in `first`
    """

    def __init__(self, marks: Collection[int] = ()):
        self.marked = dict[int, str]()
        self._marks = sorted({1, *marks} - {0}, reverse=True)  # those that are left
        self._rows, self._digest = 0, RowDigest()

    @property
    def first(self) -> str:
        return self.marked.get(1, "")

    def update(self, X: Features, y: Labels) -> None:
        start = 0
        while start < len(y):
            mark = self._marks[-1] if self._marks else math.inf
            end = int(min(start + mark - self._rows, len(y)))
            self._digest.update(X[start:end], y[start:end])
            self._rows, start = self._rows + end - start, end
            if self._rows == mark:
                self.marked[self._marks.pop()] = self._digest.hexdigest()

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


class WatchedRows:
    """The rows of one pass over a stream, before gaps are filled.

    A stream may read ahead of who learns: `reach` says how far that is. Then `content` is of the
    rows that were reached, and `dates` of those that were reached last, (n,) or None.
    """

    dates: Moments | None = None

    def __init__(self, stream: Stream, content: Content):
        self.content = content
        self._waiting: deque[tuple[Features, Labels, Moments | None]] = deque()
        self._tells = stream.tells
        encoder = stream.encoder if stream.tells else None
        self._words = 0 if encoder is None else encoder.words_width
        stream.watch = self._take if stream.tells else None

    def advance(self, X: Features, y: Labels) -> None:
        """Take in the rows that the stream gave next; (n, d) with gaps filled, and (n,)."""
        if not self._tells:
            self._take(X, y, None)
        left, taken = len(y), []
        while left:
            piece = self._waiting.popleft()
            if len(piece[1]) > left:
                head, rest = (
                    tuple(None if part is None else part[rows] for part in piece)
                    for rows in (slice(left), slice(left, None))
                )
                self._waiting.appendleft(rest)  # type: ignore[arg-type]
                piece = head  # type: ignore[assignment]
            left -= len(piece[1])
            taken.append(piece)
        rows, labels, self.dates = taken[0]
        if len(taken) > 1:  # of tables alone
            rows = np.concatenate([values for values, _, _ in taken])
            labels = np.concatenate([labels for _, labels, _ in taken])
            dates = [dates for _, _, dates in taken if dates is not None]
            self.dates = np.concatenate(dates) if dates else None
        if self._tells and not isinstance(X, np.ndarray):  # hashed words stand behind the values
            rows = csr_array(hstack([csr_array(rows), X[:, X.shape[1] - self._words :]]))
        self.content.update(rows, labels)

    def _take(self, values: Features, y: Labels, moments: Moments | None) -> None:
        self._waiting.append((values, y, moments))


def dates_of(stream: Stream) -> Moments | None:
    """(n,) of all rows, microseconds since 1970, by the first column of dates; None without one.

    The stream is read once.
    """
    encoder, found = stream.encoder, list[Moments]()
    if encoder is None or not stream.tells or not encoder.declarations().dates:
        return None
    stream.watch = lambda _, __, moments: None if moments is None else found.append(moments)
    for _ in stream.chunks():
        pass
    stream.watch = None
    return np.concatenate(found) if found else None
