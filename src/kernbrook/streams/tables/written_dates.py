"""Dates and times as they are written: in ISO's form, or in a format as `strptime` takes it.

A format without a time takes a clock time after the date, too: `T` or a blank, hours, minutes,
seconds with a fraction of any length, AM or PM, and the offset from UTC.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.streams.records import without_gaps
from kernbrook.streams.tables.column_problems import CYCLES

Moments = tuple[NDArray[np.int64], NDArray[np.bool_]]

ISO = "%Y-%m-%d"
SECOND = 1_000_000  # microseconds, which moments are counted in
_FARTHEST = 2**62
_BLANK = "[\\s\u00a0\u202f]"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY = (
    "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?"
    "|sun(?:day)?"
)
_ZONE = r"Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?"
_TWO = r"[0-9]{1,2}"
_CLOCK = (
    f"(?:(?:T|,?{_BLANK}+)(?P<H>{_TWO})(?::?(?P<M>[0-9]{{2}})(?::?(?P<S>[0-9]{{2}})"
    f"(?:[.,](?P<f>[0-9]+))?)?)?(?:{_BLANK}*(?P<p>[ap]\\.?m\\.?))?"
    f"(?:{_BLANK}*(?P<z>{_ZONE})(?:\\[[^\\]]*\\])?)?)?"
)
_DIRECTIVES = {
    "Y": "[0-9]{4}", "y": "[0-9]{2}", "m": _TWO, "d": _TWO, "H": _TWO, "I": _TWO, "M": _TWO,
    "S": _TWO, "f": "[0-9]+", "p": r"[ap]\.?m\.?", "b": _MONTH, "B": _MONTH, "a": _WEEKDAY,
    "A": _WEEKDAY, "z": _ZONE, "Z": "Z|UTC|GMT", "s": r"[+-]?[0-9]{1,18}", "Q": r"[+-]?[0-9]{1,18}",
}  # fmt: skip
_SAME_AS = {"I": "H", "B": "b", "A": "a", "Z": "z"}
COMMON = [f"%Y{s}%m{s}%d" for s in "/."] + [
    f"%{a}{s}%{b}{s}%Y" for s in "./-" for a, b in (("d", "m"), ("m", "d"))
]
# That a message names where it finds one, and nothing takes without being told.
_RARE = [
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d %b %Y", "%d. %b %Y",
    "%d-%b-%Y", "%d/%b/%Y", "%d-%b-%y", "%d %b %y", "%b %d, %Y", "%b %d %Y", "%b. %d, %Y",
    "%a, %d %b %Y", "%A, %b %d, %Y", "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y",
    "%d/%b/%Y:%H:%M:%S %z", "%Y. %m. %d.", "%d. %m. %Y", "%Y%m%d", "%Y%m%d%H%M%S", "%Y %b %d",
    "%Y-%b-%d", "%H:%M %d.%m.%Y", "%H:%M:%S %d.%m.%Y", "%d.%m.%Y, %H:%M Uhr", "%d.%m.%Y %H:%M Uhr",
    "%d de %b de %Y", "%Y-%m", "%Y/%m", "%m/%Y", "%Y %b", "%b %Y", "%Y-%b", "%b-%Y",
]  # fmt: skip
_QUARTER = re.compile(r"[0-9]{4}[\W_]?Q[1-4]|Q[1-4][\W_]?[0-9]{4}", re.IGNORECASE)
_CLOCKS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p"]


def check_format(name: str, given: str, parts: tuple[str, ...]) -> str:
    """A format from which the parts of a date can be known.

    Raises
    ------
    InputError
        It is none, or says too little.
    """
    what = f"dates: {name!r}: the format {given!r}"
    letters = re.findall("%(.)", given.replace("%%", ""))
    known = [_SAME_AS.get(letter, letter) for letter in letters]
    for letter in letters:
        if letter not in _DIRECTIVES:
            raise InputError(f"{what}: expected some of %{' %'.join(_DIRECTIVES)}, got %{letter}")
    if len(set(known)) < len(known) or given.replace("%%", "").count("%") > len(letters):
        raise InputError(f"{what}: expected each part of a date once")
    if "I" in letters and "p" not in letters:
        raise InputError(f"{what}: %I goes with %p, AM or PM")
    has = set(known)
    day = has & {"m", "b"} and has & {"Y", "y"}  # else the first one of the month
    if has & {"s", "Q"} and len(has) > 1:
        raise InputError(f"{what}: %s and %Q stand alone")
    if not (has & {"s", "Q"} or day or ("H" in has and parts == ("hour",))):
        raise InputError(
            f"{what}: expected a year and a month; a time alone has only the part hour"
        )
    return given


def moments(array: Any, written: str | None) -> Moments:
    """Text as microseconds since 1970 in UTC, (n,), and where it is missing or no such date, (n,).

    Parameters
    ----------
    array : Arrow array of text, trimmed, null where it is missing
    written : the format; None for ISO's
    """
    from pyarrow import compute

    if (quick := _quickly(array, written or ISO)) is not None:
        return quick
    found = compute.extract_regex(array, _pattern(written or ISO))
    fields = {field.name: compute.struct_field(found, field.name) for field in found.type}
    bad = found.is_null().to_numpy(zero_copy_only=False)

    def number(name: str, default: int = 0) -> NDArray[np.int64]:
        if name not in fields:
            return np.full(len(array), default)
        text = fields[name]
        text = compute.if_else(compute.equal(text, ""), f"{default}", text)
        return text.cast("int64").fill_null(default).to_numpy()

    def by_text(name: str, value: Any) -> NDArray[np.int64]:
        """A number for each of few different texts; the first one where there is none."""
        if name not in fields:
            return np.zeros(len(array), np.int64)
        held = fields[name].fill_null("").dictionary_encode()
        values = np.array([value(text.lower()) for text in held.dictionary.to_pylist()])
        return values[held.indices.to_numpy()].astype(np.int64)

    fraction = _fraction(fields, len(array))
    for letter, scale in (("s", SECOND), ("Q", SECOND // 1000)):
        if letter in fields:
            count = number(letter)
            bad |= np.abs(count) > _FARTHEST // scale
            return np.where(bad, 0, count * scale), bad
    year = number("Y", 1970)
    if "y" in fields:
        year = number("y")
        year = year + np.where(year < 69, 2000, 1900)  # as POSIX has it
    month = by_text("b", _month) if "b" in fields else number("m", 1)
    day, hour, minute, second = number("d", 1), number("H"), number("M"), number("S")
    half = by_text("p", lambda text: {"": 0, "a": 1, "p": 2}[text[:1]])
    bad |= (month < 1) | (month > 12) | (minute > 59) | (second > 59)
    bad |= np.where(half > 0, (hour < 1) | (hour > 12), hour > 23)
    hour = np.where(half > 0, hour % 12 + 12 * (half == 2), hour)
    months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    bad |= (day < 1) | (day > after - first)
    seconds = (first + day - 1) * 86_400 + hour * 3600 + minute * 60 + second
    offset = by_text("z", _offset)
    bad |= np.abs(offset) >= 86_400
    return np.where(bad, 0, (seconds - offset) * SECOND + fraction), bad


def zoned(array: Any, written: str | None) -> NDArray[np.bool_]:
    """(n,) where the text of a time says how far it is from UTC.

    A date alone says so, too: it has no time that could be of another zone.
    """
    from pyarrow import compute

    if written is not None and any(f"%{letter}" in written for letter in "zZsQ"):
        return np.ones(len(array), dtype=bool)
    found = compute.match_substring_regex(array, rf"(?i):\d\d.*({_ZONE})(\[[^\]]*\])?$|^[^:]*$")
    return np.asarray(found.fill_null(True).to_numpy(zero_copy_only=False))


def formats_left(array: Any, formats: list[str]) -> list[str]:
    """Those of some formats in which all text of an Arrow array can be read."""
    present = without_gaps(array).drop_null()
    return [written for written in formats if not moments(present, written)[1].any()]


def formats_of(text: str) -> list[str]:
    """The formats, common or not, in which a text is a date: another moment in each."""
    found: dict[int, str] = {}
    if not _has_digit(text):
        return []
    for written in (ISO, *COMMON, *_RARE, *_counts(text)):
        if (moment := moment_of(text, written)) is not None:
            found.setdefault(moment, written)
    return list(found.values())


def parts_of(written: str) -> tuple[str, ...]:
    """The parts of a date that are worth a column in a format."""
    if not any(f"%{letter}" in written for letter in "dsQ"):
        return ("hour",) if "%H" in written or "%I" in written else ("days", "yearday")
    return CYCLES


def is_quarter(text: str) -> bool:
    """Whether a text is a quarter of a year, such as 1970 Q1."""
    return _QUARTER.fullmatch(text.strip()) is not None


def _counts(text: str) -> list[str]:
    """What may count from 1970: a moment after 2001 and before 2286."""
    return {10: ["%s"], 13: ["%Q"]}.get(len(text), [])


def clocks_of(text: str) -> list[str]:
    """The formats in which a text is a time of the day."""
    if not _has_digit(text):
        return []
    return [written for written in _CLOCKS if moment_of(text, written) is not None][:1]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def is_common(written: str) -> bool:
    """Whether a format is found without being declared."""
    return written == ISO or written in COMMON


def moment_of(text: str, written: str) -> int | None:
    """One date, as `moments` has it; None where it is none."""
    import pyarrow as pa

    found, bad = moments(pa.array([text], pa.string()), written)
    return None if bad[0] else int(found[0])


_PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.(?:\d{3}|\d{6}))?)?)?", re.ASCII)


def plain_moment(text: str) -> datetime | None:
    """A date in ISO's form without an offset, as `moments` has it; None where that has to tell."""
    try:
        return datetime.fromisoformat(text) if _PLAIN.fullmatch(text) else None
    except ValueError:
        return None


_PADDED = {"Y": "[0-9]{4}", "m": "[0-9]{2}", "d": "[0-9]{2}"}
_ZONED = r":\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$"


def _quickly(array: Any, written: str) -> Moments | None:
    """The same where Arrow reads all dates, in ISO's form or turned into it; else None."""
    import pyarrow as pa
    from pyarrow import compute

    if written != ISO:
        if re.fullmatch("(%[Ymd].?){3}", written) is None:
            return None
        plain = "^" + re.sub("%(.)", lambda found: _PADDED[found[1]], re.escape(written))
        if not compute.all(compute.match_substring_regex(array, plain)).as_py():
            return None
        place, pieces = 0, {}
        for letter, between in re.findall("%(.)([^%]?)", written):
            width = 4 if letter == "Y" else 2
            pieces[letter] = compute.utf8_slice_codeunits(array, place, place + width)
            place += width + len(between)
        date = compute.binary_join_element_wise(*(pieces[letter] for letter in "Ymd"), "-")
        rest = compute.utf8_slice_codeunits(array, place)
        array = compute.binary_join_element_wise(date, rest, "")
    zoned = compute.match_substring_regex(array, _ZONED)
    naive = pa.timestamp("us")
    try:
        without = compute.if_else(zoned, None, array).cast(naive)
        within = compute.if_else(zoned, array, None).cast(pa.timestamp("us", "UTC")).cast(naive)
    except pa.ArrowInvalid:
        return None
    found = compute.coalesce(without, within)
    missing = found.is_null().to_numpy(zero_copy_only=False)
    return found.cast(pa.int64()).fill_null(0).to_numpy(), missing


@lru_cache
def _pattern(written: str) -> str:
    """The regular expression of a format, as Arrow's RE2 takes it; its groups have letters."""
    tokens = re.findall(r"%.|\s+|[^%\s]+", written, re.DOTALL)
    parts, has_time, before = [], False, False
    for i, token in enumerate(tokens):
        letter = token[1:] if token[0] == "%" else ""
        if not letter or letter == "%":
            parts.append(f"{_BLANK}+" if token.isspace() else re.escape(letter or token))
            before = False
            continue
        pattern, following = _DIRECTIVES[letter], tokens[i + 1 : i + 2]
        beside = before or (following and following[0][0] == "%" and following[0] != "%%")
        if pattern == _TWO and beside:  # as in 20240131
            pattern = "[0-9]{2}"
        before, has_time = True, has_time or letter in "HIMSfpsQ"
        name = _SAME_AS.get(letter, letter)
        parts.append(f"(?P<{name}>{pattern})")
    has_day = "%d" in tokens  # the first one of a month has no time
    return f"(?i)^{''.join(parts)}{'' if has_time or not has_day else _CLOCK}$"


def _fraction(fields: dict[str, Any], n: int) -> NDArray[np.int64]:
    """Microseconds of digits after the point, of any number; what is smaller is cut off."""
    from pyarrow import compute

    if "f" not in fields:
        return np.zeros(n, np.int64)
    digits = compute.utf8_slice_codeunits(fields["f"].fill_null(""), 0, 6)
    return compute.utf8_rpad(digits, 6, "0").cast("int64").to_numpy()


def _month(text: str) -> int:
    return _MONTHS.index(text[:3]) + 1 if text else 0


def _offset(text: str) -> int:
    """Seconds east of UTC."""
    if text in ("", "z", "utc", "gmt"):
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    if int(digits[2:]) > 59:
        return 86_400  # which is none
    return (-1 if text[0] == "-" else 1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
