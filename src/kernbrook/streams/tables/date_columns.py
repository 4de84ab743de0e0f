"""A column of dates as columns of numbers, and its format where that is not declared."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.errors import DataFileWarning, InputError, KernbrookError
from kernbrook.streams.records import Records, Refused, Wanted, quoted, without_gaps
from kernbrook.streams.tables import written_dates
from kernbrook.streams.tables.column_kinds import (
    Floats,
    Seen,
    alone,
    as_text,
    is_missing,
    is_numeric,
    plain,
)
from kernbrook.streams.tables.column_problems import (
    CYCLES,
    DATE_PARTS,
    ValueProblem,
    date_option,
    option,
)
from kernbrook.streams.tables.written_dates import COMMON, ISO, formats_left
from kernbrook.telling import tell

Declared = dict[str, tuple[tuple[str, ...], str | None]]  # columns, their parts and format

_DAY = 86_400_000_000  # microseconds
_FIRST, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
_WEEKDAY = 3  # of 1970-01-01, from Monday
_UTC = "UTC"
_UTCS = (_UTC, "+00:00", "Etc/UTC", "GMT", "Z")


class Dates(NamedTuple):
    """Parts of a moment: days since 1970 as they are, cycles by sine and cosine.

    Of moments of a zone, as Parquet and frames have them, in that zone, else in UTC.

    Attributes
    ----------
    column : name
    parts : some of `DATE_PARTS`
    written : the format of text and of numbers; None for text in ISO's form
    seen : what is remembered of the rows
    """

    column: str
    parts: tuple[str, ...]
    written: str | None
    seen: Seen

    @property
    def names(self) -> list[str]:
        return [
            f"{self.column} {name}"
            for part in self.parts
            for name in ([part] if part == "days" else [f"{part} sin", f"{part} cos"])
        ]

    def encode(self, array: Any) -> Floats:
        moments, missing = self._in_zone(array, *self.moments(array))
        values = self._parts(moments)
        values[missing] = np.nan
        return values

    def one(self, value: Any) -> list[float] | None:
        seen, name = self.seen, self.column
        if is_missing(value):
            return [math.nan] * len(self.names)
        moment, bare = None, isinstance(value, str) and ":" not in value  # as `zoned` tells it
        if seen.zones.get(name, _UTC) in _UTCS:
            if isinstance(value, str) and self.written in (None, ISO):
                moment = written_dates.plain_moment(value)
                known = seen.zoned.setdefault(name, bare) if moment is not None else bare
                moment = moment if known == bare else None
            elif type(value) is datetime and value.tzinfo is None:
                moment = value
        if seen.learns and name not in seen.zones:
            if moment is None:
                return None
            seen.zones[name] = _UTC
        if moment is None:
            return list(alone(self, value)[0])
        since = (moment - _FIRST) // _MICROSECOND
        values: list[float] = self._parts(np.array([since]))[0].tolist()
        return values

    def _parts(self, moments: NDArray[np.int64]) -> Floats:
        """The columns of moments, in microseconds since 1970."""
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
        return np.stack(columns, axis=1)

    def _in_zone(
        self, array: Any, moments: NDArray[np.int64], missing: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The moments as clocks of the column's zone show them; what has no zone stays."""
        import pyarrow as pa
        from pyarrow import compute

        array, kind = plain(array)
        own = getattr(kind, "tz", None) if pa.types.is_timestamp(kind) else None
        if self.seen.learns and not missing.all() and self.column not in self.seen.zones:
            self.seen.zones[self.column] = own or _UTC
            if own is not None and own not in _UTCS:
                told = f"its hours are those of {own}, not of UTC"
                self.seen.odd.setdefault(self.column, told)
        zone = self.seen.zones.get(self.column, _UTC)
        zoned = np.full(len(moments), own is not None)
        if pa.types.is_string(kind):
            zoned = written_dates.zoned(without_gaps(array), self.written)
            self._look_at(zoned[~missing])
        if zone in _UTCS or not zoned.any():
            return moments, missing
        there = pa.array(moments, pa.timestamp("us", zone))
        local = compute.local_timestamp(there).cast(pa.int64()).to_numpy()
        return np.where(zoned, local, moments), missing

    def _look_at(self, zoned: NDArray[np.bool_]) -> None:
        """Remember that text with and without offsets came."""
        for one in (True, False):
            if (zoned == one).any() and self.seen.zoned.setdefault(self.column, one) != one:
                told = "times with an offset from UTC stand beside others, which are taken as UTC"
                self.seen.odd.setdefault(self.column, told)

    def moments(self, array: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Microseconds since 1970, and where they are missing."""
        import pyarrow as pa

        array, kind = plain(array)
        if self.written is not None and is_numeric(kind):
            array, kind = self._counted(array)
        if pa.types.is_string(kind):
            return self._from_text(array)
        if pa.types.is_null(kind):
            array = array.cast(pa.timestamp("us"))
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            try:  # nanoseconds are cut off, what does not fit is an error
                array = array.cast(pa.timestamp("us"), safe=getattr(kind, "unit", "") != "ns")
            except pa.ArrowInvalid as error:
                raise ValueProblem(0, f"a moment too far away: {error}") from None
        elif pa.types.is_time(kind) and self.parts == ("hour",):
            array = array.cast(pa.time64("us"), safe=False)
        else:
            raise self._problem(0, f"{kind}", _first(array))
        missing = array.is_null().to_numpy(zero_copy_only=False)
        return array.cast(pa.int64()).fill_null(0).to_numpy(), missing

    def _counted(self, array: Any) -> tuple[Any, Any]:
        """Numbers as text, or as moments where they count from 1970; and the type."""
        import pyarrow as pa

        scale = {"%s": written_dates.SECOND, "%Q": written_dates.SECOND // 1000}
        whole = pa.types.is_integer(array.type)
        if self.written not in scale:
            try:
                array = array.cast(pa.int64()).cast(pa.string())
            except pa.ArrowInvalid:
                raise self._problem(0, f"{array.type}", None) from None
            return array, array.type
        missing = array.is_null().to_numpy(zero_copy_only=False)
        counts = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        missing = missing | np.isnan(counts)
        far = np.abs(np.where(missing, 0, counts)) > 2**62 / scale[self.written]
        if far.any():
            raise ValueProblem(int(far.argmax()), "a moment too far away")
        if whole:
            counts = array.cast(pa.int64()).fill_null(0).to_numpy()
            moments = counts * scale[self.written]
        else:
            moments = np.rint(np.where(missing, 0, counts) * scale[self.written]).astype(np.int64)
        found = pa.array(moments.astype("datetime64[us]"), mask=missing)
        return found, found.type

    def _from_text(self, array: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        array = without_gaps(array)
        missing = array.is_null().to_numpy(zero_copy_only=False)
        moments, bad = written_dates.moments(array, self.written)
        if (bad & ~missing).any():
            row = int((bad & ~missing).argmax())
            value = array[row].as_py()
            raise self._problem(row, quoted(value), value, True)
        return moments, missing

    def _problem(
        self, row: int, found: str, value: str | None, is_text: bool = False
    ) -> DateProblem:
        """What is wrong with a value, and the format that reads it."""
        expected = "a date such as 2024-01-31 or 2024-01-31T12:00:00" if is_text else "a date"
        if self.written is not None:
            expected = f"a date as {self.written}"
        formats = [] if value is None else written_dates.formats_of(value)
        parts = self.parts
        if value is not None and not formats:
            formats, parts = written_dates.clocks_of(value), ("hour",)
        ways = [date_option(self.column, parts, formats)] if formats else []
        instead = f"{option('drop', self.column)} in place of dates"
        problem = DateProblem(row, f"expected {expected}, found {found}", False, ways, [instead])
        problem.parts = self.parts
        problem.may_be_found = self.written is None and any(map(written_dates.is_common, formats))
        return problem


class DateProblem(ValueProblem):
    """A value of a column of dates that is not written as they are.

    Attributes
    ----------
    parts : of the dates
    may_be_found : whether it is in a common format, which the whole column may have
    """

    parts: tuple[str, ...] = ()
    may_be_found = False


def _first(array: Any) -> str | None:
    """The first value that is there, as text, where it is a whole number."""
    import pyarrow as pa

    present = array.drop_null()[:1] if pa.types.is_integer(array.type) else []
    return str(present[0].as_py()) if len(present) else None


def declared_dates(names: Sequence[str], given: Any) -> Declared:
    """For each of these columns its parts, and its format where one is declared."""
    declared: Declared = dict.fromkeys(names, (CYCLES, None))
    for name, value in given.items() if isinstance(given, Mapping) else ():
        items = [value] if isinstance(value, str) else value
        text = isinstance(items, (list, tuple)) and all(isinstance(item, str) for item in items)
        formats = [item for item in items if "%" in item] if text else []
        parts = [item for item in items if "%" not in item] if text else []
        fits = text and items and len(formats) < 2 and set(parts) <= set(DATE_PARTS)
        if not fits or len(set(parts)) < len(parts):
            one = date_option(name, tuple(parts), [", ".join(formats)])
            quotes = f"; is it one format? {one}" if len(formats) > 1 else ""
            raise InputError(
                f"dates: {quoted(name)}: expected some of {', '.join(DATE_PARTS)}, and one format "
                f"such as %d.%m.%Y, got {shown(value)}{quotes}"
            )
        kept = tuple(parts) or CYCLES
        written = written_dates.check_format(name, formats[0], kept) if formats else None
        declared[name] = kept, written
    return declared


def described_dates(
    dates: Mapping[str, tuple[tuple[str, ...], str | None]],
) -> dict[str, list[str]]:
    """The same as it is declared."""
    return {
        name: [*parts, *([] if written is None else [written])]
        for name, (parts, written) in dates.items()
    }


class UnreadDatesError(Exception):
    """Dates of a column that are in no format that is known yet."""

    def __init__(self, column: str, cause: DateProblem, refusal: KernbrookError):
        self.column = column
        self.cause = cause
        self.refusal = refusal
        super().__init__()


def found_format(records: Records, unread: UnreadDatesError, refused: Refused = None) -> str:
    """The one common format in which all dates of a column can be read.

    refused : as `Wanted` has it; where rows are left out, text that is no date is not looked at

    Raises
    ------
    KernbrookError
        There is none, or more than one.

    Warns
    -----
    DataFileWarning
        It was found.
    """
    import pyarrow as pa

    column, left = unread.column, [ISO, *COMMON]
    instead = f"{option('drop', column)} in place of dates"
    for batch in records.batches(Wanted([column], refused=refused)):
        array = as_text(batch.table.column(column))
        places = np.arange(len(array)) if refused is None else _dates_in(array)
        array = array.take(pa.array(places))
        if not (rest := formats_left(array, left)):
            row = bisect(
                range(len(array)), False, key=lambda i: not formats_left(array[: i + 1], left)
            )
            left = formats_left(array[:row], left)
            if len(left) > len(COMMON):
                raise unread.refusal
            wanted = f"a date as {' or '.join(left)}, as in the rows before"
            found = f"expected {wanted}, found {quoted(array[row].as_py())}; {instead}"
            raise batch.refusal(int(places[row]), f"column {quoted(column)}: {found}")
        left = rest
    declared = date_option(column, unread.cause.parts, left)
    if len(left) > 1:
        ways = " and as ".join(left)
        problem = f"all dates can be read as {ways}; which is it? {declared}"
        raise records.refusal(f"column {quoted(column)}: {problem}")
    told = (
        f"column {quoted(column)}: its dates are read as {left[0]}, the only common format for "
        f"all of them; {declared} says it"
    )
    tell(DataFileWarning(records.where, told))
    return left[0]


def _dates_in(array: Any) -> NDArray[np.int64]:
    """Where an Arrow array of text has a date in some common format."""
    text = without_gaps(array)
    unread = [written_dates.moments(text, one)[1] for one in (ISO, *COMMON)]
    return np.flatnonzero(~np.all(unread, axis=0))
