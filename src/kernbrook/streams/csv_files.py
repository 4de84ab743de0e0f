"""Streams from CSV files.

pyarrow reads a block of whole lines at a time. What it refuses, or what has gaps in it, is read
again by `_read_slowly`, row by row: that either names the line and the column at fault or succeeds.
"""

from __future__ import annotations

import csv
import io
import math
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, DataFileWarning, UnknownNameError
from kernbrook.streams import limits
from kernbrook.streams.base import Labels, Piece, Stream
from kernbrook.streams.booleans import all_boolean, as_booleans
from kernbrook.streams.column_problems import ValueProblem, missing_value, option
from kernbrook.streams.csv_header import (
    MISSING,
    data_blocks,
    is_number,
    miscounted,
    quoted,
    read_header,
)
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.table_columns import Numbers, Seen
from kernbrook.streams.table_labels import (
    EXACT_INTEGERS,
    MISSING_LABEL,
    all_whole,
    inexact,
    is_inexact,
    or_the_label,
    told_of_labels,
    too_long,
)
from kernbrook.streams.text_files import NOT_UTF8, stem
from kernbrook.streams.written_numbers import Written

if TYPE_CHECKING:
    from kernbrook.streams.records import Records

_KEPT_BYTES = 1 << 24  # of rows: a file of no more is read once
_SLAB_BYTES = 1 << 24  # of labels as NumPy has them: each as long as the longest


class _Rows(NamedTuple):
    """One block: the features, the labels as Arrow text, and as numbers where all of them are.

    Attributes
    ----------
    text : None where there is no column of labels; the numbers are then 0
    longest : characters in the longest label
    """

    X: NDArray[np.float64]
    text: Any
    numbers: NDArray[np.float64] | None
    longest: int = 0

    @property
    def nbytes(self) -> int:
        parts = [part for part in self[:3] if part is not None]
        return sum(part.nbytes for part in parts)


class CsvStream(Stream):
    """A CSV file, plain or compressed: UTF-8, commas, a header row.

    The file is read once when opened, 1 MiB at a time, and again by each pass where its rows take
    over 16 MiB. The first reading checks every line and finds the type of the labels: int64 where
    all are integers, float64 where all are numbers, else text: True and False where all are
    these in any letters.

    Parameters
    ----------
    path : the file, or its name
    n_features : d, for a check; None to take what the header says
    label : name of the label's column; None for the column "label", else the last
    aside : names of columns of any text, which are neither features nor the label
    features : names of the columns that are features, in the order wanted; None for all others
    trained : whether the rows are for a model that has learned

    Notes
    -----
    Features hold finite numbers. Missing values, see `csv_header.MISSING`, are errors. A quoted
    value ends on its line. Labels have up to 1,000 characters; where all are numbers, 007 is 7.
    `read_header` tells a header from a first row of data.

    Raises
    ------
    DataFileError
        The file cannot be read, or a value is not a number or is missing, or a label is an integer
        that a 64-bit float does not hold; line and column are named.
    UnknownNameError
        There is no column called `label`, or as one of `aside`.

    Warns
    -----
    DataFileWarning
        The first row is of numbers, or the first column seems to be the index that pandas writes.
    """

    def __init__(
        self,
        path: DataFile | Path,
        n_features: int | None = None,
        label: str | None = None,
        aside: Sequence[str] = (),
        features: Sequence[str] | None = None,
        trained: bool = False,
    ):
        self._trained = trained
        self._seen = Seen()
        self._file = DataFile.of(path)
        self._path = path = self._file.path
        self.name = stem(path)
        known = [*([] if label is None else [label]), *aside, *(features or ())]
        line, self._columns, self._headless, told = read_header(
            self._file, known=known, least=2 if self.labelled else 1
        )
        if told:
            warnings.warn(DataFileWarning(path, told, line), stacklevel=1)
        self._label = self._label_place(label)
        self._label_is_known = label is not None or "label" in self._columns
        self.aside, and_label = list(aside), ""
        left_out = {self._place(name) for name in aside} | {self._label}
        self._features = [i for i in range(len(self._columns)) if i not in left_out]
        if features is not None:
            self._features = [self._place(name) for name in features]
        self.feature_names = [self._columns[i] for i in self._features]
        self._numbers = {
            i: Numbers(self._columns[i], Written(), self._seen) for i in self._features
        }
        if self._label is not None:
            self.label_name, and_label = self._columns[self._label], " and the label"
        self.n_features = len(self.feature_names)
        if not self.feature_names:
            raise DataFileError(path, "no column is left to learn from", line)
        if n_features is not None and n_features != self.n_features:
            problem = f"expected {n_features} features, found {self.n_features}{and_label}"
            raise DataFileError(path, problem, line)
        rows = longest = kept_bytes = 0
        numeric = integral = True
        self._kept: list[_Rows] | None = []
        found: set[str] | None = None if self._label is None else set()
        some: set[str] = set()  # of the labels, where there are many
        index = self._features[0] == 0 and self._columns[0] in ("", "Unnamed: 0")
        for block in self._blocks():
            rows += len(block.X)
            longest = max(longest, block.longest)
            kept_bytes += block.nbytes
            if kept_bytes > _KEPT_BYTES:
                self._kept = None
            if self._kept is not None:
                self._kept.append(block)
            if found is not None:
                some = found
                found.update(block.text.unique().to_pylist())
                found = found if len(found) <= limits.MOST_CLASSES else None
            if block.numbers is None:
                numeric = False
            else:
                integral = integral and all_whole(block.numbers)
            index = index and bool((block.X[:, 0] >= 0).all()) and all_whole(block.X[:, 0])
        if rows == 0:
            raise DataFileError(path, "a header row and no data")
        if index:
            told = (
                f"the first column, called {self._columns[0]!r}, seems to be the index that pandas "
                f"writes; it is taken as a feature: {option('drop', self._columns[0])} leaves it "
                "out, and so does to_csv(index=False)"
            )
            warnings.warn(DataFileWarning(path, told), stacklevel=1)
        told_of = [f"column {quoted(name)}: {told}" for name, told in self._seen.odd.items()]
        told_of += [] if numeric else told_of_labels(some)
        for told in told_of:
            warnings.warn(DataFileWarning(path, told), stacklevel=1)
        self.n_rows = rows
        self._boolean = not numeric and found is not None and all_boolean(found)
        kind = (np.int64 if integral else np.float64) if numeric else f"<U{longest}"
        self._label_type: np.dtype[Any] = np.dtype(kind)
        self._classes = None
        if found is not None:
            names = np.array(sorted(found))
            labels = names.astype(np.float64) if numeric else names
            labels = labels.astype(kind)
            self._classes = np.unique(as_booleans(labels) if self._boolean else labels)

    def classes(self) -> Labels | None:
        return self._classes

    def records(self) -> Records:
        from kernbrook.streams.text_records import CsvRecords

        return CsvRecords(self._file, ",", self._columns, 2 if self.labelled else 1)

    def _label_place(self, label: str | None) -> int | None:
        """Where the label's column is; None where there is none."""
        if label is not None:
            return self._place(label)
        return self._columns.index("label") if "label" in self._columns else len(self._columns) - 1

    def _place(self, name: str) -> int:
        if name not in self._columns:
            raise UnknownNameError("column", name, self._columns)
        return self._columns.index(name)

    def rows_aside(self) -> Iterator[list[str]]:
        """What the columns `aside` say, row by row; each call begins anew."""
        places = [self._place(name) for name in self.aside]
        for first, block in data_blocks(self._file, self._headless, ","):
            reader = csv.reader(io.StringIO(self._decode(first, block), newline=""))
            try:
                yield from ([row[i] for i in places] for row in reader if row)
            except (csv.Error, IndexError) as error:
                line = first + reader.line_num - 1
                raise DataFileError(self._path, str(error), line) from None

    def _decode(self, line: int, text: bytes) -> str:
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError as error:
            line += text.count(b"\n", 0, error.start)
            raise DataFileError(self._path, NOT_UTF8, line) from None

    def _blocks(self) -> Iterator[_Rows]:
        for first, block in data_blocks(self._file, self._headless, ","):
            yield self._rows(first, block)

    def _pieces(self) -> Iterator[Piece]:
        # A block of short rows, and one long label somewhere, would be many bytes at once.
        slab = max(1, _SLAB_BYTES // self._label_type.itemsize)
        rows = 0
        for block in self._kept or self._blocks():
            rows += len(block.X)
            for start in range(0, len(block.X), slab):
                taken = slice(start, start + slab)
                X = block.X[taken]
                # A copy, so that who writes to a chunk does not write to the rows kept.
                yield X.copy() if self._kept else X, self._labels(block, taken)
        if rows != self.n_rows:
            raise self._changed()

    def _labels(self, block: _Rows, taken: slice) -> Labels:
        if self._label_type.kind == "U":
            if 4 * block.longest > self._label_type.itemsize:
                raise self._changed()
            text = block.text[taken].to_numpy(zero_copy_only=False)
            labels = text.astype(self._label_type)
            if self._boolean and not all_boolean(labels):
                raise self._changed()
            return as_booleans(labels).astype(self._label_type) if self._boolean else labels
        if block.numbers is None:
            raise self._changed()
        numbers = block.numbers[taken]
        if self._label_type.kind == "i" and not all_whole(numbers):
            raise self._changed()
        return numbers.astype(self._label_type)

    def _changed(self) -> DataFileError:
        return DataFileError(self._path, "the file was changed after it was opened")

    def _rows(self, first: int, block: bytes) -> _Rows:
        """The rows of one block of whole lines, the first of them with number `first`."""
        import pyarrow as pa
        from pyarrow import compute
        from pyarrow import csv as arrow_csv

        if len(self._columns) > limits.WIDE:
            return self._read_slowly(first, block)
        types = {self._columns[i]: pa.float64() for i in self._features}
        if self._label is not None:
            types[self._columns[self._label]] = pa.string()
        # At the start pyarrow would skip a mark of the byte order, which has no meaning here.
        text = b"\n" + block if block.startswith(BOM_UTF8) else block
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(text),
                read_options=arrow_csv.ReadOptions(
                    column_names=self._columns, use_threads=False, block_size=len(text) + 1
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=list(MISSING)
                ),
            )
        except pa.ArrowException:
            return self._read_slowly(first, block)
        X = np.empty((table.num_rows, self.n_features))
        for j in range(self.n_features):
            X[:, j] = table.column(j).to_numpy()
        truth = self._seen.truth
        if any(truth.values()) or not np.isfinite(X).all():
            return self._read_slowly(first, block)
        if not truth:
            truth.update(dict.fromkeys(self.feature_names or (), False))
        if self._label is None:
            return _Rows(X, None, np.zeros(len(X)))
        labels = compute.utf8_trim_whitespace(table.column(self.n_features).combine_chunks())
        longest = compute.max(compute.utf8_length(labels)).as_py()
        numbers = None
        try:
            numbers = compute.cast(labels, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowException:
            if compute.any(compute.is_in(labels, value_set=pa.array(MISSING))).as_py():
                return self._read_slowly(first, block)
        plain = numbers is None or bool((np.abs(numbers) < EXACT_INTEGERS).all())
        if not plain or longest > limits.LONGEST_LABEL:
            return self._read_slowly(first, block)
        return _Rows(X, labels, numbers, longest)

    def _read_slowly(self, first: int, block: bytes) -> _Rows:
        """The rows, one value at a time.

        Raises
        ------
        DataFileError
            A value is missing, or is not a finite number, or a label is too long or an integer
            beyond those that a float holds; line and column are named.
        """
        import pyarrow as pa

        for line, row in enumerate(block.split(b"\n"), start=first):
            commas = row.count(b",")
            if commas > len(self._columns) + limits.LONGEST_LABEL:  # before they are taken apart
                problem = f"expected {len(self._columns)} values, found {commas:,} commas"
                raise DataFileError(self._path, problem, line)
        reader = csv.reader(io.StringIO(self._decode(first, block), newline=""))
        features: list[list[float]] = []
        text: list[str] = []
        beyond: tuple[int, str] | None = None
        read = self._features if self._label is None else [*self._features, self._label]
        try:
            for cells in reader:
                line = first + reader.line_num - 1
                if not cells:
                    continue
                if len(cells) != len(self._columns):
                    problem = miscounted(self._columns, len(cells), line, cells[0])
                    raise DataFileError(self._path, problem, line)
                values = []
                for i in read:
                    value = cells[i].strip()
                    if value in MISSING:
                        missing = missing_value(0, self._columns[i]).told(self._trained)
                        self._refuse(line, i, MISSING_LABEL if i == self._label else missing)
                    if i != self._label:
                        values.append(self._number(line, i, value))
                        continue
                    if len(value) > limits.LONGEST_LABEL:
                        self._refuse(line, i, too_long())
                    if is_number(value):
                        number = self._finite(line, i, value, float(value))
                        if beyond is None and is_inexact(value, number):
                            beyond = line, value
                    text.append(value)
                features.append(values)
        except csv.Error as error:
            line = first + reader.line_num - 1
            raise DataFileError(self._path, str(error), line) from None
        X = np.array(features)
        if self._label is None:
            return _Rows(X, None, np.zeros(len(X)))
        numbers = None
        if all(map(is_number, text)):
            if beyond is not None:
                assert self._label is not None
                self._refuse(beyond[0], self._label, inexact(beyond[1]))
            numbers = np.array([float(value) for value in text])
        return _Rows(X, pa.array(text), numbers, max(map(len, text)))

    def _number(self, line: int, column: int, value: str) -> float:
        try:
            number = self._numbers[column].number(0, value)
        except ValueProblem as problem:
            self._refuse(line, column, self._not_a_number(column, problem))
        return self._finite(line, column, value, number)

    def _finite(self, line: int, column: int, value: str, number: float) -> float:
        if not math.isfinite(number):
            self._refuse(line, column, f"{quoted(value)} is not finite")
        return number

    def _not_a_number(self, column: int, problem: ValueProblem) -> str:
        """What is wrong with text in a column of features, and what helps."""
        told = problem.told(self._trained)
        if problem.is_text and not self._label_is_known:
            told += or_the_label(self._columns[column])
        return told

    def _refuse(self, line: int, column: int, problem: str) -> NoReturn:
        name = quoted(self._columns[column])
        raise DataFileError(self._path, f"column {name}: {problem}", line)
