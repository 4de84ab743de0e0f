"""Data of any size as a model takes them: their latest rows, and one row of them."""

from __future__ import annotations

from collections import deque
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.estimators.table_model import TableModel
from kernbrook.evaluation.sessions.sources import open_like
from kernbrook.explaining.asked import Asked, asked_of, unwrapped
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.opening import is_frame
from kernbrook.streams.stream import PositiveView
from kernbrook.streams.tables.encoded_columns import stacked

LATEST = 10_000


class Latest(NamedTuple):
    """What was read.

    X, y : the latest rows and their labels, which are None where the data have none
    n_rows : of the data
    row : (1, d) the row that was asked for; None where there is none
    """

    X: Any
    y: NDArray[Any] | None
    n_rows: int
    row: Any = None


def opened(model: Any, data: Any, **options: Any) -> tuple[Asked, Stream]:
    """A model, and data in the form of those that it learned.

    Parameters
    ----------
    model : a fitted estimator, or the path of a model's file
    data : a stream, a path or a name, or a frame
    options : of `open_like`, for a model's file, or a `TableModel`; others do not know columns

    Raises
    ------
    DataFileError, UnknownNameError, InputError
        As `open_like` and `asked_of`, or the data have other columns.
    """
    if isinstance(model, (str, PathLike, TableModel)):
        asked = asked_of(model)
        assert asked.source is not None
        return asked, open_like(asked.source, data, **options)
    if options.get("ignore_extra"):
        kind = type(model).__name__
        wanted = "expected the path of a model's file, or a TableModel"
        raise InputError(f"ignore_extra: {wanted}, got {kind}, which knows no table's columns")
    inner, encoder = unwrapped(model)
    stream = open_stream(data, encoder=encoder)
    names = getattr(inner, "feature_names_in_", None)
    if names is not None and list(names) != stream.feature_names:
        return asked_of(model), stream
    return asked_of(model, stream.encoder, stream.feature_names), stream


def is_data(X: Any, y: Any) -> bool:
    """Whether labels are to be found in the data themselves."""
    named = isinstance(X, (Stream, str, PathLike))
    if named and y is not None:
        raise InputError("y: expected None, for the data have their own labels")
    return named or (y is None and is_frame(X))


def latest_of(asked: Asked, stream: Stream, row: int | None = None) -> Latest:
    """The last 10,000 rows of a stream, in bounded memory, and one of all rows.

    Parameters
    ----------
    row : its number from 0

    Raises
    ------
    InputError
        There are no rows, or they are none of the model's.
    """
    held: deque[tuple[Any, NDArray[Any]]] = deque()
    count, rows, found = 0, 0, None
    for X, y in stream.chunks():
        if row is not None and rows <= row < rows + len(y):
            found = _as_asked(asked, stream, X[row - rows : row - rows + 1])
        held.append((X, y))
        count, rows = count + len(y), rows + len(y)
        while count - len(held[0][1]) >= LATEST:
            count -= len(held.popleft()[1])
    if not rows:
        raise InputError(f"{stream.name}: no row of data")
    X = _as_asked(asked, stream, stacked([part for part, _ in held])[-LATEST:])
    labels = np.concatenate([labels for _, labels in held])[-LATEST:]
    if asked.source is not None and asked.source.positive is not None:
        labels = PositiveView(stream, asked.source.positive).signs(labels)
    return Latest(X, labels if stream.labelled else None, rows, found)


def _as_asked(asked: Asked, stream: Stream, X: Any) -> Any:
    """Rows of a stream in the order of the model's columns, where it goes by names."""
    names = stream.feature_names
    if asked.by_name and names is not None and names != list(asked.columns):
        import pyarrow as pa

        return asked.rows(pa.table(dict(zip(names, X.T, strict=True))))
    if X.shape[1] != len(asked.group_of):
        raise InputError(f"X: expected {len(asked.group_of)} columns, found {X.shape[1]}")
    return X
