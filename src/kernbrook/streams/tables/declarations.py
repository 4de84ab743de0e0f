"""What is said of the columns of a table: parameters of `TableEncoder`, checked and in one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernbrook.checks import is_whole, shown
from kernbrook.errors import InputError
from kernbrook.streams.arrow import cell_text
from kernbrook.streams.records import quoted
from kernbrook.streams.tables.column_kinds import as_text
from kernbrook.streams.tables.date_columns import Declared, declared_dates

AUTO = "auto"  # in place of names: what the rows say
HASHED = 16  # columns where nothing else is said
MOST_HASHED = 1 << 14
WORDS = 1 << 18
MOST_WORDS = 1 << 24
MOST_LAG = 100_000  # rows back, which are kept

DeclaredLevels = dict[str, "int | tuple[str, ...]"]


def declared_names(what: str, given: Any) -> list[str]:
    """Names of columns, each once; InputError where they are something else."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else given
    listed = isinstance(names, (list, tuple, set, frozenset, dict, np.ndarray))
    if not listed or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what}: expected names of columns, got {shown(given)}")
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


def declared_levels(given: Any) -> DeclaredLevels:
    """For each column of levels a number of columns to hash to, or its levels."""
    names = declared_names("categorical", given)
    declared: DeclaredLevels = dict.fromkeys(_but_auto(names, given), HASHED)
    for name in declared if isinstance(given, Mapping) else ():
        value = given[name]
        if is_whole(value) and not isinstance(value, bool):
            declared[name] = _width("categorical", name, value, MOST_HASHED)
        else:
            declared[name] = _levels_of(name, value)
    return declared


def declared_moments(given: Any) -> Declared:
    """For each column of dates its parts, and its format where one is declared."""
    names = _but_auto(declared_names("dates", given), given)
    own = {name: given[name] for name in names} if isinstance(given, Mapping) else names
    return declared_dates(names, own)


def declared_words(given: Any) -> dict[str, int]:
    """For each column of text the number of columns that its words are hashed to."""
    names = declared_names("words", given)
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, WORDS)
    return {name: _width("words", name, given[name], MOST_WORDS) for name in names}


def declared_lags(given: Any) -> dict[str | None, tuple[int, ...]]:
    """For each column how many rows back values are taken; None stands for the label."""
    if given is None:
        return {}
    by_name = given if isinstance(given, Mapping) else {None: given}
    declared = {}
    for name, value in by_name.items():
        lags = [value] if is_whole(value) else value
        fits = isinstance(lags, (list, tuple, np.ndarray)) and len(lags)
        fits = fits and all(
            is_whole(lag) and not isinstance(lag, bool) and 1 <= lag <= MOST_LAG for lag in lags
        )
        if not fits or len(set(lags)) < len(lags) or not isinstance(name, (str, type(None))):
            raise InputError(
                f"lags: expected numbers of rows from 1 to {MOST_LAG:,}, each once, or a dict of "
                f"columns and such numbers, got {shown(given)}"
            )
        declared[name] = tuple(int(lag) for lag in lags)
    return declared


def check_lags(given: Any, label: str | None, delay: int) -> None:
    """InputError where a lag of the label is never known: labels come after so many more rows."""
    for name, lags in declared_lags(given).items():
        never = [lag for lag in lags if lag <= delay]
        if name in (None, label) and never:
            raise InputError(
                f"lags: {', '.join(map(str, never))}: the label of so few rows before is not known "
                f"with delay={delay} (--delay {delay}): lags begin at {delay + 1}. Where the label "
                f"of {min(never)} rows before is known, it is delay={min(never) - 1} "
                f"(--delay {min(never) - 1})"
            )


def _but_auto(names: list[str], given: Any) -> list[str]:
    return [name for name in names if name != AUTO] if is_auto(given) else names


def _width(what: str, name: str, value: Any, most: int) -> int:
    if not (is_whole(value) and not isinstance(value, bool) and 1 <= value <= most):
        wanted = f"expected 1 to {most:,} columns to hash to"
        raise InputError(f"{what}: {quoted(name)}: {wanted}, got {shown(value)}")
    return int(value)


def _levels_of(name: str, value: Any) -> tuple[str, ...]:
    import pyarrow as pa

    if isinstance(value, (list, tuple, np.ndarray)) and len(value):
        try:
            levels = as_text(_one_kind(name, list(value))).to_pylist()
        except (pa.ArrowException, InputError, OverflowError):
            levels = [None]
        if None not in levels and len(set(levels)) == len(levels):
            return tuple(levels)
    raise InputError(
        f"categorical: {quoted(name)}: expected levels, each once, or a number of columns to hash "
        f"to, got {shown(value)}"
    )


def _one_kind(name: str, values: list[Any]) -> Any:
    """An Arrow array of values; of text, where they are of several kinds."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([cell_text(value, name, ".") for value in values], pa.string())
