"""Data in parts, each of which one worker reads by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, InputError, KernbrookError
from kernbrook.estimators.labels import as_labels
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.evaluation.recipes_wanted import CHUNK
from kernbrook.gram.arrays import canonical, sound
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.formats.parquet_records import ParquetRecords, parquet_file
from kernbrook.streams.opening import open_folder
from kernbrook.streams.stream import Piece
from kernbrook.streams.tables.levels import LevelCounts

# A function that gives pieces, and its arguments; those that Dask has yet to make as its Delayed.
# Its last argument, a list or None, is for the counts of levels.
Part = tuple[Any, ...]


class Parts(NamedTuple):
    """Data in parts.

    parts : in the order of the rows
    like : of a table, what reads a part of it as the first one was read
    name : of the data
    first : some rows at their beginning
    levels : of a table, to count how often each declared level comes; so far none has
    """

    parts: Sequence[Part]
    like: TableModel | None
    name: str
    first: Piece
    levels: Sequence[LevelCounts] = ()


def begun(
    parts: Sequence[Part], like: TableModel | None, name: str, levels: Sequence[LevelCounts] = ()
) -> Parts:
    """The parts with their first rows, which are read; InputError where there is none."""
    for piece in chain.from_iterable(pieces(computed(part)) for part in parts):
        return Parts(parts, like, name, piece, levels)
    raise InputError("data: there is no row")


def pieces(part: Part, met: list[Sequence[LevelCounts]] | None = None) -> Iterator[Piece]:
    """The rows of a part, (n, d) and (n,).

    met : out, one more: of a table, how often each declared level came
    """
    function, *arguments = part
    yield from function(*arguments, met)


def parts_of(data: Any, most: int, label: str | None = None, encoder: Any = None) -> Parts:
    """Data in parts: row groups of Parquet files, partitions of Dask's, or `most` parts of arrays.

    data, label, encoder : as `fit` has them
    """
    if getattr(encoder, "lags", None) is not None:
        raise InputError("lags: rows go in their own order, which the workers of a cluster do not")
    if isinstance(data, (str, PathLike)):
        return _of_files(data, label, encoder)
    if hasattr(data, "to_delayed") and hasattr(data, "columns"):
        return _of_frames(data.to_delayed(), label, encoder)
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
    X, y = (X if hasattr(X, "tocsr") else np.asarray(sound(X))), as_labels(y)
    if len(X.shape) != 2 or X.shape[0] != len(y):
        raise InputError(f"data: X of shape {X.shape} does not go with {len(y)} labels")
    X, bounds = canonical(X), np.linspace(0, len(y), min(most, max(len(y), 1)) + 1).astype(int)
    own = [slice(*ends) for ends in pairwise(bounds)]
    return begun([(from_arrays, X[where], y[where]) for where in own], None, "arrays")


def from_arrays(X: Any, y: NDArray[Any], met: Any = None) -> Iterator[Piece]:
    """Pieces of two arrays."""
    for start in range(0, len(y), CHUNK):
        yield X[start : start + CHUNK], np.asarray(y)[start : start + CHUNK]


def from_table(
    like: TableModel, table: Any, met: list[Sequence[LevelCounts]] | None = None
) -> Iterator[Piece]:
    """Pieces of a table, encoded as the first part was."""
    if len(table):
        stream = open_like(like, table)
        if met is not None:
            met.append(stream.level_counts)
        yield from stream.chunks(CHUNK)


def from_row_group(
    like: TableModel, path: Path, number: int, met: list[Sequence[LevelCounts]] | None = None
) -> Iterator[Piece]:
    """The same of a row group of a Parquet file."""
    try:
        yield from from_table(like, ParquetRecords(DataFile(path)).group(number), met)
    except KernbrookError as error:
        raise DataFileError(path, f"row group {number}: {error}") from error


def _of_files(folder: str | PathLike[str], label: str | None, encoder: Any) -> Parts:
    records = open_folder(folder)
    if records is None:
        raise InputError(f"data: expected a folder of Parquet files, got {folder}")
    found = []
    for path in records.paths:
        with parquet_file(path) as file:
            found += [(path, number) for number in range(file.num_row_groups)]
    for path, number in found:
        if len(table := ParquetRecords(DataFile(path)).group(number)):
            stream = open_stream(table, label=label, encoder=encoder)
            like = TableModel._of_stream(None, stream)
            parts = [(from_row_group, like, *one) for one in found]
            return begun(parts, like, records.name, _none_yet(stream))
    raise InputError("data: there is no row")


def _of_frames(frames: Sequence[Any], label: str | None, encoder: Any) -> Parts:
    """Of frames that Dask has yet to make."""
    for frame in frames:
        if len(table := computed(frame)):
            stream = open_stream(table, label=label, encoder=encoder)
            like = TableModel._of_stream(None, stream)
            parts = [(from_table, like, one) for one in frames]
            return begun(parts, like, "frame", _none_yet(stream))
    raise InputError("data: there is no row")


def _none_yet(stream: Stream) -> list[LevelCounts]:
    """The counts of levels of a stream, before any row."""
    return [
        replace(one, counts=np.zeros_like(one.counts), others=[]) for one in stream.level_counts
    ]


def _of_dask(X: Any, y: Any) -> Parts:
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise InputError("data: expected X in blocks of whole rows; rechunk it: X.rechunk((n, -1))")
    if X.numblocks[0] != y.numblocks[0]:
        raise InputError(
            f"data: X is in {X.numblocks[0]} blocks of rows, y in {y.numblocks[0]}; give both the "
            "same"
        )
    blocks = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    return begun([(from_arrays, *own) for own in blocks], None, "arrays")


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
