"""Values of cells: how they are written, which are one, and what is wrong with one."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import DataFileWarning, InputError, cut, printable
from kernbrook.streams import limits
from kernbrook.streams.booleans import BOOLEANS
from kernbrook.streams.loading import compute, pa
from kernbrook.streams.records import is_number, quoted, without_gaps
from kernbrook.telling import warn_caller

TRUTH = {word: float(truth == "True") for word, truth in BOOLEANS.items()}
DATE_PARTS = ("days", "hour", "weekday", "yearday")
CYCLES = DATE_PARTS[1:]

# -- what is wrong with a value, and the options that help -----------------------------------------


class ValueProblem(InputError):
    """A value of a column that cannot be encoded.

    Attributes
    ----------
    row : of the chunk, from 0
    found : what was expected and what was found
    text : what was found, where other options may read it
    declared : the options that say what the column becomes, which a model keeps
    question : what it may be, before these options
    written : the options, and their values, that say how values are written
    may_be_label : whether text may be there since the column is the label
    may_be_found : whether it is a date in a common format, which the whole column may have
    """

    def __init__(
        self,
        row: int,
        found: str,
        text: str | None = None,
        declared: Sequence[str] = (),
        question: str = "",
    ):
        self.row, self.found, self.text = row, found, text
        self.declared, self.question = list(declared), question
        self.written = list[str]()
        self.may_be_label, self.may_be_found = text is not None, False
        super().__init__(found)

    def advice(self, trained: bool = False) -> str:
        """The problem and what helps; once a model is trained, what its columns become is fixed."""
        if not (self.written or self.declared):
            return self.found
        if not (trained and self.declared):
            return f"{self.found}; {self.question}{' or '.join(self.written + self.declared)}"
        now = " or ".join(self.written) or "mend it"
        return f"{self.found}; {now}, or train again with {' or '.join(self.declared)}"


class ColumnProblem(InputError):
    """A value of a named column that cannot be encoded; cause : what is wrong, in which row."""

    def __init__(self, column: str, cause: ValueProblem):
        self.column = column
        self.cause = cause
        where = f"column {quoted(column)}, row {cause.row} of the chunk, counted from 0"
        super().__init__(f"X: {where}: {cause.advice()}")


def option(name: str, value: str, given: str = "") -> str:
    """A parameter, and how the command line is told it of a column; given : what is said of that.

    Examples
    --------
    >>> option("drop", "my column"), option("dates", "when", "=%d.%m.%Y")
    ("drop (--drop 'my column')", 'dates (--dates when=%d.%m.%Y)')
    """
    text = argument(value, given)
    return f"{name} (--{name}{'=' if text.startswith('-') else ' '}{text})"


def argument(name: str, given: str = "") -> str:
    """The name of a column as the command line takes it, and what is said of it."""
    return cut(shlex.quote(in_commas(printable(name)) + given), 300)


def in_commas(value: str) -> str:
    """A value as it is written between commas."""
    if any(mark in value for mark in ',"=') or value != value.strip():
        return '"' + value.replace('"', '""') + '"'
    return value


def date_option(column: str, parts: tuple[str, ...], formats: Sequence[str]) -> str:
    """How to declare the format of a column, by one of these."""
    kept = [] if parts == CYCLES else list(parts)
    given = [argument(column, "=" + ",".join([*kept, in_commas(form)])) for form in formats]
    return f"dates (--dates {' or '.join(given)})"


# -- arrays of Arrow, and cells --------------------------------------------------------------------


def plain(array: Any) -> tuple[Any, Any]:
    """The array in one piece, all kinds of text as one, and its type."""
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
    types = pa.types
    numbers = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    return any(fits(kind) for fits in numbers)


def floats_of(array: Any) -> Any:
    """An Arrow array of numbers as one of 64-bit floats, each the nearest."""
    if pa.types.is_decimal(array.type):  # by way of floats of 10 ** scale, pyarrow misses many
        array = array.cast(pa.string())
    return array.cast(pa.float64(), safe=False)


def is_missing(value: Any) -> bool:
    """Whether a cell is None or NaN."""
    return value is None or (isinstance(value, float) and value != value)


# -- numbers in text -------------------------------------------------------------------------------

DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", " ")
_ALIKE = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}  # no-break, thin; the apostrophe of printers


class Written(NamedTuple):
    """How the numbers of a table are written in text.

    Attributes
    ----------
    decimal : what stands before the fraction
    thousands : what may stand between groups of three digits; " " for any blank; None for nothing

    Examples
    --------
    >>> Written(",", ".").bare("-1.234,50"), Written(",", ".").bare("1.5")
    ('-1234.50', '1?5')
    """

    decimal: str = "."
    thousands: str | None = None

    def bare(self, text: str) -> str:
        """The text of a number as programs write it; other text is no number then."""
        if self.thousands is not None and _grouped(*self).fullmatch(text):
            text = re.sub(_marks(self.thousands), "", text)
        text = "-" + text[1:] if text[:1] == "\u2212" else text
        return text if self.decimal == "." else text.replace(".", "?").replace(self.decimal, ".")

    def plain(self, array: Any) -> Any:
        if self.thousands is not None:
            bare = compute.replace_substring_regex(array, _marks(self.thousands), "")
            fits = compute.match_substring_regex(array, f"^(?:{_grouped(*self).pattern})$")
            array = compute.if_else(fits, bare, array)
        array = compute.replace_substring_regex(array, "^\u2212", "-")
        if self.decimal == ".":
            return array
        marked = compute.replace_substring(array, ".", "?")
        return compute.replace_substring(marked, self.decimal, ".")

    def read(self, text: str) -> float | None:
        bare = self.bare(text)
        return float(bare) if is_number(bare) else None

    def others(self, text: str) -> list[tuple[Written, float]]:
        """Other ways to write numbers in which the text is one, one for each number.

        Examples
        --------
        >>> Written().others("1,200")
        [(Written(decimal=',', thousands=None), 1.2), (Written(decimal='.', thousands=','), 1200.0)]
        """
        if text.startswith(",") or self.read(text) is not None:
            return []
        found: dict[float, Written] = {}
        for way in WAYS:
            number = way.read(text)
            if number is not None and math.isfinite(number):
                found.setdefault(number, way)
        return [(way, number) for number, way in found.items()]

    def options_beside(self, now: Written) -> str:
        """The options that say these marks, where others are said now; empty where they do."""
        options = []
        if self != now:
            if not self.decimal == now.decimal == ".":
                options.append(f"decimal (--decimal {self.decimal})")
            if self.thousands is not None:
                mark = {"'": '"\'"', " ": "' '"}.get(self.thousands, self.thousands)
                options.append(f"thousands (--thousands {mark})")
            elif now.thousands is not None:
                options.append("no thousands")
        return " and ".join(options)


# The simple ones first: of two that read the same number it is the first that is advised.
WAYS = [Written(*marks) for marks in ((".", None), (",", None), (".", ","), (",", "."))]
WAYS += [Written(decimal, thousands) for thousands in ("'", " ") for decimal in DECIMALS]


def _marks(thousands: str) -> str:
    return f"[{_ALIKE.get(thousands, thousands)}]"


@lru_cache
def _grouped(decimal: str, thousands: str) -> re.Pattern[str]:
    """A number with groups of three digits; nobody writes a zero in front of them."""
    groups = f"[1-9][0-9]{{0,2}}(?:{_marks(thousands)}[0-9]{{3}})+"
    return re.compile(f"[-+\u2212]?{groups}(?:{re.escape(decimal)}[0-9]*)?(?:[eE][-+]?[0-9]+)?")


# -- which cells are one level ---------------------------------------------------------------------

_WHOLE = re.compile(r"([+-]?)0*+(\d*+)(\.0*+)?", re.ASCII)  # ++ and *+ give nothing back
_DIGITS_OF_FLOATS = 15  # so many digits come back from a 64-bit float as they were


def as_value(text: str) -> str:
    """How a value is written here, of all the ways in which it could have been written.

    Numbers go by value: what whole numbers are is told exactly, however long they are; others are
    64-bit floats, unless they have more digits than such a float is written with.

    Examples
    --------
    >>> [as_value(text) for text in ("1.0", "1e0", "+1", "-0", "0.50", "TRUE", "a 1.0")]
    ['1', '1', '1', '0', '0.5', 'True', 'a 1.0']
    >>> as_value("9007199254740993.00")
    '9007199254740993'
    """
    if not is_number(text):
        return BOOLEANS.get(text, text)
    if whole := _WHOLE.fullmatch(text):
        return whole[1].strip("+") + whole[2] if whole[2] else "0"
    number = float(text)
    if math.isinf(number):
        return f"{number}" if text.lower().strip("+-").startswith("inf") else text
    mantissa = text.lower().partition("e")[0]
    digits = re.sub(r"\D", "", mantissa).lstrip("0")
    if number and len(digits) > _DIGITS_OF_FLOATS and digits != _digits(number, len(digits)):
        return f"{Decimal(text):f}".rstrip("0")
    return f"{number + 0.0:.0f}" if number.is_integer() else repr(number)


def _digits(number: float, count: int) -> str:
    return re.sub(r"\D", "", f"{number:.{count - 1}e}".partition("e")[0])


def in_text(text: str, decimal: str) -> str:
    """`as_value` of a cell that comes as text, with that mark before the fraction of numbers."""
    if decimal == ".":
        return as_value(text)
    marked = text.replace(".", "?").replace(decimal, ".")
    return as_value(marked) if is_number(marked) else BOOLEANS.get(text, text)


def levels_in(
    array: Any, decimal: str = ".", declared: Collection[str] = ()
) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    """For each row the place of its level, -1 where it is missing; and of each text and value.

    declared : levels that are never missing
    """
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
        has_value = np.array([text != "nan" for text in texts] or [True])
        numbers = np.append(np.where(has_value, np.cumsum(has_value) - 1, -1), -1)
        found, texts = numbers[found], [text for text in texts if text != "nan"]
    else:
        texts = [str(value) for value in values.to_pylist() if value is not None]
    return found, [(value, value) for value in map(as_value, texts)]


def as_text(array: Any) -> Any:
    """An Arrow array of trimmed text; numbers and booleans as `as_value` writes them."""
    array, kind = plain(array)
    if pa.types.is_string(kind):
        return compute.utf8_trim_whitespace(array)
    if pa.types.is_integer(kind):
        return array.cast(pa.string())
    found, known = levels_in(array)
    values = pa.array([value for _, value in known], pa.string())
    return values.take(pa.array(found, mask=found < 0))


@lru_cache(maxsize=4096)
def places(levels: tuple[str, ...], decimal: str) -> tuple[dict[str, int], dict[str, int]]:
    """The number of each level by its text, and by its value where the value is of one alone.

    Of several levels of one value, such as "1" and "01", the value is the one that is written as
    the value is; where none is, it is none of them.
    """
    by_text = {level: i for i, level in enumerate(levels)}
    values = [as_value(in_text(level, decimal)) for level in levels]  # declared with a point
    times = Counter(values)
    by_value = {v: i for i, v in enumerate(values) if times[v] == 1}
    return by_text, by_value | {v: by_text[v] for v in values if v in by_text}


# -- how often levels came -------------------------------------------------------------------------

_MOST_TOLD = 10  # columns
_MOST_SHOWN = 3  # values
_MOST_OTHERS = 100  # values that are no declared level: the first ones are kept
_MANY = 0.01  # of the rows: so many others are said


@dataclass
class LevelCounts:
    """How often each declared level of a column came.

    Attributes
    ----------
    column : name
    levels : as they were declared
    counts : (levels + 1,) rows with each, those with others last
    others : the first values that are none of them, 100 at most
    expected : whether all levels should come: not where the file itself declares them, nor where
        a model only predicts
    """

    column: str
    levels: tuple[str, ...]
    counts: NDArray[np.int64]
    others: list[str] = field(default_factory=list)
    expected: bool = True

    def add(self, place: NDArray[np.int64], times: NDArray[np.int64], others: list[str]) -> None:
        """Count rows: of the level at each place so many, and what the first others are."""
        np.add.at(self.counts, place, times)
        if others and len(self.others) < _MOST_OTHERS:
            cut = (other[: limits.LONGEST_LABEL] for other in others)
            self.others = list(dict.fromkeys([*self.others, *cut]))[:_MOST_OTHERS]

    def join(self, more: LevelCounts) -> None:
        self.add(np.arange(len(self.counts)), more.counts, more.others)

    def described(self) -> dict[str, Any]:
        return {
            "column": self.column, "levels": self.levels, "counts": self.counts[:-1],
            "others": self.counts[-1], "first_others": self.others,
        }  # fmt: skip

    def note(self) -> str:
        """What is odd, in a sentence: many others, and levels that never came; else empty.

        Examples
        --------
        >>> LevelCounts("net", ("DSL", "Fiber"), np.array([3, 0, 1]), ["Fiber optic"]).note()
        "'net': other values than the declared levels in 1 of 4 rows (25.0 %), such as \
'Fiber optic'; 'Fiber' (is it 'Fiber optic'?) never came"
        """
        rows, n_others = int(self.counts.sum()), int(self.counts[-1])
        never = [level for level, n in zip(self.levels, self.counts, strict=False) if not n]
        parts = []
        missed = bool(never and rows and (n_others or self.expected))
        if n_others and (missed or n_others >= _MANY * rows):
            share = f"{n_others:,} of {rows:,} rows ({100 * n_others / rows:.1f} %)"
            came = [level for level, n in zip(self.levels, self.counts, strict=False) if n]
            such = ", ".join(_with_near(other, came) for other in self.others[:_MOST_SHOWN])
            parts.append(f"other values than the declared levels in {share}, such as {such}")
        if missed:
            shown = ", ".join(_with_near(level, self.others) for level in never[:5])
            parts.append(f"{shown}{f' and {len(never) - 5:,} more' * (len(never) > 5)} never came")
        return f"{quoted(self.column)}: {'; '.join(parts)}" if parts else ""


def _with_near(value: str, known: Sequence[str]) -> str:
    """A value, and which of the known ones it may be with a typing error in it."""
    near = get_close_matches(value, known, n=1)
    return f"{quoted(value)} (is it {quoted(near[0])}?)" if near else quoted(value)


def together(counts: Sequence[LevelCounts], more: Sequence[LevelCounts]) -> Sequence[LevelCounts]:
    """The counts of two parts of a table, or of one where the other has none."""
    for mine, theirs in zip(counts, more, strict=False):
        mine.join(theirs)
    return counts or more


def warn_of_levels(counts: Iterable[LevelCounts], name: str) -> None:
    """Warn of what `note_levels` says of data of a name."""
    for note in note_levels(counts):
        warn_caller(DataFileWarning(name, note))


def note_levels(counts: Iterable[LevelCounts]) -> list[str]:
    """What is odd about the levels of all columns, a sentence each; of very many the first."""
    lines = [line for column in counts if (line := column.note())]
    more = len(lines) - _MOST_TOLD
    return [*lines[:_MOST_TOLD], f"and so in {more:,} more columns"] if more > 0 else lines
