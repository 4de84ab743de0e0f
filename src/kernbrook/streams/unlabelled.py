"""CSV files without a label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernbrook.streams.csv_files import CsvStream
from kernbrook.streams.data_files import DataFile


class UnlabelledCsv(CsvStream):
    """A CSV file whose columns are all features; the labels are all 0.

    Parameters
    ----------
    path : the file, or its name
    n_features : d, for a check; None to take what the header says
    aside : names of columns of any text, which are no features
    features : names of the columns that are features, in the order wanted; None for all others
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
        features: Sequence[str] | None = None,
        trained: bool = False,
    ):
        super().__init__(path, n_features, aside=aside, features=features, trained=trained)

    def _label_place(self, label: str | None) -> None:
        return None
