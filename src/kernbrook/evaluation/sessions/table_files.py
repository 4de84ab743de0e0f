"""Tables as files that other programs read: CSV, Parquet, JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kernbrook.atomic import replacing
from kernbrook.errors import InputError
from kernbrook.streams.formats.csv_header import without_gaps

if TYPE_CHECKING:
    import pyarrow

_ROWS = 1024  # as Python objects at a time


def check_ending(path: str | PathLike[str], option: str) -> None:
    """InputError where a name does not say which format is wanted."""
    if Path(path).suffix.lower() not in _WRITERS:
        endings = ", ".join(_WRITERS)
        raise InputError(f"{option}: expected a name that ends in one of {endings}, got {path}")


def write_table(
    table: pyarrow.Table, path: str | PathLike[str], numbers: Collection[str] = ()
) -> None:
    """Write a table, whole or not at all, in the format that the name's ending says.

    CSV is UTF-8 with commas and a header; what is missing is empty there, and null in JSON lines.

    Parameters
    ----------
    table : a pyarrow table
    path : ends in .csv, .parquet, .pq, .jsonl or .ndjson
    numbers : columns of text that are numbers in formats that have such

    Raises
    ------
    InputError
        The ending is another one, or the file cannot be written.
    """
    check_ending(path, "path")
    ending = Path(path).suffix.lower()
    if ending != ".csv":
        table = _with_numbers(table, numbers)
    with replacing(path) as file:
        _WRITERS[ending](table, file)


def _with_numbers(table: Any, names: Collection[str]) -> Any:
    """The table with these columns as whole numbers, else as floats, else as they are."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        if name not in names or not pa.types.is_string(table.column(name).type):
            continue
        text = without_gaps(table.column(name).combine_chunks())
        for kind in (pa.int64(), pa.float64()):
            try:
                table = table.set_column(place, name, text.cast(kind))
                break
            except pa.ArrowInvalid:
                continue
    return table


def _csv(table: Any, file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    for batch in table.to_batches(_ROWS):
        columns = (map(_cell, column.to_pylist()) for column in batch.columns)
        writer.writerows(zip(*columns, strict=True))
    text.flush()
    text.detach()


def _cell(value: Any) -> Any:
    return json.dumps(value, default=str) if isinstance(value, (dict, list)) else value


def _json_lines(table: Any, file: BinaryIO) -> None:
    for batch in table.to_batches(_ROWS):
        for row in batch.to_pylist():
            values = {name: _in_json(value) for name, value in row.items()}
            line = json.dumps(values, ensure_ascii=False, default=str)
            file.write(line.encode("utf-8", errors="replace") + b"\n")


def _in_json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _parquet(table: Any, file: BinaryIO) -> None:
    from pyarrow.parquet import write_table as write

    write(table, file)


_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
