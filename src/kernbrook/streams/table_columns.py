"""A column of a table as columns of numbers: as it is, as levels, hashed, or as parts of a date.

All take an Arrow array and give (n, width) float64, NaN where a value is missing.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, printable
from kernbrook.streams.csv_header import is_number, quoted, without_gaps

Floats = NDArray[np.float64]

DATE_PARTS = ("days", "hour", "weekday", "yearday")
OTHER = "other"  # the level of values that were not declared
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d{4}/\d\d?/\d\d?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d++|\d{1,3}(\.\d{3})++),\d++", re.ASCII)
_ZONED = r":\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$"
_DAY = 86_400_000_000  # microseconds
_WEEKDAY = 3  # of 1970-01-01, from Monday


class ValueProblem(InputError):
    """A value of a column that cannot be encoded.

    Parameters
    ----------
    row : of the chunk, from 0
    problem : what was expected and what was found
    is_text : whether text was found, which may be a label
    """

    def __init__(self, row: int, problem: str, is_text: bool = False):
        self.row = row
        self.problem = problem
        self.is_text = is_text
        super().__init__(problem)


def option(name: str, value: str) -> str:
    """A parameter and how the command line is told it.

    Examples
    --------
    >>> option("drop", "my column")
    "drop (--drop 'my column')"
    """
    shown = argument(value)
    return f"{name} (--{name}{'=' if shown.startswith('-') else ' '}{shown})"


def argument(name: str) -> str:
    """The name of a column as an option that takes several has it."""
    value = printable(name)
    if any(mark in value for mark in ',"=') or value != value.strip():
        value = '"' + value.replace('"', '""') + '"'
    return f"{shlex.quote(value):.1000}"


def missing_hint(column: str) -> str:
    """What to do about a missing value in a column."""
    return f"missing (--missing mean, last or indicator) or {option('drop', column)}"


def date_hint(column: str) -> str:
    """What to do about a date in a column."""
    return f"a date? {option('dates', column)} or {option('drop', column)}"


def not_a_number(column: str, value: str, decimal: str = ".") -> tuple[str, bool]:
    """What is wrong with a value, and what helps; and whether it is text, such as labels are."""
    found = f"expected a number, found {quoted(value)}"
    if decimal == "." and _DECIMAL_COMMA.fullmatch(value):
        return f"{found}; with a decimal comma? decimal (--decimal ,)", False
    if _DATE.match(value):
        return f"{found}; {date_hint(column)}", False
    return f"{found}; {option('categorical', column)} or {option('drop', column)}", True


def with_point(text: str, decimal: str) -> str:
    """Text with a point before the fraction; a point that was no such mark makes it no number."""
    return text if decimal == "." else text.replace(".", "?").replace(decimal, ".")


class Numbers(NamedTuple):
    """Numbers, also where they come as text.

    Attributes
    ----------
    column : name
    decimal : what stands before the fraction in text
    """

    column: str
    decimal: str = "."

    @property
    def names(self) -> list[str]:
        return [self.column]

    def encode(self, array: Any) -> Floats:
        import pyarrow as pa

        array, kind = _plain(array)
        if pa.types.is_null(kind):
            return np.full((len(array), 1), np.nan)
        if pa.types.is_string(kind):
            values = self._from_text(array)
        elif _is_number(kind):
            values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        elif pa.types.is_temporal(kind):
            raise ValueProblem(0, f"a number was expected, found {kind}; {date_hint(self.column)}")
        else:
            way = option("drop", self.column)
            raise ValueProblem(0, f"a number was expected, found {kind}; {way}")
        infinite = np.isinf(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise ValueProblem(row, f"{values[row]} is not finite")
        return values[:, None]

    def _from_text(self, array: Any) -> Floats:
        import pyarrow as pa
        from pyarrow import compute

        for trimmed in (False, True):  # most columns have neither gaps nor blanks
            marked = without_gaps(array) if trimmed else array
            if self.decimal != ".":
                marked = compute.replace_substring(marked, ".", "?")
                marked = compute.replace_substring(marked, self.decimal, ".")
            with suppress(pa.ArrowInvalid):
                numbers = marked.cast(pa.float64())
                values = numbers.to_numpy(zero_copy_only=False)
                if np.isnan(values).sum() == numbers.null_count:  # "nan(1)" is one, and no gap
                    return values
        gaps = without_gaps(array)
        return np.array([self._number(row, value) for row, value in enumerate(gaps.to_pylist())])

    def _number(self, row: int, value: str | None) -> float:
        if value is None:
            return math.nan
        marked = with_point(value, self.decimal)
        if is_number(marked):
            return float(marked)
        problem, is_text = not_a_number(self.column, value, self.decimal)
        raise ValueProblem(row, problem, is_text)


class Levels(NamedTuple):
    """One column of 0 and 1 for each declared level, and one for all others.

    Attributes
    ----------
    column : name
    levels : each once
    """

    column: str
    levels: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [f"{self.column}={level}" for level in (*self.levels, OTHER)]

    def encode(self, array: Any) -> Floats:
        places = {level: i for i, level in enumerate(self.levels)}
        others = len(places)
        found, known = _levels(array, places)
        rows = np.zeros((len(known) + 1, others + 1))
        rows[np.arange(len(known)), [places.get(level, others) for level in known]] = 1
        rows[-1] = np.nan
        return rows[found]


class Hashed(NamedTuple):
    """Levels as scikit-learn's FeatureHasher has them: a column and a sign by their hash.

    Attributes
    ----------
    column : name
    width : columns
    """

    column: str
    width: int

    @property
    def names(self) -> list[str]:
        return [f"{self.column}#{i}" for i in range(self.width)]

    def encode(self, array: Any) -> Floats:
        from sklearn.feature_extraction import FeatureHasher

        found, known = _levels(array)
        rows = np.full((len(known) + 1, self.width), np.nan)
        if known:
            hasher = FeatureHasher(self.width, input_type="string")
            rows[:-1] = hasher.transform([[level] for level in known]).toarray()
        return rows[found]


class Dates(NamedTuple):
    """Parts of a moment: days since 1970 as they are, cycles by sine and cosine; in UTC.

    Attributes
    ----------
    column : name
    parts : some of `DATE_PARTS`
    """

    column: str
    parts: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [
            f"{self.column} {name}"
            for part in self.parts
            for name in ([part] if part == "days" else [f"{part} sin", f"{part} cos"])
        ]

    def encode(self, array: Any) -> Floats:
        moments, missing = self._moments(array)
        days, rest = np.divmod(moments, _DAY)
        of_day = rest / _DAY
        dates = days.astype("datetime64[D]")
        years = dates.astype("datetime64[Y]")
        first = years.astype(dates.dtype)
        following = (years + np.timedelta64(1, "Y")).astype(dates.dtype)
        cycles = {
            "hour": of_day,
            "weekday": ((days + _WEEKDAY) % 7 + of_day) / 7,
            "yearday": ((dates - first).astype(np.int64) + of_day)
            / (following - first).astype(np.int64),
        }
        columns = []
        for part in self.parts:
            if part == "days":
                columns.append(days + of_day)
            else:
                angle = 2 * np.pi * cycles[part]
                columns += [np.sin(angle), np.cos(angle)]
        values = np.stack(columns, axis=1)
        values[missing] = np.nan
        return values

    def _moments(self, array: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Microseconds since 1970, and where they are missing."""
        import pyarrow as pa

        array, kind = _plain(array)
        if pa.types.is_string(kind):
            array = self._from_text(array)
        elif pa.types.is_null(kind):
            array = array.cast(pa.timestamp("us"))
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            try:  # nanoseconds are cut off, what does not fit is an error
                array = array.cast(pa.timestamp("us"), safe=getattr(kind, "unit", "") != "ns")
            except pa.ArrowInvalid as error:
                raise ValueProblem(0, f"a moment too far away: {error}") from None
        else:
            raise ValueProblem(0, f"expected a date, found {kind}")
        missing = array.is_null().to_numpy(zero_copy_only=False)
        return array.cast(pa.int64()).fill_null(0).to_numpy(), missing

    def _from_text(self, array: Any) -> Any:
        import pyarrow as pa
        from pyarrow import compute

        array = without_gaps(array)
        zoned = compute.match_substring_regex(array, _ZONED)
        naive, utc = pa.timestamp("us"), pa.timestamp("us", "UTC")
        try:
            without = compute.if_else(zoned, None, array).cast(naive)
            within = compute.if_else(zoned, array, None).cast(utc).cast(naive)
        except pa.ArrowInvalid:
            for row, value in enumerate(array.to_pylist()):
                target = utc if value and re.search(_ZONED, value) else naive
                try:
                    pa.array([value], pa.string()).cast(target)
                except pa.ArrowInvalid:
                    wanted = "a date such as 2024-01-31 or 2024-01-31T12:00:00"
                    raise ValueProblem(row, f"expected {wanted}, found {quoted(value)}") from None
            raise
        return compute.coalesce(without, within)


def as_text(array: Any) -> Any:
    """An Arrow array of trimmed text: whole numbers without a fraction, True and False.

    Raises
    ------
    ValueProblem
        The values are neither text nor numbers.
    """
    import pyarrow as pa
    from pyarrow import compute

    array, kind = _plain(array)
    if pa.types.is_string(kind):
        return compute.utf8_trim_whitespace(array)
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_boolean(kind):
        return compute.if_else(array, "True", "False")
    if pa.types.is_integer(kind):
        return array.cast(pa.string())
    if _is_number(kind):
        values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).tolist()
        return pa.array([_number_as_text(value) for value in values], pa.string())
    raise ValueProblem(0, f"expected text or numbers, found {kind}")


def _number_as_text(value: float) -> str | None:
    if math.isnan(value):
        return None
    return f"{value + 0.0:.0f}" if abs(value) < 2**53 and value.is_integer() else repr(value)


def _levels(array: Any, declared: Collection[str] = ()) -> tuple[NDArray[np.int64], list[str]]:
    """For each row the place of its level, -1 where it is missing, and the levels."""
    text = without_gaps(as_text(array), declared)
    held = text.dictionary_encode()
    found = held.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found, held.dictionary.to_pylist()


def _plain(array: Any) -> tuple[Any, Any]:
    """The array in one piece, all kinds of text as one, and its type."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        array = array.cast(pa.string())
    return array, array.type


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    numbers = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    return any(fits(kind) for fits in numbers)
