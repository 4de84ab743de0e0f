"""Tables as batches of rows in Arrow, whatever format they come in.

A kind of records knows the names of its columns and gives those that are asked for. What the values
mean is not its business: numbers may come as numbers or as text.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from kernbrook.errors import DataFileError, KernbrookError

HALF = "half of a character, which UTF-8 does not have"
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
    told: Warning | None = None
    typed = True

    @abstractmethod
    def batches(self, wanted: Wanted) -> Iterator[Batch]:
        """All rows from the first on, with these columns."""

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
