"""What a stream is, and the two views that fit over any stream."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.errors import DataFileWarning, InputError
from kernbrook.streams.booleans import spelled_as
from kernbrook.telling import warn_caller

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from kernbrook.streams.records import Records
    from kernbrook.streams.tables.stream import BadRows, Match
    from kernbrook.streams.tables.values import LevelCounts

EXACT = 2.0**53  # up to it floats hold all integers
Features: TypeAlias = "NDArray[np.float64] | csr_array"
Labels: TypeAlias = NDArray[Any]
Piece: TypeAlias = "tuple[Features, Labels]"
Watch: TypeAlias = "Callable[[NDArray[np.float64], Labels, NDArray[np.int64] | None], None]"


class Stream(ABC):
    """Rows in a fixed order, read a chunk at a time, as often as wanted.

    A new kind of stream sets `name`, `n_features` and `n_rows`, and writes `_pieces`.

    Attributes
    ----------
    name : what to call it in a table
    n_features : d, the width of every chunk
    n_rows : n, or None where it is unknown without reading
    feature_names : (d,) of the columns, or None where they have no names
    label_name : of the column with the label, likewise
    labelled : whether the labels are any; else all are 0
    n_unlabelled : rows without a label; those of text are then None, and those of numbers NaN
    label_type : of the labels that are there; None where it is that of the chunks
    seem_counts : whether the labels are whole numbers that counts would be
    encoder : of a table, what has encoded its rows so far; None for other data
    aside : the names of columns that are neither features nor the label
    level_counts : of a table, how often each declared level came, by column
    matched : of a table for a model, the columns that only one of the two has
    bad_rows : of a table, the rows that are left out because they cannot be read
    in_turn : whether a row has values of those before it, so that they go in their order alone
    tells : whether `watch` is called with all rows that are read, in their order
    watch : what is told of rows as they are before gaps are filled: (n, d) with NaN for gaps, (n,)
        labels, and (n,) microseconds since 1970 by the first column of dates, or None

    Notes
    -----
    The type of a stream's chunks never changes within it: X is always dense or always sparse, and
    y has one dtype. Chunks of arrays are views of these arrays: copy one before writing to it.

    Examples
    --------
    >>> import kernbrook as kb
    >>> stream = kb.open_stream("checkerboard:3000")
    >>> stream.name, stream.n_features, stream.n_rows
    ('checkerboard:3000', 2, 3000)
    >>> [X.shape for X, y in stream.chunks(2000)]
    [(2000, 2), (1000, 2)]
    """

    name: str
    n_features: int
    n_rows: int | None
    feature_names: list[str] | None = None
    label_name: str | None = None
    labelled: bool = True
    n_unlabelled: int = 0
    label_type: np.dtype[Any] | None = None
    seem_counts: bool = False
    encoder: Any = None
    aside: Sequence[str] = ()
    level_counts: Sequence[LevelCounts] = ()
    matched: Match | None = None
    bad_rows: BadRows | None = None
    in_turn: bool = False
    tells: bool = False
    watch: Watch | None = None

    def classes(self) -> Labels | None:
        """The labels, each once and sorted; None where that takes a reading."""
        return None

    def written(self, row: int) -> dict[str, Any] | None:
        """What a row, numbered from 0, has in each column as it is written; None of other data.

        That is of a table whose columns are encoded.
        """
        return None

    def records(self) -> Records | None:
        """The rows as the table has them, with all its columns; None where it is no table."""
        return None

    @abstractmethod
    def _pieces(self) -> Iterator[Piece]:
        """All rows from the first on, as non-empty (X, y) of any length."""

    def chunks(self, rows: int = 1024) -> Iterator[Piece]:
        """Every row, in chunks of a given length, of which the last may be shorter, as (X, y).

        X (rows, d) is float64 and C-contiguous, or a CSR array. Each call begins anew.
        """
        return _cut(self._pieces(), positive_integer(rows, "rows"))

    def read(self) -> Piece:
        """(X, y) of all rows, as `chunks` has them."""
        return _join(list(self._pieces()))

    def __repr__(self) -> str:
        rows = "?" if self.n_rows is None else self.n_rows
        return f"<{type(self).__name__} {self.name!r}: {rows} rows, {self.n_features} features>"


_SAID = {*Stream.__annotations__} - {"encoder", "aside", "watch"}


class View(Stream):
    """Another stream, seen in another way: what is said of it stays."""

    def __init__(self, stream: Stream):
        self._stream = stream
        for name in _SAID:
            setattr(self, name, getattr(stream, name))

    @property
    def encoder(self) -> Any:
        return self._stream.encoder

    @property
    def watch(self) -> Watch | None:
        return self._stream.watch

    @watch.setter
    def watch(self, watch: Watch | None) -> None:
        self._stream.watch = watch

    def written(self, row: int) -> dict[str, Any] | None:
        return self._stream.written(row)

    def records(self) -> Records | None:
        return self._stream.records()


class PositiveView(View):
    """A stream of two classes: +1 where the label is a given one, else -1.

    Text is read as a number where the labels are numbers. That no row has the label is known only
    at the end: where it is needed, the last chunk is then followed by an `InputError` listing the
    labels found. Rows without a label have none.
    """

    def __init__(self, stream: Stream, positive: object, needed: bool = True):
        super().__init__(stream)
        self._positive, self._needed = positive, needed
        self.label_type = np.dtype(np.int64)

    def classes(self) -> Labels | None:
        known = self._stream.classes()
        if known is None:
            return None
        here = self.is_positive(known)
        return np.unique(np.where(here, 1, -1)) if here.any() else None

    def _pieces(self) -> Iterator[Piece]:
        found = False
        others: dict[object, None] = {}
        for X, y in self._stream._pieces():
            here = self.is_positive(y)
            found = found or bool(here.any())
            if not found and len(others) < 20:
                others.update(dict.fromkeys(np.unique(y[has_label(y)]).tolist()))
            yield X, self.signs(y)
        if not found and self._needed:
            listed = ", ".join(map(shown, islice(others, 10)))
            more = ", ..." if len(others) > 10 else ""
            raise InputError(
                f"positive={shown(self._positive)} is not a label of {self.name}: found "
                f"{listed}{more}"
            )

    def signs(self, y: Labels) -> Labels:
        """(n,) +1 and -1; NaN where a row has no label."""
        signs = np.where(self.is_positive(y), 1, -1)
        return np.where(has_label(y), signs, np.nan) if self.n_unlabelled else signs

    def is_positive(self, y: Labels) -> NDArray[np.bool_]:
        """(n,) where a label is the positive one."""
        try:
            return is_label(y, self._positive)
        except (TypeError, ValueError):
            raise InputError(
                f"positive={shown(self._positive)}: the labels of {self.name} are numbers"
            ) from None


class LabelledRows(View):
    """The rows of a stream that have a label; a warning says how many have none."""

    def __init__(self, stream: Stream):
        super().__init__(stream)
        message = f"{stream.n_unlabelled:,} rows have no label, and are left out"
        warn_caller(DataFileWarning(stream.name, message))
        self.n_rows = None if stream.n_rows is None else stream.n_rows - stream.n_unlabelled
        self.n_unlabelled = 0

    @classmethod
    def of(cls, stream: Stream) -> Stream:
        return cls(stream) if stream.n_unlabelled else stream

    def classes(self) -> Labels | None:
        return self._stream.classes()

    def _pieces(self) -> Iterator[Piece]:
        for X, y in self._stream._pieces():
            labelled = has_label(y)
            if labelled.any():
                yield X[labelled], y[labelled].astype(self.label_type)


class FirstRows(View):
    """The first rows of a stream; InputError where it has fewer."""

    def __init__(self, stream: Stream, rows: int):
        if stream.n_rows is not None and rows > stream.n_rows:
            raise InputError(f"{stream.name}:{rows}: {stream.name} has {stream.n_rows} rows")
        super().__init__(stream)
        self.name, self.n_rows = f"{stream.name}:{rows}", rows
        self.level_counts, self.bad_rows = (), None  # of all rows
        self._rows = rows

    def _pieces(self) -> Iterator[Piece]:
        left = self._rows
        for X, y in self._stream._pieces():
            take = min(left, len(y))
            yield X[:take], y[:take]
            left -= take
            if left == 0:
                return
        raise InputError(f"{self.name}: {self._stream.name} has {self._rows - left} rows")


def is_label(y: Labels, label: Any) -> NDArray[np.bool_]:
    """(n,) where a label is the given one, as a number where the labels are numbers.

    TypeError or ValueError where they are, and it is none.
    """
    if y.dtype.kind in "iuf":
        return np.asarray(y == float(label))
    return np.asarray(spelled_as(y, [str(label)]) == str(label), dtype=bool)


def has_label(y: Labels) -> NDArray[np.bool_]:
    """(n,) where a row of a stream has a label: one that is missing is None, or NaN."""
    if y.dtype.kind == "f":
        return ~np.isnan(y)
    return np.asarray(y != None) if y.dtype.kind == "O" else np.ones(len(y), dtype=bool)  # noqa: E711


def all_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all are integers that a float holds."""
    return bool(((numbers == np.rint(numbers)) & (np.abs(numbers) <= EXACT)).all())


def positive_integer(value: object, name: str) -> int:
    """`value` as an int of at least 1; InputError where it is something else."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{name} must be a positive integer, got {value!r}")
    return number


def _cut(pieces: Iterable[Piece], rows: int) -> Iterator[Piece]:
    held: list[Piece] = []
    count = 0
    for X, y in pieces:
        start = 0
        while start < len(y):
            stop = min(start + rows - count, len(y))
            held.append((X[start:stop], y[start:stop]))
            count += stop - start
            start = stop
            if count == rows:
                yield _join(held)
                held, count = [], 0
    if held:
        yield _join(held)


def _join(pieces: list[Piece]) -> Piece:
    """Pieces below one another; the list is emptied, so that dense rows are seldom held twice."""
    if len(pieces) == 1:
        return pieces[0]
    y = np.concatenate([labels for _, labels in pieces])
    if not isinstance(pieces[0][0], np.ndarray):
        from scipy.sparse import vstack

        return vstack([X for X, _ in pieces], format="csr"), y
    joined = np.empty((len(y), pieces[0][0].shape[1]))
    stop = len(y)
    while pieces:
        X, _ = pieces.pop()
        joined[stop - len(X) : stop] = X
        stop -= len(X)
    return joined, y


def check_stream(stream: Any) -> None:
    """InputError where something else than a stream is given, such as the path of a file."""
    if not isinstance(stream, Stream):
        raise InputError(
            f"stream: expected a stream, got {shown(stream)}; kb.open_stream makes one of it"
        )
