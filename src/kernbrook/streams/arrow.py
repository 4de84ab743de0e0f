"""Records that are Arrow already, or nearly: Arrow and Parquet files, folders of these, frames."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kernbrook.checks import is_number, shown
from kernbrook.errors import DataFileWarning, InputError, KernbrookError
from kernbrook.streams import limits
from kernbrook.streams.bytes import DataFile, has_known_suffix, stem
from kernbrook.streams.loading import pa
from kernbrook.streams.records import (
    BATCH_ROWS,
    HALF,
    MANY_DIGITS,
    Batch,
    ReadOptions,
    Records,
    checked_names,
    kinds_of,
    quoted,
    table_of,
)

_FILE_MARK = b"ARROW1"  # at the beginning and the end of a file; a stream has none
_END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls a column that is no column


class ArrowFile(Records):
    """One file; problems name the row, counted from 1."""

    kind: str

    def __init__(self, file: DataFile):
        self._file, self.where, self.name = file, file.path, stem(file.path)
        with file.seekable() as opened:
            names = self._in_words(lambda: columns_of(self._schema(opened)))
        self.columns = checked_names(names, self.refusal)

    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        row, columns = 1, wanted.columns
        with self._file.seekable() as opened:
            batches = self._in_words(lambda: self._batches(opened, columns))
            while (table := self._in_words(lambda: self._next(batches, columns))) is not None:
                part = f"rows {row:,} to {row + table.num_rows - 1:,}"
                self._file.check_unpacked(table.nbytes, opened, part)
                yield self.numbered(table, row)
                row += table.num_rows

    def _next(self, batches: Iterator[Any], columns: Sequence[str]) -> Any:
        if (batch := next(batches, None)) is None:
            return None
        batch.validate(full=True)  # else what a damaged file points to is read, wherever it is
        return pa.Table.from_batches([batch]).select(list(columns))

    def _in_words(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except KernbrookError:
            raise
        except Exception as error:  # of a damaged file, pyarrow raises whatever comes
            message = " ".join(str(error).split())[:200]
            raise self.refusal(f"not read as {self.kind}: {message}") from None

    @abstractmethod
    def _schema(self, opened: BinaryIO) -> Any: ...

    @abstractmethod
    def _batches(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        """Batches with these columns at least."""


class ArrowRecords(ArrowFile):
    """An Arrow (IPC, Feather) file, or a stream in a file."""

    kind = "Arrow"

    def _schema(self, opened: BinaryIO) -> Any:
        reader, is_file = self._reader(opened)
        opened.seek(-min(len(_END), opened.seek(0, os.SEEK_END)), os.SEEK_END)
        if not is_file and opened.read() != _END:
            problem = "no mark of the end follows the last rows; has the file been cut?"
            self.note = DataFileWarning(self.where, problem)
        return reader.schema

    def _batches(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        schema = self._reader(opened)[0].schema
        reader, is_file = self._reader(opened, [*map(schema.get_field_index, columns)])
        if is_file:
            return (reader.get_batch(i) for i in range(reader.num_record_batches))
        return iter(reader)

    def _reader(self, opened: BinaryIO, fields: Sequence[int] = ()) -> tuple[Any, bool]:
        """What reads these fields, or all; whether it is a file, or else a stream."""
        opened.seek(0)
        is_file = opened.read(len(_FILE_MARK)) == _FILE_MARK
        opened.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=[*fields])
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(
            opened, options=options
        ), is_file


class FrameRecords(Records):
    """A table in memory: of pandas, polars, pyarrow and whatever else narwhals knows."""

    def __init__(self, frame: Any, name: str = "table"):
        self.name = self.where = name
        self._frame = eager(frame, self.refusal)
        self.columns = list(self._frame.columns)

    def refusal(self, problem: str) -> KernbrookError:
        return InputError(f"{self.where}: {problem}")

    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        for first in range(0, len(self._frame), BATCH_ROWS):
            piece = self._frame[first : first + BATCH_ROWS, list(wanted.columns)]
            yield self.numbered(to_arrow(piece, wanted.decimal), first, ", counted from 0")


def eager(frame: Any, refusal: Callable[[str], KernbrookError] = InputError) -> Any:
    """A frame as narwhals has it, without what was the index of pandas."""
    import narwhals as nw

    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        names = checked_names(columns_of(frame.schema), refusal)
        frame = frame.select(names)
    elif hasattr(frame, "columns"):
        checked_names(list(frame.columns), refusal)
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        hint = "; its compute() makes one" if hasattr(frame, "compute") else ""
        message = f"expected a table in memory, of pandas, polars or pyarrow, got {kind}{hint}"
        raise InputError(message) from None


def frame_of(X: Any) -> Any:
    """A frame, or records, as narwhals has frames."""
    if hasattr(X, "columns") or hasattr(X, "__dataframe__"):
        return eager(X)
    if isinstance(X, Mapping) and any(isinstance(v, (list, tuple, np.ndarray)) for v in X.values()):
        raise InputError("a dict is one row; of columns in a dict pandas.DataFrame makes a table")
    try:
        rows = [dict(X)] if isinstance(X, Mapping) else [dict(row) for row in X]
    except (TypeError, ValueError):
        raise InputError(f"expected records, such as [{{'a': 1}}], got {shown(X)}") from None
    names = checked_names(list(dict.fromkeys(name for row in rows for name in row)), InputError)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return eager(_table({name: array_of(values, name) for name, values in columns.items()}))


def to_arrow(frame: Any, decimal: str = ".") -> Any:
    """A pyarrow table of the columns that a frame has; values of several kinds become text.

    decimal : the mark before the fraction of numbers that become text
    """
    names = list(frame.columns)
    try:
        found = frame.to_arrow().select(names)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _table({name: _column(frame[name], decimal) for name in names})
    moments = [field.name for field in found.schema if pa.types.is_timestamp(field.type)]
    for name in moments if frame.implementation.is_pandas() else ():
        if frame[name].to_native().dtype == object:
            _check_zones(frame[name].to_list(), name)
    return found


def labels_as_arrow(y: Any) -> Any:
    """Labels of any kind as an Arrow array, null where one is missing."""
    try:
        labels = y.to_arrow() if hasattr(y, "to_arrow") else pa.array(y, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(f"y: expected labels, numbers or text, got {shown(y)}") from None
    return labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels


def _column(series: Any, decimal: str) -> tuple[Any, list[str]]:
    import narwhals as nw

    if hasattr(native := series.to_native(), "sparse"):
        series = nw.from_native(native.sparse.to_dense(), series_only=True)
    try:
        return series.to_arrow(), []
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return array_of(series.to_list(), series.name, decimal)


def array_of(values: Sequence[Any], column: str, decimal: str = ".") -> tuple[Any, list[str]]:
    """Values of Python as an Arrow array; and values of several kinds, which become text."""
    try:
        found = pa.array(values, from_pandas=True)
    except UnicodeEncodeError as error:
        found = quoted(str(error.object))
        raise InputError(f"column {quoted(column)}: {HALF}, in {found}") from None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        text = [cell_text(value, column, decimal) for value in values]
        return pa.array(text, pa.string()), kinds_of(values)
    if pa.types.is_timestamp(found.type):
        _check_zones(values, column)
    return found, []


def _table(found: Mapping[str, tuple[Any, list[str]]]) -> Any:
    arrays = {name: array for name, (array, _) in found.items()}
    return table_of(arrays, {name: kinds for name, (_, kinds) in found.items() if kinds})


def _check_zones(values: Sequence[Any], column: str) -> None:
    """InputError where some moments have an offset from UTC, and some have none."""
    moments = (value for value in values if hasattr(value, "tzinfo") and value == value)
    zoned = {value.tzinfo is not None for value in moments}
    if len(zoned) > 1:
        raise InputError(f"column {quoted(column)}: times with an offset from UTC and without one")


def cell_text(value: Any, column: str, decimal: str) -> str | None:
    """A value of any kind as text."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (bool, np.bool_, Decimal)) or is_number(value):
        try:
            return None if value != value else str(value).replace(".", decimal)
        except ValueError:  # Python writes no such integer
            raise InputError(f"column {quoted(column)}: {MANY_DIGITS}") from None
    raise InputError(f"column {quoted(column)}: expected numbers or text, found {shown(value)}")


def columns_of(schema: Any) -> list[str]:
    """The names in a schema of pyarrow but for the index of pandas, of which pandas tells there."""
    index_columns = (schema.pandas_metadata or {}).get("index_columns", [])
    index = {name for name in index_columns if isinstance(name, str)}  # else it is a range
    return [n for n in schema.names if n not in index and not _UNNAMED_INDEX.fullmatch(n)]


def _is_parquet(name: str) -> bool:
    return name.lower().endswith((".parquet", ".pq")) and name[0] not in "._"


_LOGS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
_READ_AHEAD = 1 << 20  # bytes of a column


class ParquetRecords(ArrowFile):
    """A Parquet file; only the columns that are wanted are read."""

    kind = "Parquet"

    def _schema(self, opened: BinaryIO) -> Any:
        return parquet_file(opened).schema_arrow

    def batches(self, wanted: ReadOptions) -> Iterator[Batch]:
        """As of all records; text that lies in dictionaries is unfolded when batches are small."""
        for batch in super().batches(wanted):
            yield batch._replace(table=_unfolded(batch.table))

    def group(self, number: int) -> Any:
        """A group of rows as a table; its text stays in dictionaries where it lies in some."""

        def read() -> Any:
            file = self._file_of(opened, self.columns)
            self._check(opened, file, number, self.columns, f"row group {number}")
            return file.read_row_group(number, self.columns)

        with self._file.seekable() as opened:
            return self._in_words(read)

    def _batches(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        file, first = self._file_of(opened, columns), 1
        for number in range(file.metadata.num_row_groups):
            n = file.metadata.row_group(number).num_rows
            part = f"rows {first:,} to {first + n - 1:,}"
            size = self._check(opened, file, number, columns, part)
            rows = max(1, min(BATCH_ROWS, limits.BATCH_BYTES * n // max(1, size)))
            yield from file.iter_batches(rows, row_groups=[number], columns=list(columns))
            first += n

    def _file_of(self, opened: BinaryIO, columns: Sequence[str]) -> Any:
        """What reads some columns, with text in dictionaries where pyarrow can give it so."""
        metadata = parquet_file(opened).metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]

        def is_folded(chunk: Any) -> bool:
            has = chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page
            return has and "DELTA" not in f"{chunk.encodings}"

        folded = [
            metadata.schema.column(i).path
            for i in _leaves(metadata.schema, columns)
            if all(is_folded(group.column(i)) for group in groups)
        ]
        return parquet_file(
            opened, metadata=metadata, read_dictionary=folded, buffer_size=_READ_AHEAD
        )

    def _check(
        self, opened: BinaryIO, file: Any, number: int, columns: Sequence[str], part: str
    ) -> int:
        """The bytes that columns in a group of rows take; DataFileError where these are many."""
        group = file.metadata.row_group(number)
        sizes = (group.column(i).total_uncompressed_size for i in _leaves(file.schema, columns))
        self._file.check_unpacked(size := sum(sizes), opened, part)
        return int(size)


class FolderRecords(Records):
    """The Parquet files of a folder, in the order of their names, one after the other."""

    def __init__(self, folder: Path, max_bytes: int | None = None):
        self.where, self.name = folder, folder.resolve().name
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise self.refusal(error.strerror or str(error)) from None
        wanted = [name for name in names if _is_parquet(name)]
        self._refuse_others(names, wanted)
        self.paths = [folder / name for name in wanted]
        self._files = [ParquetRecords(DataFile(path, max_bytes)) for path in self.paths]
        self.columns = self._files[0].columns
        for file in self._files[1:]:
            if set(file.columns) != set(self.columns):
                odd = sorted(set(file.columns) ^ set(self.columns))[0]
                raise file.refusal(f"other columns than in {wanted[0]}, such as {quoted(odd)}")

    def _refuse_others(self, names: Sequence[str], wanted: Sequence[str]) -> None:
        """DataFileError where no file is read, or where rows seem to be elsewhere, too."""
        for log, kind in _LOGS.items():
            if log in names:
                problem = f"a table of {kind}: {log} says which rows are valid, and is not read"
                raise self.refusal(f"{problem}; write the rows to a Parquet file")
        for name in names:
            path = self.where / name
            if name[0] in "._" or name in wanted:
                continue
            if path.is_dir() and (inner := _parquet_below(path)) is not None:
                raise self.refusal(
                    f"Parquet files in a folder of this folder, such as {quoted(str(inner))}; "
                    "expected all of them in one folder, with all columns"
                )
            text = path.suffix.lower() in (".txt", ".dat")  # a description, perhaps
            if wanted and path.is_file() and has_known_suffix(path) and not text:
                raise self.refusal(
                    f"Parquet files and {quoted(name)}, which would not be read; expected Parquet "
                    "files (.parquet, .pq) alone"
                )
        if not wanted:
            raise self.refusal(
                "a folder, where a file was expected, or Parquet files (.parquet, .pq) in a folder"
            )

    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        for file in self._files:
            yield from file.batches(wanted)


def parquet_file(source: Any, **options: Any) -> Any:
    """A Parquet file, opened by pyarrow; its old kind of moments may be of any year."""
    from pyarrow.parquet import ParquetFile

    return ParquetFile(source, pre_buffer=False, coerce_int96_timestamp_unit="us", **options)


def _unfolded(table: Any) -> Any:
    """A table of text as it is in place of text in dictionaries, where the file had text."""
    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            column = table.column(i).cast(field.type.value_type)
            table = table.set_column(i, field.name, column)
    return table


def _leaves(schema: Any, columns: Sequence[str]) -> list[int]:
    """The places of the columns of Parquet that some columns of a table are made of."""
    wanted = set(columns)
    paths = (schema.column(i).path.split(".") for i in range(len(schema)))
    return [
        i for i, path in enumerate(paths) if not wanted.isdisjoint(accumulate(path, "{}.{}".format))
    ]


def _parquet_below(folder: Path) -> Path | None:
    """A Parquet file in a folder, however deep; None where there is none."""
    for where, _, names in os.walk(folder):
        for name in filter(_is_parquet, sorted(names)):
            return Path(where, name).relative_to(folder.parent)
    return None
