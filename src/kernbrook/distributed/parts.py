"""Data in parts, each of which one worker reads by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.estimators.labelled import as_labels
from kernbrook.evaluation.sources import Source, open_like, open_source
from kernbrook.evaluation.tasks import CHUNK
from kernbrook.gram.points import canonical
from kernbrook.streams.base import Piece
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.opening import open_folder

# A function that gives pieces, and its arguments; those that Dask has yet to make as its Delayed.
Part = tuple[Any, ...]


class Parts(NamedTuple):
    """Data in parts.

    parts : in the order of the rows
    source : of a table, what has to be known to read a part of it as the first one was read
    name : of the data
    """

    parts: Sequence[Part]
    source: Source | None
    name: str


def pieces(part: Part) -> Iterator[Piece]:
    """The rows of a part, (n, d) and (n,)."""
    function, *arguments = part
    yield from function(*arguments)


def parts_of(data: Any, most: int, label: str | None = None, encoder: Any = None) -> Parts:
    """Data in parts: row groups of Parquet files, partitions of Dask's, or `most` parts of arrays.

    data, label, encoder : as `fit` has them
    """
    if isinstance(data, (str, PathLike)):
        return _of_files(data, label, encoder)
    if hasattr(data, "to_delayed") and hasattr(data, "columns"):
        return _of_tables(data.to_delayed(), _as_is, label, encoder, "frame")
    if label is not None or encoder is not None:
        raise InputError("label, encoder: they are for tables, got arrays")
    if not (isinstance(data, tuple) and len(data) == 2):
        raise InputError(
            "data: expected a folder of Parquet files, a Dask frame, or a pair (X, y) of arrays, "
            f"got {data!r:.80}"
        )
    X, y = data
    if hasattr(X, "to_delayed") != hasattr(y, "to_delayed"):
        raise InputError("data: expected arrays of Dask for both X and y, or for neither")
    if hasattr(X, "to_delayed"):
        return _of_dask(X, y)
    X, y = (X if hasattr(X, "tocsr") else np.asarray(X)), as_labels(y)
    if len(X.shape) != 2 or X.shape[0] != len(y):
        raise InputError(f"data: X of shape {X.shape} does not go with {len(y)} labels")
    X, bounds = canonical(X), np.linspace(0, len(y), min(most, max(len(y), 1)) + 1).astype(int)
    own = [slice(*ends) for ends in pairwise(bounds)]
    return Parts([(from_arrays, X[where], y[where]) for where in own], None, "arrays")


def from_arrays(X: Any, y: NDArray[Any]) -> Iterator[Piece]:
    """Pieces of two arrays."""
    for start in range(0, len(y), CHUNK):
        yield X[start : start + CHUNK], np.asarray(y)[start : start + CHUNK]


def from_table(source: Source, read: Any, *arguments: Any) -> Iterator[Piece]:
    """Pieces of a table, encoded as the first part was; read : gives it."""
    table = read(*arguments)
    if len(table):
        yield from open_like(source, table).chunks(CHUNK)


def row_group(path: Path, number: int) -> Any:
    """One row group of a Parquet file."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        return file.read_row_group(number)


def _as_is(frame: Any) -> Any:
    return frame


def _of_files(folder: str | PathLike[str], label: str | None, encoder: Any) -> Parts:
    from pyarrow.parquet import ParquetFile

    records = open_folder(folder)
    if records is None:
        raise InputError(f"data: expected a folder of Parquet files, got {folder}")
    found = []
    for path in records.paths:
        DataFile(path, None)
        with ParquetFile(path) as file:
            found += [(path, number) for number in range(file.num_row_groups)]
    return _of_tables(found, row_group, label, encoder, records.name)


def _of_tables(
    found: Sequence[Any], read: Any, label: str | None, encoder: Any, name: str
) -> Parts:
    """Tables that `read` gives of what was found: arguments, or one Delayed of Dask."""
    calls = [one if isinstance(one, tuple) else (one,) for one in found]
    for call in calls:
        first = read(*computed(call))
        if len(first):
            source = open_source(first, label=label, encoder=encoder)[1]
            return Parts([(from_table, source, read, *one) for one in calls], source, name)
    raise InputError("data: there is no row")


def _of_dask(X: Any, y: Any) -> Parts:
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise InputError("data: expected X in blocks of whole rows; rechunk it: X.rechunk((n, -1))")
    if X.numblocks[0] != y.numblocks[0]:
        raise InputError(
            f"data: X is in {X.numblocks[0]} blocks of rows, y in {y.numblocks[0]}; give both the "
            "same"
        )
    blocks = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    return Parts([(from_arrays, *own) for own in blocks], None, "arrays")


def computed(parts: Any) -> Any:
    """The same with what Dask has yet to make, made here."""
    if not has_delayed(parts):
        return parts
    import dask

    return dask.compute(parts)[0]


def has_delayed(parts: Any) -> bool:
    """Whether there is something in it that Dask has yet to make."""
    if isinstance(parts, (tuple, list)):
        return any(map(has_delayed, parts))
    return hasattr(parts, "__dask_graph__")
