"""Records from text, line by line: CSV with any separator."""

from __future__ import annotations

import csv
from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from kernbrook.errors import DataFileError, DataFileWarning
from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import NOT_UTF8, count_lines, stem
from kernbrook.streams.formats.csv_header import (
    IN_WORDS,
    MISSING,
    data_blocks,
    find_separator,
    quoted,
    read_header,
)
from kernbrook.streams.formats.first_lines import NO_COMMENT
from kernbrook.streams.formats.table_records import HALF, Batch, Records, Wanted, is_unicode
from kernbrook.streams.formats.text_cells import UNENDED, is_open


class TextRecords(Records):
    """A text file, a block of whole lines at a time; problems name the line."""

    def __init__(self, file: DataFile):
        self._file = file
        self.where = file.path
        self.name = stem(file.path)
        self.levels: dict[str, list[str]] = {}

    def at(self, line: int, problem: str) -> DataFileError:
        """The error for a problem with one line."""
        return DataFileError(self.where, problem, line)

    def lines_of(self, rows: int, first: int, block: bytes) -> Sequence[int]:
        """The numbers of the lines of so many rows of a block, the first of which has a number."""
        if rows == _n_lines(block):
            return range(first, first + rows)
        numbered = enumerate(block.split(b"\n"), start=first)
        return [number for number, line in numbered if self.is_row(line)]

    def batch(self, table: Any, lines: Sequence[int], refused: Sequence[int] = ()) -> Batch:
        """Rows, the numbers of their lines, and those of lines that were refused between them."""
        bad = [bisect(lines, line) + i for i, line in enumerate(sorted(refused))]
        return Batch(table, lambda row, problem: self.at(lines[row], problem), bad)

    def is_row(self, line: bytes) -> bool:
        """Whether a line has values."""
        return line != b""

    def check_names(self, names: Sequence[str], line: int) -> None:
        """DataFileError where there are too many, two are the same, or one is no text."""
        if len(names) > limits.MOST_COLUMNS:
            problem = f"over {limits.MOST_COLUMNS:,} columns, for which there is svmlight"
            raise self.at(line, problem)
        seen = set()
        for name in names:
            if name in seen:
                raise self.at(line, f"two columns are called {quoted(name)}")
            if not is_unicode(name):
                raise self.at(line, f"the name {quoted(name)}: {HALF}")
            seen.add(name)


class CsvRecords(TextRecords):
    """A CSV file. Values come as text, and of columns that are to be numbers as these.

    A column of which a value is no plain number comes as text from that block on.

    Parameters
    ----------
    file : the file
    separator : one character between values; None to find it
    known, least : as `read_header` has them

    Warns
    -----
    DataFileWarning
        As `read_header` says how the first row was taken.
    """

    typed = False

    def __init__(
        self,
        file: DataFile,
        separator: str | None = None,
        known: Collection[str] = (),
        least: int = 2,
    ):
        super().__init__(file)
        self.separator = find_separator(file) if separator is None else separator
        header = read_header(file, self.separator, known, least)
        self._header, self.columns, self._headless, told = header
        self.told = DataFileWarning(file.path, told, self._header) if told else None

    def refusal_of_names(self, problem: str) -> DataFileError:
        return self.at(self._header, problem)

    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        bad = Refusing(wanted)
        for first, block in data_blocks(self._file, self._headless, self.separator, bad.refused):
            table = self._with_numbers(block, wanted)
            if table is None:
                table, block = self._as_text(first, block, wanted, bad)
                plain = {name for name in wanted.numbers if _is_plain(table.column(name))}
                wanted = wanted._replace(numbers=plain)
            lines = self.lines_of(table.num_rows, first, block)
            yield self.batch(table, lines, bad.lines())

    def _as_text(
        self, first: int, block: bytes, wanted: Wanted, bad: Refusing
    ) -> tuple[Any, bytes]:
        """The table of a block, all of it text, and the block without lines that are refused."""
        wanted = wanted._replace(numbers=())
        try:
            return csv_table(block, self.columns, wanted, self.separator), block
        except (ValueError, csv.Error) as error:
            faults = list(self._faults(first, block))
            if not faults:
                raise self.at(first, f"in the lines from here on: {error}") from None
            if bad.refused is None:
                raise faults[0] from None
        lines = block.split(b"\n")
        for fault in faults:
            bad.refused(fault)
            lines[(fault.line or first) - first] = b""
        block = b"\n".join(lines)
        if not block.strip(b"\n"):
            return _no_rows(wanted.columns), block
        return csv_table(block, self.columns, wanted, self.separator), block

    def _with_numbers(self, block: bytes, wanted: Wanted) -> Any:
        """The table of a block where all that are to be numbers are; else None."""
        if not wanted.numbers or len(self.columns) > limits.WIDE:
            return None
        try:
            table = csv_table(block, self.columns, wanted, self.separator)
        except ValueError:
            return None
        # What is written as infinity, or is too large, is named as it stands.
        return table if all(_is_finite(table.column(name)) for name in wanted.numbers) else None

    def _faults(self, first: int, block: bytes) -> Iterator[DataFileError]:
        """What is wrong with the lines of a block that pyarrow does not read."""
        for line, row in enumerate(block.split(b"\n"), start=first):
            if is_open(row, self.separator):
                raise self.at(line, UNENDED)
            if row and (problem := self._problem(row)) is not None:
                yield self.at(line, problem)

    def _problem(self, row: bytes) -> str | None:
        """What is wrong with a line; None where nothing is."""
        if _is_too_long(row, self.columns, self.separator):
            kind = IN_WORDS.get(self.separator, f"of {quoted(self.separator)}")
            marks = f"{row.count(self.separator.encode()):,} {kind}"
            return f"expected {len(self.columns)} values, found {marks}"
        try:
            cells = next(csv.reader([row.decode("utf-8")], delimiter=self.separator))
        except UnicodeDecodeError:
            return NOT_UTF8
        except csv.Error as problem:
            return str(problem)
        if len(cells) != len(self.columns):
            told = f"expected {len(self.columns)} values, found {len(cells)}"
            return f"{told}; {NO_COMMENT}" if cells[0].startswith("#") else told
        return None


class Refusing:
    """The lines that are refused while a block is read.

    Attributes
    ----------
    refused : called with the error for one; None where such an error is raised
    """

    def __init__(self, wanted: Wanted):
        self._tell, self._lines = wanted.refused, list[int]()
        self.refused = None if wanted.refused is None else self.refuse

    def refuse(self, error: DataFileError) -> None:
        """Leave out a line; raise the error where that is not wanted."""
        if self._tell is None:
            raise error from None
        self._tell(error)
        self._lines.append(error.line or 0)

    def lines(self) -> list[int]:
        """Their numbers, since this was asked last."""
        lines, self._lines = self._lines, []
        return lines


def csv_table(block: bytes, names: Sequence[str], wanted: Wanted, separator: str) -> Any:
    """The columns wanted of a block of lines, as text or numbers; null where a value is missing.

    Of text with blanks around it `without_gaps` says later whether it is missing.

    Parameters
    ----------
    block : whole lines
    names : of all columns
    wanted : columns, and what is no gap
    separator : what parts the values

    Raises
    ------
    ValueError
        pyarrow does not read it, or a row goes on in the next line.
    """
    if len(names) > limits.WIDE:
        table = _wide_table(block, names, wanted.columns, separator)
    else:
        table = _arrow_table(block, names, wanted, separator)
    rows = table.num_rows
    if rows != _n_lines(block) and rows != sum(1 for line in block.split(b"\n") if line):
        raise ValueError("quotes stand where they are not expected")
    return _with_line_ends(table) if b"\r" in block else table


def _n_lines(block: bytes) -> int:
    """The lines of a block, empty ones too."""
    return count_lines(block) + (not block.endswith(b"\n"))


def _with_line_ends(table: Any) -> Any:
    """A table in whose text LF stands where lines ended, in place of CR."""
    import pyarrow as pa
    from pyarrow import compute

    for i, name in enumerate(table.column_names):
        if pa.types.is_string(table.column(i).type):
            text = compute.replace_substring(table.column(i), "\r", "\n")
            table = table.set_column(i, name, text)
    return table


def _arrow_table(block: bytes, names: Sequence[str], wanted: Wanted, separator: str) -> Any:
    """The same by pyarrow."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    places = [f"{i}" for i in range(len(names))]  # names as they are may be the same as options
    number: Mapping[str, str] = dict(zip(names, places, strict=True))
    kinds = dict.fromkeys(places, pa.string())
    kinds |= {number[name]: pa.float64() for name in wanted.numbers}
    table = arrow_csv.read_csv(
        # At the start pyarrow would skip a mark of the byte order, which has no meaning here.
        pa.BufferReader(b"\n" + block),
        read_options=arrow_csv.ReadOptions(
            column_names=places, use_threads=False, block_size=len(block) + 2
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=separator),
        convert_options=arrow_csv.ConvertOptions(
            column_types=kinds,
            null_values=[gap for gap in MISSING if gap not in wanted.kept],
            strings_can_be_null=True,
            include_columns=[number[name] for name in wanted.columns],
        ),
    )
    return table.rename_columns(list(wanted.columns))


def _no_rows(columns: Sequence[str]) -> Any:
    """A table of text without a row."""
    import pyarrow as pa

    return pa.table({name: pa.array([], pa.string()) for name in columns})


def _is_plain(text: Any) -> bool:
    """Whether all of a column of text are numbers as Arrow reads them, or missing."""
    import pyarrow as pa

    try:
        return _is_finite(text.cast(pa.float64()))
    except pa.ArrowInvalid:
        return False


def _is_finite(numbers: Any) -> bool:
    """Whether none of a column is infinite, or what text such as "nan(1)" means."""
    from pyarrow import compute

    return compute.all(compute.is_finite(numbers), min_count=0).as_py() is True


def _is_too_long(line: bytes, names: Sequence[str], separator: str) -> bool:
    """Whether a line has so many separators that it is not to be taken apart."""
    return line.count(separator.encode()) > len(names) + limits.LONGEST_LABEL


def _wide_table(block: bytes, names: Sequence[str], wanted: Sequence[str], separator: str) -> Any:
    """The same where pyarrow's memory for each column is more than the text."""
    import pyarrow as pa

    if any(_is_too_long(line, names, separator) for line in block.split(b"\n")):
        raise ValueError("a row of another length")
    lines = block.decode("utf-8").split("\n")
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if any(len(row) != len(names) for row in rows):
        raise ValueError("a row of another length")
    place = {name: i for i, name in enumerate(names)}
    arrays = [pa.array([row[place[name]] for row in rows], pa.string()) for name in wanted]
    return pa.Table.from_arrays(arrays, names=list(wanted))
