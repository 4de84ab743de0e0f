"""Tables as batches of rows in Arrow, whatever format they come in.

A kind of records knows the names of its columns and gives those that are asked for. What the values
mean is not its business: numbers may come as numbers or as text.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileError, DataFileWarning, KernbrookError
from kernbrook.streams import limits
from kernbrook.streams.loading import compute, pa

# Text that stands for a missing value, whatever format it comes from: see `without_gaps`.
MISSING = (
    *("", "?", ".", r"\N", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    *(sign + "".join(nan) for sign in ("", "+", "-") for nan in product("nN", "aA", "nN")),
)
# ++ and *+ give nothing back: else many digits would be tried in all their parts.
NUMBER = re.compile(
    r"[+-]?((\d++\.?\d*+|\.\d++)(e[+-]?\d++)?|inf(inity)?)", re.ASCII | re.IGNORECASE
)


def without_gaps(array: Any, kept: Collection[str] = ()) -> Any:
    """Arrow text, trimmed; null where it stands for a missing value.

    This is the one rule for all formats, with and without an encoder.

    Parameters
    ----------
    array : of text
    kept : declared levels, which are values whatever they look like

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_gaps(pa.array([" a", "NA ", "None"]), kept=["None"]).to_pylist()
    ['a', None, 'None']
    """
    text = compute.utf8_trim_whitespace(array)
    found = compute.is_in(text, value_set=_gaps(frozenset(kept).intersection(MISSING)))
    return compute.if_else(found, pa.scalar(None, text.type), text) if found.true_count else text


@lru_cache
def _gaps(kept: frozenset[str]) -> Any:
    return pa.array([gap for gap in MISSING if gap not in kept])


def is_number(text: str) -> bool:
    """Whether it is written as a number, infinity included."""
    return NUMBER.fullmatch(text) is not None


def quoted(text: str) -> str:
    """Text in quotes for a message, cut where it is long."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


HALF = "half of a character, which UTF-8 does not have"
MANY_DIGITS = "a whole number of thousands of digits, which no float holds"
_SEVERAL = b"kernbrook: values of several kinds"
BATCH_ROWS = 16_384  # of formats that let the reader choose


Refused: TypeAlias = "Callable[[DataFileError], None]"  # with the error for a line


def raised(error: DataFileError) -> None:
    """What is called with it where no row is left out."""
    raise error from None


class ReadOptions(NamedTuple):
    """Which columns are read, and how.

    Attributes
    ----------
    columns : names
    decimal : the mark before the fraction of numbers, where values of several kinds become text
    kept : text that is no gap, whatever it looks like: declared levels
    numbers : of the columns, those of numbers as programs write them: they need not come as text
    skips : whether rows that cannot be read are left out, see `Batch`; else the first is an error
    ignores : whether names that come later, after those of `Records.columns`, are left out
    """

    columns: Sequence[str]
    decimal: str = "."
    kept: Collection[str] = ()
    numbers: Collection[str] = ()
    skips: bool = False
    ignores: bool = False


class Batch(NamedTuple):
    """Rows that follow each other.

    Attributes
    ----------
    table : a pyarrow table of the columns that were asked for
    refusal : the error for a problem with one of its rows, by the number of the row from 0
    refused : the errors of rows that cannot be read, by their numbers; they have no values here
    """

    table: Any
    refusal: Callable[[int, str], KernbrookError]
    refused: Mapping[int, KernbrookError] = {}

    def readable(self) -> Any:
        return pa.concat_tables(_between(self.table, self.refused)) if self.refused else self.table

    def bounded(self, skips: bool) -> Iterator[Batch]:
        """The same rows in batches without much text each, and without cells of long text."""
        sizes, long = np.zeros(self.table.num_rows, dtype=np.int64), dict[int, str]()
        for name in self.table.column_names:
            lengths = text_sizes(self.table.column(name))
            for row in np.flatnonzero(lengths > limits.LONGEST_CELL).tolist():
                found = f"text of {lengths[row]:,} bytes; expected {limits.LONGEST_CELL:,} at most"
                long.setdefault(row, f"column {quoted(name)}: {found}")
            sizes += lengths
        batch = self.refusing(long, skips)
        sizes[[*long]] = 0
        ends = [*np.flatnonzero(np.diff(np.cumsum(sizes) // limits.BATCH_BYTES)) + 1, len(sizes)]
        if len(ends) == 1:
            yield batch
            return
        for start, stop in pairwise([0, *map(int, ends)]):
            yield batch._part(start, stop)

    def refusing(self, wrong: Mapping[int, str], skips: bool) -> Batch:
        """The same where rows have a problem; the first is raised but where they are left out."""
        if not wrong:
            return self
        errors = {row: self.refusal(row, wrong[row]) for row in sorted(wrong)}
        if not skips:
            raise next(iter(errors.values()))
        schema = self.table.schema
        gap = pa.Table.from_arrays([pa.nulls(1, column.type) for column in schema], schema=schema)
        first, *parts = _between(self.table, errors)
        table = pa.concat_tables([first, *(piece for part in parts for piece in (gap, part))])
        return Batch(table, self.refusal, {**self.refused, **errors})

    def _part(self, start: int, stop: int) -> Batch:
        refused = {row - start: error for row, error in self.refused.items() if start <= row < stop}
        table = self.table.slice(start, stop - start)
        return Batch(table, lambda row, problem: self.refusal(start + row, problem), refused)


def _between(table: Any, rows: Iterable[int]) -> list[Any]:
    ends = pairwise([-1, *sorted(rows), table.num_rows])
    return [table.slice(start + 1, end - start - 1) for start, end in ends]


class Records(ABC):
    """Rows of named columns in a fixed order, read as often as wanted.

    Attributes
    ----------
    name : what to call it in a table
    where : what to call it in messages
    columns : names, each once
    levels : those of columns for which the format declares all values
    note : a warning of what was guessed, or None
    typed : whether the format tells text from numbers
    """

    name: str
    where: Any
    columns: list[str]
    levels: Mapping[str, list[str]] = {}
    note: DataFileWarning | None = None
    typed = True

    def batches(self, wanted: ReadOptions) -> Iterator[Batch]:
        """All rows from the first on, with these columns, not much text at once."""
        for batch in self._read(wanted):
            yield from batch.bounded(wanted.skips)

    @abstractmethod
    def _read(self, wanted: ReadOptions) -> Iterator[Batch]:
        """The same, with as much text as comes."""

    def numbered(self, table: Any, first: int, how: str = "") -> Batch:
        """Rows, of which the first has a number; how : it is counted."""
        return Batch(table, lambda i, problem: self.refusal(f"row {first + i:,}{how}: {problem}"))

    def refusal(self, problem: str) -> KernbrookError:
        return DataFileError(self.where, problem)

    def refusal_of_names(self, problem: str) -> KernbrookError:
        """The error for a problem with the names of the columns."""
        return self.refusal(problem)


def checked_names(
    names: Sequence[Any], refusal: Callable[[str], KernbrookError], most: float = math.inf
) -> list[str]:
    """Names of columns, each text and once, and at most so many."""
    if len(names) > most:
        raise refusal(f"over {most:,} columns, for which there is svmlight")
    if not names:
        raise refusal("no column")
    for name, times in Counter(names).items():
        if not isinstance(name, str):
            raise refusal(f"expected columns named by text, found {name!r:.60}")
        if not is_unicode(name):
            raise refusal(f"column {name!r:.60}: {HALF}")
        if times > 1:
            raise refusal(f"two columns are called {quoted(name)}")
    return list(names)


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
    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, np.int64), *map(text_sizes, column.chunks)])
    types = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary
    if pa.types.is_dictionary(kind):
        sizes = pa.array(text_sizes(column.dictionary)).take(column.indices)
    elif pa.types.is_string_view(kind):
        sizes = compute.binary_length(column.cast(pa.large_string()))
    elif any(fits(kind) for fits in (*types, pa.types.is_large_binary)):
        sizes = compute.binary_length(column)
    else:
        return np.zeros(len(column), np.int64)
    return np.asarray(sizes.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)


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
    metadata = {_SEVERAL: json.dumps(kinds)} if any(kinds.values()) else None
    return pa.table(list(arrays.values()), names=list(arrays), metadata=metadata)


def several_of(table: Any, column: str) -> list[str]:
    """Values of several kinds that a column had before it became text; none where it had not."""
    found = (table.schema.metadata or {}).get(_SEVERAL)
    return [] if found is None else list(json.loads(found).get(column, []))
