"""Streams from CSV files with a header row.

pyarrow reads a block of whole lines at a time. What it refuses, or what has gaps in it, is read
again by `_read_slowly`, row by row: that either names the line and the column at fault or succeeds.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, UnknownNameError
from kernbrook.streams.base import Labels, Piece, Stream
from kernbrook.streams.text_files import line_blocks, stem

MISSING = ("", "?", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "None")
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.ASCII | re.IGNORECASE)
_EXACT_INTEGERS = 2.0**53


class _Rows(NamedTuple):
    """One block: the features, the labels as Arrow text, and as numbers where all of them are."""

    X: NDArray[np.float64]
    text: Any
    numbers: NDArray[np.float64] | None

    @property
    def longest(self) -> int:
        """Characters in the longest label."""
        from pyarrow import compute

        return compute.max(compute.utf8_length(self.text)).as_py()


class CsvStream(Stream):
    """A CSV file, plain or compressed: UTF-8, commas, a header row.

    The file is read once when opened and again by each pass, 1 MiB at a time. The first reading
    checks every line and finds the type of the labels: int64 where all are integers, float64 where
    all are numbers, else text.

    Parameters
    ----------
    path : the file
    n_features : d, for a check; None to take what the header says
    label : name of the label's column; None for the column "label", else the last

    Notes
    -----
    All other columns are features and hold finite numbers. Empty values, ``?``, ``NA``, ``nan``,
    ``null`` and ``None`` are missing values, which are errors. A quoted value ends on its line.

    Raises
    ------
    DataFileError
        The file cannot be read, or a value is not a number or is missing; line and column are
        named.
    UnknownNameError
        There is no column called `label`.
    """

    def __init__(self, path: Path, n_features: int | None = None, label: str | None = None):
        self.name = stem(path)
        self._path = path
        line, self._columns = self._header()
        self._label = _label_place(self._columns, label)
        self.n_features = len(self._columns) - 1
        if n_features is not None and n_features != self.n_features:
            problem = f"expected {n_features} features, found {self.n_features} and the label"
            raise DataFileError(path, problem, line)
        rows = longest = 0
        numeric = integral = True
        for block in self._blocks():
            rows += len(block.X)
            longest = max(longest, block.longest)
            if block.numbers is None:
                numeric = False
            else:
                integral = integral and _all_integers(block.numbers)
        if rows == 0:
            raise DataFileError(path, "a header row and no data")
        self.n_rows = rows
        kind = (np.int64 if integral else np.float64) if numeric else f"<U{longest}"
        self._label_type: np.dtype[Any] = np.dtype(kind)

    def _header(self) -> tuple[int, list[str]]:
        """The number of the header's line, and the names of the columns."""
        for first, block in line_blocks(self._path):
            for line, row in enumerate(block.splitlines(), start=first):
                if row:
                    return line, self._names(line, row)
        raise DataFileError(self._path, "the file has no line")

    def _names(self, line: int, row: bytes) -> list[str]:
        names = [name.strip() for name in next(csv.reader([self._decode(line, row)]))]
        if all(map(_is_number, names)):
            raise DataFileError(self._path, "expected a header row, found numbers", line)
        if len(names) < 2:
            problem = f"expected a label and features parted by commas, found one column: {names}"
            raise DataFileError(self._path, problem, line)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataFileError(self._path, f"two columns are called {twice!r}", line)
        return names

    def _decode(self, line: int, text: bytes) -> str:
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            line += text.count(b"\n", 0, error.start)
            raise DataFileError(self._path, "expected UTF-8 text", line) from None

    def _blocks(self) -> Iterator[_Rows]:
        headed = False
        for first, block in line_blocks(self._path):
            if not headed:
                blank = len(block) - len(block.lstrip(b"\r\n"))
                end = block.find(b"\n", blank) + 1
                if blank == len(block):
                    continue
                headed = True
                first += block.count(b"\n", 0, end)
                block = block[end:] if end else b""
            if block.strip(b"\r\n"):
                yield self._rows(first, block)

    def _pieces(self) -> Iterator[Piece]:
        rows = 0
        for block in self._blocks():
            rows += len(block.X)
            yield block.X, self._labels(block)
        if rows != self.n_rows:
            raise self._changed()

    def _labels(self, block: _Rows) -> Labels:
        if self._label_type.kind == "U":
            if 4 * block.longest > self._label_type.itemsize:
                raise self._changed()
            return block.text.to_numpy(zero_copy_only=False).astype(self._label_type)
        numbers = block.numbers
        if numbers is None or (self._label_type.kind == "i" and not _all_integers(numbers)):
            raise self._changed()
        return numbers.astype(self._label_type)

    def _changed(self) -> DataFileError:
        return DataFileError(self._path, "the file was changed after it was opened")

    def _rows(self, first: int, block: bytes) -> _Rows:
        """The rows of one block of whole lines, the first of them with number `first`."""
        import pyarrow as pa
        from pyarrow import compute
        from pyarrow import csv as arrow_csv

        if b'"' in block:
            for line, row in enumerate(block.splitlines(), start=first):
                if row.count(b'"') % 2:
                    raise DataFileError(self._path, "a quoted value does not end here", line)
        types = dict.fromkeys(self._columns, pa.float64())
        types[self._columns[self._label]] = pa.string()
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(block),
                read_options=arrow_csv.ReadOptions(
                    column_names=self._columns, use_threads=False, block_size=len(block) + 1
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, null_values=list(MISSING)
                ),
            )
        except pa.ArrowException:
            return self._read_slowly(first, block)
        labels = compute.utf8_trim_whitespace(table.column(self._label).combine_chunks())
        X = np.empty((table.num_rows, self.n_features))
        others = (i for i in range(len(self._columns)) if i != self._label)
        for j, i in enumerate(others):
            X[:, j] = table.column(i).to_numpy()
        numbers = None
        try:
            numbers = compute.cast(labels, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowException:
            if compute.any(compute.is_in(labels, value_set=pa.array(MISSING))).as_py():
                return self._read_slowly(first, block)
        if not np.isfinite(X).all() or (numbers is not None and not np.isfinite(numbers).all()):
            return self._read_slowly(first, block)
        return _Rows(X, labels, numbers)

    def _read_slowly(self, first: int, block: bytes) -> _Rows:
        """The rows, one value at a time.

        Raises
        ------
        DataFileError
            A value is missing, or is not a finite number; line and column are named.
        """
        import pyarrow as pa

        reader = csv.reader(io.StringIO(self._decode(first, block), newline=""))
        features: list[list[float]] = []
        text: list[str] = []
        try:
            for row in reader:
                line = first + reader.line_num - 1
                if not row:
                    continue
                if len(row) != len(self._columns):
                    problem = f"expected {len(self._columns)} values, found {len(row)}"
                    raise DataFileError(self._path, problem, line)
                values = []
                for i, raw in enumerate(row):
                    value = raw.strip()
                    if value in MISSING:
                        self._refuse(line, i, "missing value")
                    if i == self._label:
                        if _is_number(value):
                            self._number(line, i, value)
                        text.append(value)
                    else:
                        values.append(self._number(line, i, value))
                features.append(values)
        except csv.Error as error:
            line = first + reader.line_num - 1
            raise DataFileError(self._path, str(error), line) from None
        numbers = None
        if all(map(_is_number, text)):
            numbers = np.array([float(value) for value in text])
        return _Rows(np.array(features), pa.array(text), numbers)

    def _number(self, line: int, column: int, value: str) -> float:
        shown = value if len(value) <= 40 else f"{value[:37]}..."
        if not _is_number(value):
            self._refuse(line, column, f"expected a number, found {shown!r}")
        number = float(value)
        if not math.isfinite(number):
            self._refuse(line, column, f"{shown!r} is not finite")
        return number

    def _refuse(self, line: int, column: int, problem: str) -> NoReturn:
        raise DataFileError(self._path, f"column {self._columns[column]!r}: {problem}", line)


def _label_place(columns: list[str], label: str | None) -> int:
    if label is not None:
        if label not in columns:
            raise UnknownNameError("column", label, columns)
        return columns.index(label)
    return columns.index("label") if "label" in columns else len(columns) - 1


def _is_number(text: str) -> bool:
    """Whether it is written as a number, infinity included."""
    return _NUMBER.fullmatch(text) is not None


def _all_integers(labels: NDArray[np.float64]) -> bool:
    whole = (labels == np.rint(labels)) & (np.abs(labels) <= _EXACT_INTEGERS)
    return bool(whole.all())
