"""What columns and values of a table seem to be, and the option that reads them so.

Of text: dates, numbers in another writing, levels, words of sentences, or what is different in
nearly every row. What is taken for levels are values that come again; numbers are never levels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernbrook.errors import DataFileWarning, KernbrookError, UndeclaredColumnsError
from kernbrook.streams import limits
from kernbrook.streams.loading import compute, pa
from kernbrook.streams.records import ReadOptions, Records, quoted, without_gaps
from kernbrook.streams.tables.columns import ISO, Column, Date, Number, read_dates
from kernbrook.streams.tables.declared import (
    AUTO,
    WORDS,
    Declared,
    declared_dates,
    declared_levels,
    declared_names,
    declared_words,
    described_dates,
    is_auto,
)
from kernbrook.streams.tables.values import (
    CYCLES,
    WAYS,
    ValueProblem,
    Written,
    as_text,
    date_option,
    floats_of,
    in_commas,
    is_numeric,
    option,
    plain,
)
from kernbrook.telling import warn_caller

if TYPE_CHECKING:
    from kernbrook.streams.tables.encoder import TableEncoder

# -- a value ---------------------------------------------------------------------------------------

_COMMON_DAYS = [f"%Y{s}%m{s}%d" for s in "/."]
_COMMON_DAYS += [f"%{a}{s}%{b}{s}%Y" for s in "./-" for a, b in (("d", "m"), ("m", "d"))]
# That is found where all dates of a column are in one of them, with or without a time.
COMMON = [f"{day}{time}" for time in ("", " %H:%M", " %H:%M:%S") for day in _COMMON_DAYS]
# That a message names where it finds one, and nothing takes without being told.
_RARE = [
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d %b %Y", "%d. %b %Y",
    "%d-%b-%Y", "%d/%b/%Y", "%d-%b-%y", "%d %b %y", "%b %d, %Y", "%b %d %Y",
    "%a, %d %b %Y", "%A, %b %d, %Y",
    "%a %b %d %H:%M:%S %Y", "%d/%b/%Y:%H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S GMT", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y, %I:%M:%S %p",
    "%Y. %m. %d.", "%Y%m%d", "%Y%m%d%H%M%S", "%Y %b %d", "%Y-%b-%d", "%d.%m.%Y, %H:%M Uhr",
    "%d.%m.%Y %H:%M Uhr", "%Y-%m", "%Y/%m", "%m/%Y", "%Y %b", "%b %Y", "%Y-%b", "%b-%Y",
]  # fmt: skip
_CLOCKS = ["%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p"]
_QUARTER = re.compile(r"[0-9]{4}[\W_]?Q[1-4]|Q[1-4][\W_]?[0-9]{4}", re.IGNORECASE)
_COUNTED = {10: ["%s"], 13: ["%Q"]}  # digits of a moment after 2001 and before 2286


def helped(column: Column, problem: ValueProblem) -> None:
    """Add to what is wrong with a text in a column of numbers or dates what would help."""
    text, name = problem.text, column.column
    if text is None or problem.declared:
        return
    formats = formats_of(text) or formats_of(text, _CLOCKS)[:1]
    is_common, is_time = not {ISO, *COMMON}.isdisjoint(formats), {*formats} <= {*_CLOCKS}
    if isinstance(column, Date):
        if formats:
            parts = ("hour",) if is_time else column.parts
            problem.written.append(date_option(name, parts, formats))
        problem.declared.append(f"{option('drop', name)} in place of dates")
        problem.may_be_found = column.written is None and is_common
        return
    assert isinstance(column, Number)
    now, ways = column.written, column.written.others(text)
    problem.may_be_label = False
    if formats:
        way = option("dates", name)
        if not is_common:
            way = date_option(name, _parts_of(formats[0]), formats)
        problem.question = "a time? " if is_time else "a date? "
        problem.declared = [way, *(column.others() if is_time else [option("drop", name)])]
    elif _QUARTER.fullmatch(text):
        problem.question = "a quarter? "
        problem.declared = [f"write its first day, such as 2024-01-01, or {option('drop', name)}"]
    elif [way for way, _ in ways] == [now._replace(decimal=",")]:
        problem.written = [f"with a decimal comma? {ways[0][0].options_beside(now)}"]
    elif ways:
        problem.written = [f"{number:.15g}? {way.options_beside(now)}" for way, number in ways]
    else:
        problem.declared, problem.may_be_label = column.others(), True


def formats_of(text: str, known: Sequence[str] | None = None) -> list[str]:
    """Those of some formats, or of all, in which a text is a date: another moment in each."""
    if not any(map(str.isdigit, text)):
        return []
    array, found = pa.array([text], pa.string()), dict[int, str]()
    for written in known or (ISO, *COMMON, *_RARE, *_COUNTED.get(len(text), ())):
        moment, bad = read_dates(array, written)
        if not bad[0]:
            found.setdefault(int(moment[0]), written)
    return list(found.values())


def formats_left(array: Any, formats: Iterable[str]) -> list[str]:
    """Those of some formats in which all text of an Arrow array can be read."""
    present, left = without_gaps(array).drop_null(), list(formats)
    for some in (present[:_SAMPLED], present):  # most are told by a few
        left = [written for written in left if not read_dates(some, written)[1].any()]
    return left


def _parts_of(written: str) -> tuple[str, ...]:
    """The parts of a date that are worth a column in a format."""
    if not any(f"%{letter}" in written for letter in "dsQ"):
        return ("hour",) if "%H" in written or "%I" in written else ("days", "yearday")
    return CYCLES


def found_format(
    records: Records, column: str, parts: tuple[str, ...], refusal: KernbrookError, skips: bool
) -> str:
    """The one common format in which all dates of a column can be read, which a warning names.

    KernbrookError where there is none, or several. Where rows are left out, text that is no date is
    not looked at.

    refusal : what is raised where the first text is in none
    skips : as `ReadOptions` has it
    """
    known, instead = np.array([ISO, *COMMON]), f"{option('drop', column)} in place of dates"
    fits = np.ones((len(known), 1), dtype=bool)  # all rows so far, the last of them behind
    for batch in records.batches(ReadOptions([column], skips=skips)):
        text = without_gaps(as_text(batch.table.column(column)))
        gap = text.is_null().to_numpy(zero_copy_only=False)
        here = gap | ~np.array([read_dates(text, form)[1] for form in known])
        if skips:
            here |= ~here.any(axis=0)
        fits = np.logical_and.accumulate(np.hstack([fits[:, -1:], here]), axis=1)
        if not fits[:, -1].any():
            row = int(fits.any(axis=0).argmin()) - 1
            if fits[:, row].all():
                raise refusal
            wanted = f"a date as {' or '.join(known[fits[:, row]])}, as in the rows before"
            found = f"expected {wanted}, found {quoted(text[row].as_py())}"
            raise batch.refusal(row, f"column {quoted(column)}: {found}; {instead}")
    left = known[fits[:, -1]].tolist()
    declared = date_option(column, parts, left)
    if len(left) > 1:
        ways = " and as ".join(left)
        problem = f"all dates can be read as {ways}; which is it? {declared}"
        raise records.refusal(f"column {quoted(column)}: {problem}")
    reading = f"its dates are read as {left[0]}, the only common format for all of them"
    problem = f"column {quoted(column)}: {reading}; {declared} says it"
    warn_caller(DataFileWarning(records.where, problem))
    return str(left[0])


# -- columns of numbers that seem to be codes ------------------------------------------------------

CODE = r"^[+-]?0[0-9]+$"  # no program writes a number so
_POWER = r"^[+-]?[1-9][0-9]+[eE][0-9]+$"  # programs write 7.3e5, or 7.3e+05
_LEAST_ROWS, _LEAST_DIGITS = 20, 5
_HASHED = 32  # columns for levels that are many


def codes_of(
    records: Records, columns: Sequence[str], decimal: str, zeros: bool = False
) -> dict[str, str]:
    """What makes some of the columns of numbers codes, by the first rows of a table.

    zeros : whether only those are wanted that have digits after a 0
    """
    wanted = ReadOptions(columns, decimal, skips=True, ignores=True)
    batch = next(iter(records.batches(wanted)), None) if columns else None
    found = {} if batch is None else {n: _code(n, batch.table.column(n), zeros) for n in columns}
    return {name: reason for name, reason in found.items() if reason}


def _code(name: str, array: Any, zeros: bool) -> str:
    """What makes a column of numbers one of codes, in words; empty where nothing does."""
    array, kind = plain(array)
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind)):
        return ""
    text = without_gaps(array.cast(pa.string())).drop_null()
    way = option("categorical", name, f"=hash:{_HASHED}")
    for pattern in (CODE,) if zeros else (CODE, _POWER):
        place = compute.index(compute.match_substring_regex(text, pattern), True).as_py()
        if place >= 0:
            value = text[place].as_py()
            return f"{quoted(value)} is read as the number {float(value):g}; a code? {way}"
    digits = np.unique(compute.utf8_length(text).to_numpy(zero_copy_only=False))
    if zeros or len(text) < _LEAST_ROWS or len(digits) > 1 or digits[0] < _LEAST_DIGITS:
        return ""
    values = text.unique()
    whole = compute.all(compute.match_substring_regex(values, "^[0-9]+$")).as_py()
    if not whole or len(values) < 2 or compute.all(compute.ends_with(values, "0")).as_py():
        return ""
    first = values[0].as_py()
    formats = formats_left(values, formats_of(first))
    ways = " or ".join([*[date_option(name, CYCLES, formats)] * bool(formats), way])
    kinds = "dates, or codes" if formats else "codes"
    return f"whole numbers of {digits[0]} digits each, as {quoted(first)}; {kinds}? {ways}"


# -- columns that are neither numbers nor declared -------------------------------------------------

WHICH = "which is it?"
_MOST_LEVELS = 32  # that are declared one by one
_MOST_VALUES = 10_000  # that are told apart
_MOST_TEXT = 1 << 24  # characters of them
_LONG = 300  # characters of levels: more are hashed
_MANY_WORDS = 4  # of a value on average
_SHOWN = 3  # values in a message
_LISTED = 40  # columns in a message
_SAMPLED = 20  # values that are tried as dates first
_POINTS = ["%d.%m.%Y", "%m.%d.%Y"]


class Finding(NamedTuple):
    """What a column seems to be, in words, and the parameter of `TableEncoder` that declares it.

    column : its name, which may be empty; of gaps, which parameter "missing" fills, nothing
    parameter, value : empty where none can be known; None where the name alone is enough
    marks : how numbers of the whole table are written besides: decimal, thousands
    taken : what "auto" takes as levels in place of words: a number of columns to hash to
    """

    column: str
    text: str
    parameter: str = ""
    value: Any = None
    marks: Mapping[str, str] = {}
    taken: int | None = None

    def options(self) -> list[tuple[str, ...]]:
        if self.parameter == "missing":
            return [("--missing", self.value)]
        marks: list[tuple[str, ...]] = [(f"--{name}", mark) for name, mark in self.marks.items()]
        if not self.parameter:
            return marks
        name, value = in_commas(self.column), self.value
        values = [value] if isinstance(value, str) else value
        is_text = value is not None and not isinstance(value, int)
        if is_text and "".join(values).isprintable():
            name += "=" + ",".join(map(in_commas, values))
        elif value is not None:  # what is not printable is in no line of a terminal
            name += f"=hash:{_HASHED if is_text else value}"
        flag = f"--{self.parameter}"
        return [*marks, (f"{flag}={name}",) if name.startswith("-") else (flag, name)]


class _Survey:
    """What was seen of a column; `numbers` is how its numbers would be read."""

    def __init__(self, numbers: Number, code: str):
        self.name, self.numbers = numbers.column, numbers
        self.code = code  # what makes its numbers codes
        self.is_number, self.has_mark = not code, False  # whether of decimals
        self.rows = self.gaps = self.words = 0
        self.moments = self.odd = ""  # types of Arrow
        self.values: dict[str, int] = {}
        self.size = 0  # characters of these
        self.formats = [ISO, *COMMON]
        self.ways: list[Written] = []  # others, in which all of its values are numbers

    @property
    def n_values(self) -> int:
        """Rows with a value."""
        return self.rows - self.gaps

    @property
    def has_all(self) -> bool:
        """Whether all values were told apart."""
        return len(self.values) <= _MOST_VALUES and self.size <= _MOST_TEXT

    @property
    def is_few(self) -> bool:
        return len(self.values) <= _MOST_LEVELS and 2 * len(self.values) <= self.n_values

    @property
    def is_text(self) -> bool:
        return not (self.is_number or self.moments or self.odd)

    @property
    def such(self) -> str:
        return "such as " + ", ".join(map(quoted, list(self.values)[:_SHOWN]))

    @property
    def kinds(self) -> str:
        several = len(self.values)
        return f"{several:,} different values" if self.has_all else f"over {several - 1:,} values"

    def look(self, array: Any) -> None:
        """See whether more values are numbers, and how many are missing."""
        array, kind = plain(array)
        self.rows += len(array)
        if pa.types.is_string(kind):
            array = without_gaps(array)
            mark = compute.match_substring(array, self.numbers.written.decimal)
            self.has_mark = self.has_mark or bool(compute.any(mark).as_py())
            try:
                self.is_number = self.is_number and self.numbers.encode(array) is not None
            except ValueProblem:
                self.is_number = False
        elif is_numeric(kind):
            values = floats_of(array).to_numpy(zero_copy_only=False)
            self.gaps += int(np.isnan(values).sum()) - array.null_count
        elif not (pa.types.is_null(kind) or pa.types.is_duration(kind)):
            self.is_number = False
            self.moments = str(kind) if pa.types.is_temporal(kind) else self.moments
            self.odd = "" if self.moments else str(kind)
        self.gaps += array.null_count

    def count(self, array: Any) -> None:
        text = without_gaps(plain(array)[0].cast(pa.string())).drop_null()
        self.formats = formats_left(text, self.formats)
        self.words += compute.sum(compute.count_substring_regex(text, r"\S+")).as_py() or 0
        for entry in text.value_counts().tolist() if self.has_all else ():
            value = entry["values"]
            self.size += len(value) * (value not in self.values)
            self.values[value] = self.values.get(value, 0) + entry["counts"]

    def found(self) -> Finding:
        """What it seems to be, where it is no column of numbers: the first that fits."""
        if self.odd or "interval" in self.moments:
            return Finding(self.name, f"{self.odd or self.moments}, which is not read", "drop")
        if self.moments:
            is_time = self.moments.startswith("time") and "stamp" not in self.moments
            text = f"moments ({self.moments})"
            return Finding(self.name, text, "dates", ["hour"] if is_time else None)
        return (
            (None if self.code else self._dates() or self._numbers() or self._but_for_a_few())
            or (self._levels() if self.is_few else self._text())
            or Finding(self.name, f"{self.kinds}, {self.such}", "categorical", _HASHED)
        )

    def _dates(self) -> Finding | None:
        formats = self.formats
        parts: tuple[str, ...] = CYCLES
        if formats == _POINTS:  # nobody writes the month first with points
            formats = _POINTS[:1]
        if not formats:
            sample = pa.array(list(self.values)[:_SAMPLED], pa.string())
            first = sample[0].as_py()
            formats = formats_left(sample, formats_of(first)) or formats_left(sample, _CLOCKS)[:1]
            if formats:
                parts = _parts_of(formats[0])
            elif _QUARTER.fullmatch(first):
                text = f"quarters, {self.such}: write the first day of each, such as 2024-01-01, or"
                return Finding(self.name, f"{text} {option('drop', self.name)}")
            else:
                return None
        if len(formats) > 1:
            which = date_option(self.name, parts, formats)
            text = f"dates as {' or as '.join(formats)}, {self.such}; {WHICH} {which}"
            return Finding(self.name, text)
        only = formats[0]
        if only == ISO:
            return Finding(self.name, f"dates, {self.such}", "dates")
        value = only if parts == CYCLES else [*parts, only]
        return Finding(self.name, f"dates as {only}, {self.such}", "dates", value)

    def _numbers(self) -> Finding | None:
        if not self.ways:
            return None
        text, now = f"numbers in another writing, {self.such}", self.numbers.written._asdict()
        if len(self.ways) > 1:
            return Finding(self.name, f"{text}, which can be read in {len(self.ways)} ways")
        marks = self.ways[0]._asdict()
        others = {k: v for k, v in marks.items() if v is not None and v != now[k]}
        return Finding(self.name, text, marks=others)

    def _but_for_a_few(self) -> Finding | None:
        """Nearly all values are numbers; where they could be levels words come in few rows."""
        numbers = {value: self.numbers.written.read(value) for value in self.values}
        odd = [value for value, found in numbers.items() if found is None or math.isinf(found)]
        rows = sum(self.values[value] for value in odd)
        words = sum(self.values[value] for value in odd if any(map(str.isalnum, value)))
        if not self.has_all or not odd or rows > 0.1 * self.n_values:
            return None
        if self.is_few and words > max(0.01 * self.n_values, self.n_values >= _SAMPLED):
            return None
        some = ", ".join(map(quoted, odd[:_SHOWN])) + (", ..." if len(odd) > _SHOWN else "")
        text = f"numbers, but for {some} in {rows:,} of {self.n_values:,} rows: mend them, or "
        text += 'leave out their rows: on_bad_rows="skip" (--on-bad-rows skip); are they levels? '
        return Finding(self.name, text + option("categorical", self.name))

    def _levels(self) -> Finding | None:
        levels = sorted(self.values)
        text = ", ".join(map(quoted, levels))
        if len(text) > _LONG or max(map(len, levels)) > limits.LONGEST_LABEL:
            return None
        return Finding(self.name, f"{len(levels)} levels: {text}", "categorical", levels)

    def _text(self) -> Finding | None:
        """Words of sentences, or what is different in nearly every row."""
        several, rows = len(self.values), self.n_values
        if self.has_all and self.words >= 2 * rows:
            words = {word.lower() for value in self.values for word in re.findall(r"\w+", value)}
            if 0 < 4 * len(words) <= several:
                text = f"{self.kinds}, {self.such}, which share {len(words):,} words"
                return Finding(self.name, text, "words", taken=_HASHED)
        if self.words >= _MANY_WORDS * rows and 2 * several > rows:
            text = f"text, {self.words / rows:.0f} words on average, such as "
            return Finding(self.name, text + quoted(next(iter(self.values))), "words")
        if self.has_all and not self.code and several >= 0.9 * rows:
            text = f"{self.kinds} in {rows:,} rows, {self.such}: a name or a number of the row?"
            return Finding(self.name, text, "drop")
        return None


def survey(
    records: Records, columns: Sequence[str], declared: Declared, fills: bool, skips: bool
) -> list[Finding]:
    """What each column seems to be of which nothing is said, and which is no column of numbers.

    fills : whether gaps are filled; else where they are is said, too
    """
    names, written = [name for name in columns if name not in declared.names], declared.written
    decimal, numbers = written.decimal, names if written == Written() else []
    codes = codes_of(records, numbers, decimal, zeros=True)
    seen = [_Survey(Number(name, written), codes.get(name, "")) for name in names]
    numbers = [name for name in numbers if name not in codes]
    _read(records, ReadOptions(names, decimal, [], numbers, skips), seen, _Survey.look)
    odd = [column for column in seen if column.is_text]
    wanted = ReadOptions([column.name for column in odd], decimal, skips=skips)
    _read(records, wanted, odd, _Survey.count)
    marked = any(column.has_mark for column in seen if column.is_number)
    _find_ways(odd, written, marked)
    found = [column.found() for column in seen if not column.is_number]
    if marked:
        # What no option reads: another mark of decimals, where numbers of other columns have one.
        also = f"other columns have {decimal!r}, and a table has one decimal mark: mend it, or"
        found = [
            Finding(finding.column, f"{finding.text}; {also} {option('drop', finding.column)}")
            if "decimal" in finding.marks
            else finding
            for finding in found
        ]
    having = [column for column in seen if column.gaps and not fills]
    some = ", ".join(f"{quoted(column.name)} ({column.gaps:,} rows)" for column in having[:_SHOWN])
    more = ", ..." if len(having) > _SHOWN else ""
    gaps = Finding("", f"values are missing in {some}{more}", "missing", "mean")
    return [*found, gaps] if having else found


def _read(
    records: Records, wanted: ReadOptions, seen: list[_Survey], see: Callable[[_Survey, Any], None]
) -> None:
    for batch in records.batches(wanted) if seen else ():
        table = batch.readable()
        for column in seen if table.num_rows else ():
            see(column, table.column(column.name))


def _find_ways(odd: Sequence[_Survey], now: Written, marked: bool) -> None:
    """Find the other ways to write numbers of each column, one where it reads all such columns.

    marked : whether other columns have the decimal mark as it is said
    """
    for column in odd:
        first = next((value for value in column.values if now.read(value) is None), "")
        ways = [way for way, _ in now.others(first)]
        column.ways = [way for way in ways if None not in map(way.read, column.values)]
    with_ways = [column for column in odd if not column.code and column.ways]
    found: dict[Any, Written] = {}
    for way in WAYS if with_ways else ():
        numbers = tuple(way.read(value) for column in with_ways for value in column.values)
        if None not in numbers and not (marked and way.decimal != now.decimal):
            found.setdefault(numbers, way)
    for column in with_ways if len(found) == 1 else ():
        column.ways = list(found.values())


def taken_of(
    encoder: TableEncoder, records: Records, columns: Sequence[str], skips: bool = False
) -> dict[str, dict[str, Any]]:
    """What "auto" of an encoder takes of a table, by parameter and column; all rows are read."""
    auto = [name for name in ("categorical", "dates") if is_auto(getattr(encoder, name))]
    found = survey(records, columns, encoder.declarations(), True, skips) if auto else []
    taken: dict[str, dict[str, Any]] = {name: {} for name in auto}
    for finding in sorted(found, key=lambda finding: finding.taken is not None):
        if finding.parameter in auto:
            value = list(CYCLES) if finding.value is None else finding.value
            taken[finding.parameter][finding.column] = value
        elif finding.taken is not None and "categorical" in auto:
            taken["categorical"][finding.column] = finding.taken
            problem = f"column {quoted(finding.column)}: {finding.text}; words of text?"
            problem += f" {option('words', finding.column)}"
            warn_caller(DataFileWarning(records.where, problem))
    return taken


def note_taken(taken: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What "auto" has taken each column for, a sentence each.

    Examples
    --------
    >>> note_taken({"categorical": {"sex": ["f", "m"], "port": 32}, "dates": {"day": ["hour"]}})
    ["'sex' is taken as levels: 'f', 'm'", "'port' is taken as levels, hashed to 32 columns", \
"'day' is taken as dates: hour"]
    """
    notes = []
    for column, value in taken.get("categorical", {}).items():
        which = f", hashed to {value} columns"
        if not isinstance(value, int):
            which = f": {', '.join(map(quoted, value))}"
        notes.append(f"{quoted(column)} is taken as levels{which}")
    for column, parts in taken.get("dates", {}).items():
        kinds = parts if isinstance(parts, str) else ", ".join(parts)
        notes.append(f"{quoted(column)} is taken as dates: {kinds}")
    return notes


def undeclared(
    where: Any, found: Sequence[Finding], encoder: TableEncoder, label: str
) -> UndeclaredColumnsError:
    """The error that names all columns that are to be declared, and says how.

    label : what has to be said of the label, or empty
    """
    columns = [finding for finding in found if finding.parameter != "missing"]
    width = min(max(len(quoted(finding.column)) for finding in columns), 30)
    lines = [f"{len(columns):,} column{'s' * (len(columns) > 1)} to declare:"]
    lines += [f"  {quoted(column.column):{width}}  {column.text}" for column in columns[:_LISTED]]
    lines += [f"  and {len(columns) - _LISTED:,} more"] if len(columns) > _LISTED else []
    lines += [finding.text for finding in found if finding.parameter == "missing"]
    lines += [label] if label else []
    groups = dict.fromkeys(option for finding in found for option in finding.options())
    options = [text for option in groups for text in option]
    unread = any(not (finding.parameter or finding.marks) for finding in found)
    return UndeclaredColumnsError(where, "\n".join(lines), options, _call(encoder, found), unread)


def _call(encoder: TableEncoder, found: Sequence[Finding]) -> str:
    by_column: dict[str, Any] = {
        "categorical": declared_levels(encoder.categorical),
        "dates": described_dates(declared_dates(encoder.dates)),
        "drop": dict.fromkeys(declared_names("drop", encoder.drop)),
        "words": declared_words(encoder.words),
    }
    default, given = type(encoder)().get_params(), encoder.get_params()
    arguments = {k: v for k, v in given.items() if k not in by_column and v != default[k]}
    for finding in found:
        arguments.update(finding.marks)
        if finding.parameter in by_column:
            by_column[finding.parameter][finding.column] = finding.value
        elif finding.parameter:
            arguments[finding.parameter] = finding.value
    arguments |= {name: dict(columns) for name, columns in by_column.items() if columns}
    for name in ("categorical", "dates"):
        if is_auto(given[name]):
            arguments[name] = {AUTO: AUTO, **columns} if (columns := arguments.get(name)) else AUTO
    order = [name for name in signature(type(encoder)).parameters if name in arguments]
    lines = [f"{name}={_plain(arguments[name])!r}" for name in order]
    line = f"kb.TableEncoder({', '.join(lines)})"
    return line if len(line) <= 100 else "kb.TableEncoder(\n    " + ",\n    ".join(lines) + ",\n)"


def _plain(value: Any) -> Any:
    """A list of names where nothing else is said of them; levels and parts as lists."""
    if not isinstance(value, dict):
        return value
    if all(options is None or options == WORDS for options in value.values()):
        return list(value)
    parts = {name: list(CYCLES) if part is None else part for name, part in value.items()}
    return {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items()}
