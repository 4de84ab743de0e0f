"""Tables as batches of rows in Arrow, whatever format they come in.

A kind of records knows the names of its columns and gives those that are asked for. What the values
mean is not its business: numbers may come as numbers or as text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from kernbrook.errors import KernbrookError

BATCH_ROWS = 16_384  # of formats that let the reader choose


class Batch(NamedTuple):
    """Rows that follow each other.

    Attributes
    ----------
    table : a pyarrow table of the columns that were asked for
    refusal : the error for a problem with one of its rows, by the number of the row from 0
    """

    table: Any
    refusal: Callable[[int, str], KernbrookError]


class Records(ABC):
    """Rows of named columns in a fixed order, read as often as wanted.

    Attributes
    ----------
    name : what to call it in a table
    where : what to call it in messages
    columns : names, each once
    levels : those of columns for which the format declares all values
    decimal : the mark before the fraction of numbers, where values of several kinds become text
    kept : levels that are declared otherwise, and are no gaps whatever they look like
    ignores : whether names that come later, after those of `columns`, are left out
    """

    name: str
    where: Any
    columns: list[str]
    levels: dict[str, list[str]]
    decimal: str = "."
    kept: Collection[str] = ()
    ignores: bool = False

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows from the first on, with these columns."""

    @abstractmethod
    def refusal(self, problem: str) -> KernbrookError:
        """The error for a problem with the whole."""
