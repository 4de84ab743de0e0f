"""Tables as they are written: lines, CSV, JSON lines or Parquet, to a file or standard output."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from kernbrook.errors import InputError

Write = Callable[[Mapping[str, Any], Sequence[int]], None]
ENDINGS = ".csv", ".parquet", ".pq", ".jsonl", ".ndjson"
ROWS = 1 << 16  # that a Parquet file has together


def check_ending(path: Path, option: str) -> None:
    """InputError where a name does not say which format is wanted."""
    if path.suffix.lower() not in ENDINGS:
        endings = ", ".join(ENDINGS)
        raise InputError(f"{option}: expected a name that ends in one of {endings}, got {path}")


@contextmanager
def written(output: Path, shown: Callable[[str], str] = str) -> Iterator[Write]:
    """What takes columns, chunk by chunk, and leaves them in a file at the end.

    It takes columns by name, of NumPy or Arrow, and how many empty rows stand before each row and
    after the last one. A file is replaced as a whole; its ending says the format. With another one,
    and on standard output, a column is one line for each row, and several are CSV.

    Parameters
    ----------
    output : a file, or - for standard output
    shown : how a text is written, where it is in a line
    """
    from kernbrook.atomic import replacing

    if str(output) == "-":
        with _standard_output() as out:
            yield _Text(out, shown).add
        return
    with replacing(output) as file:
        if output.suffix.lower() in (".parquet", ".pq"):
            table = _Parquet(file)
            yield table.add
            table.close()
        elif output.suffix.lower() in (".jsonl", ".ndjson"):
            yield _JSONLines(file).add
        else:
            yield _Text(file, shown).add


class _Text:
    """Lines, or CSV with a header."""

    def __init__(self, file: BinaryIO, shown: Callable[[str], str]):
        self.file, self.shown, self.begun = file, shown, False

    def add(self, columns: Mapping[str, Any], blanks: Sequence[int] = ()) -> None:
        """Write more rows."""
        rows = _rows([map(self._cell, _values(own)) for own in columns.values()], blanks, "")
        if len(columns) == 1:
            text = "".join(f"{only}\n" for (only,) in rows)
        else:
            lines = io.StringIO()
            writer = csv.writer(lines, lineterminator="\n")
            if not self.begun:
                writer.writerow(map(self.shown, columns))
            writer.writerows(rows)
            text = lines.getvalue()
        self.begun = True
        self.file.write(text.encode(errors="replace"))

    def _cell(self, value: Any) -> Any:
        if isinstance(value, (dict, list)):
            return json.dumps(value, default=str)
        return self.shown(value) if isinstance(value, str) else value


class _JSONLines:
    """An object a line."""

    def __init__(self, file: BinaryIO):
        self.file = file

    def add(self, columns: Mapping[str, Any], blanks: Sequence[int] = ()) -> None:
        """Write more rows; what JSON has no number for is null."""
        for row in _rows(map(_values, columns.values()), blanks, None):
            values = {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in zip(columns, row, strict=True)
            }
            line = json.dumps(values, ensure_ascii=False, default=str)
            self.file.write(line.encode(errors="replace") + b"\n")


class _Parquet:
    """A table, some thousand rows at a time."""

    def __init__(self, file: BinaryIO):
        self.file, self.kept = file, list[Any]()
        self.writer: Any = None

    def add(self, columns: Mapping[str, Any], blanks: Sequence[int] = ()) -> None:
        """Take in more rows."""
        import pyarrow as pa

        table = pa.table({name: _in_arrow(own) for name, own in columns.items()})
        places = [place for (place,) in _rows([range(table.num_rows)], blanks, None)]
        self.kept.append(table.take(pa.array(places, pa.int64())))
        if sum(map(len, self.kept)) >= ROWS:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        table, self.kept = pa.concat_tables(self.kept), []
        self.writer = ParquetWriter(self.file, table.schema) if self.writer is None else self.writer
        self.writer.write_table(table)

    def close(self) -> None:
        """Write the end."""
        if self.kept:
            self._write()
        if self.writer is not None:
            self.writer.close()


def _values(column: Any) -> list[Any]:
    values: list[Any] = (column.to_pylist if hasattr(column, "to_pylist") else column.tolist)()
    return values


def _in_arrow(column: Any) -> Any:
    """A column in a type that Arrow has: whole numbers beyond 64 bits become text."""
    large = getattr(getattr(column, "dtype", None), "kind", "") == "O"
    return list(map(str, column.tolist())) if large else column


def _rows(columns: Iterable[Iterable[Any]], blanks: Sequence[int], blank: Any) -> Iterator[Any]:
    """The rows, with so many blank ones before each, and after the last one."""
    own, left = [*columns], iter(blanks)
    empty = (blank,) * len(own)
    for row in zip(*own, strict=True):
        yield from [empty] * next(left, 0)
        yield row
    for more in left:
        yield from [empty] * more


def write_table(table: Any, path: Path, numbers: Iterable[str] = ()) -> None:
    """Write an Arrow table, whole or not at all, in the format that the name's ending says.

    numbers : columns of text that are numbers, whole ones if they can, in formats that have such
    """
    import pyarrow as pa

    from kernbrook.streams.records import without_gaps

    check_ending(path, "path")
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name in columns.keys() & set(numbers) if path.suffix.lower() != ".csv" else ():
        if pa.types.is_string(columns[name].type):
            text = without_gaps(columns[name].combine_chunks())
            for kind in (pa.float64(), pa.int64()):
                with suppress(pa.ArrowInvalid):
                    columns[name] = text.cast(kind)
    with written(path) as write:
        write(columns, ())


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
