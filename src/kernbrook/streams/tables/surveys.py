"""What the columns of a table seem to be that are neither numbers nor declared.

Of text: dates, numbers in another writing, levels, words of sentences, or what is different in
nearly every row. What is taken for levels are values that come again; numbers are never levels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernbrook.errors import DataFileWarning, UndeclaredColumnsError
from kernbrook.streams import limits
from kernbrook.streams.records import Records, Refused, Wanted, quoted, without_gaps
from kernbrook.streams.tables import written_dates
from kernbrook.streams.tables.codes import codes_of
from kernbrook.streams.tables.column_kinds import Numbers, Seen, floats_of, is_numeric, plain
from kernbrook.streams.tables.column_problems import (
    CYCLES,
    ValueProblem,
    date_option,
    listed,
    option,
)
from kernbrook.streams.tables.date_columns import described_dates
from kernbrook.streams.tables.declarations import (
    AUTO,
    WORDS,
    declared_levels,
    declared_moments,
    declared_names,
    declared_words,
    is_auto,
)
from kernbrook.streams.tables.encoded_columns import Declarations
from kernbrook.streams.tables.written_dates import COMMON, ISO, formats_left
from kernbrook.streams.tables.written_numbers import WAYS, Written
from kernbrook.telling import tell

if TYPE_CHECKING:
    from kernbrook.streams.tables.encoder import TableEncoder

WHICH = "which is it?"
MOST_LEVELS = 32  # that are declared one by one
_HASHED = 32  # columns for more of them
_MOST_VALUES = 10_000  # that are told apart
_MOST_TEXT = 1 << 24  # characters of them
_LONG = 300  # characters of levels: more are hashed
_MANY_WORDS = 4  # of a value on average
_SHOWN = 3  # values in a message
_LISTED = 40  # columns in a message
_POINTS = ["%d.%m.%Y", "%m.%d.%Y"]
_SAMPLED = 20  # values that are tried as dates in rare formats


class Finding(NamedTuple):
    """What a column seems to be.

    Attributes
    ----------
    column : name; empty of what is said of the whole table
    parameter : of `TableEncoder`, which declares it; empty where none can be known
    value : of the parameter for this column; None where its name alone is enough
    told : what was found, in words
    marks : how numbers of the whole table are written besides: decimal, thousands
    taken : what "auto" takes as levels in place of words: a number of columns to hash to
    """

    column: str
    parameter: str
    value: Any
    told: str
    marks: Mapping[str, str] = {}
    taken: int | None = None

    def options(self) -> list[tuple[str, ...]]:
        """The same for the command line."""
        marks = [(f"--{name}", mark) for name, mark in self.marks.items()]
        if self.parameter == "missing":
            return [("--missing", self.value)]
        return [*marks, *([self._own()] if self.parameter else [])]

    def _own(self) -> tuple[str, ...]:
        name, value = listed(self.column), self.value
        values = [value] if isinstance(value, str) else value
        if isinstance(value, int):
            name += f"=hash:{value}"
        elif value is not None and not "".join(values).isprintable():  # in no line of a terminal
            name += f"=hash:{_HASHED}"
        elif value is not None:
            name += "=" + ",".join(map(listed, values))
        option = f"--{self.parameter}"
        return (f"{option}={name}",) if name.startswith("-") else (option, name)


class Column:
    """What was seen of a column.

    Parameters
    ----------
    name : of the column
    numbers : how its numbers would be read
    """

    def __init__(self, name: str, numbers: Numbers):
        self.name, self.numbers = name, numbers
        self.is_number, self.has_mark = True, False  # whether of decimals
        self.rows = self.gaps = self.words = 0
        self.moments = self.odd = ""  # types of Arrow
        self.values: dict[str, int] = {}
        self.size = 0  # characters of these
        self.formats = [ISO, *COMMON]
        self.code = ""  # what makes its numbers codes

    @property
    def there(self) -> int:
        """Rows with a value."""
        return self.rows - self.gaps

    @property
    def has_all(self) -> bool:
        """Whether all values were told apart."""
        return len(self.values) <= _MOST_VALUES and self.size <= _MOST_TEXT

    def look(self, array: Any) -> None:
        """See whether more values are numbers, and how many are missing."""
        import pyarrow as pa

        array, kind = plain(array)
        self.rows += len(array)
        if is_numeric(kind):
            values = floats_of(array).to_numpy(zero_copy_only=False)
            self.gaps += int(np.isnan(values).sum())
        elif pa.types.is_string(kind):
            self.gaps += without_gaps(array).null_count
            try:
                self.is_number = self.is_number and self.numbers.encode(array) is not None
            except ValueProblem:
                self.is_number = False
            self.has_mark = self.has_mark or _has(array, self.numbers.written.decimal)
        else:
            self.gaps += array.null_count
            is_number = pa.types.is_null(kind) or pa.types.is_duration(kind)
            self.is_number = self.is_number and is_number
            self.moments = str(kind) if pa.types.is_temporal(kind) else self.moments
            self.odd = "" if self.is_number or self.moments else str(kind)

    def count(self, array: Any) -> None:
        """Tell more values apart."""
        import pyarrow as pa
        from pyarrow import compute

        array, kind = plain(array)
        if not pa.types.is_string(kind):
            array = array.cast(pa.string())
        text = without_gaps(array).drop_null()
        if self.formats:
            self.formats = formats_left(text, self.formats)
        self.words += compute.sum(compute.count_substring_regex(text, r"\S+")).as_py() or 0
        if self.has_all:
            for one in text.value_counts().tolist():
                value = one["values"]
                self.size += len(value) * (value not in self.values)
                self.values[value] = self.values.get(value, 0) + one["counts"]


def survey(
    records: Records,
    columns: Sequence[str],
    said: Declarations,
    fills: bool,
    refused: Refused = None,
) -> list[Finding]:
    """What each column seems to be of which nothing is said, and which is no column of numbers.

    Parameters
    ----------
    records : the rows, all of which are read
    columns : names, without the label's
    said : what is declared
    fills : whether gaps are filled
    refused : as `Wanted` has it
    """
    known = {*said.levels, *said.dates, *said.words, *said.drop}
    own = [
        Column(name, said.column(name, Seen()))  # type: ignore[arg-type]
        for name in columns
        if name not in known
    ]
    names, decimal = [one.name for one in own], said.written.decimal
    numbers = [name for name in names if said.is_plain(name)]
    codes = {one.column: one.told for one in codes_of(records, numbers, decimal) if one.has_zeros}
    wanted = Wanted(names, decimal, [], [n for n in numbers if n not in codes], refused)
    _read(records, wanted, own, Column.look)
    for one in own:
        one.code, one.is_number = codes.get(one.name, ""), one.is_number and one.name not in codes
    odd = [one for one in own if not (one.is_number or one.moments or one.odd)]
    _read(records, Wanted([c.name for c in odd], decimal, refused=refused), odd, Column.count)
    marked = any(one.has_mark for one in own if one.is_number)
    way = _way_of_all(odd, said.written, marked)
    found = [_found(one, way) for one in own if not one.is_number]
    if marked:
        found = [_with_one_mark(one, said.written.decimal) for one in found]
    return found if fills else [*found, *_gaps(own)]


def _read(
    records: Records, wanted: Wanted, own: list[Column], see: Callable[[Column, Any], None]
) -> None:
    for batch in records.batches(wanted) if own else ():
        for one in own if batch.table.num_rows else ():
            see(one, batch.table.column(one.name))


def _has(array: Any, mark: str) -> bool:
    """Whether a mark is in some text."""
    from pyarrow import compute

    return bool(compute.any(compute.match_substring(array, mark)).as_py())


def _with_one_mark(found: Finding, mark: str) -> Finding:
    """What no option reads: another mark of decimals, where numbers of other columns have one."""
    if "decimal" not in found.marks:
        return found
    told = (
        f"{found.told}; other columns have {mark!r}, and a table has one decimal mark: mend it, or "
    )
    return Finding(found.column, "", None, told + option("drop", found.column))


def _gaps(own: list[Column]) -> list[Finding]:
    """That values are missing."""
    having = [one for one in own if one.gaps]
    some = ", ".join(f"{quoted(one.name)} ({one.gaps:,} rows)" for one in having[:_SHOWN])
    more = ", ..." if len(having) > _SHOWN else ""
    return [Finding("", "missing", "mean", f"values are missing in {some}{more}")] if having else []


def _found(one: Column, way: Written | None) -> Finding:
    """What a column seems to be that is no column of numbers.

    way : in which numbers of all columns can be read; None where there is none, or several
    """
    if one.odd or "interval" in one.moments:
        return Finding(one.name, "drop", None, f"{one.odd or one.moments}, which is not read")
    if one.moments:
        value = ["hour"] if one.moments.startswith("time") and "stamp" not in one.moments else None
        return Finding(one.name, "dates", value, f"moments ({one.moments})")
    such = "such as " + ", ".join(map(quoted, list(one.values)[:_SHOWN]))
    for found in () if one.code else (_dates(one, such), _numbers(one, such, way)):
        if found is not None:
            return found
    several, much = len(one.values), one.words >= _MANY_WORDS * one.there
    kinds = f"{several:,} different values" if one.has_all else f"over {several - 1:,} values"
    few = several <= MOST_LEVELS and 2 * several <= one.there
    if told := "" if one.code else _but_for_a_few(one, few):
        return Finding(one.name, "", None, told)
    if few:
        levels = sorted(one.values)
        short = max(map(len, levels)) <= limits.LONGEST_LABEL
        if short and len(text := ", ".join(map(quoted, levels))) <= _LONG:
            return Finding(one.name, "categorical", levels, f"{several} levels: {text}")
    elif one.has_all and (words := _shared_words(one)):
        told = f"{kinds}, {such}, which share {words:,} words"
        return Finding(one.name, "words", None, told, taken=_HASHED)
    elif much and 2 * several > one.there:
        such = f"such as {quoted(next(iter(one.values)))}"
        told = f"text, {one.words / one.there:.0f} words on average, {such}"
        return Finding(one.name, "words", None, told)
    elif one.has_all and several >= 0.9 * one.there and not one.code:
        told = f"{kinds} in {one.there:,} rows, {such}: a name or a number of the row?"
        return Finding(one.name, "drop", None, told)
    return Finding(one.name, "categorical", _HASHED, f"{kinds}, {such}")


def _shared_words(one: Column) -> int:
    """How many words the values are made of where they share them, two or more each; else 0."""
    words = {word.lower() for value in one.values for word in re.findall(r"\w+", value)}
    shares = one.words >= 2 * one.there and 0 < 4 * len(words) <= len(one.values)
    return len(words) if shares else 0


def _but_for_a_few(one: Column, few: bool) -> str:
    """That nearly all values are numbers, and which are not; empty where that is not so.

    few : whether the values could be levels: then words in one row of a hundred are none
    """
    numbers = {value: one.numbers.written.read(value) for value in one.values}
    odd = [value for value, found in numbers.items() if found is None or math.isinf(found[0])]
    rows = sum(one.values[value] for value in odd)
    words = sum(one.values[value] for value in odd if any(map(str.isalnum, value)))
    if not one.has_all or not odd or rows > 0.1 * one.there:
        return ""
    if few and words > max(0.01 * one.there, one.there >= _SAMPLED):
        return ""
    some = ", ".join(map(quoted, odd[:_SHOWN])) + (", ..." if len(odd) > _SHOWN else "")
    how = 'mend them, or leave out their rows: on_bad_rows="skip" (--on-bad-rows skip)'
    levels = f"; are they levels? {option('categorical', one.name)}"
    return f"numbers, but for {some} in {rows:,} of {one.there:,} rows: {how}{levels}"


def _dates(one: Column, such: str) -> Finding | None:
    """The dates that a column has, or None."""
    if one.formats == _POINTS:  # nobody writes the month first with points
        told = f"dates as {_POINTS[0]}, {such}"
        return Finding(one.name, "dates", _POINTS[0], told)
    if len(one.formats) > 1:
        which = date_option(one.name, CYCLES, one.formats)
        told = f"dates as {' or as '.join(one.formats)}, {such}; {WHICH} {which}"
        return Finding(one.name, "", None, told)
    if one.formats:
        only = None if ISO in one.formats else one.formats[0]
        told = f"dates as {only}" if only else "dates"
        return Finding(one.name, "dates", only, f"{told}, {such}")
    sample = list(one.values)[:_SAMPLED]
    for find in (written_dates.formats_of, written_dates.clocks_of):
        left = find(sample[0])
        for text in sample:
            left = [way for way in left if written_dates.moment_of(text, way) is not None]
        if left:
            own = [] if (parts := written_dates.parts_of(left[0])) == CYCLES else [*parts]
            value = [*own, left[0]] if len(left) == 1 else None
            told = f"dates as {' or as '.join(left)}, {such}"
            if value is None:
                told += f"; {WHICH} {date_option(one.name, parts, left)}"
            return Finding(one.name, "dates" if value else "", value, told)
    if written_dates.is_quarter(sample[0]):
        told = f"quarters, {such}: write the first day of each, such as 2024-01-01, or "
        return Finding(one.name, "", None, told + option("drop", one.name))
    return None


def _ways(one: Column) -> list[Written]:
    """Other ways to write numbers in which all values of a column can be read."""
    now = one.numbers.written
    odd = next((value for value in one.values if now.read(value) is None), "")
    return [way for way, _ in now.others(odd) if all(way.read(v) is not None for v in one.values)]


def _way_of_all(odd: Sequence[Column], now: Written, marked: bool) -> Written | None:
    """The one way, but for units, in which all columns can be read that have numbers so written.

    marked : whether other columns have the decimal mark as it is said
    """
    own = [(one, ways) for one in odd if not one.code and (ways := _ways(one))]
    found: dict[tuple[float, ...], Written] = {}
    for decimal, thousands in WAYS if own else ():
        if marked and decimal != now.decimal:
            continue
        numbers = list[float]()
        for one, ways in own:
            units = dict.fromkeys(way.unit for way in ways)
            read = [Written(decimal, thousands, unit) for unit in units]
            values = [[way.read(value) for value in one.values] for way in read]
            whole = [own for own in values if None not in own]
            numbers += [number[0] for number in whole[0] if number] if whole else [math.nan]
        if not any(map(math.isnan, numbers)):
            found.setdefault(tuple(numbers), Written(decimal, thousands))
    return next(iter(found.values())) if len(found) == 1 else None


def _numbers(one: Column, such: str, of_all: Written | None) -> Finding | None:
    """The numbers in another writing that a column has, or None."""
    now, ways = one.numbers.written, _ways(one)
    if not ways:
        return None
    told = f"numbers in another writing, {such}"
    if of_all is not None:
        all_ways = [of_all._replace(unit=way.unit) for way in ways]
        ways = [way for way in all_ways if all(way.read(v) is not None for v in one.values)][:1]
    if len(ways) > 1:
        return Finding(one.name, "", None, f"{told}, which can be read in {len(ways)} ways")
    way = ways[0]
    marks = {"decimal": way.decimal, "thousands": way.thousands}
    others = {k: v for k, v in marks.items() if v is not None and v != getattr(now, k)}
    if way.unit != now.unit:
        told = f"numbers with {quoted(way.unit)}, {such}"
        return Finding(one.name, "units", way.unit, told, others)
    return Finding(one.name, "", None, told, others)


def taken_of(
    encoder: TableEncoder, records: Records, columns: Sequence[str], refused: Refused = None
) -> dict[str, dict[str, Any]]:
    """What "auto" of an encoder takes of a table, by parameter and column; all rows are read."""
    auto = [name for name in ("categorical", "dates") if is_auto(getattr(encoder, name))]
    if not auto:
        return {}
    found = survey(records, columns, encoder.declarations(), True, refused)
    taken = {
        name: {
            one.column: list(CYCLES) if one.value is None else one.value
            for one in found
            if one.parameter == name
        }
        for name in auto
    }
    for one in found if "categorical" in auto else ():
        if one.taken is not None:
            taken["categorical"][one.column] = one.taken
            told = f"column {quoted(one.column)}: {one.told}; words of text?"
            told += f" {option('words', one.column)}"
            tell(DataFileWarning(records.where, told))
    return taken


def told_of_taken(taken: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What "auto" has taken each column for, a sentence each.

    Examples
    --------
    >>> told_of_taken({"categorical": {"sex": ["f", "m"], "port": 32}, "dates": {"day": ["hour"]}})
    ["'sex' is taken as levels: 'f', 'm'", "'port' is taken as levels, hashed to 32 columns", \
"'day' is taken as dates: hour"]
    """
    told = []
    for column, value in taken.get("categorical", {}).items():
        which = f", hashed to {value} columns"
        if not isinstance(value, int):
            which = f": {', '.join(map(quoted, value))}"
        told.append(f"{quoted(column)} is taken as levels{which}")
    for column, parts in taken.get("dates", {}).items():
        kinds = parts if isinstance(parts, str) else ", ".join(parts)
        told.append(f"{quoted(column)} is taken as dates: {kinds}")
    return told


def undeclared(
    where: Any, found: Sequence[Finding], encoder: TableEncoder, label: str
) -> UndeclaredColumnsError:
    """The error that names all columns that are to be declared, and says how.

    label : what has to be said of the label, or empty
    """
    columns = [one for one in found if one.column]
    width = min(max(len(quoted(one.column)) for one in columns), 30)
    lines = [f"{len(columns):,} column{'s' * (len(columns) > 1)} to declare:"]
    lines += [f"  {quoted(one.column):{width}}  {one.told}" for one in columns[:_LISTED]]
    lines += [f"  and {len(columns) - _LISTED:,} more"] if len(columns) > _LISTED else []
    lines += [one.told for one in found if not one.column] + ([label] if label else [])
    own = dict.fromkeys(option for one in found for option in one.options())
    options = [text for option in own for text in option]
    unread = any(one.column and not (one.parameter or one.marks) for one in found)
    return UndeclaredColumnsError(where, "\n".join(lines), options, _call(encoder, found), unread)


def _call(encoder: TableEncoder, found: Sequence[Finding]) -> str:
    """The encoder with these declarations, in Python."""
    said, auto = _said(encoder), {"categorical": encoder.categorical, "dates": encoder.dates}
    for one in found:
        said.update(one.marks)
        if one.parameter == "missing":
            said["missing"] = one.value
        elif one.parameter:
            said.setdefault(one.parameter, {})[one.column] = one.value
    for name, given in auto.items():
        if is_auto(given):
            said[name] = {AUTO: AUTO, **own} if (own := said.get(name)) else AUTO
    order = [name for name in signature(type(encoder)).parameters if name in said]
    given = [f"{name}={_plain(said[name])!r}" for name in order]
    line = f"kb.TableEncoder({', '.join(given)})"
    return line if len(line) <= 100 else "kb.TableEncoder(\n    " + ",\n    ".join(given) + ",\n)"


def _said(encoder: TableEncoder) -> dict[str, Any]:
    """The parameters of an encoder that are not as they are by default; names as those of dicts."""
    by_column: dict[str, Any] = {
        "categorical": declared_levels(encoder.categorical),
        "dates": described_dates(declared_moments(encoder.dates)),
        "drop": dict.fromkeys(declared_names("drop", encoder.drop)),
        "words": declared_words(encoder.words),
    }
    default, given = type(encoder)().get_params(), encoder.get_params()
    others = {k: v for k, v in given.items() if k not in by_column and v != default[k]}
    return {**{name: dict(own) for name, own in by_column.items() if own}, **others}


def _plain(value: Any) -> Any:
    """A list of names where nothing else is said of them; levels and parts as lists."""
    if not isinstance(value, dict):
        return value
    if all(own is None or own == WORDS for own in value.values()):
        return list(value)
    own = {name: list(CYCLES) if own is None else own for name, own in value.items()}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in own.items()}
