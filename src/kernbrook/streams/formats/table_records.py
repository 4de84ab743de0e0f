"""Tables as batches of rows in Arrow, whatever format they come in.

A kind of records knows the names of its columns and gives those that are asked for. What the values
mean is not its business: numbers may come as numbers or as text.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, DataFileWarning, KernbrookError
from kernbrook.streams.files import limits
from kernbrook.streams.formats.csv_header import quoted

HALF = "half of a character, which UTF-8 does not have"
MANY_DIGITS = "a whole number of thousands of digits, which no float holds"
_SEVERAL = b"kernbrook: values of several kinds"
BATCH_ROWS = 16_384  # of formats that let the reader choose


Refused: TypeAlias = "Callable[[KernbrookError], None] | None"


class Wanted(NamedTuple):
    """Which columns are read, and how.

    Attributes
    ----------
    columns : names
    decimal : the mark before the fraction of numbers, where values of several kinds become text
    kept : text that is no gap, whatever it looks like: declared levels
    numbers : of the columns, those of numbers as programs write them: they need not come as text
    refused : called with the error for each row that cannot be read, which is then left out; None
        where the first such error is raised
    ignores : whether names that come later, after those of `Records.columns`, are left out
    """

    columns: Sequence[str]
    decimal: str = "."
    kept: Collection[str] = ()
    numbers: Collection[str] = ()
    refused: Refused = None
    ignores: bool = False


class Batch(NamedTuple):
    """Rows that follow each other.

    Attributes
    ----------
    table : a pyarrow table of the columns that were asked for
    refusal : the error for a problem with one of its rows, by the number of the row from 0
    bad : of all rows, these too, the numbers of those that were refused
    """

    table: Any
    refusal: Callable[[int, str], KernbrookError]
    bad: Sequence[int] = ()

    def place(self, row: int) -> int:
        """The number of a row among all of them, those that were refused too.

        Examples
        --------
        >>> batch = Batch(None, lambda row, problem: KernbrookError(problem), bad=[0, 2])
        >>> [batch.place(row) for row in range(3)]
        [1, 3, 4]
        """
        for bad in self.bad:
            row += bad <= row
        return row

    def bounded(self, refused: Refused = None) -> Iterator[Batch]:
        """The same rows in batches without much text each.

        refused : called with the error for a cell of long text, whose row is then refused, too;
            None where the error is raised
        """
        sizes, long = np.zeros(self.table.num_rows, dtype=np.int64), dict[int, str]()
        for name in self.table.column_names:
            own = text_sizes(self.table.column(name))
            for row in np.flatnonzero(own > limits.LONGEST_CELL).tolist():
                found = f"text of {own[row]:,} bytes; expected {limits.LONGEST_CELL:,} at most"
                long.setdefault(row, f"column {quoted(name)}: {found}")
            sizes += own
        for row in sorted(long):
            error = self.refusal(row, long[row])
            if refused is None:
                raise error
            refused(error)
        sizes[list(long)] = 0
        cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // limits.BATCH_BYTES)) + 1
        ends = {0, *cuts.tolist(), *(row + 1 for row in long), self.table.num_rows}
        if len(ends) > 2 or long:
            for start, stop in pairwise(sorted(ends)):
                yield self._part(start, stop, stop - 1 in long)
        else:
            yield self

    def _part(self, start: int, stop: int, loses_last: bool) -> Batch:
        """Rows from one to before another, and whether the last of them is refused."""
        first = self.place(start - 1) + 1 if start else 0
        last = self.place(stop - 1)
        is_end = stop == self.table.num_rows
        bad = [row - first for row in self.bad if row >= first and (is_end or row < last)]
        if loses_last:
            bad, stop = sorted([*bad, last - first]), stop - 1
        table = self.table.slice(start, stop - start)
        return Batch(table, lambda row, problem: self.refusal(start + row, problem), bad)


class Records(ABC):
    """Rows of named columns in a fixed order, read as often as wanted.

    Attributes
    ----------
    name : what to call it in a table
    where : what to call it in messages
    columns : names, each once
    levels : those of columns for which the format declares all values
    told : a warning of what was guessed, or None
    typed : whether the format tells text from numbers
    """

    name: str
    where: Any
    columns: list[str]
    levels: dict[str, list[str]]
    told: DataFileWarning | None = None
    typed = True

    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """All rows from the first on, with these columns, not much text at once.

        Raises
        ------
        KernbrookError
            The file cannot be read, or a cell has long text.
        """
        for batch in self._read(wanted):
            yield from batch.bounded(wanted.refused)

    @abstractmethod
    def _read(self, wanted: Wanted) -> Iterator[Batch]:
        """The same, with as much text as comes."""

    def refusal(self, problem: str) -> KernbrookError:
        """The error for a problem with the whole."""
        return DataFileError(self.where, problem)

    def refusal_of_names(self, problem: str) -> KernbrookError:
        """The error for a problem with the names of the columns."""
        return self.refusal(problem)


def is_unicode(value: Any) -> bool:
    """Whether a value can be written in UTF-8."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def text_sizes(column: Any) -> NDArray[np.int64]:
    """Bytes of the text in each row of an Arrow array; 0 where it is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> text = pa.array(["a", None, "bc", "a"])
    >>> text_sizes(text).tolist(), text_sizes(text.dictionary_encode()).tolist()
    ([1, 0, 2, 1], [1, 0, 2, 1])
    """
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, np.int64), *map(text_sizes, column.chunks)])
    if pa.types.is_dictionary(kind):
        sizes = np.append(text_sizes(column.dictionary), 0)
        places = column.indices.to_numpy(zero_copy_only=False)
        return sizes[np.nan_to_num(places, nan=-1).astype(np.int64)]
    if pa.types.is_string_view(kind):  # each says its length first
        views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
        sizes = views[column.offset : column.offset + len(column), 0].astype(np.int64)
        return np.where(column.is_null().to_numpy(zero_copy_only=False), 0, sizes)
    types = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary
    if not any(fits(kind) for fits in (*types, pa.types.is_large_binary)):
        return np.zeros(len(column), np.int64)
    sizes = compute.binary_length(column).fill_null(0)
    return np.asarray(sizes.to_numpy(zero_copy_only=False), dtype=np.int64)


def kinds_of(values: Sequence[Any]) -> list[str]:
    """The first value of each kind, text, true and false, numbers, where there are several."""
    first: dict[str, str] = {}
    for value in values:
        if type(value).__name__ not in ("NoneType", "NAType") and value == value:
            is_truth = type(value).__name__.startswith("bool")
            kind = "text" if isinstance(value, str) else "truth" if is_truth else "number"
            first.setdefault(kind, f"{value!r:.40}")
    return list(first.values()) if len(first) > 1 else []


def table_of(arrays: Mapping[str, Any], kinds: Mapping[str, list[str]]) -> Any:
    """A pyarrow table; of columns of several kinds `several_of` tells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = table_of({"y": pa.array(["1", "a"])}, {"y": ["1", "'a'"]})
    >>> several_of(table.slice(1), "y"), several_of(table, "x")
    (['1', "'a'"], [])
    """
    import pyarrow as pa

    metadata = {_SEVERAL: json.dumps(kinds)} if any(kinds.values()) else None
    return pa.table(list(arrays.values()), names=list(arrays), metadata=metadata)


def several_of(table: Any, column: str) -> list[str]:
    """Values of several kinds that a column had before it became text; none where it had not."""
    found = (table.schema.metadata or {}).get(_SEVERAL)
    return [] if found is None else list(json.loads(found).get(column, []))
