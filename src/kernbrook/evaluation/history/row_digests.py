"""Rows told from other rows by a few letters: the same data are recognised."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

import numpy as np
from scipy.sparse import csr_array

from kernbrook.streams.stream import Features, Labels


class RowDigest:
    """SHA-256 of rows and their labels, by value: dense or sparse, in chunks of any length.

    Examples
    --------
    >>> X, y = np.eye(3), np.array([1, 2, 3])
    >>> whole, parts = RowDigest(), RowDigest()
    >>> whole.update(X, y)
    >>> parts.update(X[:1], y[:1])
    >>> parts.update(csr_array(X[1:]), y[1:])
    >>> whole.hexdigest() == parts.hexdigest()
    True
    """

    def __init__(self) -> None:
        self._parts = [sha256() for _ in range(4)]

    def update(self, X: Features, y: Labels) -> None:
        """Take in more rows, (n, d) and (n,)."""
        X = csr_array(X)
        if not X.data.all():
            X = X.copy()
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
        """The digest of the rows so far, 64 letters."""
        return sha256(b"".join(part.digest() for part in self._parts)).hexdigest()


def _in_a_line(label: str | None) -> bytes:
    """A label as no other is written, with a line end; UTF-8 has neither byte 254 nor 255."""
    if label is None:
        return b"\xfe\n"
    return label.encode(errors="surrogatepass").replace(b"\n", b"\xff") + b"\n"


class Content:
    """What data are, whatever a model has learned before: rows with gaps that are not filled.

    Parameters
    ----------
    marks : numbers of rows after which to remember the digest

    Attributes
    ----------
    first : digest of the first row; "" before it
    marked : the digest after each of these numbers of rows
    """

    def __init__(self, marks: Collection[int] = ()):
        self.first, self.marked = "", dict[int, str]()
        self._marks, self._rows, self._digest = {1, *marks}, 0, RowDigest()

    def update(self, X: Features, y: Labels) -> None:
        """Take in more rows, (n, d) with NaN for gaps, and their labels."""
        ends = (mark - self._rows for mark in sorted(self._marks) if mark > self._rows)
        start = 0
        for end in (*(end for end in ends if end <= len(y)), len(y)):
            if end > start:
                self._digest.update(X[start:end], y[start:end])
            if self._rows + end in self._marks:
                self.marked[self._rows + end] = self._digest.hexdigest()
            start = end
        self._rows += len(y)
        self.first = self.marked.get(1, "")

    def hexdigest(self) -> str:
        """The digest of the rows so far, 64 letters."""
        return self._digest.hexdigest()
