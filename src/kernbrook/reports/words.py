"""Words that tables, pages and messages share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from os import PathLike
from typing import Any

import numpy as np

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = {
    "error": "error", "log_loss": "log loss", "auc": "AUC", "mse": "mean squared error",
    "rmse": "RMSE", "mae": "MAE", "coverage": "coverage", "width": "mean width",
}  # fmt: skip
MEANING = {
    "mse": "MSE is the mean squared error",
    "rmse": "RMSE is the root of the mean squared error",
    "mae": "MAE is the mean absolute error",
    "log_loss": "log loss is the mean of minus the logarithm of each label's probability",
    "auc": "AUC is the share of pairs of unlike labels that are ranked rightly",
    "coverage": "covered % is the share of the labels in intervals that are to cover 90 %",
}
IN_PERCENT = ("error", "coverage")
DIGITS = {"log_loss": "{:.4f}", "auc": "{:.3f}"}
BEST = {"auc": "greatest", "coverage": "best"}  # else the least
TRIVIAL = {
    "majority": "always saying the label seen most often so far",
    "last-label": "repeating the last label",
    "mean": "always saying the mean of the labels so far",
    "last-value": "repeating the last value",
}


def measure_value(name: str, value: float) -> str:
    """A measure in a text; error and coverage are given as shares.

    Examples
    --------
    >>> measure_value("error", 0.2727), measure_value("auc", 0.62412), measure_value("mae", 1851.3)
    ('27.27 %', '0.624', '1851')
    """
    return f"{measure_cell(name, value)} %" if name in IN_PERCENT else measure_cell(name, value)


def measure_cell(name: str, value: float) -> str:
    """A measure in a column; what is a share is in per cent."""
    if name in IN_PERCENT:
        return f"{100 * value:.2f}"
    return DIGITS.get(name, "{:.4g}").format(value)


def error_value(error: float, task: str) -> str:
    """A rate of mistakes, or a mean squared error, in a text."""
    return measure_value("error" if task == "classification" else "mse", error)


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3185, "row")
    ('1 row', '3,185 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Names as a sentence lists them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"


def sized(number: int) -> str:
    """A number of bytes.

    Examples
    --------
    >>> sized(812), sized(6884760), sized(200_000)
    ('812 bytes', '6.9 MB', '200 kB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= unit:
            return f"{number / unit:.{1 if number < 10 * unit else 0}f} {name}"
    return f"{number} bytes"


def few(names: Sequence[str], most: int = 8) -> str:
    """The first of many names, and how many more.

    Examples
    --------
    >>> few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more:,} more"


def spark(values: Sequence[float], most: float = 0.0) -> str:
    """Numbers from 0 on as bars; the greatest, or `most` if that is more, is the highest.

    Examples
    --------
    >>> spark([4.0, 2.0, 0.0]), spark([1.0], 4.0)
    ('█▅▁', '▃')
    """
    most = max([most, *values]) or 1.0
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * value / most))] for value in values)


def iso(moment: int | None) -> str | None:
    """A date as ISO has it, of microseconds since 1970; without a time at midnight.

    Examples
    --------
    >>> iso(0), iso(86_400_000_000 + 3_600_000_000), iso(None)
    ('1970-01-01', '1970-01-02T01:00:00', None)
    """
    if moment is None:
        return None
    try:
        found = _BEGIN + timedelta(microseconds=moment)
    except OverflowError:
        return f"{moment} microseconds since 1970"
    whole = found == found.replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{found:%Y-%m-%d}" if whole else f"{found:%Y-%m-%dT%H:%M:%S}"


def plain(value: Any) -> Any:
    """A value made of dicts, lists, strings, numbers, booleans and None only.

    Examples
    --------
    >>> plain({"a": (1.0, float("nan")), 2: np.arange(2)})
    {'a': [1.0, None], '2': [0, 1]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, PathLike):
        return str(value)
    return repr(value)
