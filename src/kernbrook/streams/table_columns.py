"""A column of a table as columns of numbers: as it is, as levels, or hashed.

All take an Arrow array and give (n, width) float64, NaN where a value is missing.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.streams import written_dates
from kernbrook.streams.column_problems import (
    CYCLES,
    ValueProblem,
    date_option,
    date_ways,
    listed,
    option,
)
from kernbrook.streams.csv_header import MISSING, quoted
from kernbrook.streams.written_numbers import PLAIN_NUMBER, TRUTH, Written

Floats = NDArray[np.float64]

OTHER = "other"  # the level of values that were not declared


@dataclass
class Seen:
    """What is remembered of the text in columns of numbers.

    Attributes
    ----------
    odd : by column how a value was read whose minus is written as accountants do
    truth : by column whether the values are true and false; a column has one of the kinds
    learns : whether `truth` learns from the rows that are read
    """

    odd: dict[str, str] = field(default_factory=dict)
    truth: dict[str, bool] = field(default_factory=dict)
    learns: bool = True


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
        elif is_numeric(kind):
            values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            found = f"a number was expected, found {kind}"
            if pa.types.is_temporal(kind):
                raise ValueProblem(0, found, declared=date_ways(self.column), question="a date? ")
            raise ValueProblem(0, found, declared=[option("drop", self.column)])
        infinite = np.isinf(values)
        if infinite.any():
            row = int(infinite.argmax())
            raise ValueProblem(row, f"{values[row]} is not finite")
        return values[:, None]

    def _from_text(self, array: Any) -> Floats:
        import pyarrow as pa
        from pyarrow import compute

        truth = self.seen.truth
        if not truth.get(self.column, False):
            with suppress(pa.ArrowInvalid):
                plain = self.written.plain(array).cast(pa.float64())
                if self.seen.learns and plain.null_count < len(plain):
                    truth[self.column] = False
                return plain.to_numpy(zero_copy_only=False)
        words = compute.is_in(array, pa.array([*TRUTH]))
        if truth.get(self.column, False) or compute.any(words).as_py():
            values = enumerate(array.to_pylist())
            return np.array([self.number(row, value) for row, value in values])
        # Few are written in another way: those alone are read one by one.
        plain = self.written.plain(array)
        easy = compute.match_substring_regex(plain, PLAIN_NUMBER)
        found = compute.if_else(easy, plain, None).cast(pa.float64())
        if self.seen.learns and found.null_count < len(found):
            truth[self.column] = False
        numbers = np.array(found.to_numpy(zero_copy_only=False))
        for row in np.flatnonzero(np.isnan(numbers)).tolist():
            numbers[row] = self.number(row, array[row].as_py())
        return numbers

    def number(self, row: int, value: str | None) -> float:
        """The number that a text is, NaN where it is missing; ValueProblem where it is none."""
        value = (value or "").strip()
        if value in MISSING:
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
        if not unit and (formats := written_dates.formats_of(value)):
            ways = date_ways(self.column)
            if not any(map(written_dates.is_common, formats)):
                ways[0] = date_option(self.column, CYCLES, formats)
            return ValueProblem(row, found, declared=ways, question="a date? ")
        if not unit and (formats := written_dates.clocks_of(value)):
            ways = [date_option(self.column, ("hour",), formats), *self._others()]
            return ValueProblem(row, found, declared=ways, question="a time? ")
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
        found, known = _levels(array)
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


def as_text(array: Any) -> Any:
    """An Arrow array of trimmed text: whole numbers without a fraction, True and False.

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
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_boolean(kind):
        return compute.if_else(array, "True", "False")
    if pa.types.is_integer(kind):
        return array.cast(pa.string())
    if is_numeric(kind):
        values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).tolist()
        return pa.array([_number_as_text(value) for value in values], pa.string())
    raise ValueProblem(0, f"expected text or numbers, found {kind}")


def _number_as_text(value: float) -> str | None:
    if math.isnan(value):
        return None
    return f"{value + 0.0:.0f}" if abs(value) < 2**53 and value.is_integer() else repr(value)


def _levels(array: Any) -> tuple[NDArray[np.int64], list[str]]:
    """For each row the place of its level, -1 where it is missing, and the levels."""
    text = as_text(array)
    held = text.dictionary_encode()
    found = held.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found, held.dictionary.to_pylist()


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
    return array, array.type


def is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    numbers = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    return any(fits(kind) for fits in numbers)
