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
from kernbrook.streams.table_levels import LevelCounts, as_value, hashed_as, in_text, places

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
            values = floats_of(array).to_numpy(zero_copy_only=False)
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

    A cell is the level that has its text, else the one that has its value, see `table_levels`.

    Attributes
    ----------
    column : name
    levels : each once
    decimal : what stands before the fraction of numbers in text
    """

    column: str
    levels: tuple[str, ...]
    decimal: str = "."

    @property
    def names(self) -> list[str]:
        return [f"{self.column}={level}" for level in (*self.levels, OTHER)]

    def encode(self, array: Any, met: LevelCounts | None = None) -> Floats:
        """The columns; `met` counts the rows of each level."""
        by_text, by_value = places(self.levels, self.decimal)
        others = len(self.levels)
        found, known = _levels(array, self.decimal, by_text)
        place = [by_text.get(text, by_value.get(value, others)) for text, value in known]
        rows = np.zeros((len(known) + 1, others + 1))
        rows[np.arange(len(known)), place] = 1
        if met is not None:
            times = np.bincount(found[found >= 0], minlength=len(known))
            unknown = [text for (text, _), at in zip(known, place, strict=True) if at == others]
            met.add(np.array(place, dtype=np.int64), times, unknown)
        rows[-1] = np.nan
        return rows[found]


class Hashed(NamedTuple):
    """Levels as scikit-learn's FeatureHasher has them: a column and a sign by their hash.

    Cells of one value have one hash, see `table_levels`.

    Attributes
    ----------
    column : name
    width : columns
    decimal : what stands before the fraction of numbers in text
    """

    column: str
    width: int
    decimal: str = "."

    @property
    def names(self) -> list[str]:
        return [f"{self.column}#{i}" for i in range(self.width)]

    def encode(self, array: Any) -> Floats:
        from sklearn.feature_extraction import FeatureHasher

        found, known = _levels(array, self.decimal)
        rows = np.full((len(known) + 1, self.width), np.nan)
        if known:
            hasher = FeatureHasher(self.width, input_type="string")
            levels = [[hashed_as(text, value)] for text, value in known]
            rows[:-1] = hasher.transform(levels).toarray()
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
    """An Arrow array of trimmed text; numbers and booleans as `table_levels` has their values.

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
    if pa.types.is_integer(kind):
        return array.cast(pa.string())
    found, known = _levels(array)
    values = pa.array([value for _, value in known], pa.string())
    return values.take(pa.array(found, mask=found < 0))


def _levels(
    array: Any, decimal: str = ".", declared: Collection[str] = ()
) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    """For each row the place of its level, -1 where it is missing; and of each text and value.

    declared : levels that are never missing
    """
    import pyarrow as pa

    array, kind = _plain(array)
    if not (_is_number(kind) or pa.types.is_string(kind) or pa.types.is_null(kind)):
        raise ValueProblem(0, f"expected text or numbers, found {kind}")
    if pa.types.is_string(kind):
        array = without_gaps(array, declared)
    held = array.dictionary_encode()
    found = held.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    values = held.dictionary
    if pa.types.is_string(kind):
        texts = [text.strip() for text in values.to_pylist()]
        return found, [(text, in_text(text, decimal)) for text in texts]
    if pa.types.is_decimal(kind):
        texts = [f"{value:f}" for value in values.to_pylist()]
    elif pa.types.is_floating(kind):  # as programs write them: the fewest digits of this precision
        texts = [str(value) for value in values.to_numpy(zero_copy_only=False)]
        there = np.array([text != "nan" for text in texts] or [True])
        numbers = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)
        found, texts = numbers[found], [text for text in texts if text != "nan"]
    else:
        texts = [str(value) for value in values.to_pylist() if value is not None]
    return found, [(value, value) for value in map(as_value, texts)]


def is_text(array: Any) -> bool:
    """Whether an Arrow array is one of text, of any kind."""
    import pyarrow as pa

    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    types = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return any(fits(kind) for fits in types)


def floats_of(array: Any) -> Any:
    """An Arrow array of numbers as one of 64-bit floats, each the nearest."""
    import pyarrow as pa

    if pa.types.is_decimal(array.type):  # by way of floats of 10 ** scale, pyarrow misses many
        array = array.cast(pa.string())
    return array.cast(pa.float64(), safe=False)


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
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        array = array.cast(pa.decimal128(kind.precision, kind.scale))
    return array, array.type


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    numbers = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    return any(fits(kind) for fits in numbers)
