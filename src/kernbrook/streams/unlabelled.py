"""CSV files by what their header says: which columns there are, and files without a label."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kernbrook.errors import DataFileError
from kernbrook.streams.base import Piece, Stream
from kernbrook.streams.csv_files import CsvStream
from kernbrook.streams.text_files import line_blocks


def csv_columns(path: Path) -> list[str]:
    """The names in a CSV file's header, unchecked; none if there is no line."""
    for _, block in line_blocks(path):
        for row in block.splitlines():
            if row:
                return [name.strip() for name in next(csv.reader([row.decode(errors="replace")]))]
    return []


class UnlabelledCsv(Stream):
    """A CSV file whose columns are all features, two of them or more; the labels are all 0.

    Parameters
    ----------
    path : the file

    Raises
    ------
    DataFileError
        The file cannot be read, or a value is not a number or is missing.
    """

    def __init__(self, path: Path):
        # The last column is read as the label would be, and put back.
        self._stream = CsvStream(path, label=csv_columns(path)[-1])
        self._path = path
        self.name = self._stream.name
        self.n_rows = self._stream.n_rows
        self.n_features = self._stream.n_features + 1
        self._check_numbers()

    def _check_numbers(self) -> None:
        row = 0
        for _, last in self._stream._pieces():
            if last.dtype.kind != "U":
                return
            for value in last.tolist():
                row += 1
                try:
                    float(value)
                except ValueError:
                    problem = f"the last column: expected a number, found {value!r:.40}"
                    raise DataFileError(self._path, f"row {row}, {problem}") from None

    def _pieces(self) -> Iterator[Piece]:
        for X, last in self._stream._pieces():
            yield np.column_stack([X, last.astype(np.float64)]), np.zeros(len(X), dtype=np.int64)
