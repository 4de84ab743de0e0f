"""CSV files by what their header says: which columns there are, and files without a label."""

from __future__ import annotations

from pathlib import Path

from kernbrook.streams.csv_files import CsvStream
from kernbrook.streams.csv_header import read_header
from kernbrook.streams.data_files import DataFile


def csv_columns(path: DataFile | Path) -> list[str]:
    """The names of a CSV file's columns, see `read_header`."""
    return read_header(path).names


class UnlabelledCsv(CsvStream):
    """A CSV file whose columns are all features, two of them or more; the labels are all 0.

    Parameters
    ----------
    path : the file, or its name

    Raises
    ------
    DataFileError
        The file cannot be read, or a value is not a number or is missing.

    Warns
    -----
    DataFileWarning
        As `CsvStream`.
    """

    def __init__(self, path: DataFile | Path):
        super().__init__(path)

    def _label_place(self, label: str | None) -> None:
        return None
