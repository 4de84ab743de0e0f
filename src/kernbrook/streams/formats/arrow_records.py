"""Records that are Arrow already, or nearly: Arrow files, frames in memory."""

from __future__ import annotations

import re
import struct
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, BinaryIO

import numpy as np

from kernbrook.checks import is_number, shown
from kernbrook.errors import DataFileWarning, InputError, KernbrookError
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import stem
from kernbrook.streams.formats import arrow_messages
from kernbrook.streams.formats.arrow_messages import FILE_MARK
from kernbrook.streams.formats.csv_header import quoted
from kernbrook.streams.formats.table_records import (
    BATCH_ROWS,
    HALF,
    MANY_DIGITS,
    Batch,
    Records,
    Wanted,
    is_unicode,
    kinds_of,
    table_of,
)

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls a column that is no column


class ArrowFile(Records):
    """One file; problems name the row, counted from 1."""

    def __init__(self, file: DataFile):
        self._file = file
        self.where = file.path
        self.name = stem(file.path)
        self.levels = {}
        with self._opened() as opened:
            names = self._in_words(lambda: columns_of(self._schema(opened)))
        self.columns = _checked(names, self.refusal)

    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        row, columns = 1, wanted.columns
        with self._opened() as opened:
            batches = self._in_words(lambda: self._batches(opened, columns))
            while (table := self._in_words(lambda: self._next(batches, columns))) is not None:
                yield Batch(table, self._refusal_from(row))
                row += table.num_rows

    def _next(self, batches: Iterator[Any], columns: Sequence[str]) -> Any:
        """The columns of the next batch as a table, None where there is none."""
        import pyarrow as pa

        if (batch := next(batches, None)) is None:
            return None
        batch.validate(full=True)  # else what a damaged file points to is read, wherever it is
        return pa.Table.from_batches([batch]).select(list(columns))

    def _refusal_from(self, first: int) -> Callable[[int, str], KernbrookError]:
        return lambda i, problem: self.refusal(f"row {first + i:,}: {problem}")

    def _opened(self) -> BinaryIO:
        return self._file.seekable()

    def _in_words(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except KernbrookError:
            raise
        except Exception as error:  # of a damaged file, pyarrow raises whatever comes
            said = " ".join(str(error).split())[:200]
            raise self._unread(said) from None

    def _unread(self, problem: str) -> KernbrookError:
        return self.refusal(f"not read as {self.kind}: {problem}")

    kind: str

    @abstractmethod
    def _schema(self, opened: BinaryIO) -> Any:
        """pyarrow's."""

    @abstractmethod
    def _batches(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        """Batches with these columns at least.

        Raises
        ------
        DataFileError
            What is read at once would take far more memory than usual.
        """


class ArrowRecords(ArrowFile):
    """An Arrow (IPC, Feather) file, or a stream in a file."""

    kind = "Arrow"

    def _schema(self, opened: BinaryIO) -> Any:
        reader, is_file = self._reader(opened)
        messages = arrow_messages.in_file if is_file else arrow_messages.in_stream
        part = "what it begins with"
        try:
            for part, size in messages(opened):
                self._file.check_unpacked(size, opened, part)
        except KernbrookError:
            raise
        except EOFError:
            told = f"no mark of the end follows {part}; has the file been cut?"
            self.told = DataFileWarning(self.where, told)
        except (struct.error, ValueError, OverflowError, OSError):
            raise self._unread(f"damaged or cut after {part}") from None
        return reader.schema

    def _batches(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        schema = self._reader(opened)[0].schema
        reader, is_file = self._reader(opened, [*map(schema.get_field_index, columns)])
        if is_file:
            return (reader.get_batch(i) for i in range(reader.num_record_batches))
        return iter(reader)

    def _reader(self, opened: BinaryIO, fields: Sequence[int] = ()) -> tuple[Any, bool]:
        """What reads these fields, or all; whether it is a file, or else a stream."""
        from pyarrow import ipc

        opened.seek(0)
        is_file = opened.read(len(FILE_MARK)) == FILE_MARK
        opened.seek(0)
        options = ipc.IpcReadOptions(included_fields=[*fields])
        return (ipc.open_file if is_file else ipc.open_stream)(opened, options=options), is_file


class FrameRecords(Records):
    """A table in memory: of pandas, polars, pyarrow and whatever else narwhals knows."""

    def __init__(self, frame: Any, name: str = "table"):
        self.name = self.where = name
        self._frame = eager(frame, self.refusal)
        self.levels = {}
        self.columns = list(self._frame.columns)

    def refusal(self, problem: str) -> KernbrookError:
        return InputError(f"{self.where}: {problem}")

    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        for first in range(0, len(self._frame), BATCH_ROWS):
            piece = self._frame[first : first + BATCH_ROWS, list(wanted.columns)]
            yield Batch(to_arrow(piece, wanted.decimal), self._refusal_from(first))

    def _refusal_from(self, first: int) -> Callable[[int, str], KernbrookError]:
        return lambda i, problem: self.refusal(f"row {first + i}, counted from 0: {problem}")


def eager(frame: Any, refusal: Callable[[str], KernbrookError] = InputError) -> Any:
    """A frame as narwhals has it, without what was the index of pandas.

    Raises
    ------
    InputError
        It is none that is in memory, or its columns are not named by text, each once.
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        names = _checked(columns_of(frame.schema), refusal)
        frame = frame.select(names)
    elif hasattr(frame, "columns"):
        _checked(list(frame.columns), refusal)
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        hint = "; its compute() makes one" if hasattr(frame, "compute") else ""
        told = f"expected a table in memory, of pandas, polars or pyarrow, got {kind}{hint}"
        raise InputError(told) from None


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
    names = _checked(list(dict.fromkeys(name for row in rows for name in row)), InputError)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return eager(_table({name: _array(own, name, ".") for name, own in columns.items()}))


def to_arrow(frame: Any, decimal: str = ".") -> Any:
    """A pyarrow table of the columns that a frame has; values of several kinds become text.

    decimal : the mark before the fraction of numbers that become text

    Raises
    ------
    InputError
        A column has values that are neither numbers nor text, or times with and without a zone.
    """
    import pyarrow as pa

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
    """Labels of any kind as an Arrow array, null where one is missing.

    Raises
    ------
    InputError
        They are not numbers or text, one for each row.
    """
    import pyarrow as pa

    try:
        labels = y.to_arrow() if hasattr(y, "to_arrow") else pa.array(y, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(f"y: expected labels, numbers or text, got {shown(y)}") from None
    return labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels


def _column(series: Any, decimal: str) -> tuple[Any, list[str]]:
    """A column of a frame as `_array` has it."""
    import narwhals as nw
    import pyarrow as pa

    if hasattr(native := series.to_native(), "sparse"):
        series = nw.from_native(native.sparse.to_dense(), series_only=True)
    try:
        return series.to_arrow(), []
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _array(series.to_list(), series.name, decimal)


def _array(values: Sequence[Any], column: str, decimal: str) -> tuple[Any, list[str]]:
    """Values of Python as an Arrow array; and values of several kinds, which become text."""
    import pyarrow as pa

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
    there = (value for value in values if hasattr(value, "tzinfo") and value == value)
    zoned = {value.tzinfo is not None for value in there}
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
    told = (schema.pandas_metadata or {}).get("index_columns", [])
    index = {name for name in told if isinstance(name, str)}  # else it is a range
    return [n for n in schema.names if n not in index and not _UNNAMED_INDEX.fullmatch(n)]


def _checked(names: Sequence[Any], refusal: Callable[[str], KernbrookError]) -> list[str]:
    """Names of columns, each text and once."""
    if not names:
        raise refusal("no column")
    for name, times in Counter(names).items():
        if not isinstance(name, str):
            raise refusal(f"expected columns named by text, found {name!r}")
        if not is_unicode(name):
            raise refusal(f"column {name!r:.60}: {HALF}")
        if times > 1:
            raise refusal(f"two columns are called {quoted(name)}")
    return list(names)
