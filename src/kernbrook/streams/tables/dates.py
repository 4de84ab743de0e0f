"""The format of a column of dates that is not declared: the only one that all rows have."""

from __future__ import annotations

import warnings
from bisect import bisect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileWarning, KernbrookError
from kernbrook.streams.formats.csv_header import quoted, without_gaps
from kernbrook.streams.formats.table_records import Records, Refused, Wanted
from kernbrook.streams.tables.column_kinds import as_text
from kernbrook.streams.tables.column_problems import date_option, option
from kernbrook.streams.tables.date_columns import DateProblem
from kernbrook.streams.tables.written_dates import COMMON, ISO, formats_left, moments


class UnreadDatesError(Exception):
    """Dates of a column that are in no format that is known yet."""

    def __init__(self, column: str, cause: DateProblem, refusal: KernbrookError):
        self.column = column
        self.cause = cause
        self.refusal = refusal
        super().__init__()


def found_format(records: Records, unread: UnreadDatesError, refused: Refused = None) -> str:
    """The one common format in which all dates of a column can be read.

    refused : as `Wanted` has it; where rows are left out, text that is no date is not looked at

    Raises
    ------
    KernbrookError
        There is none, or more than one.

    Warns
    -----
    DataFileWarning
        It was found.
    """
    import pyarrow as pa

    column, left = unread.column, [ISO, *COMMON]
    instead = f"{option('drop', column)} in place of dates"
    for batch in records.batches(Wanted([column], refused=refused)):
        array = as_text(batch.table.column(column))
        places = np.arange(len(array)) if refused is None else _dates_in(array)
        array = array.take(pa.array(places))
        if not (rest := formats_left(array, left)):
            row = bisect(
                range(len(array)), False, key=lambda i: not formats_left(array[: i + 1], left)
            )
            left = formats_left(array[:row], left)
            if len(left) > len(COMMON):
                raise unread.refusal
            wanted = f"a date as {' or '.join(left)}, as in the rows before"
            found = f"expected {wanted}, found {quoted(array[row].as_py())}; {instead}"
            raise batch.refusal(int(places[row]), f"column {quoted(column)}: {found}")
        left = rest
    declared = date_option(column, unread.cause.parts, left)
    if len(left) > 1:
        ways = " and as ".join(left)
        problem = f"all dates can be read as {ways}; which is it? {declared}"
        raise records.refusal(f"column {quoted(column)}: {problem}")
    told = (
        f"column {quoted(column)}: its dates are read as {left[0]}, the only common format for "
        f"all of them; {declared} says it"
    )
    warnings.warn(DataFileWarning(records.where, told), stacklevel=1)
    return left[0]


def _dates_in(array: Any) -> NDArray[np.int64]:
    """Where an Arrow array of text has a date in some common format."""
    text = without_gaps(array)
    return np.flatnonzero(~np.all([moments(text, one)[1] for one in (ISO, *COMMON)], axis=0))
