"""Records of Parquet: a file, or the files of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, BinaryIO

from kernbrook.streams.files import limits
from kernbrook.streams.files.data_files import DataFile
from kernbrook.streams.files.text_files import has_known_suffix
from kernbrook.streams.formats import parquet_pages
from kernbrook.streams.formats.arrow_records import ArrowFile
from kernbrook.streams.formats.csv_header import quoted
from kernbrook.streams.formats.table_records import (
    BATCH_ROWS,
    Batch,
    Records,
    Wanted,
    text_sizes,
)

_ENDINGS = (".parquet", ".pq")
_LOGS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
_READ_AHEAD = 1 << 20  # bytes of a column


class ParquetRecords(ArrowFile):
    """A Parquet file; only the columns that are wanted are read."""

    kind = "Parquet"

    def __init__(self, file: DataFile):
        super().__init__(file)
        self._rows: dict[tuple[str, ...], list[int]] = {}  # by columns

    def _schema(self, opened: BinaryIO) -> Any:
        return parquet_file(opened).schema_arrow

    def group(self, number: int) -> Any:
        """A group of rows as a table; its text stays in dictionaries where it lies in some."""
        return self._in_words(lambda: self._group(number))

    def _group(self, number: int) -> Any:
        with self._opened() as opened:
            file = parquet_file(opened)
            leaves, metadata = _leaves(file.schema, self.columns), file.metadata
            self._pages(opened, metadata.row_group(number), leaves, f"row group {number}")
            folded = _folded(metadata, leaves)
            file = parquet_file(opened, metadata=metadata, read_dictionary=folded)
            return file.read_row_group(number, self.columns)

    def _batches(self, opened: BinaryIO, columns: Sequence[str]) -> Iterator[Any]:
        file = parquet_file(opened)
        leaves, metadata = _leaves(file.schema, columns), file.metadata
        rows = self._rows.get(key := tuple(columns))
        if rows is None:
            rows = self._rows[key] = self._rows_at_once(opened, metadata, leaves, columns)
        nested = {i: leaf for i, leaf in leaves.items() if leaf.path not in columns}
        file = parquet_file(
            opened, metadata=metadata, buffer_size=_READ_AHEAD,
            read_dictionary=_folded(metadata, nested),  # it stays so
        )  # fmt: skip
        for size, own in groupby(range(len(rows)), rows.__getitem__):
            yield from file.iter_batches(size, row_groups=[*own], columns=list(columns))

    def _rows_at_once(
        self, opened: BinaryIO, metadata: Any, leaves: Mapping[int, Any], columns: Sequence[str]
    ) -> list[int]:
        """How many rows to read at once of each group of them."""
        text = [leaf.path for leaf in leaves.values() if leaf.path in columns]
        file = parquet_file(opened, metadata=metadata, read_dictionary=text)
        fixed = max([1, *(leaf.length for leaf in leaves.values())])
        rows, first = list[int](), 1
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            last = first + group.num_rows - 1
            pages = self._pages(opened, group, leaves, f"rows {first:,} to {last:,}")
            first = last + 1
            longest = max(fixed, sum(map(sum, pages.values())) // max(1, group.num_rows))
            for i, leaf in leaves.items():
                own = pages[leaf.path]
                if own and leaf.path in text and _is_folded(group.column(i)):
                    longest = max(longest, _longest(file, number, leaf.path, own[0]))
            rows.append(max(1, min(BATCH_ROWS, limits.BATCH_BYTES // longest)))
        return rows

    def _pages(
        self, opened: BinaryIO, group: Any, leaves: Mapping[int, Any], part: str
    ) -> dict[str, list[int]]:
        """Bytes of the pages of each column in a group of rows, unpacked."""
        pages = dict[str, list[int]]()
        for i, leaf in leaves.items():
            try:
                pages[leaf.path] = parquet_pages.unpacked(opened, group.column(i))
            except (IndexError, KeyError, ValueError, OverflowError, OSError, RecursionError):
                problem = f"column {quoted(leaf.path)} is damaged or cut"
                raise self._unread(problem) from None
        sizes = {path: sum(own) for path, own in pages.items()}
        most = max(sizes, key=sizes.__getitem__, default="")
        part += f", most of all column {quoted(most)},"
        self._file.check_unpacked(sum(sizes.values()), opened, part)
        return pages


class FolderRecords(Records):
    """The Parquet files of a folder, in the order of their names, one after the other."""

    def __init__(self, folder: Path, max_bytes: int | None = None):
        self.where = folder
        self.name = folder.resolve().name
        self.levels = {}
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            raise self.refusal(error.strerror or str(error)) from None
        wanted = [n for n in names if n.lower().endswith(_ENDINGS) and n[0] not in "._"]
        self._refuse_others(names, wanted)
        self._files = [ParquetRecords(DataFile(folder / name, max_bytes)) for name in wanted]
        self.columns = self._files[0].columns
        for file in self._files[1:]:
            if set(file.columns) != set(self.columns):
                odd = sorted(set(file.columns) ^ set(self.columns))[0]
                raise file.refusal(f"other columns than in {wanted[0]}, such as {quoted(odd)}")

    def _refuse_others(self, names: Sequence[str], wanted: Sequence[str]) -> None:
        """DataFileError where no file is read, or where rows seem to be elsewhere, too."""
        for log, kind in _LOGS.items():
            if log in names:
                problem = f"a table of {kind}: {log} says which rows are valid, and is not read"
                raise self.refusal(f"{problem}; write the rows to a Parquet file")
        for name in names:
            path = self.where / name
            if name[0] in "._" or name in wanted:
                continue
            if path.is_dir() and (inner := _parquet_below(path)) is not None:
                raise self.refusal(
                    f"Parquet files in a folder of this folder, such as {quoted(str(inner))}; "
                    "expected all of them in one folder, with all columns"
                )
            text = path.suffix.lower() in (".txt", ".dat")  # a description, perhaps
            if wanted and path.is_file() and has_known_suffix(path) and not text:
                raise self.refusal(
                    f"Parquet files and {quoted(name)}, which would not be read; expected Parquet "
                    "files (.parquet, .pq) alone"
                )
        if not wanted:
            raise self.refusal(
                "a folder, where a file was expected, or Parquet files (.parquet, .pq) in a folder"
            )

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [file.where for file in self._files]

    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        for file in self._files:
            yield from file.batches(wanted)


def parquet_file(source: Any, **options: Any) -> Any:
    """A Parquet file, opened by pyarrow; its old kind of moments may be of any year."""
    from pyarrow.parquet import ParquetFile

    return ParquetFile(source, pre_buffer=False, coerce_int96_timestamp_unit="us", **options)


def _is_folded(chunk: Any) -> bool:
    """Whether a column of a group of rows is text in a dictionary."""
    return bool(chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page)


def _folded(metadata: Any, leaves: Mapping[int, Any]) -> list[str]:
    """Those columns that are text in dictionaries, which pyarrow can give so."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    found = list[str]()
    for i, leaf in leaves.items():
        chunks = [group.column(i) for group in groups]
        if all(_is_folded(one) and "DELTA" not in f"{one.encodings}" for one in chunks):
            found.append(leaf.path)
    return found


def _longest(file: Any, group: int, column: str, size: int) -> int:
    """Bytes of the longest text in the dictionary of a column, which has a page of so many bytes.

    With the first row comes the whole dictionary; else the page says what its longest text may be.
    """
    import pyarrow as pa

    try:
        row = next(file.iter_batches(1, row_groups=[group], columns=[column]), None)
    except pa.ArrowNotImplementedError:  # in this encoding text is given as it is
        return size
    array = None if row is None or not row.num_columns else row.column(0)
    if array is None or not pa.types.is_dictionary(array.type):
        return size
    sizes = text_sizes(array.dictionary)
    return int(sizes.max(initial=0)) if sizes.sum() + 4 * len(sizes) >= size else size


def _leaves(schema: Any, columns: Sequence[str]) -> dict[int, Any]:
    """By their places, the columns of Parquet that some columns of a table are made of."""
    wanted, found = set(columns), dict[int, Any]()
    for i in range(len(schema)):
        names = accumulate(schema.column(i).path.split("."), "{}.{}".format)
        if not wanted.isdisjoint(names):
            found[i] = schema.column(i)
    return found


def _parquet_below(folder: Path) -> Path | None:
    """A Parquet file in a folder, however deep; None where there is none."""
    for where, _, names in os.walk(folder):
        for name in sorted(names):
            if name.lower().endswith(_ENDINGS) and name[0] not in "._":
                return Path(where, name).relative_to(folder.parent)
    return None
