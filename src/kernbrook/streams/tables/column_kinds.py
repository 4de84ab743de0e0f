"""A column of a table as columns of numbers: as it is, as levels, or hashed.

All take an Arrow array and give (n, width) float64, NaN where a value is missing. `one` gives the
same for one cell as Python has it, mostly without Arrow; None where only a table of it tells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import murmurhash3_32

from kernbrook.streams.records import MISSING, quoted, without_gaps
from kernbrook.streams.tables import written_dates
from kernbrook.streams.tables.column_problems import (
    ValueProblem,
    date_option,
    date_ways,
    listed,
    option,
)
from kernbrook.streams.tables.levels import LevelCounts, as_value, hashed_as, in_text, places
from kernbrook.streams.tables.written_numbers import PLAIN_NUMBER, TRUTH, Written

Floats = NDArray[np.float64]

OTHER = "other"  # the level of values that were not declared
_GAPS = frozenset(MISSING)
_PLAIN_NUMBER = re.compile(PLAIN_NUMBER)
_WHOLE = 1 << 63  # what is farther from 0 is no number to Arrow


@dataclass
class Seen:
    """What is remembered of the text in columns of numbers, and of the last rows.

    Attributes
    ----------
    odd : by column how a value was read whose minus is written as accountants do
    truth : by column whether the values are true and false; a column has one of the kinds
    zones : by column of dates the zone whose hours it has, as the first rows say
    zoned : by column of dates whether its text has offsets from UTC
    learns : whether `truth` learns from the rows that are read
    helps : whether problems say what would help, which takes time
    keeps : whether `values` is kept
    values : (n, d) the last rows that were read, before gaps were filled
    """

    odd: dict[str, str] = field(default_factory=dict)
    truth: dict[str, bool] = field(default_factory=dict)
    zones: dict[str, str] = field(default_factory=dict)
    zoned: dict[str, bool] = field(default_factory=dict)
    learns: bool = True
    helps: bool = True
    keeps: bool = False
    values: Floats | None = None

    def of_text(self) -> list[dict[str, Any]]:
        """What is remembered of text and zones, as it is now."""
        return [dict(self.odd), dict(self.truth), dict(self.zones), dict(self.zoned)]

    def go_back(self, before: list[dict[str, Any]]) -> None:
        """Remember what `of_text` gave, and no more."""
        own: list[dict[str, Any]] = [self.odd, self.truth, self.zones, self.zoned]
        for now, was in zip(own, before, strict=True):
            now.clear()
            now.update(was)


class Numbers(NamedTuple):
    """Numbers, also where they come as text.

    Attributes
    ----------
    column : name
    written : how they are written in text
    seen : what is remembered of their text
    """

    column: str
    written: Written
    seen: Seen

    @property
    def names(self) -> list[str]:
        return [self.column]

    def encode(self, array: Any) -> Floats:
        import pyarrow as pa

        array, kind = plain(array)
        if pa.types.is_null(kind):
            return np.full((len(array), 1), np.nan)
        if pa.types.is_string(kind):
            values = self._from_text(array)
        elif pa.types.is_duration(kind):  # seconds
            per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
            counts = array.cast(pa.int64()).cast(pa.float64(), safe=False)
            values = counts.to_numpy(zero_copy_only=False) / per_second
        elif is_numeric(kind):
            values = floats_of(array).to_numpy(zero_copy_only=False)
            if self.seen.learns and pa.types.is_floating(kind) and array.null_count < len(array):
                self.seen.truth.setdefault(self.column, False)
        else:
            found = f"a number was expected, found {kind}"
            if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
                raise ValueProblem(0, found, declared=date_ways(self.column), question="a date? ")
            raise ValueProblem(0, found, declared=[option("drop", self.column)])
        infinite = np.isinf(values)
        if infinite.any():
            row = int(infinite.argmax())
            cell = array[row].as_py()
            found = quoted(cell.strip()) if isinstance(cell, str) else f"{values[row]}"
            ways = [option("categorical", self.column, "=hash:32")]
            is_code = isinstance(cell, str) and cell.strip()[:1].isdigit()
            raise ValueProblem(
                row, f"{found} is not finite", declared=ways if is_code else (), question="a code? "
            )
        return values[:, None]

    def one(self, value: Any) -> list[float] | None:
        is_text, truth = isinstance(value, str), self.seen.truth
        if is_missing(value) or (is_text and value in _GAPS):
            return [math.nan]
        if is_text:
            value = "" if self.written.unit else self.written.bare(value)
            if truth.get(self.column, False) or not _PLAIN_NUMBER.fullmatch(value):
                return None
        elif not isinstance(value, float) and not is_whole(value):
            return list(alone(self, value)[0])
        if self.seen.learns and not is_whole(value):
            truth.setdefault(self.column, False)
        number = float(value)
        return None if math.isinf(number) else [number]

    def _from_text(self, array: Any) -> Floats:
        import pyarrow as pa
        from pyarrow import compute

        truth = self.seen.truth
        for trimmed in () if truth.get(self.column, False) else (False, True):
            text = without_gaps(array) if trimmed else array  # most have neither gaps nor blanks
            with suppress(pa.ArrowInvalid):
                numbers = self.written.plain(text).cast(pa.float64())
                values = numbers.to_numpy(zero_copy_only=False)
                if np.isnan(values).sum() == numbers.null_count:  # "nan(1)" is one, and no gap
                    if self.seen.learns and numbers.null_count < len(numbers):
                        truth[self.column] = False
                    return values
        array = without_gaps(array)
        words = compute.is_in(array, pa.array([*TRUTH]))
        if truth.get(self.column, False) or compute.any(words).as_py():
            values = enumerate(array.to_pylist())
            return np.array([self.number(row, value) for row, value in values])
        # Few are written in another way: those alone are read one by one.
        marked = self.written.plain(array)
        easy = compute.match_substring_regex(marked, PLAIN_NUMBER)
        found = compute.if_else(easy, marked, None).cast(pa.float64())
        if self.seen.learns and found.null_count < len(found):
            truth[self.column] = False
        values = np.array(found.to_numpy(zero_copy_only=False))
        for row in np.flatnonzero(np.isnan(values)).tolist():
            values[row] = self.number(row, array[row].as_py())
        return values

    def number(self, row: int, value: str | None) -> float:
        """The number that a text is, NaN where it is missing; ValueProblem where it is none."""
        if value is None:
            return math.nan
        found = self.written.read(value)
        if found is None:
            raise self._problem(row, value)
        truth, before = value in TRUTH, self.seen.truth.get(self.column)
        if before is None and self.seen.learns:
            self.seen.truth[self.column] = truth
        elif before is not None and before != truth:
            expected = "true or false, as before" if before else "a number"
            problem = f"expected {expected}, found {quoted(value)}"
            raise ValueProblem(row, problem, True, declared=self._others())
        number, as_accountants = found
        if as_accountants:
            told = f"{quoted(value)} is read as {number:g}, as accountants write it"
            self.seen.odd.setdefault(self.column, told)
        return number

    def _others(self) -> list[str]:
        """What a column of text can be in place of numbers."""
        instead = " in place of units" if self.written.unit else ""
        return [option(name, self.column) + instead for name in ("categorical", "drop")]

    def _problem(self, row: int, value: str) -> ValueProblem:
        """What is wrong with a value, and what helps; text may be a label."""
        unit = f" with {quoted(self.written.unit)}" if self.written.unit else ""
        found = f"expected a number{unit}, found {quoted(value)}"
        if not self.seen.helps:
            return ValueProblem(row, found, True)
        if not unit and (formats := written_dates.formats_of(value)):
            ways = date_ways(self.column)
            if not any(map(written_dates.is_common, formats)):
                parts = written_dates.parts_of(formats[0])
                ways[0] = date_option(self.column, parts, formats)
            return ValueProblem(row, found, declared=ways, question="a date? ")
        if not unit and (formats := written_dates.clocks_of(value)):
            ways = [date_option(self.column, ("hour",), formats), *self._others()]
            return ValueProblem(row, found, declared=ways, question="a time? ")
        if not unit and written_dates.is_quarter(value):
            ways = ["write its first day, such as 2024-01-01, or", option("drop", self.column)]
            return ValueProblem(row, found, declared=[" ".join(ways)], question="a quarter? ")
        ways_to_write = self.written.others(value)
        if [way for way, _ in ways_to_write] == [self.written._replace(decimal=",")]:
            way = self._way(ways_to_write[0][0])
            return ValueProblem(row, found, written=[f"with a decimal comma? {way}"])
        written = [f"{number:.15g}? {self._way(way)}" for way, number in ways_to_write]
        if written and all(way.unit == self.written.unit for way, _ in ways_to_write):
            return ValueProblem(row, found, written=written)
        return ValueProblem(row, found, True, written, self._others())

    def _way(self, way: Written) -> str:
        """The options that declare another way to write numbers."""
        marks = way.told_from(self.written)
        if way.unit == self.written.unit:
            return marks
        units = option("units", self.column, f"={listed(way.unit)}")
        return f"{units} and {marks}" if marks else units


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

    def one(self, value: Any) -> list[float] | None:
        by_text, by_value = places(self.levels, self.decimal)
        if (level := _level(value, self.decimal, by_text)) is None:
            return list(alone(self, value)[0])
        others = len(self.levels)
        row = [math.nan if level == _GAP else 0.0] * (others + 1)
        if level != _GAP:
            row[by_text.get(level[0], by_value.get(level[1], others))] = 1.0
        return row


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
        found, known = _levels(array, self.decimal)
        rows = np.zeros((len(known) + 1, self.width))
        rows[-1] = math.nan
        for row, level in zip(rows, known, strict=False):
            place, sign = self._place(level)
            row[place] = sign
        return rows[found]

    def one(self, value: Any) -> list[float] | None:
        if (level := _level(value, self.decimal)) is None:
            return list(alone(self, value)[0])
        row = [math.nan if level == _GAP else 0.0] * self.width
        if level != _GAP:
            place, sign = self._place(level)
            row[place] = sign
        return row

    def _place(self, level: tuple[str, str]) -> tuple[int, float]:
        """The column of a level, by its text and value, and its sign."""
        found = murmurhash3_32(hashed_as(*level))
        return abs(found) % self.width, 1.0 if found >= 0 else -1.0


def as_text(array: Any) -> Any:
    """An Arrow array of trimmed text; numbers and booleans as `table_levels` has their values.

    Raises
    ------
    ValueProblem
        The values are neither text nor numbers.
    """
    import pyarrow as pa
    from pyarrow import compute

    array, kind = plain(array)
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

    array, kind = plain(array)
    if not (is_numeric(kind) or pa.types.is_string(kind) or pa.types.is_null(kind)):
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


_GAP = "", ""  # no level: such text is missing


def _level(value: Any, decimal: str, declared: Collection[str] = ()) -> tuple[str, str] | None:
    """Text and value of one cell as `_levels` has them, or `_GAP`; None where Arrow has to tell."""
    if is_missing(value):
        return _GAP
    if isinstance(value, str):
        text = value.strip()
        return _GAP if text in _GAPS and text not in declared else (text, in_text(text, decimal))
    if type(value) is not float and not is_whole(value):
        return None
    found = as_value(str(value))
    return found, found


def is_missing(value: Any) -> bool:
    """Whether a cell is None or NaN."""
    return value is None or (isinstance(value, float) and value != value)


def is_whole(value: Any) -> bool:
    """Whether a cell is an integer of Python that Arrow takes for one, or true or false."""
    return isinstance(value, int) and -_WHOLE <= value < _WHOLE


def alone(column: Any, value: Any) -> Any:
    """(1, width) what a column makes of a cell of any type, by way of Arrow."""
    import pyarrow as pa

    return column.encode(pa.array([value], from_pandas=True))


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


def plain(array: Any) -> tuple[Any, Any]:
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


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers, or of true and false."""
    import pyarrow as pa

    types = pa.types
    numbers = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    return any(fits(kind) for fits in numbers)
