"""What is said of the columns of a table: the parameters of `TableEncoder`, parsed once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernbrook.checks import is_whole, shown
from kernbrook.errors import InputError
from kernbrook.streams.arrow import array_of
from kernbrook.streams.records import quoted
from kernbrook.streams.tables.columns import Column, Date, Level, Number, Words
from kernbrook.streams.tables.values import (
    CYCLES,
    DATE_PARTS,
    THOUSANDS,
    Written,
    as_text,
    date_option,
)

AUTO = "auto"  # in place of names: what the rows say
HASHED = 16  # columns where nothing else is said
WORDS = 1 << 18
_MOST_HASHED = 1 << 14
_MOST_WORDS = 1 << 24
_MOST_LAG = 100_000  # rows back, which are kept
_DIRECTIVES = "YymdbBaAHIMSpzsQ"
_SAME_AS = {"I": "H", "B": "b", "A": "a"}

Moments = dict[str, tuple[tuple[str, ...], str | None]]  # columns, their parts and format


@dataclass(frozen=True)
class Declared:
    """What is said of the columns, all of it checked.

    Attributes
    ----------
    levels : by column its levels, or a number of columns to hash to
    dates : by column its parts and its format
    words : by column a number of columns to hash to
    drop : columns to leave out
    lags : rows back of which labels are taken; none where no label is
    lags_of : the label's column, where it was named there
    written : how numbers in text are
    """

    levels: dict[str, tuple[str, ...] | int]
    dates: Moments
    words: dict[str, int]
    drop: list[str]
    lags: tuple[int, ...]
    lags_of: str | None
    written: Written

    @classmethod
    def of(cls, encoder: Any, taken: Mapping[str, Any]) -> Declared:
        return cls(
            {**declared_levels(taken.get("categorical")), **declared_levels(encoder.categorical)},
            {**declared_dates(taken.get("dates")), **declared_dates(encoder.dates)},
            declared_words(encoder.words),
            declared_names("drop", encoder.drop),
            *declared_lags(encoder.lags),
            Written(encoder.decimal, encoder.thousands),
        )

    @property
    def names(self) -> list[str]:
        """The columns of which something is said, as often as it is."""
        return [*self.levels, *self.dates, *self.words, *self.drop]

    def has_lags_of(self, label: str | None) -> bool:
        """Whether labels of rows before are columns, where the label's column has that name."""
        return bool(self.lags) and self.lags_of in (None, label)

    def column(self, name: str, zones: Mapping[str, str] | None = None) -> Column:
        """What a column becomes; zones : by column of dates, where they are known."""
        if name in self.levels:
            return Level(name, self.levels[name], self.written.decimal)
        if name in self.dates:
            return Date(name, *self.dates[name], (zones or {}).get(name))
        if name in self.words:
            return Words(name, self.words[name])
        return Number(name, self.written)


def declared_names(name: str, given: Any) -> list[str]:
    """Names of columns, each once; InputError where they are something else."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else given
    listed = isinstance(names, (list, tuple, set, frozenset, dict, np.ndarray))
    if not listed or not all(isinstance(name, str) for name in names):
        raise InputError(f"{name}: expected names of columns, got {shown(given)}")
    return [str(name) for name in dict.fromkeys(names)]


def is_auto(given: Any) -> bool:
    """Whether a parameter asks for what the rows say: "auto", alone, in a list or in a dict.

    Examples
    --------
    >>> is_auto(["auto", "sex"]), is_auto({"auto": "auto"}), is_auto({"auto": ["yes", "no"]})
    (True, True, False)
    """
    if isinstance(given, Mapping):
        return isinstance(given.get(AUTO), str) and given[AUTO] == AUTO
    return AUTO in ([given] if isinstance(given, str) else list(given or ()))


def _by_name(name: str, given: Any) -> dict[str, Any]:
    """What is said of each column but for "auto"; None where it is named alone."""
    names = declared_names(name, given)
    names = [name for name in names if name != AUTO] if is_auto(given) else names
    return {name: given[name] if isinstance(given, Mapping) else None for name in names}


def declared_levels(given: Any) -> dict[str, tuple[str, ...] | int]:
    """For each column of levels a number of columns to hash to, or its levels."""
    declared: dict[str, tuple[str, ...] | int] = {}
    for name, value in _by_name("categorical", given).items():
        if value is None and not isinstance(given, Mapping):
            declared[name] = HASHED
        elif _is_count(value):
            declared[name] = _width("categorical", name, value, _MOST_HASHED)
        else:
            declared[name] = _levels(name, value)
    return declared


def declared_dates(given: Any) -> Moments:
    """For each column of dates its parts, and its format where one is declared."""
    declared: Moments = {}
    for name, value in _by_name("dates", given).items():
        if not isinstance(given, Mapping):
            declared[name] = CYCLES, None
            continue
        items = [value] if isinstance(value, str) else value
        text = isinstance(items, (list, tuple)) and all(isinstance(item, str) for item in items)
        formats = [item for item in items if "%" in item] if text else []
        parts = [item for item in items if "%" not in item] if text else []
        fits = text and items and len(formats) < 2 and set(parts) <= set(DATE_PARTS)
        if not fits or len(set(parts)) < len(parts):
            example = date_option(name, tuple(parts), [", ".join(formats)])
            quotes = f"; is it one format? {example}" if len(formats) > 1 else ""
            raise InputError(
                f"dates: {quoted(name)}: expected some of {', '.join(DATE_PARTS)}, and one format "
                f"such as %d.%m.%Y, got {shown(value)}{quotes}"
            )
        kept = tuple(parts) or CYCLES
        declared[name] = kept, _checked_format(name, formats[0], kept) if formats else None
    return declared


def described_dates(dates: Moments) -> dict[str, list[str]]:
    """The same as it is declared."""
    return {
        name: [*parts, *([] if written is None else [written])]
        for name, (parts, written) in dates.items()
    }


def declared_words(given: Any) -> dict[str, int]:
    """For each column of text the number of columns that its words are hashed to."""
    widths = _by_name("words", given)
    if not isinstance(given, Mapping):
        return dict.fromkeys(widths, WORDS)
    return {name: _width("words", name, value, _MOST_WORDS) for name, value in widths.items()}


def declared_lags(given: Any) -> tuple[tuple[int, ...], str | None]:
    """How many rows back labels are taken, and the name of their column where it is said."""
    if given is None:
        return (), None
    by_name = given if isinstance(given, Mapping) else {None: given}
    name, value = next(iter(by_name.items()), (None, ()))
    lags: Any = [value] if is_whole(value) else value
    fits = isinstance(lags, (list, tuple, np.ndarray)) and len(lags)
    fits = fits and all(_is_count(lag) and 1 <= lag <= _MOST_LAG for lag in lags)
    if not fits or len(set(lags)) < len(lags) or not isinstance(name, (str, type(None))):
        raise InputError(
            f"lags: expected numbers of rows from 1 to {_MOST_LAG:,}, each once, got {shown(given)}"
        )
    if len(by_name) > 1:
        raise no_lags_of(given)
    return tuple(int(lag) for lag in lags), name


def no_lags_of(given: Any) -> InputError:
    """The error for lags of columns that are not the label."""
    return InputError(
        f"lags: expected those of the label alone, got {shown(given)}; lags of other columns are "
        "gone: write the shifted values into a column of the table (pandas: frame[name].shift(1)), "
        "and train again with it"
    )


def check_lags(lags: Sequence[int], delay: int) -> None:
    """InputError where a lag of the label is never known: labels come after so many more rows."""
    never = [lag for lag in lags if lag <= delay]
    if never:
        raise InputError(
            f"lags: {', '.join(map(str, never))}: the label of so few rows before is not known "
            f"with delay={delay} (--delay {delay}): lags begin at {delay + 1}. Where the label "
            f"of {min(never)} rows before is known, it is delay={min(never) - 1} "
            f"(--delay {min(never) - 1})"
        )


def check_thousands(value: Any) -> None:
    """InputError where it is nothing that can stand between groups of digits."""
    if value is not None and not (isinstance(value, str) and value in THOUSANDS):
        raise InputError(f"thousands: expected . , ' or a blank, got {shown(value)}")


def check_marks(decimal: str, thousands: str | None) -> None:
    """InputError where one mark would have two meanings."""
    if decimal == thousands:
        other = "," if decimal == "." else "."
        raise InputError(
            f"thousands, decimal: both are {decimal!r}; is the other one decimal "
            f"(--decimal {other})?"
        )


def _is_count(value: Any) -> bool:
    return is_whole(value) and not isinstance(value, bool)


def _width(parameter: str, name: str, value: Any, most: int) -> int:
    if not (_is_count(value) and 1 <= value <= most):
        wanted = f"expected 1 to {most:,} columns to hash to"
        raise InputError(f"{parameter}: {quoted(name)}: {wanted}, got {shown(value)}")
    return int(value)


def _levels(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple, np.ndarray)) and len(value):
        try:
            levels = as_text(array_of(list(value), name)[0]).to_pylist()
        except InputError:
            levels = [None]
        if None not in levels and len(set(levels)) == len(levels):
            return tuple(levels)
    raise InputError(
        f"categorical: {quoted(name)}: expected levels, each once, or a number of columns to hash "
        f"to, got {shown(value)}"
    )


def _checked_format(name: str, given: str, parts: tuple[str, ...]) -> str:
    """A format from which the parts of a date can be known; InputError where it is none."""
    problem = f"dates: {name!r}: the format {given!r}"
    letters = re.findall("%(.)", given.replace("%%", ""))
    for letter in letters:
        if letter not in _DIRECTIVES:
            now = {"f": "; fractions of seconds are read in ISO's form alone", "Z": "; %z is one"}
            raise InputError(
                f"{problem}: expected some of %{' %'.join(_DIRECTIVES)}, got %{letter}"
                f"{now.get(letter, '')}"
            )
    has = {_SAME_AS.get(letter, letter) for letter in letters}
    if len(has) < len(letters) or given.replace("%%", "").count("%") > len(letters):
        raise InputError(f"{problem}: expected each part of a date once")
    if "I" in letters and "p" not in letters:
        raise InputError(f"{problem}: %I goes with %p, AM or PM")
    counts = has & {"s", "Q"}
    if counts and given not in ("%s", "%Q"):
        raise InputError(f"{problem}: %s and %Q stand alone")
    month = has & {"m", "b"} and has & {"Y", "y"}  # without a day: its first one
    if not (counts or month or ("H" in has and parts == ("hour",))):
        raise InputError(
            f"{problem}: expected a year and a month; a time alone has only the part hour"
        )
    return given
