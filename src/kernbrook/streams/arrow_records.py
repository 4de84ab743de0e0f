"""Records that are Arrow already, or nearly: Parquet, Arrow files, frames in memory."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from kernbrook.errors import DataFileError, InputError, KernbrookError
from kernbrook.streams.csv_header import quoted
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.records import BATCH_ROWS, Batch, Records
from kernbrook.streams.text_files import stem

PANDAS_INDEX = "__index_level_0__"  # what pandas calls a column that is no column
_ENDINGS = (".parquet", ".pq")
_READ_AHEAD = 1 << 20  # bytes of a column


class _ArrowFile(Records):
    """One file; problems name the row, counted from 1."""

    def __init__(self, file: DataFile):
        self._file = file
        self.where = file.path
        self.name = stem(file.path)
        self.levels = {}
        with self._opened() as opened:
            self.columns = _names(self._in_words(lambda: self._schema(opened)), self.refusal)

    def refusal(self, problem: str) -> DataFileError:
        return DataFileError(self.where, problem)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        row = 1
        with self._opened() as opened:
            tables = self._in_words(lambda: self._tables(opened, columns))
            while (table := self._in_words(lambda: next(tables, None))) is not None:
                yield Batch(table.select(list(columns)), self._refusal_from(row))
                row += table.num_rows

    def _refusal_from(self, first: int) -> Callable[[int, str], DataFileError]:
        return lambda i, problem: self.refusal(f"row {first + i:,}: {problem}")

    def _opened(self) -> BinaryIO:
        return self._file.seekable()

    def _in_words(self, read: Callable[[], Any]) -> Any:
        import pyarrow as pa

        try:
            return read()
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())[:200]
            raise self.refusal(f"not read as {self.kind}: {said}") from None

    kind: str

    @abstractmethod
    def _schema(self, opened: BinaryIO) -> Sequence[str]:
        """The names of the columns."""

    @abstractmethod
    def _tables(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        """Tables or batches with these columns at least."""


class ParquetRecords(_ArrowFile):
    """A Parquet file; only the columns that are wanted are read."""

    kind = "Parquet"

    def _schema(self, opened: BinaryIO) -> Sequence[str]:
        from pyarrow.parquet import ParquetFile

        names: Sequence[str] = ParquetFile(opened).schema_arrow.names
        return names

    def _tables(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        from pyarrow.parquet import ParquetFile

        file = ParquetFile(opened, buffer_size=_READ_AHEAD, pre_buffer=False)
        tables: Iterator[Any] = file.iter_batches(BATCH_ROWS, columns=list(columns))
        return tables


class ArrowRecords(_ArrowFile):
    """An Arrow (IPC, Feather) file, or a stream in a file."""

    kind = "Arrow"

    def _reader(self, opened: BinaryIO) -> tuple[Any, bool]:
        from pyarrow import ipc

        is_file = opened.read(6) == b"ARROW1"
        opened.seek(0)
        return (ipc.open_file(opened) if is_file else ipc.open_stream(opened)), is_file

    def _schema(self, opened: BinaryIO) -> Sequence[str]:
        names: Sequence[str] = self._reader(opened)[0].schema.names
        return names

    def _tables(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        reader, is_file = self._reader(opened)
        if is_file:
            return (reader.get_batch(i) for i in range(reader.num_record_batches))
        return iter(reader)


class FolderRecords(Records):
    """The Parquet files of a folder, in the order of their names, one after the other."""

    def __init__(self, folder: Path, max_bytes: int | None = None):
        self.where = folder
        self.name = folder.resolve().name
        self.levels = {}
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise self.refusal(error.strerror or str(error)) from None
        wanted = [n for n in names if n.lower().endswith(_ENDINGS) and n[0] not in "._"]
        if not wanted:
            raise self.refusal(
                "a folder, where a file was expected, or Parquet files (.parquet, .pq) in a folder"
            )
        self._files = [ParquetRecords(DataFile(folder / name, max_bytes)) for name in wanted]
        self.columns = self._files[0].columns
        for file in self._files[1:]:
            if set(file.columns) != set(self.columns):
                odd = sorted(set(file.columns) ^ set(self.columns))[0]
                raise file.refusal(f"other columns than in {wanted[0]}, such as {quoted(odd)}")

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [file.where for file in self._files]

    def refusal(self, problem: str) -> DataFileError:
        return DataFileError(self.where, problem)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for file in self._files:
            yield from file.batches(columns)


class FrameRecords(Records):
    """A table in memory: of pandas, polars, pyarrow and whatever else narwhals knows."""

    def __init__(self, frame: Any, name: str = "table"):
        self._frame = eager(frame)
        self.name = self.where = name
        self.levels = {}
        self.columns = _names(self._frame.columns, self.refusal)

    def refusal(self, problem: str) -> KernbrookError:
        return InputError(f"{self.where}: {problem}")

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for first in range(0, len(self._frame), BATCH_ROWS):
            piece = self._frame[first : first + BATCH_ROWS, list(columns)]
            yield Batch(to_arrow(piece), self._refusal_from(first))

    def _refusal_from(self, first: int) -> Callable[[int, str], KernbrookError]:
        return lambda i, problem: self.refusal(f"row {first + i}, counted from 0: {problem}")


def eager(frame: Any) -> Any:
    """A frame as narwhals has it.

    Raises
    ------
    InputError
        It is none that is in memory.
    """
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise InputError(f"expected a table of pandas, polars or pyarrow, got {kind}") from None


def to_arrow(frame: Any) -> Any:
    """A pyarrow table of the columns that a frame has, each of one kind.

    Raises
    ------
    InputError
        A column has values of several kinds.
    """
    import pyarrow as pa

    try:
        return frame.to_arrow().select(list(frame.columns))
    except pa.ArrowException as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"a column has values of several kinds: {said}") from None


def _names(names: Sequence[Any], refusal: Callable[[str], KernbrookError]) -> list[str]:
    """The columns but for the index of pandas."""
    found = Counter(name for name in names if name != PANDAS_INDEX)
    if not found:
        raise refusal("no column")
    for name, times in found.items():
        if not isinstance(name, str):
            raise refusal(f"expected columns named by text, found {name!r}")
        if times > 1:
            raise refusal(f"two columns are called {quoted(name)}")
    return list(found)
