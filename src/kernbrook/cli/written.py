"""Predictions as they are written: lines, CSV or Parquet, to a file or standard output."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kernbrook.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Columns = Mapping[str, NDArray[Any]]
    Write = Callable[[Columns, Sequence[int]], None]

ROWS = 1 << 16  # that a Parquet file has together


@contextmanager
def written(output: Path, shown: Callable[[str], str]) -> Iterator[Write]:
    """What takes columns of predictions, chunk by chunk, and leaves them in a file at the end.

    It also takes how many empty rows stand before each row, and after the last one.

    A file is replaced as a whole. Parquet where its name ends so. Else one column is one line for
    each row, and several are CSV with a header.

    Parameters
    ----------
    output : a file, or - for standard output
    shown : how a text is written, where it is not in Parquet
    """
    from kernbrook.atomic import replacing

    if str(output) == "-":
        with _standard_output() as out:
            yield _Text(out, shown).add
    elif output.suffix.lower() == ".parquet":
        with replacing(output) as file, _Parquet(file) as table:
            yield table.add
    else:
        with replacing(output) as file:
            yield _Text(file, shown).add


class _Text:
    """Lines, or CSV with a header."""

    def __init__(self, file: BinaryIO, shown: Callable[[str], str]):
        self.file, self.shown, self.begun = file, shown, False

    def add(self, columns: Columns, blanks: Sequence[int] = ()) -> None:
        """Write more rows."""
        if len(columns) == 1:
            (only,) = map(self._texts, columns.values())
            lines = _with_blanks(only, blanks, "")
            self.file.write("".join(f"{value}\n" for value in lines).encode())
            return
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self.begun:
            writer.writerow(map(self.shown, columns))
            self.begun = True
        rows = zip(*map(self._texts, columns.values()), strict=True)
        writer.writerows(_with_blanks(rows, blanks, ("",) * len(columns)))
        self.file.write(text.getvalue().encode())

    def _texts(self, values: NDArray[Any]) -> list[Any]:
        if values.dtype.kind in "UO":
            return [self.shown(str(value)) for value in values.tolist()]
        return values.tolist()


class _Parquet:
    """A table, some thousand rows at a time."""

    def __init__(self, file: BinaryIO):
        self.file, self.rows = file, 0
        self.kept: list[Columns] = []
        self.places: list[int | None] = []  # of the rows that are kept, None of empty ones
        self.writer: Any = None

    def __enter__(self) -> _Parquet:
        return self

    def add(self, columns: Columns, blanks: Sequence[int] = ()) -> None:
        """Take in more rows."""
        own = len(next(iter(columns.values())))
        self.places += _with_blanks(range(self.rows, self.rows + own), blanks, None)
        self.kept.append(columns)
        self.rows += own
        if self.rows >= ROWS:
            self._write()

    def _write(self) -> None:
        import numpy as np
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        together = {name: np.concatenate([one[name] for one in self.kept]) for name in self.kept[0]}
        table = pa.table({name: pa.array(_plain(own)) for name, own in together.items()})
        table = table.take(pa.array(self.places, pa.int64()))
        if self.writer is None:
            self.writer = ParquetWriter(self.file, table.schema)
        self.writer.write_table(table)
        self.kept, self.places, self.rows = [], [], 0

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            if self.kept:
                self._write()
            self.writer.close()


def _with_blanks(rows: Iterable[Any], blanks: Sequence[int], blank: Any) -> Iterator[Any]:
    """The rows, with so many blanks before each, and after the last one."""
    left = iter(blanks)
    for row in rows:
        yield from [blank] * next(left, 0)
        yield row
    for more in left:
        yield from [blank] * more


def _plain(values: NDArray[Any]) -> Any:
    """Values in a type that Arrow has: whole numbers beyond 64 bits become text."""
    return list(map(str, values.tolist())) if values.dtype.kind == "O" else values


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What could not be written must not be tried again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(f"cannot write standard output: {error.strerror}") from error
