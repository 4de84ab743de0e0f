"""CSV files by what their header says: which columns there are, and files without a label."""

from __future__ import annotations

from collections.abc import Sequence
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
    n_features : d, for a check; None to take what the header says
    aside : names of columns of any text, which are no features
    trained : whether the rows are for a model that has learned

    Raises
    ------
    DataFileError
        The file cannot be read, it has other columns, or a value is not a number or is missing.

    Warns
    -----
    DataFileWarning
        As `CsvStream`.
    """

    labelled = False

    def __init__(
        self,
        path: DataFile | Path,
        n_features: int | None = None,
        aside: Sequence[str] = (),
        trained: bool = False,
    ):
        super().__init__(path, n_features, aside=aside, trained=trained)

    def _label_place(self, label: str | None) -> None:
        return None
